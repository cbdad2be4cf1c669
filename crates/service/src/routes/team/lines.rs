//! The lines of a push: the id and clock of an event, the token and version of a payload. The rest
//! of a line is for the clients, which must be able to read it, and is stored as it arrived.

use serde_json::{Map, Value};

use super::shape::{check_event, check_payload};
use crate::errors::shown;
use crate::store::team::{EventToAdd, PayloadToAdd, SharedEventId};
use scandeck_wire::contract::team::RefusedLine;

/// Characters of a token.
const TOKEN: usize = 12;

/// An event to store.
///
/// # Errors
/// Why the line is refused.
pub fn event(line: &[u8]) -> Result<EventToAdd, RefusedLine> {
    let (fields, json) = object(line)?;
    let text = fields.get("id").and_then(Value::as_str);
    let refused = |reason: &str| refused(text, reason);
    let id = text.ok_or_else(|| refused("the event has no id"))?;
    let id: SharedEventId = id.parse().map_err(refused)?;
    let clock = fields.get("clock").and_then(Value::as_u64);
    let clock = clock
        .filter(|clock| *clock > 0)
        .ok_or_else(|| refused("the clock is not a whole number from 1"))?;
    check_event(&json).map_err(|reason| refused(&reason))?;
    Ok(EventToAdd { id, clock, json })
}

/// A payload to store.
///
/// # Errors
/// Why the line is refused.
pub fn payload(line: &[u8]) -> Result<PayloadToAdd, RefusedLine> {
    let (fields, json) = object(line)?;
    let text = fields.get("token").and_then(Value::as_str);
    let refused = |reason: &str| refused(text, reason);
    let token = text
        .filter(|text| is_token(text))
        .ok_or_else(|| refused("the token is not 12 characters of a-z and 2-7"))?;
    let version = fields.get("version").and_then(Value::as_u64);
    let version = version.ok_or_else(|| refused("the version is not a whole number"))?;
    check_payload(&json).map_err(|reason| refused(&reason))?;
    Ok(PayloadToAdd {
        token: token.into(),
        version,
        json,
    })
}

/// The line that was not stored, with its id.
pub fn refused(id: Option<&str>, reason: impl Into<String>) -> RefusedLine {
    RefusedLine {
        id: shown(id.unwrap_or_default()).into(),
        reason: reason.into().into(),
    }
}

/// The object of a line, and its text. The whole line is parsed, so that a client can parse it too.
fn object(line: &[u8]) -> Result<(Map<String, Value>, String), RefusedLine> {
    let text = str::from_utf8(line).map_err(|_| refused(None, "the line is not valid UTF-8"))?;
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Ok((fields, text.to_owned())),
        Ok(_) => Err(refused(None, "the line is not a JSON object")),
        Err(error) => {
            let reason = format!("the line is not valid JSON (column {})", error.column());
            Err(refused(None, reason))
        }
    }
}

