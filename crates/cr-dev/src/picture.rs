//! A picture of a terminal: text with colours as SVG.

use std::io::{Read, Write};

use cr_io::Exit;

/// Columns of the terminal; a longer line is cut, and says so.
const COLUMNS: usize = 100;
/// Pixels of a character, of a line, and around all.
const WIDTH: f64 = 8.4;
const HEIGHT: usize = 20;
const MARGIN: usize = 16;

/// The colours of a picture: background, text, and those of labels.
struct Palette {
    back: &'static str,
    text: &'static str,
    dim: &'static str,
    strong: &'static str,
    good: &'static str,
    warning: &'static str,
    error: &'static str,
}

const LIGHT: Palette = Palette {
    back: "#f6f8fa",
    text: "#1f2328",
    dim: "#59636e",
    strong: "#0550ae",
    good: "#116329",
    warning: "#7d4e00",
    error: "#b31d28",
};

const DARK: Palette = Palette {
    back: "#151b23",
    text: "#e6edf3",
    dim: "#9198a1",
    strong: "#79c0ff",
    good: "#56d364",
    warning: "#e3b341",
    error: "#ff7b72",
};

/// Reads what a terminal got, and writes its picture.
pub(crate) fn run(dark: bool, mut input: impl Read, mut out: impl Write) -> anyhow::Result<Exit> {
    let mut text = String::new();
    input.read_to_string(&mut text)?;
    let palette = if dark { DARK } else { LIGHT };
    out.write_all(svg(&text, &palette).as_bytes())?;
    Ok(Exit::Ok)
}

fn svg(text: &str, palette: &Palette) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    #[expect(clippy::cast_precision_loss, reason = "a hundred columns")]
    let width = (COLUMNS as f64) * WIDTH + 2.0 * (MARGIN as f64);
    let height = lines.len() * HEIGHT + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height}\" \
         width=\"{width:.0}\" height=\"{height}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n\
         <g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" \
         font-size=\"14\" fill=\"{}\" xml:space=\"preserve\">\n",
        palette.back, palette.text
    );
    for (number, line) in lines.iter().enumerate() {
        let y = MARGIN + number * HEIGHT + 15;
        svg += &row(line.trim_end_matches('\r'), y, palette);
    }
    svg + "</g>\n</svg>\n"
}

/// One line of text at `y`. Each piece has its place and length, so that it looks
/// the same in every font.
fn row(line: &str, y: usize, palette: &Palette) -> String {
    let mut text = String::new();
    let mut column = 0;
    for (piece, colour) in pieces(line, palette) {
        let left = COLUMNS.saturating_sub(column);
        let mut shown: String = piece.chars().take(left).collect();
        if piece.chars().count() > left && shown.pop().is_some() {
            shown.push('…');
        }
        let count = shown.chars().count();
        if !shown.trim().is_empty() {
            #[expect(clippy::cast_precision_loss, reason = "a hundred columns")]
            let (x, length) = (MARGIN as f64 + column as f64 * WIDTH, count as f64 * WIDTH);
            text += &format!(
                "<text x=\"{x:.1}\" y=\"{y}\" textLength=\"{length:.1}\" fill=\"{colour}\">{}</text>\n",
                escaped(&shown)
            );
        }
        column += count;
    }
    text
}

/// The pieces of a line with their colours.
fn pieces<'a>(line: &'a str, palette: &Palette) -> Vec<(&'a str, &'static str)> {
    if line.starts_with("$ ") {
        return vec![(line, palette.strong)];
    }
    let (time, rest) = match line.find("] ") {
        Some(at) if line.starts_with('[') => line.split_at(at + 2),
        _ => ("", line),
    };
    let mut pieces = vec![(time, palette.dim)];
    for (number, piece) in rest.split("\u{1b}[").enumerate() {
        let (code, text) = match piece.split_once('m') {
            Some(parts) if number > 0 => parts,
            _ => ("", piece),
        };
        let colour = match code {
            "1" => palette.strong,
            "32" => palette.good,
            "33" => palette.warning,
            "31" => palette.error,
            _ => palette.text,
        };
        pieces.push((text, colour));
    }
    pieces
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_text_its_colours_and_its_columns() {
        let line = "[12:00:00] \u{1b}[31mFailed\u{1b}[0m: a < b & c";
        let text = row(line, 31, &LIGHT);
        assert!(text.contains("fill=\"#b31d28\">Failed</text>"), "{text}");
        assert!(text.contains(">: a &lt; b &amp; c</text>"), "{text}");
        assert!(text.contains("x=\"108.4\""), "after eleven columns: {text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        let text = row(&"x".repeat(COLUMNS + 1), 31, &DARK);
        assert!(
            text.contains(&format!("{}…<", "x".repeat(COLUMNS - 1))),
            "{text}"
        );
    }
}
