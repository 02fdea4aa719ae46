//! The command that runs the agent: its arguments and its environment.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_rundir::file::{GIT_TRACE, SYSTEM_PROMPT};
use cr_rundir::{RunDir, RunId, StateDir};

use crate::options::AgentOptions;
use crate::program::{Version, find_program, program_version};
use crate::{schema, versions};

/// Variables of a surrounding run, which the agent must not take for its own.
const REMOVED_VARIABLES: [&str; 13] = [
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_PID",
    "AI_AGENT",
    // Ours: a nested run has its own id, and belongs to no milestone.
    "CR_RUN_ID",
    "CR_MILESTONE",
];

/// Flags that would break the supervision, and what to do instead.
const REFUSED_FLAGS: [(&str, &str); 13] = [
    ("-p", "it is always passed; the prompt goes to --prompt"),
    ("--print", "it is always passed"),
    ("--output-format", "it is always stream-json"),
    ("--input-format", "use --input"),
    ("--permission-prompt-tool", "use --ask"),
    ("--verbose", "it is always passed"),
    ("--replay-user-messages", "--input stream passes it"),
    ("--bg", "a run that leaves cannot be supervised"),
    ("--background", "a run that leaves cannot be supervised"),
    ("-v", "ask the program itself"),
    ("--version", "ask the program itself"),
    ("-h", "ask the program itself"),
    ("--help", "ask the program itself"),
];

/// The longest single argument that the kernel takes.
pub(crate) const MAX_ARGUMENT: usize = 131_071;

/// Keeps other sessions of the same user from beginning turns in this one. The
/// agent takes only the last --settings, so those of the user replace it.
const REFUSE_PEERS: &str = r#"--settings={"crossSessionInbound":"refuse"}"#;

/// How deep runs may be nested.
const MAX_DEPTH: u32 = 3;

/// The agent's command line, and what else is known before it starts.
#[derive(Debug)]
pub struct AgentCommand {
    /// The program, as the user named it.
    pub name: OsString,
    /// Its arguments.
    pub argv: Vec<OsString>,
    /// The model asked for.
    pub model: Option<String>,
    /// The permission mode, if one was chosen.
    pub permission_mode: Option<String>,
    /// The text of the schema that the answer must satisfy.
    pub schema: Option<String>,
    /// How deep this run is nested in others.
    pub depth: u32,
}

impl AgentCommand {
    /// Translates options into the agent's arguments.
    pub fn new(options: &AgentOptions) -> anyhow::Result<Self> {
        refuse(&options.rest)?;
        let name = options
            .claude
            .clone()
            .map(OsString::from)
            .or_else(|| env::var_os("CR_CLAUDE").filter(|name| !name.is_empty()))
            .unwrap_or_else(|| "claude".into());
        let default = (!options.resumes_session()).then(|| "sonnet".to_owned());
        let mut command = Self {
            name,
            argv: Vec::new(),
            model: options.model.clone().or(default),
            permission_mode: permission_mode(options),
            schema: schema::text(options)?,
            depth: depth()?,
        };
        command.fill(options);
        Ok(command)
    }

    fn fill(&mut self, options: &AgentOptions) {
        for flag in ["-p", "--output-format=stream-json", "--verbose"] {
            self.argv.push(flag.into());
        }
        let turns = (options.max_turns > 0).then(|| options.max_turns.to_string());
        let budget = (options.max_budget > 0.0).then(|| options.max_budget.to_string());
        // With `=`, so that a value that begins with a dash stays a value.
        let values = [
            ("--model", self.model.clone()),
            ("--fallback-model", options.fallback_model.clone()),
            ("--resume", options.resume.clone()),
            ("--session-id", options.session_id.clone()),
            ("--max-turns", turns),
            ("--max-budget-usd", budget),
            ("--permission-mode", self.permission_mode.clone()),
            ("--json-schema", self.schema.clone()),
        ];
        for (flag, value) in values {
            if let Some(value) = value {
                self.argv.push(format!("{flag}={value}").into());
            }
        }
        // Given as empty, it keeps the configuration's from the agent.
        let allowed = options.allowed_tools.iter();
        for tools in allowed.filter(|tools| !tools.is_empty()) {
            self.argv.push(format!("--allowedTools={tools}").into());
        }
        for tools in &options.disallowed_tools {
            self.argv.push(format!("--disallowedTools={tools}").into());
        }
        let switches = [
            ("--continue", options.continue_last),
            ("--fork-session", options.fork_session),
            ("--include-partial-messages", options.partial_messages),
            ("--no-session-persistence", options.no_session_persistence),
            (
                "--input-format=stream-json",
                options.session.is_interactive(),
            ),
            ("--replay-user-messages", options.session.is_interactive()),
            ("--permission-prompt-tool=stdio", options.session.asks()),
        ];
        for (flag, is_on) in switches {
            if is_on {
                self.argv.push(flag.into());
            }
        }
    }

