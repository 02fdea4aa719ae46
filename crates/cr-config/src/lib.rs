//! The configuration: the user's own file, the environment, and the list of
//! every setting.

mod config;
mod settings;
mod task_settings;
mod value;

pub use config::{Config, Source, line_of, read_own};
pub use settings::{SETTINGS, Setting};
pub use task_settings::ContextThresholds;

use std::collections::BTreeMap;

use cr_rundir::StateDir;

/// What the configuration's file sets, by key, where the environment does not.
pub fn file_settings() -> anyhow::Result<BTreeMap<&'static str, String>> {
    Ok(Config::load()?.all_of_file())
}

/// The state directory that the configuration names.
pub fn state_dir() -> anyhow::Result<StateDir> {
    Config::load()?.state_dir()
}

/// Removes old runs, at most once a day.
pub fn prune_daily() -> anyhow::Result<()> {
    let config = Config::load()?;
    cr_rundir::prune_daily(config.state_dir()?.path(), config.retention());
    Ok(())
}
