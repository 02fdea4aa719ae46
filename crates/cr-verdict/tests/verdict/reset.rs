//! When limits are lifted, in every form seen.

use cr_verdict::reset_time;
use jiff::Timestamp;

fn at(text: &str) -> Timestamp {
    text.parse().expect("a timestamp")
}

#[track_caller]
fn check(now: &str, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let found = reset_time(text, at(now));
        assert_eq!(found, Some(at(expected)), "{text} at {now}");
    }
}

#[test]
fn a_time_is_the_next_one_in_the_zone_named() {
    check(
        "2026-11-18T10:00:00Z",
        &[
            ("resets 3pm (UTC)", "2026-11-18T15:00:00Z"),
            ("resets 3:30pm (UTC)", "2026-11-18T15:30:00Z"),
            ("resets 9am (UTC)", "2026-11-19T09:00:00Z"),
            ("resets 10am (UTC)", "2026-11-19T10:00:00Z"),
            ("resets 10:01am (UTC)", "2026-11-18T10:01:00Z"),
            ("resets 12am (UTC)", "2026-11-19T00:00:00Z"),
            ("resets 12pm (UTC)", "2026-11-18T12:00:00Z"),
            (
                "Your limit will reset at 1pm (Etc/GMT+5).",
                "2026-11-18T18:00:00Z",
            ),
            (
                "5-hour limit reached ∙ resets 10:30am (Europe/Rome)",
                "2026-11-19T09:30:00Z",
            ),
            (
                "limit reached. Your limit will reset at 3:00 PM (UTC).",
                "2026-11-18T15:00:00Z",
            ),
            ("resets 3 p.m. UTC", "2026-11-18T15:00:00Z"),
            ("resets 15:00 UTC", "2026-11-18T15:00:00Z"),
            ("resets 15:00:30 UTC", "2026-11-18T15:00:30Z"),
            ("Resets at 3PM (utc+2)", "2026-11-18T13:00:00Z"),
            ("resets 3pm (UTC-05:30)", "2026-11-18T20:30:00Z"),
            ("resets noon UTC", "2026-11-18T12:00:00Z"),
            (
                "continuing automatically at 3:45pm (UTC) · esc to cancel",
                "2026-11-18T15:45:00Z",
            ),
        ],
    );
}

#[test]
fn the_zone_is_as_old_as_the_run() {
    // 03:00 in Edmonton, which was still on standard time in that winter.
    check(
        "2025-11-18T10:00:00Z",
        &[
            (
                "You've hit your limit · resets 12pm (America/Edmonton)",
                "2025-11-18T19:00:00Z",
            ),
            ("resets 2am (America/Edmonton)", "2025-11-19T09:00:00Z"),
            ("resets 2am (america/edmonton)", "2025-11-19T09:00:00Z"),
        ],
    );
}

#[test]
fn a_day_may_be_named() {
    // A Wednesday.
    check(
        "2026-11-18T10:00:00Z",
        &[
            ("resets Dec 5, 3pm (Europe/Paris)", "2026-12-05T14:00:00Z"),
            ("resets Dec 5 at 3pm (Europe/Paris)", "2026-12-05T14:00:00Z"),
            ("resets Dec 5 3:30pm (Europe/Paris)", "2026-12-05T14:30:00Z"),
            ("resets December 5th, 3pm (UTC)", "2026-12-05T15:00:00Z"),
            ("resets 5 Dec at 3pm (UTC)", "2026-12-05T15:00:00Z"),
            ("resets 3pm on Dec 5 (UTC)", "2026-12-05T15:00:00Z"),
            ("resets Dec 5, 2027, 3pm (UTC)", "2027-12-05T15:00:00Z"),
            ("resets Nov 18, 11am (UTC)", "2026-11-18T11:00:00Z"),
            ("resets Nov 20 (UTC)", "2026-11-20T00:00:00Z"),
            ("resets Mon 9am (UTC)", "2026-11-23T09:00:00Z"),
            ("resets Monday (UTC)", "2026-11-23T00:00:00Z"),
            ("resets Wed 9am (UTC)", "2026-11-25T09:00:00Z"),
            ("resets Wednesday at 11:00 (UTC)", "2026-11-18T11:00:00Z"),
            ("resets Mon, Nov 23 at 1:30pm (UTC)", "2026-11-23T13:30:00Z"),
            ("resets Mon 9am (Asia/Jerusalem)", "2026-11-23T07:00:00Z"),
            ("resets tomorrow at 3pm (UTC)", "2026-11-19T15:00:00Z"),
            ("resets today at 3pm (UTC)", "2026-11-18T15:00:00Z"),
            ("resets 2026-12-05 15:00 (UTC)", "2026-12-05T15:00:00Z"),
            ("resets at 2026-12-05T15:00:00Z.", "2026-12-05T15:00:00Z"),
            (
                "resets at 2026-12-05T15:00:00+01:00",
                "2026-12-05T14:00:00Z",
            ),
        ],
    );
}

