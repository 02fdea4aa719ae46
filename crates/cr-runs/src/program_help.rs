//! Help for programs that call `claude-runner`, a part of its manual page.

/// `help`, after the part that only the long form has.
pub(crate) fn with_program_help(help: &str) -> String {
    format!("{PROGRAM_HELP}\n\n{help}")
}

/// The options and results are those of `runClaude`, which many wrappers have.
const PROGRAM_HELP: &str = "\
Answers:
With --output answer, standard output is the answer of a run that went well and is else
empty; progress is on standard error, and the exit status is the verdict
  without a schema  the final text, as it was written
  with --json-schema  the JSON that was asked for, as it was written: its numbers, the
                    order of its keys, its blanks
  otherwise         nothing; why, and what to do, is on standard error, and the exit
                    status is the verdict. A schema that was ignored is `no_answer`, 1

Calling it from a program:
With --json the summary is all of standard output. The options of `runClaude`, as
`ClaudeRunOptions` names them, are these
  prompt            --prompt, --prompt-file, an argument or standard input
  outputFile        --output-file: every line of the stream, also of a run that fails;
                    lines of the type cr are ours
  maxTurns          --max-turns
  model             --model
  allowedTools      --allowed-tools, once for each
  continueSession   --resume; --continue takes no session and means the last one
  cwd               --cwd
  timeout           --timeout, in seconds (or 2h30m), not in milliseconds: 90000 is 90
and the fields of its `ClaudeResult` are these of the summary
  success           `ok`
  output            the text of the file that `transcript` names, or --output-file
  exitCode          `exit_code`, the agent's own, -1 if it was killed; the verdict is `code`,
                    which is also the exit status
  jsonResult        `structured_output`, else `json`, which is found in the final text; where
                    `truncated` names them, cr-extract finds them in the `transcript`
  error             `errors`; `why` is one sentence of it, `next` says what to do
  error category    `category`: network, rate-limit, timeout, validation or logic";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_and_every_field_is_mapped() {
        let names = "prompt outputFile maxTurns model allowedTools continueSession cwd timeout \
                     success output exitCode jsonResult error";
        for name in names.split(' ') {
            let line = format!("\n  {name} ");
            assert!(PROGRAM_HELP.contains(&line), "{name}");
        }
    }
}
