complete -c cr-summarize -l context-window -d 'Size of the context window, where the input does not say it' -r
complete -c cr-summarize -l prices -d 'Estimate by the prices in this file, in dollars for a million tokens: `{"MODEL": {"input": 3, "output": 15, "cache_read": 0.3, "cache_creation": 3.75}}`. `cache_creation_1h` is for writes that are kept for an hour (else 1.6 times `cache_creation`)' -r -F
complete -c cr-summarize -l run-dir -d 'Also write the summary to DIR/summary.json' -r -F
complete -c cr-summarize -l max-line -d 'Skip lines longer than this many bytes' -r
complete -c cr-summarize -l full -d 'Print all fields in full, without a length limit'
complete -c cr-summarize -l pretty -d 'Print the summary over many lines, as on a terminal'
complete -c cr-summarize -l delimiter -d 'Print a line `---CLAUDE-RUNNER-RESULT---` first'
complete -c cr-summarize -l per-session -d 'Print one line for each session of an input'
complete -c cr-summarize -l no-subagents -d 'Do not read the logs of a session\'s subagents'
complete -c cr-summarize -l estimate-cost -d 'Estimate the cost by list prices (of 2026-11-18) where the input does not say it'
complete -c cr-summarize -l no-redact -d 'Do not mask keys and tokens'
complete -c cr-summarize -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-summarize -s V -l version -d 'Print version'
