//! What is repaired, and what is not.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::*;

#[test]
fn errors_of_tools_are_repaired() {
    let cases = [
        (r#"[{"a":1,},]"#, r#"[{"a":1}]"#),
        (r#"[{"a":1} {"b":2}]"#, r#"[{"a":1} ,{"b":2}]"#),
        (r#"{"a":1 "b":2}"#, r#"{"a":1 ,"b":2}"#),
        (r#"[,1,,2]"#, "[1,2]"),
        (r#"{"a":,"b":}"#, r#"{"a":null,"b":null}"#),
        (r#"["a":[1],,{"b":2}]"#, r#"["a",[1],{"b":2}]"#),
        (r#"{a:NaN,"b":-Infinity}"#, r#"{"a":null,"b":null}"#),
        (
            r#"[True,None,0443,1e999,.5]"#,
            r#"[true,null,"0443","1e999",".5"]"#,
        ),
        ("{\"a\":\"b\nc\t\"}", r#"{"a":"b\u000ac\u0009"}"#),
        (r#"["\x \d\u12 \\"]"#, r#"["\\x \\d\\u12 \\"]"#),
        (r#"["\ud800 \udc00\ud800"]"#, r#"["\ufffd \ufffd\ufffd"]"#),
        (
            r#"["\ud800\n\ud800\ud83d\ude00"]"#,
            r#"["\ufffd\n\ufffd\ud83d\ude00"]"#,
        ),
        ("{},\n{},", "{}\n{}"),
    ];
    for (text, expected) in cases {
        assert_eq!(repaired(text), expected);
    }
}

#[test]
fn valid_json_is_the_same() {
    for text in [
        r#"{"a":[1,-2.5e3,0,true,false,null,"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é"],"":{}}"#,
        "[]",
        "\"text\"",
        "12",
        "{}{}[1][2]",
    ] {
        assert_eq!(repaired(text), text);
    }
    assert_eq!(repaired("[1 , 2]"), "[1  ,2]");
}

#[test]
fn damage_remains_an_error() {
    for text in [
        r#"[{"a":1}"#,
        r#"{"a":"b"#,
        r#"{"a"}"#,
        "[1}",
        r#"["\u12"#,
        "[1] done",
        "[\"a\0\"]",
        "[1\0]",
        "[1,\0\0 2]",
    ] {
        assert!(
            serde_json::from_str::<Value>(&repaired(text)).is_err(),
            "{text}"
        );
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let fields = btree_map(any::<String>(), inner.clone(), 0..4);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|fields| fields.into_iter().collect::<Value>()),
        ]
    })
}

proptest! {
    #[test]
    fn valid_json_keeps_its_meaning(value in json()) {
        for text in [value.to_string(), format!("{value:#}")] {
            let read: Value = serde_json::from_str(&repaired(&text)).unwrap();
            prop_assert_eq!(&read, &value);
        }
    }
}
