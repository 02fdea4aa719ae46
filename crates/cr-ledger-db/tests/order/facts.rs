//! Random facts, as logs and summaries have them.

use cr_ledger_db::{
    Compaction, Ledger, Message, ModelTotal, RunLabels, SessionHead, ToolCall, Writer, from_ms,
};
use cr_summary::Summary;
use serde_json::{Value, json};

use crate::random::Random;

/// 2026-11-18, in milliseconds.
const START: i64 = 1_794_960_000_000;
const MODELS: [&str; 3] = ["claude-opus-5-5[1m]", "claude-sonnet-5-5", "claude-new-9"];
const PROJECTS: [&str; 4] = ["/home/dev/a", "/home/dev/a/sub", "/home/dev/b", ""];
pub(crate) const MACHINES: [&str; 3] = ["desk", "laptop", "server"];

/// A fact, and the machine that records it.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub(crate) machine: &'static str,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Head(String, String, &'static str, Option<i64>, Option<i64>),
    Answer(Answer),
    Tool(String, &'static str, String, i64, bool),
    Prompt(String, i64),
    Compaction(String, i64, &'static str, Option<u64>),
    Total(String, i64, Vec<(String, [u64; 4], f64)>),
    Run(Value, RunLabels),
}

/// A line of an answer.
#[derive(Clone, Debug, Default)]
struct Answer {
    id: String,
    request: String,
    session: String,
    agent: String,
    project: String,
    model: String,
    at: i64,
    last_at: i64,
    uuid: String,
    is_final: bool,
    is_fork: bool,
    is_sidechain: bool,
    log_began_at: i64,
    tokens: [u64; 4],
    five_minutes: Option<u64>,
    cost: Option<f64>,
}

/// A session while facts about it are made.
struct Session {
    id: String,
    project: String,
    began_at: i64,
    machine: &'static str,
    answers: Vec<Answer>,
}

/// Facts about a few sessions.
pub(crate) fn facts(random: &mut Random) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut sessions: Vec<Session> = Vec::new();
    for number in 0..2 + random.below(4) {
        let parent = (!sessions.is_empty() && random.once_in(2))
            .then(|| sessions[random.index(sessions.len())].answers.clone());
        let session = session(random, number, parent);
        describe(random, &session, &mut facts);
        sessions.push(session);
    }
    for session in &sessions {
        runs(random, session, &mut facts);
    }
    // The same log may be on two machines.
    let again: Vec<Fact> = facts
        .iter()
        .filter(|_| random.once_in(6))
        .cloned()
        .collect();
    facts.extend(again.into_iter().map(|fact| Fact {
        machine: random.of(&MACHINES.map(|name| name)),
        ..fact
    }));
    facts
}

/// A session with its answers, those of `parent` copied before them.
fn session(random: &mut Random, number: u64, parent: Option<Vec<Answer>>) -> Session {
    let id = format!("session-{number}");
    let began_at = START + i64::try_from(random.below(5)).expect("small") * 400_000;
    let says_fork = random.once_in(2);
    let project = random.of(&PROJECTS).to_owned();
    let mut answers: Vec<Answer> = parent
        .into_iter()
        .flatten()
        .map(|answer| Answer {
            session: id.clone(),
            is_fork: says_fork,
            log_began_at: began_at,
            ..answer
        })
        .collect();
    let mut at = began_at + 2_000_000 * i64::from(!answers.is_empty());
    for count in 0..random.below(6) {
        at += i64::try_from(random.below(700_000)).expect("small");
        let agent = if random.once_in(4) { "helper" } else { "" };
        let tokens = [3, 5, 700, 11].map(|most| random.below(most));
        answers.push(Answer {
            id: format!("msg-{number}-{count}"),
            request: if random.once_in(3) {
                String::new()
            } else {
                format!("req-{count}")
            },
            session: id.clone(),
            agent: agent.to_owned(),
            project: if random.once_in(4) {
                random.of(&PROJECTS).to_owned()
            } else {
                project.clone()
            },
            model: random.of(&MODELS).to_owned(),
            at,
            last_at: at + 500,
            uuid: format!("uuid-{number}-{count}"),
            is_final: true,
            is_fork: false,
            is_sidechain: !agent.is_empty(),
            log_began_at: began_at,
            tokens,
            five_minutes: random.once_in(2).then_some(tokens[3]),
            cost: random.once_in(5).then_some(0.25),
        });
        if random.once_in(4) {
            // A side chain repeats it, mostly with another request.
            let replay = answers.last().cloned().unwrap_or_default();
            answers.push(Answer {
                request: random.of(&["again", replay.request.as_str()]).to_owned(),
                agent: "helper".to_owned(),
                uuid: format!("{}-again", replay.uuid),
                is_sidechain: true,
                tokens: [3, 5, 700, 11].map(|most| random.below(most)),
                ..replay
            });
        }
    }
    Session {
        id,
        project,
        began_at,
        machine: random.of(&MACHINES.map(|name| name)),
        answers,
    }
}

