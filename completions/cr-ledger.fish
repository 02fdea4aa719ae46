# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_cr_ledger_global_optspecs
    string join \n ledger= h/help V/version
end

function __fish_cr_ledger_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_cr_ledger_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_cr_ledger_using_subcommand
    set -l cmd (__fish_cr_ledger_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -l ledger -d 'The ledger, if it is not the one of the configuration' -r -F
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -s V -l version -d 'Print version'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "record" -d 'Record summaries, and pass them on'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "refresh" -d 'Print the handoff of a session, for the first prompt of a new one'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "milestone" -d 'Start, show and end milestones'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "import" -d 'Import session logs of the agent'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "report" -d 'Print what was used: messages, tokens and cost'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "merge" -d 'Add what other ledgers know'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "forget" -d 'Delete what the ledger knows of a project, or of the time before a date'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "export" -d 'Print a view as one JSON object a line, in a fixed order'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "sql" -d 'Run a query; prints one JSON object a row'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "task-turns" -d 'Print how many turns each finished task of a project and a kind took'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "next" -d 'Decide what to do before the next task: resume, refresh, wait or stop'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "backtest" -d 'Compare `next` with always resuming and always refreshing, on past sessions'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "quota" -d 'Print the usage windows of the account, as the agent last reported them'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "budget" -d 'Set limits for a day, a project or a milestone; `next` says stop at them'
complete -c cr-ledger -n "__fish_cr_ledger_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand record" -l task -d 'The task of a plan that the runs worked on' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand record" -l task-type -d 'The kind of that task, as cr-turns knows it' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand record" -l milestone -d 'The id of the milestone that the runs belong to' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand record" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand refresh" -l session -d 'The session' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand refresh" -l transcript -d 'Its log or stream, if it is elsewhere' -r -F
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand refresh" -l summarizer -d 'A command for `sh -c` that makes the text: the deterministic handoff is its standard input, its standard output is used. If it fails, takes too long or writes nothing, the deterministic handoff is used [default: `summarizer` of the configuration]' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand refresh" -l summarizer-timeout -d 'How long that command may take' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand refresh" -l limit -d 'The longest text' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand refresh" -l json -d 'Print a JSON object: `session_id`, `text`, `source` (summarizer or record)'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand refresh" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and not __fish_seen_subcommand_from start end show ls help" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and not __fish_seen_subcommand_from start end show ls help" -f -a "start" -d 'Start a milestone; prints its id'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and not __fish_seen_subcommand_from start end show ls help" -f -a "end" -d 'End a milestone, and keep the handoff of its last session for the next one'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and not __fish_seen_subcommand_from start end show ls help" -f -a "show" -d 'Show a milestone with its sessions'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and not __fish_seen_subcommand_from start end show ls help" -f -a "ls" -d 'List the milestones of a project, the newest first'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and not __fish_seen_subcommand_from start end show ls help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from start" -l plan -d 'The work plan, for the first prompt of its sessions' -r -F
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from start" -l project -d 'The directory of the agents [default: the current one]' -r -F
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from end" -l status -d 'How it ended; one that is abandoned leaves no handoff' -r -f -a "completed\t''
abandoned\t''"
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from end" -l project -d 'The directory of the agents [default: the current one]' -r -F
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from end" -l summarizer -d 'A command for `sh -c` that makes the text: the deterministic handoff is its standard input, its standard output is used. If it fails, takes too long or writes nothing, the deterministic handoff is used [default: `summarizer` of the configuration]' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from end" -l summarizer-timeout -d 'How long that command may take' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from end" -l limit -d 'The longest text' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from end" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from show" -l project -d 'The directory of the agents [default: the current one]' -r -F
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from show" -l json -d 'Print a JSON object'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from ls" -l project -d 'The directory of the agents [default: the current one]' -r -F
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from ls" -l all -d 'Those of all projects'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from ls" -l json -d 'Print one JSON object a line'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from ls" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from help" -f -a "start" -d 'Start a milestone; prints its id'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from help" -f -a "end" -d 'End a milestone, and keep the handoff of its last session for the next one'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show a milestone with its sessions'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from help" -f -a "ls" -d 'List the milestones of a project, the newest first'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand milestone; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand import" -l dry-run -d 'Say what would be read, and read nothing'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand import" -l json -d 'Print one JSON object'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand import" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand report" -l by -d 'What a row stands for' -r -f -a "day\t'Days, in their order'
project\t'Directories of the agents, the highest cost first'
model\t'Models, the highest cost first'
session\t'Sessions, the highest cost first'
milestone\t'Milestones, by the runs that name them; `-` is what belongs to none'
tool\t'Tools, the most calls first'
hour\t'Hours of the day from 00 to 23, over all days'"
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand report" -l since -d 'From this time on: a date, a time such as 2026-11-18T14:00:00Z, or a duration before now such as 7d; to a quarter of an hour' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand report" -l until -d 'Before this time; a date means to the end of that day' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand report" -l top -d 'Only the N rows with the highest cost (tools: calls); the total counts all' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand report" -l project -d 'Only agents that worked in this directory or below it' -r -F
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand report" -l model -d 'Only models with this text in their name' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand report" -l json -d 'Print one JSON object for each row, without the total'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand report" -l output-schema -d 'Print the JSON Schema of a row'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand merge" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand forget" -l project -d 'Of the agents that worked in this directory or below it' -r -F
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand forget" -l before -d 'Of the time before this day began, in local time; with --project both must hold' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand forget" -l dry-run -d 'Only say what would be deleted'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand forget" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand sql" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand task-turns" -l project -d 'The directory in which the agents worked' -r -F
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand task-turns" -l type -d 'The kind of task' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand task-turns" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand next" -l session -d 'The session' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand next" -l milestone -d 'The active session of a milestone, by its name or id' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand next" -l project -d 'The latest session of this directory or below it' -r -F
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand next" -l warn -d 'Warn from this part of the context window on, 0 to 1 [default: `context_warn` of the configuration, else 0.70]' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand next" -l refresh -d 'Refresh from this part on [default: `context_refresh`, else 0.80]' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand next" -l emergency -d 'Call the refresh an emergency from this part on [default: `context_emergency`, else 0.95]' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand next" -l context-window -d 'The size of the context window, if no run has told it' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand next" -l at -d 'As of this time, such as 2026-11-18T03:15:00Z, and not as of now; what was recorded later does not count' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand next" -l output-schema -d 'Print the JSON Schema of the object'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand next" -l live -d 'If the session is running, ask the agent how full its context is'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand next" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand backtest" -l project -d 'Only the sessions of this directory and below it' -r -F
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand backtest" -l warn -d 'Warn from this part of the context window on, 0 to 1 [default: `context_warn` of the configuration, else 0.70]' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand backtest" -l refresh -d 'Refresh from this part on [default: `context_refresh`, else 0.80]' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand backtest" -l emergency -d 'Call the refresh an emergency from this part on [default: `context_emergency`, else 0.95]' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand backtest" -l at -d 'As of this time, such as 2026-11-18T03:15:00Z, and not as of now; what was recorded later does not count' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand backtest" -l json -d 'Print one JSON object'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand backtest" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand quota" -l at -d 'As of this time, such as 2026-11-18T03:15:00Z, and not as of now; what was recorded later does not count' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand quota" -l json -d 'Print one JSON object'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand quota" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and not __fish_seen_subcommand_from set show remove check help" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and not __fish_seen_subcommand_from set show remove check help" -f -a "set" -d 'Set a limit, or change it'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and not __fish_seen_subcommand_from set show remove check help" -f -a "show" -d 'Print the budgets and what is used of them'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and not __fish_seen_subcommand_from set show remove check help" -f -a "remove" -d 'Remove limits; all of the day, project or milestone unless a unit is named'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and not __fish_seen_subcommand_from set show remove check help" -f -a "check" -d 'Say whether a budget is used up, before a new agent starts'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and not __fish_seen_subcommand_from set show remove check help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from set" -l per -d 'What it is for' -r -f -a "day\t'A day, for all projects together'
project\t'A directory and what is below it, from the beginning'
milestone\t'A milestone'"
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from set" -l usd -d 'Dollars' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from set" -l tokens -d 'Tokens' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from set" -l quota -d 'Per cent of the account\'s window of 5 hours' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from show" -l at -d 'As of this time, such as 2026-11-18T03:15:00Z, and not as of now; what was recorded later does not count' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from show" -l json -d 'Print one JSON object a line'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from remove" -l per -d 'What it is for' -r -f -a "day\t'A day, for all projects together'
project\t'A directory and what is below it, from the beginning'
milestone\t'A milestone'"
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from remove" -l usd -d 'Only the one in dollars'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from remove" -l tokens -d 'Only the one in tokens'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from remove" -l quota -d 'Only the one in per cent of the window of 5 hours'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from check" -l project -d 'The directory of the agent' -r -F
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from check" -l milestone -d 'The milestone of the work' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from check" -l at -d 'As of this time, such as 2026-11-18T03:15:00Z, and not as of now; what was recorded later does not count' -r
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from help" -f -a "set" -d 'Set a limit, or change it'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print the budgets and what is used of them'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Remove limits; all of the day, project or milestone unless a unit is named'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from help" -f -a "check" -d 'Say whether a budget is used up, before a new agent starts'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand budget; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "record" -d 'Record summaries, and pass them on'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "refresh" -d 'Print the handoff of a session, for the first prompt of a new one'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "milestone" -d 'Start, show and end milestones'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "import" -d 'Import session logs of the agent'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "report" -d 'Print what was used: messages, tokens and cost'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "merge" -d 'Add what other ledgers know'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "forget" -d 'Delete what the ledger knows of a project, or of the time before a date'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "export" -d 'Print a view as one JSON object a line, in a fixed order'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "sql" -d 'Run a query; prints one JSON object a row'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "task-turns" -d 'Print how many turns each finished task of a project and a kind took'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "next" -d 'Decide what to do before the next task: resume, refresh, wait or stop'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "backtest" -d 'Compare `next` with always resuming and always refreshing, on past sessions'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "quota" -d 'Print the usage windows of the account, as the agent last reported them'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "budget" -d 'Set limits for a day, a project or a milestone; `next` says stop at them'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and not __fish_seen_subcommand_from record refresh milestone import report merge forget export sql task-turns next backtest quota budget help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and __fish_seen_subcommand_from milestone" -f -a "start" -d 'Start a milestone; prints its id'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and __fish_seen_subcommand_from milestone" -f -a "end" -d 'End a milestone, and keep the handoff of its last session for the next one'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and __fish_seen_subcommand_from milestone" -f -a "show" -d 'Show a milestone with its sessions'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and __fish_seen_subcommand_from milestone" -f -a "ls" -d 'List the milestones of a project, the newest first'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and __fish_seen_subcommand_from budget" -f -a "set" -d 'Set a limit, or change it'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and __fish_seen_subcommand_from budget" -f -a "show" -d 'Print the budgets and what is used of them'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and __fish_seen_subcommand_from budget" -f -a "remove" -d 'Remove limits; all of the day, project or milestone unless a unit is named'
complete -c cr-ledger -n "__fish_cr_ledger_using_subcommand help; and __fish_seen_subcommand_from budget" -f -a "check" -d 'Say whether a budget is used up, before a new agent starts'
