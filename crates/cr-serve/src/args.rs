//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::guard::PublicUrl;

const AFTER: &str = "\
The token is behind the `#` of the address. Whoever has it can read everything that
is shown. The page keeps it as a cookie; other programs send it as the header
`Authorization: Bearer TOKEN`.

Examples:
  cr-serve
  cr-serve --port 8123 --allow-control
  ssh -L 8123:127.0.0.1:8123 build-host cr-serve --port 8123
  curl -N -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:8123/events
  cr-serve run.ndjson ~/.claude/projects/app/80f8ae6e.jsonl
  claude -p --output-format stream-json --verbose <prompt.md | cr-serve -
  cr-serve --export run.html docs

Addresses:
  /events             changes of the list of runs, as server-sent events
  /events?run=ID      a run: each line of its transcript, then its end; the id of an
                      event is the place of the next line, so that Last-Event-ID goes
                      on exactly
  &runs               the changes of the list, too
  &since=PLACE        only what comes after this place
  &kinds=LIST         only lines of these types (`assistant,cr/ask`), or none of
                      those with a `-` (`-stream_event`)
  /api/runs           the runs, as `cr-runs ls --json` prints them, in an array; `id`
                      beside that is the name of the directory, and the ID in the
                      addresses. A recording has only id, name and state
  /api/runs/ID/summary  the summary, as cr-summarize(1) prints it; so far, while the
                      run goes on
  /api/asks           the questions without an answer, in an array: `run`, and the
                      fields of `questions` in cr-rundir(5)
  /api/ledger/report  the rows of `cr-ledger report --json`, in an array; its options
                      by, since, until, top and model follow the `?`
  /api/about          version; control, recordings: whether they are on
  /metrics            numbers for Prometheus
  With `Accept: text/plain` /events gives the lines of cr-filter.

Events:
  (none)    a line of the transcript; secrets are masked
  text      a line that is no JSON, as a string
  oversize  a line of more than a megabyte: bytes, and its head
  start     the first event: id, and at, the place at which it begins
  gap       events are missing between from and to; why: `shorter` if the transcript
            ends before the place that was asked for, and all of it follows;
            `not_a_line` if no line begins there, and the next one follows
  live      everything so far has been sent
  git       the cr/git line at the end of the run
  summary   the summary, so far or at the end
  end       the run is over; the answer ends, too, without &runs
  runs      all runs, the latest first
  run       a run that is new or has changed
  gone      a run that is not there any more

POST, with the token, the Origin of the page and, for a body, application/json:
  /api/session          a cookie for the token of the header
  /api/runs/ID/stop     end the run, as `cr-runs stop`
  /api/runs/ID/message  {\"text\":…,\"when\":\"next\"}, as cr-send(1)
  /api/runs/ID/answer   {\"id\":…,\"decision\":\"allow\",\"text\":…}; decision is also
                        `allow_session`, `deny` (text is the reason) or `choose` (text
                        is the choice)

Environment:
  CR_STATE_DIR  where runs are kept (default: $XDG_STATE_HOME/claude-runner)

Exit status:
  2    the command line is wrong
  66   an input is not there
  69   the port is taken
  74   writing failed
  78   the configuration is wrong, or an unsafe state directory
  A server runs until it is ended by a signal.";

/// Show the runs of this machine in a browser, live
///
/// Prints one address and serves it, on this machine only: what needs a person, what
/// runs, and what each run did. With FILE it shows recordings and no runs. It reads
/// files and slows no agent.
#[derive(Debug, Parser)]
#[command(name = "cr-serve", version, after_help = AFTER, max_term_width = 100)]
pub struct Args {
    /// Recordings or session logs to show; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The port; its token is kept in the state directory, so that a page goes on
    /// after a restart [default: a free one, with a new token]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,

    /// The address at which a proxy offers the server, such as
    /// `https://dev.example.com`
    #[arg(long, value_name = "URL", value_parser = PublicUrl::parse)]
    pub(crate) public_url: Option<PublicUrl>,

    /// Readers of /events at one time; more are refused with 503
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_clients: u16,

    /// Stop runs, send messages and answer questions from the page
    #[arg(long)]
    pub(crate) allow_control: bool,

    /// Write the page with one recording in it to this file, with secrets masked, and
    /// serve nothing; FILE may also be a run
    #[arg(long, value_name = "OUT", requires = "files", conflicts_with_all = ["port", "public_url", "allow_control"])]
    pub(crate) export: Option<PathBuf>,
}
