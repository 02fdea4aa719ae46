//! Commands that must not be allowed, and commands that must be.

use std::path::Path;

use cr_policy::Action;

use crate::{COMMANDS, decide, decide_command, policy};

/// Commands that only begin like an allowed one, or run something else as well.
#[rustfmt::skip]
pub(crate) const HOSTILE: &[&str] = &[
    // Lists and pipelines with another command.
    "git status && rm x", "git status; rm x", "git status | rm x", "git status || rm x",
    "git status & rm x", "git status\nrm x", "git status\r\nrm x", "git status |& rm x",
    "rm x; git status", "rm x && git status", "ls;rm x", "ls&&rm x", "ls|rm", "ls&rm x", "ls &",
    "ls & git status", "git status;;rm x", "ls ; ; rm x", "ls\n\nrm x", "ls; \n rm x", "ls |\nrm x",
    "git status &&\nrm x", "ls;\trm x", "ls\n\trm x", "cargo test && git push", "ls && git status -s",
    // Substitution.
    "ls $(rm x)", "ls `rm x`", "ls \"$(rm x)\"", "ls \"`rm x`\"", "ls <(rm x)", "ls >(rm x)",
    "ls =(rm x)", "$(rm x)", "`rm x`", "ls ${a:-$(rm x)}", "ls $((a[$(rm x)]))", "ls $[a[$(rm x)]]",
    "cargo test \"$(rm x)\"", "ls '$('$(rm x)", "ls 'a'\"$(rm x)\"", "ls \"a'$(rm x)'b\"",
    "ls \"\\\\$(rm x)\"", "ls \\`$(rm x)", "ls $(\nrm x\n)", "ls ${a@P}", "ls \"${a[$(rm x)]}\"",
    "ls ${ rm x; }", "ls ${|rm x; }",
    // Parameters and other expansions.
    "$IFS", "ls $x", "ls ${x}", "ls \"$x\"", "git$IFS-c status", "ls$IFS-l", "git status$IFS",
    "ls{,} x", "{ls,x}", "{rm,x}", "ls {a,b}", "ls;{rm,x}", "l? x", "l* x", "[l]s x", "~/ls", "ls$'\\n'rm x",
    "ls $'\\x24(rm x)'", "ls $\"x\"", "!!", "!ls", "ls !$", "ls \"!x\"", "ls !(x)", "ls @(a|b)",
    // Quotes, escapes and blanks.
    "'git' status", "\"git\" status", "g'i't status", "gi\\t status", "\\ls", "ls\\", "ls \\",
    "ls \\\nrm", "ls\\\nrm x", "git \\\nstatus", "git status\\", "'git status'", "\"git status\"",
    "git' 'status", "git\\ status", "git\u{a0}status", "git\u{2003}status", "git\u{3000}status",
    "git status\u{a0}; rm x", "ls\u{85}rm", "ls \u{2028}rm x", "ls\r", "git status\r", "ls\rrm x",
    "ls\u{b}rm x", "ls\u{c}rm x", "ls\0rm x", "git status\0", "ls 'x\0y'", "ls \u{1}", "ls \u{7f}",
    "ls \u{feff}x", "\u{feff}ls", "ls 'x", "ls \"x", "ls 'a' 'b", "", " ", "\n", "gⅰt status", "ɡit status",
    // Redirections.
    "ls > x", "ls >x", "ls >> x", "ls >| x", "ls <> x", "ls &> x", "ls &>> x", "ls >& x", "ls >&x",
    "ls 2> x", "ls 2>x", "ls 3>x", "ls {fd}>x", "ls < x", "ls <x", "> x", "> x ls", "<x ls", "2>&1 ls",
    "ls 2>&1 > x", "ls 2>&1>x", "ls 2>&1x", "ls x2>&1", "ls >&2", "ls 1>&2x", "ls 2>&-", "ls 2>&1 & rm x",
    "ls 2>&1&", "cargo test 2>&1 | tee x", "cargo test > /dev/null; rm x",
    // Here-documents and here-strings.
    "ls << EOF\nEOF\nrm x", "ls <<EOF\n$(rm x)\nEOF", "ls <<-EOF\n\tx\n\tEOF\nrm x", "ls <<< x",
    "ls <<< $(rm x)", "sh << EOF\nrm x\nEOF", "ls <<'EOF'\nx\nEOF",
    // Assignments before the command.
    "A=b ls", "PATH=. ls", "LD_PRELOAD=x ls", "GIT_PAGER=x git status", "GIT_SSH=x git status", "A=b",
    "A+=b ls", "A[0]=b ls", "A=(b) ls", "IFS=x ls", "RUSTC_WRAPPER=x cargo test", "BASH_ENV=x ls",
    "A=$(rm x) ls", "A=b; ls",
    // Compound commands and words of the shell.
    "(ls)", "( rm x )", "{ ls; }", "{ rm x; }", "if ls; then rm x; fi", "for i in 1; do rm x; done",
    "while rm x; do break; done", "until ls; do rm x; done", "case x in x) rm x;; esac",
    "select i in x; do rm x; done", "((rm))", "[[ -f x ]]", "[[ $(rm x) ]]", "[ -f x ]", "! ls", "time ls",
    "time rm x", "coproc ls", "coproc rm x", "function ls { rm x; }; ls", "ls() { rm x; }; ls",
    "ls () { rm x; }", "git() { rm x; }; git status", "function git { rm x; }\ngit status",
    "alias ls='rm x'; ls", "alias ls='rm x'\nls", "shopt -s expand_aliases", "trap 'rm x' EXIT",
    "trap 'rm x' EXIT; ls", "eval ls", "eval 'rm x'", "exec ls", "exec rm x", "command ls", "builtin ls",
    "command rm x", ". x", "source x", "set -x", "export PATH=.", "export PATH=.; ls", "hash -p x ls; ls",
    "hash -p /bin/rm ls", "enable -f x y", "cd x; ls", "cd x && git status", "cd x && cargo test",
    "pushd x; ls", "read x", "declare x=y", "local x", "unset x", "printf -v x y", "wait", "exit", "return",
    "let x=1", "mapfile -C 'rm x' -c 1 a", "complete -C 'rm x' ls", "bind -x '\"a\":rm x'", "fc -s", "ls; }",
    "compgen -C 'rm x'", "ulimit -n 1",
    // Commands of the shell that evaluate an argument in single quotes, or that could.
    "unset 'a[$(rm x)]'", "test -v 'a[$(rm x)]'", "printf -v 'a[$(rm x)]' y", "read 'a[$(rm x)]'",
    "let 'a[$(rm x)]'", "declare 'a[$(rm x)]=1'", "declare -a 'a=($(rm x))'", "wait -n -p 'a[$(rm x)]'",
    "export 'a[$(rm x)]=b'", "getopts x 'a[$(rm x)]' -x", "mapfile 'a[$(rm x)]'", "ulimit -n 'a[$(rm x)]'",
    "kill 'a[$(rm x)]'", "type 'a[$(rm x)]'", "exit 'a[$(rm x)]'", "shift 'a[$(rm x)]'", "umask 'a[$(rm x)]'",
    "cd 'a[$(rm x)]'", "test 'a[$(rm x)]' -eq 1", "printf %d 'a[$(rm x)]'", "history 'a[$(rm x)]'",
    "pushd '+a[$(rm x)]'", "jobs -x rm x", "disown 'a[$(rm x)]'", "dirs '+a[$(rm x)]'", "set -- 'a[$(rm x)]'",
    "fc -e rm", "echo 'a[$(rm x)]'", "test a -v 'a[$(rm x)]'", "printf -va[$(rm x)] y", "caller 'a[$(rm x)]'",
    "readonly 'a[$(rm x)]=1'", "typeset -i 'a=b[$(rm x)]'", "declare -i a='b[$(rm x)]'", "export -n 'a[$(rm x)]'",
    "declare -n 'a=b[$(rm x)]'", "test -R 'a[$(rm x)]'", "help 'a[$(rm x)]'", "hash 'a[$(rm x)]'",
    "PS4='$(rm x)'; set -x; ls", "export PS4='$(rm x)'; set -x; ls", "export PROMPT_COMMAND='rm x'; ls",
    // Comments.
    "# ls", "ls # x", "ls #\nrm x", "git status #", "git status#x", "ls 'a' # '\nrm x # '",
    // Commands that run commands.
    "env ls", "env -S 'rm x'", "env A=b ls", "sudo ls", "sudo -u x ls", "doas ls", "su -c ls", "xargs ls",
    "ls | xargs rm", "nice ls", "nohup ls", "setsid ls", "timeout 1 ls", "stdbuf -o0 ls", "busybox ls",
    "busybox rm x", "sh -c ls", "bash -c ls", "sh ls", "dash -c 'rm x'", "zsh -c ls", "ls | sh", "ls | bash -s",
    "find . -exec rm {} +", "find . -delete", "awk 'BEGIN{system(\"rm x\")}'", "python3 -c x", "perl -e x",
    "watch ls", "flock x ls", "strace ls", "parallel ls", "chroot . ls", "ssh x ls", "script -c ls",
    // Other programs, and other commands of the same program.
    "/usr/bin/git status", "./git status", "../git status", "/bin/ls", "./ls", "bin/ls", "git.exe status",
    "GIT status", "Git status", "gitstatus", "git-status", "lsx", "ls-l", "ls.x", "lS", "git", "cargo",
    "cargo build", "git -c core.pager=x status", "git -c alias.status='!rm x' status", "git --exec-path=. status",
    "git --git-dir=x status", "git -C x status", "git --work-tree=. status", "git -p status",
    "git --no-pager status", "git status -s", "git status --", "git status x", "git status ''", "git stat",
    "git STATUS", "git status*", "git stat?s", "git {status,x}", "git log", "git statusx", "cargo -q test",
    "cargo +nightly test", "cargo --config x test", "cargo test --config x", "cargo test --config=x",
    "cargo test --conf 'target.x.runner=\"rm\"'", "cargo test --manifest-path x", "cargo test -Z x",
    "cargo test -- --config", "cargo test -C x", "cargo test *", "cargo test -*", "cargo testx", "cargo tes[t]",
    // Continued lines, blanks and quotes in other places.
    "git status \\\n; rm x", "git status \\\n&& rm x", "git st\\\natus; rm x", "ls \\\n\nrm x", "ls '\\'; rm x; ''",
    "ls 'a'\\''; rm x; '", "ls \"\\\"; rm x; \\\"\"; rm x", "ls \"'\"; rm x; \"'\"", "ls $'\\''; rm x; $'\\''",
    "ls $'\\x27; rm x'; rm x", "$'\\154\\163'; rm x", "\"\"rm x", "''rm x", "r''m x", "r\\\nm x", "\\r\\m x", "$'rm' x",
    "$'\\x72\\x6d' x", "$'\\u0072m' x", "$'\\cr'; rm x", "ls\u{2028}; rm x", "ls \u{a0}&& rm x", "ls\u{200b};rm x",
    "ls\u{3000}; rm x", "ls;\u{a0}rm x; rm x", "\u{2003}rm x; rm x", "git status;\rrm x; rm x", "ls\r;rm x",
    // Substitution and expansion within another one.
    "ls \"${x:-$(rm x)}\"", "ls \"${x:=`rm x`}\"", "ls ${x:+}${x-$(rm x)}", "ls \"$(ls '$(x)' \"$(rm x)\")\"",
    "ls $(( $(rm x; echo 1) ))", "ls $((1+`rm x;echo 1`))", "ls ~$(rm x)", "ls \"$(</dev/null)$(rm x)\"",
    "x='a[$(rm x)]'; ls $((x))", "x='$(rm x)'; ls ${x@P}", "ls \"${x/#/$(rm x)}\"", "ls [$(rm x)]", "ls *$(rm x)*",
    "ls {a,$(rm x)}", "ls {`rm x`,b}", "ls <(ls; rm x) 2>&1", "ls > >(rm x)", "ls 2> >(rm x)", "ls < <(rm x)",
    "ls <<< \"$(rm x)\"", "ls <<E$(rm x)\nE$(rm x)\nrm x", "ls <<E 2>&1\n`rm x`\nE", "ls <<\"E\"\nx\nE\nrm x",
    "ls <<-'E'; rm x\n\tE", "ls <<A <<B; rm x\nA\nB", "sh <<< 'rm x'", "bash <<'E'\nrm x\nE", ". <(echo rm x)",
    "source /dev/stdin <<< 'rm x'", "eval \"$(echo rm x)\"", "eval r\\m x", "bash -c \"r\"'m x'",
    // Words of the shell around another command.
    "! rm x", "time -p rm x", "time -- rm x", "coproc N { rm x; }", "! { rm x; }", "until rm x; do break; done",
    "if ! rm x; then ls; fi", "[[ -n $(rm x) ]] && ls", "(( $(rm x; echo 1) ))", "for ((i=0;i<1;i++)); do rm x; done",
    "case $(rm x) in *) ls;; esac", "ls && (rm x)", "ls | (rm x)", "ls | { rm x; }", "ls |while rm x; do break; done",
    "f() (rm x); f", "function f() { rm x; } 2>&1; f", "ls() if rm x; then :; fi; ls", "git() (rm x)\ngit status",
    "shopt -s expand_aliases\nalias git='rm x;'\ngit status", "alias ls=rm; eval ls x", "unalias -a; rm x",
    "trap 'rm x' 0; ls", "trap 'rm x' DEBUG; ls", "trap -- 'rm x' EXIT\nls", "PROMPT_COMMAND='rm x'; bash -ic ls",
    "IFS=,; x=rm,x; $x",
    "a=(rm x); \"${a[@]}\"", "declare -n r=PATH; rm x", "printf -v y '%s' 'rm x'; $y", "read -r y <<< rm; $y x",
    "mapfile -t y <<< rm; ${y[0]} x", "getopts a y -a; rm x", "exec 3>&1; rm x", "exec -a ls rm x", "command -p rm x",
    "command -- rm x", "builtin eval rm x", "builtin command rm x", "builtin -- eval 'rm x'", "\\command rm x",
    "\\eval rm x", "'eval' 'rm x'", "e\"va\"l 'rm x'", "history -s rm x; rm x", "fc -s rm; rm x", "!rm; rm x", "^ls^rm^; rm x",
    // Programs that start one.
    "env -i rm x", "env -u A rm x", "env -- rm x", "env A=b rm x", "env --split-string='rm x'",
    "/usr/bin/env rm x", "nice -n 1 rm x", "nohup rm x 2>&1", "timeout -s KILL 5 rm x", "stdbuf -oL rm x",
    "ls | xargs -I{} rm {}", "ls | xargs -0 -n1 rm", "ls|xargs sh -c 'rm x'", "xargs -a /dev/null rm x",
    "find . -maxdepth 0 -exec rm x +", "find . -maxdepth 0 -execdir rm x ;", "find . -maxdepth 0 -ok rm x \\;",
    "find . -maxdepth 0 -fprint x", "find . -maxdepth 0 -exec sh -c 'rm x' \\;", "bash -lc 'rm x'", "sh -xc 'rm x'",
    "sh -c -- 'rm x'", "bash --norc -c 'rm x'", "bash -O extglob -c 'rm x'",
    // An option, an environment or a directory that changes an allowed command.
    "git -ccore.pager='rm x' status", "git --exec-path=. status", "git --exec-path . status", "git -p status",
    "git --git-dir=x status", "git --work-tree=/ status", "git -C .. status", "git --config-env=a=b status",
    "git --attr-source=x status", "git --bare status", "git --no-pager status", "git -c alias.status='!rm x' status",
    "GIT_CONFIG_COUNT=1 git status", "GIT_EXEC_PATH=. git status", "GIT_DIR=x git status", "GIT_EXTERNAL_DIFF=rm git status",
    "PATH=.:$PATH git status", "LD_PRELOAD=./x.so ls", "ENV=x ls", "SHELLOPTS=xtrace PS4='$(rm x)' bash -c ls",
    "PS4='$(rm x)'; set -x; ls", "BASH_FUNC_ls%%='() { rm x; }' bash -c ls", "CDPATH=/ cd etc; ls", "CDPATH=. ls",
    "CARGO_HOME=. cargo test", "CARGO_BUILD_RUSTC=rm cargo test", "RUSTFLAGS=x cargo test", "cargo t", "cargo test; cargo run",
    "cargo test --config build.rustc='rm'", "cargo test '--config' x", "cargo test \"--config=x\"", "cargo test --con'fig' x",
    "cargo test --manifest-p'ath' x", "cargo test -Zx", "cargo test -C/tmp", "cargo test -qC x", "cargo test ?-config", "cargo test [-]-config",
    // Files.
    "ls >rm", "ls>>rm", "ls 1>|rm", "ls 9>rm", "ls &>rm", "ls >&rm", "ls 2>&1 2>rm", "ls 2>&1>>rm", "2>rm ls", "ls {v}>>rm", "ls 3<>rm",
    "ls | tee rm", "ls 2>&1| tee -a rm", "ls>$(echo rm)", "ls >~/rm", "ls > /dev/null > rm", "ls >\nrm", "ls 2>&'1'", "ls 2>&1\\\n; rm x",
    "./git status", "../ls", "bin/ls", "//bin/ls", "~root/ls", "~+/ls", "~-/ls x", "/bin/ls/../rm x", "LS", "Git status", "git\tSTATUS",
];

