//! Rows below each other, with bars beside them on a terminal.

use super::bars::bar;

/// A bar is not longer than this, in characters.
const LONGEST_BAR: usize = 40;

/// A bar that would be shorter is left out.
const SHORTEST_BAR: usize = 4;

/// Columns are left out for a bar of this length.
const USUAL_BAR: usize = 10;

/// Columns are left out for this much of the first column.
const USUAL_LABEL: usize = 24;

/// The first column is not made narrower than this.
const NARROWEST_LABEL: usize = 12;

/// The width of a terminal that does not say it.
const USUAL_WIDTH: usize = 80;

const GAP: &str = "  ";
const DIM: &str = "\x1b[2m";
const CYAN: &str = "\x1b[36m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// A table: the first column is text, the others are numbers.
#[derive(Debug)]
pub(super) struct Table {
    head: Vec<String>,
    /// The cells of a row, and its size for the bar.
    rows: Vec<(Vec<String>, Option<i64>)>,
    may_leave_out: Vec<usize>,
}

impl Table {
    pub(super) fn new(head: &[&str]) -> Self {
        Self {
            head: head.iter().map(ToString::to_string).collect(),
            rows: Vec::new(),
            may_leave_out: Vec::new(),
        }
    }

    /// Adds a row that has a bar.
    pub(super) fn row(&mut self, cells: Vec<String>, size: i64) {
        self.rows.push((cells, Some(size)));
    }

    /// Adds a row without a bar: a sum of others.
    pub(super) fn rest(&mut self, cells: Vec<String>) {
        self.rows.push((cells, None));
    }

    /// These columns are left out, in this order, where a line with a bar does not
    /// fit into the terminal.
    pub(super) fn may_leave_out(&mut self, columns: &[usize]) {
        self.may_leave_out = columns.to_vec();
    }

    /// The lines. With a width there are bars, columns may be left out, and the
    /// first one is cut so that a line fits, if it can be.
    pub(super) fn lines(&self, width: Option<usize>, colour: bool) -> Vec<String> {
        let layout = self.layout(width);
        let sizes = self.rows.iter().filter_map(|(_, size)| *size);
        let largest = sizes.max().unwrap_or(0);
        let paint = |text: &str, style: &str| {
            if colour {
                format!("{style}{text}{RESET}")
            } else {
                text.to_owned()
            }
        };
        let mut lines = vec![paint(layout.line(&self.head).trim_end(), DIM)];
        for (cells, size) in &self.rows {
            let text = layout.line(cells);
            let bar = size.map(|size| bar(size, largest, layout.bar));
            lines.push(match bar {
                None => paint(text.trim_end(), BOLD),
                Some(bar) if bar.is_empty() => text.trim_end().to_owned(),
                Some(bar) => format!("{text}{GAP}{}", paint(&bar, CYAN)),
            });
        }
        lines
    }

    fn layout(&self, width: Option<usize>) -> Layout {
        let mut layout = Layout {
            columns: self.widths().into_iter().enumerate().collect(),
            bar: 0,
        };
        let Some(width) = width else { return layout };
        let label = layout.columns[0].1;
        layout.columns[0].1 = label.min(USUAL_LABEL);
        for left_out in &self.may_leave_out {
            if layout.width() + GAP.len() + USUAL_BAR <= width {
                break;
            }
            layout.columns.retain(|(column, _)| column != left_out);
        }
        let narrowest = NARROWEST_LABEL.min(label);
        let others = layout.width() - layout.columns[0].1;
        let room = width.saturating_sub(others + GAP.len() + USUAL_BAR);
        layout.columns[0].1 = room.clamp(narrowest, label);
        layout.bar = width
            .saturating_sub(layout.width() + GAP.len())
            .min(LONGEST_BAR);
        if layout.bar < SHORTEST_BAR {
            layout.bar = 0;
        }
        layout
    }

    fn widths(&self) -> Vec<usize> {
        let all = || std::iter::once(&self.head).chain(self.rows.iter().map(|(cells, _)| cells));
        let width = |column: usize| all().map(|cells| cells[column].chars().count()).max();
        let columns = 0..self.head.len();
        columns.map(|column| width(column).unwrap_or(0)).collect()
    }
}

/// Which columns are shown, and how wide.
#[derive(Debug)]
struct Layout {
    columns: Vec<(usize, usize)>,
    bar: usize,
}

impl Layout {
    /// The width of a line without its bar.
    fn width(&self) -> usize {
        let own: usize = self.columns.iter().map(|(_, width)| width).sum();
        own + GAP.len() * (self.columns.len() - 1)
    }

    fn line(&self, cells: &[String]) -> String {
        let (label, width) = (&cells[0], self.columns[0].1);
        let mut text = match cr_io::first_chars(label, width) {
            (label, false) => format!("{label:<width$}"),
            (_, true) => format!("{}…", cr_io::first_chars(label, width - 1).0),
        };
        for (column, width) in self.columns.iter().skip(1) {
            text += &format!("{GAP}{:>width$}", cells[*column], width = *width);
        }
        text
    }
}

/// A number with a comma after each three digits.
pub(super) fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The columns of the terminal on standard output.
pub(super) fn terminal_width() -> usize {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    match size {
        Ok(size) if size.ws_col > 0 => size.ws_col.into(),
        _ => USUAL_WIDTH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["DAY", "N"]);
        table.row(vec!["a-rather-long-label".to_owned(), "8".to_owned()], 8);
        table.row(vec!["b".to_owned(), "1,000".to_owned()], 4);
        table.rest(vec!["total".to_owned(), "1,008".to_owned()]);
        table
    }

    #[test]
    fn a_table_without_a_terminal_has_neither_bars_nor_colour() {
        let lines = table().lines(None, false);
        let expected = [
            "DAY                      N",
            "a-rather-long-label      8",
            "b                    1,000",
            "total                1,008",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn bars_take_the_rest_of_the_width_and_a_label_is_cut_if_there_is_none() {
        let lines = table().lines(Some(38), false);
        assert_eq!(lines[1], "a-rather-long-label      8  ██████████");
        assert_eq!(lines[2], "b                    1,000  █████");
        let lines = table().lines(Some(32), false);
        assert_eq!(lines[1], "a-rather-lon…      8  ██████████");
        let lines = table().lines(Some(3), true);
        assert_eq!(lines[1], "a-rather-lo…      8");
        assert_eq!(lines[3], "\x1b[1mtotal         1,008\x1b[0m");
    }

    #[test]
    fn columns_are_left_out_where_a_bar_does_not_fit() {
        let mut table = Table::new(&["DAY", "ONE", "TWO"]);
        let cells = ["2026-11-18", "1", "2"];
        table.row(cells.map(str::to_owned).to_vec(), 8);
        table.may_leave_out(&[2, 1]);
        assert_eq!(
            table.lines(Some(32), false)[1],
            "2026-11-18    1    2  ██████████"
        );
        assert_eq!(
            table.lines(Some(31), false)[1],
            "2026-11-18    1  ██████████████"
        );
        assert_eq!(table.lines(Some(31), false)[0], "DAY         ONE");
        assert_eq!(table.lines(None, false)[1], "2026-11-18    1    2");
    }

    #[test]
    fn a_number_has_commas() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (-1_234_567, "-1,234,567"),
            (i64::MIN, "-9,223,372,036,854,775,808"),
        ];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }
}