/// The facts of a session's log.
fn describe(random: &mut Random, session: &Session, facts: &mut Vec<Fact>) {
    let mut add = |kind| {
        facts.push(Fact {
            machine: session.machine,
            kind,
        });
    };
    let id = || session.id.clone();
    let last = session
        .answers
        .last()
        .map_or(session.began_at, |answer| answer.last_at);
    let first = Some(session.began_at);
    add(Kind::Head(
        id(),
        session.project.clone(),
        "2.1.0",
        first,
        Some(last),
    ));
    if random.once_in(3) {
        let version = random.of(&["2.0.9", "2.1.1", ""]);
        add(Kind::Head(
            id(),
            random.of(&PROJECTS).to_owned(),
            version,
            first,
            None,
        ));
    }
    for answer in &session.answers {
        if random.once_in(3) {
            // An earlier line of it, with less.
            add(Kind::Answer(Answer {
                last_at: answer.at,
                uuid: format!("{}-part", answer.uuid),
                is_final: false,
                tokens: answer.tokens.map(|count| count / 2),
                five_minutes: None,
                cost: None,
                ..answer.clone()
            }));
        }
        add(Kind::Answer(answer.clone()));
        let tool = random.of(&["Bash", "Read", "mcp__a__b"]);
        let call = format!("call-{}", answer.id);
        add(Kind::Tool(
            call,
            tool,
            answer.project.clone(),
            answer.at,
            random.once_in(3),
        ));
    }
    add(Kind::Prompt(id(), session.began_at));
    if random.once_in(3) {
        add(Kind::Compaction(
            id(),
            last,
            random.of(&["auto", ""]),
            random.once_in(2).then_some(9),
        ));
    }
    if random.once_in(2) {
        let until = last - i64::try_from(random.below(3)).expect("small") * 300_000;
        add(Kind::Total(id(), until, totals(random, session, until)));
    }
}

/// What the agent itself would count of a session.
fn totals(random: &mut Random, session: &Session, until: i64) -> Vec<(String, [u64; 4], f64)> {
    let spent = |model: &str| {
        let of_model = session.answers.iter();
        let of_model = of_model.filter(|answer| answer.model == model && answer.at <= until);
        of_model.fold([0; 4], |mut sum, answer| {
            for (sum, tokens) in sum.iter_mut().zip(answer.tokens) {
                *sum += tokens;
            }
            sum
        })
    };
    let mut rows = Vec::new();
    for model in MODELS {
        let mut tokens = spent(model);
        tokens[0] += random.below(3) * 10;
        rows.push((model.to_owned(), tokens, 0.5));
    }
    rows
}

/// The runs of a session: summaries, some of them twice, some without times.
fn runs(random: &mut Random, session: &Session, facts: &mut Vec<Fact>) {
    for number in 0..random.below(3) {
        let length = random.below(4);
        let own: Vec<&Answer> = session
            .answers
            .iter()
            .rev()
            .take(usize::try_from(length).expect("small"))
            .collect();
        let time = |ms: i64| from_ms(ms).map(|time| time.to_string());
        let has_times = !random.once_in(3);
        let start = own
            .iter()
            .map(|answer| answer.at)
            .min()
            .unwrap_or(session.began_at);
        let end = own
            .iter()
            .map(|answer| answer.last_at)
            .max()
            .unwrap_or(session.began_at);
        let mut models = serde_json::Map::new();
        for answer in &own {
            let [input, output, cache_read, cache_creation] = answer.tokens;
            models.insert(
                answer.model.clone(),
                json!({"input": input + 7, "output": output,
                "cache_read": cache_read, "cache_creation": cache_creation}),
            );
        }
        let run = (!random.once_in(4)).then(|| format!("run-{}-{number}", session.id));
        let named = !random.once_in(6) || run.is_none();
        let summary = json!({
            "schema": 1, "run_id": run, "session_id": named.then_some(&session.id),
            "model": MODELS[1], "cost_usd": 0.75,
            "cost_source": random.of(&["result", "estimate"]),
            "cwd": random.of(&[session.project.as_str(), PROJECTS[0]]),
            "started_at": has_times.then(|| time(start)).flatten(),
            "ended_at": has_times.then(|| time(end)).flatten(),
            "outcome": "success", "code": 0, "models": models, "messages": length,
            "last_uuid": own.first().map(|answer| &answer.uuid),
            "tools": {"Bash": random.below(9)}, "agent": {"cli_version": "2.1.1",
                "quota": {"five_hour": {"used": 0.5, "status": random.of(&["allowed", "warning"]),
                    "at": time(end), "resets_at": time(end + 1000)}}},
        });
        let labels = RunLabels {
            milestone: random.of(&["", "", "m1", "m2"]).to_owned(),
            task: random.of(&["", "t1"]).to_owned(),
            task_type: String::new(),
        };
        let mut add = |summary: Value, labels: RunLabels| {
            facts.push(Fact {
                machine: session.machine,
                kind: Kind::Run(summary, labels),
            });
        };
        if random.once_in(2) {
            let mut early = summary.clone();
            for (name, value) in [
                ("cost_source", json!("none")),
                ("cost_usd", Value::Null),
                ("ended_at", Value::Null),
                ("outcome", json!("incomplete")),
                ("cwd", json!(random.of(&PROJECTS))),
                ("started_at", json!(time(start - 60_000))),
            ] {
                early[name] = value;
            }
            add(early, RunLabels::default());
        }
        if random.once_in(3) {
            // Equal in rank, and not the same.
            let mut other = summary.clone();
            other["outcome"] = json!(random.of(&["success", "no_commit"]));
            other["tools"] = json!({"Read": 1});
            add(other, RunLabels::default());
        }
        add(summary, labels);
    }
}

