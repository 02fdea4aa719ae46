//! Where lines end, and whether each is one whole JSON object: both at once,
//! 64 bytes at a time, for less than an instruction a byte.
//!
//! Newlines and the brackets outside strings are found as bits of masks. What is
//! between the brackets is not looked at: a line that a tool does not use has
//! to be whole, not valid. Where the processor has AVX2 the masks are made with
//! it.

#![expect(
    clippy::inline_always,
    reason = "code is built for a processor's features only inside the function that asks for them"
)]

type Block = [u8; 64];

/// One bit for each of 64 bytes.
struct Marks {
    quote: u64,
    backslash: u64,
    newline: u64,
}

/// How bits are got from bytes.
trait Kit {
    fn marks(&self, block: &Block) -> Marks;
    /// What opens and what closes, a bracket of either kind.
    fn brackets(&self, block: &Block) -> (u64, u64);
    /// Each bit the sum of those up to it.
    fn prefix_xor(&self, bits: u64) -> u64;
}

/// Scans a buffer that grows at its end and is consumed from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan {
    /// Known from the first look at something.
    fast: Option<bool>,
    /// Where the next block begins.
    at: usize,
    /// Where the current block began, and what of it is not accounted for yet.
    base: usize,
    open: u64,
    close: u64,
    newline: u64,
    /// The bytes of the current block that stand inside strings.
    strings: u64,
    /// All ones inside a string, at the end of the current block.
    in_string: u64,
    /// Whether a backslash at the end of the current block escapes what follows.
    escapes: bool,
    line: State,
}

