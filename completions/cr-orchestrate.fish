function _cr_orchestrate_models
    printf '%s\n' haiku opus sonnet
end

function _cr_orchestrate_orchestrated_runs
    cr-orchestrate status --runs 2>/dev/null
end

function _cr_orchestrate_tasks
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
function __fish_cr_orchestrate_global_optspecs
    string join \n resume-run= j/max-agents= isolation= sandbox sandbox-network= sandbox-read= sandbox-write= into= on-merged= dry-run json until= break= halt sprint retries= models= max-wait= backoff= budget= again= milestone= rerun-lost accept-changed report q/quiet output-schema task-schema C/cwd= m/model= permission-mode= max-turns= max-budget= timeout= timeout-multiplier= h/help V/version
end

function __fish_cr_orchestrate_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_cr_orchestrate_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_cr_orchestrate_using_subcommand
    set -l cmd (not __fish_seen_subcommand_from status gc help)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l resume-run -d 'Continue this run; a PLAN replaces the tasks that are not done yet' -r -f -a "(_cr_orchestrate_orchestrated_runs)"
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -s j -l max-agents -d 'How many agents may work at the same time [default: 1]' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l isolation -d 'Where agents work [default: worktree with more than one agent or --sandbox, else shared]' -r -f -a "worktree\t'A worktree for each attempt'
shared\t'All in one work tree'"
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l sandbox-network -d 'The network in the sandbox [default: host]' -r -f -a "host\t'That of the host'
none\t'None at all'"
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l sandbox-read -d 'Let the sandbox read this file or directory, too; may be repeated' -r -F
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l sandbox-write -d 'Let the sandbox write this file or directory, too; may be repeated' -r -F
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l into -d 'Bring the merged work into this branch when all tasks are done' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l on-merged -d 'Run this shell command when all tasks are done and merged, once' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l until -d 'Stop when this task is done' -r -f -a "(_cr_orchestrate_tasks)"
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l break -d 'Stop before this task, once; may be repeated' -r -f -a "(_cr_orchestrate_tasks)"
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l retries -d 'Retry a failed task up to N times [default: 2]' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l models -d 'The models in this order: when the retries with one are used up, or an agent takes more than 50 turns without the commit that its task requires, the next one gets a new session and 1.5 times the budget. A task with a model of its own begins with that' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l max-wait -d 'The longest wait for a limit to reset [default: as long as it takes]' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l backoff -d 'The pauses while the service is overloaded or cannot be reached [default: 1s,5s,30s]' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l budget -d 'What all attempts may use together: dollars, tokens (2Mtokens), or per cent of the account\'s window of five hours (80%). An attempt starts only if it fits. [default: 1.5 times the sum of the tasks\' budgets, if all have one]' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l again -d 'Try this task again, with TEXT as an answer to it; may be repeated' -r -f -a "(_cr_orchestrate_tasks)"
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l milestone -d 'Run the tasks in the session of this milestone; cr-ledger milestone starts one' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -s C -l cwd -d 'The working directory' -r -F
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -s m -l model -d 'The model' -r -f -a "(_cr_orchestrate_models)"
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l permission-mode -d 'default, acceptEdits, plan, dontAsk, bypassPermissions, …' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l max-turns -d 'The turn limit of a first attempt [default: 100]' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l max-budget -d 'The budget of a first attempt, in dollars' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l timeout -d 'The time limit of a first attempt [default: the estimate times --timeout-multiplier, else `task_timeout` of the configuration, 2h]' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l timeout-multiplier -d 'The time limit of a task that has an estimate, as a multiple of it' -r
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l sandbox -d 'Run each agent, and the commands of the plan, in a sandbox of bubblewrap: writable are its worktree, its branch and a private home'
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l dry-run -d 'Print the schedule, and start nothing: the order of the tasks, what each waits for, which may change the same files, what the first attempts may cost, how long it takes'
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l json -d 'Print a line of JSON for each change of the run, a wave or a task, and no table at the end; with --dry-run, print the schedule as JSON'
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l halt -d 'Start no other task after one has failed'
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l sprint -d 'Ask each agent to report its status as JSON, and use it as the result'
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l rerun-lost -d 'Retry attempts that were cut off without a record of how they ended'
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l accept-changed -d 'Accept tasks that are done although the plan has changed them since'
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l report -d 'Print the report at the end instead of a table'
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -s q -l quiet -d 'Write no sentences to standard error, and no table; with --dry-run print only the ids'
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l output-schema -d 'Print the JSON Schema of a line of standard output, and do nothing else'
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -l task-schema -d 'Print the JSON Schema of a task, and do nothing else'
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-orchestrate -n "not __fish_seen_subcommand_from status gc help" -s V -l version -d 'Print version'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -a "status" -d 'Print the state of each task of a run'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -a "gc" -d 'Remove worktrees and branches of tasks that runs have left'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand status" -l json -d 'Print one JSON object for each task'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand status" -s q -l quiet -d 'Print only the ids of the tasks'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand status" -l runs -d 'Print the ids of all runs, the latest first'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand status" -s h -l help -d 'Print help'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand gc" -l older-than -d 'Only those in which nothing has happened for so long' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand gc" -s h -l help -d 'Print help'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from status gc help" -f -a "status" -d 'Print the state of each task of a run'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from status gc help" -f -a "gc" -d 'Remove worktrees and branches of tasks that runs have left'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from status gc help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand status" -f -a "(_cr_orchestrate_orchestrated_runs)"
