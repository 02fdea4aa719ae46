//! The fields about the agent itself.

use super::{Limits, Truncation, printed};
use crate::Summary;

impl Truncation {
    pub(super) fn compactions(&mut self, summary: &mut Summary) {
        const NAME: &str = "compaction_list";
        let Limits { item, .. } = self.limits;
        let list = &mut summary.agent.compaction_list;
        list.reverse();
        self.list(NAME, list, &mut summary.totals.compaction_list_total);
        list.reverse();
        for trigger in list.iter_mut().filter_map(|one| one.trigger.as_mut()) {
            self.text(NAME, trigger, (item, item));
        }
    }

    /// A window whose name is cut would be another one.
    pub(super) fn quota(&mut self, summary: &mut Summary) {
        const NAME: &str = "quota";
        let Limits { items, item, .. } = self.limits;
        let Some(windows) = &mut summary.agent.quota else {
            return;
        };
        let total = windows.len();
        let mut kept = 0;
        windows.retain(|name, _| {
            kept += 1;
            kept <= items && printed(name) <= item
        });
        for status in windows.values_mut().filter_map(|one| one.status.as_mut()) {
            self.text(NAME, status, (item, item));
        }
        if windows.len() < total {
            self.note(NAME);
        }
        if windows.is_empty() {
            summary.agent.quota = None;
        }
    }
}
