function _sprint_loop_models
    printf '%s\n' haiku opus sonnet
end

function _sprint_loop_orchestrated_runs
    cr-orchestrate status --runs 2>/dev/null
end

function _sprint_loop_tasks
set -l words (commandline -opc)
    set -l plan
    if set -l i (contains -i -- --resume-run $words)
        set -- plan --resume-run $words[(math $i + 1)]
    else
        for word in $words[2..]
            if not string match -q -- '-*' $word; and test -e $word
                set -- plan -- $word
            end
        end
    end
    cr-orchestrate --dry-run --quiet $plan 2>/dev/null
end

# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_sprint_loop_global_optspecs
    string join \n resume-run= dry-run json until= break= halt retries= models= max-wait= backoff= budget= again= milestone= rerun-lost accept-changed q/quiet output-schema task-schema C/cwd= m/model= permission-mode= max-turns= max-budget= timeout= timeout-multiplier= h/help V/version
end

function __fish_sprint_loop_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_sprint_loop_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_sprint_loop_using_subcommand
    set -l cmd (not __fish_seen_subcommand_from gc status help)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l resume-run -d 'Continue this run; a PLAN replaces the steps that are not done yet' -r -f -a "(_sprint_loop_orchestrated_runs)"
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l until -d 'Stop when this step is done' -r -f -a "(_sprint_loop_tasks)"
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l break -d 'Stop before this step, once; may be repeated' -r -f -a "(_sprint_loop_tasks)"
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l retries -d 'Retry a failed step up to N times [default: 2]' -r
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l models -d 'The models in this order: when the retries with one are used up, or an agent takes more than 50 turns without the commit that its step requires, the next one gets a new session and 1.5 times the budget. A step with a model of its own begins with that' -r
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l max-wait -d 'The longest wait for a limit to reset [default: as long as it takes]' -r
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l backoff -d 'The pauses while the service is overloaded or cannot be reached [default: 1s,5s,30s]' -r
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l budget -d 'What all attempts may use together: dollars, tokens (2Mtokens), or per cent of the account\'s window of five hours (80%). An attempt starts only if it fits. [default: 1.5 times the sum of the steps\' budgets, if all have one]' -r
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l again -d 'Try this step again, with TEXT as an answer to it; may be repeated' -r -f -a "(_sprint_loop_tasks)"
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l milestone -d 'Run the steps in the session of this milestone; cr-ledger milestone starts one' -r
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -s C -l cwd -d 'The working directory' -r -F
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -s m -l model -d 'The model' -r -f -a "(_sprint_loop_models)"
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l permission-mode -d 'default, acceptEdits, plan, dontAsk, bypassPermissions, …' -r
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l max-turns -d 'The turn limit of a first attempt [default: 100]' -r
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l max-budget -d 'The budget of a first attempt, in dollars' -r
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l timeout -d 'The time limit of a first attempt [default: the estimate times --timeout-multiplier, else `step_timeout` of the configuration, 2h]' -r
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l timeout-multiplier -d 'The time limit of a step that has an estimate, as a multiple of it' -r
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l dry-run -d 'Print the schedule, and start nothing: the order of the steps, what each waits for, which may change the same files, what the first attempts may cost, how long it takes'
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l json -d 'Print a line of JSON for each change of the run, a wave or a step, and no table at the end; with --dry-run, print the schedule as JSON'
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l halt -d 'Start no other step after one has failed'
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l rerun-lost -d 'Retry attempts that were cut off without a record of how they ended'
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l accept-changed -d 'Accept steps that are done although the plan has changed them since'
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -s q -l quiet -d 'Write no sentences to standard error, and no table; with --dry-run print only the ids'
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l output-schema -d 'Print the JSON Schema of a line of standard output, and do nothing else'
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -l task-schema -d 'Print the JSON Schema of a step, and do nothing else'
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -s h -l help -d 'Print help'
complete -c sprint-loop -n "not __fish_seen_subcommand_from gc status help" -s V -l version -d 'Print version'
complete -c sprint-loop -n "__fish_sprint_loop_needs_command" -a "gc" -d 'Remove worktrees and branches of tasks that runs have left'
complete -c sprint-loop -n "__fish_sprint_loop_needs_command" -a "status" -d 'Print the state of each step of a run'
complete -c sprint-loop -n "__fish_sprint_loop_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sprint-loop -n "__fish_sprint_loop_using_subcommand gc" -l older-than -d 'Only those in which nothing has happened for so long' -r
complete -c sprint-loop -n "__fish_sprint_loop_using_subcommand gc" -s h -l help -d 'Print help'
complete -c sprint-loop -n "__fish_sprint_loop_using_subcommand status" -l json -d 'Print one JSON object for each step'
complete -c sprint-loop -n "__fish_sprint_loop_using_subcommand status" -s q -l quiet -d 'Print only the ids of the steps'
complete -c sprint-loop -n "__fish_sprint_loop_using_subcommand status" -l runs -d 'Print the ids of all runs, the latest first'
complete -c sprint-loop -n "__fish_sprint_loop_using_subcommand status" -s h -l help -d 'Print help'
complete -c sprint-loop -n "__fish_sprint_loop_using_subcommand help; and not __fish_seen_subcommand_from gc status help" -f -a "gc" -d 'Remove worktrees and branches of tasks that runs have left'
complete -c sprint-loop -n "__fish_sprint_loop_using_subcommand help; and not __fish_seen_subcommand_from gc status help" -f -a "status" -d 'Print the state of each step of a run'
complete -c sprint-loop -n "__fish_sprint_loop_using_subcommand help; and not __fish_seen_subcommand_from gc status help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sprint-loop -n "__fish_sprint_loop_using_subcommand status" -f -a "(_sprint_loop_orchestrated_runs)"
