# Completions of cr-serve for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_cr_serve_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_cr_serve() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case $command:$prev in
    :--port) return ;;
    :--public-url) return ;;
    :--max-clients) return ;;
    :--export) return ;;
    esac
    case $command:$cur in
    :-*) _cr_serve_offer "$cur" < <(printf '%s\n' --port --public-url --max-clients --allow-control --export --help -h --version -V) ;;
    esac
}

complete -F _cr_serve -o bashdefault -o default cr-serve
