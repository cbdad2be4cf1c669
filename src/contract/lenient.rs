//! Field readers that never fail on a value of another type than the contract's.
//!
//! Real services send null where the contract says integer, `"443"` where it says 443, and lists where it says
//! string. Losing an answer of 10,000 findings for that helps nobody: a value that cannot be read becomes the
//! field's default, and everything around it is kept. Only broken JSON syntax is an error.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::shared::Shared;

/// What a scalar reader makes of each kind of JSON value; the defaults say "not mine".
pub(super) trait Scalar: Default {
    fn from_text(_text: &str) -> Option<Self> {
        None
    }
    fn from_integer(_number: i64) -> Option<Self> {
        None
    }
    fn from_float(_number: f64) -> Option<Self> {
        None
    }
    fn from_bool(_value: bool) -> Option<Self> {
        None
    }
}

struct ScalarVisitor<T>(PhantomData<T>);

impl<'de, T: Scalar> Visitor<'de> for ScalarVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_bool<E>(self, value: bool) -> Result<Option<T>, E> {
        Ok(T::from_bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Option<T>, E> {
        Ok(T::from_integer(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Option<T>, E> {
        Ok(i64::try_from(value).ok().and_then(T::from_integer))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Option<T>, E> {
        Ok(T::from_float(value))
    }
    fn visit_str<E>(self, value: &str) -> Result<Option<T>, E> {
        Ok(T::from_text(value))
    }
    fn visit_unit<E>(self) -> Result<Option<T>, E> {
        Ok(None)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Option<T>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<T>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

impl Scalar for i64 {
    fn from_text(text: &str) -> Option<Self> {
        text.trim().parse().ok()
    }
    fn from_integer(number: i64) -> Option<Self> {
        Some(number)
    }
    fn from_float(number: f64) -> Option<Self> {
        // Integers beyond 2^53 never arrive as floats from a service that counts rows.
        number.is_finite().then_some(number as i64)
    }
    fn from_bool(value: bool) -> Option<Self> {
        Some(value.into())
    }
}

impl Scalar for f64 {
    fn from_text(text: &str) -> Option<Self> {
        text.trim().parse().ok()
    }
    fn from_integer(number: i64) -> Option<Self> {
        Some(number as f64)
    }
    fn from_float(number: f64) -> Option<Self> {
        Some(number)
    }
}

impl Scalar for bool {
    fn from_text(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" => Some(true),
            "false" | "0" | "no" | "" => Some(false),
            _ => None,
        }
    }
    fn from_integer(number: i64) -> Option<Self> {
        Some(number != 0)
    }
    fn from_bool(value: bool) -> Option<Self> {
        Some(value)
    }
}

impl Scalar for Shared {
    fn from_text(text: &str) -> Option<Self> {
        Some(Shared::from(text))
    }
    fn from_integer(number: i64) -> Option<Self> {
        Some(Shared::from(number.to_string().as_str()))
    }
    fn from_float(number: f64) -> Option<Self> {
        Some(Shared::from(number.to_string().as_str()))
    }
    fn from_bool(value: bool) -> Option<Self> {
        Some(Shared::from(if value { "true" } else { "false" }))
    }
}

fn scalar<'de, T: Scalar, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    from.deserialize_any(ScalarVisitor(PhantomData))
}

/// An integer; 0 where there is none.
pub fn integer<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    Ok(scalar(from)?.unwrap_or_default())
}

/// An integer, or nothing.
pub fn maybe_integer<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    scalar(from)
}

/// An id type, or nothing.
pub fn maybe_id<'de, T: From<i64>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Ok(scalar::<i64, D>(from)?.map(T::from))
}

/// A number, or nothing.
pub fn maybe_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    scalar(from)
}

/// A boolean; false where there is none.
pub fn boolean<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Ok(scalar(from)?.unwrap_or_default())
}

/// A string; empty where there is none. Numbers and booleans become their text.
pub fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Shared, D::Error> {
    Ok(scalar(from)?.unwrap_or_default())
}

/// A string, or nothing.
pub fn maybe_text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Shared>, D::Error> {
    scalar(from)
}

/// An object of another type: its default where the value is no object (null, a string, a list …).
pub fn object<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: serde::de::DeserializeOwned + Default,
    D: Deserializer<'de>,
{
    struct ObjectVisitor<T>(PhantomData<T>);
    impl<'de, T: serde::de::DeserializeOwned + Default> Visitor<'de> for ObjectVisitor<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(serde::de::value::MapAccessDeserializer::new(map))
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(T::default())
        }
        fn visit_bool<E>(self, _: bool) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_i64<E>(self, _: i64) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_u64<E>(self, _: u64) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_f64<E>(self, _: f64) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_str<E>(self, _: &str) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_unit<E>(self) -> Result<T, E> {
            Ok(T::default())
        }
    }
    from.deserialize_any(ObjectVisitor(PhantomData))
}

/// A list of strings; a bare string becomes a list of one, anything else an empty list.
pub fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Shared>, D::Error> {
    struct TextsVisitor;
    impl<'de> Visitor<'de> for TextsVisitor {
        type Value = Vec<Shared>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of strings")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Shared>, A::Error> {
            let mut all = Vec::new();
            while let Some(Loose(item)) = seq.next_element::<Loose>()? {
                all.extend(item);
            }
            Ok(all)
        }
        fn visit_str<E>(self, value: &str) -> Result<Vec<Shared>, E> {
            Ok(if value.is_empty() { Vec::new() } else { vec![Shared::from(value)] })
        }
        fn visit_unit<E>(self) -> Result<Vec<Shared>, E> {
            Ok(Vec::new())
        }
        fn visit_bool<E>(self, _: bool) -> Result<Vec<Shared>, E> {
            Ok(Vec::new())
        }
        fn visit_i64<E>(self, value: i64) -> Result<Vec<Shared>, E> {
            Ok(vec![Shared::from(value.to_string().as_str())])
        }
        fn visit_u64<E>(self, value: u64) -> Result<Vec<Shared>, E> {
            Ok(vec![Shared::from(value.to_string().as_str())])
        }
        fn visit_f64<E>(self, value: f64) -> Result<Vec<Shared>, E> {
            Ok(vec![Shared::from(value.to_string().as_str())])
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Shared>, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Vec::new())
        }
    }

    /// One element of a list of strings, whatever it is.
    struct Loose(Option<Shared>);
    impl<'de> serde::Deserialize<'de> for Loose {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            maybe_text(from).map(Loose)
        }
    }

    from.deserialize_any(TextsVisitor)
}
