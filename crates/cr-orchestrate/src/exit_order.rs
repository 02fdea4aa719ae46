//! The exit code of a run in which several things went wrong: the one that a person
//! should look at first.

use cr_io::Exit;
use cr_verdict::Outcome;

use crate::schedule::{Ending, Situation};
use crate::task_state::TaskState;

/// From the most urgent: not logged in, a person is needed, later, no money, a failure.
const ORDER: [u8; 5] = [77, 4, 75, 3, 1];

/// `ending` with the first code of [`ORDER`] that applies. A good end, a signal and a
/// breakpoint keep theirs.
pub(crate) fn ranked(ending: Ending, situation: &Situation<'_>) -> Ending {
    if ending.breakpoint.is_some() || !ORDER.contains(&ending.exit.code()) {
        return ending;
    }
    let own = ending.exit.code();
    let states = situation
        .tasks
        .iter()
        .map(|record| &record.assessment.state);
    let codes = states.filter_map(code).chain([own]);
    let place = |code: &u8| ORDER.iter().position(|other| other == code);
    let code = codes.min_by_key(place).unwrap_or(own);
    if code == own {
        return ending;
    }
    Ending {
        exit: Exit::Code(code),
        ..ending
    }
}

fn code(state: &TaskState) -> Option<u8> {
    match state {
        TaskState::StopAll(Outcome::Auth | Outcome::Billing) => Some(77),
        TaskState::NeedsPerson | TaskState::Lost => Some(4),
        TaskState::Later => Some(75),
        TaskState::Failed => Some(1),
        _ => None,
    }
}
