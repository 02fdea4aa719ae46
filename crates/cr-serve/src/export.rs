//! `--export`: the page with one recording in it, as a file that needs nothing else.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow};
use cr_event::{Event, Kind, strip};
use cr_io::{Exit, Input, Line, Lines, Redactor, find_tool, json_string, read_failure};
use cr_rundir::{Run, file};
use sha2::{Digest, Sha256};

use crate::assets::{PAGE, PROGRAM, STYLE};
use crate::{encode, source};

/// What of the page is replaced.
const STYLE_LINK: &str = "<link rel=\"stylesheet\" href=\"/style.css\">\n";
const PROGRAM_LINK: &str = "<script src=\"/app.js\" defer></script>\n";
const ICON_LINK: &str = "<link rel=\"icon\" href=\"/icon.svg\">\n";

/// What is exported.
struct Recording {
    name: String,
    transcript: PathBuf,
    run: Option<Run>,
}

/// Writes the page with the only one of `files` to `to`.
pub(crate) fn write(files: &[PathBuf], to: &Path, runs: &Path) -> anyhow::Result<Exit> {
    let [file] = files else {
        return Err(anyhow!("--export takes one recording or run").context(Exit::Usage));
    };
    let recording = find(file, runs)?;
    let redactor = Redactor::from_env();
    let lines = lines(&recording.transcript, &redactor)?;
    let summary = summary(&recording);
    let git = recording.run.as_ref().map(|run| run.file(file::GIT));
    let git = git.and_then(|path| std::fs::read(path).ok());
    let document = |text: Option<Vec<u8>>| {
        let is_json =
            |text: &Vec<u8>| serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok();
        let text = text.filter(is_json);
        text.map_or_else(
            || "null".to_owned(),
            |text| encode::document(&text, &redactor),
        )
    };
    let mut name = String::new();
    let mut quoted = String::new();
    json_string(&redactor.redact(&recording.name), &mut quoted);
    encode::json(&quoted, &mut name);
    let (summary, git) = (document(summary), document(git));
    let data =
        format!("{{\"name\":{name},\"summary\":{summary},\"git\":{git},\"lines\":[{lines}]}}");
    let out = File::create(to).with_context(|| to.display().to_string());
    let mut out = BufWriter::new(out.context(Exit::Io)?);
    let written = out
        .write_all(page(&data).as_bytes())
        .and_then(|()| out.flush());
    written
        .with_context(|| to.display().to_string())
        .context(Exit::Io)?;
    Ok(Exit::Ok)
}

fn find(name: &Path, runs: &Path) -> anyhow::Result<Recording> {
    if name.is_file() {
        let label = name.file_name().unwrap_or_default();
        return Ok(Recording {
            name: label.to_string_lossy().into_owned(),
            transcript: name.to_owned(),
            run: None,
        });
    }
    let run = cr_rundir::find_run(runs, &name.to_string_lossy())?;
    Ok(Recording {
        name: run.started().name.unwrap_or_else(|| run.id()),
        transcript: source::transcript(&run),
        run: Some(run),
    })
}

/// The lines as the elements of an array, without the pieces of messages.
fn lines(transcript: &Path, redactor: &Redactor) -> anyhow::Result<String> {
    let input = Input::File(transcript.to_owned()).open()?;
    let mut lines = Lines::new(input);
    let mut out = String::new();
    loop {
        let (line, is_long) = match lines.next().map_err(read_failure)? {
            None => return Ok(out),
            Some(Line::Whole(line) | Line::Torn(line)) => (line.to_vec(), false),
            Some(Line::Long(head)) => {
                let head = head[..head.len().min(LONGEST)].to_vec();
                match lines.whole().map_err(read_failure)? {
                    Some(Line::Whole(line) | Line::Torn(line) | Line::Long(line))
                        if line.len() <= LONGEST =>
                    {
                        (line.to_vec(), false)
                    }
                    Some(_) => (head, true),
                    None => {
                        lines.pass(|_| ()).map_err(read_failure)?;
                        (head, true)
                    }
                }
            }
        };
        element(strip(&line), is_long, redactor, &mut out);
    }
}

/// Bytes of a longer line that are kept.
const LONGEST: usize = 1 << 20;

fn element(line: &[u8], is_long: bool, redactor: &Redactor, out: &mut String) {
    let masked = redactor.redact_bytes(line);
    let text = String::from_utf8_lossy(&masked);
    let event = Event::parse(text.as_bytes());
    let is_piece = |event: &Event<'_>| event.kind == Kind::StreamEvent;
    if text.is_empty() || event.as_ref().is_ok_and(is_piece) {
        return;
    }
    if !out.is_empty() {
        out.push_str(",\n");
    }
    // Deeper errors than the event's would break the whole array.
    let is_json = || serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
    if !is_long && event.is_ok() && is_json() {
        encode::json(&text, out);
    } else {
        let mut string = String::new();
        json_string(&text, &mut string);
        encode::json(&string, out);
    }
}

/// The summary that the run has left, else that of the transcript.
fn summary(recording: &Recording) -> Option<Vec<u8>> {
    let kept = recording.run.as_ref().map(|run| run.file(file::SUMMARY));
    if let Some(text) = kept.and_then(|path| std::fs::read(path).ok()) {
        return Some(text);
    }
    let mut child = Command::new(find_tool("cr-summarize"))
        .args(["--full", "--estimate-cost", "--"])
        .arg(&recording.transcript)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut text = Vec::new();
    let read = child.stdout.take()?.read_to_end(&mut text);
    // Its code is the verdict on the run.
    child.wait().ok()?;
    read.ok()?;
    Some(text)
}

/// The page with everything in it. Only its own program runs there.
fn page(data: &str) -> String {
    let style = format!("\n{STYLE}");
    let program = format!("\n{PROGRAM}");
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'",
        digest(&program),
        digest(&style)
    );
    let head = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<style>{style}</style>\n"
    );
    let body = format!(
        "<script type=\"application/json\" id=\"recording\">{data}</script>\n\
         <script>{program}</script>\n</body>"
    );
    PAGE.replace(ICON_LINK, "")
        .replace(STYLE_LINK, &head)
        .replace(PROGRAM_LINK, "")
        .replace("</body>", &body)
}

/// SHA-256 in base64, as a policy names a text.
fn digest(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let hash = Sha256::digest(text.as_bytes());
    let mut out = String::new();
    for part in hash.chunks(3) {
        let bytes = [
            part[0],
            part.get(1).copied().unwrap_or(0),
            part.get(2).copied().unwrap_or(0),
        ];
        let number = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
        for place in 0..4 {
            let letter = (number >> (18 - 6 * place)) & 63;
            let is_there = place <= part.len();
            out.push(if is_there {
                char::from(LETTERS[letter as usize])
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_of_the_page_is_found_and_replaced() {
        let page = page("{}");
        assert!(!page.contains("href=\"/") && !page.contains("src=\""));
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!PROGRAM.contains("</script") && !STYLE.contains("</style"));
    }

    #[test]
    fn a_digest_is_that_of_other_tools() {
        let expected = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=";
        assert_eq!(digest("hello"), expected);
    }
}
