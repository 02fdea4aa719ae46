//! Whether a line is one balanced JSON object, at a few instructions for each
//! sixteen bytes.
//!
//! Brackets outside strings are counted, 64 bytes at a time, from bit masks.
//! What is between them is not looked at: a line that a tool does not use has
//! to be whole, not valid. Where the processor has AVX2 the masks are made with
//! it, which takes half the instructions.

/// The state between two pieces of a line.
#[derive(Clone, Debug, Default)]
pub struct Balance {
    stage: Stage,
    depth: u64,
    /// All ones inside a string.
    in_string: u64,
    /// Whether a backslash at the end of the last piece escapes what follows.
    escapes: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Only blanks so far.
    #[default]
    Before,
    Inside,
    /// The object is closed; only blanks may follow.
    After,
    Bad,
}

/// One bit for each of 64 bytes.
struct Masks {
    quote: u64,
    backslash: u64,
    open: u64,
    close: u64,
}

type Block = [u8; 64];

impl Balance {
    /// Whether `line` is one balanced object with nothing but blanks around it.
    pub fn holds(line: &[u8]) -> bool {
        let mut balance = Self::default();
        balance.feed(line);
        balance.is_whole()
    }

    /// Whether everything fed so far is one balanced object.
    pub fn is_whole(&self) -> bool {
        self.stage == Stage::After
    }

    /// Goes on with the next bytes of the line.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        if self.stage == Stage::Before {
            bytes = bytes.trim_ascii_start();
            match bytes.split_first() {
                None => return,
                Some((b'{', rest)) => {
                    self.stage = Stage::Inside;
                    self.depth = 1;
                    bytes = rest;
                }
                Some(_) => self.stage = Stage::Bad,
            }
        }
        if self.stage == Stage::Inside {
            bytes = self.inside(bytes);
        }
        if self.stage == Stage::After && !bytes.trim_ascii_start().is_empty() {
            self.stage = Stage::Bad;
        }
    }

    /// Consumes bytes until the object is closed; returns those after it.
    fn inside<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("pclmulqdq")
            && std::arch::is_x86_feature_detected!("popcnt")
            && std::arch::is_x86_feature_detected!("bmi1")
        {
            // SAFETY: the processor has the features the function is built for.
            #[expect(
                unsafe_code,
                reason = "a call into code built for more than the baseline"
            )]
            return unsafe { x86::blocks(self, bytes) };
        }
        self.blocks(bytes, plain::masks, plain::prefix_xor)
    }

    #[inline(always)]
    fn blocks<'a>(
        &mut self,
        bytes: &'a [u8],
        masks: impl Fn(&Block) -> Masks,
        prefix_xor: impl Fn(u64) -> u64,
    ) -> &'a [u8] {
        let (blocks, tail) = bytes.as_chunks::<64>();
        for (i, block) in blocks.iter().enumerate() {
            if let Some(end) = self.block(&masks(block), &prefix_xor) {
                return &bytes[i * 64 + end..];
            }
        }
        if tail.is_empty() {
            return tail;
        }
        // Blanks change nothing, but for one thing: a backslash at the end must
        // escape the next piece's first byte and not the padding.
        let mut last = [b' '; 64];
        last[..tail.len()].copy_from_slice(tail);
        let masks = masks(&last);
        let escapes = self.trailing_escape(tail);
        let end = self.block(&masks, &prefix_xor);
        self.escapes = escapes;
        end.map_or(&[], |end| &tail[end.min(tail.len())..])
    }

    /// Whether `tail` ends in a backslash that escapes what comes next.
    fn trailing_escape(&self, tail: &[u8]) -> bool {
        let slashes = tail.iter().rev().take_while(|&&b| b == b'\\').count();
        let carried = self.escapes && slashes == tail.len();
        (slashes + usize::from(carried)) % 2 == 1
    }

    /// Counts one block; returns where in it the object was closed.
    #[inline(always)]
    fn block(&mut self, masks: &Masks, prefix_xor: &impl Fn(u64) -> u64) -> Option<usize> {
        let quotes = if masks.backslash == 0 && !self.escapes {
            masks.quote
        } else {
            masks.quote & !self.escaped(masks.backslash)
        };
        let in_string = prefix_xor(quotes) ^ self.in_string;
        self.in_string = u64::from(in_string >> 63 == 1).wrapping_neg();
        let open = masks.open & !in_string;
        let close = masks.close & !in_string;
        let closed = u64::from(close.count_ones());
        if self.depth > closed {
            self.depth = self.depth + u64::from(open.count_ones()) - closed;
            return None;
        }
        self.one_by_one(open, close)
    }

    /// Counts brackets in order, in a block that may close the object.
    fn one_by_one(&mut self, open: u64, close: u64) -> Option<usize> {
        let mut brackets = open | close;
        while brackets != 0 {
            let at = brackets.trailing_zeros();
            brackets &= brackets - 1;
            if open >> at & 1 == 1 {
                self.depth += 1;
                continue;
            }
            self.depth -= 1;
            if self.depth == 0 {
                self.stage = Stage::After;
                return Some(at as usize + 1);
            }
        }
        None
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
        let invert = even_ends << 1;
        (EVEN ^ invert) & follows
    }
}

