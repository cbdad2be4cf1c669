//! JSON that a converter of XML wrote: a list of one element is an object there.

use serde_json::Value;

use crate::{import, sample};

/// The document with the first element of each list; `is_converted` writes an object in place of a
/// list.
fn with_one_of_each(value: Value, is_converted: bool) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (name, with_one_of_each(value, is_converted)))
            .collect(),
        Value::Array(all) => match all.into_iter().next() {
            Some(first) if first.is_object() && is_converted => with_one_of_each(first, true),
            first => first
                .into_iter()
                .map(|first| with_one_of_each(first, is_converted))
                .collect(),
        },
        scalar => scalar,
    }
}

#[test]
fn object_in_place_of_a_list_is_its_only_element() {
    for name in [
        "zap.json",
        "wapiti.json",
        "nikto.json",
        "acunetix.json",
        "bom.json",
    ] {
        let whole: Value = serde_json::from_slice(&sample(name)).unwrap();
        let read = |is_converted: bool| {
            let document = with_one_of_each(whole.clone(), is_converted);
            import(document.to_string().as_bytes())
        };
        let (list, object) = (read(false), read(true));
        assert!(list.summary.entries > 0, "{name}");
        assert_eq!(object.entries, list.entries, "{name}");
        assert_eq!(object.summary.damage, None, "{name}");
        assert_eq!(object.skipped(), list.skipped(), "{name}");
        assert_eq!(object.summary.tool, list.summary.tool, "{name}");
    }
}

#[test]
fn text_in_place_of_a_list_is_no_element() {
    let document = r#"{"@programName":"ZAP","site":{"@name":"http://a.test","alerts":""}}"#;
    let read = import(document.as_bytes());
    assert_eq!((read.summary.entries, read.summary.damage), (0, None));
    assert_eq!(read.summary.targets.len(), 1);
}

#[test]
fn empty_object_in_place_of_a_list_is_an_empty_list() {
    let report = r#"{"host":"shop.test","ip":"192.0.2.7","port":"443","vulnerabilities":{}}"#;
    let read = import(report.as_bytes());
    assert!(read.entries.is_empty());
    assert_eq!(read.skipped(), []);
}
