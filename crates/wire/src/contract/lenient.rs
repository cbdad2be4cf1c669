//! Field readers that accept values of any JSON type.
//!
//! Services send null instead of an integer, `"443"` instead of 443, and lists instead of strings.
//! One such value must not lose a response with 10,000 findings: an unreadable value becomes the
//! default of its field, and the rest of the response is read. Only invalid JSON syntax is an
//! error.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::shared::Shared;

/// Conversions of a JSON value; by default a value is ignored.
pub(super) trait Lenient: Sized {
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
    fn from_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn from_object<'de, A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

struct LenientVisitor<T>(PhantomData<T>);

impl<'de, T: Lenient> Visitor<'de> for LenientVisitor<T> {
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
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Option<T>, A::Error> {
        T::from_list(list)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<T>, A::Error> {
        T::from_object(map)
    }
}

impl Lenient for i64 {
    fn from_text(text: &str) -> Option<Self> {
        text.trim().parse().ok()
    }
    fn from_integer(number: i64) -> Option<Self> {
        Some(number)
    }
    fn from_float(number: f64) -> Option<Self> {
        // Services that count rows do not send integers beyond 2^53 as floats.
        number.is_finite().then_some(number as i64)
    }
    fn from_bool(value: bool) -> Option<Self> {
        Some(value.into())
    }
}

impl Lenient for f64 {
    fn from_text(text: &str) -> Option<Self> {
        // Some languages write a comma as the decimal point.
        text.trim().replace(',', ".").parse().ok()
    }
    fn from_integer(number: i64) -> Option<Self> {
        Some(number as f64)
    }
    fn from_float(number: f64) -> Option<Self> {
        Some(number)
    }
}

impl Lenient for bool {
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

impl Lenient for Shared {
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

impl Lenient for Vec<Shared> {
    fn from_text(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| vec![Shared::from(text)])
    }
    fn from_integer(number: i64) -> Option<Self> {
        Shared::from_integer(number).map(|text| vec![text])
    }
    fn from_float(number: f64) -> Option<Self> {
        Shared::from_float(number).map(|text| vec![text])
    }
    fn from_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut all = Vec::new();
        while let Some(Element(text)) = list.next_element()? {
            all.extend(text);
        }
        Ok(Some(all))
    }
}

/// An element of a list of strings; `None` for other values.
struct Element(Option<Shared>);

impl<'de> Deserialize<'de> for Element {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        maybe_text(from).map(Element)
    }
}

struct Object<T>(T);

impl<T: DeserializeOwned> Lenient for Object<T> {
    fn from_object<'de, A: MapAccess<'de>>(map: A) -> Result<Option<Self>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|object| Some(Object(object)))
    }
}

fn lenient<'de, T: Lenient, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    from.deserialize_any(LenientVisitor(PhantomData))
}

/// An integer; 0 for other values.
pub fn integer<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    Ok(lenient(from)?.unwrap_or_default())
}

/// An integer; `None` for other values.
pub fn maybe_integer<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    lenient(from)
}

/// An id; `None` for other values.
pub fn maybe_id<'de, T: From<i64>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Ok(lenient::<i64, D>(from)?.map(T::from))
}

/// A number; `None` for other values.
pub fn maybe_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    lenient(from)
}

/// A boolean; false for other values.
pub fn boolean<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Ok(lenient(from)?.unwrap_or_default())
}

/// A string; numbers and booleans become text, other values the empty string.
pub fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Shared, D::Error> {
    Ok(lenient(from)?.unwrap_or_default())
}

/// A string; `None` for null, lists and objects.
pub fn maybe_text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Shared>, D::Error> {
    lenient(from)
}

/// An object of type `T`; its default for other values.
pub fn object<'de, T: DeserializeOwned + Default, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(lenient::<Object<T>, D>(from)?
        .map(|Object(object)| object)
        .unwrap_or_default())
}

/// A list of strings; a single string becomes a list of one, other values the empty list.
pub fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Shared>, D::Error> {
    Ok(lenient(from)?.unwrap_or_default())
}
