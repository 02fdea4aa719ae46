//! Paths as they are on the file system, and the globs of rules.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use cr_glob::Glob;

/// A path of a call.
#[derive(Debug)]
pub(crate) struct Place {
    /// What the path can mean, with links resolved: `..` taken as the text before
    /// it says, and as the file system says.
    pub(crate) real: Vec<PathBuf>,
    /// The path with its links.
    named: PathBuf,
}

impl Place {
    /// Resolves `text`. `None` where that is not certain: a link to nothing, a
    /// directory that cannot be read, a home.
    pub(crate) fn resolve(cwd: &Path, text: &str) -> Option<Self> {
        let is_odd = text.is_empty() || text.trim() != text || text.starts_with('~');
        if is_odd || text.chars().any(|c| c.is_control() || c == '\u{feff}') {
            return None;
        }
        let cwd = fs::canonicalize(cwd).ok()?;
        let written = cwd.join(text);
        let named = without_dots(&written);
        let mut real = vec![real(&named)?];
        if written
            .components()
            .any(|part| part == Component::ParentDir)
        {
            real.push(self::real(&written)?);
        }
        Some(Self { real, named })
    }

    /// Every form of the path that a rule which denies looks at.
    fn forms(&self) -> impl Iterator<Item = &Path> {
        let real = self.real.iter().map(PathBuf::as_path);
        real.chain([self.named.as_path()])
    }
}

/// Removes `.` and `..` as the text says, as most programs do before they open a
/// file.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            part => clean.push(part),
        }
    }
    clean
}

/// The nearest directory that exists, with links resolved, and the names after
/// it, which must be plain.
fn real(path: &Path) -> Option<PathBuf> {
    let mut existing = path.to_owned();
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut parts: Vec<Component> = path.components().collect();
    loop {
        match fs::canonicalize(&existing) {
            Ok(mut real) => {
                real.extend(missing.iter().rev());
                return Some(real);
            }
            Err(err) if err.kind() == ErrorKind::NotFound => {}
            Err(_) => return None,
        }
        // A link to nothing exists: a file written through it is elsewhere.
        if fs::symlink_metadata(&existing).is_ok() {
            return None;
        }
        let Some(Component::Normal(name)) = parts.pop() else {
            return None;
        };
        missing.push(name);
        existing = parts.iter().collect();
    }
}

/// A glob of a rule: below the directory of the run, or absolute.
#[derive(Clone, Debug)]
pub(crate) struct PathGlob {
    text: String,
    glob: Glob,
}

impl PathGlob {
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.chars().any(char::is_control) {
            return Err("expected a glob, of one line and not empty".to_owned());
        }
        if text.starts_with('~') {
            return Err("`~` is not expanded: write the whole path".to_owned());
        }
        if text.split('/').any(|part| part == "..") {
            return Err("`..` is never part of a resolved path".to_owned());
        }
        let glob = Glob::new(text.as_bytes());
        let text = text.to_owned();
        Ok(Self { text, glob })
    }

    /// Whether the glob allows `path`, which is real; if `with_all_below`, with
    /// everything below it.
    pub(crate) fn allows(&self, cwd: &Path, path: &Path, with_all_below: bool) -> bool {
        let Some(path) = relative(&self.text, cwd, path) else {
            return false;
        };
        if with_all_below {
            return self.glob.allows_all_below(path);
        }
        !path.is_empty() && self.glob.allows(path)
    }

    /// Whether the glob names `place` by any form of it; `None` if a search below
    /// `place` can find something that the glob names.
    pub(crate) fn denies(&self, cwd: &Path, place: &Place, is_search: bool) -> Option<bool> {
        let base = self.base();
        let start = real(&cwd.join(&base));
        let real_glob = start.as_deref().and_then(|start| self.at(&base, start));
        let names = |path: &Path| {
            let own = [Some(self), real_glob.as_ref()];
            let mut own = own.into_iter().flatten();
            own.any(|glob| glob.allows(cwd, path, false) || glob.allows(cwd, path, true))
        };
        if place.forms().any(names) {
            return Some(true);
        }
        let starts = [start?, cwd.join(&base)];
        let is_near = |dir: &Path| starts.iter().any(|start| near(start, dir));
        (!is_search || !place.forms().any(is_near)).then_some(false)
    }

    /// The directories before the first part that is a pattern.
    fn base(&self) -> PathBuf {
        let is_pattern = |part: &str| part.contains(['*', '?', '\\']);
        let parts = self.text.split('/').take_while(|part| !is_pattern(part));
        let base: PathBuf = parts.filter(|part| !part.is_empty()).collect();
        if self.text.starts_with('/') {
            Path::new("/").join(base)
        } else {
            base
        }
    }

    /// The same glob where its first directories, `base`, really are.
    fn at(&self, base: &Path, start: &Path) -> Option<Self> {
        let names = base
            .components()
            .filter(|part| matches!(part, Component::Normal(_)));
        let parts = self
            .text
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".");
        let rest: Vec<&str> = parts.skip(names.count()).collect();
        let mut text = start.to_str()?.to_owned();
        for special in ["\\", "*", "?"] {
            text = text.replace(special, &format!("\\{special}"));
        }
        text.push('/');
        text.push_str(&rest.join("/"));
        if self.text.ends_with('/') && !rest.is_empty() {
            text.push('/');
        }
        // A glob without a pattern names its base, not what is below it.
        let is_plain = rest.is_empty() && !self.text.ends_with('/');
        Self::new(if is_plain {
            text.trim_end_matches('/')
        } else {
            &text
        })
        .ok()
    }
}

fn near(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// The bytes of `path` from where the glob is anchored.
fn relative<'a>(glob: &str, cwd: &Path, path: &'a Path) -> Option<&'a [u8]> {
    let anchor = if glob.starts_with('/') {
        Path::new("/")
    } else {
        cwd
    };
    let below = path.strip_prefix(anchor).ok()?;
    Some(below.as_os_str().as_bytes())
}
