//! The table of tasks and their turns.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

use cr_estimate::{Bounds, Settings, Task, TurnsByType, estimate, from_history, with_history};

/// A task of a title, a description, files and lines of code; 0 is absent.
fn task<'a>(title: &'a str, description: &'a str, files: u64, loc: u64) -> Task<'a> {
    Task {
        title: Some(title).filter(|text| !text.is_empty()),
        description: Some(description).filter(|text| !text.is_empty()),
        estimated_files: Some(files).filter(|&files| files > 0),
        estimated_loc: Some(loc).filter(|&loc| loc > 0),
        task_type: None,
    }
}

fn turns(task: &Task<'_>) -> u64 {
    estimate(task, &Settings::default()).max_turns
}

fn reason(task: &Task<'_>) -> String {
    estimate(task, &Settings::default()).reason
}

fn of_type(task_type: &str) -> Task<'_> {
    Task {
        task_type: Some(task_type),
        ..Task::default()
    }
}

/// Settings with these bounds, and these types over the usual ones.
fn settings(min: u64, max: u64, types: &[(&str, u64)]) -> Settings {
    let mut by_type = TurnsByType::default();
    for (name, turns) in types {
        by_type.set(name, *turns);
    }
    let bounds = Bounds::new(min, max).expect("bounds");
    Settings { bounds, by_type }
}

#[test]
fn words_files_and_lines_of_code_decide() {
    #[rustfmt::skip]
    let cases = [
        ("Fix typo", "Fix typo in config file", 1, 5, 3),
        ("Add validation", "Add email validation to user form", 2, 50, 6),
        ("Implement authentication", "Implement JWT authentication system", 5, 300, 12),
        ("Refactor entire module", "Refactor the entire authentication module", 10, 600, 20),
        ("Update dependencies", "Update dependencies across entire codebase", 20, 100, 20),
        ("Migrate database", "Migrate database schema", 3, 200, 6),
        ("Update all files", "Update imports throughout repository", 15, 300, 20),
        ("Task with moderate complexity", "Some task description", 4, 150, 12),
        ("", "Some task", 0, 0, 3),
        ("", "", 1, 0, 3),
        ("REFACTOR MODULE", "MIGRATE DATABASE ACROSS ENTIRE CODEBASE", 10, 400, 20),
        ("", "Some moderately complex task", 4, 150, 12),
        ("Refactor and migrate", "Refactor module and migrate to new framework", 6, 350, 12),
        ("Update project-wide", "Update across entire codebase in all files", 25, 200, 20),
        ("Update 8 files", "", 8, 200, 12),
        ("Task with 500 lines", "", 5, 500, 12),
        ("Task with 501 lines", "", 5, 501, 20),
        ("Task without ID", "", 0, 0, 3),
        ("Add feature", "Add new feature to module", 7, 400, 12),
        ("Implement a thing", "", 0, 0, 6),
        ("implement implement implement", "", 0, 0, 6),
        ("refactor and debug", "", 9, 0, 12),
        ("migrate refactor implement", "", 9, 0, 12),
        ("migrate refactor implement across", "", 9, 0, 12),
        ("every file", "", 0, 0, 12),
        ("", "", 9, 0, 12),
        ("", "", 0, 501, 20),
        ("across multiple", "", 0, 0, 20),
        ("Add tests to all files", "", 0, 0, 12),
    ];
    for (title, description, files, loc, expected) in cases {
        let task = task(title, description, files, loc);
        assert_eq!(turns(&task), expected, "{task:?}");
    }
    let none = Task {
        estimated_files: Some(0),
        ..Task::default()
    };
    assert_eq!(turns(&none), 3, "no files");
    assert_eq!(turns(&Task::default()), 3, "no fields");
}

#[test]
fn a_word_inside_another_word_does_not_count() {
    for title in [
        "Install the package",
        "small change",
        "call the API",
        "Change everything",
        "overall",
        "fullscreen systems",
        "all_files_option",
        "Étall",
    ] {
        assert_eq!(turns(&task(title, "", 0, 0)), 3, "{title}");
    }
    for title in ["(all)", "full-stack", "\"debug\"", "the system's", "all."] {
        assert_eq!(turns(&task(title, "", 0, 0)), 6, "{title}");
    }
}

#[test]
fn a_phrase_is_its_words_in_one_text_with_blanks_between() {
    // (title, description, turns)
    let cases = [
        ("Read\nall \t files", "", 12),
        ("Delete them all. Files stay", "", 6),
        ("Delete all", "Files stay", 6),
        ("a project wide change", "", 3),
        ("a project-wide change", "", 12),
    ];
    for (title, description, expected) in cases {
        assert_eq!(turns(&task(title, description, 0, 0)), expected, "{title}");
    }
}

#[test]
fn a_type_of_the_table_decides_alone() {
    #[rustfmt::skip]
    let types = [
        ("validation", 5), ("code_generation", 12), ("refactoring", 15), ("debugging", 20),
        ("error_analysis", 8), ("planning", 5), ("documentation", 3), ("testing", 8),
        ("Debugging", 20), ("DOCUMENTATION", 3),
    ];
    for (name, expected) in types {
        assert_eq!(turns(&of_type(name)), expected, "{name}");
    }
    let large = Task {
        task_type: Some("documentation"),
        ..task(
            "Complete refactor",
            "Refactor the entire system across all files",
            20,
            1000,
        )
    };
    assert_eq!(turns(&large), 3);
}

