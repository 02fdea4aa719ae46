//! The agent's parent.
//!
//! It does little, so that little can go wrong: it starts the agent, reaps, and
//! ends everything when it is told to or when the supervisor is gone. While it
//! lives, standard output stays open: an end of file means that no process is
//! left.

use std::env;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use cr_proc::{Process, Swept, descendants};
use cr_rundir::{Lock, RunDir, file};
use cr_signal::{
    Ignored, SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, getpid, getppid, kill_process_group, set_parent_process_death_signal, setsid,
};

use crate::guardian_protocol::{
    End, GuardianSocket, LeftoverReport, Order, Received, Report, RunSpec,
};
use crate::phases::SWEEP_TERM_GRACE;
use crate::record::{self, MOST_PROCESSES};

/// The first argument of a guardian; no option of the tool begins like it.
pub(crate) const MARK: &str = "--guardian:";

/// How long another process can keep this one stopped: while the agent runs, and
/// while everything is ended.
const WAKE_INTERVAL: Duration = Duration::from_millis(100);
pub(crate) const WAKE_INTERVAL_AT_END: Duration = Duration::from_millis(1);

/// After this long without an order, the supervisor's state is checked.
const ORDER_TIMEOUT: Duration = Duration::from_secs(2);

/// A supervisor that somebody else stopped is killed after this time.
const STOPPED_TIMEOUT: Duration = Duration::from_secs(30);

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
    socket: GuardianSocket,
    /// Readable when a child has ended.
    child_ended: UnixStream,
    supervisor: i32,
    agent: Option<Pid>,
    end: Option<End>,
    spec: Option<RunSpec>,
    run_dir: Option<RunDir>,
    /// Held until this process ends.
    lock: Option<Lock>,
    started: Instant,
    last_order: Instant,
    /// Since when the supervisor is stopped without having announced it.
    stopped: Option<Instant>,
    /// The supervisor announced that it will be stopped.
    is_paused: bool,
    paused: Vec<Process>,
    is_end_reported: bool,
}

