//! The counts of tool calls: a JSON object that keeps its order.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name under which rare tools are counted together.
pub const OTHER_TOOLS: &str = "(other)";

/// Calls by tool, the most used first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools(pub Vec<(String, u64)>);

impl Tools {
    /// Adds the counts of `other`; the most used come first.
    pub fn add(&mut self, other: &Self) {
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for (name, count) in self.0.drain(..).chain(other.0.iter().cloned()) {
            *sums.entry(name).or_default() += count;
        }
        self.0 = sums.into_iter().collect();
        // By name already, and the sort keeps that among equals.
        self.0.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    }
}

impl Serialize for Tools {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, count)| (name, count)))
    }
}

impl<'de> Deserialize<'de> for Tools {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Tools;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of counts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tools, A::Error> {
                let mut tools = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    tools.push(entry);
                }
                Ok(Tools(tools))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}
