function _cr_send_runs
    cr-runs ls -n 0 --quiet 2>/dev/null
end

complete -c cr-send -l output -d 'What to print' -r -f -a "text\t'The id of each message, or the final text; a line per question'
json\t'Each reply of the run, one JSON object per line'"
complete -c cr-send -l when -d 'When the agent gets the message [default: next]' -r -f -a "next\t'As soon as it takes one, in the running turn'
idle\t'As a turn of its own, after the running one'
now\t'At once: the running turn is interrupted'"
complete -c cr-send -l id -d 'The id of the message, a UUID; a message with the same id is queued only once' -r
complete -c cr-send -l from -d 'The sender, as the record of the run shows it [default: the run this is called from, else the user]' -r
complete -c cr-send -l timeout -d 'Give up after this time: seconds, or 9m; 0 is never. With --wait: for all turns [default: 0]; else: for each reply [default: 10]' -r
complete -c cr-send -l cancel -d 'Withdraw a message that waits' -r
complete -c cr-send -l model -d 'Change the model' -r
complete -c cr-send -l permission-mode -d 'Change the permission mode' -r
complete -c cr-send -l allow -d 'Permit what a question asks for' -r
complete -c cr-send -l deny -d 'Refuse what a question asks for; TEXT is the reason' -r
complete -c cr-send -l answer -d 'Answer a question with the choice TEXT' -r
complete -c cr-send -l stop-task -d 'End one background task of the agent' -r
complete -c cr-send -l last -d 'The run that was started last'
complete -c cr-send -l json -d 'Read one JSON message per line from standard input; with another action: print JSON'
complete -c cr-send -l wait -d 'Wait for the end of the turn, print its final text, end with its verdict'
complete -c cr-send -l interrupt -d 'Interrupt the running turn; print what stays queued, and the background tasks that this ended'
complete -c cr-send -l context -d 'Print the use of the context, by the agent\'s own figures'
complete -c cr-send -l asks -d 'Print the open questions, one per line'
complete -c cr-send -l always -d 'With --allow: permit it, and what is like it, for the rest of the session'
complete -c cr-send -l stop -d 'End the session'
complete -c cr-send -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-send -s V -l version -d 'Print version'