#[test]
fn a_type_that_is_not_in_the_table_is_ignored() {
    for name in ["feature", "STORY", "story", "TaskType.STORY", ""] {
        assert_eq!(turns(&of_type(name)), 3, "{name}");
    }
    let large = Task {
        task_type: Some("feature"),
        ..task("", "", 0, 501)
    };
    assert_eq!(turns(&large), 20);
}

#[test]
fn a_configured_table_is_merged_over_the_usual_one() {
    let custom = settings(
        3,
        150,
        &[
            ("custom_type", 18),
            ("validation", 8),
            ("STORY", 50),
            ("EPIC", 100),
        ],
    );
    #[rustfmt::skip]
    let cases = [
        ("custom_type", 18), ("validation", 8), ("debugging", 20),
        ("STORY", 50), ("story", 50), ("EPIC", 100), ("documentation", 3),
    ];
    for (name, expected) in cases {
        assert_eq!(
            estimate(&of_type(name), &custom).max_turns,
            expected,
            "{name}"
        );
    }
}

#[test]
fn every_estimate_is_within_the_bounds() {
    // (minimum, maximum, turns, bounded)
    for (min, max, turns, expected) in [
        (3, 30, 1, 3),
        (3, 30, 10, 10),
        (3, 30, 50, 30),
        (5, 25, 3, 5),
        (5, 25, 30, 25),
        (3, 150, 50, 50),
    ] {
        let settings = settings(min, max, &[("x", turns)]);
        assert_eq!(settings.bounds.bound(turns), expected);
        assert_eq!(estimate(&of_type("x"), &settings).max_turns, expected);
    }
    let bounds = Bounds::default();
    assert_eq!((bounds.min(), bounds.max()), (3, 30));
    for (min, max) in [(2, 30), (0, 0), (10, 9), (3, 1001), (1001, 1001)] {
        assert!(Bounds::new(min, max).is_err(), "{min} {max}");
    }
}

#[test]
fn the_reason_names_the_evidence() {
    let cases = [
        (of_type("Debugging"), "type debugging"),
        (
            task("Update across the entire codebase", "", 9, 9),
            "2 scope phrases: across, entire codebase",
        ),
        (task("all", "", 0, 501), "501 lines of code"),
        (
            task("across multiple", "", 0, 501),
            "501 lines of code; 2 scope phrases: across, multiple",
        ),
        (
            task("", "", 0, 0),
            "no complexity words, no scope phrases, at most 1 file",
        ),
        (task("", "", 2, 0), "2 files"),
        (
            task("Migrate it", "", 3, 0),
            "1 complexity word: migrate; 3 files",
        ),
        (
            task("Debug every test of the system", "", 0, 0),
            "2 complexity words: debug, system; 1 scope phrase: every",
        ),
    ];
    for (task, expected) in cases {
        assert_eq!(reason(&task), expected, "{task:?}");
    }
    let low = estimate(&of_type("debugging"), &settings(3, 10, &[]));
    let text = "type debugging; 20 is above the maximum of 10";
    assert_eq!((low.max_turns, low.reason.as_str()), (10, text));
    let high = estimate(&of_type("documentation"), &settings(5, 10, &[]));
    let text = "type documentation; 3 is below the minimum of 5";
    assert_eq!((high.max_turns, high.reason.as_str()), (5, text));
}

#[test]
fn twenty_finished_tasks_give_their_90th_percentile() {
    let bounds = Bounds::default();
    let range: Vec<u64> = (1..=20).rev().collect();
    let found = from_history(&range, bounds).expect("enough");
    assert_eq!(found.max_turns, 18);
    assert_eq!(
        found.reason,
        "90% of 20 finished tasks took at most 18 turns"
    );
    let found = from_history(&[1; 25], bounds).expect("enough");
    let text = "90% of 25 finished tasks took at most 1 turn; \
                1 is below the minimum of 3";
    assert_eq!((found.max_turns, found.reason.as_str()), (3, text));
    assert_eq!(
        from_history(&[80; 20], bounds).expect("enough").max_turns,
        30
    );
    for few in [&[][..], &[9; 19]] {
        let why = from_history(few, bounds).expect_err("too few");
        assert!(why.ends_with(", at least 20 needed"), "{why}");
    }
}

#[test]
fn history_comes_first_and_the_fields_otherwise() {
    let (task, usual) = (of_type("debugging"), Settings::default());
    let unknown = with_history(&task, &usual, Err("not known".to_owned()));
    assert_eq!(unknown.max_turns, estimate(&task, &usual).max_turns);
    assert!(unknown.reason.ends_with("not known"), "{}", unknown.reason);
    assert_eq!(with_history(&task, &usual, Ok(vec![7; 20])).max_turns, 7);
    let few = with_history(&task, &usual, Ok(vec![7]));
    let text = "type debugging; no estimate from history: 1 finished task, at least 20 needed";
    assert_eq!((few.max_turns, few.reason.as_str()), (20, text));
}