/// What is known of the line being scanned.
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
    /// Where its newline stands.
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
    fn outside(fast: Option<bool>, at: usize) -> Self {
        Self {
            fast,
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

    /// Goes on to the next newline in `buf`, or `None` where there is none yet.
    pub(crate) fn next(&mut self, buf: &[u8]) -> Option<End> {
        #[cfg(target_arch = "x86_64")]
        if *self.fast.get_or_insert_with(is_fast) {
            return x86::next(self, buf);
        }
        self.next_with(buf, &Plain)
    }

    /// The end of the input, at the end of `buf`: the last line has no newline.
    pub(crate) fn finish(&mut self, buf: &[u8]) -> End {
        let mut padded = [b' '; 64];
        let rest = &buf[self.at.min(buf.len())..];
        padded[..rest.len()].copy_from_slice(rest);
        self.load(&padded, &Plain);
        self.count(self.open, self.close);
        let whole = self.in_string == 0;
        let end = self.end_of_line(buf.len(), whole);
        *self = Self::outside(self.fast, buf.len());
        end
    }

    /// How much of `buf` has been looked at for good.
    pub(crate) fn scanned(&self, buf: &[u8]) -> usize {
        self.at.min(buf.len())
    }

    /// Says that the bytes before `at` will not be seen again, while the line
    /// they belong to goes on.
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
    fn next_with(&mut self, buf: &[u8], kit: &impl Kit) -> Option<End> {
        if self.newline != 0 {
            return Some(self.take_newline());
        }
        // On the stack, where the loop can keep it in registers.
        let mut scan = *self;
        scan.count(scan.open, scan.close);
        let found = loop {
            let Some(block) = buf.get(scan.at..).and_then(<[u8]>::first_chunk) else {
                break scan.short_block(buf, kit);
            };
            scan.load(block, kit);
            if scan.newline != 0 {
                break Some(scan.take_newline());
            }
            scan.count(scan.open, scan.close);
        };
        *self = scan;
        found
    }

    /// What is left of the buffer is not a whole block yet: it is looked at for
    /// a newline, and begun anew where that stands or when there is more.
    #[inline(always)]
    fn short_block(&mut self, buf: &[u8], kit: &impl Kit) -> Option<End> {
        (self.open, self.close) = (0, 0);
        let rest = &buf[self.at..];
        let length = memchr::memchr(b'\n', rest)?;
        let mut padded = [b' '; 64];
        padded[..=length].copy_from_slice(&rest[..=length]);
        let next = self.at + length + 1;
        self.load(&padded, kit);
        self.at = next;
        Some(self.take_newline())
    }

    /// Makes a block the current one.
    #[inline(always)]
    fn load(&mut self, block: &Block, kit: &impl Kit) {
        let Marks {
            quote,
            backslash,
            newline,
        } = kit.marks(block);
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
        let strings = kit.prefix_xor(quotes) ^ self.in_string;
        let (open, close) = kit.brackets(block);
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
            // What was taken for the inside of a string is not.
            *self = Self::outside(self.fast, newline + 1);
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
/// nothing but blanks around it. What is inside is not looked at.
pub fn is_object(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let mut scan = Scan::new();
    let more = scan.next(line);
    debug_assert_eq!(more, None, "one line");
    line.first() == Some(&b'{') && scan.finish(line).object == Some(line.len())
}

fn is_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("pclmulqdq")
        && std::arch::is_x86_feature_detected!("popcnt")
        && std::arch::is_x86_feature_detected!("bmi1");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// With what every processor has.
struct Plain;

impl Plain {
    fn mask(block: &Block, test: fn(u8) -> bool) -> u64 {
        let bits = block.iter().rev();
        bits.fold(0, |bits, &byte| bits << 1 | u64::from(test(byte)))
    }
}

impl Kit for Plain {
    fn marks(&self, block: &Block) -> Marks {
        Marks {
            quote: Self::mask(block, |b| b == b'"'),
            backslash: Self::mask(block, |b| b == b'\\'),
            newline: Self::mask(block, |b| b == b'\n'),
        }
    }

    fn brackets(&self, block: &Block) -> (u64, u64) {
        // `[` and `]` differ from `{` and `}` by the bit that is set here.
        let open = Self::mask(block, |b| b | 0x20 == b'{');
        let close = Self::mask(block, |b| b | 0x20 == b'}');
        (open, close)
    }

    fn prefix_xor(&self, mut bits: u64) -> u64 {
        for shift in [1, 2, 4, 8, 16, 32] {
            bits ^= bits << shift;
        }
        bits
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(unsafe_code, reason = "instructions beyond the baseline")]

    use std::arch::x86_64::{
        __m256i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_set1_epi8,
        _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8,
    };

    use super::{Block, End, Kit, Marks, Scan};

    /// With AVX2; made only inside [`next_here`].
    struct Avx2(());

    /// [`Scan::next`] on a processor that [`super::is_fast`].
    pub(super) fn next(scan: &mut Scan, buf: &[u8]) -> Option<End> {
        assert!(
            scan.fast == Some(true),
            "asked for only on such a processor"
        );
        // SAFETY: the processor has the features.
        unsafe { next_here(scan, buf) }
    }

    #[target_feature(enable = "avx2,pclmulqdq,popcnt,bmi1")]
    fn next_here(scan: &mut Scan, buf: &[u8]) -> Option<End> {
        scan.next_with(buf, &Avx2(()))
    }

    impl Kit for Avx2 {
        #[inline(always)]
        fn marks(&self, block: &Block) -> Marks {
            // SAFETY: `Avx2` exists only where the processor has the features.
            unsafe {
                let (low, high) = halves(block);
                Marks {
                    quote: mask(low, high, b'"'),
                    backslash: mask(low, high, b'\\'),
                    newline: mask(low, high, b'\n'),
                }
            }
        }

        #[inline(always)]
        fn brackets(&self, block: &Block) -> (u64, u64) {
            // SAFETY: as above.
            unsafe {
                let (low, high) = halves(block);
                let bit = _mm256_set1_epi8(0x20);
                let (low, high) = (_mm256_or_si256(low, bit), _mm256_or_si256(high, bit));
                (mask(low, high, b'{'), mask(low, high, b'}'))
            }
        }

        #[inline(always)]
        fn prefix_xor(&self, bits: u64) -> u64 {
            // SAFETY: as above.
            unsafe { prefix_xor(bits) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn halves(block: &Block) -> (__m256i, __m256i) {
        #[expect(clippy::cast_ptr_alignment, reason = "loaded as unaligned")]
        let start = block.as_ptr().cast::<__m256i>();
        // SAFETY: the block has 64 bytes, and no alignment is asked for.
        unsafe { (_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask(low: __m256i, high: __m256i, byte: u8) -> u64 {
        let needle = _mm256_set1_epi8(byte.cast_signed());
        let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, needle)).cast_unsigned();
        let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, needle)).cast_unsigned();
        u64::from(high) << 32 | u64::from(low)
    }

    #[inline]
    #[target_feature(enable = "pclmulqdq")]
    fn prefix_xor(bits: u64) -> u64 {
        let product =
            _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, bits.cast_signed()), _mm_set1_epi8(-1));
        _mm_cvtsi128_si64(product).cast_unsigned()
    }
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

    fn scanned(text: &[u8], cuts: impl Fn(usize) -> usize, fast: bool) -> Vec<(usize, bool)> {
        let mut scan = Scan::outside(Some(fast), 0);
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
            for fast in [false, is_fast()] {
                let whole = scanned(&text, |_| usize::MAX, fast);
                assert_eq!(whole, expected, "round {round}, fast {fast}");
                let cut = scanned(&text, |n| n + step, fast);
                assert_eq!(cut, expected, "round {round}, step {step}, fast {fast}");
            }
        }
    }
}
