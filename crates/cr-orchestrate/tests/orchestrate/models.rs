//! The next model when one cannot do it, and agents that go round in circles.

use crate::case::Case;

/// An agent that fails.
const FAILS: &str =
    r#"result '"subtype":"error_during_execution","is_error":true,"errors":["no idea"]' 1"#;

fn model(case: &Case, n: u32) -> String {
    let args = case.seen("a", n, "args");
    let mut words = args.split(' ');
    let found = words.find_map(|word| word.strip_prefix("--model="));
    found.unwrap_or_default().to_owned()
}

#[test]
fn after_the_retries_the_next_model_gets_more_money() {
    let case = Case::new();
    case.plan(&[("a", "budget_usd: 2, retries: 1")]);
    for n in 1..=5 {
        case.script("a", n, FAILS);
    }
    let ended = case.go(&["--models", "haiku,sonnet,opus", "--budget", "50"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let used = [1, 2, 3, 4, 5, 6].map(|n| model(&case, n));
    assert_eq!(used, ["haiku", "haiku", "sonnet", "sonnet", "opus", "opus"]);
    for (n, budget) in [(1, "2"), (2, "2"), (3, "3"), (4, "3"), (5, "4.5")] {
        let args = case.seen("a", n, "args");
        let wanted = format!("--max-budget-usd={budget} ");
        assert!(args.contains(&wanted), "{n}: {args}");
        assert!(!args.contains("--resume"), "{n}: {args}");
    }
    let prompt = case.seen("a", 3, "prompt");
    assert!(prompt.contains("no idea"), "{prompt}");
    let said = "failed: the next model is sonnet, with a budget of $3";
    assert!(ended.err.contains(said), "{}", ended.err);
}

#[test]
fn a_task_that_no_model_can_do_is_reported() {
    let case = Case::new();
    case.plan(&[("a", "retries: 0, model: sonnet")]);
    for n in 1..=3 {
        case.script("a", n, FAILS);
    }
    let ended = case.go(&["--models", "haiku,sonnet,opus"]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    // It begins with its own model, and never goes back.
    assert_eq!([1, 2].map(|n| model(&case, n)), ["sonnet", "opus"]);
    assert_eq!(case.starts("a"), 2);
    let report = case.of_run("report.md");
    assert!(report.contains("## Failed"), "{report}");
    // The models are recorded; a person starts with the last one.
    assert_eq!(case.resume(&["--again", "a=Try harder"]).code, Some(1));
    assert_eq!(model(&case, 3), "opus");
}

#[test]
fn a_refused_request_is_not_given_to_another_model() {
    let case = Case::new();
    case.plan(&[("a", "")]);
    let script = "echo \"error: unknown option '--x'\" >&2; end 1";
    case.script("a", 1, script);
    assert_eq!(case.go(&["--models", "a,b"]).code, Some(1));
    assert_eq!(case.starts("a"), 1);
    assert_eq!(case.go(&["--models", "a,"]).code, Some(2));
}

#[test]
fn the_time_limit_is_a_multiple_of_the_estimate() {
    let case = Case::new();
    case.plan(&[("a", "estimated_duration: 20m")]);
    assert_eq!(case.go(&["--timeout-multiplier", "1.5"]).code, Some(0));
    let spec = case.of_run("attempts/a/1/attempt.json");
    assert!(
        spec.contains(r#""limits":{"max_turns":100,"budget_usd":null,"timeout":1800.0"#),
        "{spec}"
    );
    for wrong in ["0", "-1", "x", "1001"] {
        let ended = case.run(&["../plan.yaml", &format!("--timeout-multiplier={wrong}")]);
        assert_eq!(ended.code, Some(2), "{wrong}");
    }
}

/// An agent that takes 51 turns, of two lines each, and then does `then`.
fn turns(then: &str) -> String {
    format!(
        r#"i=0
while [ $i -lt 51 ]; do
    i=$((i + 1))
    for block in a b; do
        printf '%s\n' '{{"type":"assistant","message":{{"id":"m'$i'","content":[{{"type":"text","text":"'$block'"}}]}}}}'
    done
done
{then}"#
    )
}

fn repository(case: &Case) {
    let init = "git init -q && git -c user.name=t -c user.email=t@t commit -q --allow-empty -m one";
    let mut shell = case.world.shell(init);
    let output = shell.current_dir(case.path("work")).output().expect("git");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn an_agent_that_goes_round_in_circles_is_ended_and_the_next_model_begins() {
    let hang = turns("rmdir \"$CASE/busy\"; exec sleep 600");
    for (models, second) in [("haiku,opus", "opus"), ("haiku", "haiku")] {
        let case = Case::new();
        repository(&case);
        case.plan(&[("a", "commit: required"), ("b", "")]);
        case.script("a", 1, &hang);
        case.script(
            "a",
            2,
            "git -c user.name=t -c user.email=t@t commit -q --allow-empty -m done",
        );
        let ended = case.go(&["--models", models]);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        assert_eq!([1, 2].map(|n| model(&case, n)), ["haiku", second]);
        let said = "51 turns and no commit";
        assert!(ended.err.contains(said), "{}", ended.err);
        assert!(
            ended.out.contains(r#""outcome":"looping""#),
            "{}",
            ended.out
        );
        assert!(case.seen("a", 2, "prompt").contains(said));
        assert_eq!(case.done(), ["a", "b"]);
        case.world.assert_nobody_left("an agent in a loop");
    }
}
