//! Ways out of the sandbox: each one is tried, and the host stays as it was.

use std::fmt::Write as _;
use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use cr_test::is_alive;

use crate::place::{Place, SECRET, User, users};

/// What the attempt looks like from inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// It fails.
    Fails,
    /// It succeeds, on something private.
    Private,
}

use Seen::{Fails, Private};

/// A way out: its name, what is seen of it inside, and the script. A script that
/// prints the secret, or changes the host, has found a way out.
type Escape = (&'static str, Seen, &'static str);

/// To the user's files.
const FILES: [Escape; 12] = [
    ("write ~/.bashrc", Private, "echo x >>$HOME/.bashrc"),
    (
        "write ~/.ssh",
        Private,
        "mkdir -p ~/.ssh; echo x >>~/.ssh/authorized_keys",
    ),
    ("read ~/.ssh", Fails, "cat $HOME/.ssh/id_ed25519"),
    (
        "read ~/.aws/credentials",
        Fails,
        "cat $HOME/.aws/credentials",
    ),
    (
        "read other transcripts",
        Fails,
        "cat ~/.claude/projects/-other/*",
    ),
    (
        "read every file of the home",
        Private,
        "find ~ -type f -exec cat {} + 2>/dev/null; :",
    ),
    (
        "write the credentials",
        Fails,
        "echo x >~/.claude/.credentials.json",
    ),
    (
        "replace the credentials",
        Fails,
        "mv ~/.claude/.credentials.json ~/c",
    ),
    ("read the user's work tree", Fails, "cat $REPO/file"),
    (
        "write the user's work tree",
        Private,
        "mkdir -p $REPO; echo x >$REPO/file",
    ),
    (
        "write another worktree",
        Private,
        "mkdir -p $OTHER; echo x >$OTHER/file",
    ),
    (
        "write through a link",
        Private,
        "ln -s $HOSTTMP l; echo x >l",
    ),
];

/// To the repository.
const REPOSITORY: [Escape; 27] = [
    ("write a hook", Fails, "echo x >$REPO/.git/hooks/pre-commit"),
    (
        "replace the hooks",
        Fails,
        "mv $REPO/.git/hooks $REPO/.git/h",
    ),
    (
        "write the configuration",
        Fails,
        "git config core.fsmonitor /x",
    ),
    (
        "replace the configuration",
        Fails,
        "echo '[core]' >c; mv c $REPO/.git/config",
    ),
    (
        "write the worktree's configuration",
        Fails,
        "echo '[core]' >$OWN/config.worktree",
    ),
    (
        "replace the worktree's configuration",
        Fails,
        "mv $OWN/config.worktree $OWN/x",
    ),
    (
        "lead git elsewhere by .git",
        Fails,
        "rm -f .git; mkdir .git",
    ),
    (
        "lead git elsewhere by commondir",
        Fails,
        "echo $PWD >$OWN/commondir",
    ),
    (
        "lead git elsewhere by a new commondir",
        Fails,
        "mv $OWN/commondir $OWN/x",
    ),
    (
        "lead git elsewhere by gitdir",
        Fails,
        "rm -f $OWN/gitdir; [ ! -e $OWN/gitdir ]",
    ),
    (
        "move the branch main",
        Fails,
        "git commit -q --allow-empty -m x; git update-ref refs/heads/main HEAD",
    ),
    ("make a branch", Fails, "git branch evil"),
    ("make a tag", Fails, "git tag evil"),
    (
        "delete a loose branch",
        Fails,
        "git update-ref -d refs/heads/loose",
    ),
    (
        "write a sibling branch",
        Private,
        "echo 0 >$REPO/.git/refs/heads/cr/run/other",
    ),
    ("write packed-refs", Fails, "echo x >$REPO/.git/packed-refs"),
    ("write info", Fails, "echo x >$REPO/.git/info/attributes"),
    (
        "write another worktree's HEAD",
        Fails,
        "echo x >$REPO/.git/worktrees/other/HEAD",
    ),
    (
        "leave HEAD on main",
        Private,
        "echo 'ref: refs/heads/main' >$OWN/HEAD",
    ),
    (
        "delete objects",
        Private,
        "rm -rf $REPO/.git/objects/[0-9a-f]*; :",
    ),
    (
        "delete objects of the store",
        Fails,
        "rm -f $STORE/*/* && [ -z \"$(ls $STORE/*/*)\" ]",
    ),
    (
        "overwrite objects of the store",
        Fails,
        "for o in $STORE/??/*; do echo x >$o || exit 1; done",
    ),
    (
        "add an alternate",
        Fails,
        "echo /x >>$REPO/.git/objects/info/alternates",
    ),
    (
        "replace the alternates",
        Fails,
        "mv $REPO/.git/objects/info $REPO/.git/objects/x",
    ),
    (
        "a reflog that leads outside",
        Private,
        "rm -f $OWN/logs/HEAD; ln -s $HOSTTMP $OWN/logs/HEAD",
    ),
    (
        "an index that leads outside",
        Private,
        "rm -f $OWN/index; ln -s $HOSTTMP $OWN/index",
    ),
    (
        "make a hard link",
        Fails,
        "ln $REPO/.git/config c && echo x >>c",
    ),
];

