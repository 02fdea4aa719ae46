//! Money as whole billionths of a dollar: sums do not depend on the order.

/// A hundred thousand dollars. No real amount of a message or a run is larger; the
/// limit keeps sums of wrong ones from an overflow.
const LARGEST: i64 = 100_000 * 1_000_000_000;

/// The amount in billionths; `None` if it is no amount.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast of a float saturates"
)]
pub fn nano(dollars: f64) -> Option<i64> {
    let nano = (dollars * 1e9).round() as i64;
    dollars.is_finite().then(|| nano.clamp(-LARGEST, LARGEST))
}

/// The amount in dollars, rounded to a millionth.
#[expect(
    clippy::cast_precision_loss,
    reason = "beyond nine million dollars a rounding error is the least of it"
)]
pub fn dollars(nano: i64) -> f64 {
    cr_usage::rounded(nano as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_comes_back_and_what_is_none_is_refused() {
        for amount in [0.0, 0.000_001, 0.1 + 0.2, 12.345_678, -0.5] {
            let back = dollars(nano(amount).expect("an amount"));
            assert!((back - amount).abs() < 1e-6, "{amount}");
        }
        assert_eq!(nano(f64::NAN), None);
        assert_eq!(nano(f64::INFINITY), None);
        assert_eq!(nano(1e300), Some(LARGEST));
    }
}
