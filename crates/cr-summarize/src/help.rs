//! The part of `--help` after the flags.

pub(crate) const AFTER: &str = "\
Examples:
  claude -p --output-format stream-json --verbose < prompt.md | cr-summarize
  cr-summarize run.ndjson | jq -r .result
  cr-summarize ~/.claude/projects/x/ | jq -s 'map(.cost_usd) | add'
  cr-summarize --full --pretty run.ndjson

Fields that say how much is known:
  tokens.output      null where the stream has only the provisional counts of
                     calls that no result covers
  tokens.cache_creation_5m, tokens.cache_creation_1h
                     the parts of cache_creation that are kept for five minutes
                     and for an hour; null where a line does not say it
  models             {\"MODEL\": {input, output, cache_read, cache_creation,
                     cache_creation_5m, cache_creation_1h, cost_usd}}
  models_total       their number, where not all are shown
  lower_bounds       the fields whose number is only a lower bound:
                     tokens.output, models, cost_usd. Work after the last result
                     has no cost, and its output is provisional
  sessions           the number of sessions, if there are several: tokens, cost
                     and turns are those of all, the verdict, result and
                     num_turns those of the last
  result             the answer; the last words of the model where a limit was
                     reached or a result is missing

Exit status, of one input:
  0        success
  1        failed, or a schema was not met
  2        the command line is wrong
  3        the limit of turns or money was reached
  4        a person must answer or permit something
  5        verification failed
  6        incomplete: there is no result
  65       no line is Claude Code's, or the lines of the other tools are out of
           order
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
