complete -c cr-summarize -l context-window -d 'Size of the context window, where the input does not say it' -r
complete -c cr-summarize -l prices -d 'Estimate by the prices in this file, in dollars for a million tokens, 0 to 10000: `{"MODEL": {"input": 3, "output": 15, "cache_read": 0.3, "cache_creation": 3.75}}`. `cache_creation_1h` is for writes that are kept for an hour (else 1.6 times `cache_creation`)' -r -F
complete -c cr-summarize -l run-dir -d 'Also write the summary to DIR/summary.json' -r -F
complete -c cr-summarize -l max-line -d 'Skip lines longer than this many bytes' -r
complete -c cr-summarize -l full -d 'Print all fields in full, without a length limit'
complete -c cr-summarize -l pretty -d 'Print the summary over many lines, as on a terminal'
complete -c cr-summarize -l delimiter -d 'Print a line `---CLAUDE-RUNNER-RESULT---` first'
complete -c cr-summarize -l per-session -d 'Print one line for each session of an input. Of more than 10,000, those whose last line is the oldest are printed while the input is read; if one goes on later, it gets a second line, with `session` in `truncated`'
complete -c cr-summarize -l total -d 'Print one more line at the end: the sum of all summaries, with `"total": true`'
complete -c cr-summarize -l no-subagents -d 'Do not count the work of a session\'s subagents that is in their own logs or in `progress` lines'
complete -c cr-summarize -l estimate-cost -d 'Estimate the cost where the input does not say it: by the file `prices` of the configuration, else by list prices (of 2026-11-18)'
complete -c cr-summarize -l tee -d 'Pass the input on to standard output, as it is; the summary goes to --run-dir only. Implies --read-on'
complete -c cr-summarize -l read-on -d 'Read on to the end when nobody reads standard output any more: the exit status is the verdict'
complete -c cr-summarize -l output-schema -d 'Print the JSON Schema of the summary, and do nothing else'
complete -c cr-summarize -l no-redact -d 'Do not mask keys and tokens'
complete -c cr-summarize -s h -l help -d 'Print help'
complete -c cr-summarize -s V -l version -d 'Print version'
