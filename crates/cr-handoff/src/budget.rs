//! How the bytes of a handoff are divided among its sections.

/// Bytes that a section gets before any gets more: a heading and a line.
const LEAST: usize = 120;

/// What a section needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    /// Bytes of all of it.
    pub(crate) want: usize,
    /// Its share, compared with that of the others.
    pub(crate) weight: usize,
    /// The order in which sections get their first bytes, the lowest first.
    pub(crate) rank: u8,
}

/// Divides `budget`: none gets more than it wants, and nothing is left while one
/// wants more. A section for which there is no room gets nothing.
pub(crate) fn divide(mut budget: usize, needs: &[Need]) -> Vec<usize> {
    let mut given = vec![0; needs.len()];
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|&at| needs[at].rank);
    for &at in &order {
        let least = needs[at].want.min(LEAST);
        if least <= budget {
            given[at] = least;
            budget -= least;
        }
    }
    // What one does not want, the others share. Each round satisfies one or is the
    // last.
    loop {
        let hungry = |at: &usize| given[*at] > 0 && given[*at] < needs[*at].want;
        let open: Vec<usize> = order.iter().copied().filter(hungry).collect();
        let weights: usize = open.iter().map(|&at| needs[at].weight).sum();
        let (mut left, mut satisfied) = (budget, false);
        for &at in &open {
            let missing = needs[at].want - given[at];
            let part = budget * needs[at].weight / weights;
            satisfied |= part >= missing;
            given[at] += part.min(missing);
            left -= part.min(missing);
        }
        budget = left;
        if !satisfied {
            return given;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(want: usize, weight: usize, rank: u8) -> Need {
        Need { want, weight, rank }
    }

    #[test]
    fn each_section_gets_a_first_line_before_one_gets_more() {
        let needs = [need(5000, 9, 2), need(100, 1, 0), need(5000, 1, 1)];
        #[rustfmt::skip]
        let cases = [
            (10_100, [5000, 100, 5000]),
            (340, [120, 100, 120]),
            (339, [0, 100, 239]),
            (1340, [1020, 100, 220]),
            (90, [0, 0, 0]),
        ];
        for (budget, expected) in cases {
            assert_eq!(divide(budget, &needs), expected, "{budget}");
        }
    }

    #[test]
    fn what_one_does_not_want_the_others_get() {
        let needs = [need(200, 8, 0), need(9000, 1, 1), need(9000, 1, 2)];
        assert_eq!(divide(2200, &needs), [200, 1000, 1000]);
        assert_eq!(divide(0, &[]), [0; 0]);
    }
}
