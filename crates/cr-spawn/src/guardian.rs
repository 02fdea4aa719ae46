//! The agent's parent.
//!
//! It does little, so that little can go wrong: it starts the agent, reaps, and
//! ends everything when it is told to or when the front is gone. While it
//! lives, standard output stays open: an end of file means that nobody is left.

use std::env;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use cr_proc::{Process, Swept, descendants};
use cr_rundir::{Lock, RunDir};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, getpid, getppid, kill_process_group, set_parent_process_death_signal, setsid,
};
use signal_hook::consts::{
    SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
};

use crate::guardian_protocol::{End, GuardianSocket, Order, Received, Report, Spec};
use crate::record;

/// The first argument of a guardian; no option of the tool begins like it.
pub(crate) const MARK: &str = "--guardian:";

/// How long a sweep asks before it kills.
pub(crate) const PATIENCE: Duration = Duration::from_millis(200);

/// How long somebody can keep us stopped, while all is well and at the end.
const WAKE: Duration = Duration::from_millis(100);
pub(crate) const WAKE_SOON: Duration = Duration::from_millis(1);

/// Without a word from the front for this long, it is looked at.
const SILENCE: Duration = Duration::from_secs(2);

/// A front that somebody else stopped is waited for this long.
const STOPPED_LIMIT: Duration = Duration::from_secs(30);

