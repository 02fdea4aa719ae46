//! The signals that this process ignores.

use std::fs::File;
use std::io::Read;

/// The signals that the process ignores, as it inherited them.
///
/// Read it before anything else changes them. SIGPIPE is always among them: the
/// Rust runtime ignores it before `main`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignored(u64);

impl Ignored {
    /// Reads the mask from the kernel. Where it cannot be read, none is ignored.
    pub fn read() -> Self {
        // One read into a buffer: the file has no size that could be allocated.
        let mut status = [0; 4096];
        let file = File::open("/proc/self/status");
        let length = file.and_then(|mut file| file.read(&mut status));
        let status = &status[..length.unwrap_or(0)];
        Self::parse(std::str::from_utf8(status).unwrap_or_default())
    }

    fn parse(status: &str) -> Self {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        Self(mask.unwrap_or(0))
    }

    #[cfg(test)]
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Whether signal `number` is ignored.
    pub fn contains(self, number: i32) -> bool {
        (1..=64).contains(&number) && self.0 >> (number - 1) & 1 == 1
    }

    /// Adds signal `number`; what is not a signal changes nothing.
    pub fn insert(&mut self, number: i32) {
        if (1..=64).contains(&number) {
            self.0 |= 1 << (number - 1);
        }
    }

    /// Those of `numbers` that are not ignored.
    pub fn without(self, numbers: &[i32]) -> Vec<i32> {
        let numbers = numbers.iter().copied();
        numbers.filter(|&number| !self.contains(number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    use super::*;

    #[test]
    fn the_mask_has_one_bit_for_each_signal() {
        let ignored = Ignored::parse("Name:\tx\nSigIgn:\t0000000000000003\n");
        assert!(ignored.contains(SIGHUP) && ignored.contains(SIGINT));
        assert_eq!(ignored.without(&[SIGHUP, SIGINT, SIGTERM]), [SIGTERM]);
        assert!(!ignored.contains(0) && !ignored.contains(65));
    }

    #[test]
    fn a_mask_that_is_missing_ignores_nothing() {
        assert_eq!(Ignored::parse("Name:\tx\n"), Ignored::default());
        assert_eq!(Ignored::parse("SigIgn:\tmany\n"), Ignored::default());
    }
}
