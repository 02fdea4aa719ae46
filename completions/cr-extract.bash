# Completions of cr-extract for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_cr_extract_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_cr_extract() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case $command:$prev in
    :--from) _cr_extract_offer "$cur" < <(printf '%s\n' auto stream summary report text) && return ;;
    :--schema) return ;;
    :--max-line) return ;;
    esac
    case $command:$cur in
    :-*) _cr_extract_offer "$cur" < <(printf '%s\n' --from --text --verdict --first --last --all --schema --check --strict --compact --verbose -v --output-schema --max-line --help -h --version -V) ;;
    esac
}

complete -F _cr_extract -o bashdefault -o default cr-extract