#[test]
fn a_wait_counts_from_now() {
    check(
        "2026-11-18T10:00:00Z",
        &[
            ("resets in 2h 30m", "2026-11-18T12:30:00Z"),
            ("resets in 3 hours", "2026-11-18T13:00:00Z"),
            ("resets 45m", "2026-11-18T10:45:00Z"),
            ("Please try again in 20s.", "2026-11-18T10:00:20Z"),
            (
                "usage limit reached; retry after 30 seconds",
                "2026-11-18T10:00:30Z",
            ),
            ("resets in 1 day and 2 hours", "2026-11-19T12:00:00Z"),
        ],
    );
}

#[test]
fn an_epoch_is_a_moment() {
    check(
        "2026-11-18T10:00:00Z",
        &[
            (
                "Claude AI usage limit reached|1700000000",
                "2023-11-14T22:13:20Z",
            ),
            (
                "Claude AI usage limit reached|1795000000",
                "2026-11-18T11:06:40Z",
            ),
            (
                "Claude AI usage limit reached|1795000000000",
                "2026-11-18T11:06:40Z",
            ),
            ("limit resets at 1795000000", "2026-11-18T11:06:40Z"),
        ],
    );
}

#[test]
fn midnight_and_the_new_year_are_crossed() {
    check(
        "2026-12-31T23:30:00Z",
        &[
            ("resets 1am (UTC)", "2027-01-01T01:00:00Z"),
            ("resets 11:45pm (UTC)", "2026-12-31T23:45:00Z"),
            ("resets 11pm (UTC)", "2027-01-01T23:00:00Z"),
            ("resets midnight (UTC)", "2027-01-01T00:00:00Z"),
            ("resets Jan 2, 3pm (UTC)", "2027-01-02T15:00:00Z"),
            ("resets Fri 3pm (UTC)", "2027-01-01T15:00:00Z"),
            // Already the new year there, and still the old one here.
            ("resets 9am (Asia/Tokyo)", "2027-01-01T00:00:00Z"),
            ("resets 8am (Asia/Tokyo)", "2027-01-01T23:00:00Z"),
            ("resets Jan 1, 9am (Asia/Tokyo)", "2027-01-01T00:00:00Z"),
            ("resets 5pm (America/Phoenix)", "2027-01-01T00:00:00Z"),
        ],
    );
}

#[test]
fn clocks_may_change_before_the_reset() {
    // The night to 2026-03-08: 02:00 EST becomes 03:00 EDT.
    check(
        "2026-03-08T04:00:00Z",
        &[
            ("resets 1:30am (America/New_York)", "2026-03-08T06:30:00Z"),
            ("resets 2:30am (America/New_York)", "2026-03-08T07:30:00Z"),
            ("resets 3:30am (America/New_York)", "2026-03-08T07:30:00Z"),
            ("resets 9am (America/New_York)", "2026-03-08T13:00:00Z"),
        ],
    );
    // The night to 2026-11-01: 02:00 EDT becomes 01:00 EST, so 01:30 comes twice.
    check(
        "2026-11-01T04:00:00Z",
        &[
            ("resets 1:30am (America/New_York)", "2026-11-01T05:30:00Z"),
            ("resets 2:30am (America/New_York)", "2026-11-01T07:30:00Z"),
        ],
    );
    // One zone, two offsets.
    check(
        "2026-10-24T12:00:00Z",
        &[
            ("resets 11pm (Europe/Berlin)", "2026-10-24T21:00:00Z"),
            ("resets 11am (Europe/Berlin)", "2026-10-25T10:00:00Z"),
        ],
    );
}

#[test]
fn a_date_that_has_just_passed_is_not_waited_for_a_year() {
    for text in [
        "resets Nov 17, 3pm (UTC)",
        "resets Nov 18 (UTC)",
        "resets Jul 23 at 6pm (UTC)",
    ] {
        assert_eq!(reset_time(text, at("2026-11-18T10:00:00Z")), None, "{text}");
    }
}

#[test]
fn what_is_no_time_gives_none() {
    let texts = [
        "",
        "rate limit",
        "resets",
        "resets soon",
        "resets 3",
        "resets 3 times",
        "resets 13pm (UTC)",
        "resets 0am (UTC)",
        "resets 25:00 (UTC)",
        "resets 3:61pm (UTC)",
        "resets Feb 30, 3pm (UTC)",
        "resets 3pm (Mars/Olympus_Mons)",
        "presets 3pm (UTC)",
        "reached|17000",
        "reached|99999999999999999999",
        "resets in 99999999999999999999 hours",
        "resets in 9223372036854775807 days",
        "at 3pm (UTC)",
    ];
    for text in texts {
        assert_eq!(reset_time(text, at("2026-11-18T10:00:00Z")), None, "{text}");
    }
}

#[test]
fn the_ends_of_time_are_survived() {
    for now in [Timestamp::MIN, Timestamp::MAX] {
        for text in [
            "resets 3pm (Asia/Tokyo)",
            "resets Dec 5, 3pm (UTC)",
            "resets Mon",
            "resets in 3h",
        ] {
            let _ = reset_time(text, now);
        }
    }
}
