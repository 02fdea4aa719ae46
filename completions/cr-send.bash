# Completions of cr-send for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_cr_send_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_cr_send_runs() {
    cr-runs ls -n 0 --quiet 2>/dev/null
}

_cr_send() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case $command:$prev in
    :--output) _cr_send_offer "$cur" < <(printf '%s\n' text json) && return ;;
    :--when) _cr_send_offer "$cur" < <(printf '%s\n' next idle now) && return ;;
    :--id) return ;;
    :--from) return ;;
    :--timeout) return ;;
    :--cancel) return ;;
    :--model) return ;;
    :--permission-mode) return ;;
    :--allow) return ;;
    :--deny) return ;;
    :--answer) return ;;
    :--stop-task) return ;;
    esac
    case $command:$cur in
    :-*) _cr_send_offer "$cur" < <(printf '%s\n' --last --json --output --when --id --from --wait --timeout --interrupt --cancel --model --permission-mode --context --asks --allow --always --deny --answer --stop-task --stop --help -h --version -V) ;;
    :*) _cr_send_offer "$cur" < <(_cr_send_runs) ;;
    esac
}

complete -F _cr_send -o bashdefault -o default cr-send
