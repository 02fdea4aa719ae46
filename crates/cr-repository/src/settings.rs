//! The arguments and the environment of every call of git.

/// Before the subcommand: no pager, no lock taken for the sake of a cache, no
/// pathspec magic, and no program from the configuration.
pub(crate) const FIXED: &[&str] = &[
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.pager=cat",
    "-c",
    "core.alternateRefsCommand=",
    "-c",
    "diff.external=",
    "-c",
    "log.showSignature=false",
    "-c",
    "gpg.program=false",
    "-c",
    "safe.bareRepository=explicit",
    "-c",
    "submodule.recurse=false",
    "-c",
    "color.ui=false",
    "-c",
    "i18n.logOutputEncoding=UTF-8",
];

/// Of a call that reads: it needs no other machine.
pub(crate) const READ: &[&str] = &[
    "-c",
    "core.sshCommand=false",
    "-c",
    "core.askPass=false",
    "-c",
    "credential.helper=",
    "-c",
    "protocol.allow=never",
];

/// Of a call that changes the repository: nobody is asked for a passphrase, no
/// housekeeping outlives the call, and a lock that another git holds for a moment
/// is waited for. Paths of worktrees stay absolute, because a relative one would
/// change the format of the repository.
pub(crate) const CHANGE: &[&str] = &[
    "-c",
    "commit.gpgSign=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "core.filesRefLockTimeout=10000",
    "-c",
    "core.packedRefsTimeout=10000",
    "-c",
    "i18n.commitEncoding=UTF-8",
    "-c",
    "merge.autoStash=false",
    "-c",
    "worktree.useRelativePaths=false",
];

/// Environment of every call, after `GIT_*` is dropped. Replacements and grafts
/// are off because they make history look like what it is not.
pub(crate) const ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// Of a call that reads. A lazy fetch would start a transport that the repository
/// names.
pub(crate) const READ_ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
];

/// Of a call that changes the repository.
pub(crate) const CHANGE_ENVIRONMENT: &[(&str, &str)] =
    &[("GIT_EDITOR", "false"), ("GIT_SEQUENCE_EDITOR", "false")];

/// Whether the variable `name` says who the user is or where the configuration
/// is. A call that changes the repository keeps it.
pub(crate) fn is_of_the_user(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 7] = [
        b"GIT_AUTHOR_NAME",
        b"GIT_AUTHOR_EMAIL",
        b"GIT_COMMITTER_NAME",
        b"GIT_COMMITTER_EMAIL",
        b"GIT_SSH",
        b"GIT_SSH_COMMAND",
        b"GIT_ASKPASS",
    ];
    let is_parameter = name == b"GIT_CONFIG_PARAMETERS";
    NAMES.contains(&name) || (name.starts_with(b"GIT_CONFIG_") && !is_parameter)
}
