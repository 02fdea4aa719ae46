//! `settings.json` of a run directory: every setting that the run has.
//!
//! It is what a later run needs to continue this one in the same way, with no
//! more permissions than it had. The prompt is not in it, nor is what belongs to
//! one process only (the run directory, the starter).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use cr_io::{Exit, NewerSchema};
use cr_rundir::RunDir;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::argv::AgentCommand;
use crate::options::{AgentOptions, Clocks};
use crate::session_options::SessionOptions;

/// The settings of a run. Times are in seconds, 0 is off; a limit of 0 is none.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
pub struct Settings {
    /// The version of this file. What is added does not raise it.
    pub schema: u32,
    /// The working directory, absolute.
    pub cwd: Option<OsText>,
    /// The session that was continued.
    pub resume: Option<String>,
    /// Whether the last session of the directory was continued.
    pub continue_last: bool,
    /// The id that the new session was given.
    pub session_id: Option<String>,
    /// Whether the session continued in a copy.
    pub fork_session: bool,
    /// The model in force; `None` is the resumed session's own.
    pub model: Option<String>,
    /// The model for when that one is overloaded.
    pub fallback_model: Option<String>,
    /// The most turns.
    pub max_turns: u64,
    /// The most dollars.
    pub max_budget: f64,
    /// Text that is appended to the system prompt.
    pub system_prompt: Option<String>,
    /// A file with such text, absolute.
    pub system_prompt_file: Option<OsText>,
    /// Tools that need no permission.
    pub allowed_tools: Vec<String>,
    /// Tools that the agent does not have.
    pub disallowed_tools: Vec<String>,
    /// The permission mode in force, wherever it comes from; `None` means that
    /// none was passed to the agent.
    pub permission_mode: Option<String>,
    /// The text of the schema that the answer must satisfy.
    pub json_schema: Option<String>,
    /// Whether parts of messages are passed on.
    pub partial_messages: bool,
    /// Whether the session is not saved.
    pub no_session_persistence: bool,
    /// Whether background tasks are allowed.
    pub background: bool,
    /// The whole run.
    #[serde(with = "seconds")]
    pub timeout: Duration,
    /// From the start to the first line.
    #[serde(with = "seconds")]
    pub startup_timeout: Duration,
    /// Silence while the model works.
    #[serde(with = "seconds")]
    pub idle_timeout: Duration,
    /// One tool call.
    #[serde(with = "seconds")]
    pub tool_timeout: Duration,
    /// One turn.
    #[serde(with = "seconds")]
    pub turn_timeout: Duration,
    /// From the result to the agent's own end.
    #[serde(with = "seconds")]
    pub post_result_grace: Duration,
    /// From the first signal to SIGKILL.
    #[serde(with = "seconds")]
    pub grace: Duration,
    /// Many turns, and questions.
    pub session: SessionOptions,
    /// Whether leftover processes are not killed.
    pub keep_children: bool,
    /// Whether the agent has its own process id namespace.
    pub isolate: bool,
    /// A file that also gets the stream, absolute.
    pub output_file: Option<OsText>,
    /// The name of the run.
    pub name: Option<String>,
    /// The agent's program.
    pub claude: Option<OsText>,
    /// The longest line that is passed on, in bytes.
    pub max_line: usize,
    /// The longest record of the stream, in bytes.
    pub max_record: u64,
    /// Arguments that are passed to the agent unchanged.
    pub claude_args: Vec<OsText>,
}

impl Default for Settings {
    fn default() -> Self {
        Self::of_options(&AgentOptions::defaults())
    }
}

impl Settings {
    /// The name of the file in a run directory.
    pub const FILE: &str = cr_rundir::file::SETTINGS;

    /// The version of the file that this program writes, and the newest that it
    /// reads.
    pub const SCHEMA: u32 = 1;

    /// The settings in force when `options` run as `command`, in `cwd` and with
    /// the program at `claude`.
    pub fn in_force(
        options: &AgentOptions,
        command: &AgentCommand,
        cwd: &Path,
        claude: &Path,
    ) -> Self {
        let mut options = options.clone();
        options.make_absolute();
        Self {
            cwd: Some(cwd.into()),
            model: command.model.clone(),
            permission_mode: command.permission_mode.clone(),
            json_schema: command.schema.clone(),
            claude: Some(claude.into()),
            ..Self::of_options(&options)
        }
    }

