# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_cr_git_global_optspecs
    string join \n h/help V/version
end

function __fish_cr_git_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_cr_git_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_cr_git_using_subcommand
    set -l cmd (__fish_cr_git_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c cr-git -n "__fish_cr_git_needs_command" -s h -l help -d 'Print help'
complete -c cr-git -n "__fish_cr_git_needs_command" -s V -l version -d 'Print version'
complete -c cr-git -n "__fish_cr_git_needs_command" -f -a "start" -d 'Print the state of the repository as one line'
complete -c cr-git -n "__fish_cr_git_needs_command" -f -a "end" -d 'Pass a stream on and add a line with the changes before its last line'
complete -c cr-git -n "__fish_cr_git_needs_command" -f -a "scope" -d 'Print the files that a run changed outside the allowed paths'
complete -c cr-git -n "__fish_cr_git_needs_command" -f -a "lock" -d 'Run a command while holding the repository\'s lock'
complete -c cr-git -n "__fish_cr_git_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cr-git -n "__fish_cr_git_using_subcommand start" -l cwd -d 'Look at the repository that DIR is in' -r -F
complete -c cr-git -n "__fish_cr_git_using_subcommand start" -l run-dir -d 'Also write the line to a file in DIR: start.json, or git.json for `end`' -r -F
complete -c cr-git -n "__fish_cr_git_using_subcommand start" -l git-timeout -d 'Longest time for one call of git; 0 is no limit' -r
complete -c cr-git -n "__fish_cr_git_using_subcommand start" -s h -l help -d 'Print help'
complete -c cr-git -n "__fish_cr_git_using_subcommand end" -l start-sha -d 'The commit to compare with, if the stream has no start line' -r
complete -c cr-git -n "__fish_cr_git_using_subcommand end" -l start -d 'A file with the start line, if the stream has none' -r -F
complete -c cr-git -n "__fish_cr_git_using_subcommand end" -l noted -d 'Attribute the commits whose ids are in FILE to the agent' -r -F
complete -c cr-git -n "__fish_cr_git_using_subcommand end" -l cwd -d 'Look at the repository that DIR is in' -r -F
complete -c cr-git -n "__fish_cr_git_using_subcommand end" -l run-dir -d 'Also write the line to a file in DIR: start.json, or git.json for `end`' -r -F
complete -c cr-git -n "__fish_cr_git_using_subcommand end" -l git-timeout -d 'Longest time for one call of git; 0 is no limit' -r
complete -c cr-git -n "__fish_cr_git_using_subcommand end" -s h -l help -d 'Print help'
complete -c cr-git -n "__fish_cr_git_using_subcommand scope" -l allow -d 'Allow the paths that GLOB matches; may be repeated' -r
complete -c cr-git -n "__fish_cr_git_using_subcommand scope" -l base -d 'Compare with this commit instead of a stream\'s start line' -r
complete -c cr-git -n "__fish_cr_git_using_subcommand scope" -l stream -d 'A file with the stream or its start line, instead of standard input' -r -F
complete -c cr-git -n "__fish_cr_git_using_subcommand scope" -l cwd -d 'Look at the repository that DIR is in, not at the start line\'s' -r -F
complete -c cr-git -n "__fish_cr_git_using_subcommand scope" -l git-timeout -d 'Longest time for one call of git; 0 is no limit' -r
complete -c cr-git -n "__fish_cr_git_using_subcommand scope" -s h -l help -d 'Print help'
complete -c cr-git -n "__fish_cr_git_using_subcommand lock" -l wait -d 'Wait at most this long, then end with 75; 0 is no limit' -r
complete -c cr-git -n "__fish_cr_git_using_subcommand lock" -l cwd -d 'Lock the repository that DIR is in' -r -F
complete -c cr-git -n "__fish_cr_git_using_subcommand lock" -l git-timeout -d 'Longest time for one call of git; 0 is no limit' -r
complete -c cr-git -n "__fish_cr_git_using_subcommand lock" -l break-stale-lock -d 'Remove an index.lock that no process holds'
complete -c cr-git -n "__fish_cr_git_using_subcommand lock" -s h -l help -d 'Print help'
complete -c cr-git -n "__fish_cr_git_using_subcommand help; and not __fish_seen_subcommand_from start end scope lock help" -f -a "start" -d 'Print the state of the repository as one line'
complete -c cr-git -n "__fish_cr_git_using_subcommand help; and not __fish_seen_subcommand_from start end scope lock help" -f -a "end" -d 'Pass a stream on and add a line with the changes before its last line'
complete -c cr-git -n "__fish_cr_git_using_subcommand help; and not __fish_seen_subcommand_from start end scope lock help" -f -a "scope" -d 'Print the files that a run changed outside the allowed paths'
complete -c cr-git -n "__fish_cr_git_using_subcommand help; and not __fish_seen_subcommand_from start end scope lock help" -f -a "lock" -d 'Run a command while holding the repository\'s lock'
complete -c cr-git -n "__fish_cr_git_using_subcommand help; and not __fish_seen_subcommand_from start end scope lock help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
