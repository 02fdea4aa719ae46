//! Every transition, without a process.

use cr_io::Exit;
use cr_signal::{SIGINT, SIGTERM};
use cr_stream::Clock;

use super::*;

const GRACE: Duration = Duration::from_secs(10);
const EXITED: End = End {
    code: Some(0),
    signal: None,
};
const KILLED: End = End {
    code: None,
    signal: Some(9),
};

/// The state after `events`, in a run that kills leftovers.
fn after(events: &[Event]) -> State {
    let (state, _) = State::new(GRACE, false);
    events
        .iter()
        .fold(state, |state, event| state.on(event.clone()).0)
}

/// The shortest way to each phase.
fn in_phase(phase: Phase) -> State {
    let ended = Event::AgentEnded(EXITED);
    let events = match phase {
        Phase::Starting => vec![],
        Phase::Running => vec![Event::Started],
        Phase::Stopping => vec![Event::Started, Event::Signal(SIGINT)],
        Phase::Draining => vec![Event::Started, ended],
        Phase::Sweeping => vec![Event::Started, ended, Event::PipesClosed],
        Phase::Emptying => vec![Event::Started, ended, Event::PipesClosed, Event::Swept],
        Phase::Done => vec![
            Event::Started,
            ended,
            Event::PipesClosed,
            Event::Swept,
            Event::PipesClosed,
        ],
    };
    let state = after(&events);
    assert_eq!(state.phase, phase);
    state
}

fn until(limit: Duration) -> Action {
    Action::SetDeadline(Some(limit))
}

fn start_failed() -> Event {
    Event::StartFailed(Cause::NotStarted(
        Exit::NotFound,
        "claude: not found".into(),
    ))
}

#[test]
fn every_phase_and_every_event() {
    use Phase::{Done, Draining, Emptying, Running, Starting, Stopping, Sweeping};
    let never = || Action::SetDeadline(None);
    let kill = || vec![Action::Sweep(Duration::ZERO), until(SWEEP_TIMEOUT)];
    let sweep = || vec![Action::Sweep(SWEEP_TERM_GRACE), until(SWEEP_TIMEOUT)];
    let close = || vec![Action::CloseInput];
    let drain = || vec![Action::CloseInput, until(DRAIN_TIMEOUT)];
    let stop = |number| vec![Action::SignalAgent(number), until(GRACE)];
    let take_over = || vec![never(), Action::TakeOver];
    let empty = || vec![until(EMPTY_TIMEOUT)];
    let lost = || Event::GuardianLost("the guardian was killed");
    let clock = || Event::StopWanted(Cause::Clock(Clock::Idle));
    let (end, late, closed) = (
        || Event::AgentEnded(KILLED),
        Event::DeadlinePassed,
        Event::PipesClosed,
    );
    #[rustfmt::skip]
    let cases: Vec<(Phase, Event, Phase, Vec<Action>)> = vec![
        (Starting, Event::Started,        Running,  vec![never()]),
        (Starting, start_failed(),        Emptying, vec![until(DRAIN_TIMEOUT)]),
        (Starting, Event::Signal(SIGINT), Starting, vec![]),
        (Starting, clock(),               Starting, vec![]),
        (Starting, late.clone(),          Sweeping, take_over()),
        (Starting, lost(),                Sweeping, take_over()),
        (Starting, closed.clone(),        Starting, vec![]),
        (Running,  Event::Started,        Running,  vec![]),
        (Running,  Event::Signal(SIGINT), Stopping, stop(SIGINT)),
        (Running,  clock(),               Stopping, stop(SIGTERM)),
        (Running,  end(),                 Draining, drain()),
        (Running,  Event::Swept,          Running,  vec![]),
        (Running,  late.clone(),          Running,  vec![]),
        (Running,  closed.clone(),        Running,  vec![]),
        (Running,  lost(),                Sweeping, take_over()),
        (Stopping, Event::Signal(SIGINT), Sweeping, kill()),
        (Stopping, Event::Signal(SIGHUP), Sweeping, kill()),
        (Stopping, clock(),               Stopping, vec![]),
        (Stopping, end(),                 Draining, drain()),
        (Stopping, late.clone(),          Sweeping, kill()),
        (Stopping, closed.clone(),        Stopping, vec![]),
        (Stopping, lost(),                Sweeping, take_over()),
        (Draining, Event::Signal(SIGINT), Draining, vec![]),
        (Draining, clock(),               Draining, vec![]),
        (Draining, late.clone(),          Sweeping, sweep()),
        (Draining, closed.clone(),        Sweeping, sweep()),
        (Draining, lost(),                Sweeping, take_over()),
        (Sweeping, Event::Swept,          Emptying, empty()),
        (Sweeping, Event::Signal(SIGINT), Sweeping, vec![]),
        (Sweeping, end(),                 Sweeping, close()),
        (Sweeping, closed.clone(),        Sweeping, vec![]),
        (Sweeping, late.clone(),          Sweeping, take_over()),
        (Sweeping, lost(),                Sweeping, take_over()),
        (Sweeping, Event::TookOver(None), Emptying, empty()),
        (Emptying, Event::Signal(SIGINT), Emptying, vec![]),
        (Emptying, Event::Swept,          Emptying, vec![]),
        (Emptying, closed.clone(),        Done,     vec![never()]),
        (Emptying, late.clone(),          Done,     vec![never()]),
        (Emptying, lost(),                Emptying, vec![]),
        (Done,     Event::Signal(SIGINT), Done,     vec![]),
        (Done,     lost(),                Done,     vec![]),
        (Done,     late,                  Done,     vec![]),
        (Done,     closed,                Done,     vec![]),
    ];
    for (phase, event, next, actions) in cases {
        let (state, done) = in_phase(phase).on(event.clone());
        assert_eq!((state.phase, done), (next, actions), "{phase:?} {event:?}");
    }
}

