complete -c cr-extract -l from -d 'What the input is' -r -f -a "auto\t'Whichever the last line that tells says'
stream\t'A stream, a session\'s log, or what `--output-format json` wrote'
summary\t'What cr-summarize wrote'
report\t'What follows the last line `---CLAUDE-RUNNER-RESULT---`'
text\t'The answer itself'"
complete -c cr-extract -l schema -d 'Take only what satisfies the JSON Schema in this file; the first rule that finds such JSON decides' -r -F
complete -c cr-extract -l max-line -d 'Pass over lines, and refuse texts, longer than this many bytes' -r
complete -c cr-extract -l text -d 'Print the answer as it is'
complete -c cr-extract -l verdict -d 'As --text, for an input that ends with its summary: the answer only if the run went well, else why it did not, on standard error. The exit status is the verdict'
complete -c cr-extract -l first -d 'Print the first JSON that is found, as is done by default'
complete -c cr-extract -l last -d 'Print the last instead of the first'
complete -c cr-extract -l all -d 'Print all that the deciding rule finds, one a line'
complete -c cr-extract -l check -d 'Only say what is wrong with the schema, and read nothing else. Kinds of patterns and references that are not known here are let pass'
complete -c cr-extract -l strict -d 'Take structured output and fences only'
complete -c cr-extract -l compact -d 'Print JSON on one line, without blanks between its tokens'
complete -c cr-extract -s v -l verbose -d 'Say on standard error where the answer was, and which rule decided'
complete -c cr-extract -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-extract -s V -l version -d 'Print version'
