//! Masks made with AVX2 and carry-less multiplication.
//!
//! This is one of the few places with `unsafe`; it stays because it pays. Measured
//! on an AMD EPYC with files of `scripts/bench.d/gen.py --seed 2`, `cr-summarize
//! FILE`, with this module and with [`super::masks::Portable`] instead:
//!
//! | mix     | instructions, 20 MB    | time, 200 MB, best of 8 |
//! |---------|------------------------|-------------------------|
//! | tool    | 54 M, without 431 M    | 36 ms, without 185 ms   |
//! | partial | 69 M, without 661 M    | 45 ms, without 282 ms   |
//!
//! Instructions by `valgrind --tool=callgrind`. To measure again, let
//! [`is_available`] return false.

#![expect(unsafe_code, reason = "instructions beyond the baseline")]

use std::arch::x86_64::{
    __m256i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_set1_epi8,
    _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
};

use super::masks::{Block, MaskMaker, Masks};
use super::{End, Scan};

/// Makes masks with AVX2; made only inside [`next_here`].
struct Avx2(());

/// Whether this processor has the instructions.
pub(super) fn is_available() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("pclmulqdq")
        && std::arch::is_x86_feature_detected!("popcnt")
        && std::arch::is_x86_feature_detected!("bmi1")
}

/// [`Scan::next`] where [`is_available`].
pub(super) fn next(scan: &mut Scan, buf: &[u8]) -> Option<End> {
    assert!(
        scan.has_avx2 == Some(true),
        "called only where AVX2 is available"
    );
    // SAFETY: the processor has the features.
    unsafe { next_here(scan, buf) }
}

#[target_feature(enable = "avx2,pclmulqdq,popcnt,bmi1")]
fn next_here(scan: &mut Scan, buf: &[u8]) -> Option<End> {
    scan.next_with(buf, &Avx2(()))
}

impl MaskMaker for Avx2 {
    #[inline(always)]
    fn masks(&self, block: &Block) -> Masks {
        // SAFETY: `Avx2` exists only where the processor has the features.
        unsafe {
            let (low, high) = halves(block);
            Masks {
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
