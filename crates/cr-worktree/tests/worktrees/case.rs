//! A repository of its own for each test.
//!
//! The library takes HOME and the identity from its process, so each test runs
//! once more in a process of its own, with the environment of a `World`.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};

use cr_glob::Glob;
use cr_test::World;
use cr_worktree::{
    Created, Ignored, NewWorktree, Outcome, ProtectedChange, Repository, Verdict, Work,
};

/// Names the directory of the world to the inner process.
const INSIDE: &str = "CR_TEST_INSIDE";

/// Runs `body` in a process with an environment of its own.
pub(crate) fn isolated<F: FnOnce(&Case)>(body: F) {
    if let Some(dir) = std::env::var_os(INSIDE) {
        fs::write(Path::new(&dir).join("ran"), "").expect("written");
        body(&Case::new(Path::new(&dir)));
        return;
    }
    let name = std::any::type_name::<F>();
    let (_, name) = name.split_once("::").expect("a path");
    let name = name.trim_end_matches("::{{closure}}");
    let world = World::new();
    let program = std::env::current_exe().expect("known");
    let mut command = world.command(program);
    command.args(["--exact", name, "--nocapture"]);
    command.env(INSIDE, world.dir());
    let output = command.output().expect("run");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success() && world.path("ran").exists(),
        "{name}\n{}{}",
        said(&output.stdout),
        said(&output.stderr)
    );
}

/// A world with a repository in it.
pub(crate) struct Case {
    pub(crate) dir: PathBuf,
    world: World,
}

impl Case {
    fn new(dir: &Path) -> Self {
        let case = Self {
            dir: dir.to_owned(),
            world: World::new(),
        };
        fs::create_dir(case.top()).expect("made");
        case.git("init -q");
        case.write("a", "one\n");
        case.write("b", "one\n");
        case.git("add -A");
        case.git("commit -qm first");
        case
    }

    /// The case that another process has made in `dir`.
    pub(crate) fn existing(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            world: World::new(),
        }
    }

    /// The user's work tree.
    pub(crate) fn top(&self) -> PathBuf {
        self.dir.join("repo")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        write(&self.top().join(name), text);
    }

    /// What git prints for words in the user's work tree.
    pub(crate) fn git(&self, words: &str) -> String {
        self.git_in(&self.top(), words)
    }

    pub(crate) fn git_in(&self, dir: &Path, words: &str) -> String {
        self.shell_in(dir, &format!("git {words}"))
    }

    /// What a shell prints for `line`, which must succeed.
    pub(crate) fn shell_in(&self, dir: &Path, line: &str) -> String {
        let mut command = self.world.shell(line);
        command.current_dir(dir);
        let output = command.output().expect("run");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub(crate) fn open(&self) -> Repository {
        Repository::open(&self.top()).expect("opened")
    }

    /// The directory of the first attempt of `task`.
    pub(crate) fn place(&self, task: &str) -> PathBuf {
        self.dir.join("state/tasks").join(format!("{task}.1"))
    }

    pub(crate) fn merge_dir(&self) -> PathBuf {
        self.dir.join("state/merge")
    }

    pub(crate) fn create(&self, task: &str) -> Created {
        let repository = self.open();
        let base = repository.base();
        self.create_at(task, base)
    }

    pub(crate) fn create_at(&self, task: &str, base: &str) -> Created {
        let new = NewWorktree {
            run: "r1",
            task,
            attempt: 1,
            base,
            dir: &self.place(task),
        };
        self.open().create(&new).expect("created")
    }

    /// A task that writes `text` to the file `name`; its commit.
    pub(crate) fn task(&self, task: &str, name: &str, text: &str) -> String {
        let dir = self.create(task).worktree.dir;
        write(&dir.join(name), text);
        self.commit_in(&dir, task)
    }

    pub(crate) fn commit_in(&self, dir: &Path, message: &str) -> String {
        self.git_in(dir, "add -A");
        self.git_in(dir, &format!("commit -qm '{message}'"));
        self.git_in(dir, "rev-parse HEAD")
    }

    /// Merges and says green.
    pub(crate) fn merge(&self, task: &str, head: &str) -> Outcome {
        self.merge_if(task, head, |_| Verdict::Green)
    }

    pub(crate) fn merge_if(
        &self,
        task: &str,
        head: &str,
        mut verdict: impl FnMut(&Path) -> Verdict,
    ) -> Outcome {
        let change = ProtectedChange::Refuse;
        self.merge_protected(task, head, (&[], change), &mut verdict)
    }

    pub(crate) fn merge_protected(
        &self,
        task: &str,
        head: &str,
        (protect, change): (&[&str], ProtectedChange),
        verdict: &mut dyn FnMut(&Path) -> Verdict,
    ) -> Outcome {
        let repository = self.open();
        let globs: Vec<Glob> = protect.iter().map(|g| Glob::new(g.as_bytes())).collect();
        let base = self.git("rev-list --max-parents=0 HEAD");
        let work = Work {
            run: "r1",
            task,
            attempt: 1,
            base: &base,
            head,
            message: "Add it",
            dir: &self.merge_dir(),
            protect: &globs,
            protected_change: change,
            ignored: Ignored::Keep,
            verify: &["make test".to_owned()],
            cost_usd: Some(0.25),
        };
        let verify = |dir: &Path| Ok::<_, Infallible>(verdict(dir));
        repository.merge(&work, verify).expect("merged or not")
    }

    pub(crate) fn tip(&self) -> String {
        self.git("rev-parse refs/heads/cr/r1")
    }

    /// The merge worktree has nothing but the files of the branch.
    pub(crate) fn assert_clean(&self) {
        let dir = self.merge_dir();
        assert_eq!(self.git_in(&dir, "status --porcelain"), "");
        assert_eq!(self.git_in(&dir, "rev-parse HEAD"), self.tip());
    }
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("not the root")).expect("made");
    fs::write(path, text).expect("written");
}

pub(crate) fn merged(outcome: Outcome) -> String {
    match outcome {
        Outcome::Merged { sha } => sha,
        other => panic!("not merged: {other:?}"),
    }
}
