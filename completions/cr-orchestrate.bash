# Completions of cr-orchestrate for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_cr_orchestrate_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_cr_orchestrate_models() {
    printf '%s\n' haiku opus sonnet
}

_cr_orchestrate_orchestrated_runs() {
    cr-orchestrate status --runs 2>/dev/null
}

_cr_orchestrate_tasks() {
    local i plan=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == --resume-run ]]; then
            plan=(--resume-run "${COMP_WORDS[i+1]}")
            break
        elif [[ ${COMP_WORDS[i]} != -* && -e ${COMP_WORDS[i]} ]]; then
            plan=(-- "${COMP_WORDS[i]}")
        fi
    done
    cr-orchestrate --dry-run --quiet "${plan[@]}" 2>/dev/null
}

_cr_orchestrate() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
        status | gc | help) command=$word && break ;;
        esac
    done
    case $command:$prev in
    :--resume-run) _cr_orchestrate_offer "$cur" < <(_cr_orchestrate_orchestrated_runs) && return ;;
    :--max-agents | :-j) return ;;
    :--isolation) _cr_orchestrate_offer "$cur" < <(printf '%s\n' worktree shared) && return ;;
    :--sandbox-network) _cr_orchestrate_offer "$cur" < <(printf '%s\n' host none) && return ;;
    :--sandbox-read) return ;;
    :--sandbox-write) return ;;
    :--into) return ;;
    :--on-merged) return ;;
    :--until) _cr_orchestrate_offer "$cur" < <(_cr_orchestrate_tasks) && return ;;
    :--break) _cr_orchestrate_offer "$cur" < <(_cr_orchestrate_tasks) && return ;;
    :--retries) return ;;
    :--models) return ;;
    :--max-wait) return ;;
    :--backoff) return ;;
    :--budget) return ;;
    :--again) _cr_orchestrate_offer "$cur" < <(_cr_orchestrate_tasks) && return ;;
    :--milestone) return ;;
    :--cwd | :-C) return ;;
    :--model | :-m) _cr_orchestrate_offer "$cur" < <(_cr_orchestrate_models) && return ;;
    :--permission-mode) return ;;
    :--max-turns) return ;;
    :--max-budget) return ;;
    :--timeout) return ;;
    :--timeout-multiplier) return ;;
    gc:--older-than) return ;;
    esac
    case $command:$cur in
    status:-*) _cr_orchestrate_offer "$cur" < <(printf '%s\n' --json --quiet -q --runs --help -h) ;;
    status:*) _cr_orchestrate_offer "$cur" < <(_cr_orchestrate_orchestrated_runs) ;;
    gc:-*) _cr_orchestrate_offer "$cur" < <(printf '%s\n' --older-than --help -h) ;;
    help:-*) _cr_orchestrate_offer "$cur" < <(printf '%s\n' ) ;;
    help:*) _cr_orchestrate_offer "$cur" < <(printf '%s\n' status gc help) ;;
    :-*) _cr_orchestrate_offer "$cur" < <(printf '%s\n' --resume-run --max-agents -j --isolation --sandbox --sandbox-network --sandbox-read --sandbox-write --into --on-merged --dry-run --json --until --break --halt --sprint --retries --models --max-wait --backoff --budget --again --milestone --rerun-lost --accept-changed --report --quiet -q --output-schema --task-schema --cwd -C --model -m --permission-mode --max-turns --max-budget --timeout --timeout-multiplier --help -h --version -V) ;;
    :*) _cr_orchestrate_offer "$cur" < <(printf '%s\n' status gc help) ;;
    esac
}

complete -F _cr_orchestrate -o bashdefault -o default cr-orchestrate
