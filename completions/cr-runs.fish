function _cr_runs_runs
    cr-runs ls -n 0 --quiet 2>/dev/null
end

# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_cr_runs_global_optspecs
    string join \n output-schema h/help V/version
end

function __fish_cr_runs_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_cr_runs_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_cr_runs_using_subcommand
    set -l cmd (__fish_cr_runs_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c cr-runs -n "__fish_cr_runs_needs_command" -l output-schema -d 'Print the JSON Schema of a run, as `ls --json` and `status --json` print it'
complete -c cr-runs -n "__fish_cr_runs_needs_command" -s h -l help -d 'Print help'
complete -c cr-runs -n "__fish_cr_runs_needs_command" -s V -l version -d 'Print version'
complete -c cr-runs -n "__fish_cr_runs_needs_command" -f -a "ls" -d 'List runs, the latest first'
complete -c cr-runs -n "__fish_cr_runs_needs_command" -f -a "status" -d 'Print the state of a run in one line'
complete -c cr-runs -n "__fish_cr_runs_needs_command" -f -a "wait" -d 'Wait for runs to end, print their summaries, end with the verdict'
complete -c cr-runs -n "__fish_cr_runs_needs_command" -f -a "tail" -d 'Show the progress of a run, and the cursor to continue from'
complete -c cr-runs -n "__fish_cr_runs_needs_command" -f -a "stop" -d 'Ask a run to end, and wait until it has'
complete -c cr-runs -n "__fish_cr_runs_needs_command" -f -a "path" -d 'Print the directory of a run'
complete -c cr-runs -n "__fish_cr_runs_needs_command" -f -a "prune" -d 'Remove old runs, those of cr-orchestrate among them'
complete -c cr-runs -n "__fish_cr_runs_needs_command" -f -a "config" -d 'Print every setting of claude-runner with its source'
complete -c cr-runs -n "__fish_cr_runs_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand ls" -s n -d 'How many; 0 is all' -r
complete -c cr-runs -n "__fish_cr_runs_using_subcommand ls" -l json -d 'Print one JSON object per run'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand ls" -s q -l quiet -d 'Print only ids, and names that are plain words, one per line'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand ls" -l running -d 'Only runs that are going on'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand ls" -s h -l help -d 'Print help'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand status" -l last -d 'The run that was started last'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand status" -l json -d 'A JSON object'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand status" -s h -l help -d 'Print help'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand wait" -l timeout -d 'Give up after this time: seconds, or 9m; 0 is never' -r
complete -c cr-runs -n "__fish_cr_runs_using_subcommand wait" -l last -d 'The run that was started last'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand wait" -l any -d 'Return when one of them has ended'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand wait" -s h -l help -d 'Print help'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand tail" -l since -d 'Show what came after this cursor' -r
complete -c cr-runs -n "__fish_cr_runs_using_subcommand tail" -l last -d 'The run that was started last'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand tail" -s f -l follow -d 'Continue until the run ends'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand tail" -s q -l quiet -d 'Show only commits, errors, limits and the end'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand tail" -s h -l help -d 'Print help'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand stop" -l last -d 'The run that was started last'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand stop" -l kill -d 'Kill the agent at once'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand stop" -s h -l help -d 'Print help'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand path" -l last -d 'The run that was started last'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand path" -s h -l help -d 'Print help'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand prune" -l older-than -d 'Remove runs that are older [default: 30d, or `keep_for` of the configuration]' -r
complete -c cr-runs -n "__fish_cr_runs_using_subcommand prune" -l keep-bytes -d 'Remove the oldest until the rest is smaller [default: 5000000000, or `keep_bytes` of the configuration]' -r
complete -c cr-runs -n "__fish_cr_runs_using_subcommand prune" -l dry-run -d 'Only print what would be removed'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand prune" -s h -l help -d 'Print help'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand config" -s h -l help -d 'Print help'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand help; and not __fish_seen_subcommand_from ls status wait tail stop path prune config help" -f -a "ls" -d 'List runs, the latest first'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand help; and not __fish_seen_subcommand_from ls status wait tail stop path prune config help" -f -a "status" -d 'Print the state of a run in one line'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand help; and not __fish_seen_subcommand_from ls status wait tail stop path prune config help" -f -a "wait" -d 'Wait for runs to end, print their summaries, end with the verdict'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand help; and not __fish_seen_subcommand_from ls status wait tail stop path prune config help" -f -a "tail" -d 'Show the progress of a run, and the cursor to continue from'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand help; and not __fish_seen_subcommand_from ls status wait tail stop path prune config help" -f -a "stop" -d 'Ask a run to end, and wait until it has'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand help; and not __fish_seen_subcommand_from ls status wait tail stop path prune config help" -f -a "path" -d 'Print the directory of a run'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand help; and not __fish_seen_subcommand_from ls status wait tail stop path prune config help" -f -a "prune" -d 'Remove old runs, those of cr-orchestrate among them'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand help; and not __fish_seen_subcommand_from ls status wait tail stop path prune config help" -f -a "config" -d 'Print every setting of claude-runner with its source'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand help; and not __fish_seen_subcommand_from ls status wait tail stop path prune config help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cr-runs -n "__fish_cr_runs_using_subcommand status" -f -a "(_cr_runs_runs)"
complete -c cr-runs -n "__fish_cr_runs_using_subcommand wait" -f -a "(_cr_runs_runs)"
complete -c cr-runs -n "__fish_cr_runs_using_subcommand tail" -f -a "(_cr_runs_runs)"
complete -c cr-runs -n "__fish_cr_runs_using_subcommand stop" -f -a "(_cr_runs_runs)"
complete -c cr-runs -n "__fish_cr_runs_using_subcommand path" -f -a "(_cr_runs_runs)"
