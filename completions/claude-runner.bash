# Completions of claude-runner for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_claude_runner_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_claude_runner_models() {
    printf '%s\n' haiku opus sonnet
}

_claude_runner_runs() {
    cr-runs ls -n 0 --quiet 2>/dev/null
}

_claude_runner() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case $command:$prev in
    :--output) _claude_runner_offer "$cur" < <(printf '%s\n' report summary answer stream) && return ;;
    :--limit) return ;;
    :--retry) return ;;
    :--max-wait) return ;;
    :--resume-run) _claude_runner_offer "$cur" < <(_claude_runner_runs) && return ;;
    :--milestone) return ;;
    :--plan) return ;;
    :--prompt | :-p) return ;;
    :--prompt-file) return ;;
    :--resume | :-r) return ;;
    :--cwd | :-C) return ;;
    :--model | :-m) _claude_runner_offer "$cur" < <(_claude_runner_models) && return ;;
    :--fallback-model) _claude_runner_offer "$cur" < <(_claude_runner_models) && return ;;
    :--max-turns) return ;;
    :--max-budget) return ;;
    :--system-prompt) return ;;
    :--system-prompt-file) return ;;
    :--allowed-tools) return ;;
    :--disallowed-tools) return ;;
    :--permission-mode) return ;;
    :--json-schema) return ;;
    :--session-id) return ;;
    :--timeout) return ;;
    :--startup-timeout) return ;;
    :--idle-timeout) return ;;
    :--tool-timeout) return ;;
    :--turn-timeout) return ;;
    :--post-result-grace) return ;;
    :--grace) return ;;
    :--input) _claude_runner_offer "$cur" < <(printf '%s\n' text stream) && return ;;
    :--until-field) return ;;
    :--turn-timeout-action) _claude_runner_offer "$cur" < <(printf '%s\n' interrupt end) && return ;;
    :--wake-timeout) return ;;
    :--ask-policy) return ;;
    :--ask-cmd) return ;;
    :--ask-timeout) return ;;
    :--run-dir) return ;;
    :--output-file) return ;;
    :--name) return ;;
    :--claude) return ;;
    :--max-line) return ;;
    :--max-record) return ;;
    esac
    case $command:$cur in
    :-*) _claude_runner_offer "$cur" < <(printf '%s\n' --output --json --limit --quiet -q --no-ledger --detach --retry --max-wait --resume-run --milestone --plan --prompt -p --prompt-file --resume -r --continue -c --cwd -C --model -m --fallback-model --max-turns --max-budget --system-prompt --system-prompt-file --allowed-tools --disallowed-tools --permission-mode --dangerously-skip-permissions --json-schema --session-id --fork-session --partial-messages --no-session-persistence --background --timeout --startup-timeout --idle-timeout --tool-timeout --turn-timeout --post-result-grace --grace --input --keep-open --accept-peers --until-field --turn-timeout-action --wake-timeout --ask --ask-policy --ask-cmd --ask-timeout --keep-children --isolate --run-dir --no-record --output-file --name --claude --max-line --max-record --help -h --version -V) ;;
    esac
}

complete -F _claude_runner -o bashdefault -o default claude-runner
