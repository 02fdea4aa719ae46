//! The real CLI under test, without a network and without a key.
//!
//! `cr-mock api` answers in place of the model, from a script. `cr-mock run`
//! starts a command in a namespace that has nothing but loopback and that API.
//! Together they let the tests use the real `claude` program: it cannot tell
//! the difference, and nothing it does can leave the machine.
//!
//! `cr-mock agent` is a stand-in for that program, for tests that need many runs.

mod agent;
mod api;
mod http;
mod inside;
mod launch;
mod message;
mod request;
mod sandbox;
mod scenario;

use std::ffi::OsString;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use anyhow::Context;
use cr_io::Exit;

use crate::api::Api;
use crate::scenario::Scenario;

/// Run the real CLI against a scripted API, sealed off from every network
#[derive(Debug, clap::Parser)]
#[command(name = "cr-mock", version)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Agent(agent::AgentArgs),
    Api(ApiArgs),
    Run(RunArgs),
    #[command(hide = true)]
    Inside(InsideArgs),
}

/// Answer as the Messages API would, from a script
///
/// Listens on a free port of loopback, writes its number to the port file and
/// serves until it is killed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = FORMAT)]
struct ApiArgs {
    /// The script to answer from
    #[arg(long, value_name = "FILE")]
    scenario: PathBuf,

    /// Write the port here once the API listens
    #[arg(long, value_name = "FILE")]
    port_file: PathBuf,

    #[command(flatten)]
    record: Record,
}

/// Run COMMAND in a sandbox with nothing but loopback and a scripted API
///
/// COMMAND starts in new network, process and mount namespaces, with a scrubbed
/// environment, a fake key and a home of its own. Its input, output and exit
/// code are its own; signals are passed on. Processes it leaves running are
/// killed. If the kernel does not allow such namespaces, nothing is run.
#[derive(Debug, clap::Args)]
#[command(after_help = RUN_EXIT)]
struct RunArgs {
    /// The script to answer from; its format is in `cr-mock api --help`
    #[arg(long, value_name = "FILE", required_unless_present = "no_api")]
    scenario: Option<PathBuf>,

    /// Start no API: connections to it are refused
    #[arg(long)]
    no_api: bool,

    /// Use DIR as HOME, and keep it, rather than a temporary one
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,

    /// Add NAME=VALUE to the environment; may be given more than once
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair)]
    envs: Vec<(String, String)>,

    /// Start COMMAND in DIR
    #[arg(long, value_name = "DIR", default_value = ".")]
    cwd: PathBuf,

    /// Write how COMMAND ended, and what it left running, here as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Give what COMMAND left running up to SECONDS to end by itself
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    linger: u64,

    #[command(flatten)]
    record: Record,

    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// The other side of `run`: the first process in the new namespaces.
#[derive(Debug, clap::Args)]
struct InsideArgs {
    #[arg(long)]
    work: PathBuf,

    #[command(flatten)]
    run: RunArgs,
}

/// What is written down, and the words of the script.
#[derive(Debug, clap::Args)]
struct Record {
    /// Append a JSON line per request here
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Write each request's body into DIR
    #[arg(long, value_name = "DIR")]
    bodies: Option<PathBuf>,

    /// Replace {{NAME}} in the script by VALUE; `run` defines {{cwd}} itself
    #[arg(long = "define", value_name = "NAME=VALUE", value_parser = pair)]
    defined: Vec<(String, String)>,
}

const FORMAT: &str = r#"A script is a JSON object:
  "turns": [STEP…]          the answers, in order
  "lanes": [{"name": …, "match": MATCH, "turns": [STEP…]}…]
                            answers for the requests that match, such as a subagent's
  "on_exhausted": STEP      when a lane has no step left
  "background": STEP        for requests that offer no tools (titles and the like)
  "note": …                 ignored, here and in a step

