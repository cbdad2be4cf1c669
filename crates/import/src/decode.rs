//! Any text to UTF-8: by byte order mark, else by the XML declaration, else UTF-8. Invalid bytes
//! become U+FFFD, so that one wrong byte does not lose a file.

use std::io::{Read, Result as IoResult};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Bytes in which an XML declaration is looked for.
const DECLARATION: usize = 256;
const CHUNK: usize = 64 * 1024;

/// Decoded text as bytes of valid UTF-8.
pub struct Utf8Read<R> {
    inner: R,
    decoder: Option<Decoder>,
    raw: Vec<u8>,
    is_end: bool,
}

impl<R: Read> Utf8Read<R> {
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            decoder: None,
            raw: Vec::new(),
            is_end: false,
        }
    }

    /// Appends the next chunk; false at the end of the text.
    pub fn fill(&mut self, text: &mut String) -> IoResult<bool> {
        if self.is_end {
            return Ok(false);
        }
        let before = self.raw.len();
        self.raw.resize(CHUNK, 0);
        let read = self.inner.read(&mut self.raw[before..]);
        self.raw.truncate(before + *read.as_ref().unwrap_or(&0));
        self.is_end = read? == 0;
        if self.decoder.is_none() {
            if self.raw.len() < DECLARATION && !self.is_end {
                return Ok(true);
            }
            let encoding = encoding_of(&self.raw);
            self.decoder = Some(encoding.new_decoder_with_bom_removal());
        }
        if let Some(decoder) = &mut self.decoder {
            decode(decoder, &self.raw, text, self.is_end);
        }
        self.raw.clear();
        Ok(true)
    }
}

fn decode(decoder: &mut Decoder, mut raw: &[u8], text: &mut String, is_last: bool) {
    loop {
        let space = decoder.max_utf8_buffer_length(raw.len()).unwrap_or(CHUNK);
        text.reserve(space);
        let (result, read, _) = decoder.decode_to_string(raw, text, is_last);
        raw = &raw[read..];
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}

fn encoding_of(beginning: &[u8]) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(beginning) {
        return encoding;
    }
    match beginning {
        [b'<' | b'{' | b'[', 0, ..] => UTF_16LE,
        [0, b'<' | b'{' | b'[', ..] => UTF_16BE,
        _ => declared(beginning).unwrap_or(UTF_8),
    }
}

/// The encoding of an XML declaration.
fn declared(beginning: &[u8]) -> Option<&'static Encoding> {
    let beginning = &beginning[..beginning.len().min(DECLARATION)];
    let text = String::from_utf8_lossy(beginning);
    let declaration = text.trim_start().strip_prefix("<?xml")?;
    let (declaration, _) = declaration.split_once("?>")?;
    let (_, value) = declaration.split_once("encoding")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value
        .chars()
        .next()
        .filter(|quote| "\"'".contains(*quote))?;
    let label = value[1..].split(quote).next()?;
    // The declaration itself was read as bytes, so it is no UTF-16.
    Encoding::for_label(label.as_bytes()).filter(|encoding| encoding.is_ascii_compatible())
}
