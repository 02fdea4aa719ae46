//! A user's home with a repository, secrets and another run in it, and a task's
//! worktree with its sandbox.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, lchown};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cr_sandbox::{GitDirs, Places, Sandbox, find_bwrap, probe};
use cr_test::{Child, Command, World, bin, left_out};

/// In every file and variable that the agent must not read.
pub(crate) const SECRET: &str = "canary-5f1e";

/// A user without rights.
const NOBODY: u32 = 65534;

/// Why nothing can be tested here.
static REFUSED: LazyLock<Option<String>> =
    LazyLock::new(|| probe().err().map(|refused| refused.to_string()));

/// Who runs the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// The user of the test.
    Own,
    /// A user without rights. Only root can become one.
    Nobody,
}

/// The users that the tests can run as; none if there is no sandbox here.
pub(crate) fn users() -> Vec<User> {
    if let Some(why) = &*REFUSED {
        left_out(&format!("the sandbox: {why}"));
        return Vec::new();
    }
    let is_root = fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
    if !is_root {
        left_out("the sandbox of root: the tests do not run as root");
        return vec![User::Own];
    }
    let can = Command::new("setpriv").arg("--version").output();
    if can.is_ok_and(|output| output.status.success()) {
        return vec![User::Own, User::Nobody];
    }
    left_out("the sandbox of an ordinary user: no setpriv");
    vec![User::Own]
}

/// Everything that a test needs. Paths are those of the host.
pub(crate) struct Place {
    pub(crate) world: World,
    pub(crate) sandbox: Sandbox,
    pub(crate) repo: PathBuf,
    user: User,
    /// A process of the host that the agent may want to kill.
    pub(crate) victim: Child,
    _control: UnixListener,
    pub(crate) port: TcpListener,
}

/// A file of the manifest: mode, and content or target.
type Entry = (u32, Vec<u8>);

impl Place {
    pub(crate) fn new(user: User) -> Self {
        let world = World::new();
        for name in [
            ".ssh/id_ed25519",
            ".aws/credentials",
            ".bashrc",
            ".claude/projects/-other/old.jsonl",
        ] {
            world.write(Path::new("home").join(name), SECRET);
        }
        world.write("home/.claude/.credentials.json", "{\"token\":1}");
        world.write("home/.claude.json", "{}");
        for name in ["runs/x/exit.json", "runs/x/answers/1.json", "ledger.db"] {
            world.write(Path::new("others").join(name), SECRET);
        }
        world.write("host-tmp", SECRET);
        let control = UnixListener::bind(world.path("others/runs/x/control.sock"));
        let repo = make_repository(&world);
        let mut victim = world.command("sleep");
        let victim = victim.arg("1000").env("TOKEN", SECRET);
        let mut place = Self {
            sandbox: make_sandbox(&world, user, "home/.claude"),
            repo,
            user,
            victim: user.behind(victim).spawn().expect("a victim"),
            _control: control.expect("a socket"),
            port: TcpListener::bind("127.0.0.1:0").expect("a port"),
            world,
        };
        place.prepare();
        place
    }

    /// Puts the agent's own directory elsewhere.
    pub(crate) fn move_agent_dir(&mut self, dir: &str) {
        fs::remove_dir_all(&self.sandbox.private).expect("removed");
        self.sandbox = make_sandbox(&self.world, self.user, dir);
        self.prepare();
    }

    /// Prepares the sandbox for the next attempt.
    pub(crate) fn prepare(&mut self) {
        self.sandbox.prepare().expect("prepared");
        self.give_away();
    }

    /// Gives all files to the user of the sandbox.
    fn give_away(&self) {
        if self.user == User::Nobody {
            give(self.world.dir());
        }
    }

    /// An agent that runs `script`.
    pub(crate) fn agent(&self, script: &str) -> PathBuf {
        self.program(&self.world.script("agent", script))
    }

    /// The wrapper that runs `agent` in the sandbox.
    pub(crate) fn program(&self, agent: &Path) -> PathBuf {
        let script = self.sandbox.wrapper_script(agent).expect("a wrapper");
        let body = script.strip_prefix("#!/bin/sh\n").expect("a shell script");
        let wrapper = self.world.script("wrapper", body);
        self.give_away();
        wrapper
    }

    /// cr-spawn with `script` as the agent, in the sandbox.
    pub(crate) fn spawn(&self, script: &str) -> Command {
        self.supervise(&self.agent(script))
    }

