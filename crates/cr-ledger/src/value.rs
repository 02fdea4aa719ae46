//! A row of a query as JSON.

use cr_io::json_string;
use cr_ledger_db::rusqlite::types::ValueRef;
use cr_ledger_db::rusqlite::{self, Row};

/// The row as an object, with the names of its columns, in their order.
pub(crate) fn object(row: &Row<'_>, names: &[String]) -> rusqlite::Result<String> {
    let mut line = String::from("{");
    for (at, name) in names.iter().enumerate() {
        if at > 0 {
            line.push(',');
        }
        json_string(name, &mut line);
        line.push(':');
        value(row.get_ref(at)?, &mut line);
    }
    line.push('}');
    Ok(line)
}

/// Adds a value of the database; what is no text is shown as hexadecimal digits.
fn value(value: ValueRef<'_>, line: &mut String) {
    match value {
        ValueRef::Null => line.push_str("null"),
        ValueRef::Integer(number) => line.push_str(&number.to_string()),
        ValueRef::Real(number) => line.push_str(&serde_json::Value::from(number).to_string()),
        ValueRef::Text(text) => json_string(&String::from_utf8_lossy(text), line),
        ValueRef::Blob(bytes) => {
            let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
            json_string(&digits.collect::<String>(), line);
        }
    }
}
