//! The directory of the agent: where its logs are, and when it deletes them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cr_io::counted;
use serde_json::Value;

use super::plan::Plan;

/// Days for which the agent keeps a log, if its settings do not say otherwise.
const KEPT: f64 = 30.0;
/// So many days before that it is time to say so.
const NOTICE: f64 = 3.0;
const DAY: f64 = 86_400.0;

#[derive(Debug)]
pub(super) struct AgentDir(PathBuf);

impl AgentDir {
    pub(super) fn find() -> Option<Self> {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        let own = set("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        let home = || set("HOME").map(|home| Path::new(&home).join(".claude"));
        own.or_else(home).map(Self)
    }

    pub(super) fn projects(&self) -> PathBuf {
        self.0.join("projects")
    }

    fn settings(&self) -> PathBuf {
        self.0.join("settings.json")
    }

    /// For how many days the agent keeps a log. Settings that cannot be read say
    /// nothing.
    fn days(&self) -> f64 {
        let bytes = fs::read(self.settings()).unwrap_or_default();
        let settings: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let days = settings["cleanupPeriodDays"].as_f64();
        days.filter(|days| *days >= 0.0).unwrap_or(KEPT)
    }

    /// How many of the logs that were never imported the agent deletes soon.
    pub(super) fn about_to_be_deleted(&self, plan: &Plan) -> u64 {
        let age = Duration::from_secs_f64((self.days() - NOTICE).clamp(0.0, 1e6) * DAY);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let limit = now.unwrap_or_default().saturating_sub(age).as_nanos();
        let projects = std::path::absolute(self.projects()).unwrap_or_default();
        let soon = plan.new_logs.iter().filter(|&&index| {
            let log = &plan.files[index].log;
            let is_old = u128::try_from(log.mtime_ns).unwrap_or(0) <= limit;
            is_old && std::path::absolute(&log.path).is_ok_and(|path| path.starts_with(&projects))
        });
        soon.count() as u64
    }

    /// What to do about them.
    pub(super) fn warning(&self, logs: u64) -> String {
        format!(
            "cr-ledger: {} would soon have been deleted and had not been imported before: the \
            agent keeps a log for {} days (cleanupPeriodDays in {})\n\
            cr-ledger: to import daily, run `scripts/install --timer`, or add to `crontab -e`: \
            17 3 * * * cr-ledger import\n",
            counted(logs, "log"),
            self.days(),
            cr_io::sanitized(&self.settings().display().to_string())
        )
    }
}