impl Guardian {
    fn new() -> io::Result<Self> {
        // Out of reach of the terminal: the supervisor decides what its signals mean.
        let _ = setsid();
        let _ = std::fs::write("/proc/self/comm", "cr-guardian");
        cr_signal::ignore_here(SIGCONT)?;
        // A process that we adopt may stop us; the kernel wakes us again. Without
        // such a timer it does so at least when the supervisor dies.
        let _ = cr_sys::wake_every(WAKE_INTERVAL);
        set_parent_process_death_signal(Some(Signal::CONT))?;
        cr_proc::adopt_orphans()?;
        let (read, write) = UnixStream::pair()?;
        read.set_nonblocking(true)?;
        write.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, write)?;
        // By a handler: the agent would inherit that a signal is ignored. Only
        // SIGHUP stays ignored if it was, as nohup wants it. A shell also has a
        // background job ignore SIGINT and SIGQUIT, but it means those of the
        // terminal, and the terminal does not reach the agent.
        let ignored = Ignored::read();
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM] {
            if signal != SIGHUP || !ignored.contains(signal) {
                cr_signal::ignore_here(signal)?;
            }
        }
        let now = Instant::now();
        Ok(Self {
            socket: GuardianSocket::from_fd(io::stdin().as_fd().try_clone_to_owned()?),
            child_ended: read,
            supervisor: getppid().map_or(0, |pid| pid.as_raw_nonzero().get()),
            agent: None,
            end: None,
            spec: None,
            run_dir: None,
            lock: None,
            started: now,
            last_order: now,
            stopped: None,
            is_paused: false,
            paused: Vec::new(),
            is_end_reported: false,
        })
    }

    fn run(&mut self, argv: &[OsString]) -> io::Result<()> {
        loop {
            self.wait()?;
            loop {
                match self.socket.receive::<Order>() {
                    Received::Nothing => break,
                    Received::Closed => return self.finish_alone(),
                    Received::Message(Order::Leave, _) => return Ok(()),
                    Received::Message(order, fds) => self.obey(order, fds, argv),
                }
            }
            self.reap();
            if self.supervisor_is_lost() {
                let supervisor = Process::read(self.supervisor);
                let _ = supervisor.map(|supervisor| supervisor.signal(Signal::KILL));
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
            PollFd::new(&self.socket, PollFlags::IN),
            PollFd::new(&self.child_ended, PollFlags::IN),
        ];
        match poll(&mut fds, Some(&second)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(err.into()),
        }
        let mut bytes = [0; 64];
        while matches!((&self.child_ended).read(&mut bytes), Ok(n) if n > 0) {}
        Ok(())
    }

    fn obey(&mut self, order: Order, fds: Vec<OwnedFd>, argv: &[OsString]) {
        self.order_came();
        match order {
            Order::Prepare(spec) => self.prepare(spec, fds),
            Order::Start => self.start(fds, argv),
            Order::Ping => self.report(&Report::Pong),
            Order::Signal(number) => self.signal_agent(number),
            Order::Sweep { term_grace_ms } => {
                let swept = self.sweep(Duration::from_millis(term_grace_ms));
                self.report_swept(swept);
            }
            Order::List => {
                self.reap();
                self.report_swept(Swept {
                    leaked: descendants(own_pid()),
                    unkillable: Vec::new(),
                });
            }
            Order::Pause => {
                self.is_paused = true;
                self.pause();
            }
            Order::Resume => self.resume(),
            Order::Leave => {}
        }
    }

    fn prepare(&mut self, spec: RunSpec, fds: Vec<OwnedFd>) {
        let mut fds = fds.into_iter();
        if let (Some(dir), Some(path)) = (fds.next(), &spec.run_dir) {
            self.run_dir = Some(RunDir::from_fd(dir, path.0.clone().into()));
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
        let mut command = Command::new(&spec.program.0);
        if let Some((name, rest)) = argv.split_first() {
            command.arg0(name).args(rest);
        }
        command
            .current_dir(&spec.cwd.0)
            .stdin(Stdio::from(stdin))
            .stdout(Stdio::from(stdout))
            .stderr(Stdio::from(stderr));
        // If both processes are killed at once, the agent at least gets SIGTERM.
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
        self.report(&report);
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

    fn sweep(&mut self, term_grace: Duration) -> Swept {
        self.resume();
        let (agent, mut end) = (self.agent, None);
        let swept = cr_proc::sweep(term_grace, |pid, status| {
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
        if let (Some(end), false) = (self.end, self.is_end_reported) {
            self.is_end_reported = true;
            self.report(&Report::Exited(end));
        }
    }

    /// Stops everything that runs.
    fn pause(&mut self) {
        for process in descendants(own_pid()) {
            if !process.is_stopped() && process.signal(Signal::STOP).is_ok() {
                self.paused.push(process);
            }
        }
    }

    /// Lets the processes continue that were stopped here, and no others.
    fn resume(&mut self) {
        for process in std::mem::take(&mut self.paused) {
            let _ = process.signal(Signal::CONT);
        }
    }

    fn order_came(&mut self) {
        self.last_order = Instant::now();
        self.is_paused = false;
        if self.stopped.take().is_some() {
            self.resume();
        }
    }

    /// Whether the supervisor was stopped without having announced it, and stays
    /// so.
    ///
    /// The agent is stopped with it, so that it spends nothing meanwhile.
    fn supervisor_is_lost(&mut self) -> bool {
        if self.is_paused || self.last_order.elapsed() < ORDER_TIMEOUT {
            return false;
        }
        let stopped = Process::read(self.supervisor).is_some_and(|process| process.is_stopped());
        match (stopped, self.stopped) {
            (true, Some(since)) => since.elapsed() > STOPPED_TIMEOUT,
            (true, None) => {
                self.stopped = Some(Instant::now());
                self.pause();
                false
            }
            (false, _) => false,
        }
    }

    /// Ends everything and writes the record: the supervisor is gone.
    fn finish_alone(&mut self) -> io::Result<()> {
        let _ = cr_sys::wake_every(WAKE_INTERVAL_AT_END);
        let keep = self.spec.as_ref().is_some_and(|spec| spec.keep_children);
        let swept = if keep && self.end.is_some() {
            Swept::default()
        } else {
            self.sweep(SWEEP_TERM_GRACE)
        };
        let (Some(spec), Some(run_dir)) = (&self.spec, &self.run_dir) else {
            return Ok(());
        };
        if !run_dir.has(file::STARTED) {
            return Ok(());
        }
        let exit = record::exit_of_dead_supervisor(self.end, self.started.elapsed(), &swept);
        run_dir
            .write_once(
                file::EXIT,
                &cr_stream::compose_line(Some(&spec.run_id), &exit),
            )
            .map_err(io::Error::other)?;
        Ok(())
    }

    fn report_swept(&self, mut swept: Swept) {
        let agent = self.agent.map(|pid| pid.as_raw_nonzero().get());
        swept.leaked.retain(|process| Some(process.pid) != agent);
        let leaked_total = swept.leaked.len();
        swept.leaked.truncate(MOST_PROCESSES);
        swept.unkillable.truncate(MOST_PROCESSES);
        self.report(&Report::Swept(LeftoverReport {
            leaked: swept.leaked,
            leaked_total,
            unkillable: swept.unkillable,
        }));
    }

    /// A supervisor that does not take the report is dead or will ask again.
    fn report(&self, report: &Report) {
        let _ = self.socket.send(report, &[]);
    }
}

fn own_pid() -> i32 {
    getpid().as_raw_nonzero().get()
}
