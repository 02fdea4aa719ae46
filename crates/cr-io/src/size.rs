//! Sizes on the command line.

/// Reads the longest line that a tool holds. It cannot be turned off: memory is
/// always bounded.
pub fn parse_max_line(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number of bytes, at least 1".to_owned()),
        Ok(bytes) => Ok(bytes),
    }
}