/// Masks with what every processor has.
mod plain {
    use super::{Block, Masks};

    pub(super) fn masks(block: &Block) -> Masks {
        let mask = |test: fn(u8) -> bool| {
            let bits = block.iter().rev();
            bits.fold(0_u64, |bits, &byte| bits << 1 | u64::from(test(byte)))
        };
        Masks {
            quote: mask(|b| b == b'"'),
            backslash: mask(|b| b == b'\\'),
            // `[` and `]` differ from `{` and `}` by the bit that is set here.
            open: mask(|b| b | 0x20 == b'{'),
            close: mask(|b| b | 0x20 == b'}'),
        }
    }

    pub(super) fn prefix_xor(mut bits: u64) -> u64 {
        for shift in [1, 2, 4, 8, 16, 32] {
            bits ^= bits << shift;
        }
        bits
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_set1_epi8,
        _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set_epi64x,
        _mm256_set1_epi8,
    };

    use super::{Balance, Block, Masks};

    #[target_feature(enable = "avx2,pclmulqdq,popcnt,bmi1")]
    pub(super) fn blocks<'a>(balance: &mut Balance, bytes: &'a [u8]) -> &'a [u8] {
        balance.blocks(bytes, |block| masks(block), |bits| prefix_xor(bits))
    }

    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq,popcnt,bmi1")]
    fn masks(block: &Block) -> Masks {
        let (words, _) = block.as_chunks::<8>();
        let word = |i: usize| i64::from_le_bytes(words[i]);
        let low = _mm256_set_epi64x(word(3), word(2), word(1), word(0));
        let high = _mm256_set_epi64x(word(7), word(6), word(5), word(4));
        let bit = _mm256_set1_epi8(0x20);
        let folded = (_mm256_or_si256(low, bit), _mm256_or_si256(high, bit));
        Masks {
            quote: mask(low, high, b'"'),
            backslash: mask(low, high, b'\\'),
            open: mask(folded.0, folded.1, b'{'),
            close: mask(folded.0, folded.1, b'}'),
        }
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
    fn reference(line: &[u8]) -> bool {
        let (mut depth, mut in_string, mut escaped, mut closed) = (0_u32, false, false, false);
        for (i, &byte) in line.trim_ascii().iter().enumerate() {
            if closed || (i == 0 && byte != b'{') {
                return false;
            }
            match byte {
                b'"' if !escaped => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => depth -= 1,
                _ => {}
            }
            escaped = byte == b'\\' && !escaped;
            closed = depth == 0;
        }
        closed
    }

    fn pieces(line: &[u8], cut: usize) -> bool {
        let mut balance = Balance::default();
        for piece in line.chunks(cut.max(1)) {
            balance.feed(piece);
        }
        balance.is_whole()
    }

    fn plain(line: &[u8]) -> bool {
        let mut balance = Balance {
            stage: Stage::Inside,
            depth: 1,
            ..Balance::default()
        };
        let trimmed = line.trim_ascii_start();
        let Some(rest) = trimmed.strip_prefix(b"{") else {
            return false;
        };
        let after = balance.blocks(rest, plain::masks, plain::prefix_xor);
        balance.is_whole() && after.trim_ascii_start().is_empty()
    }

    #[test]
    fn a_line_is_whole_or_not() {
        #[rustfmt::skip]
        let cases: &[(&str, bool)] = &[
            ("{}", true),
            ("  {\"a\":[1,{\"b\":2}]} \r", true),
            (r#"{"a":"}"}"#, true),
            (r#"{"a":"\"}"}"#, true),
            (r#"{"a":"\\"}"#, true),
            (r#"{"a":"\\\"}"#, false),
            ("", false),
            ("[1]", false),
            ("null", false),
            ("{", false),
            ("{}}", false),
            ("{} {}", false),
            (r#"{"a":{"b":1}"#, false),
            (r#"{"a":"b}"#, false),
        ];
        for (line, whole) in cases {
            assert_eq!(Balance::holds(line.as_bytes()), *whole, "{line}");
        }
    }

    #[test]
    fn blocks_agree_with_bytes_on_random_lines() {
        let alphabet = br#"{}[]""\\\ ax:,"#;
        let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
        let mut random = |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            usize::try_from(seed % below as u64).expect("small")
        };
        for _ in 0..40_000 {
            let length = random(200);
            let mut line = vec![b'{'];
            line.extend((0..length).map(|_| alphabet[random(alphabet.len())]));
            // Long strings make some of them whole.
            if random(2) == 0 {
                line.retain(|&b| b != b'{' && b != b'}' && b != b'[' && b != b']');
                line.insert(0, b'{');
                line.push(b'}');
            }
            let expected = reference(&line);
            let text = String::from_utf8_lossy(&line);
            assert_eq!(Balance::holds(&line), expected, "{text}");
            assert_eq!(plain(&line), expected, "plain {text}");
            let cut = 1 + random(90);
            assert_eq!(pieces(&line, cut), expected, "cut {cut} {text}");
        }
    }
}
