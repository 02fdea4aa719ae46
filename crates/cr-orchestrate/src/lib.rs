//! Runs the tasks of a plan: their order, their retries, their verification, and a
//! state that survives a crash.
//!
//! The only state is the records of the attempts. From them `task_state` derives
//! the state of each task, by the retry policy, and `schedule` what may start now.
//! The `engine` starts attempts, each in a process of its own (`supervise`), and
//! watches them. An `observer` is told what happens: the `reporter` of a plan, or
//! the `relay` of one task's stream (`retry`).

use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_rundir::file;

mod agent_options;
mod args;
mod attempt;
mod budget;
mod dry_run;
mod dry_run_text;
mod engine;
mod escalation;
mod exit_order;
mod fields;
mod finish;
mod forecast;
mod gate;
mod gc;
mod isolation;
mod judge;
mod layout;
mod live;
mod log;
mod loop_watch;
mod markdown;
mod merging;
mod observer;
mod order;
mod pipeline;
mod plan;
mod plan_gates;
mod preflight;
mod prompt;
mod relay;
mod report;
mod report_json;
mod report_xml;
mod reporter;
mod retry;
mod run_budget;
mod sandbox;
mod schedule;
mod sprint_args;
mod status;
mod stop;
mod stop_requests;
mod stream_tail;
mod supervise;
mod table;
mod task;
mod task_fields;
mod task_state;
mod waves;

pub use args::Args;
use args::Command;
use engine::{Engine, Parts};
use finish::OnMerged;
use layout::{Run, RunLayout, Settings};
use plan::Plan;
use reporter::Reporter;
use sandbox::SandboxSettings;
use schedule::RunOptions;
pub use sprint_args::sprint_loop;
use stop_requests::StopRequests;
use task::{Defaults, Task};

/// The JSON Schema of a line of standard output.
const OUTPUT_SCHEMA: &str = include_str!("../output.schema.json");

/// The JSON Schema of a task in a plan.
const TASK_SCHEMA: &str = include_str!("../task.schema.json");

/// Does what `args` ask for.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Some(Command::Status(args)) => status::run(args, io::stdout()),
        Some(Command::Gc(args)) => gc::run(args, io::stdout()),
        Some(Command::Retry(args)) => retry::run(args),
        Some(Command::Attempt { dir, watch_pid }) => supervise::run(dir, *watch_pid),
        None if args.output_schema => cr_io::print_schema(OUTPUT_SCHEMA, io::stdout()),
        None if args.task_schema => cr_io::print_schema(TASK_SCHEMA, io::stdout()),
        None => orchestrate(args),
    }
}

fn orchestrate(args: &Args) -> anyhow::Result<Exit> {
    let planned = match &args.plan {
        Some(path) => Some(plan::read(path, &defaults(args)?)?),
        None => None,
    };
    let resumed = match &args.resume_run {
        Some(id) => Some(RunLayout::open(id)?),
        None => None,
    };
    if args.dry_run {
        return dry_run::show(args, planned, resumed.as_ref(), io::stdout());
    }
    let (layout, run) = match (resumed, planned) {
        (Some(layout), planned) => {
            let run = layout.run()?;
            if run.settings.agent.is_some() {
                let text = format!("resume it with claude-runner --resume-run {}", run.id);
                return Err(anyhow!(text).context(Exit::Usage));
            }
            (layout, changed(run, planned, args)?)
        }
        (None, Some(plan)) => {
            range(args, &plan.tasks)?;
            // Before there is a directory: what is refused has left nothing.
            let settings = new_settings(args, &plan)?;
            let (layout, id) = RunLayout::create()?;
            (layout, new_run(id.to_string(), plan, settings, args))
        }
        (None, None) => return Err(anyhow!("no plan").context(Exit::Usage)),
    };
    begin(args, layout, run)
}

fn begin(args: &Args, layout: RunLayout, run: Run) -> anyhow::Result<Exit> {
    // Held until the end: two engines would start the same attempts.
    let _lock = layout.dir.lock_patiently().context(Exit::Retry)?;
    let range = range(args, &run.tasks)?;
    if args.plan.is_some() && !args.accept_changed {
        refuse_changed(&layout, &run.tasks)?;
    }
    again(args, &layout, &run)?;
    layout
        .dir
        .write(cr_rundir::file::RUN, &serde_json::to_vec(&run)?)?;
    let options = RunOptions {
        slots: run.settings.slots.max(1).into(),
        range,
        breaks: args.breaks.clone(),
        halt: args.halt,
        rerun_lost: args.rerun_lost,
        ..RunOptions::default()
    };
    let reporter = Reporter::new(args);
    let mut engine = Engine::new(Parts {
        log: log::Log::open(layout.dir.path(), &run.id)?,
        layout,
        run,
        stop_requests: StopRequests::listen()?,
        options,
        observer: Box::new(reporter),
    })?;
    let path = engine.layout.dir.path().to_owned();
    let state = match args.resume_run {
        Some(_) => "resumed",
        None => "started",
    };
    engine.log_run(&cr_stream::Run {
        state: state.into(),
        reason: path.to_string_lossy(),
        run_dir: Some(path.to_string_lossy()),
        ..cr_stream::Run::default()
    })?;
    engine.run()
}

