//! Lines that replace a line of the agent: `cr/stderr`, `cr/noise`,
//! `cr/forged`, `cr/oversize` and `cr/cut`.

use std::borrow::Cow;

use crate::field::{is_false, object};
use crate::{LineBody, Subtype};

object! {
    /// `cr/stderr`: a line of the agent's standard error.
    pub struct Stderr<'a> {
        /// The line.
        text: Cow<'a, str>,
        /// More of the same line follows.
        #[serde(skip_serializing_if = "is_false")]
        partial: bool,
    }
}

impl LineBody for Stderr<'_> {
    const SUBTYPE: Subtype = Subtype::Stderr;
}

object! {
    /// `cr/noise`: a line of the agent's standard output that is not JSON.
    pub struct Noise<'a> {
        /// The line.
        text: Cow<'a, str>,
    }
}

impl LineBody for Noise<'_> {
    const SUBTYPE: Subtype = Subtype::Noise;
}

object! {
    /// `cr/forged`: a line of the agent that claimed to be our own.
    pub struct Forged<'a> {
        /// The line.
        line: Cow<'a, str>,
    }
}

impl LineBody for Forged<'_> {
    const SUBTYPE: Subtype = Subtype::Forged;
}

object! {
    /// `cr/oversize`: what is left of a line that was too long.
    pub struct Oversize<'a> {
        /// Its length.
        bytes: u64,
        /// Its hash in hexadecimal digits.
        sha256: Cow<'a, str>,
        /// Its beginning.
        head: Cow<'a, str>,
        /// The file that holds it.
        file: Option<Cow<'a, str>>,
    }
}

impl LineBody for Oversize<'_> {
    const SUBTYPE: Subtype = Subtype::Oversize;
}

object! {
    /// `cr/cut`: what the record of a run leaves out in this place.
    #[derive(Copy)]
    pub struct Cut {
        /// So many bytes.
        bytes: u64,
        /// So many lines.
        lines: u64,
    }
}

impl LineBody for Cut {
    const SUBTYPE: Subtype = Subtype::Cut;
}
