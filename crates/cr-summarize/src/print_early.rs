//! Prints sessions before their input ends, so that any number of them takes
//! bounded memory.

use std::io::Write;

use cr_io::Input;
use cr_summary::Summary;

use crate::collector::Collector;
use crate::{Report, build};

impl<W: Write, N: Write> Report<'_, W, N> {
    /// The summary of a session, as it is going to be printed.
    pub(super) fn summary(&mut self, input: &Input, collector: &Collector) -> Summary {
        let mut summary = build::summary(collector, &self.options);
        self.name(input, &mut summary);
        if let Some(total) = &mut self.total {
            total.add(&summary);
        }
        // Truncated it takes little room while it waits.
        if self.args.full {
            summary
        } else {
            summary.truncated()
        }
    }

    /// Prints sessions of an input that is still being read, unless the input has
    /// to wait for others.
    pub(super) fn print_early(
        &mut self,
        index: usize,
        collectors: &[Collector],
    ) -> anyhow::Result<()> {
        let input = &self.inputs.list[index].clone();
        for collector in collectors {
            let summary = self.summary(input, collector);
            if self.printed == index {
                self.print(summary)?;
            } else {
                self.held.entry(index).or_default().push(summary);
            }
        }
        Ok(())
    }
}
