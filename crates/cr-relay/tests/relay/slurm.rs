//! A real Slurm as the command: one controller and three nodes on this machine,
//! from unpacked packages (`CR_TEST_SLURM` names the directory), without
//! privileges.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use cr_test::{Child, Found, Signal, kill, left_out, repeats, until};

use crate::case::{Case, ENDLESS, End};

/// The lease, the agent's grace, and what ending takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(3 + 1 + 10);

/// Slurm itself needs up to 26 s to notice that a node is lost.
const NODE_LIMIT: Duration = Duration::from_mins(1);

struct Cluster {
    case: Case,
    root: PathBuf,
    daemons: Vec<Child>,
}

impl Cluster {
    /// A running one; `None` if there is no Slurm here.
    fn start() -> Option<Self> {
        let Some(root) = std::env::var_os("CR_TEST_SLURM").filter(|root| !root.is_empty()) else {
            left_out("tests with Slurm: it is not here");
            return None;
        };
        let case = Case::new();
        let mut cluster = Self {
            case,
            root: root.into(),
            daemons: Vec::new(),
        };
        cluster.configure();
        cluster.daemon("slurmctld-wlm", &["-D", "-c"]);
        for node in ["n1", "n2", "n3"] {
            cluster.node(node);
        }
        until("three nodes are idle", || {
            cluster.sinfo().trim() == "3 idle"
        });
        Some(cluster)
    }

    fn configure(&self) {
        // The ports are free now, and nobody else asks for these.
        let ports: Vec<TcpListener> = (0..4)
            .map(|_| TcpListener::bind("127.0.0.1:0").expect("a port"))
            .collect();
        let port = |at: usize| ports[at].local_addr().expect("an address").port();
        let mut id = self.case.world.command("id");
        let user = id.arg("-un").output().expect("run").stdout;
        let user = String::from_utf8(user).expect("a name");
        let (user, root, dir) = (
            user.trim(),
            self.root.display(),
            self.case.world.path("slurm"),
        );
        for name in ["state", "log", "n1", "n2", "n3"] {
            std::fs::create_dir_all(dir.join(name)).expect("made");
        }
        let dir = dir.display();
        let mut text = format!(
            "ClusterName=t\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort={}\n\
             SlurmUser={user}\nSlurmdUser={user}\nAuthType=auth/none\nCredType=cred/none\n\
             PluginDir={root}/usr/lib/x86_64-linux-gnu/slurm-wlm\n\
             SlurmctldPidFile={dir}/ctld.pid\nSlurmdPidFile={dir}/%n/pid\n\
             SlurmdSpoolDir={dir}/%n\nStateSaveLocation={dir}/state\n\
             SlurmctldLogFile={dir}/log/ctld.log\nSlurmdLogFile={dir}/log/%n.log\n\
             ProctrackType=proctrack/linuxproc\nSlurmdParameters=config_overrides\n\
             ReturnToService=2\nSlurmdTimeout=5\nInactiveLimit=5\n",
            port(0)
        );
        for number in 1..=3 {
            text.push_str(&format!(
                "NodeName=n{number} NodeHostname=localhost NodeAddr=127.0.0.1 Port={} CPUs=4\n",
                port(number)
            ));
        }
        text.push_str("PartitionName=main Nodes=n1,n2,n3 Default=YES\n");
        self.case.world.write("slurm/slurm.conf", text);
    }

    fn variables(&self) -> [(&'static str, String); 2] {
        let libraries = self.root.join("usr/lib/x86_64-linux-gnu");
        let libraries = libraries.display();
        let conf = self.case.world.path("slurm/slurm.conf");
        [
            (
                "LD_LIBRARY_PATH",
                format!("{libraries}:{libraries}/slurm-wlm"),
            ),
            ("SLURM_CONF", conf.display().to_string()),
        ]
    }

    fn daemon(&mut self, name: &str, args: &[&str]) {
        let program = self.root.join("usr/sbin").join(name);
        let mut command = self.case.world.command(program);
        command
            .args(args)
            .arg("-f")
            .arg(self.case.world.path("slurm/slurm.conf"));
        if name == "slurmd-wlm" {
            command
                .arg("-d")
                .arg(self.root.join("usr/sbin/slurmstepd-wlm"));
        }
        command
            .envs(self.variables())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.daemons.push(command.spawn().expect("started"));
    }

    fn node(&mut self, name: &str) {
        self.daemon("slurmd-wlm", &["-D", "-N", name]);
    }

    fn sinfo(&self) -> String {
        let mut sinfo = self.case.world.command(self.root.join("usr/bin/sinfo"));
        let output = sinfo
            .args(["-h", "-o", "%D %t"])
            .envs(self.variables())
            .output();
        String::from_utf8_lossy(&output.expect("run").stdout).into_owned()
    }

    /// The command for `--executor-cmd`.
    fn srun(&self) -> String {
        let set = self
            .variables()
            .map(|(name, value)| format!("{name}='{value}'"));
        let program = self.root.join("usr/bin/srun");
        format!(
            "env {} {} --unbuffered -w n1",
            set.join(" "),
            program.display()
        )
    }

    /// The processes called `name` that the attempt needs.
    fn victims(&self, name: &str) -> Vec<u32> {
        if name == "slurmstepd" {
            // It overwrites its name and its environment.
            let far = self.far();
            let far = far
                .iter()
                .filter(|found| found.line().ends_with("cr-relay far"));
            return far.filter_map(|found| parent(found.pid)).collect();
        }
        let mut all = self.case.world.processes();
        all.retain(|found| {
            let program = found.argv.first().map_or("", |program| program);
            let is_named = program.contains(name);
            is_named && (name != "slurmd-wlm" || found.line().contains("-N n1"))
        });
        all.iter().map(|found| found.pid).collect()
    }

    /// The processes of the far end.
    fn far(&self) -> Vec<Found> {
        let mut all = self.case.world.processes();
        all.retain(|found| {
            let line = found.line();
            let is_far = line.contains("cr-relay far") && !line.contains("srun");
            is_far
                || ["cr-spawn", "sleep 1000", "/agent"]
                    .iter()
                    .any(|name| line.contains(name))
        });
        all
    }
}

/// The parent of a process, if it is a slurmstepd.
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    let parent = fields.split(' ').nth(1)?.parse().ok()?;
    let name = std::fs::read_to_string(format!("/proc/{parent}/comm")).ok()?;
    name.starts_with("slurmstepd").then_some(parent)
}

