//! cr-stream(5) names every field of every line.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

use std::collections::{BTreeMap, BTreeSet};

use cr_stream::{Named, OBJECTS, Subtype};

const PAGE: &str = include_str!("../../../man/cr-stream.5");

/// The names that each section of the page gives in bold.
fn names_by_section() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut sections: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut section = "";
    for line in PAGE.lines() {
        if let Some(heading) = line.strip_prefix(".Ss ") {
            section = heading;
        }
        if line.starts_with('.') && line.contains("Cm ") {
            let names = line.split_whitespace().skip(1);
            sections.entry(section).or_default().extend(names);
        }
    }
    sections
}

#[test]
fn the_page_names_every_field_of_every_line() {
    let sections = names_by_section();
    for (heading, fields) in OBJECTS {
        let names = sections.get(heading);
        let names = names.unwrap_or_else(|| panic!("no section {heading}"));
        for field in *fields {
            assert!(names.contains(field), "{heading}: {field} is missing");
        }
    }
}

#[test]
fn the_page_has_a_section_for_every_kind_of_line() {
    let headings: Vec<&str> = OBJECTS.iter().map(|(heading, _)| *heading).collect();
    for subtype in Subtype::ALL {
        let name = format!("cr/{}", subtype.as_str());
        let has = |heading: &&str| heading.split(' ').next() == Some(&*name);
        assert!(headings.iter().any(has), "{name}");
    }
}

#[test]
fn the_page_names_every_reason_and_clock() {
    let sections = names_by_section();
    let listed = |section: &str, name: &str| sections[section].contains(name);
    for clock in cr_stream::Clock::ALL {
        assert!(listed("cr/limit", clock.as_str()), "{clock:?}");
    }
    for reason in cr_stream::Reason::ALL {
        let name = reason.as_str();
        assert!(
            listed("cr/exit", name) || listed("cr/limit", name),
            "{reason:?}"
        );
    }
}
