# Completions of cr-relay for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_cr_relay_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_cr_relay_models() {
    printf '%s\n' haiku opus sonnet
}

_cr_relay() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
        near | far | help) command=$word && break ;;
        esac
    done
    case $command:$prev in
    near:--executor-cmd) return ;;
    near:--far-program) return ;;
    near:--lease) return ;;
    near:--pass-env) return ;;
    near:--prompt | near:-p) return ;;
    near:--prompt-file) return ;;
    near:--resume | near:-r) return ;;
    near:--cwd | near:-C) return ;;
    near:--model | near:-m) _cr_relay_offer "$cur" < <(_cr_relay_models) && return ;;
    near:--fallback-model) _cr_relay_offer "$cur" < <(_cr_relay_models) && return ;;
    near:--max-turns) return ;;
    near:--max-budget) return ;;
    near:--system-prompt) return ;;
    near:--system-prompt-file) return ;;
    near:--allowed-tools) return ;;
    near:--disallowed-tools) return ;;
    near:--permission-mode) return ;;
    near:--json-schema) return ;;
    near:--session-id) return ;;
    near:--timeout) return ;;
    near:--startup-timeout) return ;;
    near:--idle-timeout) return ;;
    near:--tool-timeout) return ;;
    near:--turn-timeout) return ;;
    near:--post-result-grace) return ;;
    near:--grace) return ;;
    near:--input) _cr_relay_offer "$cur" < <(printf '%s\n' text stream) && return ;;
    near:--until-field) return ;;
    near:--turn-timeout-action) _cr_relay_offer "$cur" < <(printf '%s\n' interrupt end) && return ;;
    near:--wake-timeout) return ;;
    near:--ask-policy) return ;;
    near:--ask-cmd) return ;;
    near:--ask-timeout) return ;;
    near:--watch-pid) return ;;
    near:--run-dir) return ;;
    near:--output-file) return ;;
    near:--name) return ;;
    near:--claude) return ;;
    near:--max-line) return ;;
    near:--max-record) return ;;
    esac
    case $command:$cur in
    near:-*) _cr_relay_offer "$cur" < <(printf '%s\n' --executor-cmd --far-program --lease --pass-env --fast-forward --prompt -p --prompt-file --resume -r --continue -c --cwd -C --model -m --fallback-model --max-turns --max-budget --system-prompt --system-prompt-file --allowed-tools --disallowed-tools --permission-mode --dangerously-skip-permissions --json-schema --session-id --fork-session --partial-messages --no-session-persistence --background --timeout --startup-timeout --idle-timeout --tool-timeout --turn-timeout --post-result-grace --grace --input --keep-open --accept-peers --until-field --turn-timeout-action --wake-timeout --ask --ask-policy --ask-cmd --ask-timeout --keep-children --isolate --watch-pid --run-dir --no-record --output-file --name --claude --max-line --max-record --help -h --version -V) ;;
    far:-*) _cr_relay_offer "$cur" < <(printf '%s\n' --help -h) ;;
    help:-*) _cr_relay_offer "$cur" < <(printf '%s\n' ) ;;
    help:*) _cr_relay_offer "$cur" < <(printf '%s\n' near far help) ;;
    :-*) _cr_relay_offer "$cur" < <(printf '%s\n' --help -h --version -V) ;;
    :*) _cr_relay_offer "$cur" < <(printf '%s\n' near far help) ;;
    esac
}

complete -F _cr_relay -o bashdefault -o default cr-relay
