complete -c cr-replay -l speed -d 'How many times faster than it was' -r
complete -c cr-replay -l fault -d 'What shall go wrong; may be repeated' -r
complete -c cr-replay -l instant -d 'Wait for nothing'
complete -c cr-replay -l agent -d 'Only the agent\'s lines, and its exit code'
complete -c cr-replay -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-replay -s V -l version -d 'Print version'
