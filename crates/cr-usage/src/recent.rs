//! A map that remembers the recent keys of an endless stream.
//!
//! Lines of one message come close together. A key that was not seen for a
//! hundred thousand other keys is forgotten, which bounds the memory.

use std::collections::HashMap;
use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};

/// Keys of one generation; two are kept.
const GENERATION: usize = 1 << 17;

/// A hash of eight bytes for ids of any length.
pub fn key(parts: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for part in parts {
        hasher.write_usize(part.len());
        hasher.write(part);
    }
    hasher.finish()
}

/// A map of [`key`]s that forgets the oldest ones.
#[derive(Debug)]
pub struct RecentMap<V> {
    young: Keys<V>,
    old: Keys<V>,
}

type Keys<V> = HashMap<u64, V, Multiplier>;

/// Spreads keys, which are hashes already, over a table. The number is random: a
/// stream cannot choose ids that all fall into one place.
#[derive(Clone, Copy, Debug)]
pub struct Multiplier(u64);

impl Default for Multiplier {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0) | 1)
    }
}

impl BuildHasher for Multiplier {
    type Hasher = Spread;

    fn build_hasher(&self) -> Spread {
        let Self(multiplier) = *self;
        Spread {
            multiplier,
            hash: 0,
        }
    }
}

/// The place of a key.
#[derive(Debug)]
pub struct Spread {
    multiplier: u64,
    hash: u64,
}

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.hash ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        // Only the high bits of a product depend on all bits of the key, and a
        // table uses the low ones.
        self.hash = key.wrapping_mul(self.multiplier).swap_bytes();
    }

    fn finish(&self) -> u64 {
        self.hash
    }
}

impl<V> Default for RecentMap<V> {
    fn default() -> Self {
        Self {
            young: Keys::default(),
            old: Keys::default(),
        }
    }
}

impl<V> RecentMap<V> {
    /// The value of a key that is not forgotten.
    pub fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        match self.young.get_mut(&key) {
            Some(value) => Some(value),
            None => self.old.get_mut(&key),
        }
    }

    /// Whether the key is known.
    pub fn has(&self, key: u64) -> bool {
        self.young.contains_key(&key) || self.old.contains_key(&key)
    }

    /// Adds a new key; returns the entries that are forgotten for it.
    pub fn insert(&mut self, key: u64, value: V) -> HashMap<u64, V, Multiplier> {
        self.young.insert(key, value);
        if self.young.len() < GENERATION {
            return Keys::with_hasher(*self.young.hasher());
        }
        let young = std::mem::take(&mut self.young);
        std::mem::replace(&mut self.old, young)
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }

    /// The values of all keys that are not forgotten.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.young.values().chain(self.old.values())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_handed_back_once() {
        let mut recent = RecentMap::default();
        let mut forgotten = 0;
        let keys = 5 * GENERATION as u64;
        for key in 0..keys {
            forgotten += recent.insert(key, ()).len();
            assert!(recent.has(key));
        }
        assert_eq!(forgotten + recent.values().count(), 5 * GENERATION);
        assert!(!recent.has(0));
    }

    #[test]
    fn keys_that_differ_in_a_few_bits_are_spread() {
        // A fixed one: with a random one, keys in a row may fall together.
        let multiplier = Multiplier(0x9e37_79b9_7f4a_7c15);
        for shift in [0, 20, 44] {
            let places = (0..4096).map(|key: u64| multiplier.hash_one(key << shift) & 0xfff);
            let places: std::collections::HashSet<_> = places.collect();
            // Thrown at random, 4096 keys fall into 2590 of 4096 places.
            assert!(places.len() > 1000, "{shift}: {}", places.len());
        }
    }

    #[test]
    fn parts_are_told_apart() {
        assert_ne!(key(&[b"ab", b"c"]), key(&[b"a", b"bc"]));
    }
}
