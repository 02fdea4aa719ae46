//! A map that remembers the recent keys of an endless stream.
//!
//! Lines of one message come close together. A key that was not seen for a
//! hundred thousand other keys is forgotten, which bounds the memory.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

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
    young: HashMap<u64, V>,
    old: HashMap<u64, V>,
}

impl<V> Default for RecentMap<V> {
    fn default() -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
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
    pub fn insert(&mut self, key: u64, value: V) -> HashMap<u64, V> {
        self.young.insert(key, value);
        if self.young.len() < GENERATION {
            return HashMap::new();
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
    fn parts_are_told_apart() {
        assert_ne!(key(&[b"ab", b"c"]), key(&[b"a", b"bc"]));
    }
}
