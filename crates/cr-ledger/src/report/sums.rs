//! What a row of usage adds up.

use std::cmp::Ordering;

use super::By;
use super::table::{Table, grouped};

/// Sums of one or more quarters of an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) messages: i64,
    pub(super) input: i64,
    pub(super) output: i64,
    pub(super) cache_read: i64,
    pub(super) cache_creation: i64,
    pub(super) cache_creation_5m: i64,
    pub(super) cache_creation_1h: i64,
    pub(super) cost_nano: i64,
    pub(super) estimated_nano: i64,
    pub(super) unpriced: i64,
}

impl Sums {
    pub(super) fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_creation += other.cache_creation;
        self.cache_creation_5m += other.cache_creation_5m;
        self.cache_creation_1h += other.cache_creation_1h;
        self.cost_nano += other.cost_nano;
        self.estimated_nano += other.estimated_nano;
        self.unpriced += other.unpriced;
    }

    pub(super) fn tokens(&self) -> i64 {
        self.input + self.output + self.cache_read + self.cache_creation
    }

    /// The cost in billionths of a dollar, unless nothing of it is known.
    pub(super) fn cost(&self) -> Option<i64> {
        (self.cost_nano != 0 || self.unpriced <= 0).then_some(self.cost_nano)
    }

    fn cells(&self, label: String) -> Vec<String> {
        let mut cells = vec![label];
        let numbers = [
            self.messages,
            self.input,
            self.output,
            self.cache_read,
            self.cache_creation,
            self.tokens(),
        ];
        cells.extend(numbers.map(grouped));
        let sign = if self.unpriced > 0 { ">" } else { "" };
        let cost = self.cost().map(cr_ledger_db::dollars);
        let cost = cost.map(|cost| format!("{sign}${cost:.2}"));
        cells.push(cost.unwrap_or_else(|| "-".to_owned()));
        cells.push(self.estimated_share());
        cells
    }

    /// The part of the cost that is an estimate, in percent; rounded up, so that a
    /// part that there is never shows as none.
    fn estimated_share(&self) -> String {
        if self.estimated_nano <= 0 || self.cost_nano <= 0 {
            return String::new();
        }
        let share = i128::from(self.estimated_nano) * 100;
        let cost = i128::from(self.cost_nano);
        format!("{}%", ((share + cost - 1) / cost).min(100))
    }
}

/// A row: what it stands for, and its sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) key: Option<String>,
    /// The name of a milestone.
    pub(super) name: Option<String>,
    /// The directory of a session.
    pub(super) project: Option<String>,
    pub(super) sums: Sums,
}

impl Usage {
    /// The highest cost first, then the most tokens.
    pub(super) fn by_cost(a: &Self, b: &Self) -> Ordering {
        let size = |row: &Self| (row.sums.cost_nano, row.sums.tokens());
        size(b).cmp(&size(a)).then_with(|| a.key.cmp(&b.key))
    }

    fn label(&self) -> String {
        let key = self.key.as_deref().unwrap_or("-");
        match self.name.as_ref().or(self.project.as_ref()) {
            Some(name) => cr_io::sanitized(&format!("{key} {name}")),
            None => cr_io::sanitized(key),
        }
    }
}

fn total<'a>(rows: impl Iterator<Item = &'a Usage>) -> Sums {
    let mut total = Sums::default();
    rows.for_each(|row| total.add(&row.sums));
    total
}

/// The rows that are shown, the others as one, and the total.
pub(super) fn table(by: By, rows: &[Usage], others: &[Usage]) -> Table {
    let mut table = Table::new(&[
        by.head(),
        "MESSAGES",
        "INPUT",
        "OUTPUT",
        "CACHE READ",
        "CACHE WRITE",
        "TOKENS",
        "COST",
        "ESTIMATE",
    ]);
    // Cache, input and output, which are in the tokens; then messages.
    table.may_leave_out(&[5, 4, 2, 3, 1]);
    // Without a price the tokens say which row is large.
    let is_priced = rows.iter().any(|row| row.sums.cost_nano > 0);
    for row in rows {
        let sums = &row.sums;
        let size = if is_priced {
            sums.cost_nano
        } else {
            sums.tokens()
        };
        table.row(sums.cells(row.label()), size);
    }
    if !others.is_empty() {
        let label = format!("({} more)", others.len());
        table.rest(total(others.iter()).cells(label));
    }
    let all = rows.iter().chain(others);
    table.rest(total(all).cells("total".to_owned()));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_unknown_or_marked_where_a_price_or_the_whole_is_missing() {
        let cases = [
            ((0, 0, 0), "$0.00", ""),
            ((0, 0, 2), "-", ""),
            ((2_000_000_000, 0, 2), ">$2.00", ""),
            ((2_000_000_000, 1_000_000, 0), "$2.00", "1%"),
            ((2_000_000_000, 2_000_000_000, 0), "$2.00", "100%"),
        ];
        for ((cost_nano, estimated_nano, unpriced), cost, share) in cases {
            let sums = Sums {
                cost_nano,
                estimated_nano,
                unpriced,
                ..Sums::default()
            };
            let cells = sums.cells("x".to_owned());
            assert_eq!(cells[7..], [cost.to_owned(), share.to_owned()]);
        }
    }
}
