//! The configuration: one file of the user's own, never one of a repository,
//! which the agent can write.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use cr_io::{Exit, Out, parse_duration, sanitized};
use cr_rundir::{Retention, StateDir};
use toml::{Spanned, Value};

use crate::settings::{SETTINGS, TURNS_BY_TYPE};
use crate::task_settings::{self, TypeTurns};
use crate::value::{plain, shown};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nobody set it.
    Default,
    /// The environment variable of this name.
    Environment(&'static str),
    /// The file, and the line.
    File(PathBuf, usize),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Environment(name) => f.write_str(name),
            Self::File(file, line) => {
                let file = file.display().to_string();
                write!(f, "{}:{line}", sanitized(&file))
            }
        }
    }
}

/// Every value that is not a default, and its source.
#[derive(Debug, Default)]
pub struct Config {
    values: BTreeMap<&'static str, (String, Source)>,
    /// The entries of `turns_by_type`.
    pub(crate) turns_by_type: BTreeMap<String, TypeTurns>,
}

impl Config {
    /// Reads the file, if there is one, and the environment.
    pub fn load() -> anyhow::Result<Self> {
        let mut config = Self::default();
        if let Some((file, text)) = open().context(Exit::Config)? {
            config.read(&file, &text).context(Exit::Config)?;
        }
        for setting in SETTINGS {
            let value = setting
                .variable
                .and_then(env::var_os)
                .filter(|value| !value.is_empty());
            if let (Some(value), Some(variable)) = (value, setting.variable) {
                let value = value.to_string_lossy().into_owned();
                config
                    .values
                    .insert(setting.key, (value, Source::Environment(variable)));
            }
        }
        Ok(config)
    }

    fn read(&mut self, file: &Path, text: &str) -> anyhow::Result<()> {
        let at = |span: std::ops::Range<usize>| line_of(text, span.start);
        let parsed: BTreeMap<Spanned<String>, Spanned<Value>> =
            toml::from_str(text).map_err(|err| {
                let line = err.span().map_or(1, at);
                let message = err.message().replace('\n', " ");
                anyhow!("{}:{line}: {}", file.display(), sanitized(&message))
            })?;
        for (key, value) in parsed {
            let (line, key) = (at(key.span()), key.into_inner());
            let location = || format!("{}:{line}: {}", file.display(), sanitized(&key));
            if key == TURNS_BY_TYPE {
                self.turns_by_type = task_settings::read_types(file, text, line)?;
                continue;
            }
            let setting = SETTINGS.iter().find(|setting| setting.key == key);
            let setting = setting.ok_or_else(|| anyhow!("no such setting").context(location()))?;
            let value = plain(setting.kind, value.get_ref())
                .map_err(|why| anyhow!(why).context(location()))?;
            let source = Source::File(file.to_owned(), line);
            self.values.insert(setting.key, (value, source));
        }
        self.check_order()
    }

    /// The value of `key` if it is not the default.
    pub fn set(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|(value, _)| value.as_str())
    }

    /// The value of `key` if the file sets it, and not the environment.
    pub fn of_file(&self, key: &str) -> Option<&str> {
        let (value, source) = self.values.get(key)?;
        matches!(source, Source::File(..)).then_some(value.as_str())
    }

    /// Every value that the file sets, and not the environment.
    pub fn all_of_file(&self) -> BTreeMap<&'static str, String> {
        let keys = self.values.keys();
        let value = |key: &&'static str| Some((*key, self.of_file(key)?.to_owned()));
        keys.filter_map(value).collect()
    }

    /// Where `key` has its value from.
    pub(crate) fn source(&self, key: &str) -> Source {
        let value = self.values.get(key);
        value.map_or(Source::Default, |(_, source)| source.clone())
    }

    pub(crate) fn get(&self, key: &str) -> &str {
        let setting = SETTINGS.iter().find(|setting| setting.key == key);
        self.set(key)
            .or(setting.map(|setting| setting.default))
            .unwrap_or("")
    }

    /// How long old runs are kept, and how many bytes of them.
    pub fn retention(&self) -> Retention {
        Retention {
            younger_than: parse_duration(self.get("keep_for")).unwrap_or(Duration::MAX),
            bytes: self.get("keep_bytes").parse().unwrap_or(u64::MAX),
        }
    }

    /// The state directory: the environment's, the file's, or the default.
    pub fn state_dir(&self) -> anyhow::Result<StateDir> {
        let state = match self.set("state_dir") {
            Some(path) => StateDir::at(Path::new(path)),
            None => StateDir::from_env(),
        };
        state.ok_or_else(|| {
            anyhow!("no state directory, because HOME is not set").context(Exit::Config)
        })
    }

    /// The limit of progress, in bytes.
    pub fn limit(&self) -> u64 {
        self.get("limit").parse().unwrap_or(0)
    }

    /// Prints every value with its source; what is printed is a configuration.
    pub fn print(&self, out: impl Write) -> anyhow::Result<Exit> {
        let mut out = Out::new(out);
        for setting in SETTINGS {
            let (key, value) = (setting.key, self.get(setting.key));
            let line = format!("{key} = {}", shown(setting.kind, value));
            let line = match self.source(key) {
                Source::Default if value.is_empty() => format!("# {line}  # not set"),
                source => format!("{line}  # {source}"),
            };
            out.line(line.as_bytes())?;
        }
        for line in self.type_lines() {
            out.line(line.as_bytes())?;
        }
        out.flush()?;
        Ok(Exit::Ok)
    }
}

/// The file and what is in it; `None` if there is none and none was named.
fn open() -> anyhow::Result<Option<(PathBuf, String)>> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let base = named("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| named("HOME").map(|home| Path::new(&home).join(".config")));
    let (path, is_named) = match (named("CR_CONFIG"), base) {
        (Some(path), _) => (PathBuf::from(path), true),
        (None, Some(base)) => (base.join("claude-runner/config.toml"), false),
        (None, None) => return Ok(None),
    };
    match fs::metadata(&path) {
        Err(err) if err.kind() == std::io::ErrorKind::NotFound && !is_named => Ok(None),
        _ => read_own(&path).map(|text| Some((path, text))),
    }
}

/// The text of a file that the user trusts; refused if others may write to it.
pub fn read_own(path: &Path) -> anyhow::Result<String> {
    let location = || path.display().to_string();
    let mut file = fs::File::open(path).with_context(location)?;
    let meta = file.metadata().with_context(location)?;
    let owner = meta.uid();
    let is_ours = owner == rustix::process::geteuid().as_raw() || owner == 0;
    if !is_ours || meta.mode() & 0o022 != 0 {
        return Err(anyhow!("others may write to it").context(location()));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).with_context(location)?;
    Ok(text)
}

/// The line of a text, counting from 1, that holds its byte `at`.
pub fn line_of(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or(text);
    1 + before.matches('\n').count()
}
