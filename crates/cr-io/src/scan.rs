//! Where lines end, and whether each is one whole JSON object: both in one pass,
//! 64 bytes at a time.
//!
//! Newlines and the brackets outside strings are found as bits of masks. The
//! text between the brackets is not checked: a line that a tool does not use has
//! to be whole, not valid. The masks are made by [`masks`], or by [`avx2`] where
//! the processor has it.

#![expect(
    clippy::inline_always,
    reason = "code is built for a processor's features only inside the function that asks for them"
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
mod masks;

use masks::{Block, MaskMaker, Masks, Portable};

/// Scans a buffer that grows at its end and is consumed from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan {
    /// Whether [`avx2`] is used; not asked before there is something to scan.
    has_avx2: Option<bool>,
    /// Where the next block begins.
    at: usize,
    /// Where the current block began, and what of it is not accounted for yet.
    base: usize,
    open: u64,
    close: u64,
    newline: u64,
    /// The bytes of the current block that are inside strings.
    strings: u64,
    /// All ones inside a string, at the end of the current block.
    in_string: u64,
    /// Whether a backslash at the end of the current block escapes what follows.
    escapes: bool,
    line: State,
}

/// The state of the line being scanned.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    depth: u64,
    /// The byte after the bracket that closed the object.
    end: Option<usize>,
    /// A bracket closed nothing, or stood outside the object.
    stray: bool,
}

/// The end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The position of its newline.
    pub(crate) newline: usize,
    /// Where its object was closed; `None` unless the brackets of the line are
    /// those of one object.
    pub(crate) object: Option<usize>,
}

impl Scan {
    pub(crate) fn new() -> Self {
        Self::outside(None, 0)
    }

    /// Outside of everything, with `at` the next byte to look at.
    fn outside(has_avx2: Option<bool>, at: usize) -> Self {
        Self {
            has_avx2,
            at,
            base: at,
            open: 0,
            close: 0,
            newline: 0,
            strings: 0,
            in_string: 0,
            escapes: false,
            line: State::default(),
        }
    }

    /// The next newline in `buf`, or `None` where there is none yet.
    pub(crate) fn next(&mut self, buf: &[u8]) -> Option<End> {
        #[cfg(target_arch = "x86_64")]
        if *self.has_avx2.get_or_insert_with(avx2::is_available) {
            return avx2::next(self, buf);
        }
        self.next_with(buf, &Portable)
    }

    /// The end of the input, at the end of `buf`: the last line has no newline.
    pub(crate) fn finish(&mut self, buf: &[u8]) -> End {
        let mut padded = [b' '; 64];
        let rest = &buf[self.at.min(buf.len())..];
        padded[..rest.len()].copy_from_slice(rest);
        self.load(&padded, &Portable);
        self.count(self.open, self.close);
        let whole = self.in_string == 0;
        let end = self.end_of_line(buf.len(), whole);
        *self = Self::outside(self.has_avx2, buf.len());
        end
    }

    /// How many bytes of `buf` need no second look.
    pub(crate) fn scanned(&self, buf: &[u8]) -> usize {
        self.at.min(buf.len())
    }

    /// The bytes before `at` are about to go, while their line goes on.
    pub(crate) fn settle(&mut self, buf: &[u8], at: usize) {
        if let Some(end) = self.line.end.filter(|&end| end < at) {
            self.line.stray |= !buf[end..at].trim_ascii().is_empty();
            self.line.end = Some(at);
        }
    }

    /// Forgets the first `bytes` bytes of the buffer. There is no newline left
    /// in what was looked at.
    pub(crate) fn slide(&mut self, bytes: usize) {
        self.at -= bytes;
        self.base = self.at;
        self.line.end = self.line.end.map(|end| end - bytes);
    }

