complete -c cr-replay -l speed -d 'Play N times faster than recorded' -r
complete -c cr-replay -l fault -d 'A fault to play; may be repeated' -r
complete -c cr-replay -l instant -d 'Do not wait between lines'
complete -c cr-replay -l now -d 'Give each line the time at which it is played'
complete -c cr-replay -l agent -d 'Play only the agent\'s lines, and end with its exit code'
complete -c cr-replay -s h -l help -d 'Print help'
complete -c cr-replay -s V -l version -d 'Print version'