/// To runs and processes.
const PROCESSES: [Escape; 7] = [
    (
        "forge the end of a run",
        Fails,
        "echo {} >$STATE/runs/x/exit.json",
    ),
    (
        "forge an answer",
        Fails,
        "echo {} >$STATE/runs/x/answers/1.json",
    ),
    ("write the ledger", Fails, "echo x >$STATE/ledger.db"),
    (
        "use a control socket",
        Fails,
        "perl -MIO::Socket::UNIX -e 'exit !IO::Socket::UNIX->new(Peer => $ARGV[0])' $STATE/runs/x/control.sock",
    ),
    ("kill a process", Fails, "kill -9 $VICTIM"),
    (
        "read a process's environment",
        Fails,
        "cat /proc/$VICTIM/environ",
    ),
    (
        "trace a process",
        Fails,
        "perl -e 'exit(syscall($ARGV[0] + 0, 16, $ARGV[1] + 0, 0, 0) != 0)' $PTRACE $VICTIM",
    ),
];

/// To the system, or by means of it. No test may run one of them outside.
const SYSTEM: [Escape; 19] = [
    ("write /etc", Fails, "echo x >/etc/cr-escape"),
    ("write /usr", Fails, "echo x >/usr/cr-escape"),
    ("change a mode in /etc", Fails, "chmod 777 /etc/passwd"),
    ("read /etc/shadow", Fails, "grep -q : /etc/shadow"),
    ("write /tmp of the host", Private, "echo x >$HOSTTMP"),
    (
        "write the core pattern",
        Fails,
        "p=/proc/sys/kernel/core_pattern; v=$(cat $p); echo \"$v\" >$p",
    ),
    (
        "ask the kernel by sysrq",
        Fails,
        "echo h >/proc/sysrq-trigger",
    ),
    ("make a device", Fails, "mknod d b 254 0 && cat d"),
    (
        "mount",
        Fails,
        "mount -t tmpfs x /mnt || mount -t tmpfs x /usr",
    ),
    (
        "remount",
        Fails,
        "mount -o remount,rw,bind /usr || mount -o remount,rw,bind $REPO/.git",
    ),
    (
        "unmount what protects",
        Fails,
        "umount $REPO/.git/objects/info || umount -l .git",
    ),
    (
        "remount in a new namespace",
        Fails,
        "unshare -Urm sh -c 'mount -o remount,rw,bind /usr && echo x >/usr/cr-escape'",
    ),
    (
        "gain by a setuid program",
        Fails,
        "grep -q 'NoNewPrivs:.0' /proc/self/status",
    ),
    (
        "have a capability",
        Fails,
        "grep -q 'Cap[EPBIA].*[1-9a-f]$' /proc/self/status",
    ),
    ("kill every process", Private, "kill -9 -1"),
    (
        "read every environment",
        Private,
        "cat /proc/[0-9]*/environ; :",
    ),
    (
        "leave by /proc/1/root",
        Fails,
        "cat /proc/1/root$HOME/.aws/credentials /proc/1/cwd/home/.aws/credentials",
    ),
    (
        "write its own run directory",
        Private,
        "echo {} >$CR_RUN/exit.json && echo x >$CR_RUN/../x",
    ),
    (
        "inherit a descriptor",
        Fails,
        "readlink /proc/*/fd/* | grep -e $STATE -e /private/",
    ),
];

/// Ways that leave no trace in the user's files.
const WITHOUT_TRACE: [&str; 8] = [
    "replace the alternates",
    "read the user's work tree",
    "an index that leads outside",
    "a reflog that leads outside",
    "lead git elsewhere by .git",
    "use a control socket",
    "trace a process",
    "read a process's environment",
];

