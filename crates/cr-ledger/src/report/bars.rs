//! Bars of block characters.

/// A bar of one eighth of a character, of two eighths and so on.
const PARTS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A bar for `size`, where `largest` takes `width` characters. What is more than
/// nothing is seen.
pub(super) fn bar(size: i64, largest: i64, width: usize) -> String {
    if size <= 0 || largest <= 0 || width == 0 {
        return String::new();
    }
    let eighths = i128::from(size) * (width as i128) * 8 / i128::from(largest);
    let eighths = usize::try_from(eighths).unwrap_or(0).clamp(1, width * 8);
    let mut bar = "█".repeat(eighths / 8);
    if let Some(part) = (eighths % 8).checked_sub(1) {
        bar.push(PARTS[part]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_part_of_the_largest() {
        let cases = [
            (0, 10, ""),
            (-5, 10, ""),
            (10, 10, "████"),
            (5, 10, "██"),
            (1, 1_000_000, "▏"),
            (9, 10, "███▌"),
            (i64::MAX, i64::MAX, "████"),
        ];
        for (size, largest, text) in cases {
            assert_eq!(bar(size, largest, 4), text, "{size} of {largest}");
        }
    }
}