    /// Adds what depends on the program's version and on where files may go.
    pub fn complete(
        &mut self,
        options: &AgentOptions,
        version: &Version,
        run_dir: Option<&RunDir>,
    ) -> anyhow::Result<()> {
        self.system_prompt(options, version, run_dir)?;
        let has_prompt = options.system_prompt.is_some() || options.system_prompt_file.is_some();
        let is_known = version.number.is_some();
        let has_snapshot = is_known && !version.is_before(versions::SYSTEM_PROMPT_SNAPSHOT);
        if options.resumes_session() && has_prompt && has_snapshot {
            // Otherwise the agent sends the recorded one again.
            self.argv.push("--system-prompt-snapshot=off".into());
        }
        versions::refuse_missing(&self.argv, &options.rest, version)?;
        refuse_root(self, options, version)?;
        let has_settings = options.rest.iter().any(|arg| flag_of(arg) == "--settings");
        if options.session.refuses_peers() && !has_settings {
            self.argv.push(REFUSE_PEERS.into());
        }
        self.argv.extend(options.rest.iter().cloned());
        Ok(())
    }

    /// Passes it by a file where files are allowed, and the agent takes one: every
    /// user of the machine can see arguments.
    fn system_prompt(
        &mut self,
        options: &AgentOptions,
        version: &Version,
        run_dir: Option<&RunDir>,
    ) -> anyhow::Result<()> {
        let file = |path: &Path| {
            let mut argument = OsString::from("--append-system-prompt-file=");
            argument.push(path);
            argument
        };
        let takes_file = !(version.is_claude && version.is_before(versions::SYSTEM_PROMPT_FILE));
        let mut text = options.system_prompt.clone();
        match &options.system_prompt_file {
            Some(path) if takes_file => self.argv.push(file(&std::path::absolute(path)?)),
            Some(path) => text = Some(read_system_prompt(path)?),
            None => {}
        }
        let Some(text) = text else {
            return Ok(());
        };
        let written =
            run_dir.filter(|dir| takes_file && dir.write(SYSTEM_PROMPT, text.as_bytes()).is_ok());
        match written {
            Some(dir) => self.argv.push(file(&dir.path().join(SYSTEM_PROMPT))),
            None if text.len() > MAX_ARGUMENT - 100 => return Err(too_long(takes_file)),
            None => self
                .argv
                .push(format!("--append-system-prompt={text}").into()),
        }
        Ok(())
    }

    /// The changes to our environment that make the agent's.
    pub fn environment(
        &self,
        options: &AgentOptions,
        run_id: &str,
        run_dir: Option<&Path>,
    ) -> Vec<(&'static str, Option<String>)> {
        let mut changes: Vec<_> = REMOVED_VARIABLES.iter().map(|name| (*name, None)).collect();
        changes.push(("CR_DEPTH", Some((self.depth + 1).to_string())));
        changes.push(("CR_PARENT_RUN_ID", Some(run_id.to_owned())));
        // By its directory, which cr-send finds wherever it is.
        let run = run_dir.and_then(Path::to_str).unwrap_or(run_id);
        changes.push(("CR_PARENT", env::var("CR_RUN").ok()));
        changes.push(("CR_RUN", Some(run.to_owned())));
        if !options.background && !options.session.is_stream() {
            changes.push(("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", Some("1".to_owned())));
        }
        if options.session.is_interactive() {
            let on = Some("1".to_owned());
            changes.push(("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", on));
        }
        changes.extend(git_trace(run_dir));
        changes
    }
}

fn read_system_prompt(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path)
        .with_context(|| format!("--system-prompt-file: {}", path.display()))
        .context(Exit::NoInput)
}

/// The error for a system prompt that does not fit into an argument.
fn too_long(takes_file: bool) -> anyhow::Error {
    let text = if takes_file {
        "--system-prompt is too long for an argument; use --system-prompt-file".to_owned()
    } else {
        let version = versions::SYSTEM_PROMPT_FILE;
        format!("the system prompt is too long for an argument; a file needs claude {version}")
    };
    anyhow!(text).context(Exit::Usage)
}

