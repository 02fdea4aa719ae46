//! The live view on a terminal: a line for each task that runs, and a bar for all.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use cr_event::{Event, Kind};
use cr_io::Redactor;
use cr_progress::{Clock, Level, LineFormatter, ProgressTracker, TimeSource};
use cr_rundir::file;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::Timestamp;

use crate::stream_tail::StreamTail;

/// How often the lines are brought up to date.
pub(crate) const INTERVAL: Duration = Duration::from_millis(250);

/// The most of an action, in characters.
const WIDTH: usize = 300;

/// The live view.
#[derive(Debug)]
pub(crate) struct Live {
    view: MultiProgress,
    all: ProgressBar,
    tasks: BTreeMap<String, TaskLine>,
    done: u64,
    spent: Option<f64>,
}

/// The line of one task.
#[derive(Debug)]
struct TaskLine {
    bar: ProgressBar,
    tail: StreamTail,
    tracker: ProgressTracker,
    formatter: LineFormatter,
    last: String,
}

impl Live {
    /// A view of a run of `count` tasks, of which `done` are done, on standard error.
    pub(crate) fn new(count: u64, done: u64, spent: Option<f64>) -> Self {
        let view = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        let all = view.add(ProgressBar::new(count));
        all.set_style(style("{bar:24} {pos} of {len} done  {elapsed:>4}  {msg}"));
        let live = Self {
            view,
            all,
            tasks: BTreeMap::new(),
            done,
            spent,
        };
        live.draw();
        live
    }

    /// An attempt at task `id` runs, with its run directory `dir`.
    pub(crate) fn begin(&mut self, id: &str, attempt: u32, dir: &Path) {
        let bar = self
            .view
            .insert_before(&self.all, ProgressBar::new_spinner());
        bar.set_style(style("{prefix}  {elapsed:>4}  {wide_msg}"));
        let again = if attempt > 1 {
            format!(" ({attempt})")
        } else {
            String::new()
        };
        bar.set_prefix(format!("{id}{again}  running"));
        if let Some(elapsed) = elapsed(dir) {
            bar.set_elapsed(elapsed);
        }
        let line = TaskLine {
            bar,
            tail: StreamTail::new(dir.join(file::STREAM)),
            tracker: ProgressTracker::default(),
            formatter: LineFormatter {
                clock: Clock::new(TimeSource::None, true),
                redactor: Redactor::from_env(),
                width: WIDTH,
                colour: false,
                github: false,
            },
            last: "starting".to_owned(),
        };
        self.tasks.insert(id.to_owned(), line);
        self.update();
    }

    /// An attempt at task `id` has ended, and cost this.
    pub(crate) fn end(&mut self, id: &str, is_done: bool, cost: Option<f64>) {
        if let Some(line) = self.tasks.remove(id) {
            line.bar.finish_and_clear();
            self.view.remove(&line.bar);
        }
        self.done += u64::from(is_done);
        self.spent = self.spent.into_iter().chain(cost).reduce(|a, b| a + b);
        self.draw();
    }

    /// Reads what the agents have done since.
    pub(crate) fn update(&mut self) {
        for line in self.tasks.values_mut() {
            line.update();
        }
        self.all.tick();
    }

    /// A sentence above the lines.
    pub(crate) fn say(&self, text: &str) {
        // A terminal that is gone needs none.
        let _ = self.view.println(text);
    }

    /// Takes the lines away, for a question or at the end.
    pub(crate) fn clear(&self) {
        let _ = self.view.clear();
    }

    fn draw(&self) {
        self.all.set_position(self.done);
        let spent = self
            .spent
            .map_or_else(String::new, |usd| format!("${usd:.2}"));
        self.all.set_message(spent);
    }
}

impl TaskLine {
    fn update(&mut self) {
        let (tracker, formatter, last) = (&mut self.tracker, &mut self.formatter, &mut self.last);
        // A stream that cannot be read shows nothing new.
        let _ = self.tail.read(|line| {
            let Ok(event) = Event::parse(line) else {
                return;
            };
            if matches!(event.kind, Kind::Cr | Kind::System | Kind::StreamEvent) {
                return;
            }
            for shown in tracker.lines(&event, &formatter.clock) {
                if shown.level >= Level::Normal {
                    *last = formatter.line(&shown);
                }
            }
        });
        self.bar.set_message(self.last.clone());
        self.bar.tick();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// How long the attempt in `dir` has been running, if it was started before.
fn elapsed(dir: &Path) -> Option<Duration> {
    let text = std::fs::read_to_string(dir.join(file::ATTEMPT_STARTED)).ok()?;
    let started: Timestamp = text.trim().parse().ok()?;
    Duration::try_from(Timestamp::now().duration_since(started)).ok()
}
