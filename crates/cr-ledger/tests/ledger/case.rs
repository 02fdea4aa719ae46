//! A ledger of its own for each test.

use std::io::Write;
use std::path::PathBuf;

use cr_test::{Command, World};
use serde_json::Value;

/// A world with a ledger.
pub(crate) struct Case {
    pub(crate) world: World,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    /// The lines of the output as JSON.
    pub(crate) fn rows(&self) -> Vec<Value> {
        let lines = self.out.lines();
        let row = |line| serde_json::from_str(line).unwrap_or_else(|err| panic!("{err}: {self:?}"));
        lines.map(row).collect()
    }
}

impl Case {
    pub(crate) fn new() -> Self {
        Self {
            world: World::new(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.world.path(name)
    }

    /// `cr-ledger` with `args`, on the ledger of this case.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.world.tool("cr-ledger");
        command.env("CR_LEDGER", self.path("ledger.db"));
        command.env("CR_MACHINE", "here");
        command.args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        done(self.command(args), "")
    }

    /// The same with standard input.
    pub(crate) fn feed(&self, args: &[&str], input: &str) -> Done {
        done(self.command(args), input)
    }

    /// Runs it; it must succeed.
    pub(crate) fn ok(&self, args: &[&str]) -> Done {
        let done = self.run(args);
        assert_eq!(done.code, Some(0), "{args:?}: {done:?}");
        done
    }

    /// Records a summary; it must succeed.
    pub(crate) fn record(&self, summary: &Value) {
        let done = self.feed(&["record"], &format!("{summary}\n"));
        assert_eq!(done.code, Some(0), "{done:?}");
    }

    /// The rows of a query.
    pub(crate) fn sql(&self, query: &str) -> Vec<Value> {
        self.ok(&["sql", query]).rows()
    }
}

/// Runs `command` with `input` as its standard input.
pub(crate) fn done(mut command: Command, input: &str) -> Done {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(input.as_bytes()).expect("written");
    std::io::Seek::rewind(&mut file).expect("rewound");
    let output = command.stdin(file).output().expect("run cr-ledger");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Done {
        code: output.status.code(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}
