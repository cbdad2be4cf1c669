//! The wrapper of responses: `{"data": …}`, or the bare value of the three endpoints without a
//! wrapper.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::lenient;

/// A successful response: an object whose only key is `data`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataEnvelope<T> {
    /// The payload.
    pub data: T,
}

/// The response to a creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Created {
    /// The id of the new resource.
    #[serde(default, deserialize_with = "lenient::integer")]
    #[schemars(range(min = 1))]
    pub created_id: i64,
}

/// The response of `GET /http_loggers/{id}/data`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// Captured requests in the order of their ids.
    #[serde(default)]
    pub requests: Vec<super::Capture>,
}

/// Decodes a response: an object whose only key is `data` is unwrapped, other values are decoded
/// directly (`hosted-service.md`, Lists).
///
/// # Errors
/// When the body is not JSON, or not a `T`.
pub fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    match wrapped(body) {
        Some(inner) => serde_json::from_str(inner.get()),
        None => serde_json::from_slice(body),
    }
}

/// The raw value under `data` when that is the only key.
pub(super) fn wrapped(body: &[u8]) -> Option<&RawValue> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Only<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
    }
    // Arrays and scalars are never wrapped, so they are parsed only once.
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace())?;
    if *first != b'{' {
        return None;
    }
    serde_json::from_slice::<Only<'_>>(body)
        .ok()
        .map(|only| only.data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_accepts_wrapped_and_bare_lists() {
        assert_eq!(decode::<Vec<i64>>(br#" {"data":[1,2]}"#).unwrap(), [1, 2]);
        assert_eq!(decode::<Vec<i64>>(b"[1,2]").unwrap(), [1, 2]);
    }

    #[test]
    fn decode_of_object_with_other_keys_keeps_it() {
        let value: serde_json::Value = decode(br#"{"data":1,"more":2}"#).unwrap();
        assert_eq!(value["more"], 2);
    }

    #[test]
    fn decode_of_invalid_json_fails() {
        assert!(decode::<Vec<i64>>(b"{\"data\":[1,").is_err());
        assert!(decode::<Vec<i64>>(b"").is_err());
    }
}