/// Makes git write what it does to a file of the run: the evidence for the agent's
/// commits. It changes neither commits nor the reflog, as other marks would. A
/// trace of the user's own stays; one of a surrounding run does not.
fn git_trace(run_dir: Option<&Path>) -> Vec<(&'static str, Option<String>)> {
    const NAME: &str = "GIT_TRACE2_EVENT";
    let given = env::var_os(NAME);
    if given.is_some_and(|value| !Path::new(&value).ends_with(GIT_TRACE)) {
        return Vec::new();
    }
    // git complains about a relative path.
    let dir = run_dir.and_then(|dir| std::path::absolute(dir).ok());
    let path = dir.and_then(|dir| Some(dir.join(GIT_TRACE).to_str()?.to_owned()));
    let one = path.as_ref().map(|_| "1".to_owned());
    vec![
        (NAME, path),
        ("GIT_TRACE2_EVENT_BRIEF", one.clone()),
        ("GIT_TRACE2_EVENT_NESTING", one),
    ]
}

fn permission_mode(options: &AgentOptions) -> Option<String> {
    if options.dangerously_skip_permissions {
        return Some("bypassPermissions".to_owned());
    }
    let from_env = || {
        env::var("CR_PERMISSION_MODE")
            .ok()
            .filter(|mode| !mode.is_empty())
    };
    let mode = options.permission_mode.clone().or_else(from_env);
    // Given as empty, it keeps the environment's from the agent.
    mode.filter(|mode| !mode.is_empty())
}

/// The CLI refuses to skip permissions as root. To refuse it before the start is
/// clearer.
fn refuse_root(
    command: &AgentCommand,
    options: &AgentOptions,
    version: &Version,
) -> anyhow::Result<()> {
    let skips = command.permission_mode.as_deref() == Some("bypassPermissions")
        || options
            .rest
            .iter()
            .any(|arg| arg == "--dangerously-skip-permissions");
    let is_sandbox = env::var_os("IS_SANDBOX").is_some_and(|value| value == "1");
    if skips && version.is_claude && !is_sandbox && rustix::process::geteuid().is_root() {
        let text = "claude does not skip permissions as root: run it as another user, or set \
                    IS_SANDBOX=1 if this is a sandbox";
        return Err(anyhow!(text).context(Exit::Config));
    }
    Ok(())
}

fn refuse(rest: &[OsString]) -> anyhow::Result<()> {
    for arg in rest {
        let flag = flag_of(arg);
        if let Some((flag, why)) = REFUSED_FLAGS.iter().find(|(refused, _)| *refused == flag) {
            return Err(anyhow!("{flag} cannot be passed on: {why}").context(Exit::Usage));
        }
    }
    Ok(())
}

fn flag_of(arg: &std::ffi::OsStr) -> String {
    let text = arg.to_string_lossy();
    text.split('=').next().unwrap_or_default().to_owned()
}

fn depth() -> anyhow::Result<u32> {
    let depth = env::var("CR_DEPTH")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    if depth > MAX_DEPTH {
        let text = format!("CR_DEPTH is {depth}: runs are nested too deep");
        return Err(anyhow!(text).context(Exit::Config));
    }
    Ok(depth)
}

/// The directory the agent runs in, absolute. Empty if it is the current one,
/// and that has been removed.
pub fn working_directory(options: &AgentOptions) -> PathBuf {
    match &options.cwd {
        Some(dir) => std::path::absolute(dir).unwrap_or_else(|_| dir.clone()),
        None => env::current_dir().unwrap_or_default(),
    }
}

/// Checks options before a run is started. A missing agent or directory is not
/// an error here: the run itself reports that.
pub fn check(options: &AgentOptions) -> anyhow::Result<()> {
    let mut command = AgentCommand::new(options)?;
    RunId::given().context("CR_RUN_ID").context(Exit::Config)?;
    if let Some(path) = &options.output_file {
        cr_io::check_output_file(path)?;
    }
    if let Ok(path) = find_program(Path::new(&command.name)) {
        let state = StateDir::from_env().filter(|_| !options.no_record);
        let version = program_version(&path, state.as_ref());
        command.complete(options, &version, None)?;
    }
    Ok(())
}