A STEP, every key optional:
  "text": …                 an answer of one text block
  "blocks": [BLOCK…]        {"type": "text", "text": …}
                            {"type": "thinking", "thinking": …}
                            {"type": "tool_use", "name": …, "input": {…}, "id": …}
  "usage": {"input_tokens": …, "output_tokens": …, "cache_read_input_tokens": …,
            "cache_creation_input_tokens": …, "cache_creation":
            {"ephemeral_5m_input_tokens": …, "ephemeral_1h_input_tokens": …}}
  "stop_reason", "model"    otherwise what fits the blocks, and the model asked for
  "headers": {…}            more headers of the answer
  "delay_ms": N             wait before the answer
  "chunk_size": N           characters a delta (24)
  "chunk_delay_ms": N       wait after each delta
  "error": {"status": 429, "type": …, "message": …, "headers": {"retry-after": "2"}}
                            answer with this HTTP error
  "stream_error": {"type": …, "message": …}
                            an error event after the first delta
  "drop": "before" | "mid"  reset the connection before the answer, or in the middle
  "silent": true            read the request and never answer
  "hang": true              begin an answer, then only pings
  "gate": FILE              after the first delta, wait until FILE exists
  "repeat": N | "forever"   answer this many requests (1)

A MATCH, every key given must hold:
  "first_user_contains", "any_user_contains", "system_contains",
  "model_contains": …       a part of that text; any_user_contains also takes a list,
                            each of which must be found
  "has_tool": …             the name of a tool offered

Exit status:
  2    bad usage
  65   the script is not one
  66   the script cannot be read
  74   the port or a record cannot be written"#;

const RUN_EXIT: &str = "\
Example:
  cr-mock run --scenario hello.json -- claude -p --output-format stream-json --verbose hi

Exit status:
  COMMAND's own, 128+n if signal n ended it, or
  2    bad usage
  65   the script is not one
  66   the script cannot be read
  125  COMMAND could not be sealed off, and was not run; or cr-mock failed
  126  COMMAND cannot be run
  127  COMMAND was not found";

/// Runs the subcommand of `args`.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.what {
        What::Agent(args) => agent::run(args),
        What::Api(args) => serve(args),
        What::Run(args) => launch::run(args),
        What::Inside(args) => inside::run(&args.run, &args.work),
    }
}

fn serve(args: &ApiArgs) -> anyhow::Result<Exit> {
    let api = args.record.api(&args.scenario, Vec::new())?;
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("listen on loopback")?;
    let port = listener.local_addr()?.port();
    // Renamed into place, so that a reader never finds an empty file.
    let place = || args.port_file.display().to_string();
    let half = args.port_file.with_extension("tmp");
    fs::write(&half, format!("{port}\n")).with_context(place)?;
    fs::rename(&half, &args.port_file).with_context(place)?;
    api.serve(&listener).context("accept a connection")?;
    Ok(Exit::Ok)
}

impl Record {
    /// The API that plays the script at `path`.
    fn api(&self, path: &Path, mut defined: Vec<(String, String)>) -> anyhow::Result<Api> {
        let place = || path.display().to_string();
        let text = fs::read_to_string(path)
            .with_context(place)
            .context(Exit::NoInput)?;
        defined.extend(self.defined.iter().cloned());
        let scenario = Scenario::parse(&text, &defined)
            .with_context(place)
            .context(Exit::Data)?;
        let log = self.log.as_ref().map(|path| {
            let log = fs::OpenOptions::new().create(true).append(true).open(path);
            log.with_context(|| path.display().to_string())
        });
        if let Some(dir) = &self.bodies {
            fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        }
        Ok(Api {
            scenario,
            log: log.transpose()?.map(Mutex::new),
            bodies: self.bodies.clone(),
            requests: AtomicUsize::new(0),
        })
    }
}

/// Parses `NAME=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("no = in it")?;
    Ok((name.to_owned(), value.to_owned()))
}
