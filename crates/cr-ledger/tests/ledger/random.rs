//! Random numbers from a seed.

use std::time::{SystemTime, UNIX_EPOCH};

/// A sequence that its seed names.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

/// The seed of a test: `CR_TEST_SEED`, else a new one. A failure must name it.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("CR_TEST_SEED").ok();
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    let new = time.map_or(1, |time| u64::from(time.subsec_nanos()));
    given.and_then(|seed| seed.parse().ok()).unwrap_or(new)
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `most`.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("small")
    }
}
