//! `cr-extract`: the answer of a run, as JSON or as text.
//!
//! `find` reads an input and gives its [`Answer`]; `rules` chooses the JSON in
//! it. The output is a part of the input, byte for byte.

mod answer;
mod answer_line;
mod args;
mod backwards;
mod find;
mod foreign;
mod line;
mod rules;
mod schema;
mod stream;

use std::io::Write;
use std::path::Path;

use anyhow::anyhow;
use cr_io::{Exit, Input, Out, exit_of, inputs, message, read_failure};

use serde_json::value::RawValue;

pub use args::{Args, Form};

use answer::{Answer, Missing};
use answer_line::AnswerLine;
use find::ReadOptions;
use schema::Schema;

/// Prints the answer of each input to `out`; notes go to `notes`.
pub fn run(args: &Args, out: impl Write, notes: impl Write) -> anyhow::Result<Exit> {
    if args.output_schema {
        return cr_io::print_schema(answer_line::SCHEMA, out);
    }
    if let (true, Some(path)) = (args.check, &args.schema) {
        return schema::check(path).map(|()| Exit::Ok);
    }
    let schema = args.schema.as_deref().map(Schema::read).transpose()?;
    let sources = inputs(&args.files)?;
    let is_dir = |name: &std::path::PathBuf| name.is_dir();
    let mut extract = Extract {
        args,
        schema,
        are_many: sources.len() > 1 || args.files.iter().any(is_dir),
        out: Out::new(out).outlive_reader(args.verdict),
        notes,
    };
    if args.verdict {
        let exit = extract.verdict(&sources)?;
        extract.out.flush()?;
        return Ok(exit);
    }
    let mut exit = Exit::Ok;
    for input in &sources {
        match extract.input(input) {
            Ok(()) => {}
            Err(err) if matches!(exit_of(&err), Exit::Gone | Exit::Io) => {
                // Answers that came before are written, if that is possible.
                let _ = extract.out.flush();
                return Err(err);
            }
            Err(err) if !extract.are_many => {
                // Also if the last line is cut off there may be an answer.
                extract.out.flush()?;
                return Err(err);
            }
            // The other files are read all the same.
            Err(err) => {
                exit = worse(exit, exit_of(&err));
                extract.note(&message(&err));
            }
        }
    }
    extract.out.flush()?;
    Ok(exit)
}

/// The higher code of the two.
fn worse(one: Exit, other: Exit) -> Exit {
    if one.code() >= other.code() {
        one
    } else {
        other
    }
}

struct Extract<'a, W, N> {
    args: &'a Args,
    schema: Option<Schema>,
    /// Each answer is a line with the name of its file.
    are_many: bool,
    out: Out<W>,
    notes: N,
}