/// Every slurmstepd whose log is below `dir`.
fn stepds(dir: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_log = |pid: &u32| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
        let log = std::fs::read_link(format!("/proc/{pid}/fd/3"));
        let is_stepd = name.is_ok_and(|name| name.starts_with("slurmstepd"));
        is_stepd && log.is_ok_and(|log| log.starts_with(dir))
    };
    pids.filter(has_log).collect()
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Each slurmstepd has overwritten its environment, and waits for ever for a
        // controller that is gone. Its log is in the directory of this test.
        for pid in stepds(&self.case.world.path("slurm")) {
            kill(pid, Signal::KILL);
        }
        self.case.world.kill_all();
    }
}

#[test]
fn slurm_relays_the_stream_and_the_work() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let case = &cluster.case;
    let prompt = "echo two > two; git add .; git commit -qm two; result";
    let end = case.run(&cluster.srun(), prompt);
    assert_eq!(end.code, Some(0), "{end:?}");
    assert_eq!(case.verdict(&end.stream), Some(0));
    assert_eq!(case.git("log -1 --format=%s refs/cr-relay/r1/head"), "two");
}

/// Kills what `name` is in the middle of an attempt. The attempt may go on, and
/// is then stopped through the relay.
fn killed(name: &str) {
    for number in 0..repeats(1, 10) {
        let Some(cluster) = Cluster::start() else {
            return;
        };
        let case = &cluster.case;
        let mut near = case.near(&cluster.srun(), ENDLESS);
        near.args(["--lease", "3s", "--post-result-grace", "1h"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = near.spawn().expect("run");
        let stdin = child.stdin.take();
        drop(stdin.map(|mut stdin| std::io::Write::write_all(&mut stdin, ENDLESS.as_bytes())));
        until("the agent runs", || {
            cluster
                .far()
                .iter()
                .any(|found| found.line().contains("sleep 1000"))
        });
        std::thread::sleep(Duration::from_millis(number as u64 * 53 % 500));
        let victims = cluster.victims(name);
        assert!(!victims.is_empty(), "{name}");
        for victim in victims {
            kill(victim, Signal::KILL);
        }
        // Only the controller may die without an end of the attempt. What else was
        // killed has to be noticed here, and not by a stop of ours.
        if name == "slurmctld" && !child.ends_within(Duration::from_secs(6)) {
            child.signal(Signal::TERM);
        }
        assert!(child.ends_within(NODE_LIMIT), "{name}: it does not end");
        let output = child.wait_with_output().expect("it ends");
        let since = Instant::now();
        until("nobody is left at the far end", || cluster.far().is_empty());
        assert!(since.elapsed() < LIMIT, "{name}: {:?}", since.elapsed());
        let end = End::of(&output);
        assert_ne!(end.code, Some(0), "{name}: {end:?}");
        let reason = if name == "slurmctld" {
            "interrupted"
        } else {
            "relay_lost"
        };
        assert_eq!(end.exit()["reason"], reason, "{name}: {end:?}");
        assert_ne!(case.verdict(&end.stream), Some(0), "{name}: {end:?}");
    }
}

#[test]
fn a_lost_node_is_no_success_and_nobody_is_left_on_it() {
    killed("slurmd-wlm");
}

#[test]
fn a_killed_slurmstepd_is_no_success() {
    killed("slurmstepd");
}

#[test]
fn a_killed_srun_is_no_success() {
    killed("srun");
}

#[test]
fn an_attempt_outlives_the_controller_and_can_be_stopped() {
    killed("slurmctld");
}
