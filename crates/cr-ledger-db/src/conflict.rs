//! How two records of one fact become one: the order of the two does not matter.

/// The text of a number.
pub(crate) fn text(column: &str) -> String {
    format!("(SELECT value FROM main.text_value WHERE id = {column})")
}

/// `column` of `table` becomes the smaller one of two known texts.
fn smaller(table: &str, column: &str) -> String {
    let (old, new) = (format!("{table}.{column}"), format!("excluded.{column}"));
    format!(
        "{column} = CASE WHEN {new} <> 0 AND ({old} = 0 OR {} < {}) THEN {new} ELSE {old} END",
        text(&new),
        text(&old)
    )
}

/// `column` of `table` becomes the larger one of two numbers; null is no number.
fn larger(table: &str, column: &str) -> String {
    let (old, new) = (format!("{table}.{column}"), format!("excluded.{column}"));
    format!("{column} = coalesce(max({old}, {new}), {old}, {new})")
}

/// For the table `session`: what its earliest part says of its directory counts.
pub(crate) fn session() -> String {
    let place = |row: &str| {
        let text = text(&format!("{row}.project"));
        format!("(coalesce({row}.project_at, 1 << 60), {text})")
    };
    let is_earlier = format!(
        "excluded.project <> 0 AND (session.project = 0 OR {} < {})",
        place("excluded"),
        place("session")
    );
    format!(
        "ON CONFLICT (session) DO UPDATE SET
            project = CASE WHEN {is_earlier} THEN excluded.project ELSE session.project END,
            project_at = CASE WHEN {is_earlier} THEN excluded.project_at
                ELSE session.project_at END,
            {},
            cli_version = CASE WHEN {} > {} THEN excluded.cli_version
                ELSE session.cli_version END,
            first_at = coalesce(min(session.first_at, excluded.first_at), session.first_at,
                excluded.first_at),
            {},
            is_partial = max(session.is_partial, excluded.is_partial)",
        smaller("session", "machine"),
        text("excluded.cli_version"),
        text("session.cli_version"),
        larger("session", "last_at")
    )
}

/// For the table `tool_call`.
pub(crate) fn tool_call() -> String {
    format!(
        "ON CONFLICT DO UPDATE SET {}, {}, at = min(tool_call.at, excluded.at),
            failed = max(tool_call.failed, excluded.failed)",
        smaller("tool_call", "name"),
        smaller("tool_call", "project")
    )
}

/// For the table `compaction`.
pub(crate) fn compaction() -> String {
    format!(
        "ON CONFLICT DO UPDATE SET {}, {}, {}",
        larger("compaction", "trigger_word"),
        larger("compaction", "pre_tokens"),
        larger("compaction", "post_tokens")
    )
}

/// For the table `quota_reading`.
pub(crate) fn quota_reading() -> String {
    format!(
        "ON CONFLICT DO UPDATE SET {}, {}, {}",
        larger("quota_reading", "used"),
        larger("quota_reading", "resets_at"),
        larger("quota_reading", "status")
    )
}

/// For a table of which the later state counts, with these columns beside its key.
pub(crate) fn later(table: &str, columns: &[&str], texts: &[&str]) -> String {
    let set = columns.iter().chain(texts);
    let set: Vec<String> = set
        .map(|name| format!("{name} = excluded.{name}"))
        .collect();
    let state = |row: &str| {
        let times = ["updated_at"].iter().chain(columns);
        let values = times.map(|name| format!("coalesce({row}.{name}, 0)"));
        let texts = texts.iter().map(|name| text(&format!("{row}.{name}")));
        values.chain(texts).collect::<Vec<_>>().join(", ")
    };
    format!(
        "ON CONFLICT DO UPDATE SET {}, updated_at = excluded.updated_at WHERE ({}) > ({})",
        set.join(", "),
        state("excluded"),
        state(table)
    )
}
