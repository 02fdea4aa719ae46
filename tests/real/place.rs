//! The set-up of one test: a repository and a home, and the agent's files in
//! them.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use cr_test::{Fifo, World, root};
use serde_json::Value;

use crate::cli::Cli;
use crate::run::Run;

/// A repository of one commit and one file, and a home beside it.
pub(crate) struct Place {
    pub(crate) world: World,
    /// The named pipe that the tool of the scenario `sleep` opens once it is up.
    pub(crate) up: Fifo,
}

impl Place {
    pub(crate) fn new() -> Self {
        let world = World::new();
        world.write("repository/a.txt", "alpha\n");
        let up = Fifo::new(world.path("repository/up"));
        let place = Self { world, up };
        place.git(&["init", "--quiet", "--initial-branch=main"]);
        place.git(&["config", "user.name", "Tester"]);
        place.git(&["config", "user.email", "tester@example.invalid"]);
        place.git(&["add", "a.txt"]);
        place.git(&["commit", "--quiet", "--message=begin"]);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.world.path(name)
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.path("repository")
    }

    /// What `git ARGS` prints here.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let mut git = self.world.command("git");
        let output = git
            .current_dir(self.repository())
            .args(args)
            .output()
            .expect("run git");
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// A run of `cli`, supervised, on the scenario called `scenario`.
    pub(crate) fn run<'a>(&'a self, cli: &'a Cli, scenario: &str) -> Run<'a> {
        let scenario = format!("tests/real/scenarios/{scenario}.json");
        let options: [OsString; 2] = ["--scenario".into(), root().join(scenario).into()];
        Run::new(self, cli, options.into())
    }

    /// The records of the runs here that ended.
    pub(crate) fn exit_records(&self) -> Vec<Value> {
        let runs = self.path("home/.local/state/claude-runner/runs");
        let entries = fs::read_dir(runs).expect("runs");
        let read = |dir: PathBuf| fs::read(dir.join("exit.json")).ok();
        let records = entries.filter_map(|it| read(it.expect("an entry").path()));
        records
            .map(|it| serde_json::from_slice(&it).expect("JSON"))
            .collect()
    }

    /// The requests for an answer so far, oldest first; each is told once.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let entries = fs::read_dir(self.path("bodies")).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("an entry").path()).collect();
        paths.sort();
        let take = |path: PathBuf| {
            let body = fs::read(&path).expect("a body");
            fs::remove_file(path).expect("remove");
            serde_json::from_slice(&body).expect("JSON")
        };
        paths.into_iter().map(take).collect()
    }
}