    #[inline(always)]
    fn next_with(&mut self, buf: &[u8], maker: &impl MaskMaker) -> Option<End> {
        if self.newline != 0 {
            return Some(self.take_newline());
        }
        // On the stack, where the loop can keep it in registers.
        let mut scan = *self;
        scan.count(scan.open, scan.close);
        let found = loop {
            let Some(block) = buf.get(scan.at..).and_then(<[u8]>::first_chunk) else {
                break scan.short_block(buf, maker);
            };
            scan.load(block, maker);
            if scan.newline != 0 {
                break Some(scan.take_newline());
            }
            scan.count(scan.open, scan.close);
        };
        *self = scan;
        found
    }

    /// The rest of the buffer is not a whole block yet. It is searched for a
    /// newline; the next block begins after that, or here when there is more.
    #[inline(always)]
    fn short_block(&mut self, buf: &[u8], maker: &impl MaskMaker) -> Option<End> {
        (self.open, self.close) = (0, 0);
        let rest = &buf[self.at..];
        let length = memchr::memchr(b'\n', rest)?;
        let mut padded = [b' '; 64];
        padded[..=length].copy_from_slice(&rest[..=length]);
        let next = self.at + length + 1;
        self.load(&padded, maker);
        self.at = next;
        Some(self.take_newline())
    }

    /// Makes a block the current one.
    #[inline(always)]
    fn load(&mut self, block: &Block, maker: &impl MaskMaker) {
        let Masks {
            quote,
            backslash,
            newline,
        } = maker.masks(block);
        let quotes = if backslash == 0 && !self.escapes {
            quote
        } else {
            quote & !self.escaped(backslash)
        };
        (self.base, self.newline) = (self.at, newline);
        self.at += 64;
        if quotes == 0 && self.in_string != 0 {
            // All of it is text.
            (self.open, self.close, self.strings) = (0, 0, u64::MAX);
            return;
        }
        let strings = maker.prefix_xor(quotes) ^ self.in_string;
        let (open, close) = maker.brackets(block);
        self.in_string = (strings.cast_signed() >> 63).cast_unsigned();
        (self.open, self.close, self.strings) = (open & !strings, close & !strings, strings);
    }

    /// Ends the line at the next newline of the current block.
    #[inline(always)]
    fn take_newline(&mut self) -> End {
        let bit = self.newline & self.newline.wrapping_neg();
        let before = bit - 1;
        self.count(self.open & before, self.close & before);
        self.open &= !before;
        self.close &= !before;
        self.newline ^= bit;
        let newline = self.base + bit.trailing_zeros() as usize;
        let outside = self.strings & bit == 0;
        let end = self.end_of_line(newline, outside);
        if !outside {
            // The line ends inside a string, and the string with it.
            *self = Self::outside(self.has_avx2, newline + 1);
        }
        end
    }

    #[inline(always)]
    fn end_of_line(&mut self, newline: usize, outside: bool) -> End {
        let State { depth, end, stray } = std::mem::take(&mut self.line);
        let object = end.filter(|_| outside && depth == 0 && !stray);
        End { newline, object }
    }

    /// Accounts for brackets of the current block.
    #[inline(always)]
    fn count(&mut self, open: u64, close: u64) {
        let closed = u64::from(close.count_ones());
        if self.line.depth > closed {
            self.line.depth = self.line.depth + u64::from(open.count_ones()) - closed;
        } else if open | close != 0 {
            self.one_by_one(open, close);
        }
    }

    /// The same in order, where the object may begin or end.
    #[inline(always)]
    fn one_by_one(&mut self, open: u64, close: u64) {
        let line = &mut self.line;
        let mut brackets = open | close;
        while brackets != 0 {
            let at = brackets.trailing_zeros();
            brackets &= brackets - 1;
            // Only one object, and nothing after it.
            line.stray |= line.end.is_some();
            if open >> at & 1 == 1 {
                line.depth += 1;
            } else if line.depth == 0 {
                line.stray = true;
            } else {
                line.depth -= 1;
                if line.depth == 0 {
                    line.end = Some(self.base + at as usize + 1);
                }
            }
        }
    }

