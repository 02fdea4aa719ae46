//! Objects and their fields: one declaration gives the type, its writer, its
//! reader and the list of its fields.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cr_event::{Raw, Text};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A value that can be read from a line. `None`: it has another type.
pub(crate) trait Field<'a>: Default {
    /// The same without the line.
    type Owned: 'static;

    fn read(value: Raw<'a>) -> Option<Self>;

    fn into_owned(self) -> Self::Owned;
}

/// Declares an object. A field is written and read under its own name, or under
/// the one that follows it as in `name = "ref": …`.
macro_rules! object {
    ($(#[$meta:meta])* pub struct $name:ident<$life:lifetime> $fields:tt) => {
        $crate::field::object!(@ [$(#[$meta])*] $name [<$life>] [<'static>] $fields);
    };
    ($(#[$meta:meta])* pub struct $name:ident $fields:tt) => {
        $crate::field::object!(@ [$(#[$meta])*] $name [] [] $fields);
    };
    (@ [$($meta:tt)*] $name:ident [$($life:tt)*] [$($static:tt)*] {
        $( $(#[$field_meta:meta])* $field:ident $(= $key:literal)? : $type:ty, )*
    }) => {
        $($meta)*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        pub struct $name $($life)* {
            $( $(#[$field_meta])* $(#[serde(rename = $key)])? pub $field: $type, )*
        }

        impl $($life)* $name $($life)* {
            /// The names of its fields.
            pub const FIELDS: &'static [&'static str] =
                &[$( $crate::field::key!($field $($key)?) ),*];

            /// The same without the line that it was read from.
            #[must_use]
            pub fn into_owned(self) -> $name $($static)* {
                $name {
                    $( $field: $crate::field::Field::into_owned(self.$field), )*
                }
            }
        }

        impl<'a> $crate::field::Field<'a> for $name $($life)* {
            type Owned = $name $($static)*;

            fn read(value: cr_event::Raw<'a>) -> Option<Self> {
                $( let mut $field = None; )*
                let is_object = cr_event::Cursor::new(value.bytes()).object(|cursor, key| {
                    $(
                        if $field.is_none() && key == $crate::field::key!($field $($key)?).as_bytes() {
                            $field = Some(cursor.raw()?);
                            return Ok(());
                        }
                    )*
                    cursor.skip()
                });
                is_object.ok().filter(|is_object| *is_object)?;
                Some(Self {
                    $( $field: $field.and_then($crate::field::Field::read).unwrap_or_default(), )*
                })
            }

            fn into_owned(self) -> Self::Owned {
                self.into_owned()
            }
        }
    };
}

/// The name of a field in a line.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

pub(crate) use {key, object};

macro_rules! scalars {
    ($($scalar:ty: $read:expr;)*) => {$(
        impl Field<'_> for $scalar {
            type Owned = Self;

            fn read(value: Raw<'_>) -> Option<Self> {
                ($read)(value)
            }

            fn into_owned(self) -> Self {
                self
            }
        }
    )*};
}

scalars! {
    bool: Raw::bool;
    u64: Raw::u64;
    f64: Raw::f64;
    u32: |value: Raw<'_>| Self::try_from(value.u64()?).ok();
    u8: |value: Raw<'_>| Self::try_from(value.u64()?).ok();
    i32: |value: Raw<'_>| std::str::from_utf8(value.bytes()).ok()?.parse().ok();
}

impl<'a> Field<'a> for Cow<'a, str> {
    type Owned = Cow<'static, str>;

    fn read(value: Raw<'a>) -> Option<Self> {
        value.text().map(Text::decode)
    }

    fn into_owned(self) -> Cow<'static, str> {
        Cow::Owned(self.into_owned())
    }
}

impl<'a, T: Field<'a>> Field<'a> for Option<T> {
    type Owned = Option<T::Owned>;

    fn read(value: Raw<'a>) -> Option<Self> {
        Some(T::read(value))
    }

    fn into_owned(self) -> Self::Owned {
        self.map(T::into_owned)
    }
}

/// Items of another type are left out.
impl<'a, T: Field<'a>> Field<'a> for Vec<T> {
    type Owned = Vec<T::Owned>;

    fn read(value: Raw<'a>) -> Option<Self> {
        is_array(value).then(|| value.items().into_iter().filter_map(T::read).collect())
    }

    fn into_owned(self) -> Self::Owned {
        self.into_iter().map(T::into_owned).collect()
    }
}

fn is_array(value: Raw<'_>) -> bool {
    value.bytes().first() == Some(&b'[')
}

impl<'a, T: Field<'a>> Field<'a> for BTreeMap<Cow<'a, str>, T> {
    type Owned = BTreeMap<Cow<'static, str>, T::Owned>;

    fn read(value: Raw<'a>) -> Option<Self> {
        let fields = value.fields().into_iter().rev();
        let read = |(key, value): (Text<'a>, _)| Some((key.decode(), T::read(value)?));
        // In reverse: the first of two fields with one name counts.
        Some(fields.filter_map(read).collect())
    }

    fn into_owned(self) -> Self::Owned {
        let owned = |(key, value): (Cow<'a, str>, T)| (Field::into_owned(key), value.into_owned());
        self.into_iter().map(owned).collect()
    }
}

/// A value of any type, as it stands in the line.
#[derive(Clone, Debug, PartialEq)]
pub struct Json<'a>(Cow<'a, str>);

impl Json<'_> {
    /// The text of the value.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What `value` is in JSON.
    pub fn of(value: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }
}

impl Default for Json<'_> {
    fn default() -> Self {
        Self("null".into())
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}

impl<'a> Field<'a> for Json<'a> {
    type Owned = Json<'static>;

    fn into_owned(self) -> Self::Owned {
        Json(Field::into_owned(self.0))
    }

    fn read(value: Raw<'a>) -> Option<Self> {
        let text = std::str::from_utf8(value.bytes()).ok()?;
        // What only looks like a value could not be written again.
        serde_json::from_str::<&RawValue>(text).ok()?;
        Some(Self(text.into()))
    }
}

/// For `skip_serializing_if`.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// For `skip_serializing_if`.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
pub(crate) fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[cfg(test)]
#[allow(unreachable_pub, reason = "the macro declares what other crates use")]
mod tests {
    use super::*;

    object! {
        /// A sample.
        pub struct Sample<'a> {
            /// Text.
            text: Cow<'a, str>,
            /// A number.
            number: Option<u64>,
            /// A list.
            list: Vec<i32>,
            /// A field with a name that Rust keeps for itself.
            name = "ref": bool,
            /// Anything.
            any: Json<'a>,
        }
    }

    fn read(line: &str) -> Option<Sample<'_>> {
        Sample::read(Raw::of(line.as_bytes())?)
    }

    #[test]
    fn what_is_written_is_read_back() {
        let sample = Sample {
            text: "a \"b\"".into(),
            number: Some(3),
            list: vec![-1, 2],
            name: true,
            any: Json::of(&[1, 2]).expect("JSON"),
        };
        let line = serde_json::to_string(&sample).expect("JSON");
        let expected = r#"{"text":"a \"b\"","number":3,"list":[-1,2],"ref":true,"any":[1,2]}"#;
        assert_eq!(line, expected);
        let read = read(&line).expect("an object");
        assert_eq!(read.clone().into_owned(), sample);
        assert_eq!(read, sample);
        assert_eq!(Sample::FIELDS, ["text", "number", "list", "ref", "any"]);
    }

    #[test]
    fn a_wrong_type_is_absent_and_what_is_unknown_is_skipped() {
        let line = r#"{"new":{"a":1},"text":7,"number":"x","list":[1,"a",2],"ref":null}"#;
        let expected = Sample {
            list: vec![1, 2],
            ..Sample::default()
        };
        assert_eq!(read(line), Some(expected));
        assert_eq!(read("[]"), None);
    }

    #[test]
    fn the_first_of_two_fields_counts() {
        let sample = read(r#"{"text":"a","text":"b"}"#).expect("an object");
        assert_eq!(sample.text, "a");
        let map = Raw::of(br#"{"k":1,"k":2}"#).and_then(BTreeMap::<_, u64>::read);
        assert_eq!(map, Some([("k".into(), 1)].into()));
    }
}
