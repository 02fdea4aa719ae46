//! `cr-ledger next`: what to do with a session before its next task.

use std::io::Write;

use clap::Args;
use cr_config::Config;
use cr_io::{Exit, Out, quote, visible_json};
use cr_ledger_db::{Access, Ledger, from_ms};
use cr_usage::{percent_used, rounded};

use crate::account::{self, Obstacle};
use crate::choice::{Reason, Situation};
use crate::decision::{self, Cache, Compaction, Context, Decision, Price};
use crate::facts::Facts;
use crate::live::{self, Live};
use crate::location::Location;
use crate::moment::Moment;
use crate::price::{HANDOFF_TOKENS, Quote, amount};
use crate::spending::{self, BudgetState, Whose};
use crate::target::{Target, TargetArgs};
use crate::thresholds::{ThresholdArgs, Thresholds};
use crate::{quota, sentence};

/// Decide what to do before the next task: resume, refresh, wait or stop
///
/// Prints one JSON object with the action, the reason, and the numbers that it comes
/// from. `stop`: the last run ended because nobody is logged in or there is no credit,
/// or a budget is exhausted. `wait`: the account is limited, until a time. `refresh`:
/// the context is full from the threshold on, and a new session should go on with a
/// handoff. Otherwise `resume`, as long as the prompt cache has the context: for 5
/// minutes or 1 hour after the last message, as the messages say. After that a resume
/// writes the whole context again; then the cheaper of the two is chosen, for a task
/// with as many calls as is usual. Both prices are in the object.
///
/// The agent compacts a context by itself, and it wins: it does so within a task, when
/// nobody can be asked. The context is then what the compaction left, so that a session
/// that the agent compacts before the threshold is resumed and not refreshed, until it
/// is full again. A compaction that was recorded is in the object.
///
/// Ends with 0 for `resume` and `refresh`, 75 for `wait`, 3 for `stop` by a budget, 77
/// for `stop` by the account. 66: the ledger does not know the session.
#[derive(Args, Debug)]
pub(crate) struct NextArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// Print the JSON Schema of the object
    #[arg(long, group = "whose")]
    output_schema: bool,
    #[command(flatten)]
    thresholds: ThresholdArgs,
    /// The size of the context window, if no run has told it
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    context_window: Option<u64>,
    /// If the session is running, ask the agent how full its context is
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    moment: Moment,
}

pub(crate) fn run(
    args: &NextArgs,
    location: &Location,
    out: impl Write,
    mut notes: impl Write,
) -> anyhow::Result<Exit> {
    if args.output_schema {
        return cr_io::print_schema(decision::SCHEMA, out);
    }
    let config = Config::load()?;
    let marks = args.thresholds.thresholds(&config)?;
    let ledger = location.open(Access::Read)?;
    let now = args.moment.ms();
    let target = args.target.find(ledger.db(), now)?;
    let live = if args.live {
        live::ask(&config, &target.id).unwrap_or_else(|err| {
            // What the ledger knows is still an answer.
            cr_io::note("cr-ledger", &mut notes, &err);
            None
        })
    } else {
        None
    };
    let facts = Facts::read(ledger.db(), &target, now)?;
    let case = Case {
        ledger: &ledger,
        marks,
        now,
        target,
        facts,
        live,
        window: args.context_window,
    };
    let (decision, exit) = case.decide()?;
    let json = serde_json::to_string(&decision)?;
    let mut out = Out::new(out);
    out.line(visible_json(&json).as_bytes())?;
    out.flush()?;
    Ok(exit)
}

/// Everything that a decision comes from.
struct Case<'a> {
    ledger: &'a Ledger,
    marks: Thresholds,
    now: i64,
    target: Target,
    facts: Facts,
    live: Option<Live>,
    /// The window, if nothing else says it.
    window: Option<u64>,
}

