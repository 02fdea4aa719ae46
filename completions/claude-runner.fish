function _claude_runner_models
    printf '%s\n' haiku opus sonnet
end

function _claude_runner_runs
    cr-runs ls -n 0 --quiet 2>/dev/null
end

complete -c claude-runner -l output -d 'What standard output is for; all but `report` leave progress to standard error' -r -f -a "report\t'Progress, a line `---CLAUDE-RUNNER-RESULT---`, the summary'
summary\t'The summary'
answer\t'The answer, or nothing: what --json-schema asked for, else the final text'
stream\t'The stream'"
complete -c claude-runner -l limit -d 'After so many bytes of progress show only commits, errors, limits and the end; 0 is no limit [default: 20000, none on a terminal]' -r
complete -c claude-runner -l retry -d 'Retry up to N times, passing the error to the next attempt; waiting for a limit to reset is not counted. It needs its record: if that cannot be written, the run ends with 74 before it starts' -r
complete -c claude-runner -l max-wait -d 'With --retry: the longest wait for a limit to reset; if it takes longer, end with 75 [default: as long as it takes]' -r
complete -c claude-runner -l resume-run -d 'Resume a run: its session in a new run with its settings, or more attempts of a run with --retry; options given here replace its own' -r -f -a "(_claude_runner_runs)"
complete -c claude-runner -l milestone -d 'Run it as the next task of this milestone, in its session; cr-ledger milestone starts and ends one' -r
complete -c claude-runner -l plan -d 'With --milestone: the work plan. It starts a milestone that is not active' -r -F
complete -c claude-runner -s p -l prompt -d 'The prompt' -r
complete -c claude-runner -l prompt-file -d 'A file with the prompt' -r -F
complete -c claude-runner -s r -l resume -d 'Continue this session, given by its id or title' -r
complete -c claude-runner -s C -l cwd -d 'The agent\'s working directory' -r -F
complete -c claude-runner -s m -l model -d 'The model [default: sonnet, or the resumed session\'s own]' -r -f -a "(_claude_runner_models)"
complete -c claude-runner -l fallback-model -d 'The model to use when the first one is overloaded' -r -f -a "(_claude_runner_models)"
complete -c claude-runner -l max-turns -d 'Stop after N turns; 0 is no limit' -r
complete -c claude-runner -l max-budget -d 'Stop after this many dollars; 0 is no limit' -r
complete -c claude-runner -l system-prompt -d 'Text to append to the system prompt' -r
complete -c claude-runner -l system-prompt-file -d 'A file with text to append to the system prompt' -r -F
complete -c claude-runner -l allowed-tools -d 'Tools that need no permission; may be repeated' -r
complete -c claude-runner -l disallowed-tools -d 'Tools that the agent does not have; may be repeated' -r
complete -c claude-runner -l permission-mode -d 'default, acceptEdits, plan, dontAsk, bypassPermissions, …; with an empty MODE the agent\'s own settings decide' -r
complete -c claude-runner -l json-schema -d 'Ask for an answer that satisfies this JSON Schema: a file, or the schema itself, which begins with `{`' -r
complete -c claude-runner -l session-id -d 'The id of the new session' -r
complete -c claude-runner -l timeout -d 'The whole run' -r
complete -c claude-runner -l startup-timeout -d 'From the start to the first line' -r
complete -c claude-runner -l idle-timeout -d 'Silence while the model works' -r
complete -c claude-runner -l tool-timeout -d 'One tool call' -r
complete -c claude-runner -l turn-timeout -d 'One turn' -r
complete -c claude-runner -l post-result-grace -d 'From the result to the agent\'s own end' -r
complete -c claude-runner -l grace -d 'From the first signal to SIGKILL' -r
complete -c claude-runner -l input -d 'What standard input is: one prompt, or one message per line' -r -f -a "text\t'One prompt, to its end'
stream\t'One message per line; the agent lives on between them'"
complete -c claude-runner -l until-field -d 'End the session when this field of the structured output is true' -r
complete -c claude-runner -l turn-timeout-action -d 'What to do when --turn-timeout runs out [default: interrupt with --input stream, else end]' -r -f -a "interrupt\t'The turn is interrupted; the session goes on'
end\t'The session is ended'"
complete -c claude-runner -l wake-timeout -d 'From the end of a background task to the turn that reports it; then the agent is reminded, once' -r
complete -c claude-runner -l ask-policy -d 'Answer by the rules of this file, see cr-policy(5); implies --ask' -r -F
complete -c claude-runner -l ask-cmd -d 'Answer with this shell command: the question is JSON on its standard input, the answer is on its standard output; implies --ask' -r
complete -c claude-runner -l ask-timeout -d 'Deny a question that nobody has answered after this time, and end the run (0 is never)' -r
complete -c claude-runner -l run-dir -d 'The run directory' -r -F
complete -c claude-runner -l output-file -d 'Also write every line of the stream to this file, also when the run fails' -r -F
complete -c claude-runner -l name -d 'A name for the run' -r
complete -c claude-runner -l claude -d 'The agent\'s program [default: claude]' -r -F
complete -c claude-runner -l max-line -d 'The longest line that is passed on, in bytes' -r
complete -c claude-runner -l max-record -d 'The most bytes of the record of the stream, and of the lines over --max-line; a longer record keeps its beginning and its end. 0 is no limit' -r
complete -c claude-runner -l json -d 'As --output summary'
complete -c claude-runner -s q -l quiet -d 'Show only commits, errors, limits and the end'
complete -c claude-runner -l no-ledger -d 'Do not record the run in the ledger; see cr-ledger'
complete -c claude-runner -l detach -d 'Print the run\'s id and directory, and leave it to itself; see cr-runs'
complete -c claude-runner -s c -l continue -d 'Continue the last session of the directory'
complete -c claude-runner -l dangerously-skip-permissions -d 'As --permission-mode bypassPermissions'
complete -c claude-runner -l fork-session -d 'Continue in a copy of the resumed session'
complete -c claude-runner -l partial-messages -d 'Pass on parts of messages while they are written'
complete -c claude-runner -l no-session-persistence -d 'Do not save the session; it cannot be resumed'
complete -c claude-runner -l background -d 'Allow background tasks, and wait for them'
complete -c claude-runner -l keep-open -d 'Wait for messages of cr-send after the end of standard input, until `cr-send --stop`'
complete -c claude-runner -l accept-peers -d 'Let other sessions of the same user begin turns in this one'
complete -c claude-runner -l ask -d 'Let the agent ask for permissions and put questions; cr-send answers them'
complete -c claude-runner -l keep-children -d 'Do not kill leftover processes'
complete -c claude-runner -l isolate -d 'Run the agent in its own process id namespace'
complete -c claude-runner -l no-record -d 'Write no files: standard output only'
complete -c claude-runner -s h -l help -d 'Print help (see more with \'--help\')'
complete -c claude-runner -s V -l version -d 'Print version'