#[test]
fn a_request_to_stop_before_the_agent_runs_is_kept_and_the_first_one_counts() {
    let state = after(&[
        Event::Signal(SIGTERM),
        Event::Signal(SIGINT),
        Event::StopWanted(Cause::Orphaned),
    ]);
    let (state, actions) = state.on(Event::Started);
    assert_eq!(state.phase, Phase::Stopping);
    assert_eq!(state.cause, Some(Cause::Signal(SIGTERM)));
    assert!(state.killed);
    assert_eq!(actions, [Action::SignalAgent(SIGTERM), until(GRACE)]);
}

#[test]
fn a_second_hangup_is_the_first_one_again() {
    let hangup = Event::Signal(SIGHUP);
    let state = after(&[Event::Started, hangup.clone(), hangup]);
    assert_eq!(state.phase, Phase::Stopping);
    assert_eq!(state.on(Event::Signal(SIGTERM)).0.phase, Phase::Sweeping);
}

#[test]
fn the_reader_and_the_starter_end_a_run_with_sigterm() {
    for cause in [
        Cause::ReaderGone,
        Cause::Orphaned,
        Cause::OutputFailed("disk full".into()),
    ] {
        let state = after(&[Event::Started]);
        let (state, actions) = state.on(Event::StopWanted(cause.clone()));
        assert_eq!(actions[0], Action::SignalAgent(SIGTERM));
        assert_eq!(state.cause, Some(cause));
    }
}

#[test]
fn what_stopped_the_agent_first_stays_the_cause() {
    let clock = Event::StopWanted(Cause::Clock(Clock::Timeout));
    let state = after(&[Event::Started, clock, Event::Signal(SIGINT)]);
    assert_eq!(state.cause, Some(Cause::Clock(Clock::Timeout)));
    assert_eq!(state.phase, Phase::Sweeping);
}

#[test]
fn kept_children_are_listed() {
    let (state, _) = State::new(GRACE, true);
    let state = state.on(Event::Started).0;
    let state = state.on(Event::AgentEnded(EXITED)).0;
    let (state, actions) = state.on(Event::PipesClosed);
    assert_eq!(state.phase, Phase::Sweeping);
    assert_eq!(actions, [Action::ListLeftovers, until(SWEEP_TIMEOUT)]);
    // Not so after a second signal: the agent itself must end.
    let (state, _) = State::new(GRACE, true);
    let state = state.on(Event::Started).0.on(Event::Signal(SIGINT)).0;
    let (_, actions) = state.on(Event::DeadlinePassed);
    assert_eq!(actions[0], Action::Sweep(Duration::ZERO));
}

#[test]
fn a_lost_guardian_is_the_cause_unless_there_was_another() {
    let lost = || Event::GuardianLost("the guardian was killed");
    let died = Some(Cause::GuardianDied("the guardian was killed"));
    #[rustfmt::skip]
    let cases: [(Vec<Event>, Option<Cause>, bool); 5] = [
        (vec![],                                                               died.clone(), true),
        (vec![Event::Started],                                                 died.clone(), true),
        (vec![Event::Started, Event::Signal(SIGINT)],                          Some(Cause::Signal(SIGINT)), true),
        (vec![Event::Started, Event::StopWanted(Cause::Clock(Clock::Idle))],        Some(Cause::Clock(Clock::Idle)), true),
        (vec![Event::Started, Event::AgentEnded(EXITED)],                      None, false),
    ];
    for (events, cause, killed) in cases {
        let (state, _) = after(&events).on(lost());
        assert_eq!((&state.cause, state.killed), (&cause, killed), "{events:?}");
        assert!(!state.has_guardian);
        let ended = state.end;
        let (state, _) = state.on(Event::TookOver(Some(KILLED)));
        assert_eq!(state.end, ended.or(Some(KILLED)), "{events:?}");
        assert_eq!(state.phase, Phase::Emptying, "{events:?}");
    }
}

#[test]
fn an_agent_that_cannot_be_started_ends_the_run() {
    let state = after(&[start_failed(), Event::PipesClosed]);
    assert_eq!(state.phase, Phase::Done);
    assert!(!state.killed && state.end.is_none());
    assert!(matches!(state.cause, Some(Cause::NotStarted(..))));
}
