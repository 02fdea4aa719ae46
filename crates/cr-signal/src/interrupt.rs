//! What an interrupt means to a filter, by its number.

use std::fmt;

/// Counts interrupts. The first one asks the agent to end, the second one ends
/// it at once: its supervisor then writes how it ended, and a filter waits a
/// moment for that. The third one is for the filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interrupts(u32);

impl Interrupts {
    /// Counts a SIGINT; fails at the third.
    pub fn count(&mut self) -> Result<(), Interrupted> {
        self.0 += 1;
        match self.0 {
            1 | 2 => Ok(()),
            _ => Err(Interrupted),
        }
    }

    /// Whether there was more than one.
    pub fn are_several(self) -> bool {
        self.0 > 1
    }
}

/// Too many SIGINTs came, or the agent did not end after the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl Interrupted {
    /// The exit code, that of a process that died of SIGINT.
    pub const CODE: u8 = 130;
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_interrupt_is_too_many() {
        let mut interrupts = Interrupts::default();
        assert_eq!(interrupts.count(), Ok(()));
        assert!(!interrupts.are_several());
        assert_eq!(interrupts.count(), Ok(()));
        assert!(interrupts.are_several());
        assert_eq!(interrupts.count(), Err(Interrupted));
    }
}
