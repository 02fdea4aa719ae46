# Completions of cr-git for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_cr_git_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_cr_git() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
        start | end | scope | lock | help) command=$word && break ;;
        esac
    done
    case $command:$prev in
    start:--cwd) return ;;
    start:--run-dir) return ;;
    start:--git-timeout) return ;;
    end:--start-sha) return ;;
    end:--start) return ;;
    end:--noted) return ;;
    end:--cwd) return ;;
    end:--run-dir) return ;;
    end:--git-timeout) return ;;
    scope:--allow) return ;;
    scope:--base) return ;;
    scope:--stream) return ;;
    scope:--cwd) return ;;
    scope:--git-timeout) return ;;
    lock:--wait) return ;;
    lock:--cwd) return ;;
    lock:--git-timeout) return ;;
    esac
    case $command:$cur in
    start:-*) _cr_git_offer "$cur" < <(printf '%s\n' --cwd --run-dir --git-timeout --help -h) ;;
    end:-*) _cr_git_offer "$cur" < <(printf '%s\n' --start-sha --start --noted --cwd --run-dir --git-timeout --help -h) ;;
    scope:-*) _cr_git_offer "$cur" < <(printf '%s\n' --allow --base --stream --cwd --git-timeout --help -h) ;;
    lock:-*) _cr_git_offer "$cur" < <(printf '%s\n' --wait --break-stale-lock --cwd --git-timeout --help -h) ;;
    help:-*) _cr_git_offer "$cur" < <(printf '%s\n' ) ;;
    help:*) _cr_git_offer "$cur" < <(printf '%s\n' start end scope lock help) ;;
    :-*) _cr_git_offer "$cur" < <(printf '%s\n' --help -h --version -V) ;;
    :*) _cr_git_offer "$cur" < <(printf '%s\n' start end scope lock help) ;;
    esac
}

complete -F _cr_git -o bashdefault -o default cr-git
