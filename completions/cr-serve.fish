complete -c cr-serve -l port -d 'The port; its token is kept in the state directory, so that a page goes on after a restart [default: a free one, with a new token]' -r
complete -c cr-serve -l public-url -d 'The address at which a proxy offers the server, such as `https://dev.example.com`' -r
complete -c cr-serve -l max-clients -d 'Readers of /events at one time; more are refused with 503' -r
complete -c cr-serve -l export -d 'Write the page with one recording in it to this file, with secrets masked, and serve nothing; FILE may also be a run' -r -F
complete -c cr-serve -l allow-control -d 'Stop runs, send messages and answer questions from the page'
complete -c cr-serve -s h -l help -d 'Print help'
complete -c cr-serve -s V -l version -d 'Print version'
