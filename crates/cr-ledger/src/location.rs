//! Where the ledger is, and how it is opened.

use std::path::PathBuf;

use clap::Args;
use cr_config::Config;
use cr_ledger_db::{Access, Ledger};
use cr_usage::Prices;

/// The name of the ledger in the state directory.
const NAME: &str = "ledger.db";

/// Which ledger.
#[derive(Args, Debug)]
pub(crate) struct Location {
    /// The ledger, if it is not the one of the configuration
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) ledger: Option<PathBuf>,
}

impl Location {
    /// Opens the ledger. To write, it is made if it is missing.
    pub(crate) fn open(&self, access: Access) -> anyhow::Result<Ledger> {
        let config = Config::load()?;
        let path = self.path(&config, access)?;
        let mut ledger = Ledger::open(&path, access)?;
        if let Some(prices) = config.set("prices") {
            ledger = ledger.with_prices(Prices::read(prices.as_ref())?);
        }
        if let Some(machine) = config.set("machine") {
            ledger = ledger.on_machine(machine);
        }
        Ok(ledger)
    }

    /// Opens a ledger that must be there, to change it.
    pub(crate) fn open_existing(&self) -> anyhow::Result<Ledger> {
        // A ledger that is missing is an error of a reader.
        drop(self.open(Access::Read)?);
        self.open(Access::Write)
    }

    fn path(&self, config: &Config, access: Access) -> anyhow::Result<PathBuf> {
        if let Some(path) = &self.ledger {
            return Ok(path.clone());
        }
        if let Some(path) = config.set("ledger") {
            return Ok(path.into());
        }
        let state = config.state_dir()?;
        if access == Access::Write {
            // Makes it, for the user alone.
            state.open()?;
        }
        Ok(state.path().join(NAME))
    }
}
