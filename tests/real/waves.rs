//! Several agents at the same time, each in a worktree of its own.

use crate::cli::each;
use crate::place::Place;
use crate::sprint::{orchestrate, outcomes};

const PLAN: &str = "
verify: test ! -e two || grep -qx 2 two
tasks:
- {id: one, prompt: TASK-ONE, commit: required}
- {id: two, prompt: TASK-TWO, commit: required}
- {id: three, prompt: TASK-THREE, files: [three], commit: required}
- {id: sum, prompt: TASK-SUM, depends_on: [one, two, three], commit: required}
";

#[test]
fn only_proven_work_of_agents_in_worktrees_is_merged() {
    each(|cli| {
        let place = Place::new();
        let before = place.git(&["rev-parse", "HEAD"]);
        let status = place.git(&["status", "--porcelain"]);

        let (code, lines) = orchestrate(&place, cli, ("waves", PLAN), &["-j", "3"]);

        assert_eq!(code, Some(0), "{lines:#?}");
        assert_eq!(outcomes(&lines, "one"), ["success"], "{lines:#?}");
        let two = outcomes(&lines, "two");
        assert_eq!(two, ["verify_failed", "success"], "{lines:#?}");
        let three = outcomes(&lines, "three");
        assert_eq!(three, ["scope_violation", "success"], "{lines:#?}");
        assert_eq!(outcomes(&lines, "sum"), ["success"], "{lines:#?}");

        let merge = lines.iter().rev().find_map(|line| line["merge"].as_str());
        let merge = merge.unwrap_or_else(|| panic!("no merge line: {lines:#?}"));
        let branch = merge.strip_prefix("git merge ").expect("a command");
        let show = |name: &str| place.git(&["show", &format!("{branch}:{name}")]);
        assert_eq!(show("sum"), "1\n2\n3\n");
        let names = place.git(&["ls-tree", "-r", "--name-only", branch]);
        assert_eq!(names, "a.txt\none\nsum\nthree\ntwo\n");
        assert_eq!(place.git(&["rev-parse", "HEAD"]), before);
        assert_eq!(place.git(&["status", "--porcelain"]), status);
        place.git(&["fsck", "--strict", "--no-dangling"]);
    });
}
