//! Captures as JSON: the fields of the contract, the logger and the payload.

use serde_json::{Value, json};

use super::CaptureRecord;
use crate::mask::Mask;
use crate::oob::request;
use scandeck_wire::text::escaped_json;

/// A capture with the fields of the service, then `logger`, `label` and `payload` (the known token
/// or null).
pub fn value(sent: &CaptureRecord) -> Value {
    let mut value = serde_json::to_value(&*sent.capture).unwrap_or_default();
    let token = sent
        .mentions
        .iter()
        .find(|mention| mention.known)
        .map(|mention| mention.token.to_string());
    if let Value::Object(fields) = &mut value {
        fields.insert("logger".to_owned(), json!(sent.logger));
        fields.insert("label".to_owned(), json!(sent.label));
        fields.insert("payload".to_owned(), json!(token));
    }
    value
}

/// One line per capture.
pub fn jsonl(sent: &[CaptureRecord], mask: Option<&Mask>) -> String {
    let line = |sent: &CaptureRecord| {
        let mut value = value(sent);
        if let Some(mask) = mask {
            value["request_body_base64"] = Value::Null;
            // Names cannot be replaced in base64.
            value
                .as_object_mut()
                .and_then(|fields| fields.remove("raw_base64"));
            mask.json(&mut value);
            value["request_body_base64"] = request::masked_base64(&sent.capture, mask).into();
        }
        format!("{}\n", escaped_json(&value.to_string()))
    };
    sent.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{sent, with};
    use super::*;
    use crate::oob::recognize::testing::base64;
    use scandeck_wire::contract::Capture;

    #[test]
    fn masked_jsonl_holds_no_secret_of_a_body() {
        let bodies = [
            &br#"{"api_key":"sk_live_777"}"#[..],
            b"\xffapi_key=sk_live_777",
        ];
        let sent = bodies.map(|body| {
            with(|capture| {
                capture.request_body_base64 = base64(body);
                capture.raw_base64 = Some(base64(body));
            })
        });
        let text = jsonl(&sent, Some(&Mask::default()));
        let bodies: Vec<String> = text
            .lines()
            .map(|line| {
                let capture: Capture = serde_json::from_str(line).unwrap();
                String::from_utf8(request::body(&capture).into_owned()).unwrap()
            })
            .collect();
        assert!(
            bodies[0].starts_with(r#"{"api_key":"token-"#) && !bodies[0].contains("sk_live"),
            "{bodies:?}"
        );
        assert!(!text.contains("raw_base64"), "{text}");
        assert_eq!(bodies[1], "", "bytes that are no text cannot be searched");
    }

    #[test]
    fn jsonl_line_holds_capture_logger_and_payload() {
        let odd = with(|capture| capture.url_params = "x=\u{202e}\u{1b}".into());
        let text = jsonl(&[sent(), odd.clone()], None);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() == 2 && !text.contains(['\u{202e}', '\u{1b}']));
        let first: Value = serde_json::from_str(lines[0]).unwrap();
        assert_eq!(
            (&first["payload"], &first["label"], &first["logger"]),
            (&json!("k7f2aaaabbbb"), &json!("blind-ssrf"), &json!(3))
        );
        let read: Capture = serde_json::from_str(lines[1]).unwrap();
        assert_eq!(read, *odd.capture);
    }
}
