//! The wrapper of answers: `{"data": …}`, or the bare value of the three endpoints that skip it.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::lenient;

/// A successful answer as the service sends it: an object whose only key is `data`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataEnvelope<T> {
    /// The payload.
    pub data: T,
}

/// The answer to a creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// The new resource's id.
    #[serde(default, deserialize_with = "lenient::integer")]
    pub created_id: i64,
}

/// The answer of `GET /http_loggers/{id}/data`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    /// What the logger recorded, in the order of the ids.
    #[serde(default = "Vec::new")]
    pub requests: Vec<super::Capture>,
}

/// Decodes an answer, wrapped or bare: an object whose only key is `data` is unwrapped, anything else is taken
/// as it is (`hosted-service.md`, Lists).
///
/// # Errors
/// When the text is no JSON, or its outer shape is not that of `T`.
pub fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    super::shared::interned(|| match wrapped(body) {
        Some(inner) => serde_json::from_str(inner.get()),
        None => serde_json::from_slice(body),
    })
}

/// The raw value under `data` when that is the only key.
fn wrapped(body: &[u8]) -> Option<&RawValue> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Only<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
    }
    // Arrays and scalars need not be read twice to learn that they are not wrapped.
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace())?;
    if *first != b'{' {
        return None;
    }
    serde_json::from_slice::<Only<'_>>(body).ok().map(|only| only.data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_taken_wrapped_or_bare() {
        assert_eq!(decode::<Vec<i64>>(br#" {"data":[1,2]}"#).unwrap(), [1, 2]);
        assert_eq!(decode::<Vec<i64>>(b"[1,2]").unwrap(), [1, 2]);
    }

    #[test]
    fn an_object_with_more_keys_than_data_is_taken_as_it_is() {
        let value: serde_json::Value = decode(br#"{"data":1,"more":2}"#).unwrap();
        assert_eq!(value["more"], 2);
    }

    #[test]
    fn broken_json_is_an_error() {
        assert!(decode::<Vec<i64>>(b"{\"data\":[1,").is_err());
        assert!(decode::<Vec<i64>>(b"").is_err());
    }
}