    /// The settings as they stand in `options`: what the environment says and what
    /// a file holds is not in them.
    pub fn of_options(options: &AgentOptions) -> Self {
        let path = |path: &Option<PathBuf>| path.as_deref().map(OsText::from);
        let skips = options.dangerously_skip_permissions;
        let skipping = || skips.then(|| "bypassPermissions".to_owned());
        let clocks = &options.clocks;
        Self {
            schema: Self::SCHEMA,
            cwd: path(&options.cwd),
            resume: options.resume.clone(),
            continue_last: options.continue_last,
            session_id: options.session_id.clone(),
            fork_session: options.fork_session,
            model: options.model.clone(),
            fallback_model: options.fallback_model.clone(),
            max_turns: options.max_turns,
            max_budget: options.max_budget,
            system_prompt: options.system_prompt.clone(),
            system_prompt_file: path(&options.system_prompt_file),
            allowed_tools: options.allowed_tools.clone(),
            disallowed_tools: options.disallowed_tools.clone(),
            permission_mode: options.permission_mode.clone().or_else(skipping),
            json_schema: options.json_schema.clone(),
            partial_messages: options.partial_messages,
            no_session_persistence: options.no_session_persistence,
            background: options.background,
            timeout: clocks.timeout,
            startup_timeout: clocks.startup_timeout,
            idle_timeout: clocks.idle_timeout,
            tool_timeout: clocks.tool_timeout,
            turn_timeout: clocks.turn_timeout,
            post_result_grace: clocks.post_result_grace,
            grace: clocks.grace,
            session: options.session.clone(),
            keep_children: options.keep_children,
            isolate: options.isolate,
            output_file: path(&options.output_file),
            name: options.name.clone(),
            claude: path(&options.claude),
            max_line: options.max_line,
            max_record: options.max_record,
            claude_args: options.rest.iter().cloned().map(OsText).collect(),
        }
    }

    /// The options of a run with these settings.
    pub fn options(&self) -> AgentOptions {
        let path = |path: &Option<OsText>| path.as_ref().map(|text| PathBuf::from(&text.0));
        AgentOptions {
            prompt: None,
            prompt_file: None,
            resume: self.resume.clone(),
            continue_last: self.continue_last,
            cwd: path(&self.cwd),
            model: self.model.clone(),
            fallback_model: self.fallback_model.clone(),
            max_turns: self.max_turns,
            max_budget: self.max_budget,
            system_prompt: self.system_prompt.clone(),
            system_prompt_file: path(&self.system_prompt_file),
            allowed_tools: self.allowed_tools.clone(),
            disallowed_tools: self.disallowed_tools.clone(),
            permission_mode: self.permission_mode.clone(),
            dangerously_skip_permissions: false,
            json_schema: self.json_schema.clone(),
            session_id: self.session_id.clone(),
            fork_session: self.fork_session,
            partial_messages: self.partial_messages,
            no_session_persistence: self.no_session_persistence,
            background: self.background,
            clocks: Clocks {
                timeout: self.timeout,
                startup_timeout: self.startup_timeout,
                idle_timeout: self.idle_timeout,
                tool_timeout: self.tool_timeout,
                turn_timeout: self.turn_timeout,
                post_result_grace: self.post_result_grace,
                grace: self.grace,
            },
            session: self.session.clone(),
            keep_children: self.keep_children,
            isolate: self.isolate,
            watch_pid: None,
            control_fd: None,
            resumed_run: None,
            run_dir: None,
            no_record: false,
            output_file: path(&self.output_file),
            name: self.name.clone(),
            claude: path(&self.claude),
            max_line: self.max_line,
            max_record: self.max_record,
            rest: self.claude_args.iter().map(|arg| arg.0.clone()).collect(),
        }
    }

    /// The options of `claude-runner` for a run with these settings that continues
    /// a session; `--resume ID` comes before them. `None` if one is not UTF-8.
    pub fn resume_options(&self, no_record: bool) -> Option<Vec<String>> {
        let mut options = AgentOptions {
            resume: None,
            continue_last: false,
            session_id: None,
            fork_session: false,
            // The stream of the first run is in it.
            output_file: None,
            name: None,
            no_record,
            ..self.options()
        };
        // What is not said comes from the configuration or the environment, and
        // without both `claude-runner` skips permissions. Empty means none.
        options.permission_mode.get_or_insert_default();
        if options.allowed_tools.is_empty() {
            options.allowed_tools.push(String::new());
        }
        let argv = options.to_argv().into_iter();
        argv.map(|arg| arg.into_string().ok()).collect()
    }

    /// Writes the file into `dir`, readable for its owner only.
    pub fn write(&self, dir: &RunDir) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        dir.write(Self::FILE, &text)
    }

    /// Reads the file of the run directory `dir`; `None` if there is none, as in
    /// the directory of an older run. A newer version is refused (78).
    pub fn read(dir: &Path) -> anyhow::Result<Option<Self>> {
        let path = dir.join(Self::FILE);
        let shown = || path.display().to_string();
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(err) => return Err(err).with_context(shown).context(Exit::NoInput),
        };
        Self::parse(&text)
            .with_context(shown)
            .context(Exit::Config)
            .map(Some)
    }

    fn parse(text: &[u8]) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Versioned {
            schema: u32,
        }
        // First the version alone: the other fields of a newer one may differ.
        let Versioned { schema } = serde_json::from_slice(text)?;
        NewerSchema::refuse(schema, Self::SCHEMA)?;
        Ok(serde_json::from_slice(text)?)
    }
}

