//! The framing of the protocol.
//!
//! A frame is a line `#cr-relay TOKEN KIND NUMBER LENGTH`, so many bytes, and a
//! newline: a command that passes its output on line by line holds nothing back.
//! The near end makes the token for one connection, and the agent does not know
//! it, so no output of the agent can pass for a frame, also if the command mixes
//! text of its own into it. The numbers count, so a frame that is lost is noticed.

use std::io::{self, BufRead, Read, Write};

/// The version of the protocol. Both ends must have the same.
pub(crate) const PROTOCOL: u32 = 1;

/// The far end's first line begins with this; the protocol and the version of the
/// tools follow.
pub(crate) const MAGIC: &str = "#cr-relay-far ";

const HEADER: &str = "#cr-relay ";

/// No frame is longer: the longest line that cr-spawn may be told to pass on, and
/// more than any other content.
const LONGEST: usize = 1 << 30;

/// The longest line that is looked at as a header or shown as noise.
const LONGEST_TEXT: u64 = 4096;

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Near: who is there, and which attempt it is about.
    Hello,
    /// Far: what of the repository is there already, or that the attempt is known.
    Ready,
    /// Both: a part of a bundle.
    Pack,
    /// Near: a part of the prompt.
    Prompt,
    /// Near: begin.
    Start,
    /// Near: the lease is renewed. Far: it is alive.
    Beat,
    /// Near: a signal for the agent's supervisor.
    Stop,
    /// Far: lines of the agent.
    Lines,
    /// Far: lines of cr-spawn itself.
    Own,
    /// Far: what became of the work; parts of a bundle follow.
    Work,
    /// Far: the `cr/exit` line.
    Exit,
    /// Far: it cannot begin.
    Refused,
    /// Near: all has arrived.
    Done,
}

impl Kind {
    const ALL: [(Self, &'static str); 13] = [
        (Self::Hello, "hello"),
        (Self::Ready, "ready"),
        (Self::Pack, "pack"),
        (Self::Prompt, "prompt"),
        (Self::Start, "start"),
        (Self::Beat, "beat"),
        (Self::Stop, "stop"),
        (Self::Lines, "lines"),
        (Self::Own, "own"),
        (Self::Work, "work"),
        (Self::Exit, "exit"),
        (Self::Refused, "refused"),
        (Self::Done, "done"),
    ];

    fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(kind, _)| *kind == self)
            .map_or("", |(_, name)| name)
    }

    fn of_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }
}

/// A frame that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) bytes: Vec<u8>,
}

/// What a [`FrameReader`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Frame(Frame),
    /// A line between frames.
    Noise(String),
    End,
}

/// A new token.
pub(crate) fn token() -> io::Result<String> {
    let mut random = [0_u8; 8];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    Ok(format!("{:016x}", u64::from_be_bytes(random)))
}

/// Writes frames.
#[derive(Debug)]
pub(crate) struct FrameWriter<W> {
    to: W,
    token: String,
    number: u64,
}

impl<W: Write> FrameWriter<W> {
    pub(crate) fn new(to: W, token: &str) -> Self {
        Self {
            to,
            token: token.to_owned(),
            number: 0,
        }
    }

    /// Writes one frame, at once.
    pub(crate) fn write(&mut self, kind: Kind, bytes: &[u8]) -> io::Result<()> {
        let (token, name, number) = (&self.token, kind.name(), self.number);
        let mut text = format!("{HEADER}{token} {name} {number} {}\n", bytes.len()).into_bytes();
        text.reserve(bytes.len() + 1);
        text.extend_from_slice(bytes);
        text.push(b'\n');
        self.number += 1;
        self.to.write_all(&text)?;
        self.to.flush()
    }

    /// Writes a blank line, which a reader skips.
    pub(crate) fn blank(&mut self) -> io::Result<()> {
        self.to.write_all(b"\n")?;
        self.to.flush()
    }
}

/// Reads frames.
#[derive(Debug)]
pub(crate) struct FrameReader<R> {
    from: R,
    /// Empty: that of the first frame.
    token: String,
    number: u64,
}

impl<R: BufRead> FrameReader<R> {
    pub(crate) fn new(from: R, token: &str) -> Self {
        Self {
            from,
            token: token.to_owned(),
            number: 0,
        }
    }

