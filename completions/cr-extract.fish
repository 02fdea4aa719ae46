complete -c cr-extract -l from -d 'The form of the input' -r -f -a "auto\t'Decided by the last line that is an event, a summary or a delimiter'
stream\t'A stream, a session\'s log, or the output of `--output-format json`'
summary\t'A summary of cr-summarize'
report\t'The text after the last line `---CLAUDE-RUNNER-RESULT---`'
text\t'The answer itself'"
complete -c cr-extract -l schema -d 'Take only JSON that satisfies the JSON Schema in this file; the first rule that finds such JSON decides' -r -F
complete -c cr-extract -l max-line -d 'Skip lines, and refuse texts, longer than this many bytes' -r
complete -c cr-extract -l text -d 'Print the answer as it is'
complete -c cr-extract -l verdict -d 'Like --text, for an input that ends with its summary: print the answer if the run went well, else the reason on standard error. The exit status is the verdict, also when nobody reads standard output any more'
complete -c cr-extract -l first -d 'Print the first JSON that is found; this is the default'
complete -c cr-extract -l last -d 'Print the last instead of the first'
complete -c cr-extract -l all -d 'Print all JSON that the deciding rule finds, one value per line'
complete -c cr-extract -l check -d 'Only check the schema, and read nothing else. Unknown kinds of patterns and references are accepted'
complete -c cr-extract -l strict -d 'Take structured output and fences only'
complete -c cr-extract -l compact -d 'Print JSON on one line, without blanks between its tokens'
complete -c cr-extract -s v -l verbose -d 'Say on standard error where the answer was, and which rule decided'
complete -c cr-extract -l output-schema -d 'Print the JSON Schema of an answer of several inputs, and do nothing else'
complete -c cr-extract -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-extract -s V -l version -d 'Print version'