/// Text of the system: a string in JSON where it is UTF-8, else its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsText(pub OsString);

impl From<&Path> for OsText {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().to_owned())
    }
}

/// For a field that is a path: `#[serde(with = "cr_agent::os_path")]`.
pub mod os_path {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::OsText;

    /// As [`OsText`].
    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        OsText::from(path).serialize(to)
    }

    /// As [`OsText`].
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(OsText::deserialize(from)?.0.into())
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes(OsString),
}

impl Serialize for OsText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => self.0.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for OsText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Written::deserialize(deserializer)? {
            Written::Text(text) => text.into(),
            Written::Bytes(bytes) => bytes,
        }))
    }
}

/// A time in seconds, as a whole number where it is one.
pub(crate) mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        match time.subsec_nanos() {
            0 => to.serialize_u64(time.as_secs()),
            _ => to.serialize_f64(time.as_secs_f64()),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(from)?;
        Duration::try_from_secs_f64(seconds).map_err(serde::de::Error::custom)
    }
}

/// For a field that may be a path.
pub(crate) mod optional_path {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::OsText;

    #[expect(clippy::ref_option, reason = "serde asks for it")]
    pub(crate) fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_deref().map(OsText::from).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        let text: Option<OsText> = Option::deserialize(from)?;
        Ok(text.map(|text| text.0.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::fs::PermissionsExt;

    use clap::Parser;

    use super::*;

    fn options(argv: &[&str]) -> AgentOptions {
        AgentOptions::parse_from([&["cr-spawn"], argv].concat())
    }

    #[test]
    fn settings_survive_the_file_and_give_the_same_options() {
        let argv = [
            "--resume=x",
            "--model=opus",
            "--max-turns=7",
            "--max-budget=1.5",
            "--timeout=1.5",
            "--permission-mode=plan",
            "--allowed-tools=a",
            "--system-prompt=s",
            "--cwd=/tmp",
            "--json-schema={}",
            "--background",
            "--input=stream",
            "--keep-open",
            "--ask-policy=/p",
            "--ask-timeout=1.5",
            "--turn-timeout-action=end",
            "--output-file=/o",
            "--name=n",
            "--",
            "--mcp",
            "y",
        ];
        let mut options = options(&argv);
        options.claude = Some(OsString::from_vec(b"/a\xFFb".to_vec()).into());
        let dir = tempfile::tempdir().expect("a directory");
        let run_dir = RunDir::at(dir.path()).expect("a run directory");
        let settings = Settings::of_options(&options);
        settings.write(&run_dir).expect("write");
        let mode = fs::metadata(dir.path().join(Settings::FILE)).expect("a file");
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
        let read = Settings::read(dir.path()).expect("readable");
        assert_eq!(read.as_ref(), Some(&settings));
        assert_eq!(read.map(|settings| settings.options()), Some(options));
    }

    #[test]
    fn what_is_in_force_is_what_is_written() {
        let options = options(&[
            "--dangerously-skip-permissions",
            "--system-prompt-file=rules",
        ]);
        let command = AgentCommand::new(&options).expect("valid options");
        let (cwd, claude) = (Path::new("/tmp"), Path::new("/bin/claude"));
        let settings = Settings::in_force(&options, &command, cwd, claude);
        assert_eq!(
            settings.permission_mode.as_deref(),
            Some("bypassPermissions")
        );
        assert_eq!(settings.model.as_deref(), Some("sonnet"));
        assert_eq!(settings.claude, Some(claude.into()));
        let file = settings.system_prompt_file.expect("a file");
        assert!(Path::new(&file.0).is_absolute());
    }

    #[test]
    fn unknown_fields_are_ignored_and_a_newer_version_is_refused() {
        let text = br#"{"schema":1,"model":"opus","colour":"blue"}"#;
        let settings = Settings::parse(text).expect("readable");
        assert_eq!(settings.model.as_deref(), Some("opus"));
        assert_eq!(settings.max_turns, 100);
        let dir = tempfile::tempdir().expect("a directory");
        assert!(Settings::read(dir.path()).expect("no file").is_none());
        for text in [r#"{"schema":2}"#, "{}", "no"] {
            fs::write(dir.path().join(Settings::FILE), text).expect("write");
            let err = Settings::read(dir.path()).expect_err("refused");
            assert_eq!(cr_io::exit_of(&err), Exit::Config, "{text}");
        }
    }
}
