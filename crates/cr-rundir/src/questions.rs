//! The questions of a run, and answers to those that nobody waits for any more.

use std::collections::HashMap;

use anyhow::{Context, anyhow};
use cr_io::{Exit, NewerSchema, sanitized};
use cr_stream::{AskKind, AskState, Named};
use serde::de::DeserializeOwned;

use crate::{AnswerLine, Decision, QuestionLine, RunDir, file, parse_state, state_text};

/// The most that is read of one of the files.
const MOST: u64 = 256 << 20;

/// The questions of the run, in the order in which they were asked, each with
/// the fields that it has now.
pub fn questions(dir: &RunDir) -> anyhow::Result<Vec<QuestionLine>> {
    let mut all: Vec<QuestionLine> = Vec::new();
    let mut places = HashMap::new();
    for line in lines::<QuestionLine>(dir, file::QUESTIONS)? {
        if let Some(&place) = places.get(&line.id) {
            change(&mut all[place], line);
        } else {
            places.insert(line.id.clone(), all.len());
            all.push(line);
        }
    }
    Ok(all)
}

/// The questions that nobody has answered: they are open, and no answer is kept
/// for them.
pub fn open_questions(dir: &RunDir) -> anyhow::Result<Vec<QuestionLine>> {
    let kept: Vec<AnswerLine> = lines(dir, file::ANSWERS)?;
    let mut open = questions(dir)?;
    open.retain(|asked| {
        let is_kept = kept.iter().any(|kept| kept.id == asked.id);
        refuse_closed(asked).is_ok() && !is_kept
    });
    Ok(open)
}

/// Keeps an answer to a question of a run that has ended; the first equal
/// question of a run that resumes it gets the answer. The lock of the run is held
/// meanwhile. A question that is not open, or has an answer already, is refused
/// (65), and one that is not known too (66).
pub fn keep_answer(
    dir: &RunDir,
    id: &str,
    decision: Decision,
    text: Option<&str>,
    by: Option<&str>,
) -> anyhow::Result<()> {
    // Another answer may hold it for a moment.
    let _lock = dir.lock_patiently().context(Exit::Retry)?;
    let shown = sanitized(id);
    let refused = |why: &str| anyhow!("question {shown}: {why}").context(Exit::Data);
    let asked = find(questions(dir)?, id)?;
    refuse_closed(&asked).map_err(|why| refused(&why))?;
    let kept: Vec<AnswerLine> = lines(dir, file::ANSWERS)?;
    if kept.iter().any(|kept| kept.id == asked.id) {
        return Err(refused("it has an answer already"));
    }
    let is_choice = asked.kind.as_deref() == Some(AskKind::Choice.as_str());
    match decision {
        Decision::Choose if !is_choice => return Err(refused("allow or deny it")),
        Decision::Allow | Decision::AllowSession if is_choice => {
            return Err(refused("it asks for a choice"));
        }
        _ => {}
    }
    let (Some(tool), Some(input_sha256)) = (asked.tool, asked.input_sha256) else {
        return Err(refused("its tool and input are not known"));
    };
    let answer = AnswerLine {
        id: asked.id,
        at: cr_stream::now(),
        tool,
        input_sha256,
        decision,
        text: text.map(str::to_owned),
        by: by.map(str::to_owned),
        given_in: None,
    };
    dir.append_line(file::ANSWERS, &state_text(&answer)?)
}

/// The question whose id begins with `id`, if there is only one.
fn find(questions: Vec<QuestionLine>, id: &str) -> anyhow::Result<QuestionLine> {
    let is_long = id.len() >= 4;
    let fitting = questions
        .into_iter()
        .filter(|it| it.id == id || (is_long && it.id.starts_with(id)));
    let mut fitting: Vec<QuestionLine> = fitting.collect();
    let shown = sanitized(id);
    match (fitting.pop(), fitting.is_empty()) {
        (Some(question), true) => Ok(question),
        (Some(_), false) => {
            Err(anyhow!("{shown}: several questions begin with this").context(Exit::NoInput))
        }
        (None, _) => Err(anyhow!("{shown}: no such question").context(Exit::NoInput)),
    }
}

/// Says why a question takes no answer.
fn refuse_closed(asked: &QuestionLine) -> Result<(), String> {
    let state = asked.state.as_deref().unwrap_or_default();
    let by = asked
        .by
        .as_deref()
        .map(|by| format!(" by {}", sanitized(by)));
    match AskState::from_name(state) {
        Some(AskState::Open) => Ok(()),
        Some(AskState::Answered) => Err(format!(
            "it was answered{}: {}",
            by.unwrap_or_default(),
            sanitized(asked.answer.as_deref().unwrap_or("the answer is not known")),
        )),
        Some(AskState::Withdrawn) => Err("the agent has withdrawn it".to_owned()),
        None => Err(format!("its state is not known: {}", sanitized(state))),
    }
}