impl<W: Write, N: Write> Extract<'_, W, N> {
    /// Prints the answer of one input; no answer is an error.
    fn input(&mut self, input: &Input) -> anyhow::Result<()> {
        let name = input.name();
        let answer = self.find(input).map_err(|err| named(name, err))?;
        let is_cut = answer.is_cut;
        let printed = if self.args.text {
            self.text(name, answer)
        } else {
            self.json(name, &answer)
        };
        let ended = printed.and_then(|()| check_end(is_cut));
        ended.map_err(|err| named(name, err))
    }

    /// Prints the answer of the one input if its run went well; returns the
    /// verdict.
    fn verdict(&mut self, inputs: &[Input]) -> anyhow::Result<Exit> {
        let [input] = inputs else {
            return Err(anyhow!("--verdict is for one input").context(Exit::Usage));
        };
        let mut opened = input.open()?;
        opened.outlive_reader();
        let found = find::with_verdict(&mut opened, self.options()).map_err(read_failure)?;
        opened.check_whole()?;
        let (Some(verdict), answer) = found else {
            return Err(anyhow!("no summary at the end").context(Exit::Data));
        };
        if verdict.code != 0 {
            return Err(anyhow!(verdict.message).context(Exit::Code(verdict.code)));
        }
        match self.text(input.name(), answer) {
            // The run went well without an answer.
            Err(err) if exit_of(&err) == Exit::No => self.note(&message(&err)),
            printed => printed?,
        }
        Ok(Exit::Ok)
    }

    fn options(&self) -> ReadOptions {
        ReadOptions {
            form: self.args.from,
            limit: self.args.max_line,
        }
    }

    fn find(&self, input: &Input) -> anyhow::Result<Answer> {
        let options = self.options();
        let mut opened = input.open()?;
        if let Some(file) = opened.file() {
            let found = find::in_file(file, options).map_err(read_failure)?;
            if let Some(answer) = found {
                return Ok(answer);
            }
        }
        let answer = find::in_stream(&mut opened, options).map_err(read_failure)?;
        // The last answer may be in the part that is missing.
        opened.check_whole()?;
        Ok(answer)
    }

    fn text(&mut self, name: Option<&Path>, answer: Answer) -> anyhow::Result<()> {
        let origin = answer.origin;
        let text = match (answer.missing, answer.structured, answer.text) {
            (Some(missing), ..) => return Err(no_answer(&missing)),
            (None, Some(text), _) | (None, None, Some(text)) => text,
            (None, None, None) => return Err(anyhow!("no answer").context(Exit::No)),
        };
        self.explain(name, &origin.to_string());
        if self.are_many {
            return self.row(name, Some(&text), None);
        }
        let line = text.strip_suffix('\n').unwrap_or(&text);
        self.out.line(line.as_bytes())
    }

    fn json(&mut self, name: Option<&Path>, answer: &Answer) -> anyhow::Result<()> {
        let choice = match rules::choose(answer, self.args, self.schema.as_ref()) {
            Ok(choice) => choice,
            Err(violation) => return Err(self.no_json(answer, violation)),
        };
        self.explain(name, &format!("{}, {}", answer.origin, choice.rule));
        let is_row = self.are_many || self.args.all;
        for json in choice.json {
            let compact = (is_row || self.args.compact).then(|| cr_json::compact(json));
            let json = compact.as_deref().unwrap_or(json);
            if self.are_many {
                self.row(name, None, Some(serde_json::from_str(json)?))?;
            } else {
                self.out.line(json.as_bytes())?;
            }
        }
        Ok(())
    }

    fn no_json(&self, answer: &Answer, violation: Option<String>) -> anyhow::Error {
        if let Some(missing) = &answer.missing {
            return no_answer(missing);
        }
        let schema = self.args.schema.as_deref().unwrap_or(Path::new(""));
        let message = match violation {
            Some(violation) => format!("does not satisfy {}: {violation}", schema.display()),
            None if answer.text.is_none() => "no answer".to_owned(),
            None => "no JSON in the answer".to_owned(),
        };
        anyhow!(message).context(Exit::No)
    }

    fn row(
        &mut self,
        name: Option<&Path>,
        text: Option<&str>,
        json: Option<&RawValue>,
    ) -> anyhow::Result<()> {
        let file = name.map_or("-".into(), Path::to_string_lossy);
        let row = serde_json::to_vec(&AnswerLine { file, text, json })?;
        self.out.line(&row)
    }

    fn explain(&mut self, name: Option<&Path>, text: &str) {
        if self.args.verbose {
            let place = name.map_or(String::new(), |name| format!("{}: ", name.display()));
            self.note(&format!("{place}{text}"));
        }
    }

    /// Writes a note; a failure to do so stops nothing.
    fn note(&mut self, text: &str) {
        let note = format!("cr-extract: {text}\n");
        let _ = self.notes.write_all(note.as_bytes());
    }
}

/// An error where the last line is cut off: it may have been a later answer.
fn check_end(is_cut: bool) -> anyhow::Result<()> {
    let text = "the last line is cut off: the answer may be an earlier one";
    if is_cut {
        return Err(anyhow!(text).context(Exit::Data));
    }
    Ok(())
}

/// The error with the name of its input, if it is about the input.
fn named(name: Option<&Path>, err: anyhow::Error) -> anyhow::Error {
    let exit = exit_of(&err);
    match (name, exit) {
        (Some(_), Exit::Gone | Exit::Io | Exit::NoInput) | (None, _) => err,
        (Some(name), _) => err.context(name.display().to_string()).context(exit),
    }
}

fn no_answer(missing: &Missing) -> anyhow::Error {
    anyhow!(missing.to_string()).context(missing.exit())
}