    /// The bytes that an odd run of backslashes escapes.
    #[inline(always)]
    fn escaped(&mut self, backslash: u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let carried = u64::from(self.escapes);
        let backslash = backslash & !carried;
        let follows = backslash << 1 | carried;
        // A run that starts at an odd place, added up, ends in the place after
        // it when its length is even; what is left of the pattern tells which.
        let odd_starts = backslash & !EVEN & !follows;
        let (even_ends, overflow) = odd_starts.overflowing_add(backslash);
        self.escapes = overflow;
        (EVEN ^ (even_ends << 1)) & follows
    }
}

/// Whether `line`, which holds no newline, is a JSON object by its brackets, with
/// nothing but blanks around it. Its content is not checked.
pub fn is_object(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let mut scan = Scan::new();
    let more = scan.next(line);
    debug_assert_eq!(more, None, "one line");
    line.first() == Some(&b'{') && scan.finish(line).object == Some(line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same question, a byte at a time. (A backslash outside a string, which
    /// no JSON has, escapes a quote and no bracket.)
    fn reference(text: &[u8]) -> Vec<(usize, bool)> {
        let mut ends = Vec::new();
        let mut start = 0;
        for (newline, _) in text.iter().enumerate().filter(|&(_, &b)| b == b'\n') {
            ends.push((newline, is_whole(&text[start..newline])));
            start = newline + 1;
        }
        ends
    }

    fn is_whole(line: &[u8]) -> bool {
        let (mut depth, mut in_string, mut escaped) = (0_u32, false, false);
        let (mut objects, mut stray) = (0, false);
        for &byte in line {
            match byte {
                b'"' if !escaped => in_string = !in_string,
                b'{' | b'[' if !in_string => {
                    stray |= objects > 0;
                    depth += 1;
                }
                b'}' | b']' if !in_string && depth == 0 => stray = true,
                b'}' | b']' if !in_string => {
                    depth -= 1;
                    objects += u32::from(depth == 0);
                }
                _ => {}
            }
            escaped = byte == b'\\' && !escaped;
        }
        !in_string && !stray && depth == 0 && objects == 1
    }

    fn scanned(text: &[u8], cuts: impl Fn(usize) -> usize, has_avx2: bool) -> Vec<(usize, bool)> {
        let mut scan = Scan::outside(Some(has_avx2), 0);
        let mut ends = Vec::new();
        let mut length = 0;
        while length < text.len() {
            length = cuts(length).min(text.len());
            while let Some(end) = scan.next(&text[..length]) {
                ends.push((end.newline, end.object.is_some()));
            }
        }
        ends
    }

    fn has_avx2() -> bool {
        #[cfg(target_arch = "x86_64")]
        return avx2::is_available();
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    #[test]
    fn one_line_by_itself_is_judged_the_same() {
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(200));
        #[rustfmt::skip]
        let cases = [("{}", true), (" {} ", true), (&*long, true), ("{}{}", false), ("[]", false), ("{\"", false), ("", false)];
        for (line, expected) in cases {
            assert_eq!(is_object(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn blocks_agree_with_bytes_on_random_lines() {
        let alphabet = b"{}[]\"\"\\\\ ax:,\n";
        let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
        let mut random = |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            usize::try_from(seed % below as u64).expect("small")
        };
        for round in 0..20_000 {
            let length = random(400);
            // Fewer newlines and brackets make longer lines and more whole ones.
            let kinds = alphabet.len() - random(2);
            let mut text: Vec<u8> = (0..length).map(|_| alphabet[random(kinds)]).collect();
            for _ in 0..random(4) {
                let at = random(text.len() + 1);
                let object = format!("\n{{\"a\":\"{}\"}}\n", "x\\\\".repeat(random(60)));
                text.splice(at..at, object.bytes());
            }
            let expected = reference(&text);
            let step = 1 + random(150);
            for has_avx2 in [false, has_avx2()] {
                let whole = scanned(&text, |_| usize::MAX, has_avx2);
                assert_eq!(whole, expected, "round {round}, AVX2 {has_avx2}");
                let cut = scanned(&text, |n| n + step, has_avx2);
                assert_eq!(cut, expected, "round {round}, step {step}, AVX2 {has_avx2}");
            }
        }
    }
}
