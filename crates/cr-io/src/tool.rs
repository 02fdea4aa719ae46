//! Where the other tools are.

use std::env;
use std::path::{Path, PathBuf};

/// The program of the tool `name`: the one beside this program, else the name
/// alone, which the system looks up in the PATH.
pub fn find_tool(name: &str) -> PathBuf {
    let own = env::current_exe().ok();
    let beside = own
        .as_deref()
        .and_then(Path::parent)
        .map(|dir| dir.join(name));
    beside
        .filter(|path| path.is_file())
        .unwrap_or_else(|| name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_beside_this_program_is_found_by_its_path() {
        let own = env::current_exe().expect("a program");
        let name = own
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        assert_eq!(find_tool(name), own);
    }

    #[test]
    fn another_tool_is_left_to_the_path() {
        assert_eq!(find_tool("cr-no-such-tool"), Path::new("cr-no-such-tool"));
    }
}
