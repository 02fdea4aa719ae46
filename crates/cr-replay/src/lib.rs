//! Plays a recording with its original timing, and with faults on request.
//!
//! With `CR_REPLAY` in its environment the program replaces `claude`: it accepts
//! any argument, reads its prompt and plays the agent's lines.

mod child;
mod fault;
mod play;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Parser;
use cr_event::{Event, Kind};
use cr_io::{Exit, Input, Line, Lines};

use crate::fault::Faults;
use crate::play::Player;

/// The version to print if the recording names none.
const VERSION: &str = "0.0.0";

const EXAMPLES: &str = "\
Examples:
  cr-replay run.ndjson | cr-filter
  cr-replay --speed 10 run.ndjson
  CR_CLAUDE=cr-replay CR_REPLAY=run.ndjson cr-spawn --prompt x
  CR_CLAUDE=cr-replay CR_REPLAY=run.ndjson CR_REPLAY_FAULT=hang=result cr-spawn --prompt x

Environment:
  CR_REPLAY        replace claude and play this file: any argument is accepted,
                   the prompt is read, only the agent's lines are played, and
                   the exit code is the one recorded in cr/exit
  CR_REPLAY_SPEED  as --speed; `instant` as --instant
  CR_REPLAY_FAULT  as --fault
  CR_REPLAY_NOW    1: as --now
";

const CODES: &str = "\
Exit status:
  0    played
  2    the command line is wrong
  65   a line is too long
  66   the recording cannot be opened
  74   standard output cannot be written
  In place of claude: the recorded agent's code, or the code of a fault.";

/// Play a recording with its timing, and with faults
///
/// Nothing in a recording is ever executed.
#[derive(Debug, Parser)]
#[command(name = "cr-replay", version, max_term_width = 100, after_help = after_help())]
pub struct Args {
    /// The recording [default: standard input]
    pub file: Option<PathBuf>,

    /// Play N times faster than recorded
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = speed)]
    pub speed: f64,

    /// Do not wait between lines
    #[arg(long, conflicts_with = "speed")]
    pub instant: bool,

    /// Give each line the time at which it is played
    #[arg(long)]
    pub now: bool,

    /// Play only the agent's lines, and end with its exit code
    #[arg(long)]
    pub agent: bool,

    /// A fault to play; may be repeated
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
}

fn after_help() -> String {
    format!("{EXAMPLES}\n{}\n\n{CODES}", fault::TABLE)
}

/// Plays the recording of `args`.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut faults = Faults::default();
    for text in &args.fault {
        faults.add(text).map_err(usage)?;
    }
    let player = Player {
        speed: if args.instant {
            f64::INFINITY
        } else {
            args.speed
        },
        as_agent: args.agent,
        now: args.now,
        faults,
    };
    let file = args.file.as_ref().filter(|file| file.as_os_str() != "-");
    player.play(&file.map_or(Input::Stdin, |file| Input::File(file.clone())))
}

/// Runs as a child of a fault, or in place of `claude`, if this process was
/// started for that.
pub fn stand_in() -> Option<ExitCode> {
    let args: Vec<String> = env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    if let Some(code) = child::run(&args) {
        return Some(code);
    }
    let recording = env::var_os("CR_REPLAY")?;
    Some(cr_io::report("cr-replay", act(&recording, &args)))
}

fn act(recording: &OsString, args: &[String]) -> anyhow::Result<Exit> {
    let recording = Path::new(recording);
    if args.iter().any(|arg| arg == "--version" || arg == "-v") {
        let text = format!("{} (cr-replay)\n", version(recording));
        std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes())?;
        return Ok(Exit::Ok);
    }
    let mut faults = Faults::default();
    if let Ok(text) = env::var("CR_REPLAY_FAULT") {
        faults.add(&text).map_err(usage)?;
    }
    let speed = match env::var("CR_REPLAY_SPEED").as_deref() {
        Ok("instant") => f64::INFINITY,
        Ok(text) => speed(text).map_err(usage)?,
        Err(_) => 1.0,
    };
    if !faults.no_stdin {
        play::take_prompt();
    }
    let player = Player {
        speed,
        as_agent: true,
        now: env::var_os("CR_REPLAY_NOW").is_some_and(|value| value == "1"),
        faults,
    };
    player.play(&Input::File(recording.to_owned()))
}

/// The version that the recording was made with.
fn version(recording: &Path) -> String {
    let of_init = || -> Option<String> {
        let input = Input::File(recording.to_owned()).open().ok()?;
        let mut lines = Lines::new(input);
        while let Some(Line::Whole(line)) = lines.next().ok()? {
            let event = Event::parse(line).ok()?;
            if event.kind == Kind::System && event.is("init") {
                let version = event.line.string("claude_code_version")?;
                return Some(version.into_owned());
            }
        }
        None
    };
    of_init().unwrap_or_else(|| VERSION.to_owned())
}

fn speed(text: &str) -> Result<f64, String> {
    let wrong = || "expected a number above 0".to_owned();
    let speed: f64 = text.parse().map_err(|_| wrong())?;
    if speed > 0.0 && speed.is_finite() {
        Ok(speed)
    } else {
        Err(wrong())
    }
}

fn usage(text: String) -> anyhow::Error {
    anyhow!(text).context(Exit::Usage)
}
