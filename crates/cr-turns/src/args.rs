//! The command line.

use std::path::PathBuf;

use cr_estimate::{HIGHEST, LOWEST};

/// Give each task the number of turns that it deserves
///
/// Reads tasks, as cr-tasks(5) describes them, and writes them with `max_turns`
/// and `max_turns_reason`. The tasks may be objects one after the other, a list,
/// or an object with a list `tasks` or `steps`. The form, the order and all other
/// fields stay as they are. A task that has `max_turns` keeps it. If something is
/// wrong with one task, nothing is written.
///
/// A `task_type` that has turns of its own decides alone: validation 5,
/// `code_generation` 12, refactoring 15, debugging 20, `error_analysis` 8,
/// planning 5, documentation 3, testing 8, and those in `turns_by_type` of the
/// configuration. Upper and lower case do not matter.
///
/// Otherwise the title, the description (without one, the prompt),
/// `estimated_files` (1 if absent) and `estimated_loc` (0 if absent) decide:
/// 20 turns for more than 500 lines of code or two scope phrases; 3 for a task
/// with no complexity word, no scope phrase and at most 1 file; 6 for at most one
/// complexity word, no scope phrase and at most 3 files; and 12 otherwise.
///
/// Complexity words are: migrate, refactor, implement, debug, comprehensive,
/// entire, all, complete, full, across, multiple, system, architecture, framework.
/// Scope phrases are: all files, entire codebase, multiple, across, throughout,
/// repository, project-wide, every. They count as whole words, each once:
/// `install` is not `all`.
#[derive(Clone, Debug, Default, clap::Parser)]
#[command(name = "cr-turns", version, after_help = AFTER, max_term_width = 100)]
pub struct Args {
    /// The file with the tasks; `-`, or no file, is standard input
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// Estimate one task with this title, and print one JSON object
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    pub title: Option<String>,

    /// The description of the one task
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    pub description: Option<String>,

    /// The type of the one task
    #[arg(long = "type", value_name = "TYPE", conflicts_with = "file")]
    pub task_type: Option<String>,

    /// How many files the one task changes
    #[arg(long, value_name = "N", conflicts_with = "file")]
    pub files: Option<u64>,

    /// How many lines of code the one task changes
    #[arg(long, value_name = "N", conflicts_with = "file")]
    pub loc: Option<u64>,

    /// The lowest number of turns, from 3 [default: `turns_min` of the
    /// configuration, 3]
    #[arg(long, value_name = "N", value_parser = bound())]
    pub min: Option<u64>,

    /// The highest number of turns, up to 1000 [default: `turns_max` of the
    /// configuration, 30]
    #[arg(long, value_name = "N", value_parser = bound())]
    pub max: Option<u64>,

    /// Use the turns that finished tasks of the same type and project took, if the
    /// ledger knows at least 20: 90 % of them took no more. Otherwise the reason says
    /// why not
    #[arg(long)]
    pub history: bool,

    /// With --history: the directory of the project
    #[arg(long, value_name = "DIR", default_value = ".", requires = "history")]
    pub project: PathBuf,

    /// Also replace `max_turns` of a task that has it
    #[arg(long = "override")]
    pub replace: bool,

    /// Print the JSON Schema of the object for one task, and do nothing else. Tasks
    /// of a plan have that of cr-orchestrate --task-schema
    #[arg(long, exclusive = true)]
    pub output_schema: bool,
}

impl Args {
    /// The task of the command line, if there is one.
    pub(crate) fn task(&self) -> Option<cr_estimate::Task<'_>> {
        let task = cr_estimate::Task {
            task_type: self.task_type.as_deref(),
            title: self.title.as_deref(),
            description: self.description.as_deref(),
            estimated_files: self.files,
            estimated_loc: self.loc,
        };
        (task != cr_estimate::Task::default()).then_some(task)
    }
}

fn bound() -> impl clap::builder::TypedValueParser<Value = u64> {
    clap::value_parser!(u64).range(LOWEST..=HIGHEST)
}

const AFTER: &str = "\
Examples:
  cr-turns tasks.ndjson | cr-orchestrate -
  cr-turns --max 50 plan.json > plan-with-turns.json
  cr-turns --override < tasks.ndjson | jq -c '[.id, .max_turns, .max_turns_reason]'
  cr-turns --history tasks.ndjson
  cr-turns --type debugging --title 'Fix the login'
  cr-turns --title 'Migrate database' --description 'Migrate the schema' --files 3 --loc 200

Exit status:
  0    every task has its turns; also if the reader of standard output left
  2    the command line is wrong, or --min is above --max
  65   the input is not JSON, or a field of a task is wrong; nothing was written
  66   the input cannot be opened
  74   reading or writing failed
  78   the configuration is wrong
  130  interrupted twice";