    /// The token that both ends use.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// The next line of text, without its end; `None` at the end of file. What is
    /// longer than any header is cut into several.
    pub(crate) fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let mut part = (&mut self.from).take(LONGEST_TEXT);
        part.read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        Ok(Some(String::from_utf8_lossy(line).into_owned()))
    }

    /// The next frame, or what stands in its place. An error is final: where the
    /// next frame begins is not known any more.
    pub(crate) fn next(&mut self) -> io::Result<Found> {
        let Some(line) = self.line()? else {
            return Ok(Found::End);
        };
        let Some((kind, length)) = self.header(&line)? else {
            return Ok(Found::Noise(line));
        };
        let mut bytes = Vec::with_capacity(length.min(1 << 20));
        let wanted = u64::try_from(length + 1).unwrap_or(u64::MAX);
        (&mut self.from).take(wanted).read_to_end(&mut bytes)?;
        match bytes.pop() {
            Some(b'\n') if bytes.len() == length => Ok(Found::Frame(Frame { kind, bytes })),
            _ if bytes.len() < length => Ok(Found::End),
            _ => Err(broken("a frame does not end where it should")),
        }
    }

    /// The kind and the length, if `line` is the header of a frame.
    fn header(&mut self, line: &str) -> io::Result<Option<(Kind, usize)>> {
        let Some(rest) = line.strip_prefix(HEADER) else {
            return Ok(None);
        };
        let words: Vec<&str> = rest.split(' ').collect();
        let [token, name, number, length] = words[..] else {
            return Ok(None);
        };
        if self.token.is_empty() {
            token.clone_into(&mut self.token);
        }
        if token != self.token {
            return Ok(None);
        }
        if length.ends_with('\r') {
            return Err(broken("the command changes line ends, as a terminal does"));
        }
        if number.parse() != Ok(self.number) {
            return Err(broken("a frame is missing"));
        }
        self.number += 1;
        let kind = Kind::of_name(name).ok_or_else(|| broken("a frame of an unknown kind"))?;
        match length.parse() {
            Ok(length) if length <= LONGEST => Ok(Some((kind, length))),
            _ => Err(broken("a frame of an impossible length")),
        }
    }
}

pub(crate) fn broken(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use cr_io::Trickle;
    use std::io::BufReader;

    use super::*;

    fn written(frames: &[(Kind, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = FrameWriter::new(&mut bytes, "t");
        for (kind, content) in frames {
            writer.write(*kind, content).expect("written");
        }
        bytes
    }

    fn read(bytes: &[u8], step: usize) -> Vec<io::Result<Found>> {
        let mut reader = FrameReader::new(BufReader::new(Trickle::new(bytes, step)), "t");
        let mut all = Vec::new();
        loop {
            let found = reader.next();
            let is_last = matches!(found, Ok(Found::End) | Err(_));
            all.push(found);
            if is_last {
                return all;
            }
        }
    }

    #[test]
    fn frames_are_read_as_they_were_written_however_they_are_cut() {
        let any: Vec<u8> = (0..=255).collect();
        let frames = [
            (Kind::Lines, &any[..]),
            (Kind::Beat, b""),
            (Kind::Pack, b"\n#cr-relay t exit 2 1\nx\n"),
        ];
        for step in [1, 3, usize::MAX] {
            let found = read(&written(&frames), step);
            assert_eq!(found.len(), 4);
            for (found, (kind, bytes)) in found.iter().zip(frames) {
                let bytes = bytes.to_vec();
                let expected = Found::Frame(Frame { kind, bytes });
                assert_eq!(found.as_ref().ok(), Some(&expected));
            }
        }
    }

    #[test]
    fn text_between_frames_is_noise_and_text_in_a_frame_is_an_error() {
        let one = written(&[(Kind::Lines, b"abc")]);
        let mut bytes = b"Welcome\n#cr-relay other exit 0 1\n".to_vec();
        bytes.extend(&one);
        let found = read(&bytes, usize::MAX);
        assert!(matches!(&found[0], Ok(Found::Noise(text)) if text == "Welcome"));
        assert!(matches!(&found[1], Ok(Found::Noise(_))));
        assert!(matches!(&found[2], Ok(Found::Frame(_))));
        let middle = one.len() - 3;
        let mut bytes = one[..middle].to_vec();
        bytes.extend(b"text");
        bytes.extend(&one[middle..]);
        assert!(matches!(read(&bytes, usize::MAX)[..], [Err(_)]));
    }

    #[test]
    fn a_frame_that_is_lost_doubled_or_cut_is_noticed() {
        let both = written(&[(Kind::Lines, b"a"), (Kind::Exit, b"b")]);
        let first = written(&[(Kind::Lines, b"a")]).len();
        assert!(matches!(read(&both[first..], 9)[..], [Err(_)]));
        let twice = [&both[..first], &both[..first]].concat();
        assert!(matches!(read(&twice, 9)[..], [Ok(_), Err(_)]));
        for length in first..both.len() {
            let found = read(&both[..length], 9);
            let exit = found
                .iter()
                .any(|found| matches!(found, Ok(Found::Frame(frame)) if frame.kind == Kind::Exit));
            assert!(!exit, "{length}");
        }
    }
}
