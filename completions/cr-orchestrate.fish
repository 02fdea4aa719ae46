# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_cr_orchestrate_global_optspecs
    string join \n resume-run= dry-run until= break= halt sprint retries= max-wait= backoff= again= rerun-lost accept-changed report q/quiet C/cwd= m/model= permission-mode= max-turns= max-budget= timeout= h/help V/version
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
    set -l cmd (__fish_cr_orchestrate_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l resume-run -d 'Continue this run; a PLAN replaces the tasks that are not done yet' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l until -d 'Stop when this task is done' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l break -d 'Stop before this task, once; may be repeated' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l retries -d 'Retry a failed task up to N times [default: 2]' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l max-wait -d 'The longest wait for a limit to reset [default: as long as it takes]' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l backoff -d 'The pauses while the service is overloaded or cannot be reached [default: 1s,5s,30s]' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l again -d 'Try this task again, with TEXT as an answer to it; may be repeated' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -s C -l cwd -d 'The working directory' -r -F
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -s m -l model -d 'The model' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l permission-mode -d 'default, acceptEdits, plan, dontAsk, bypassPermissions, …' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l max-turns -d 'The turn limit of a first attempt [default: 100]' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l max-budget -d 'The budget of a first attempt, in dollars' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l timeout -d 'The time limit of a first attempt [default: twice the estimate, else 2h]' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l dry-run -d 'Print the tasks that would run, in their order'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l halt -d 'Start no other task after one has failed'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l sprint -d 'Ask each agent to report its status as JSON, and use it as the result'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l rerun-lost -d 'Retry attempts that were cut off without a record of how they ended'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l accept-changed -d 'Accept tasks that are done although the plan has changed them since'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -l report -d 'Print the report at the end instead of a line for each change'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -s q -l quiet -d 'Write no sentences to standard error'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -s V -l version -d 'Print version'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -a "status" -d 'Print the state of each task of a run'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -a "attempt" -d 'One attempt, in a process of its own'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -a "retry" -d 'One task, for `claude-runner --retry`: its attempts as one stream'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand status" -l json -d 'Print one JSON object for each task'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand status" -s h -l help -d 'Print help'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand attempt" -l watch-pid -d 'End the agent when this process ends' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand attempt" -s h -l help -d 'Print help'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand retry" -l dir -d 'The run directory' -r -F
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand retry" -l retries -d 'Retry up to N times' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand retry" -l max-wait -d 'The longest wait for a limit to reset' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand retry" -l control-fd -d 'Obey the starter\'s messages on this descriptor, and end with the starter' -r
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand retry" -s h -l help -d 'Print help'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from status attempt retry help" -f -a "status" -d 'Print the state of each task of a run'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from status attempt retry help" -f -a "attempt" -d 'One attempt, in a process of its own'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from status attempt retry help" -f -a "retry" -d 'One task, for `claude-runner --retry`: its attempts as one stream'
complete -c cr-orchestrate -n "__fish_cr_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from status attempt retry help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
