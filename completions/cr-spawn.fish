complete -c cr-spawn -s p -l prompt -d 'What to do' -r
complete -c cr-spawn -l prompt-file -d 'A file that says what to do' -r -F
complete -c cr-spawn -s r -l resume -d 'Go on with this session, by its id or title' -r
complete -c cr-spawn -s C -l cwd -d 'The agent\'s directory' -r -F
complete -c cr-spawn -s m -l model -d 'The model [default: sonnet, or the resumed session\'s own]' -r
complete -c cr-spawn -l fallback-model -d 'The model to use when the first is overloaded' -r
complete -c cr-spawn -l max-turns -d 'Stop after so many turns; 0 is no limit' -r
complete -c cr-spawn -l max-budget -d 'Stop after so many dollars; 0 is no limit' -r
complete -c cr-spawn -l system-prompt -d 'Text to append to the system prompt' -r
complete -c cr-spawn -l system-prompt-file -d 'A file with text to append to the system prompt' -r -F
complete -c cr-spawn -l allowed-tools -d 'Tools that need no permission; may be repeated' -r
complete -c cr-spawn -l disallowed-tools -d 'Tools that the agent does not have; may be repeated' -r
complete -c cr-spawn -l permission-mode -d 'default, acceptEdits, plan, dontAsk, bypassPermissions, …' -r
complete -c cr-spawn -l json-schema -d 'Ask for an answer of this shape: a file with a JSON Schema, or the schema itself, which begins with `{`' -r
complete -c cr-spawn -l session-id -d 'The id of the new session' -r
complete -c cr-spawn -l timeout -d 'All of the run' -r
complete -c cr-spawn -l startup-timeout -d 'Until the first line' -r
complete -c cr-spawn -l idle-timeout -d 'Silence while the model works' -r
complete -c cr-spawn -l tool-timeout -d 'One call of a tool' -r
complete -c cr-spawn -l turn-timeout -d 'One turn' -r
complete -c cr-spawn -l post-result-grace -d 'From the result to the agent\'s own end' -r
complete -c cr-spawn -l grace -d 'From the first signal to SIGKILL' -r
complete -c cr-spawn -l watch-pid -d 'End when this process ends [default: whoever started us]' -r
complete -c cr-spawn -l run-dir -d 'The run\'s directory' -r -F
complete -c cr-spawn -l output-file -d 'Keep the stream in this file, too, every line of it, whatever becomes of the run' -r -F
complete -c cr-spawn -l name -d 'A name for the run' -r
complete -c cr-spawn -l claude -d 'The agent\'s program [default: claude]' -r -F
complete -c cr-spawn -l max-line -d 'Longest line that is passed on, in bytes' -r
complete -c cr-spawn -l max-record -d 'Longest record of the stream, in bytes, and of lines too long for it; of a longer one the beginning and the end are kept. 0 is no limit' -r
complete -c cr-spawn -s c -l continue -d 'Go on with the last session of the directory'
complete -c cr-spawn -l dangerously-skip-permissions -d 'As --permission-mode bypassPermissions'
complete -c cr-spawn -l fork-session -d 'Go on in a copy of the resumed session'
complete -c cr-spawn -l partial-messages -d 'Pass on pieces of messages as they come'
complete -c cr-spawn -l no-session-persistence -d 'Leave no session on disk; it cannot be resumed'
complete -c cr-spawn -l background -d 'Let the agent work in the background, and wait for that'
complete -c cr-spawn -l keep-children -d 'Let live what the agent leaves behind'
complete -c cr-spawn -l isolate -d 'Run the agent in a process id namespace of its own'
complete -c cr-spawn -l no-record -d 'Write nothing but standard output'
complete -c cr-spawn -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-spawn -s V -l version -d 'Print version'
