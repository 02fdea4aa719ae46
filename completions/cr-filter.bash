# Completions of cr-filter for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_cr_filter_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_cr_filter() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case $command:$prev in
    :--tee) return ;;
    :--time) _cr_filter_offer "$cur" < <(printf '%s\n' event now none) && return ;;
    :--format) _cr_filter_offer "$cur" < <(printf '%s\n' text github json) && return ;;
    :--width) return ;;
    :--limit) return ;;
    esac
    case $command:$cur in
    :-*) _cr_filter_offer "$cur" < <(printf '%s\n' --tee --time --format --verbose -v --quiet -q --width --limit --no-redact --redact-stream --output-schema --stats --help -h --version -V) ;;
    esac
}

complete -F _cr_filter -o bashdefault -o default cr-filter
