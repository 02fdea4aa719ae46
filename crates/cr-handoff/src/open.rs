//! What is open at the end: calls that failed and did not succeed later, calls
//! that were denied, questions without an answer.

use crate::call::{Access, Call, Deed};
use crate::commands::{failed, with_error};

/// Failures that are kept, and questions.
const MOST: usize = 50;

/// How the results of calls begin that a person or a rule denied; a session log says
/// it nowhere else.
const DENIALS: [&str; 3] = [
    "The user doesn't want to proceed with this tool use",
    "Claude requested permissions to ",
    "Permission for this tool use was denied",
];

/// Something that is open at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenItem {
    /// What kind of thing.
    pub kind: OpenKind,
    /// The call or the question.
    pub what: String,
    /// The first line of the error, or empty.
    pub error: String,
    /// How often it happened.
    pub times: u64,
}

/// A kind of open thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenKind {
    /// A call failed, with an exit code if it is a command that ran.
    Failed(Option<i32>),
    /// A call was denied.
    Denied,
    /// A call has no result.
    NoResult,
    /// A question has no answer.
    Question,
    /// The session ended with an error.
    Ended,
}

impl OpenItem {
    pub(crate) fn line(&self) -> String {
        let kind = match self.kind {
            OpenKind::Failed(code) => failed(code),
            OpenKind::Denied => "denied".to_owned(),
            OpenKind::NoResult => "no result".to_owned(),
            OpenKind::Question => "question without an answer".to_owned(),
            OpenKind::Ended => "the session ended".to_owned(),
        };
        let times = match self.times {
            1 => String::new(),
            times => format!(" ({times} times)"),
        };
        format!("{kind}{times}: {}", with_error(&self.what, &self.error))
    }
}

/// A call that failed.
#[derive(Debug)]
struct Failure {
    call: Call,
    item: OpenItem,
}

/// The failures so far.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    failures: Vec<Failure>,
    pub(crate) dropped: u64,
}

impl Failures {
    /// A call failed, was denied or has no result.
    pub(crate) fn fail(&mut self, call: Call, kind: OpenKind, error: String) {
        let is_same = |it: &Failure| it.call.key == call.key && it.call.tool == call.tool;
        let before = self.failures.iter().position(is_same);
        let times = before.map_or(0, |at| self.failures.remove(at).item.times);
        let kind = match (kind, call.deed) {
            (OpenKind::NoResult, _) => kind,
            _ if call.is_denied || is_denial(&error) => OpenKind::Denied,
            // An error is no answer: there was nobody to ask.
            (_, Deed::Question) => OpenKind::Question,
            _ => kind,
        };
        let item = OpenItem {
            kind,
            what: call.name(),
            error,
            times: times + 1,
        };
        self.failures.push(Failure { call, item });
        if self.failures.len() > MOST {
            self.failures.remove(0);
            self.dropped += 1;
        }
    }

    /// A call succeeded; earlier failures of the same are over.
    pub(crate) fn succeed(&mut self, call: &Call) {
        self.failures.retain(|it| {
            it.call.key != call.key || it.call.number > call.number || {
                // To read a file does not repair an edit of it that failed.
                let is_read = call.deed == Deed::File(Access::Read);
                is_read && it.call.deed != call.deed
            }
        });
    }

    /// The call with this number was denied; whether it is known here.
    pub(crate) fn deny(&mut self, number: u64) -> bool {
        let known = self.failures.iter_mut().find(|it| it.call.number == number);
        if let Some(known) = known {
            known.item.kind = OpenKind::Denied;
            return true;
        }
        false
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// All of them in the order of their calls.
    pub(crate) fn all(mut self) -> Vec<OpenItem> {
        self.failures.sort_by_key(|it| it.call.number);
        self.failures.into_iter().map(|it| it.item).collect()
    }
}

fn is_denial(error: &str) -> bool {
    DENIALS.iter().any(|start| error.starts_with(start))
}

fn short(text: &str) -> String {
    crate::quote::cut(text, 100)
}

/// Questions to a person that have no answer.
#[derive(Debug, Default)]
pub(crate) struct Questions(Vec<Question>);

#[derive(Debug)]
struct Question {
    id: String,
    tool: Option<String>,
    text: String,
}

impl Questions {
    /// A question is asked.
    pub(crate) fn ask(&mut self, id: &str, tool: Option<&str>, text: String) {
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push(Question {
            id: short(id),
            tool: tool.map(short),
            text,
        });
    }

