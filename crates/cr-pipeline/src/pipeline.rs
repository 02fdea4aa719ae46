//! One pipeline: what it runs, and where its output goes.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use cr_io::Exit;
use cr_rundir::{Run, file};
use cr_signal::Signals;

use crate::ledger;
use crate::record::{feed, summarize_record};
use crate::starter::{self, PipelineEnd};

/// The argument by which the script knows that its second half is meant.
const MARK: &str = "--pipeline:";

/// The script as it was when this program was built.
const SCRIPT: &str = include_str!("../../../scripts/claude-runner");

/// How many settings stand between the mark and the options.
const SETTINGS: usize = 6;

/// The script whose second half is the pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Script {
    /// The file that the user called, and the shell that it runs in.
    File {
        /// The shell.
        shell: OsString,
        /// The script.
        path: OsString,
    },
    /// The copy in this program, for `/bin/sh`: the same text, and no file to
    /// look for.
    BuiltIn,
}

/// What standard output is for; see claude-runner(1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Progress, a delimiter and the summary.
    Report,
    /// The summary.
    Summary,
    /// The answer.
    Answer,
    /// The stream.
    Stream,
    /// Nothing, and no progress either: the full summary is in the run
    /// directory.
    Attempt,
}

impl Output {
    const ALL: [Self; 5] = [
        Self::Report,
        Self::Summary,
        Self::Answer,
        Self::Stream,
        Self::Attempt,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Summary => "summary",
            Self::Answer => "answer",
            Self::Stream => "stream",
            Self::Attempt => "attempt",
        }
    }
}

/// The first stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `cr-git start`, then cr-spawn: one agent.
    Spawn,
    /// cr-orchestrate: as many attempts as it takes.
    Retry,
}

/// A pipeline that only has to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// The script that defines it.
    pub script: Script,
    /// What standard output is for.
    pub output: Output,
    /// The agent's directory.
    pub cwd: PathBuf,
    /// The run directory, if the run is recorded.
    pub run_dir: Option<PathBuf>,
    /// Bytes of progress; 0 is no limit.
    pub limit: u64,
    /// Less progress.
    pub quiet: bool,
    /// The first stage.
    pub source: Source,
    /// The arguments of the first stage's tool.
    pub options: Vec<OsString>,
    /// Variables for all stages.
    pub env: Vec<(OsString, OsString)>,
    /// It is a part of another run, which is recorded in the ledger as a whole.
    pub is_part: bool,
}

/// The pipeline's standard streams. Where there is none, it gets our own.
#[derive(Debug)]
pub struct Streams {
    /// The prompt.
    pub stdin: Stdio,
    /// For the result.
    pub stdout: Option<File>,
    /// For progress and errors.
    pub stderr: Option<File>,
}

impl Pipeline {
    /// The arguments of the script: the mark, the settings, the options.
    pub fn args(&self) -> Vec<OsString> {
        let or_empty = |is_given: bool, text: &str| {
            let text = if is_given { text } else { "" };
            OsString::from(text)
        };
        let settings: [OsString; SETTINGS] = [
            self.output.name().into(),
            self.cwd.clone().into(),
            self.run_dir.clone().unwrap_or_default().into(),
            or_empty(self.limit > 0, &self.limit.to_string()),
            or_empty(self.quiet, "quiet"),
            or_empty(self.source == Source::Retry, "retry"),
        ];
        let mut args = vec![OsString::from(MARK)];
        args.extend(settings);
        args.extend(self.options.iter().cloned());
        args
    }

    /// The pipeline whose script is `script` and whose [`Pipeline::args`] are
    /// `args`.
    pub fn from_args(script: Script, args: &[OsString]) -> Option<Self> {
        let (mark, args) = args.split_first()?;
        let (settings, options) = args.split_at_checked(SETTINGS)?;
        let [output, cwd, run_dir, limit, quiet, source] = settings else {
            return None;
        };
        let mut outputs = Output::ALL.into_iter();
        let output = outputs.find(|known| output == known.name())?;
        let path = |text: &OsStr| (!text.is_empty()).then(|| PathBuf::from(text));
        let is_pipeline = mark == MARK;
        is_pipeline.then(|| Self {
            script,
            output,
            cwd: cwd.into(),
            run_dir: path(run_dir),
            limit: limit
                .to_str()
                .and_then(|limit| limit.parse().ok())
                .unwrap_or(0),
            quiet: !quiet.is_empty(),
            source: if source.is_empty() {
                Source::Spawn
            } else {
                Source::Retry
            },
            options: options.to_vec(),
            env: Vec::new(),
            is_part: false,
        })
    }