/// Commands that the same policy allows.
#[rustfmt::skip]
pub(crate) const BENIGN: &[&str] = &[
    "git status", " git status ", "git\tstatus", "git  status", "git status;", "git status\n",
    "\ngit status", "git status 2>&1", "git 'status'", "git st\"at\"us", "git status && ls",
    "git status; ls", "git status | ls", "git status || ls", "git status\nls", "git status &&\nls",
    "ls", "ls -la", "ls x y", "ls 'x y'", "ls \"x y\"", "ls 'a;b'", "ls \"a && b\"", "ls 'a|b'", "ls '$(rm x)'",
    "ls '`rm x`'", "ls '$x'", "ls 'a\nb'", "ls \"a'b\"", "ls 'a\"b'", "ls ''", "ls \"\"", "ls a'b'c\"d\"",
    "ls 'ü €'", "ls \"naïve\"", "ls '#'", "ls '!'", "ls '{a,b}'", "ls '\\'", "ls '>x'", "ls '*'", "ls a=b",
    "ls -- -x", "ls /etc", "ls ./x", "ls ..", "ls x^", "ls x~1", "ls a:b,c+d@e%f", "cargo test",
    "cargo test --lib", "cargo test -p x -- --nocapture", "cargo test 'a b' 2>&1 | ls", "cargo test x::y",
    "cargo test; git status; ls", "cargo test 2>&1&& ls", "ls|ls|ls", "ls;ls", "ls&&ls", "ls||ls",
    "cargo test --features a,b --no-fail-fast", "ls -l\n\n\nls -a\n",
];

