function _cr_spawn_models
    printf '%s\n' haiku opus sonnet
end

complete -c cr-spawn -s p -l prompt -d 'The prompt' -r
complete -c cr-spawn -l prompt-file -d 'A file with the prompt' -r -F
complete -c cr-spawn -s r -l resume -d 'Continue this session, given by its id or title' -r
complete -c cr-spawn -s C -l cwd -d 'The agent\'s working directory' -r -F
complete -c cr-spawn -s m -l model -d 'The model [default: sonnet, or the resumed session\'s own]' -r -f -a "(_cr_spawn_models)"
complete -c cr-spawn -l fallback-model -d 'The model to use when the first one is overloaded' -r -f -a "(_cr_spawn_models)"
complete -c cr-spawn -l max-turns -d 'Stop after N turns; 0 is no limit' -r
complete -c cr-spawn -l max-budget -d 'Stop after this many dollars; 0 is no limit' -r
complete -c cr-spawn -l system-prompt -d 'Text to append to the system prompt' -r
complete -c cr-spawn -l system-prompt-file -d 'A file with text to append to the system prompt' -r -F
complete -c cr-spawn -l allowed-tools -d 'Tools that need no permission; may be repeated' -r
complete -c cr-spawn -l disallowed-tools -d 'Tools that the agent does not have; may be repeated' -r
complete -c cr-spawn -l permission-mode -d 'default, acceptEdits, plan, dontAsk, bypassPermissions, …; with an empty MODE the agent\'s own settings decide' -r
complete -c cr-spawn -l json-schema -d 'Ask for an answer that satisfies this JSON Schema: a file, or the schema itself, which begins with `{`' -r
complete -c cr-spawn -l session-id -d 'The id of the new session' -r
complete -c cr-spawn -l timeout -d 'The whole run' -r
complete -c cr-spawn -l startup-timeout -d 'From the start to the first line' -r
complete -c cr-spawn -l idle-timeout -d 'Silence while the model works' -r
complete -c cr-spawn -l tool-timeout -d 'One tool call' -r
complete -c cr-spawn -l turn-timeout -d 'One turn' -r
complete -c cr-spawn -l post-result-grace -d 'From the result to the agent\'s own end' -r
complete -c cr-spawn -l grace -d 'From the first signal to SIGKILL' -r
complete -c cr-spawn -l input -d 'What standard input is: one prompt, or one message per line' -r -f -a "text\t'One prompt, to its end'
stream\t'One message per line; the agent lives on between them'"
complete -c cr-spawn -l until-field -d 'End the session when this field of the structured output is true' -r
complete -c cr-spawn -l turn-timeout-action -d 'What to do when --turn-timeout runs out [default: interrupt with --input stream, else end]' -r -f -a "interrupt\t'The turn is interrupted; the session goes on'
end\t'The session is ended'"
complete -c cr-spawn -l wake-timeout -d 'From the end of a background task to the turn that reports it; then the agent is reminded, once' -r
complete -c cr-spawn -l ask-policy -d 'Answer by the rules of this file, see cr-policy(5); implies --ask' -r -F
complete -c cr-spawn -l ask-cmd -d 'Answer with this shell command: the question is JSON on its standard input, the answer is on its standard output; implies --ask' -r
complete -c cr-spawn -l ask-timeout -d 'Deny a question that nobody has answered after this time, and end the run (0 is never)' -r
complete -c cr-spawn -l watch-pid -d 'End when this process ends [default: the parent process]' -r
complete -c cr-spawn -l run-dir -d 'The run directory' -r -F
complete -c cr-spawn -l output-file -d 'Also write every line of the stream to this file, also when the run fails' -r -F
complete -c cr-spawn -l name -d 'A name for the run' -r
complete -c cr-spawn -l claude -d 'The agent\'s program [default: claude]' -r -F
complete -c cr-spawn -l max-line -d 'The longest line that is passed on, in bytes' -r
complete -c cr-spawn -l max-record -d 'The most bytes of the record of the stream, and of the lines over --max-line; a longer record keeps its beginning and its end. 0 is no limit' -r
complete -c cr-spawn -s c -l continue -d 'Continue the last session of the directory'
complete -c cr-spawn -l dangerously-skip-permissions -d 'As --permission-mode bypassPermissions'
complete -c cr-spawn -l fork-session -d 'Continue in a copy of the resumed session'
complete -c cr-spawn -l partial-messages -d 'Pass on parts of messages while they are written'
complete -c cr-spawn -l no-session-persistence -d 'Do not save the session; it cannot be resumed'
complete -c cr-spawn -l background -d 'Allow background tasks, and wait for them'
complete -c cr-spawn -l keep-open -d 'Wait for messages of cr-send after the end of standard input, until `cr-send --stop`'
complete -c cr-spawn -l accept-peers -d 'Let other sessions of the same user begin turns in this one'
complete -c cr-spawn -l ask -d 'Let the agent ask for permissions and put questions; cr-send answers them'
complete -c cr-spawn -l keep-children -d 'Do not kill leftover processes'
complete -c cr-spawn -l isolate -d 'Run the agent in its own process id namespace'
complete -c cr-spawn -l no-record -d 'Write no files: standard output only'
complete -c cr-spawn -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-spawn -s V -l version -d 'Print version'
