//! The manual page of the views.

use std::collections::BTreeSet;

use cr_test::root;

use crate::case::Case;
use crate::record::summary;

#[test]
fn every_column_of_every_view_is_in_the_manual_page_and_no_other() {
    let case = Case::new();
    case.record(&summary("r1", "s1", 0.1));
    let query = "SELECT m.name AS view, c.name AS column FROM sqlite_master m,
        pragma_table_info(m.name) c WHERE m.type = 'view'";
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let rows = case.sql(query);
    let columns = rows
        .iter()
        .map(|row| (text(&row["view"]), text(&row["column"])));
    let columns: BTreeSet<(String, String)> = columns.collect();
    let page = std::fs::read_to_string(root().join("man/cr-ledger.5")).expect("the page");
    let mut view = "";
    let mut described = BTreeSet::new();
    for line in page.lines() {
        if let Some(name) = line.strip_prefix(".Ss The view ") {
            view = name;
        } else if let Some(column) = line.strip_prefix(".It Cm ") {
            described.insert((view.to_owned(), column.to_owned()));
        }
    }
    assert_eq!(columns, described);
}