    /// Runs the pipeline to its end, and passes `signals` on to it. Returns the
    /// verdict. Afterwards there is a summary in the run directory.
    pub fn run(&self, streams: Streams, signals: &mut Signals) -> anyhow::Result<Exit> {
        let mut command = self.command();
        let stdout = streams.stdout.as_ref().map(File::try_clone).transpose()?;
        command.stdin(streams.stdin);
        if let Some(stdout) = streams.stdout {
            command.stdout(stdout);
        }
        if let Some(stderr) = streams.stderr {
            command.stderr(stderr);
        }
        let shown = Path::new(command.get_program()).display().to_string();
        let end = starter::run(command, signals, stdout.is_none())
            .context(shown)
            .context(Exit::Tool)?;
        let code = self.complete(end, stdout)?;
        if let Some(run_dir) = self.run_dir.as_ref().filter(|_| !self.is_part) {
            ledger::record(run_dir, &self.env);
        }
        Ok(Exit::Code(code))
    }

    fn command(&self) -> Command {
        let mut command;
        match &self.script {
            Script::File { shell, path } => {
                command = Command::new(shell);
                command.arg(path);
            }
            Script::BuiltIn => {
                // By its name the script finds the tools beside this program.
                let own = cr_io::find_tool("cr-spawn").with_file_name("claude-runner");
                command = Command::new("/bin/sh");
                command.args(["-c", SCRIPT]).arg(own);
            }
        }
        command.args(self.args());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The verdict of a pipeline that ended so. A summary that is missing, because
    /// somebody killed a stage or stopped reading, is made from the record.
    fn complete(&self, end: PipelineEnd, stdout: Option<File>) -> anyhow::Result<u8> {
        let code = end.code.number();
        let run = self.run_dir.as_ref().map(Run::new);
        let is_cut_off = end.code.is_signal() || code == Exit::Data.code();
        let Some(run) = run.filter(|_| is_cut_off || end.has_reader_left) else {
            return Ok(code);
        };
        if run.has(file::SUMMARY) {
            // If only the shell was killed, its stages came to their end.
            let is_known = end.code.is_shells_own();
            let verdict = run.summary()?.and_then(|summary| summary.code);
            return Ok(verdict.filter(|_| is_known).unwrap_or(code));
        }
        let length = std::fs::metadata(run.file(file::STREAM)).map(|meta| meta.len());
        if !length.is_ok_and(|length| length > 0) {
            return Ok(code);
        }
        let to = match stdout {
            _ if end.has_reader_left => Stdio::null(),
            Some(file) => file.into(),
            None => Stdio::inherit(),
        };
        self.finish(&run, to)
    }

    /// Does again what the last stage would have done.
    fn finish(&self, run: &Run, to: Stdio) -> anyhow::Result<u8> {
        let summary = match self.output {
            Output::Report => summarize_record(&run.dir, &["--delimiter"], to)?,
            Output::Summary => summarize_record(&run.dir, &[], to)?,
            Output::Stream => summarize_record(&run.dir, &[], Stdio::null())?,
            Output::Attempt => summarize_record(&run.dir, &["--full"], Stdio::null())?,
            Output::Answer => {
                let summary = summarize_record(&run.dir, &[], Stdio::piped())?;
                let mut extract = Command::new(cr_io::find_tool("cr-extract"));
                extract.arg("--verdict").stdout(to);
                feed(extract, &[run.file(file::STREAM)], &summary.text)?
            }
        };
        Ok(summary.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_a_pipeline_are_the_pipeline() {
        let full = Pipeline {
            script: Script::BuiltIn,
            output: Output::Answer,
            cwd: "/a b".into(),
            run_dir: Some("/runs/x".into()),
            limit: 20_000,
            quiet: true,
            source: Source::Retry,
            options: vec!["--dir=/runs/x".into(), "--".into(), "".into()],
            env: Vec::new(),
            is_part: false,
        };
        let plain = Pipeline {
            output: Output::Report,
            cwd: ".".into(),
            run_dir: None,
            limit: 0,
            quiet: false,
            source: Source::Spawn,
            options: Vec::new(),
            ..full.clone()
        };
        for pipeline in [full, plain] {
            let args = pipeline.args();
            assert_eq!(
                Pipeline::from_args(Script::BuiltIn, &args),
                Some(pipeline),
                "{args:?}"
            );
        }
        for args in [&[][..], &["x".into()], &[MARK.into(), "report".into()]] {
            assert_eq!(Pipeline::from_args(Script::BuiltIn, args), None);
        }
    }
}
