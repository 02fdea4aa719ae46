complete -c claude-runner -l output -d 'What standard output is for; all but `report` leave progress to standard error' -r -f -a "report\t'Progress, a line `---CLAUDE-RUNNER-RESULT---`, the summary'
summary\t'The summary'
answer\t'The answer, or nothing: what --json-schema asked for, else the final text'
stream\t'The stream'"
complete -c claude-runner -l limit -d 'After so many bytes of progress show only commits, errors, limits and the end; 0 is no limit [default: 20000, none on a terminal]' -r
complete -c claude-runner -l retry -d 'Try again so often what can be, with what was learnt; waiting for a limit to reset is not counted' -r
complete -c claude-runner -l max-wait -d 'With --retry: the longest wait for a limit to reset; if it takes longer, end with 75 [default: as long as it takes]' -r
complete -c claude-runner -l resume-run -d 'Go on with a run that was started with --retry' -r
complete -c claude-runner -s p -l prompt -d 'What to do' -r
complete -c claude-runner -l prompt-file -d 'A file that says what to do' -r -F
complete -c claude-runner -s r -l resume -d 'Go on with this session, by its id or title' -r
complete -c claude-runner -s C -l cwd -d 'The agent\'s directory' -r -F
complete -c claude-runner -s m -l model -d 'The model [default: sonnet, or the resumed session\'s own]' -r
complete -c claude-runner -l fallback-model -d 'The model to use when the first is overloaded' -r
complete -c claude-runner -l max-turns -d 'Stop after so many turns; 0 is no limit' -r
complete -c claude-runner -l max-budget -d 'Stop after so many dollars; 0 is no limit' -r
complete -c claude-runner -l system-prompt -d 'Text to append to the system prompt' -r
complete -c claude-runner -l system-prompt-file -d 'A file with text to append to the system prompt' -r -F
complete -c claude-runner -l allowed-tools -d 'Tools that need no permission; may be repeated' -r
complete -c claude-runner -l disallowed-tools -d 'Tools that the agent does not have; may be repeated' -r
complete -c claude-runner -l permission-mode -d 'default, acceptEdits, plan, dontAsk, bypassPermissions, …' -r
complete -c claude-runner -l json-schema -d 'Ask for an answer of this shape: a file with a JSON Schema, or the schema itself, which begins with `{`' -r
complete -c claude-runner -l session-id -d 'The id of the new session' -r
complete -c claude-runner -l timeout -d 'All of the run' -r
complete -c claude-runner -l startup-timeout -d 'Until the first line' -r
complete -c claude-runner -l idle-timeout -d 'Silence while the model works' -r
complete -c claude-runner -l tool-timeout -d 'One call of a tool' -r
complete -c claude-runner -l turn-timeout -d 'One turn' -r
complete -c claude-runner -l post-result-grace -d 'From the result to the agent\'s own end' -r
complete -c claude-runner -l grace -d 'From the first signal to SIGKILL' -r
complete -c claude-runner -l watch-pid -d 'End when this process ends [default: whoever started us]' -r
complete -c claude-runner -l run-dir -d 'The run\'s directory' -r -F
complete -c claude-runner -l output-file -d 'Keep the stream in this file, too, every line of it, whatever becomes of the run' -r -F
complete -c claude-runner -l name -d 'A name for the run' -r
complete -c claude-runner -l claude -d 'The agent\'s program [default: claude]' -r -F
complete -c claude-runner -l max-line -d 'Longest line that is passed on, in bytes' -r
complete -c claude-runner -l max-record -d 'Longest record of the stream, in bytes, and of lines too long for it; of a longer one the beginning and the end are kept. 0 is no limit' -r
complete -c claude-runner -l json -d 'As --output summary'
complete -c claude-runner -s q -l quiet -d 'Show only commits, errors, limits and the end'
complete -c claude-runner -l detach -d 'Print the run\'s id and directory, and leave it to itself; see cr-runs'
complete -c claude-runner -s c -l continue -d 'Go on with the last session of the directory'
complete -c claude-runner -l dangerously-skip-permissions -d 'As --permission-mode bypassPermissions'
complete -c claude-runner -l fork-session -d 'Go on in a copy of the resumed session'
complete -c claude-runner -l partial-messages -d 'Pass on pieces of messages as they come'
complete -c claude-runner -l no-session-persistence -d 'Leave no session on disk; it cannot be resumed'
complete -c claude-runner -l background -d 'Let the agent work in the background, and wait for that'
complete -c claude-runner -l keep-children -d 'Let live what the agent leaves behind'
complete -c claude-runner -l isolate -d 'Run the agent in a process id namespace of its own'
complete -c claude-runner -l no-record -d 'Write nothing but standard output'
complete -c claude-runner -s h -l help -d 'Print help (see more with \'--help\')'
complete -c claude-runner -s V -l version -d 'Print version'
