//! The second interrupt ends a filter.

use std::fmt;

/// Counts interrupts: the first one is for the agent, whose last lines are
/// still to come. The second one is for us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interrupts(u32);

impl Interrupts {
    /// Counts a SIGINT; fails at the second.
    pub fn count(&mut self) -> Result<(), Interrupted> {
        self.0 += 1;
        match self.0 {
            1 => Ok(()),
            _ => Err(Interrupted),
        }
    }
}

/// Two SIGINTs came.
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
    fn the_second_interrupt_counts() {
        let mut interrupts = Interrupts::default();
        assert_eq!(interrupts.count(), Ok(()));
        assert_eq!(interrupts.count(), Err(Interrupted));
    }
}
