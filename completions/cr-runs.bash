# Completions of cr-runs for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_cr_runs_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_cr_runs_runs() {
    cr-runs ls -n 0 --quiet 2>/dev/null
}

_cr_runs() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
        ls | status | wait | tail | stop | path | prune | config | help) command=$word && break ;;
        esac
    done
    case $command:$prev in
    ls:-n) return ;;
    wait:--timeout) return ;;
    tail:--since) return ;;
    prune:--older-than) return ;;
    prune:--keep-bytes) return ;;
    esac
    case $command:$cur in
    ls:-*) _cr_runs_offer "$cur" < <(printf '%s\n' -n --json --quiet -q --running --help -h) ;;
    status:-*) _cr_runs_offer "$cur" < <(printf '%s\n' --last --json --help -h) ;;
    status:*) _cr_runs_offer "$cur" < <(_cr_runs_runs) ;;
    wait:-*) _cr_runs_offer "$cur" < <(printf '%s\n' --last --any --timeout --help -h) ;;
    wait:*) _cr_runs_offer "$cur" < <(_cr_runs_runs) ;;
    tail:-*) _cr_runs_offer "$cur" < <(printf '%s\n' --last --follow -f --since --quiet -q --help -h) ;;
    tail:*) _cr_runs_offer "$cur" < <(_cr_runs_runs) ;;
    stop:-*) _cr_runs_offer "$cur" < <(printf '%s\n' --last --kill --help -h) ;;
    stop:*) _cr_runs_offer "$cur" < <(_cr_runs_runs) ;;
    path:-*) _cr_runs_offer "$cur" < <(printf '%s\n' --last --help -h) ;;
    path:*) _cr_runs_offer "$cur" < <(_cr_runs_runs) ;;
    prune:-*) _cr_runs_offer "$cur" < <(printf '%s\n' --older-than --keep-bytes --dry-run --help -h) ;;
    config:-*) _cr_runs_offer "$cur" < <(printf '%s\n' --help -h) ;;
    help:-*) _cr_runs_offer "$cur" < <(printf '%s\n' ) ;;
    help:*) _cr_runs_offer "$cur" < <(printf '%s\n' ls status wait tail stop path prune config help) ;;
    :-*) _cr_runs_offer "$cur" < <(printf '%s\n' --output-schema --help -h --version -V) ;;
    :*) _cr_runs_offer "$cur" < <(printf '%s\n' ls status wait tail stop path prune config help) ;;
    esac
}

complete -F _cr_runs -o bashdefault -o default cr-runs
