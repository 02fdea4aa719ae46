function _cr_relay_models
    printf '%s\n' haiku opus sonnet
end

# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_cr_relay_global_optspecs
    string join \n h/help V/version
end

function __fish_cr_relay_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_cr_relay_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_cr_relay_using_subcommand
    set -l cmd (__fish_cr_relay_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c cr-relay -n "__fish_cr_relay_needs_command" -s h -l help -d 'Print help'
complete -c cr-relay -n "__fish_cr_relay_needs_command" -s V -l version -d 'Print version'
complete -c cr-relay -n "__fish_cr_relay_needs_command" -f -a "near" -d 'Start the command and take the place of cr-spawn'
complete -c cr-relay -n "__fish_cr_relay_needs_command" -f -a "far" -d 'What the command starts on the other machine; it is not for people'
complete -c cr-relay -n "__fish_cr_relay_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l executor-cmd -d 'The command that leads to the other machine; a shell reads it, and the far program comes behind it' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l far-program -d 'The far program' -r -F
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l lease -d 'How long the far end goes on without news from here' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l pass-env -d 'A variable that the agent gets from here; may be repeated' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -s p -l prompt -d 'The prompt' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l prompt-file -d 'A file with the prompt' -r -F
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -s r -l resume -d 'Continue this session, given by its id or title' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -s C -l cwd -d 'The agent\'s working directory' -r -F
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -s m -l model -d 'The model [default: sonnet, or the resumed session\'s own]' -r -f -a "(_cr_relay_models)"
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l fallback-model -d 'The model to use when the first one is overloaded' -r -f -a "(_cr_relay_models)"
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l max-turns -d 'Stop after N turns; 0 is no limit' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l max-budget -d 'Stop after this many dollars; 0 is no limit' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l system-prompt -d 'Text to append to the system prompt' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l system-prompt-file -d 'A file with text to append to the system prompt' -r -F
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l allowed-tools -d 'Tools that need no permission; may be repeated' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l disallowed-tools -d 'Tools that the agent does not have; may be repeated' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l permission-mode -d 'default, acceptEdits, plan, dontAsk, bypassPermissions, …; with an empty MODE the agent\'s own settings decide' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l json-schema -d 'Ask for an answer that satisfies this JSON Schema: a file, or the schema itself, which begins with `{`' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l session-id -d 'The id of the new session' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l timeout -d 'The whole run' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l startup-timeout -d 'From the start to the first line' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l idle-timeout -d 'Silence while the model works' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l tool-timeout -d 'One tool call' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l turn-timeout -d 'One turn' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l post-result-grace -d 'From the result to the agent\'s own end' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l grace -d 'From the first signal to SIGKILL' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l input -d 'What standard input is: one prompt, or one message per line' -r -f -a "text\t'One prompt, to its end'
stream\t'One message per line; the agent lives on between them'"
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l until-field -d 'End the session when this field of the structured output is true' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l turn-timeout-action -d 'What to do when --turn-timeout runs out [default: interrupt with --input stream, else end]' -r -f -a "interrupt\t'The turn is interrupted; the session goes on'
end\t'The session is ended'"
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l wake-timeout -d 'From the end of a background task to the turn that reports it; then the agent is reminded, once' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l ask-policy -d 'Answer by the rules of this file, see cr-policy(5); implies --ask' -r -F
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l ask-cmd -d 'Answer with this shell command: the question is JSON on its standard input, the answer is on its standard output; implies --ask' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l ask-timeout -d 'Deny a question that nobody has answered after this time, and end the run (0 is never)' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l watch-pid -d 'End when this process ends [default: the parent process]' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l run-dir -d 'The run directory' -r -F
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l output-file -d 'Also write every line of the stream to this file, also when the run fails' -r -F
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l name -d 'A name for the run' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l claude -d 'The agent\'s program [default: claude]' -r -F
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l max-line -d 'The longest line that is passed on, in bytes' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l max-record -d 'The most bytes of the record of the stream, and of the lines over --max-line; a longer record keeps its beginning and its end. 0 is no limit' -r
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l fast-forward -d 'Bring the branch that is checked out here to the far end\'s last commit, if that continues it; for a work tree that nobody else uses'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -s c -l continue -d 'Continue the last session of the directory'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l dangerously-skip-permissions -d 'As --permission-mode bypassPermissions'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l fork-session -d 'Continue in a copy of the resumed session'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l partial-messages -d 'Pass on parts of messages while they are written'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l no-session-persistence -d 'Do not save the session; it cannot be resumed'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l background -d 'Allow background tasks, and wait for them'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l keep-open -d 'Wait for messages of cr-send after the end of standard input, until `cr-send --stop`'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l accept-peers -d 'Let other sessions of the same user begin turns in this one'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l ask -d 'Let the agent ask for permissions and put questions; cr-send answers them'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l keep-children -d 'Do not kill leftover processes'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l isolate -d 'Run the agent in its own process id namespace'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -l no-record -d 'Write no files: standard output only'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand near" -s V -l version -d 'Print version'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand far" -s h -l help -d 'Print help'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand help; and not __fish_seen_subcommand_from near far help" -f -a "near" -d 'Start the command and take the place of cr-spawn'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand help; and not __fish_seen_subcommand_from near far help" -f -a "far" -d 'What the command starts on the other machine; it is not for people'
complete -c cr-relay -n "__fish_cr_relay_using_subcommand help; and not __fish_seen_subcommand_from near far help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
