//! The directory and the fingerprints of a `cr/git` start line.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use cr_stream::{DirtyFile, GitStart};

use crate::dirty::{Fingerprint, Fingerprints, Id};
use crate::text::{self, Name};

/// A start line that does not borrow from the stream.
pub(crate) type Start = GitStart<'static>;

/// A start in `cwd` of which nothing is known yet.
pub(crate) fn start_at(cwd: &Path) -> Start {
    let bytes = cwd.as_os_str().as_bytes();
    let encoded = str::from_utf8(bytes).is_err().then(|| text::base64(bytes));
    Start {
        cwd: cwd.to_string_lossy().into_owned().into(),
        cwd_b64: encoded.map(Into::into),
        ..Start::default()
    }
}

/// The directory of the run.
pub(crate) fn directory(start: &Start) -> PathBuf {
    let bytes = start.cwd_b64.as_deref().and_then(text::unbase64);
    bytes.map_or_else(
        || PathBuf::from(&*start.cwd),
        |bytes| PathBuf::from(OsString::from_vec(bytes)),
    )
}

/// An entry that was not clean at the start.
pub(crate) fn dirty_file(
    path: &[u8],
    status: &str,
    (id, print): (Id, Fingerprint),
) -> DirtyFile<'static> {
    let name = Name::of(path);
    DirtyFile {
        path: name.path.into(),
        path_b64: name.path_b64.map(Into::into),
        status: status.to_owned().into(),
        id: format!("{id:016x}").into(),
        print: format!("{print:016x}").into(),
    }
}

/// Encodes `prints` for `dirty_rest`: sixteen bytes each.
pub(crate) fn encode(prints: &[(Id, Fingerprint)]) -> Option<Cow<'static, str>> {
    let number =
        |&(id, print): &(Id, Fingerprint)| [id.to_be_bytes(), print.to_be_bytes()].concat();
    let bytes: Vec<u8> = prints.iter().flat_map(number).collect();
    (!bytes.is_empty()).then(|| text::base64(&bytes).into())
}

/// The fingerprint of every entry that was not clean.
pub(crate) fn fingerprints(start: &Start) -> Fingerprints {
    let number = |hex: &str| u64::from_str_radix(hex, 16).ok();
    let named = start.dirty.iter();
    let named = named.filter_map(|file| Some((number(&file.id)?, number(&file.print)?)));
    let rest = start.dirty_rest.as_deref().and_then(text::unbase64);
    let rest = rest.unwrap_or_default();
    let (pairs, _) = rest.as_chunks::<16>();
    let rest = pairs.iter().map(|pair| {
        let both = u128::from_be_bytes(*pair);
        let low = both & u128::from(u64::MAX);
        let number = |n: u128| u64::try_from(n).expect("64 bits of it");
        (number(both >> 64), number(low))
    });
    named.chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use cr_stream::OwnLine;

    use super::*;

    #[test]
    fn fingerprints_come_back_from_both_forms() {
        let start = Start {
            dirty: vec![dirty_file(b"a", ".M", (1, u64::MAX))],
            dirty_rest: encode(&[(2, 3), (u64::MAX, 4)]),
            ..Start::default()
        };
        let line = cr_stream::compose(Some("x"), &start);
        let Some(OwnLine::GitStart(read)) = OwnLine::parse(&line) else {
            panic!("not a start line");
        };
        let expected = [(1, u64::MAX), (2, 3), (u64::MAX, 4)].into();
        assert_eq!(fingerprints(&read.into_owned()), expected);
    }
}
