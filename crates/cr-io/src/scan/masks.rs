//! 64 bytes as masks of bits.

pub(super) type Block = [u8; 64];

/// One bit for each of 64 bytes.
pub(super) struct Masks {
    pub(super) quote: u64,
    pub(super) backslash: u64,
    pub(super) newline: u64,
}

/// Makes masks of bytes, with the instructions of one kind of processor.
pub(super) trait MaskMaker {
    /// The quotes, backslashes and newlines.
    fn masks(&self, block: &Block) -> Masks;
    /// The opening and the closing brackets, of either kind.
    fn brackets(&self, block: &Block) -> (u64, u64);
    /// Each bit is the sum of the bits up to it.
    fn prefix_xor(&self, bits: u64) -> u64;
}

/// Works on every processor.
pub(super) struct Portable;

impl Portable {
    fn mask(block: &Block, test: fn(u8) -> bool) -> u64 {
        let bits = block.iter().rev();
        bits.fold(0, |bits, &byte| bits << 1 | u64::from(test(byte)))
    }
}

impl MaskMaker for Portable {
    fn masks(&self, block: &Block) -> Masks {
        Masks {
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
