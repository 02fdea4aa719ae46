//! The file: where it is, who may read it, and its version.

use std::fs::OpenOptions;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_usage::Prices;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use rustix::fs::OFlags;
use rustix::process::geteuid;

use crate::text::Texts;
use crate::writer::Writer;

/// Marks the file as a ledger: "crlg".
pub const APPLICATION_ID: i32 = 0x6372_6c67;

/// The version of the schema that this program writes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a few"
)]
pub const SCHEMA: i32 = MIGRATIONS.len() as i32;

/// What makes version N of version N - 1; the first makes version 1 of nothing.
const MIGRATIONS: &[&str] = &[include_str!("schema/1.sql")];

/// How long a writer waits for another one.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// Network file systems, on which a WAL file is not safe.
const NETWORK: [(i64, &str); 4] = [
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x0102_1997, "9p"),
];

/// What the ledger is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read. A ledger that does not exist is an error.
    Read,
    /// To write. A ledger that does not exist is made.
    Write,
}

/// An open ledger.
#[derive(Debug)]
pub struct Ledger {
    pub(crate) db: Connection,
    pub(crate) texts: Texts,
    path: PathBuf,
    /// The name of this machine, for what is recorded from now on.
    machine: String,
    prices: Prices,
}

impl Ledger {
    /// Opens the ledger at `path`.
    ///
    /// A file that cannot be read, that is no ledger, or whose version is newer
    /// is an error, and it is not changed.
    pub fn open(path: &Path, access: Access) -> anyhow::Result<Self> {
        let place = || path.display().to_string();
        refuse_network(path).with_context(place)?;
        match access {
            Access::Write => create(path).with_context(place)?,
            Access::Read if !path.exists() => {
                let text = "there is no ledger yet; `cr-ledger import` or a run of claude-runner \
                            makes one";
                return Err(anyhow!(text).context(Exit::NoInput)).with_context(place);
            }
            Access::Read => {}
        }
        let db = connect(path, access).map_err(explain).with_context(place)?;
        let mut ledger = Self {
            db,
            texts: Texts::default(),
            path: path.to_owned(),
            machine: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned(),
            prices: Prices::default(),
        };
        ledger.check_version(access).with_context(place)?;
        Ok(ledger)
    }

    /// The same with another name for this machine.
    #[must_use]
    pub fn on_machine(mut self, name: &str) -> Self {
        name.clone_into(&mut self.machine);
        self
    }

