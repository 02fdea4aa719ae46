//! Recordings that gzip has compressed; they are known by their first bytes.

use std::fmt;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::GzDecoder;

/// The first bytes of a gzip file.
pub(crate) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Compressed bytes that are read at a time.
const CHUNK: usize = 64 << 10;

/// The bytes of a gzip file as they were before. It may have several members,
/// one after the other. Bytes behind the last one are ignored, as gzip does.
#[derive(Debug)]
pub(crate) struct Gunzip<R> {
    /// `None` after the last member.
    member: Option<GzDecoder<BufReader<Patient<R>>>>,
    /// The input behind the last member.
    rest: Option<Patient<R>>,
    is_truncated: bool,
}

impl<R: Read> Gunzip<R> {
    /// Reads from `input`, which begins with [`MAGIC`].
    pub(crate) fn new(input: R) -> Self {
        let input = BufReader::with_capacity(CHUNK, Patient(input));
        Self {
            member: Some(GzDecoder::new(input)),
            rest: None,
            is_truncated: false,
        }
    }

    /// The input.
    pub(crate) fn input(&self) -> Option<&R> {
        let member = self.member.as_ref();
        let input = member.map(|member| member.get_ref().get_ref());
        input.or(self.rest.as_ref()).map(|input| &input.0)
    }

    /// Whether the file ended in the middle of a member.
    pub(crate) fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Goes on with the member behind the one that ended, if there is one.
    fn next_member(&mut self) -> io::Result<()> {
        let Some(member) = self.member.take() else {
            return Ok(());
        };
        let mut input = member.into_inner();
        let has_more = input.fill_buf()?.first() == Some(&MAGIC[0]);
        if has_more && matches!(input.buffer().get(1), None | Some(&0x8b)) {
            self.member = Some(GzDecoder::new(input));
        } else {
            self.rest = Some(input.into_inner());
        }
        Ok(())
    }

    fn stop(&mut self) {
        let member = self.member.take();
        self.rest = member.map(|member| member.into_inner().into_inner());
    }
}

impl<R: Read> Read for Gunzip<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            match member.read(buf) {
                Ok(0) if !buf.is_empty() => self.next_member()?,
                Ok(length) => return Ok(length),
                Err(err) if err.kind() == ErrorKind::UnexpectedEof => {
                    self.is_truncated = true;
                    self.stop();
                }
                Err(err) if err.kind() == ErrorKind::InvalidInput => {
                    return Err(io::Error::new(ErrorKind::InvalidData, Damaged(err)));
                }
                Err(err) => return Err(err),
            }
        }
        Ok(0)
    }
}

/// A read that a signal interrupted is repeated: a decoder that meets one in the
/// header of a member gives up.
#[derive(Debug)]
struct Patient<R>(R);

impl<R: Read> Read for Patient<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buf) {
                Err(err) if err.kind() == ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

/// The compressed bytes are not what was written.
#[derive(Debug)]
pub(crate) struct Damaged(io::Error);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "damaged gzip data: {}", self.0)
    }
}

impl std::error::Error for Damaged {}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::Trickle;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).expect("written");
        encoder.finish().expect("finished")
    }

    fn read(bytes: &[u8], step: usize) -> (io::Result<Vec<u8>>, bool) {
        let mut gunzip = Gunzip::new(Trickle::new(bytes, step));
        let mut text = Vec::new();
        let read = gunzip.read_to_end(&mut text);
        (read.map(|_| text), gunzip.is_truncated())
    }

    #[test]
    fn members_are_read_one_after_the_other_and_what_follows_is_ignored() {
        let two = [gzip(b"one\n"), gzip(b"two\n")].concat();
        for tail in [&b""[..], b"\0\0\0\0", b"garbage", b"\x1fx"] {
            for step in [1, 2, 17, usize::MAX] {
                let bytes = [&two[..], tail].concat();
                let (text, is_truncated) = read(&bytes, step);
                // Byte by byte the second byte of a magic number is not seen.
                if tail != b"\x1fx" {
                    assert_eq!(text.expect("read"), b"one\ntwo\n", "{tail:?} {step}");
                    assert!(!is_truncated);
                }
            }
        }
    }

    #[test]
    fn every_cut_is_noticed_and_what_came_before_it_is_read() {
        let text: Vec<u8> = (0..2000u32).flat_map(u32::to_le_bytes).collect();
        let bytes = gzip(&text);
        for length in 2..bytes.len() {
            let (read, is_truncated) = read(&bytes[..length], usize::MAX);
            assert!(text.starts_with(&read.expect("read")), "{length}");
            assert!(is_truncated, "{length}");
        }
    }

    #[test]
    fn damaged_bytes_are_an_error_of_their_own() {
        let mut bytes = gzip(b"some text that is long enough");
        let checksum = bytes.len() - 8;
        bytes[checksum] ^= 1;
        let err = read(&bytes, usize::MAX).0.expect_err("damaged");
        assert!(err.to_string().starts_with("damaged gzip data: "), "{err}");
    }
}
