//! `cr-serve`: the runs of this machine in a browser, and over curl.
//!
//! `guard` decides who may ask, `routes` has the addresses, `follow` sends a run as it
//! grows. What other tools do is done by them: summaries, reports, messages.

mod args;
mod asks;
mod assets;
mod control;
mod encode;
mod export;
mod follow;
mod guard;
mod guesses;
mod ledger;
mod listener;
mod metrics;
mod query;
mod routes;
mod run_list;
mod source;
mod state;
mod stream_body;
mod summary;
mod text;
mod token;
mod tools;
mod transcript;
mod watcher;

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use anyhow::Context;
use cr_config::Config;
use cr_io::{Exit, Out, Redactor};
use cr_rundir::file;

pub use args::Args;

use guard::Guard;
use run_list::RunList;
use source::Recording;
use state::{App, Inner};
use token::Token;
use watcher::Watcher;

/// The service is not available: its port is taken.
const TAKEN: Exit = Exit::Code(69);

/// Threads that read files; a reader that waits for more holds none.
const FILE_THREADS: usize = 16;

/// Prints the address to `out` and serves it until a signal ends the process.
pub fn run(args: &Args, out: impl Write) -> anyhow::Result<Exit> {
    let state = Config::load()?.state_dir()?;
    if let Some(to) = &args.export {
        return export::write(&args.files, to, &state.path().join(file::RUNS));
    }
    let recordings = if args.files.is_empty() {
        Vec::new()
    } else {
        Recording::open_all(&cr_io::inputs(&args.files)?)?
    };
    let listener = listen(args.port)?;
    let port = listener.local_addr()?.port();
    let token = match args.port {
        Some(port) => Token::of_port(&state, port)?,
        None => Token::new()?,
    };
    let own = format!("http://127.0.0.1:{port}");
    let origin = args.public_url.as_ref().map_or(&*own, |url| url.origin());
    let address = format!("{origin}/#{}", token.as_str());
    let guard = Guard {
        token,
        public: args.public_url.clone(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(FILE_THREADS)
        .enable_all()
        .build()
        .context(Exit::Tool)?;
    let runs = state.path().join(file::RUNS);
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let app = app(args, guard, runs, recordings);
        let mut out = Out::new(out);
        out.line(address.as_bytes())?;
        out.flush()?;
        listener::serve(listener, routes::all(app), args.max_clients.into()).await;
        Ok(Exit::Ok)
    })
}

/// Listens on this machine only.
fn listen(port: Option<u16>) -> anyhow::Result<TcpListener> {
    let address = (Ipv4Addr::LOCALHOST, port.unwrap_or(0));
    let listener = TcpListener::bind(address).with_context(|| format!("port {}", address.1));
    let listener = listener.context(TAKEN)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn app(
    args: &Args,
    guard: Guard,
    runs: std::path::PathBuf,
    recordings: Vec<Arc<Recording>>,
) -> App {
    let watcher = Watcher::new();
    App::new(Inner {
        guard,
        list: RunList::new(runs.clone(), watcher.clone()),
        runs,
        recordings,
        may_control: args.allow_control,
        most_readers: args.max_clients.into(),
        readers: Arc::new(AtomicUsize::new(0)),
        watcher,
        summaries: summary::Summaries::default(),
        redactor: Redactor::from_env(),
        counts: state::Counts::default(),
        guesses: guesses::Guesses::default(),
    })
}
