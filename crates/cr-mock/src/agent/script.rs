//! What a message tells the stand-in to do.

use std::time::Duration;

use cr_io::parse_duration;

/// One thing to do in a turn. The answer is always the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Stream text for a time. Messages that come meanwhile wait.
    Text(Duration),
    /// Run a tool for a time. Messages that come meanwhile are folded in.
    Tool(Duration),
    /// Ask for permission, then run a command.
    Ask { tool: String, command: String },
    /// Put a question with choices to the user.
    Choose {
        question: String,
        choices: Vec<String>,
    },
    /// Start a background agent; without `wakes`, its end starts no turn.
    Agent { time: Duration, wakes: bool },
    /// Start a background shell.
    Shell(Duration),
    /// After this turn, another session starts one.
    Peer,
    /// The result has this field, true, in its structured output.
    Field(String),
    /// The turn ends with an error of the API.
    Fail,
    /// The process ends with this code.
    Exit(u8),
    /// The process kills itself.
    Crash,
    /// Nothing more comes, until an interrupt.
    Silent,
}

const BRIEF: Duration = Duration::from_millis(100);

/// The steps in `text`. Words that are no step are only part of the message.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    text.lines().flat_map(steps_of_line).collect()
}

fn steps_of_line(line: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        // These two take the rest of the line.
        if let Some(step) = question(rest) {
            steps.push(step);
            break;
        }
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        steps.extend(step(word));
        rest = after.trim_start();
    }
    steps
}

fn question(text: &str) -> Option<Step> {
    if let Some((tool, command)) = text.strip_prefix("ask:").and_then(|it| it.split_once(':')) {
        let [tool, command] = [tool, command].map(str::to_owned);
        return Some(Step::Ask { tool, command });
    }
    let (question, choices) = text.strip_prefix("choose:")?.split_once(':')?;
    Some(Step::Choose {
        question: question.to_owned(),
        choices: choices.split(',').map(str::to_owned).collect(),
    })
}

fn step(word: &str) -> Option<Step> {
    let (name, value) = word.split_once(':').unwrap_or((word, ""));
    let time = parse_duration(value).unwrap_or(BRIEF);
    match (name, value) {
        ("text", _) => Some(Step::Text(time)).filter(|_| !value.is_empty()),
        ("tool", _) => Some(Step::Tool(time)).filter(|_| !value.is_empty()),
        ("shell", _) => Some(Step::Shell(time)).filter(|_| !value.is_empty()),
        ("agent", _) if !value.is_empty() => Some(Step::Agent { time, wakes: true }),
        ("nowake", _) => Some(Step::Agent { time, wakes: false }),
        ("field", _) if !value.is_empty() => Some(Step::Field(value.to_owned())),
        ("exit", code) => code.parse().ok().map(Step::Exit),
        ("peer", "") => Some(Step::Peer),
        ("fail", "") => Some(Step::Fail),
        ("crash", "") => Some(Step::Crash),
        ("silent", "") => Some(Step::Silent),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_list_of_steps_and_other_words() {
        let ms = Duration::from_millis;
        assert_eq!(
            steps("please tool:300ms then text:20ms\nask:Bash:touch a b\nfail"),
            [
                Step::Tool(ms(300)),
                Step::Text(ms(20)),
                Step::Ask {
                    tool: "Bash".to_owned(),
                    command: "touch a b".to_owned()
                },
                Step::Fail,
            ]
        );
        assert_eq!(steps("text: of mine, tool"), []);
    }

    #[test]
    fn a_question_has_choices() {
        let [Step::Choose { question, choices }] = &steps("choose:Which colour?:Red,Blue")[..]
        else {
            panic!("no question");
        };
        assert_eq!(question, "Which colour?");
        assert_eq!(choices, &["Red", "Blue"]);
    }
}
