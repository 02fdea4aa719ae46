//! `scripts/install` and `scripts/uninstall`, into a directory of their own.

use std::fs;
use std::path::Path;

use cr_test::{Command, World, bin_dir, root};
use predicates::prelude::*;

/// One of the two scripts, aimed at `prefix`.
fn script(name: &str, prefix: &Path) -> Command {
    let mut command = Command::new(root().join("scripts").join(name));
    command
        .arg("--prefix")
        .arg(prefix)
        .env("CR_BIN_DIR", bin_dir());
    command
}

/// Every path below `dir`, directories with a slash, in order.
fn tree(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a directory") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(dir).expect("below").display().to_string();
            if path.is_dir() {
                found.push(name + "/");
                folders.push(path);
            } else {
                found.push(name);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_installed_runs_and_has_its_page_and_completions() {
    let home = World::new();
    let prefix = home.path("a prefix");
    script("install", &prefix).assert().success();

    let found = tree(&prefix);
    let pages = fs::read_dir(root().join("man")).expect("man/");
    for page in pages {
        let page = page.expect("a page").file_name().display().to_string();
        let (name, section) = page.rsplit_once('.').expect("a section");
        let mut wanted = vec![format!("share/man/man{section}/{page}")];
        if section == "1" {
            wanted.extend([
                format!("bin/{name}"),
                format!("share/bash-completion/completions/{name}"),
                format!("share/fish/vendor_completions.d/{name}.fish"),
                format!("share/zsh/site-functions/_{name}"),
            ]);
            Command::new(prefix.join("bin").join(name))
                .arg("--version")
                .assert()
                .success()
                .stdout(predicate::str::starts_with(format!("{name} ")));
        }
        for path in wanted {
            assert!(found.contains(&path), "{path} is missing: {found:#?}");
        }
    }
}

#[test]
fn uninstall_leaves_exactly_what_was_there_before() {
    let world = World::new();
    let prefix = &world.path("prefix");
    fs::create_dir(prefix).expect("made");
    fs::create_dir_all(prefix.join("share/man/man1")).expect("made");
    fs::create_dir_all(prefix.join("bin")).expect("made");
    fs::write(prefix.join("bin/other"), "not ours").expect("written");
    let before = tree(prefix);

    script("install", prefix).assert().success();
    assert_ne!(tree(prefix), before);
    script("install", prefix).assert().success();
    script("uninstall", prefix).assert().success();
    assert_eq!(tree(prefix), before);
}

#[test]
fn a_file_that_is_not_ours_is_not_replaced() {
    let world = World::new();
    let prefix = &world.path("prefix");
    fs::create_dir(prefix).expect("made");
    let page = prefix.join("share/man/man7/claude-runner.7");
    fs::create_dir_all(page.parent().expect("a parent")).expect("made");
    fs::write(&page, "mine").expect("written");
    let before = tree(prefix);

    script("install", prefix)
        .assert()
        .code(1)
        .stderr(predicate::str::contains("exists and is not ours"));
    assert_eq!(tree(prefix), before);
    assert_eq!(fs::read(&page).expect("read"), b"mine");
}

#[test]
fn a_list_that_leaves_the_prefix_is_refused() {
    let home = World::new();
    let prefix = home.path("prefix");
    let mine = home.path("mine");
    fs::write(&mine, "mine").expect("written");
    fs::create_dir_all(prefix.join("share/claude-runner")).expect("made");
    fs::write(prefix.join("share/claude-runner/manifest"), "../mine\n").expect("written");

    script("uninstall", &prefix).assert().code(1);
    assert!(mine.exists());
}

#[test]
fn uninstall_says_when_nothing_is_installed() {
    let world = World::new();
    script("uninstall", &world.path("prefix"))
        .assert()
        .code(1)
        .stderr(predicate::str::contains("nothing is installed"));
}

#[test]
fn the_skill_is_installed_for_the_agent_replaced_and_removed() {
    let home = World::new();
    let (prefix, config) = (home.path("prefix"), home.path("config"));
    let skill = config.join("skills/headless-runner/SKILL.md");
    let run = |name: &str, args: &[&str]| {
        let mut command = script(name, &prefix);
        command.args(args).env("CLAUDE_CONFIG_DIR", &config);
        command.assert()
    };
    run("install", &[]).success();
    assert!(!skill.exists());
    run("install", &["--skill"]).success();
    run("install", &["--skill"]).success();
    let text = fs::read_to_string(&skill).expect("the skill");
    assert!(
        text.starts_with("---\nname: headless-runner\ndescription: "),
        "{text}"
    );
    run("uninstall", &[]).success();
    assert!(!skill.exists());

    fs::create_dir_all(skill.parent().expect("a parent")).expect("made");
    fs::write(&skill, "mine").expect("written");
    run("install", &["--skill"]).code(1);
    assert_eq!(fs::read(&skill).expect("read"), b"mine");
}

/// A crontab that is a file.
const CRONTAB: &str = "case $1 in
    -l) cat \"$CALLS.table\" 2>/dev/null || { echo no crontab for me >&2; exit 1; } ;;
    -) cat >\"$CALLS.table\" ;;
    esac";

