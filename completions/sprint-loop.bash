# Completions of sprint-loop for bash, made by scripts/completions.

# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
_sprint_loop_offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_sprint_loop_models() {
    printf '%s\n' haiku opus sonnet
}

_sprint_loop_orchestrated_runs() {
    cr-orchestrate status --runs 2>/dev/null
}

_sprint_loop_tasks() {
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

_sprint_loop() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
        gc | status | help) command=$word && break ;;
        esac
    done
    case $command:$prev in
    :--resume-run) _sprint_loop_offer "$cur" < <(_sprint_loop_orchestrated_runs) && return ;;
    :--until) _sprint_loop_offer "$cur" < <(_sprint_loop_tasks) && return ;;
    :--break) _sprint_loop_offer "$cur" < <(_sprint_loop_tasks) && return ;;
    :--retries) return ;;
    :--models) return ;;
    :--max-wait) return ;;
    :--backoff) return ;;
    :--budget) return ;;
    :--again) _sprint_loop_offer "$cur" < <(_sprint_loop_tasks) && return ;;
    :--milestone) return ;;
    :--cwd | :-C) return ;;
    :--model | :-m) _sprint_loop_offer "$cur" < <(_sprint_loop_models) && return ;;
    :--permission-mode) return ;;
    :--max-turns) return ;;
    :--max-budget) return ;;
    :--timeout) return ;;
    :--timeout-multiplier) return ;;
    gc:--older-than) return ;;
    esac
    case $command:$cur in
    gc:-*) _sprint_loop_offer "$cur" < <(printf '%s\n' --older-than --help -h) ;;
    status:-*) _sprint_loop_offer "$cur" < <(printf '%s\n' --json --quiet -q --runs --help -h) ;;
    status:*) _sprint_loop_offer "$cur" < <(_sprint_loop_orchestrated_runs) ;;
    help:-*) _sprint_loop_offer "$cur" < <(printf '%s\n' ) ;;
    help:*) _sprint_loop_offer "$cur" < <(printf '%s\n' gc status help) ;;
    :-*) _sprint_loop_offer "$cur" < <(printf '%s\n' --resume-run --dry-run --json --until --break --halt --retries --models --max-wait --backoff --budget --again --milestone --rerun-lost --accept-changed --quiet -q --output-schema --task-schema --cwd -C --model -m --permission-mode --max-turns --max-budget --timeout --timeout-multiplier --help -h --version -V) ;;
    :*) _sprint_loop_offer "$cur" < <(printf '%s\n' gc status help) ;;
    esac
}

complete -F _sprint_loop -o bashdefault -o default sprint-loop
