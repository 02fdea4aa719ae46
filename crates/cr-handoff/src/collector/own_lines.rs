//! Lines of our own: the commits that git found, questions, the end of the run.

use cr_event::Event;
use cr_stream::{Ask, AskState, Exit, OwnLine, Reason};

use super::Collector;

impl Collector {
    pub(super) fn own_line(&mut self, event: &Event<'_>) {
        match OwnLine::read(event) {
            Some(OwnLine::GitEnd(git)) => {
                let redactor = &self.redactor;
                let mask = |subject: &str| redactor.redact(subject).into_owned();
                self.commits.git(&git, mask);
            }
            // A new process asks its questions anew.
            Some(OwnLine::Start(_)) => self.questions.clear(),
            Some(OwnLine::Ask(ask)) => self.ask(&ask),
            Some(OwnLine::Exit(exit)) => self.exit(&exit),
            _ => {}
        }
    }

    fn ask(&mut self, ask: &Ask<'_>) {
        match ask.state.known() {
            Some(AskState::Open) => {
                let text = self.kept_line(&ask.text);
                self.questions.ask(&ask.id, ask.tool.as_deref(), text);
            }
            // Nobody answered, so the agent was denied.
            Some(AskState::Answered) if ask.answered_by.as_deref() == Some("timeout") => {}
            Some(AskState::Answered | AskState::Withdrawn) => self.questions.end(&ask.id),
            None => {}
        }
    }

    fn exit(&mut self, exit: &Exit<'_>) {
        if !exit.reason.is(Reason::Exit) {
            let error = exit.error.as_deref().unwrap_or_default();
            let text = format!("{} {error}", exit.reason);
            self.ending = Some(self.kept_line(text.trim()));
        }
    }
}
