//! The decode chain and the recognition of tokens: any bytes come to an end within bounds. `cargo +nightly fuzz run decode`

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use scandeck::contract::Capture;
use scandeck::oob::decode::{LIMIT, Step, Told, chain};
use scandeck::oob::{Book, Payload, Token, mentions};

fn total(steps: &[Step]) -> usize {
    let inside = |step: &Step| step.parts.iter().map(|part| total(&part.steps)).sum::<usize>();
    steps.iter().map(|step| step.result.len() + inside(step)).sum()
}

fuzz_target!(|parts: (&[u8], &str, &str)| {
    let (bytes, content_type, encoding) = parts;
    assert!(total(&chain(bytes, Told { content_type, encoding })) <= 2 * LIMIT);
    let text = String::from_utf8_lossy(bytes).into_owned();
    let capture = Capture {
        url_params: text.as_str().into(),
        path: Some(content_type.into()),
        http_headers: vec![encoding.into()],
        request_body_base64: text.as_str().into(),
        ..Capture::default()
    };
    let mut book = Book::default();
    book.take([Arc::new(Payload { token: Token::of(1), ..Payload::default() })]);
    let _found = mentions(&capture, &book);
});
