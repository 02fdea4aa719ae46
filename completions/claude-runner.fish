complete -c claude-runner -l output -d 'What standard output is for; all but `report` leave progress to standard error' -r -f -a "report\t'Progress, a line `---CLAUDE-RUNNER-RESULT---`, the summary'
summary\t'The summary'
answer\t'The answer, or nothing: what --json-schema asked for, else the final text'
stream\t'The stream'"
complete -c claude-runner -l limit -d 'After so many bytes of progress show only commits, errors, limits and the end; 0 is no limit [default: 20000, none on a terminal]' -r
complete -c claude-runner -l retry -d 'Retry up to N times, passing the error to the next attempt; waiting for a limit to reset is not counted' -r
complete -c claude-runner -l max-wait -d 'With --retry: the longest wait for a limit to reset; if it takes longer, end with 75 [default: as long as it takes]' -r
complete -c claude-runner -l resume-run -d 'Resume a run: its session in a new run with its settings, or more attempts of a run with --retry; options given here replace its own' -r
complete -c claude-runner -s p -l prompt -d 'The prompt' -r
complete -c claude-runner -l prompt-file -d 'A file with the prompt' -r -F
complete -c claude-runner -s r -l resume -d 'Continue this session, given by its id or title' -r
complete -c claude-runner -s C -l cwd -d 'The agent\'s working directory' -r -F
complete -c claude-runner -s m -l model -d 'The model [default: sonnet, or the resumed session\'s own]' -r
complete -c claude-runner -l fallback-model -d 'The model to use when the first one is overloaded' -r
complete -c claude-runner -l max-turns -d 'Stop after N turns; 0 is no limit' -r
complete -c claude-runner -l max-budget -d 'Stop after this many dollars; 0 is no limit' -r
complete -c claude-runner -l system-prompt -d 'Text to append to the system prompt' -r
complete -c claude-runner -l system-prompt-file -d 'A file with text to append to the system prompt' -r -F
complete -c claude-runner -l allowed-tools -d 'Tools that need no permission; may be repeated' -r
complete -c claude-runner -l disallowed-tools -d 'Tools that the agent does not have; may be repeated' -r
complete -c claude-runner -l permission-mode -d 'default, acceptEdits, plan, dontAsk, bypassPermissions, …' -r
complete -c claude-runner -l json-schema -d 'Ask for an answer that satisfies this JSON Schema: a file, or the schema itself, which begins with `{`' -r
complete -c claude-runner -l session-id -d 'The id of the new session' -r
complete -c claude-runner -l timeout -d 'The whole run' -r
complete -c claude-runner -l startup-timeout -d 'From the start to the first line' -r
complete -c claude-runner -l idle-timeout -d 'Silence while the model works' -r
complete -c claude-runner -l tool-timeout -d 'One tool call' -r
complete -c claude-runner -l turn-timeout -d 'One turn' -r
complete -c claude-runner -l post-result-grace -d 'From the result to the agent\'s own end' -r
complete -c claude-runner -l grace -d 'From the first signal to SIGKILL' -r
complete -c claude-runner -l control-fd -d 'The control channel of the process that started the pipeline' -r
complete -c claude-runner -l resumed-run -d 'The run that this one resumes' -r
complete -c claude-runner -l run-dir -d 'The run directory' -r -F
complete -c claude-runner -l output-file -d 'Also write every line of the stream to this file, also when the run fails' -r -F
complete -c claude-runner -l name -d 'A name for the run' -r
complete -c claude-runner -l claude -d 'The agent\'s program [default: claude]' -r -F
complete -c claude-runner -l max-line -d 'The longest line that is passed on, in bytes' -r
complete -c claude-runner -l max-record -d 'The longest record of the stream, in bytes, and of the lines over --max-line; a longer record keeps its beginning and its end. 0 is no limit' -r
complete -c claude-runner -l watch-pid -d 'End when this process ends [default: the parent process]' -r
complete -c claude-runner -l json -d 'As --output summary'
complete -c claude-runner -s q -l quiet -d 'Show only commits, errors, limits and the end'
complete -c claude-runner -l detach -d 'Print the run\'s id and directory, and leave it to itself; see cr-runs'
complete -c claude-runner -s c -l continue -d 'Continue the last session of the directory'
complete -c claude-runner -l dangerously-skip-permissions -d 'As --permission-mode bypassPermissions'
complete -c claude-runner -l fork-session -d 'Continue in a copy of the resumed session'
complete -c claude-runner -l partial-messages -d 'Pass on parts of messages while they are written'
complete -c claude-runner -l no-session-persistence -d 'Do not save the session; it cannot be resumed'
complete -c claude-runner -l background -d 'Allow background tasks, and wait for them'
complete -c claude-runner -l keep-children -d 'Do not kill leftover processes'
complete -c claude-runner -l isolate -d 'Run the agent in its own process id namespace'
complete -c claude-runner -l no-record -d 'Write no files: standard output only'
complete -c claude-runner -s h -l help -d 'Print help (see more with \'--help\')'
complete -c claude-runner -s V -l version -d 'Print version'
