//! The variables that the agent gets.

/// Variables that the agent keeps if they are set. Every other one may be a
/// secret, and is cleared.
pub const KEPT: &[&str] = &[
    // The system. PATH is given in any case.
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TZ",
    "USER",
    "LOGNAME",
    "SHELL",
    "LD_LIBRARY_PATH",
    // The way to the API, and the right to use it.
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    // How the agent behaves.
    "API_TIMEOUT_MS",
    "BASH_DEFAULT_TIMEOUT_MS",
    "BASH_MAX_TIMEOUT_MS",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
    "MAX_THINKING_TOKENS",
    // git: who commits, and the trace that is the evidence for a commit.
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_TRACE2_EVENT",
    "GIT_TRACE2_EVENT_BRIEF",
    "GIT_TRACE2_EVENT_NESTING",
    // Our own: a run inside of a run.
    "CR_DEPTH",
    "CR_PARENT",
    "CR_PARENT_RUN_ID",
    "CR_RUN",
];

/// Those of them that are rights of the agent.
pub(crate) const RIGHTS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "GIT_TRACE2_EVENT",
    "CR_RUN",
];

/// Whether a shell can use `name` as the name of a variable.
pub(crate) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_can_be_used_in_a_shell() {
        assert!(KEPT.iter().all(|name| is_name(name)));
        for wrong in ["", "1A", "A B", "A;id", "A-B", "$(id)", "BASH_FUNC_x%%"] {
            assert!(!is_name(wrong), "{wrong}");
        }
    }
}
