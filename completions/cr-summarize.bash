# Completions of cr-summarize for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_cr_summarize_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_cr_summarize() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case $command:$prev in
    :--context-window) return ;;
    :--prices) return ;;
    :--run-dir) return ;;
    :--max-line) return ;;
    esac
    case $command:$cur in
    :-*) _cr_summarize_offer "$cur" < <(printf '%s\n' --full --pretty --delimiter --per-session --total --no-subagents --context-window --estimate-cost --prices --run-dir --tee --read-on --output-schema --max-line --no-redact --help -h --version -V) ;;
    esac
}

complete -F _cr_summarize -o bashdefault -o default cr-summarize
