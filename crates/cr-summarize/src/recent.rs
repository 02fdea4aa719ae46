//! A map that remembers the recent keys of an endless stream.
//!
//! Lines of one message come close together, so forgetting what was not seen
//! for a hundred thousand keys loses nothing real and bounds the memory.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

/// Keys of one generation; two are kept.
const GENERATION: usize = 1 << 17;

/// A stand-in of eight bytes for ids of any length.
pub(crate) fn key(parts: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for part in parts {
        hasher.write_usize(part.len());
        hasher.write(part);
    }
    hasher.finish()
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Recent<V> {
    young: HashMap<u64, V>,
    old: HashMap<u64, V>,
}

impl<V> Default for Recent<V> {
    fn default() -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
        }
    }
}

impl<V> Recent<V> {
    pub(crate) fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        match self.young.get_mut(&key) {
            Some(value) => Some(value),
            None => self.old.get_mut(&key),
        }
    }

    pub(crate) fn has(&self, key: u64) -> bool {
        self.young.contains_key(&key) || self.old.contains_key(&key)
    }

    /// Adds a new key; returns what is forgotten for it.
    pub(crate) fn insert(&mut self, key: u64, value: V) -> HashMap<u64, V> {
        self.young.insert(key, value);
        if self.young.len() < GENERATION {
            return HashMap::new();
        }
        let young = std::mem::take(&mut self.young);
        std::mem::replace(&mut self.old, young)
    }

    pub(crate) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.young.values().chain(self.old.values())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_handed_back_once() {
        let mut recent = Recent::default();
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
