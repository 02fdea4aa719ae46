complete -c cr-spawn -s p -l prompt -d 'The prompt' -r
complete -c cr-spawn -l prompt-file -d 'A file with the prompt' -r -F
complete -c cr-spawn -s r -l resume -d 'Continue this session, given by its id or title' -r
complete -c cr-spawn -s C -l cwd -d 'The agent\'s working directory' -r -F
complete -c cr-spawn -s m -l model -d 'The model [default: sonnet, or the resumed session\'s own]' -r
complete -c cr-spawn -l fallback-model -d 'The model to use when the first one is overloaded' -r
complete -c cr-spawn -l max-turns -d 'Stop after N turns; 0 is no limit' -r
complete -c cr-spawn -l max-budget -d 'Stop after this many dollars; 0 is no limit' -r
complete -c cr-spawn -l system-prompt -d 'Text to append to the system prompt' -r
complete -c cr-spawn -l system-prompt-file -d 'A file with text to append to the system prompt' -r -F
complete -c cr-spawn -l allowed-tools -d 'Tools that need no permission; may be repeated' -r
complete -c cr-spawn -l disallowed-tools -d 'Tools that the agent does not have; may be repeated' -r
complete -c cr-spawn -l permission-mode -d 'default, acceptEdits, plan, dontAsk, bypassPermissions, …' -r
complete -c cr-spawn -l json-schema -d 'Ask for an answer that satisfies this JSON Schema: a file, or the schema itself, which begins with `{`' -r
complete -c cr-spawn -l session-id -d 'The id of the new session' -r
complete -c cr-spawn -l timeout -d 'The whole run' -r
complete -c cr-spawn -l startup-timeout -d 'From the start to the first line' -r
complete -c cr-spawn -l idle-timeout -d 'Silence while the model works' -r
complete -c cr-spawn -l tool-timeout -d 'One tool call' -r
complete -c cr-spawn -l turn-timeout -d 'One turn' -r
complete -c cr-spawn -l post-result-grace -d 'From the result to the agent\'s own end' -r
complete -c cr-spawn -l grace -d 'From the first signal to SIGKILL' -r
complete -c cr-spawn -l watch-pid -d 'End when this process ends [default: the parent process]' -r
complete -c cr-spawn -l control-fd -d 'The control channel of the process that started the pipeline' -r
complete -c cr-spawn -l resumed-run -d 'The run that this one resumes' -r
complete -c cr-spawn -l run-dir -d 'The run directory' -r -F
complete -c cr-spawn -l output-file -d 'Also write every line of the stream to this file, also when the run fails' -r -F
complete -c cr-spawn -l name -d 'A name for the run' -r
complete -c cr-spawn -l claude -d 'The agent\'s program [default: claude]' -r -F
complete -c cr-spawn -l max-line -d 'The longest line that is passed on, in bytes' -r
complete -c cr-spawn -l max-record -d 'The longest record of the stream, in bytes, and of the lines over --max-line; a longer record keeps its beginning and its end. 0 is no limit' -r
complete -c cr-spawn -s c -l continue -d 'Continue the last session of the directory'
complete -c cr-spawn -l dangerously-skip-permissions -d 'As --permission-mode bypassPermissions'
complete -c cr-spawn -l fork-session -d 'Continue in a copy of the resumed session'
complete -c cr-spawn -l partial-messages -d 'Pass on parts of messages while they are written'
complete -c cr-spawn -l no-session-persistence -d 'Do not save the session; it cannot be resumed'
complete -c cr-spawn -l background -d 'Allow background tasks, and wait for them'
complete -c cr-spawn -l keep-children -d 'Do not kill leftover processes'
complete -c cr-spawn -l isolate -d 'Run the agent in its own process id namespace'
complete -c cr-spawn -l no-record -d 'Write no files: standard output only'
complete -c cr-spawn -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-spawn -s V -l version -d 'Print version'