/// Takes over the fields that `line` has.
fn change(question: &mut QuestionLine, line: QuestionLine) {
    fn set<T>(field: &mut Option<T>, new: Option<T>) {
        if new.is_some() {
            *field = new;
        }
    }
    question.at = line.at;
    set(&mut question.tool, line.tool);
    set(&mut question.kind, line.kind);
    set(&mut question.agent, line.agent);
    set(&mut question.text, line.text);
    set(&mut question.input, line.input);
    set(&mut question.input_sha256, line.input_sha256);
    set(&mut question.state, line.state);
    set(&mut question.answer, line.answer);
    set(&mut question.by, line.by);
}

/// The lines of `name`. One that is torn or damaged is ignored; one of a newer
/// version is an error.
pub(crate) fn lines<T: DeserializeOwned>(dir: &RunDir, name: &str) -> anyhow::Result<Vec<T>> {
    let text = dir.read(name, MOST)?.unwrap_or_default();
    let mut found = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        match parse_state(line) {
            Ok(line) => found.push(line),
            Err(err) if err.is::<NewerSchema>() => return Err(err.context(name.to_owned())),
            Err(_) => {}
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn dir_with(questions: &str) -> (tempfile::TempDir, RunDir) {
        let top = tempfile::tempdir().expect("a directory");
        fs::write(top.path().join(file::QUESTIONS), questions).expect("written");
        let dir = RunDir::existing(top.path()).expect("opened");
        (top, dir)
    }

    const ASKED: &str = concat!(
        r#"{"schema":1,"id":"q1","at":"t","tool":"Bash","kind":"permission","text":"ls","input":{},"input_sha256":"9f","state":"open"}"#,
        "\n",
        r#"{"schema":1,"id":"q2","at":"t","tool":"Bash","kind":"permission","text":"rm","input":{},"input_sha256":"8e","state":"open"}"#,
        "\n",
        r#"{"schema":1,"id":"q2","at":"u","state":"answered","answer":"deny","by":"me"}"#,
        "\n",
        r#"{"schema":1,"id":"q1","at":"u","sta"#,
    );

    #[test]
    fn a_change_replaces_the_fields_that_it_has() {
        let (_top, dir) = dir_with(ASKED);
        let all = questions(&dir).expect("read");
        let states: Vec<_> = all.iter().map(|asked| asked.state.as_deref()).collect();
        assert_eq!(states, [Some("open"), Some("answered")]);
        assert_eq!(all[1].text.as_deref(), Some("rm"));
        assert_eq!(all[1].at, "u");
    }

    #[test]
    fn an_answer_fits_its_question_which_may_be_named_by_its_beginning() {
        let asked = ASKED.replace("q1", "1f0e-aa").replace("q2", "1f0e-bb");
        let asked = format!(
            "{}\n{}\n",
            asked.lines().next().expect("a line"),
            asked
                .lines()
                .nth(1)
                .expect("a line")
                .replace("permission", "choice")
        );
        let (_top, dir) = dir_with(&asked);
        let keep = |id, decision| keep_answer(&dir, id, decision, None, None);
        let says = |id, decision| cr_io::message(&keep(id, decision).expect_err("refused"));
        assert!(says("1f0e", Decision::Allow).contains("several questions"));
        assert!(says("1f0e-b", Decision::Allow).contains("choice"));
        assert!(says("1f0e-a", Decision::Choose).contains("allow or deny"));
        keep("1f0e-b", Decision::Choose).expect("kept");
        keep("1f0e-a", Decision::Allow).expect("kept");
    }

    #[test]
    fn an_answer_is_kept_once_and_survives_a_line_that_was_cut() {
        let (top, dir) = dir_with(ASKED);
        fs::write(top.path().join(file::ANSWERS), "{\"schema\":1,\"id\":\"q0").expect("written");
        let keep = |id| keep_answer(&dir, id, Decision::Allow, None, Some("me"));
        keep("q1").expect("kept");
        let kept: Vec<AnswerLine> = lines(&dir, file::ANSWERS).expect("read");
        assert_eq!(
            (&*kept[0].id, &*kept[0].tool, &*kept[0].input_sha256),
            ("q1", "Bash", "9f")
        );
        for (id, code, says) in [
            ("q1", 65, "it has an answer already"),
            ("q2", 65, "it was answered by me: deny"),
            ("q3", 66, "no such question"),
        ] {
            let err = keep(id).expect_err("refused");
            assert_eq!(cr_io::exit_of(&err).code(), code, "{id}");
            assert!(
                cr_io::message(&err).contains(says),
                "{}",
                cr_io::message(&err)
            );
        }
    }

    #[test]
    fn a_run_that_is_going_on_keeps_no_answer() {
        let (_top, dir) = dir_with(ASKED);
        let _lock = dir.lock().expect("locked");
        let err = keep_answer(&dir, "q1", Decision::Allow, None, None).expect_err("refused");
        assert_eq!(cr_io::exit_of(&err), Exit::Retry);
        assert!(!dir.has(file::ANSWERS));
    }

    #[test]
    fn a_question_of_a_newer_version_is_refused() {
        let (_top, dir) = dir_with("{\"schema\":2,\"id\":\"q1\"}\n");
        let err = questions(&dir).expect_err("refused");
        assert_eq!(cr_io::exit_of(&err), Exit::Config);
    }
}