impl Case<'_> {
    fn decide(&self) -> anyhow::Result<(Decision, Exit)> {
        let db = self.ledger.db();
        let windows = quota::windows(db, self.now)?;
        let budget = self.budget(&windows)?;
        let context = self.context();
        let price = self.price(&context);
        let situation = self.situation(&context, &price);
        let reason = situation.reason(&self.marks);
        let level = situation.level(&self.marks);
        let model = context.model.as_deref();
        let obstacle = account::obstacle(db, self.now, model, (&windows, budget.as_ref()))?;
        let mut decision = Decision {
            action: if reason.is_refresh() {
                "refresh"
            } else {
                "resume"
            },
            why: String::new(),
            session_id: self.target.id.clone(),
            command: self.command(reason),
            until: None,
            level: level.map(crate::thresholds::Level::as_str),
            cache: self.cache(),
            compaction: self.compaction(context.window),
            context,
            price,
            budget,
            quota: Some(windows).filter(|windows| !windows.is_empty()),
        };
        decision.why = sentence::why(&decision, reason, &self.marks);
        let exit = match obstacle {
            None => return Ok((decision, Exit::Ok)),
            Some(Obstacle::Account(why)) => {
                (decision.action, decision.why) = ("stop", why);
                Exit::Code(77)
            }
            Some(Obstacle::Budget(why)) => {
                (decision.action, decision.why) = ("stop", why);
                Exit::Code(3)
            }
            Some(Obstacle::Limit(why, until)) => {
                (decision.action, decision.why) = ("wait", why);
                decision.until = until;
                Exit::Retry
            }
        };
        decision.command = None;
        Ok((decision, exit))
    }

    /// The budget of this session that is used most.
    fn budget(&self, windows: &[quota::Window]) -> anyhow::Result<Option<BudgetState>> {
        let db = self.ledger.db();
        let states = spending::all(db, windows, self.now)?;
        let whose = Whose {
            session: self.target.session,
            project: self.target.project.as_deref(),
        };
        let states = spending::of_session(db, states, whose)?;
        let by_share = |a: &BudgetState, b: &BudgetState| a.share().total_cmp(&b.share());
        Ok(states.into_iter().max_by(by_share))
    }

    fn context(&self) -> Context {
        let reading = self.facts.reading.as_ref();
        let told = self.live.as_ref().map(|live| &live.context);
        let flag = self.window.map(|window| (window, "flag"));
        let asked = told.and_then(|told| told.max_tokens);
        let window = asked.map(|window| (window, "cli"));
        let window = window.or(self.facts.window).or(flag);
        let asked = told.and_then(|told| told.tokens);
        let at = reading.map(|reading| reading.at).filter(|at| *at > 0);
        let model = told.and_then(|told| told.model.clone());
        let mut context = Context {
            used: asked.or(reading.and_then(|reading| reading.used)),
            window: window.map(|(window, _)| window),
            window_source: window.map(|(_, source)| source),
            percent: None,
            at: at.and_then(from_ms),
            source: reading.map(|reading| reading.source),
            auto_compact_at: told.and_then(|told| told.auto_compact_at),
            model: model.or_else(|| self.facts.model.clone()),
        };
        if asked.is_some() {
            (context.at, context.source) = (from_ms(self.now), Some("cli"));
        }
        let both = context.used.zip(context.window);
        context.percent = both.and_then(|(used, window)| percent_used(used, window));
        context
    }

    /// Whether the cache has the context; `None` without a time.
    fn is_warm(&self) -> Option<bool> {
        let expires_at = self.facts.expires_at()?;
        Some(self.now < expires_at && !self.facts.is_compacted())
    }

    fn cache(&self) -> Option<Cache> {
        let is_warm = self.is_warm().filter(|_| self.live.is_none())?;
        let expires_at = self.facts.expires_at();
        let expires_at = expires_at.filter(|_| !self.facts.is_compacted());
        Some(Cache {
            ttl: self.facts.ttl.as_str(),
            expires_at: expires_at.and_then(from_ms),
            is_warm,
        })
    }

    fn price(&self, context: &Context) -> Price {
        let (calls, calls_source) = self.facts.calls;
        let quote = Quote {
            prices: self.ledger.prices(),
            model: context.model.as_deref().unwrap_or_default(),
            ttl: self.facts.ttl,
            calls,
        };
        let is_warm = self.live.is_some() || self.is_warm() == Some(true);
        let resume = context.used.and_then(|used| {
            if is_warm {
                quote.cached(used)
            } else {
                quote.written(used)
            }
        });
        let tokens = self.facts.first_context;
        let tokens = tokens.map(|first| first + HANDOFF_TOKENS + self.facts.reading_in);
        let refresh = tokens.and_then(|tokens| quote.written(tokens));
        Price {
            calls,
            calls_source,
            resume_usd: resume.map(rounded),
            refresh_usd: refresh.map(rounded),
            refresh_tokens: tokens,
        }
    }

    fn situation(&self, context: &Context, price: &Price) -> Situation {
        let is_running = self.live.is_some();
        Situation {
            used: context.used,
            window: context.window,
            is_exhausted: self.facts.is_exhausted() && !is_running,
            is_compacted: self.facts.is_compacted(),
            is_running,
            is_warm: self.is_warm(),
            resume_usd: price.resume_usd,
            refresh_usd: price.refresh_usd,
        }
    }

    fn compaction(&self, window: Option<u64>) -> Option<Compaction> {
        let last = self.facts.compaction.as_ref()?;
        let share = last.pre_tokens.zip(window);
        let share = share.map(|(before, window)| amount(before) / amount(window.max(1)));
        let is_early = share.is_some_and(|share| share < self.marks.refresh);
        Some(Compaction {
            at: from_ms(last.at),
            trigger: Some(last.trigger.clone()).filter(|word| !word.is_empty()),
            pre_tokens: last.pre_tokens,
            post_tokens: last.post_tokens,
            is_before_refresh: is_early && last.trigger == "auto",
        })
    }

    /// The command that follows the decision.
    fn command(&self, reason: Reason) -> Option<String> {
        let id = quote(&self.target.id)?;
        if reason.is_refresh() {
            return Some(format!("cr-ledger refresh --session {id}"));
        }
        if let Some(live) = &self.live {
            return Some(format!("cr-send {}", quote(&live.run)?));
        }
        let run = self.facts.run.as_ref();
        let stored = run.map(|run| run.resume_command.clone());
        if let Some(command) = stored.filter(|command| !command.is_empty()) {
            return Some(command);
        }
        // How the session was permitted to work is not known: the agent's own settings
        // decide, and not the runner's, which skip the checks.
        let resume = format!("claude-runner --permission-mode= --resume {id}");
        let cwd = run.map(|run| run.cwd.clone()).filter(|cwd| !cwd.is_empty());
        Some(match cwd.or_else(|| self.target.project.clone()) {
            Some(dir) => format!("cd {} && {resume}", quote(&dir)?),
            None => resume,
        })
    }
}
