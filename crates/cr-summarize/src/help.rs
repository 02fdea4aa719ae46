//! The part of `--help` after the flags.

pub(crate) const AFTER: &str = "\
Examples:
  claude -p --output-format stream-json --verbose < prompt.md | cr-summarize
  cr-summarize run.ndjson | jq -r .result
  cr-summarize ~/.claude/projects/x/ | jq -s 'map(.cost_usd) | add'
  cr-summarize --full --pretty run.ndjson

Exit status, of one input:
  0        success
  1        failed, or a schema was not met
  2        the command line is wrong
  3        the limit of turns or money was reached
  4        a person must answer or permit something
  5        verification failed
  6        incomplete: there is no result
  65       the lines of the other tools are out of order
  66       an input cannot be opened
  74       reading or writing failed
  75       rate limit, overload or network: wait (`retry.at`) and run it again
  76       the context is exhausted
  77       not logged in, or no credit
  78       the file of prices is wrong
  124      a clock ran out before a result
  125-127  the agent could not be started
  128+n    ended by signal n
With several inputs, a directory, or --per-session: 0 if all were read.";
