//! The printed form of a summary.

use crate::Summary;

impl Summary {
    /// One line of JSON, without its newline. Characters that could pass for
    /// the end of a line, or turn text around on a terminal, are escaped.
    #[expect(clippy::missing_panics_doc, reason = "every key is a string")]
    pub fn line(&self) -> String {
        let json = serde_json::to_string(self).expect("no map with keys other than strings");
        cr_io::visible_json(&json).into_owned()
    }

    /// The same over many lines, for people.
    #[expect(clippy::missing_panics_doc, reason = "every key is a string")]
    pub fn pretty(&self) -> String {
        let json = serde_json::to_string_pretty(self).expect("as above");
        cr_io::visible_json(&json).into_owned()
    }
}
