//! Objects and refs that an agent forges are not imported.

use std::fs;

use crate::place::{Place, users};

/// Forgeries that must not reach the repository: the script, and the reason that
/// the import gives.
const FORGED: [(&str, &str); 4] = [
    (
        "mkdir $G/objects/ab; mkfifo $G/objects/ab/cd",
        "more than files",
    ),
    ("ln -s /etc/passwd $G/objects/ab", "more than files"),
    ("rm -f $R; ln -s /etc/passwd $R", "no plain ref"),
    ("echo 'ref: refs/heads/main' >$R", "no plain ref"),
];

#[test]
fn forged_objects_and_refs_are_refused_and_a_success_becomes_a_failure() {
    for user in users() {
        for (script, why) in FORGED {
            let place = Place::new(user);
            let git = place.repo.join(".git");
            let before = place.git(&place.repo, "rev-parse --all HEAD:file");
            let script = format!("G={}; R=$G/refs/heads/cr/run/task; {script}", git.display());
            let output = place.spawn(&script).output().expect("a run");
            assert_eq!(output.status.code(), Some(125), "{why}: {output:?}");
            let refused = place.sandbox.import().expect_err("a refusal").to_string();
            assert!(refused.contains(why), "{script}: {refused}");
            assert_eq!(place.git(&place.repo, "rev-parse --all HEAD:file"), before);
            assert_eq!(place.git(&place.repo, "show HEAD:file"), "one");
            place.git(&place.repo, "fsck --full --strict");
        }
    }
}

#[test]
fn a_commit_without_its_objects_moves_no_branch() {
    for user in users() {
        let place = Place::new(user);
        let git = place.repo.join(".git");
        let script = format!(
            "echo new >file; git commit -qam two; o=$(git rev-parse HEAD:file); \
             rm -f {}/objects/$(echo $o | cut -c -2)/$(echo $o | cut -c 3-)",
            git.display()
        );
        let output = place.spawn(&script).output().expect("a run");
        assert_eq!(output.status.code(), Some(125), "{output:?}");
        assert_eq!(
            place.git(&place.repo, "log -1 --format=%s cr/run/task"),
            "one"
        );
        let script = "git commit -q --allow-empty -m again; exit 4";
        let output = place.spawn(script).output().expect("a run");
        // The agent's own failure is the better message.
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        let own = place.own().join("HEAD");
        assert!(fs::read_to_string(own).is_ok());
    }
}

#[test]
fn an_object_under_a_false_name_is_imported_under_its_own() {
    for user in users() {
        let place = Place::new(user);
        let objects = place.repo.join(".git/objects");
        let script = format!(
            "path() {{ echo {}/$(echo $1 | cut -c -2)/$(echo $1 | cut -c 3-); }}; \
             known=$(git rev-parse HEAD:file); new=$(echo evil | git hash-object -w --stdin); \
             mkdir -p $(dirname $(path $known)); cp $(path $new) $(path $known); \
             git commit -q --allow-empty -m two",
            objects.display()
        );
        let output = place.spawn(&script).output().expect("a run");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(place.git(&place.repo, "show cr/run/task:file"), "one");
        place.git(&place.repo, "fsck --full --strict");
    }
}