#[test]
fn no_hostile_command_is_allowed() {
    let policy = policy(COMMANDS);
    assert!(HOSTILE.len() >= 80);
    let allowed = HOSTILE.iter();
    let allowed = allowed.filter(|text| decide_command(&policy, text) != Action::Ask);
    let allowed: Vec<_> = allowed.collect();
    assert!(allowed.is_empty(), "{allowed:?}");
}

#[test]
fn the_commands_that_the_policy_means_are_allowed() {
    let policy = policy(COMMANDS);
    for text in BENIGN {
        assert_eq!(decide_command(&policy, text), Action::Allow, "{text:?}");
    }
}

#[test]
fn a_default_of_deny_denies_what_is_not_understood() {
    let policy = policy(&format!("default = \"deny\"\n{COMMANDS}"));
    for text in HOSTILE {
        assert_eq!(decide_command(&policy, text), Action::Deny, "{text:?}");
    }
}

#[test]
fn an_input_that_can_be_read_in_two_ways_is_not_allowed() {
    let policy = policy(COMMANDS);
    #[rustfmt::skip]
    let cases = [
        (r#"{"command":"git status"}"#,                                          Action::Allow),
        (r#"{"command":"git \u0073tatus"}"#,                                     Action::Allow),
        (r#"{"c\u006fmmand":"git status"}"#,                                     Action::Allow),
        (r#"{"command":"ls","description":"x","timeout":5,"run_in_background":true}"#, Action::Allow),
        (r#"{"command":"ls","command":"ls"}"#,                                   Action::Ask),
        (r#"{"command":"ls","c\u006fmmand":"rm x"}"#,                            Action::Ask),
        (r#"{"command":"ls","description":"a","description":"b"}"#,              Action::Ask),
        (r#"{"command":["ls"]}"#,                                                Action::Ask),
        (r#"{"command":{"command":"ls"}}"#,                                      Action::Ask),
        (r#"{"command":null}"#,                                                  Action::Ask),
        (r#"{"input":{"command":"ls"}}"#,                                        Action::Ask),
        ("{}",                                                                    Action::Ask),
        (r#"{"command":"ls","dangerouslyDisableSandbox":true}"#,                 Action::Ask),
        (r#"{"command":"ls","dangerouslyDisableSandbox":false}"#,                Action::Ask),
        (r#"{"command":"ls","sandbox":false}"#,                                  Action::Ask),
        (r#"{"command":"ls","cwd":"/"}"#,                                        Action::Ask),
        (r#"{"command":"ls","Command":"rm x"}"#,                                 Action::Ask),
        (r#"{"command":"ls \ud800"}"#,                                           Action::Ask),
        (r#"{"command":"ls\u0000"}"#,                                            Action::Ask),
        (r#"{"command":"ls\u000arm x"}"#,                                        Action::Ask),
        (r#"{"command":"ls"} {"command":"rm x"}"#,                               Action::Ask),
        (r#"{"command":"ls"},"#,                                                 Action::Ask),
        (r#"{"command":"ls""#,                                                   Action::Ask),
        (r#"["ls"]"#,                                                            Action::Ask),
        (r#""ls""#,                                                              Action::Ask),
        ("",                                                                     Action::Ask),
    ];
    for (input, wanted) in cases {
        let got = decide(&policy, "Bash", input, Path::new("/")).action;
        assert_eq!(got, wanted, "{input}");
    }
    let bytes = b"{\"command\":\"ls \xff\"}";
    let question = cr_policy::Question {
        tool: "Bash",
        input: bytes,
        cwd: Path::new("/"),
        blocked_path: None,
    };
    assert_eq!(policy.decide(&question).action, Action::Ask);
}