/// Records facts in transactions of random length, each by its machine.
pub(crate) fn record(random: &mut Random, mut ledger: Ledger, facts: &[Fact]) -> Ledger {
    let mut rest = facts;
    while !rest.is_empty() {
        let machine = rest[0].machine;
        let of_machine = rest
            .iter()
            .take_while(|fact| fact.machine == machine)
            .count();
        let (now, later) = rest.split_at(1 + random.index(of_machine));
        ledger = ledger.on_machine(machine);
        ledger
            .write(|writer| {
                now.iter()
                    .try_for_each(|fact| record_one(writer, &fact.kind))
            })
            .expect("recorded");
        rest = later;
    }
    ledger
}

fn record_one(writer: &mut Writer<'_>, kind: &Kind) -> anyhow::Result<()> {
    match kind {
        Kind::Head(session, project, cli_version, first_at, last_at) => {
            writer.session(&SessionHead {
                session,
                project,
                cli_version,
                first_at: *first_at,
                last_at: *last_at,
            })?;
        }
        Kind::Answer(answer) => writer.message(&message(answer))?,
        Kind::Tool(tool_use_id, name, project, at, failed) => {
            writer.tool_call(&ToolCall {
                tool_use_id,
                name,
                project,
                at: *at,
            })?;
            if *failed {
                writer.tool_failed(tool_use_id)?;
            }
        }
        Kind::Prompt(session, at) => writer.prompt(session, *at)?,
        Kind::Compaction(session, at, trigger, pre_tokens) => {
            writer.compaction(&Compaction {
                session,
                at: *at,
                trigger,
                pre_tokens: *pre_tokens,
                post_tokens: None,
            })?;
        }
        Kind::Total(session, until, models) => {
            let models: Vec<ModelTotal<'_>> = models.iter().map(total).collect();
            writer.session_total(session, *until, &models)?;
        }
        Kind::Run(summary, labels) => {
            let summary = Summary::parse(summary.to_string().as_bytes())?;
            writer.run(&summary, labels)?;
        }
    }
    Ok(())
}

fn total((model, tokens, cost): &(String, [u64; 4], f64)) -> ModelTotal<'_> {
    let [input, output, cache_read, cache_creation] = *tokens;
    ModelTotal {
        model,
        input,
        output,
        cache_read,
        cache_creation,
        cost_usd: *cost,
    }
}

fn message(answer: &Answer) -> Message<'_> {
    let [input, output, cache_read, cache_creation] = answer.tokens;
    Message {
        message_id: &answer.id,
        request_id: &answer.request,
        session: &answer.session,
        agent: &answer.agent,
        project: &answer.project,
        model: &answer.model,
        at: answer.at,
        last_at: answer.last_at,
        uuid: &answer.uuid,
        is_final: answer.is_final,
        is_fork: answer.is_fork,
        is_sidechain: answer.is_sidechain,
        log_began_at: answer.log_began_at,
        input,
        output,
        cache_read,
        cache_creation,
        cache_creation_5m: answer.five_minutes,
        cache_creation_1h: None,
        cost_usd: answer.cost,
    }
}
