//! How to resume a session: as a command to paste, and as arguments.

use cr_io::quote;

/// The program that resumes.
const RUNNER: &str = "claude-runner";

/// A command that resumes a session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Resume {
    pub(crate) command: String,
    pub(crate) argv: Vec<String>,
}

/// Resumes session `id` in `cwd`; `None` if `id` is no UUID: the agent wrote it,
/// and a user pastes the command into a shell.
pub(crate) fn resume(id: &str, cwd: Option<&str>) -> Option<Resume> {
    if !is_uuid(id) {
        return None;
    }
    let argv = [RUNNER, "--resume", id].map(str::to_owned).to_vec();
    let quoted: Vec<String> = argv.iter().filter_map(|arg| quote(arg)).collect();
    let mut command = quoted.join(" ");
    if let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty()) {
        // Any other path may be taken for an option, or found by `CDPATH`.
        let path = if cwd.starts_with('/') { "" } else { "./" };
        let path = quote(&format!("{path}{cwd}"))?;
        command = format!("cd {path} && {command}");
    }
    Some(Resume { command, argv })
}

/// Whether `id` is what the CLI takes for a session: 8-4-4-4-12 hex digits.
fn is_uuid(id: &str) -> bool {
    let groups = id.split('-').map(str::len);
    let digits = id.bytes().filter(u8::is_ascii_hexdigit).count();
    groups.eq([8, 4, 4, 4, 12]) && digits == 32
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "80f8ae6e-b027-4253-8e9c-1ffd717366a1";

    #[test]
    fn t6_only_a_uuid_is_resumed() {
        let line = format!("{ID}\n");
        let wrong = [
            "",
            "abc-123",
            "$(reboot)",
            "--dangerous",
            &ID[1..],
            &line,
            "80f8ae6e-b027-4253-8e9c-1ffd71736é1",
            "80f8ae6eb02742538e9c1ffd717366a1----",
        ];
        for id in wrong {
            assert_eq!(resume(id, None), None, "{id}");
        }
        let plain = resume(ID, None).expect("a uuid");
        assert_eq!(plain.command, format!("claude-runner --resume {ID}"));
        assert_eq!(plain.argv, ["claude-runner", "--resume", ID]);
    }

    #[test]
    fn t6_the_directory_is_one_word() {
        let cases = [
            ("/w", "cd /w && "),
            ("/it's", r"cd '/it'\''s' && "),
            ("-x", "cd ./-x && "),
            ("", ""),
        ];
        for (cwd, start) in cases {
            let command = resume(ID, Some(cwd)).expect("a uuid").command;
            assert_eq!(command, format!("{start}claude-runner --resume {ID}"));
        }
        assert_eq!(resume(ID, Some("/a\0b")), None);
    }
}