    /// A question is answered or withdrawn.
    pub(crate) fn end(&mut self, id: &str) {
        self.0.retain(|it| it.id != short(id));
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether a question is about a call of this tool.
    pub(crate) fn is_about(&self, tool: &str) -> bool {
        self.0.iter().any(|it| it.tool.as_deref() == Some(tool))
    }

    /// All of them; the same question is there once.
    pub(crate) fn all(self) -> Vec<OpenItem> {
        let mut items: Vec<OpenItem> = Vec::new();
        for question in self.0 {
            let tool = question.tool.map(|tool| format!("{tool}: "));
            let what = tool.unwrap_or_default() + &question.text;
            match items.iter_mut().find(|item| item.what == what) {
                Some(item) => item.times += 1,
                None => items.push(OpenItem {
                    kind: OpenKind::Question,
                    what,
                    error: String::new(),
                    times: 1,
                }),
            }
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: u64, key: u64, deed: Deed) -> Call {
        Call {
            number,
            deed,
            key,
            tool: format!("{deed:?}"),
            target: "x".to_owned(),
            is_denied: false,
        }
    }

    #[test]
    fn a_later_success_of_the_same_ends_a_failure() {
        let file = Deed::File;
        let (read, edit, write) = (Access::Read, Access::Edit, Access::Write);
        #[rustfmt::skip]
        let cases = [
            (Deed::Other, Deed::Other, 1, false), (Deed::Other, Deed::Other, 2, true),
            (file(read), file(read), 1, false), (file(read), file(write), 1, false),
            (file(edit), file(write), 1, false), (file(edit), file(read), 1, true),
        ];
        for (failed, succeeded, key, is_open) in cases {
            let mut failures = Failures::default();
            let kind = OpenKind::Failed(None);
            failures.fail(call(1, 1, failed), kind, String::new());
            failures.succeed(&call(2, key, succeeded));
            assert_eq!(failures.all().len(), usize::from(is_open), "{failed:?}");
        }
    }

    #[test]
    fn a_failure_that_comes_again_is_counted() {
        let mut failures = Failures::default();
        for (number, error) in [(1, "first"), (2, "second")] {
            let kind = OpenKind::Failed(Some(2));
            failures.fail(call(number, 1, Deed::Other), kind, error.to_owned());
        }
        let all = failures.all();
        let lines: Vec<_> = all.iter().map(OpenItem::line).collect();
        assert_eq!(lines, ["exit code 2 (2 times): Other: x => second"]);
    }

    #[test]
    fn a_denial_is_told_by_its_line_or_by_its_words() {
        let mut denied = call(1, 1, Deed::Other);
        denied.is_denied = true;
        let mut failures = Failures::default();
        let kind = OpenKind::Failed(None);
        failures.fail(denied, kind, "no".to_owned());
        let words = "Claude requested permissions to write to x, but".to_owned();
        failures.fail(call(2, 2, Deed::Other), kind, words);
        failures.fail(call(3, 3, Deed::Question), kind, "nobody".to_owned());
        let kinds: Vec<_> = failures.all().iter().map(|item| item.kind).collect();
        let denied = OpenKind::Denied;
        assert_eq!(kinds, [denied, denied, OpenKind::Question]);
    }

    #[test]
    fn a_question_that_is_answered_is_not_open() {
        let mut questions = Questions::default();
        let long = "x".repeat(200);
        for id in ["a", "b", "c", &long] {
            questions.ask(id, Some("Bash"), "ls".to_owned());
        }
        questions.end("a");
        questions.end(&long);
        let all = questions.all();
        let lines: Vec<_> = all.iter().map(OpenItem::line).collect();
        assert_eq!(lines, ["question without an answer (2 times): Bash: ls"]);
    }
}
