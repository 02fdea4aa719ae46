# Completions of cr-turns for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_cr_turns_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_cr_turns() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case $command:$prev in
    :--title) return ;;
    :--description) return ;;
    :--type) return ;;
    :--files) return ;;
    :--loc) return ;;
    :--min) return ;;
    :--max) return ;;
    :--project) return ;;
    esac
    case $command:$cur in
    :-*) _cr_turns_offer "$cur" < <(printf '%s\n' --title --description --type --files --loc --min --max --history --project --override --output-schema --help -h --version -V) ;;
    esac
}

complete -F _cr_turns -o bashdefault -o default cr-turns
