# Completions of cr-replay for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_cr_replay_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_cr_replay() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case $command:$prev in
    :--speed) return ;;
    :--fault) return ;;
    esac
    case $command:$cur in
    :-*) _cr_replay_offer "$cur" < <(printf '%s\n' --speed --instant --now --agent --fault --help -h --version -V) ;;
    esac
}

complete -F _cr_replay -o bashdefault -o default cr-replay
