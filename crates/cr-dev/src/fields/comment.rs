//! The doc comment of a field, taken apart.

/// What a comment says about a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comment {
    pub(crate) meaning: String,
    pub(crate) null: Option<String>,
    pub(crate) absent: Option<String>,
    /// JSON.
    pub(crate) example: Option<String>,
    pub(crate) values: Vec<String>,
    /// A type.
    pub(crate) form: Option<String>,
    /// The name of a type for people.
    pub(crate) called: Option<String>,
    /// The schema of a type.
    pub(crate) schema: Option<String>,
}

impl Comment {
    /// Reads the lines of a comment.
    pub(crate) fn parse(lines: &[String]) -> Self {
        let mut comment = Self::default();
        let mut parts: Vec<(&str, String)> = vec![("", String::new())];
        for line in lines {
            let line = line.trim();
            match labelled(line) {
                Some((label, text)) => parts.push((label, text.to_owned())),
                None => {
                    if let Some((_, text)) = parts.last_mut() {
                        text.push(' ');
                        text.push_str(line);
                    }
                }
            }
        }
        for (label, text) in parts {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            comment.set(label, text);
        }
        comment
    }

    fn set(&mut self, label: &str, text: String) {
        match label {
            "Null" => self.null = Some(text),
            "Absent" => self.absent = Some(text),
            "Example" => self.example = Some(text.trim_matches('`').to_owned()),
            "Values" => {
                let values = text.split(',').map(|value| value.trim().trim_matches('`'));
                self.values = values.map(str::to_owned).collect();
            }
            "Form" => self.form = Some(text.trim_matches('`').to_owned()),
            "Called" => self.called = Some(text),
            "Schema" => self.schema = Some(text.trim_matches('`').to_owned()),
            _ => self.meaning = text,
        }
    }
}

/// The label that a line begins with, and the rest of it.
fn labelled(line: &str) -> Option<(&str, &str)> {
    const LABELS: [&str; 7] = [
        "Null", "Absent", "Example", "Values", "Form", "Called", "Schema",
    ];
    let (label, text) = line.split_once(':')?;
    LABELS.contains(&label).then(|| (label, text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_its_meaning_and_then_what_its_labels_say() {
        let lines = [
            " The cost: in dollars,",
            " of this run.",
            "",
            " Null: without",
            " evidence.",
            " Example: `0.5`",
            " Values: `a`, `b`",
        ];
        let comment = Comment::parse(&lines.map(str::to_owned));
        assert_eq!(comment.meaning, "The cost: in dollars, of this run.");
        assert_eq!(comment.null.as_deref(), Some("without evidence."));
        assert_eq!(comment.example.as_deref(), Some("0.5"));
        assert_eq!(comment.values, ["a", "b"]);
        assert_eq!(comment.absent, None);
    }
}
