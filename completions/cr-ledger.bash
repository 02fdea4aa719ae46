# Completions of cr-ledger for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_cr_ledger_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_cr_ledger() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
        record | refresh | milestone | import | report | merge | forget | export | sql | task-turns | next | backtest | quota | budget | help) command=$word && break ;;
        esac
    done
    case $command:$prev in
    :--ledger) return ;;
    record:--task) return ;;
    record:--task-type) return ;;
    record:--milestone) return ;;
    refresh:--session) return ;;
    refresh:--transcript) return ;;
    refresh:--summarizer) return ;;
    refresh:--summarizer-timeout) return ;;
    refresh:--limit) return ;;
    report:--by) _cr_ledger_offer "$cur" < <(printf '%s\n' day project model session milestone tool hour) && return ;;
    report:--since) return ;;
    report:--until) return ;;
    report:--top) return ;;
    report:--project) return ;;
    report:--model) return ;;
    forget:--project) return ;;
    forget:--before) return ;;
    task-turns:--project) return ;;
    task-turns:--type) return ;;
    next:--session) return ;;
    next:--milestone) return ;;
    next:--project) return ;;
    next:--warn) return ;;
    next:--refresh) return ;;
    next:--emergency) return ;;
    next:--context-window) return ;;
    next:--at) return ;;
    backtest:--project) return ;;
    backtest:--warn) return ;;
    backtest:--refresh) return ;;
    backtest:--emergency) return ;;
    backtest:--at) return ;;
    quota:--at) return ;;
    esac
    case $command:$cur in
    record:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --task --task-type --milestone --help -h) ;;
    refresh:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --session --transcript --summarizer --summarizer-timeout --limit --json --help -h) ;;
    milestone:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --help -h) ;;
    milestone:*) _cr_ledger_offer "$cur" < <(printf '%s\n' start end show ls help) ;;
    import:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --dry-run --json --help -h) ;;
    report:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --by --since --until --top --project --model --json --output-schema --help -h) ;;
    merge:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --help -h) ;;
    forget:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --project --before --dry-run --help -h) ;;
    export:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --help -h) ;;
    export:*) _cr_ledger_offer "$cur" < <(printf '%s\n' usage messages sessions context runs turns tasks milestones quota tools) ;;
    sql:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --help -h) ;;
    task-turns:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --project --type --help -h) ;;
    next:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --session --milestone --project --output-schema --warn --refresh --emergency --context-window --live --at --help -h) ;;
    backtest:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --project --json --warn --refresh --emergency --at --help -h) ;;
    quota:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --json --at --help -h) ;;
    budget:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --help -h) ;;
    budget:*) _cr_ledger_offer "$cur" < <(printf '%s\n' set show remove check help) ;;
    help:-*) _cr_ledger_offer "$cur" < <(printf '%s\n' ) ;;
    help:*) _cr_ledger_offer "$cur" < <(printf '%s\n' record refresh milestone import report merge forget export sql task-turns next backtest quota budget help) ;;
    :-*) _cr_ledger_offer "$cur" < <(printf '%s\n' --ledger --help -h --version -V) ;;
    :*) _cr_ledger_offer "$cur" < <(printf '%s\n' record refresh milestone import report merge forget export sql task-turns next backtest quota budget help) ;;
    esac
}

complete -F _cr_ledger -o bashdefault -o default cr-ledger
