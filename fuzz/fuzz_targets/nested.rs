//! Runs `checks::nested` on arbitrary input.

#![no_main]

#[allow(dead_code)]
#[path = "../checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|parts: (u8, &str, u16)| checks::nested(parts));