#[test]
fn a_timer_imports_session_logs_every_day_until_it_is_uninstalled() {
    let world = World::new();
    let (prefix, config) = (world.path("a prefix %"), world.path("config"));
    let calls = world.path("calls");
    let run = |name: &str, args: &[&str], systemctl: &str| {
        let folder = world.path(systemctl);
        let mut command = script(name, &prefix);
        let path = format!(
            "{}:{}",
            folder.display(),
            std::env::var("PATH").expect("PATH")
        );
        command
            .args(args)
            .env("PATH", path)
            .env("XDG_CONFIG_HOME", &config);
        command.env("CALLS", &calls).assert()
    };
    for folder in ["works", "crontab", "fails"] {
        fs::create_dir(world.path(folder)).expect("made");
    }
    for folder in ["works", "crontab", "fails"] {
        world.script(format!("{folder}/crontab"), "echo denied >&2; exit 1");
        world.script(format!("{folder}/systemctl"), "exit 1");
    }
    world.script("works/systemctl", "echo \"$*\" >>\"$CALLS\"");
    world.script("crontab/crontab", CRONTAB);
    let units = config.join("systemd/user");

    run("install", &["--timer"], "works").success();
    let timer = fs::read_to_string(units.join("cr-ledger-import.timer")).expect("a timer");
    assert!(timer.contains("OnCalendar=daily\n"), "{timer}");
    let service = fs::read_to_string(units.join("cr-ledger-import.service")).expect("a service");
    assert!(
        service.contains("a prefix %%/bin/cr-ledger\" import\n"),
        "{service}"
    );
    let place = format!("Environment=\"XDG_CONFIG_HOME={}\"\n", config.display());
    assert!(service.contains(&place), "{service}");
    let called = fs::read_to_string(&calls).expect("calls");
    assert!(
        called.contains("--user enable --now --quiet cr-ledger-import.timer"),
        "{called}"
    );
    // A new version keeps the timer.
    run("install", &[], "works").success();
    assert!(units.join("cr-ledger-import.timer").exists());
    run("uninstall", &[], "works").success();
    assert_eq!(tree(&units), [""; 0]);
    let called = fs::read_to_string(&calls).expect("calls");
    assert!(
        called.contains("--user disable --now --quiet cr-ledger-import.timer"),
        "{called}"
    );

    // Without systemd it is a line of the crontab, among those of others.
    let table = world.path("calls.table");
    let lines = || fs::read_to_string(&table).expect("a crontab");
    for before in ["", "5 * * * * own\n"] {
        if !before.is_empty() {
            fs::write(&table, before).expect("written");
        }
        for _ in 0..2 {
            run("install", &["--timer"], "crontab")
                .success()
                .stdout(predicate::str::contains("installed a line in the crontab"));
            let added = lines();
            let added = added.strip_prefix(before).expect("the lines of others");
            assert_eq!(added.lines().count(), 1, "{added}");
            assert!(added.starts_with("17 3 * * * "), "{added}");
            assert!(added.contains(" XDG_CONFIG_HOME='"), "{added}");
            assert!(
                added.contains("a prefix \\%/bin/cr-ledger' import "),
                "{added}"
            );
        }
        run("uninstall", &["--keep-timer"], "crontab").success();
        assert!(lines().contains("cr-ledger"), "it is kept");
        run("install", &[], "crontab").success();
        run("uninstall", &[], "crontab").success();
        assert_eq!(lines(), before);
    }

    // Without both it says what to do.
    run("install", &["--timer"], "fails")
        .success()
        .stdout(predicate::str::contains(
            "neither systemctl --user nor crontab can be used here",
        ))
        .stdout(predicate::str::contains(
            "a prefix \\%/bin/cr-ledger' import ",
        ));
    assert_eq!(lines(), "5 * * * * own\n");
    assert_eq!(tree(&units), [""; 0]);
    fs::write(units.join("cr-ledger-import.timer"), "mine").expect("written");
    run("install", &["--timer"], "works")
        .code(1)
        .stderr(predicate::str::contains("exists and is not ours"));
}

#[test]
fn the_plugin_is_one_that_the_agent_loads() {
    let text = fs::read(root().join(".claude-plugin/plugin.json")).expect("a manifest");
    let plugin: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    // The CLI refuses a name that begins with its own.
    assert_eq!(plugin["name"], "headless-runner");
    assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
    let skill = fs::read_to_string(root().join("skills/headless-runner/SKILL.md"));
    let skill = skill.expect("the skill");
    let head = skill.split("---\n").nth(1).expect("a head");
    let description = head
        .lines()
        .find_map(|line| line.strip_prefix("description: "));
    assert!(description.is_some_and(|text| text.len() <= 1024), "{head}");
}