/// Tries one way out.
fn attempt(place: &Place, seen: Seen, script: &str) -> Result<(), String> {
    let before = place.manifest();
    let output = place
        .spawn(&script_of(place, script, "/run/cr-objects"))
        .output();
    let output = output.expect("a run");
    // By a file: cr-spawn takes secrets out of the stream.
    let text = fs::read(place.sandbox.work_tree.join("output")).expect("its output");
    let text = String::from_utf8_lossy(&text);
    if text.contains(SECRET) {
        return Err(format!("it read a secret:\n{text}"));
    }
    if text.ends_with("DONE\n") != (seen == Private) && !script.contains("kill -9 -1") {
        return Err(format!("not as expected: {text}\n{output:?}"));
    }
    place.sandbox.import().map_err(|err| err.to_string())?;
    let (mut wrong, after) = (String::new(), place.manifest());
    for path in before.keys().chain(after.keys()) {
        let (was, is) = (before.get(path), after.get(path));
        // The agent may commit.
        let may_move = path.ends_with("cr/run/task");
        let may_appear = was.is_none() && path.starts_with(place.repo.join(".git/objects"));
        if was != is && !may_move && !may_appear {
            let _ = writeln!(wrong, "{}: was {was:?}, is {is:?}", path.display());
        }
    }
    if place.world.path("state/runs/x").exists() {
        wrong.push_str("it wrote beside its run directory");
    }
    if !is_alive(place.victim.id()) {
        wrong.push_str("the victim is dead");
    }
    // git outside writes what the agent could write: the index, the reflog.
    let tree = &place.sandbox.work_tree;
    place.git(tree, "add --all");
    place.git(tree, "commit -q --allow-empty -m outside");
    let host = fs::read_to_string(place.world.path("host-tmp"));
    if host.expect("a file") != SECRET {
        wrong.push_str("git outside wrote elsewhere");
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn script_of(place: &Place, script: &str, store: &str) -> String {
    let world = &place.world;
    // The number of the system call.
    let ptrace = if cfg!(target_arch = "x86_64") {
        101
    } else {
        117
    };
    let port = place.port.local_addr().expect("an address").port();
    format!(
        "REPO={} OTHER={} OWN={} STATE={} HOSTTMP={} VICTIM={} PORT={port}\n\
         STORE={store} PTRACE={ptrace}\n\
         : >output; if ( {script} ) >>output; then echo DONE >>output; fi",
        place.repo.display(),
        world.path("trees/other").display(),
        place.own().display(),
        world.path("others").display(),
        world.path("host-tmp").display(),
        place.victim.id(),
    )
}

fn try_all(user: User, escapes: &[Escape]) {
    let mut failed = String::new();
    let mut place = Place::new(user);
    for (name, seen, script) in escapes {
        if let Err(why) = attempt(&place, *seen, script) {
            let _ = writeln!(failed, "{user:?}: {name}: {why}");
            place = Place::new(user);
        } else {
            place.prepare();
        }
    }
    assert!(failed.is_empty(), "{failed}");
    for name in ["/etc/cr-escape", "/usr/cr-escape"] {
        assert!(fs::symlink_metadata(name).is_err(), "{name}");
    }
}

#[test]
fn the_users_files_are_out_of_reach() {
    for user in users() {
        try_all(user, &FILES);
    }
}

#[test]
fn the_repository_changes_only_by_commits_on_the_tasks_branch() {
    for user in users() {
        try_all(user, &REPOSITORY);
    }
}

#[test]
fn runs_and_processes_are_out_of_reach() {
    for user in users() {
        try_all(user, &PROCESSES);
    }
}

#[test]
fn the_system_is_out_of_reach() {
    for user in users() {
        try_all(user, &SYSTEM);
    }
}

#[test]
fn each_way_works_outside_of_the_sandbox() {
    if users().is_empty() {
        return;
    }
    let mut vain = String::new();
    for (name, _, script) in FILES.iter().chain(&REPOSITORY).chain(&PROCESSES) {
        let place = Place::new(User::Own);
        let before = place.manifest();
        let agent = place
            .world
            .script("agent", &script_of(&place, script, "$REPO/.git/objects"));
        place.supervise(&agent).output().expect("a run");
        let text = fs::read(place.sandbox.work_tree.join("output")).expect("its output");
        let text = String::from_utf8_lossy(&text);
        let has_effect = text.contains(SECRET)
            || place.manifest() != before
            || !is_alive(place.victim.id())
            || WITHOUT_TRACE.contains(name);
        if !(has_effect && text.ends_with("DONE\n")) {
            let _ = writeln!(vain, "{name}: {text}");
        }
    }
    assert!(vain.is_empty(), "{vain}");
}

#[test]
fn without_the_network_no_connection_is_possible() {
    for user in users() {
        let mut place = Place::new(user);
        let name = format!("cr-sandbox-{}", place.victim.id());
        let address = SocketAddr::from_abstract_name(&name).expect("an address");
        let _abstract = UnixListener::bind_addr(&address).expect("a socket");
        let tcp = "bash -c \"exec 3<>/dev/tcp/127.0.0.1/$PORT\"";
        let local = format!(
            "perl -MIO::Socket::UNIX -e 'exit !IO::Socket::UNIX->new(Peer => \"\\0{name}\")'"
        );
        for (network, seen) in [(true, Private), (false, Fails)] {
            place.sandbox.network = network;
            for script in [tcp, &local] {
                let tried = attempt(&place, seen, script);
                assert_eq!(tried, Ok(()), "{user:?}: network {network}: {script}");
            }
        }
    }
}