    /// The same with another table of prices.
    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// The table of prices.
    pub fn prices(&self) -> &Prices {
        &self.prices
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The database, for queries.
    pub fn db(&self) -> &Connection {
        &self.db
    }

    /// Refuses what is no ledger of ours, and makes an old one current.
    fn check_version(&mut self, access: Access) -> anyhow::Result<()> {
        let version = self.version().map_err(explain)?;
        if version > SCHEMA {
            let text = format!(
                "it is of version {version}, and this program knows version {SCHEMA}: \
                 use a newer claude-runner"
            );
            return Err(anyhow!(text).context(Exit::Config));
        }
        if access == Access::Write {
            // Only now: these change the file.
            self.prepare_to_write().map_err(explain)?;
        }
        if version == SCHEMA {
            return Ok(());
        }
        if access == Access::Read {
            // A migration needs a writer; an empty file has nothing to read.
            let text =
                format!("it is of version {version}: any command that records makes it {SCHEMA}");
            return Err(anyhow!(text).context(Exit::Config));
        }
        self.migrate(MIGRATIONS).map_err(explain)
    }

    fn prepare_to_write(&self) -> rusqlite::Result<()> {
        let begun = Instant::now();
        // The change to WAL does not wait for other processes by itself.
        while let Err(err) = self.use_wal() {
            let is_busy = err.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
            if !is_busy || begun.elapsed() > LOCK_TIMEOUT {
                return Err(err);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.db.pragma_update(None, "synchronous", "FULL")
    }

    fn use_wal(&self) -> rusqlite::Result<()> {
        let value = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        self.db
            .pragma_update_and_check(None, "journal_mode", "WAL", value)?;
        Ok(())
    }

    /// The version; 0 for an empty file. A database of another program is an
    /// error.
    fn version(&self) -> rusqlite::Result<i32> {
        // In one transaction: another process may be making it at this moment.
        let db = self.db.unchecked_transaction()?;
        let pragma = |name: &str| db.pragma_query_value(None, name, |row| row.get(0));
        let tables = "SELECT count(*) FROM sqlite_master";
        let tables: i64 = db.query_row(tables, [], |row| row.get(0))?;
        let id: i32 = pragma("application_id")?;
        if id != APPLICATION_ID && (id != 0 || tables > 0) {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB);
            let text = "it is a database of another program".to_owned();
            return Err(rusqlite::Error::SqliteFailure(code, Some(text)));
        }
        pragma("user_version")
    }

    /// Brings the ledger to the version of `migrations`, in one transaction.
    fn migrate(&mut self, migrations: &[&str]) -> rusqlite::Result<()> {
        let transaction = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have done it since.
        let version: i32 =
            transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let done = usize::try_from(version).unwrap_or(0);
        for sql in migrations.iter().skip(done) {
            transaction.execute_batch(sql)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        let version = i32::try_from(migrations.len()).unwrap_or(i32::MAX);
        transaction.pragma_update(None, "user_version", version)?;
        transaction.commit()
    }

    /// Runs `work` in one transaction, brings the sums up to date, and commits.
    /// When this returns, what was written is on disk; after an error nothing
    /// is.
    pub fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Writer<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let place = self.path.display().to_string();
        let done = self.transaction(work);
        if done.is_err() {
            self.texts.clear();
        }
        done.context(place)
    }

    /// A writer for the transaction that is open.
    pub(crate) fn writer(&mut self) -> rusqlite::Result<Writer<'_>> {
        Writer::new(&self.db, &mut self.texts, &self.prices, &self.machine)
    }

    fn transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Writer<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let transaction = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(explain)?;
        let mut writer = Writer::new(&transaction, &mut self.texts, &self.prices, &self.machine)
            .map_err(explain)?;
        let value = work(&mut writer).map_err(explain_any)?;
        writer.finish().map_err(explain)?;
        transaction.commit().map_err(explain)?;
        Ok(value)
    }
}

/// Makes the file if it is missing, for the user alone, and refuses one that
/// somebody else could have prepared.
fn create(path: &Path) -> anyhow::Result<()> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path);
    let file = match file {
        Ok(file) => file,
        // A ledger on a medium that is read-only can still be read; the first
        // write says what is wrong.
        Err(err) => return Err(err).context(Exit::Io),
    };
    let meta = file.metadata()?;
    let is_ours = meta.uid() == geteuid().as_raw() && meta.nlink() == 1 && meta.is_file();
    if !is_ours || meta.mode() & 0o022 != 0 {
        let text = "it is not a file of yours alone";
        return Err(anyhow!(text).context(Exit::Config));
    }
    Ok(())
}

fn refuse_network(path: &Path) -> anyhow::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let Ok(stat) = rustix::fs::statfs(dir.unwrap_or(Path::new("."))) else {
        return Ok(());
    };
    #[expect(clippy::unnecessary_cast, reason = "its type depends on the platform")]
    let kind = stat.f_type as i64 & 0xffff_ffff;
    let Some((_, name)) = NETWORK.iter().find(|(number, _)| *number == kind) else {
        return Ok(());
    };
    let text =
        format!("it is on {name}, where SQLite's locks are not safe: put `ledger` elsewhere");
    Err(anyhow!(text).context(Exit::Config))
}

