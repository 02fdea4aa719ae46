complete -c cr-turns -l title -d 'Estimate one task with this title, and print one JSON object' -r
complete -c cr-turns -l description -d 'The description of the one task' -r
complete -c cr-turns -l type -d 'The type of the one task' -r
complete -c cr-turns -l files -d 'How many files the one task changes' -r
complete -c cr-turns -l loc -d 'How many lines of code the one task changes' -r
complete -c cr-turns -l min -d 'The lowest number of turns, from 3 [default: `turns_min` of the configuration, 3]' -r
complete -c cr-turns -l max -d 'The highest number of turns, up to 1000 [default: `turns_max` of the configuration, 30]' -r
complete -c cr-turns -l project -d 'With --history: the directory of the project' -r -F
complete -c cr-turns -l history -d 'Use the turns that finished tasks of the same type and project took, if the ledger knows at least 20: 90 % of them took no more. Otherwise the reason says why not'
complete -c cr-turns -l override -d 'Also replace `max_turns` of a task that has it'
complete -c cr-turns -l output-schema -d 'Print the JSON Schema of the object for one task, and do nothing else. Tasks of a plan have that of cr-orchestrate --task-schema'
complete -c cr-turns -s h -l help -d 'Print help'
complete -c cr-turns -s V -l version -d 'Print version'
