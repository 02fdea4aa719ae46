//! The part of `--help` after the flags.

pub(crate) const AFTER: &str = "\
Examples:
  claude -p --output-format stream-json --verbose < prompt.md | cr-summarize
  cr-summarize run.ndjson | jq -r .result
  cr-summarize --total ~/.claude/projects/x/ | jq 'select(.total).cost_usd'
  cr-summarize --full --pretty run.ndjson

Output:
  One line of JSON. What is not known is null; `lower_bounds` names numbers that
  are only lower bounds. Without --full a summary has at most 4 kB: `truncated`
  names the fields that are cut, or null because of that. The manual page
  describes every field, --output-schema is for programs.

Several files:
  A session that was resumed or forked may have a copy of another one's history.
  A message with the same id, and the same request where both lines name it, is
  counted once. The file with the original counts it, whatever the order of the
  arguments: a stream before a log; a log whose lines do not say forkedFrom; the
  one whose first line is older; the one that ends earlier; standard input last.

  tokens, models, cost_usd, tool_calls, tools, subagents
                     without the copied messages: the sums over the files are
                     right. The cost in a log goes on from that of the session
                     it was copied from; the difference is null where the log of
                     that one does not say what it had cost then
  copied_messages    how many messages of this file another one counts
  cost_source        copy: all of them; cost_usd is 0
  session_cost_usd, num_turns, turns, results, result, messages, the context and
  the verdict        those of the file, as if it were read alone

  --total adds one line with \"total\": true: summaries, outcomes, the sums of the
  fields above, num_turns of all turns, cost_unknown (the summaries with work and
  no known cost), lower_bounds.

To recognise a run again:
  first_uuid, last_uuid
                     of the messages of the main thread; the stream and the log of
                     a run have the same
  messages, messages_digest
                     their number, and SHA-256 of their ids in order, each with a
                     newline behind it, the lines of one message counted once

Subagents:
  Their work is counted from their own logs, in SESSION/subagents or, as 2.0.x has
  them, in agent-*.jsonl beside the log of their session, and from the progress
  lines of that log where their own are missing. These lines lack a subagent's
  last message: tokens are a lower bound, and lower_bounds says so. A subagent's
  log that is named is summarised alone, with its own model, answer and context.

Session logs without a stop_reason (2.1.39 and older):
  Such a log does not say whether a text was the end of the answer: a tool call
  may have followed and been lost. It is complete (0) if a turn_duration or
  stop_hook_summary line, or a command of the CLI such as /exit, follows the text,
  else incomplete (6). A file-history-snapshot, last-prompt or queue-operation
  line tells nothing: they are written while the model works, too.

Exit status, of one input:
  0        success
  1        failed, or a schema was not met
  2        the command line is wrong
  3        the limit of turns or money was reached
  4        a person must answer or permit something
  5        verification failed
  6        incomplete: there is no result
  65       no line is Claude Code's, the lines of the other tools are out of
           order, or compressed data is damaged
  66       an input cannot be opened
  74       reading or writing failed
  75       rate limit, overload or network: wait (`retry.at`) and run it again
  76       the context is exhausted
  77       not logged in, or no credit
  78       the file of prices, or the configuration for --estimate-cost, is wrong
  124      a clock ran out before a result
  125-127  the agent could not be started
  128+n    ended by signal n
With several inputs, a directory, or --per-session: 0 if all were read. Files
that gzip compressed are known by their first bytes; one that is cut off is a
recording whose last line is cut off.";