fn connect(path: &Path, access: Access) -> rusqlite::Result<Connection> {
    let flags = match access {
        Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    // An address is for `merge`, whose file is only read.
    let flags = flags
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags(real_path(path), flags)?;
    db.busy_timeout(LOCK_TIMEOUT)?;
    if access == Access::Read {
        // A query of the user's own reads this file and writes none.
        db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    }
    // A damaged schema must not run functions of its own.
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update(None, "cell_size_check", true)?;
    Ok(db)
}

/// The path with the links of its directory followed: `SQLite` refuses a link
/// anywhere, and a home directory may well be one.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let dir = absolute.parent().and_then(|dir| dir.canonicalize().ok());
    match (dir, absolute.file_name()) {
        (Some(dir), Some(name)) => dir.join(name),
        _ => absolute,
    }
}

/// Gives an error of the database its exit code and, where its own words do not
/// say it, the remedy.
pub fn explain(err: rusqlite::Error) -> anyhow::Error {
    let (exit, remedy) = match err.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt) => (
            Exit::Io,
            Some("the ledger is damaged and was not changed; restore a copy, or move it away"),
        ),
        Some(ErrorCode::NotADatabase) => (
            Exit::Config,
            Some("it is no ledger and was not changed; move it away, or set `ledger`"),
        ),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            (Exit::Io, Some("the ledger cannot be written"))
        }
        Some(ErrorCode::DiskFull) => (Exit::Io, Some("the disk is full; this change was not made")),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            (Exit::Retry, Some("another process holds the ledger"))
        }
        _ => (Exit::Io, None),
    };
    let err = anyhow::Error::new(err);
    match remedy {
        Some(remedy) => err.context(remedy).context(exit),
        None => err.context(exit),
    }
}

/// The same for an error that may be one of the database.
fn explain_any(err: anyhow::Error) -> anyhow::Error {
    match err.downcast::<rusqlite::Error>() {
        Ok(err) => explain(err),
        Err(err) => err,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &tempfile::TempDir) -> Ledger {
        Ledger::open(&dir.path().join("ledger.db"), Access::Write).expect("opened")
    }

    #[test]
    fn l5_a_migration_is_all_or_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut ledger = open(&dir);
        let broken = [MIGRATIONS[0], "CREATE TABLE new_one (a); SYNTAX ERROR"];
        ledger
            .migrate(&broken)
            .expect_err("the second part is wrong");
        assert_eq!(ledger.version().expect("read"), SCHEMA);
        let tables = "SELECT count(*) FROM sqlite_master WHERE name = 'new_one'";
        let count: i64 = ledger
            .db
            .query_row(tables, [], |row| row.get(0))
            .expect("read");
        assert_eq!(count, 0);
        let good = [MIGRATIONS[0], "CREATE TABLE new_one (a);"];
        ledger.migrate(&good).expect("migrated");
        assert_eq!(ledger.version().expect("read"), 2);
        // This program knows one version less now.
        let err = ledger.check_version(Access::Write).expect_err("newer");
        assert_eq!(cr_io::exit_of(&err), Exit::Config);
    }

    #[test]
    fn l4_what_is_no_ledger_is_refused_and_not_changed() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("ledger.db");
        let other = dir.path().join("other.db");
        let db = Connection::open(&other).expect("made");
        db.execute_batch("CREATE TABLE a (b)").expect("made");
        drop(db);
        let other = std::fs::read(other).expect("read");
        for bytes in [
            b"not a database, just a text of some length".to_vec(),
            other,
        ] {
            std::fs::write(&path, &bytes).expect("written");
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
                .expect("private");
            let err = Ledger::open(&path, Access::Write).expect_err("refused");
            assert_eq!(cr_io::exit_of(&err), Exit::Config, "{err:#}");
            assert_eq!(std::fs::read(&path).expect("read"), bytes);
        }
    }

    #[test]
    fn a_ledger_is_private_and_a_link_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let ledger = open(&dir);
        let mode = std::fs::metadata(ledger.path()).expect("there").mode();
        assert_eq!(mode & 0o777, 0o600);
        let link = dir.path().join("link.db");
        std::os::unix::fs::symlink(ledger.path(), &link).expect("linked");
        Ledger::open(&link, Access::Write).expect_err("refused");
    }
}