/// Runs as the guardian if this process was started as one.
pub fn guard() -> Option<ExitCode> {
    let mut args = env::args_os().skip(1);
    if args.next()? != MARK {
        return None;
    }
    let guarded = Guardian::new().and_then(|mut guardian| guardian.run(&args.collect::<Vec<_>>()));
    Some(match guarded {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

struct Guardian {
    wire: GuardianSocket,
    chld: UnixStream,
    front: i32,
    agent: Option<Pid>,
    end: Option<End>,
    spec: Option<Spec>,
    run_dir: Option<RunDir>,
    /// Held, not used: it goes when we go.
    lock: Option<Lock>,
    started: Instant,
    /// When the front was last heard of.
    heard: Instant,
    /// Since when the front is seen stopped though it did not say so.
    stopped: Option<Instant>,
    /// The front said that it will be stopped.
    is_paused: bool,
    paused: Vec<Process>,
    is_told: bool,
}

impl Guardian {
    fn new() -> io::Result<Self> {
        // Out of reach of the terminal: the front decides what its signals mean.
        let _ = setsid();
        let _ = std::fs::write("/proc/self/comm", "cr-guardian");
        signal_hook::flag::register(SIGCONT, std::sync::Arc::default())?;
        // One that we adopt may stop us; the kernel wakes us again. Without such a
        // timer it does so at least when the front dies.
        let _ = cr_sys::wake_every(WAKE);
        set_parent_process_death_signal(Some(Signal::CONT))?;
        cr_proc::adopt_orphans()?;
        let (read, write) = UnixStream::pair()?;
        read.set_nonblocking(true)?;
        write.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, write)?;
        // Handled and not ignored: the agent would inherit the latter. A hang-up
        // that is ignored already stays so, as nohup wants it; a shell that runs us
        // in the background means the terminal's signals, which reach no agent.
        let ignored = crate::signals::ignored();
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM] {
            if signal != SIGHUP || ignored & (1 << (signal - 1)) == 0 {
                signal_hook::flag::register(signal, std::sync::Arc::default())?;
            }
        }
        let now = Instant::now();
        Ok(Self {
            wire: GuardianSocket::from_fd(io::stdin().as_fd().try_clone_to_owned()?),
            chld: read,
            front: getppid().map_or(0, |pid| pid.as_raw_nonzero().get()),
            agent: None,
            end: None,
            spec: None,
            run_dir: None,
            lock: None,
            started: now,
            heard: now,
            stopped: None,
            is_paused: false,
            paused: Vec::new(),
            is_told: false,
        })
    }

    fn run(&mut self, argv: &[OsString]) -> io::Result<()> {
        loop {
            self.wait()?;
            loop {
                match self.wire.receive::<Order>() {
                    Received::Nothing => break,
                    Received::Closed => return self.finish_alone(),
                    Received::Message(Order::Leave, _) => return Ok(()),
                    Received::Message(order, fds) => self.obey(order, fds, argv),
                }
            }
            self.reap();
            if self.front_is_lost() {
                let _ = Process::read(self.front).map(|front| front.signal(Signal::KILL));
                return self.finish_alone();
            }
        }
    }

    fn wait(&mut self) -> io::Result<()> {
        let second = Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        };
        let mut fds = [
            PollFd::new(&self.wire, PollFlags::IN),
            PollFd::new(&self.chld, PollFlags::IN),
        ];
        match poll(&mut fds, Some(&second)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(err.into()),
        }
        let mut bytes = [0; 64];
        while matches!((&self.chld).read(&mut bytes), Ok(n) if n > 0) {}
        Ok(())
    }

    fn obey(&mut self, order: Order, fds: Vec<OwnedFd>, argv: &[OsString]) {
        self.hear();
        match order {
            Order::Know(spec) => self.know(spec, fds),
            Order::Start => self.start(fds, argv),
            Order::Ping => self.tell(&Report::Pong),
            Order::Signal(number) => self.signal_agent(number),
            Order::Sweep { patience_ms } => {
                let swept = self.sweep(Duration::from_millis(patience_ms));
                self.tell_swept(&swept.leaked, &swept.unkillable);
            }
            Order::List => {
                self.reap();
                self.tell_swept(&descendants(me()), &[]);
            }
            Order::Pause => {
                self.is_paused = true;
                self.pause();
            }
            Order::Resume => self.resume(),
            Order::Leave => {}
        }
    }

    fn know(&mut self, spec: Spec, fds: Vec<OwnedFd>) {
        let mut fds = fds.into_iter();
        if let (Some(dir), Some(path)) = (fds.next(), &spec.run_dir) {
            self.run_dir = Some(RunDir::from_fd(dir, path.clone()));
        }
        self.lock = fds.next().map(Lock::from_fd);
        self.spec = Some(spec);
    }

    fn start(&mut self, fds: Vec<OwnedFd>, argv: &[OsString]) {
        let mut fds = fds.into_iter();
        let streams = (fds.next(), fds.next(), fds.next());
        let (Some(spec), (Some(stdin), Some(stdout), Some(stderr))) = (&self.spec, streams) else {
            return;
        };
        let mut command = Command::new(&spec.program);
        if let Some((name, rest)) = argv.split_first() {
            command.arg0(name).args(rest);
        }
        if let Some(cwd) = &spec.cwd {
            command.current_dir(cwd);
        }
        command
            .stdin(Stdio::from(stdin))
            .stdout(Stdio::from(stdout))
            .stderr(Stdio::from(stderr));
        // If both of us are killed at one blow, the agent at least is asked.
        cr_sys::in_own_session(&mut command, Some(Signal::TERM));
        let report = match command.spawn() {
            Ok(child) => {
                let pid = Pid::from_child(&child);
                self.agent = Some(pid);
                Report::Started {
                    pid: pid.as_raw_nonzero().get(),
                }
            }
            Err(err) => Report::Failed {
                errno: err.raw_os_error().unwrap_or(0),
                what: err.to_string(),
            },
        };
        self.tell(&report);
    }

    /// Signals the agent's group, and wakes what is stopped in it.
    fn signal_agent(&mut self, number: i32) {
        self.resume();
        if let (Some(agent), Some(signal)) = (self.agent, Signal::from_named_raw(number)) {
            // Until it is reaped, the number is its own.
            if self.end.is_none() {
                let _ = kill_process_group(agent, signal);
                let _ = kill_process_group(agent, Signal::CONT);
            }
        }
    }

    fn reap(&mut self) {
        let (agent, mut end) = (self.agent, None);
        cr_proc::reap(|pid, status| {
            if Some(pid) == agent {
                end = Some(End::from(status));
            }
        });
        self.ended(end);
    }

    fn sweep(&mut self, patience: Duration) -> Swept {
        self.resume();
        let (agent, mut end) = (self.agent, None);
        let swept = cr_proc::sweep(patience, |pid, status| {
            if Some(pid) == agent {
                end = Some(End::from(status));
            }
        });
        self.ended(end);
        swept
    }

    fn ended(&mut self, end: Option<End>) {
        if self.end.is_none() && end.is_some() {
            self.end = end;
        }
        if let (Some(end), false) = (self.end, self.is_told) {
            self.is_told = true;
            self.tell(&Report::Exited(end));
        }
    }

    /// Stops everything that runs.
    fn pause(&mut self) {
        for process in descendants(me()) {
            if !process.is_stopped() && process.signal(Signal::STOP).is_ok() {
                self.paused.push(process);
            }
        }
    }

    /// Lets go on what was stopped, and nothing else.
    fn resume(&mut self) {
        for process in std::mem::take(&mut self.paused) {
            let _ = process.signal(Signal::CONT);
        }
    }

    fn hear(&mut self) {
        self.heard = Instant::now();
        self.is_paused = false;
        if self.stopped.take().is_some() {
            self.resume();
        }
    }

    /// Whether the front is stopped, did not announce it, and stays so.
    ///
    /// The agent is stopped with it, so that nothing is spent meanwhile.
    fn front_is_lost(&mut self) -> bool {
        if self.is_paused || self.heard.elapsed() < SILENCE {
            return false;
        }
        let stopped = Process::read(self.front).is_some_and(|front| front.is_stopped());
        match (stopped, self.stopped) {
            (true, Some(since)) => since.elapsed() > STOPPED_LIMIT,
            (true, None) => {
                self.stopped = Some(Instant::now());
                self.pause();
                false
            }
            (false, _) => false,
        }
    }

    /// The front is gone: ends everything and leaves the record.
    fn finish_alone(&mut self) -> io::Result<()> {
        let _ = cr_sys::wake_every(WAKE_SOON);
        let keep = self.spec.as_ref().is_some_and(|spec| spec.keep_children);
        let swept = if keep && self.end.is_some() {
            Swept::default()
        } else {
            self.sweep(PATIENCE)
        };
        let (Some(spec), Some(run_dir)) = (&self.spec, &self.run_dir) else {
            return Ok(());
        };
        if !run_dir.has("started") {
            return Ok(());
        }
        let exit = record::exit_of_dead_supervisor(self.end, self.started.elapsed(), &swept);
        run_dir
            .write_once(
                "exit.json",
                &cr_stream::compose_line(Some(&spec.run_id), &exit),
            )
            .map_err(io::Error::other)?;
        Ok(())
    }

    fn tell_swept(&self, leaked: &[Process], unkillable: &[Process]) {
        let most = |list: &[Process]| list.iter().take(record::MOST_PROCESSES).cloned().collect();
        self.tell(&Report::Swept {
            leaked: most(leaked),
            unkillable: most(unkillable),
        });
    }

    /// A front that does not take the message is dead or will ask again.
    fn tell(&self, report: &Report) {
        let _ = self.wire.send(report, &[]);
    }
}

fn me() -> i32 {
    getpid().as_raw_nonzero().get()
}
