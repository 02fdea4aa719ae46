//! Enumerations to which a later version may add names.

use std::borrow::Cow;
use std::fmt;

use cr_event::{Raw, Text};
use serde::{Serialize, Serializer};

use crate::field::Field;

/// An enumeration whose values have names in a line.
pub trait Named: Copy + PartialEq + 'static {
    /// Every value.
    const ALL: &'static [Self];

    /// Its name.
    fn as_str(self) -> &'static str;

    /// The value with this name.
    fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|value| value.as_str() == name)
    }
}

/// Declares an enumeration with the table of its names.
macro_rules! named {
    ($(#[$meta:meta])* pub enum $name:ident { $( $(#[$value_meta:meta])* $value:ident = $text:literal, )* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $( $(#[$value_meta])* $value, )*
        }

        impl $crate::Named for $name {
            const ALL: &'static [Self] = &[$( Self::$value ),*];

            fn as_str(self) -> &'static str {
                match self {
                    $( Self::$value => $text, )*
                }
            }
        }
    };
}

pub(crate) use named;

/// A name as it stands in a line: one that we know, or another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenEnum<'a, T> {
    /// A value that this version knows.
    Known(T),
    /// Another name; absent is an empty one.
    Other(Cow<'a, str>),
}

impl<T: Named> OpenEnum<'_, T> {
    /// The name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(value) => value.as_str(),
            Self::Other(name) => name,
        }
    }

    /// The value, if this version knows it.
    pub fn known(&self) -> Option<T> {
        match self {
            Self::Known(value) => Some(*value),
            Self::Other(_) => None,
        }
    }

    /// Whether it is `value`.
    pub fn is(&self, value: T) -> bool {
        self.known() == Some(value)
    }
}

impl<T> Default for OpenEnum<'_, T> {
    fn default() -> Self {
        Self::Other(Cow::Borrowed(""))
    }
}

impl<T> From<T> for OpenEnum<'_, T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

impl<T: Named> fmt::Display for OpenEnum<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<T: Named> Serialize for OpenEnum<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'a, T: Named> Field<'a> for OpenEnum<'a, T> {
    type Owned = OpenEnum<'static, T>;

    fn into_owned(self) -> Self::Owned {
        match self {
            Self::Known(value) => OpenEnum::Known(value),
            Self::Other(name) => OpenEnum::Other(Field::into_owned(name)),
        }
    }

    fn read(value: Raw<'a>) -> Option<Self> {
        let name = value.text().map(Text::decode)?;
        Some(T::from_name(&name).map_or(Self::Other(name), Self::Known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentActivity, AskKind, AskState, Clock, InputState, Reason, StateName, Subtype};

    #[test]
    fn a_name_that_is_not_known_stays_as_it_is() {
        let read = |text: &'static str| OpenEnum::<Reason>::read(Raw::of(text.as_bytes())?);
        assert_eq!(read(r#""exit""#), Some(Reason::Exit.into()));
        let new = read(r#""evaporated""#).expect("a name");
        assert_eq!((new.as_str(), new.known()), ("evaporated", None));
        assert_eq!(read("7"), None);
    }

    #[test]
    fn every_name_stands_for_one_value() {
        fn check<T: Named + fmt::Debug>() {
            for value in T::ALL {
                assert_eq!(T::from_name(value.as_str()), Some(*value));
            }
        }
        check::<AgentActivity>();
        check::<AskKind>();
        check::<AskState>();
        check::<Clock>();
        check::<InputState>();
        check::<Reason>();
        check::<StateName>();
        check::<Subtype>();
    }
}
