//! Whether there can be a sandbox here.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Why there is no sandbox here. The text names the cure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no bubblewrap.
    NoBwrap,
    /// bubblewrap is too old for root.
    TooOld(String),
    /// A setting of the kernel forbids user namespaces: its name, and the value
    /// that allows them.
    Setting(&'static str, &'static str),
    /// The program `env` cannot reset signals.
    NoEnv,
    /// bubblewrap does not work, in its own words.
    Failed(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBwrap => write!(
                f,
                "the sandbox needs bubblewrap: install the package `bubblewrap`"
            ),
            Self::TooOld(version) => write!(
                f,
                "{version} does not contain root: install bubblewrap 0.8 or newer, or run as \
                 another user"
            ),
            Self::Setting(name, value) => write!(
                f,
                "this system does not allow user namespaces: run `sysctl -w {name}={value}` as \
                 root"
            ),
            Self::NoEnv => write!(
                f,
                "the sandbox needs `env --default-signal`: install GNU coreutils 8.31 or newer"
            ),
            Self::Failed(text) => write!(
                f,
                "bubblewrap does not work here ({text}): in a container, allow user namespaces \
                 or leave the sandbox to the container"
            ),
        }
    }
}

impl std::error::Error for Refused {}

/// Settings that forbid user namespaces, with the value that does so and one that
/// allows them.
const SETTINGS: [(&str, &str, &str); 3] = [
    ("kernel.unprivileged_userns_clone", "0", "1"),
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ("user.max_user_namespaces", "0", "10000"),
];

/// bubblewrap's program, from the PATH.
pub fn find_bwrap() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|dir| dir.join("bwrap"));
    places.find(|place| place.is_absolute() && place.is_file())
}

/// Tries whether a sandbox works here; gives bubblewrap's program.
pub fn probe() -> Result<PathBuf, Refused> {
    let bwrap = find_bwrap().ok_or(Refused::NoBwrap)?;
    try_bwrap(&bwrap, rustix::process::geteuid().is_root())?;
    Ok(bwrap)
}

fn try_bwrap(bwrap: &Path, is_root: bool) -> Result<(), Refused> {
    let run = |program: &Path, words: &str| -> Result<Output, Refused> {
        let mut command = Command::new(program);
        command.args(words.split_whitespace()).stdin(Stdio::null());
        let output = command.env_clear().output();
        output.map_err(|err| Refused::Failed(err.to_string()))
    };
    let root = if is_root { "--disable-userns" } else { "" };
    let words = format!(
        "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-net --cap-drop ALL \
         {root} --ro-bind / / --proc /proc --dev /dev -- /bin/sh -c exit"
    );
    let output = run(bwrap, &words)?;
    if !output.status.success() {
        if is_root && !run(bwrap, "--help")?.stdout_has("--disable-userns") {
            let version = run(bwrap, "--version")?;
            let version = String::from_utf8_lossy(&version.stdout);
            return Err(Refused::TooOld(version.trim_end().to_owned()));
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let text = text.trim_end().trim_start_matches("bwrap: ").to_owned();
        return Err(forbidding_setting(is_root).unwrap_or(Refused::Failed(text)));
    }
    let env = run(Path::new("/usr/bin/env"), "--default-signal=TERM true")?;
    if env.status.success() {
        Ok(())
    } else {
        Err(Refused::NoEnv)
    }
}

/// The setting that forbids user namespaces. All but the last are for other users
/// than root.
fn forbidding_setting(is_root: bool) -> Option<Refused> {
    let settings = if is_root { &SETTINGS[2..] } else { &SETTINGS };
    let mut found = settings.iter().filter(|(name, forbids, _)| {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        fs::read_to_string(path).is_ok_and(|value| value.trim_end() == *forbids)
    });
    found
        .next()
        .map(|(name, _, allows)| Refused::Setting(name, allows))
}

trait Says {
    fn stdout_has(&self, text: &str) -> bool;
}

impl Says for Output {
    fn stdout_has(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.stdout).contains(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_names_its_cure() {
        let refusals = [
            (Refused::NoBwrap, "install the package `bubblewrap`"),
            (
                Refused::TooOld("bubblewrap 0.6.1".into()),
                "run as another user",
            ),
            (
                Refused::Setting(SETTINGS[1].0, SETTINGS[1].2),
                "userns=0` as root",
            ),
            (Refused::NoEnv, "install GNU coreutils"),
            (Refused::Failed("x".into()), "allow user namespaces"),
        ];
        for (refused, cure) in refusals {
            let text = refused.to_string();
            assert!(text.contains(cure), "{text}");
        }
    }

    #[test]
    fn a_program_that_fails_is_no_sandbox() {
        let refused = try_bwrap(Path::new("/bin/false"), false);
        assert!(matches!(
            refused,
            Err(Refused::Failed(_) | Refused::Setting(..))
        ));
        let refused = try_bwrap(Path::new("/bin/false"), true);
        assert!(matches!(refused, Err(Refused::TooOld(_))), "{refused:?}");
    }
}
