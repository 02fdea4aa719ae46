complete -c cr-summarize -l context-window -d 'Take the context window for this many tokens where it is not known' -r
complete -c cr-summarize -l prices -d 'Estimate by the prices in this file, in dollars for a million tokens: `{"MODEL": {"input": 3, "output": 15, "cache_read": 0.3, "cache_creation": 3.75}}`' -r -F
complete -c cr-summarize -l run-dir -d 'Leave the summary as DIR/summary.json, too' -r -F
complete -c cr-summarize -l max-line -d 'Pass over lines longer than this many bytes' -r
complete -c cr-summarize -l full -d 'Show everything, however long'
complete -c cr-summarize -l pretty -d 'Spread the summary over many lines, as is done on a terminal'
complete -c cr-summarize -l delimiter -d 'Print a line `---CLAUDE-RUNNER-RESULT---` first'
complete -c cr-summarize -l per-session -d 'Give each session of an input a line of its own'
complete -c cr-summarize -l no-subagents -d 'Leave out what a session\'s subagents did in files of their own'
complete -c cr-summarize -l estimate-cost -d 'Estimate the cost by list prices (of 2026-11-18) where it is not known'
complete -c cr-summarize -l no-redact -d 'Show what looks like a secret'
complete -c cr-summarize -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-summarize -s V -l version -d 'Print version'