fn is_token(text: &str) -> bool {
    let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'2'..=b'7');
    text.len() == TOKEN && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason<T>(parsed: Result<T, RefusedLine>) -> String {
        let refused = parsed.err().expect("a refused line");
        refused.reason.to_string()
    }

    #[test]
    fn event_is_read_by_id_and_clock_and_remains_as_it_was_sent() {
        let rest = r#""at":"2026-11-29 12:00:00","who":"anna","batch":"a1-12","subject":"workspace",
            "change":{"note":"n"}"#;
        let line = &format!(
            r#"{{"clock": 7, "id":"00000000000000a1-12", "x": 1e2, "t":"\u0000", {rest}}}"#
        );
        let read = event(line.as_bytes()).unwrap();
        assert_eq!(
            (read.id.instance, read.id.number, read.clock),
            (0xa1, 12, 7)
        );
        assert_eq!(read.json, *line);
        let greatest = format!(
            r#"{{"id":"ffffffffffffffff-18446744073709551615","clock":18446744073709551615,{rest}}}"#
        );
        let read = event(greatest.as_bytes()).unwrap();
        assert_eq!((read.id.instance, read.id.number), (u64::MAX, u64::MAX));
    }

    #[test]
    fn event_that_clients_could_not_read_is_refused_with_its_reason() {
        let deep = format!(
            r#"{{"id":"a-1","clock":1,"x":{}1{}}}"#,
            "[".repeat(500),
            "]".repeat(500)
        );
        for (line, expected) in [
            ("nonsense", "not valid JSON (column 2)"),
            (r#"{"id":"a-1","clock":1"#, "not valid JSON"),
            (r#"{"id":"a-1","clock":1,"x":"\ud800"}"#, "not valid JSON"),
            (r#"{"id":"a-1","clock":1,"x":1e999}"#, "not valid JSON"),
            (
                "{\"id\":\"a-1\",\"clock\":1,\"x\":\"\0\"}",
                "not valid JSON",
            ),
            (&deep, "not valid JSON"),
            ("[1]", "not a JSON object"),
            ("7", "not a JSON object"),
            (r#"{"clock":1}"#, "has no id"),
            (r#"{"id":7,"clock":1}"#, "has no id"),
            (r#"{"id":"a","clock":1}"#, "INSTANCE-NUMBER"),
            (r#"{"id":"-1","clock":1}"#, "INSTANCE-NUMBER"),
            (r#"{"id":"a-","clock":1}"#, "INSTANCE-NUMBER"),
            (r#"{"id":"+a-1","clock":1}"#, "INSTANCE-NUMBER"),
            (r#"{"id":"a-+1","clock":1}"#, "INSTANCE-NUMBER"),
            (r#"{"id":"a--1","clock":1}"#, "INSTANCE-NUMBER"),
            (
                r#"{"id":"11111111111111111-1","clock":1}"#,
                "INSTANCE-NUMBER",
            ),
            (
                r#"{"id":"a-18446744073709551616","clock":1}"#,
                "INSTANCE-NUMBER",
            ),
            (r#"{"id":"g-1","clock":1}"#, "INSTANCE-NUMBER"),
            (r#"{"id":"a-1"}"#, "whole number from 1"),
            (r#"{"id":"a-1","clock":0}"#, "whole number from 1"),
            (r#"{"id":"a-1","clock":-1}"#, "whole number from 1"),
            (r#"{"id":"a-1","clock":1.5}"#, "whole number from 1"),
            (r#"{"id":"a-1","clock":"1"}"#, "whole number from 1"),
            (
                r#"{"id":"a-1","clock":18446744073709551616}"#,
                "whole number from 1",
            ),
            (
                r#"{"id":"a-1","clock":1}"#,
                "dashboards cannot read it: missing field `at`",
            ),
        ] {
            let reason = reason(event(line.as_bytes()));
            assert!(reason.contains(expected), "{line}: {reason}");
        }
        assert!(reason(event(b"{\"id\":\"\xff\"}")).contains("UTF-8"));
        let refused = event(br#"{"id":"a-x","clock":1}"#).unwrap_err();
        assert_eq!(refused.id, "a-x");
    }

    #[test]
    fn name_is_refused_above_its_length() {
        let line = |who: usize, change: &str| {
            let who = "w".repeat(who);
            format!(
                r#"{{"id":"a-1","clock":1,"at":"2026-11-29 12:00:00","who":"{who}","batch":"a-1",
                "subject":"workspace","change":{change}}}"#
            )
        };
        let assigned = |name: &str, length| format!(r#"{{"assign":"{}"}}"#, name.repeat(length));
        let tagged = |length| format!(r#"{{"tag":{{"remove":["{}"]}}}}"#, "t".repeat(length));
        for accepted in [
            line(320, r#"{"assign":null}"#),
            line(1, &assigned("ä", 200)),
            line(1, &tagged(200)),
        ] {
            event(accepted.as_bytes()).unwrap();
        }
        for (refused, expected) in [
            (
                line(321, r#"{"assign":null}"#),
                "the author has more than 320 characters",
            ),
            (
                line(1, &assigned("x", 5000)),
                "the assignee has more than 200 characters",
            ),
            (line(1, &tagged(201)), "the tag has more than 200"),
        ] {
            let reason = reason(event(refused.as_bytes()));
            assert!(reason.contains(expected), "{reason}");
        }
    }

    #[test]
    fn payload_is_read_by_token_and_version() {
        let read = payload(br#"{"token":"abcdefgh2345","version":3}"#).unwrap();
        assert_eq!((read.token.as_str(), read.version), ("abcdefgh2345", 3));
        for (line, expected) in [
            (r#"{"version":3}"#, "token"),
            (r#"{"token":"abcdefgh234","version":3}"#, "token"),
            (r#"{"token":"ABCDEFGH2345","version":3}"#, "token"),
            (r#"{"token":"abcdefgh2340","version":3}"#, "token"),
            (r#"{"token":"abcdefgh2345"}"#, "version"),
            (r#"{"token":"abcdefgh2345","version":-1}"#, "version"),
            (
                r#"{"token":"abcdefgh2345","version":1,"number":"x"}"#,
                "dashboards cannot read it: invalid type",
            ),
        ] {
            let reason = reason(payload(line.as_bytes()));
            assert!(reason.contains(expected), "{line}: {reason}");
        }
    }
}
