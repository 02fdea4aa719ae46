complete -c cr-filter -l tee -d 'Pass the stream on and write the text to standard error, or to FILE' -r -F
complete -c cr-filter -l time -d 'The time that a line shows, in the local zone' -r -f -a "event\t'The event\'s own, else the last one seen, else its arrival'
now\t'The time at which the line is written'
none\t'No time at all'"
complete -c cr-filter -l format -d 'Output format: text for people, github for a workflow\'s log, json for one flat row per event' -r -f -a "text\t'`[HH:MM:SS] Kind: text`'
github\t'The same, with the groups and annotations of a GitHub workflow; writes the step\'s summary and outputs when `GITHUB_ACTIONS` is set'
json\t'One JSON object per event; a tool call comes together with its result'"
complete -c cr-filter -l width -d 'Cut lines after this many characters' -r
complete -c cr-filter -l limit -d 'After this many bytes of text show only commits, errors, limits and the end' -r
complete -c cr-filter -s v -l verbose -d 'Show more: short texts, thinking, other failed tools, prompts, every turn'
complete -c cr-filter -s q -l quiet -d 'Show only commits, errors, limits and the end'
complete -c cr-filter -l no-redact -d 'Show keys and tokens as they are'
complete -c cr-filter -l redact-stream -d 'Mask keys and tokens also in the stream that --tee passes on'
complete -c cr-filter -l output-schema -d 'Print the JSON Schema of a row of --format json, and do nothing else'
complete -c cr-filter -l stats -d 'At the end write to standard error how many lines were shown or dropped'
complete -c cr-filter -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-filter -s V -l version -d 'Print version'