    /// cr-spawn with `program` as the agent.
    pub(crate) fn supervise(&self, program: &Path) -> Command {
        let tool = match self.user {
            User::Own => bin("cr-spawn"),
            User::Nobody => copy_of(&self.world, &bin("cr-spawn")),
        };
        self.give_away();
        let mut command = self.world.command(tool);
        command
            .args(["--prompt", "work", "--cwd"])
            .arg(&self.sandbox.cwd)
            .arg("--claude")
            .arg(program)
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
            .env("GH_TOKEN", SECRET)
            .env("ANTHROPIC_API_KEY", "for-the-agent");
        self.user.behind(&command)
    }

    /// git outside, in `dir`; gives its output.
    pub(crate) fn git(&self, dir: &Path, line: &str) -> String {
        let mut git = self.world.command("git");
        git.args(["-c", "safe.directory=*", "-C"]).arg(dir);
        let output = git.args(line.split(' ')).output().expect("git");
        assert!(output.status.success(), "git {line}: {output:?}");
        String::from_utf8(output.stdout)
            .expect("text")
            .trim_end()
            .into()
    }

    pub(crate) fn own(&self) -> &Path {
        &self.sandbox.git.as_ref().expect("a repository").own
    }

    /// All that the agent must not change, with its content.
    pub(crate) fn manifest(&self) -> BTreeMap<PathBuf, Entry> {
        let mut found = BTreeMap::new();
        for name in ["home", "others", "host-tmp", "trees/other"] {
            note(&self.world.path(name), &mut found);
        }
        let own = self.own().to_owned();
        let fixed = ["gitdir", "commondir", "config.worktree", "HEAD"].map(|name| own.join(name));
        found.retain(|path, _| !path.starts_with(&own) || fixed.contains(path));
        // Mount points are made here.
        found.retain(|path, _| path.is_file() || path.is_symlink());
        found
    }
}

impl User {
    /// `command`, as this user.
    fn behind(self, command: &Command) -> Command {
        let options = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        match self {
            Self::Own => command.behind("env", &[]),
            Self::Nobody => command.behind("setpriv", &options),
        }
    }
}

fn make_repository(world: &World) -> PathBuf {
    let repo = world.path("home/src/repo");
    let line = "git init -q \"$1\" && cd \"$1\" && echo one >file && git add . && \
        git commit -qm one && git branch other && git tag v1 && git pack-refs --all && \
        git branch loose && git worktree add -q -b cr/run/task ../../../trees/task && \
        git worktree add -q -b cr/run/other ../../../trees/other";
    fs::create_dir_all(&repo).expect("made");
    let mut shell = world.shell(line);
    let output = shell.arg("sh").arg(&repo).output().expect("a shell");
    assert!(output.status.success(), "{output:?}");
    repo
}

fn make_sandbox(world: &World, user: User, agent_dir: &str) -> Sandbox {
    let bwrap = find_bwrap().expect("bubblewrap");
    let bwrap = match user {
        User::Own => bwrap,
        User::Nobody => copy_of(world, &bwrap),
    };
    let work_tree = world.path("trees/task");
    let places = Places {
        work_tree: &work_tree,
        cwd: &work_tree,
        private: &world.path("private"),
        home: &world.home(),
        agent_dir: &world.path(agent_dir),
    };
    let mut sandbox = Sandbox::new(&bwrap, &places);
    sandbox.git = Some(GitDirs::of(&work_tree, "refs/heads/cr/run/task").expect("a worktree"));
    sandbox.env_keep.push("CR_TEST_TAG".into());
    sandbox.is_root &= user == User::Own;
    sandbox
}

/// A copy where every user can read it: the original may be in root's home.
fn copy_of(world: &World, program: &Path) -> PathBuf {
    let copy = world.path(program.file_name().expect("a name"));
    if copy.exists() {
        return copy;
    }
    world.copy_program(program)
}

fn give(path: &Path) {
    lchown(path, Some(NOBODY), Some(NOBODY)).expect("given");
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).expect("a directory") {
            give(&entry.expect("an entry").path());
        }
    }
}

fn note(path: &Path, found: &mut BTreeMap<PathBuf, Entry>) {
    let meta = fs::symlink_metadata(path).expect("it is there");
    let content = if meta.is_symlink() {
        fs::read_link(path)
            .expect("a link")
            .as_os_str()
            .as_bytes()
            .to_owned()
    } else if meta.is_file() {
        fs::read(path).expect("a file")
    } else {
        Vec::new()
    };
    found.insert(path.to_owned(), (meta.mode(), content));
    if meta.is_dir() {
        for entry in fs::read_dir(path).expect("a directory") {
            note(&entry.expect("an entry").path(), found);
        }
    }
}