fn defaults(args: &Args) -> anyhow::Result<Defaults> {
    let given = &args.defaults;
    let cwd = given.cwd.as_deref().unwrap_or(Path::new("."));
    let cwd = std::fs::canonicalize(cwd)
        .with_context(|| cwd.display().to_string())
        .context(Exit::NoInput)?;
    let config = cr_config::Config::load()?;
    let file = config.all_of_file();
    let number = |key: &str| file.get(key)?.parse().ok().filter(|&number| number > 0.0);
    let time = file.get("timeout").map(|text| cr_io::parse_duration(text));
    let time = time.and_then(Result::ok).filter(|time| !time.is_zero());
    let turns = file.get("max_turns").and_then(|text| text.parse().ok());
    let text = |given: &Option<String>, key: &str| given.clone().or(file.get(key).cloned());
    Ok(Defaults {
        model: (given.model.clone())
            .or(args.models.first().cloned())
            .or(file.get("model").cloned()),
        permission_mode: text(&given.permission_mode, "permission_mode"),
        max_turns: given.max_turns.or(turns.filter(|&turns| turns > 0)),
        budget_usd: given.max_budget.or(number("max_budget")),
        timeout: given.timeout.or(time).map(|time| time.as_secs_f64()),
        timeout_multiplier: given.timeout_multiplier,
        task_timeout: config.task_timeout().as_secs_f64(),
        cwd,
    })
}

/// The settings that are given now, else those from before.
fn settings(args: &Args, before: Settings) -> Settings {
    let seconds = |time: &Duration| time.as_secs_f64();
    Settings {
        sprint: args.sprint || before.sprint,
        on_merged: OnMerged {
            into: args.into.clone().or(before.on_merged.into),
            command: args.on_merged.clone().or(before.on_merged.command),
        },
        slots: args.max_agents.unwrap_or(before.slots).max(1),
        retries: args.retries.unwrap_or(before.retries),
        models: match args.models.as_slice() {
            [] => before.models,
            given => given.to_vec(),
        },
        budget: args.budget.or(before.budget),
        milestone: args.milestone.clone().or(before.milestone),
        max_wait: args.max_wait.as_ref().map(seconds).or(before.max_wait),
        backoff: match args.backoff.as_slice() {
            [] => before.backoff,
            given => given.iter().map(seconds).collect(),
        },
        ..before
    }
}

/// The settings of a new run of `plan`.
fn new_settings(args: &Args, plan: &Plan) -> anyhow::Result<Settings> {
    let mut settings = settings(args, Settings::configured()?);
    settings.gates = plan.gates.clone();
    settings.sandbox = SandboxSettings::of(&args.sandbox)?;
    isolation::begin(args, &mut settings, &plan.tasks)?;
    Ok(settings)
}

fn new_run(id: String, plan: Plan, settings: Settings, args: &Args) -> Run {
    Run {
        schema: cr_rundir::SCHEMA,
        id,
        plan: args.plan.clone().unwrap_or_default(),
        settings,
        tasks: plan.tasks,
    }
}

/// A run that is resumed, with a new plan if there is one.
fn changed(run: Run, planned: Option<Plan>, args: &Args) -> anyhow::Result<Run> {
    let mut settings = settings(args, run.settings);
    let tasks = match planned {
        Some(plan) => {
            settings.gates = plan.gates;
            plan.tasks
        }
        None => run.tasks,
    };
    isolation::resume(args, &settings, &tasks)?;
    Ok(Run {
        settings,
        plan: args.plan.clone().unwrap_or(run.plan),
        tasks,
        schema: run.schema,
        id: run.id,
    })
}

/// How many tasks are run, from the first; all names must be known.
fn range(args: &Args, tasks: &[Task]) -> anyhow::Result<usize> {
    let find = |id: &str| tasks.iter().position(|task| task.id == id);
    for id in args.breaks.iter().chain(&args.until) {
        if find(id).is_none() {
            let id = cr_io::sanitized(id);
            return Err(anyhow!("no {} is called `{id}`", args.noun()).context(Exit::Usage));
        }
    }
    let last = args.until.as_deref().and_then(find);
    Ok(last.map_or(tasks.len(), |at| at + 1))
}

/// Refuses a plan in which a task that is done has become another.
fn refuse_changed(layout: &RunLayout, tasks: &[Task]) -> anyhow::Result<()> {
    let mut changed = Vec::new();
    for task in tasks {
        let attempts = layout.attempts(&task.id)?;
        let done = attempts.ended.last().filter(|last| last.end.is_success());
        if done.is_some_and(|done| done.spec.task != *task) {
            changed.push(format!("`{}`", task.id));
        }
    }
    if changed.is_empty() {
        return Ok(());
    }
    let names = changed.join(", ");
    let text = format!("{names}: changed since it was done; --accept-changed leaves it done");
    Err(anyhow!(text).context(Exit::Usage))
}

/// Records which tasks are to be tried again.
fn again(args: &Args, layout: &RunLayout, run: &Run) -> anyhow::Result<()> {
    for word in &args.again {
        let (id, text) = word.split_once('=').unwrap_or((word, ""));
        if !run.tasks.iter().any(|task| task.id == id) {
            let id = cr_io::sanitized(id);
            return Err(
                anyhow!("--again: no {} is called `{id}`", args.noun()).context(Exit::Usage)
            );
        }
        let attempts = layout.attempts(id)?;
        let Some(last) = attempts.ended.last() else {
            return Err(anyhow!("--again: `{id}` has not been tried").context(Exit::Usage));
        };
        if last.end.is_success() {
            return Err(anyhow!("--again: `{id}` is done").context(Exit::Usage));
        }
        let number = u32::try_from(attempts.ended.len())?;
        layout
            .attempt(id, number)?
            .write(file::ATTEMPT_AGAIN, text.as_bytes())?;
    }
    Ok(())
}
