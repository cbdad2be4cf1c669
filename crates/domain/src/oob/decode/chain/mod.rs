//! Order, depth and limits of decoding.

use std::borrow::Cow;

use super::base64::Base64Run;
use super::{
    CompressionFormat, DecodeStep, Layer, form, hex, is_text, json, jwt, multipart, percent, xml,
};
use scandeck_wire::text::plural;

/// Maximum nesting depth of steps.
const DEEPEST: usize = 8;
/// Maximum number of bytes that all steps produce together.
pub const LIMIT: usize = 4 << 20;
/// Strings of larger JSON documents are not decoded, because the whole document would have to be
/// parsed into values.
const LOOKED_INTO: usize = 256 << 10;
/// Shorter texts are more often words than encoded data.
const LEAST_ENCODED: usize = 8;
/// Minimum length of base64 text that may decode to binary data.
const LEAST_BINARY: usize = 24;

/// Headers of the request that describe a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct BodyHints<'a> {
    /// `Content-Type`, with its parameters.
    pub content_type: &'a str,
    /// `Content-Encoding`.
    pub encoding: &'a str,
}

impl BodyHints<'_> {
    fn declares(&self, part: &str) -> bool {
        self.content_type.to_ascii_lowercase().contains(part)
    }
}

/// Decodes a value step by step; no steps if the value is not encoded.
pub fn chain(bytes: &[u8], hints: BodyHints<'_>) -> Vec<DecodeStep> {
    Chain { left: LIMIT }.steps(bytes, hints, 0)
}

/// Decoder with a remaining byte budget.
struct Chain {
    left: usize,
}

impl Chain {
    fn steps(&mut self, bytes: &[u8], mut hints: BodyHints<'_>, depth: usize) -> Vec<DecodeStep> {
        let mut steps: Vec<DecodeStep> = Vec::new();
        while depth + steps.len() < DEEPEST && self.left > 0 {
            let present = steps.last().map_or(bytes, |step| &step.result);
            let Some(mut step) = self.step(present, hints) else {
                break;
            };
            if step.result.len() > self.left {
                step.result.truncate(self.left);
                step.note = Some("truncated: larger than the decoding limit");
            }
            self.left -= step.result.len();
            let below = depth + steps.len() + 1;
            self.parts(&mut step, hints, below);
            hints = match step.layer {
                Layer::Gzip | Layer::Deflate => BodyHints {
                    encoding: "",
                    ..hints
                },
                _ => BodyHints::default(),
            };
            let ends = step.layer.is_structure();
            steps.push(step);
            if ends {
                break;
            }
        }
        steps
    }

    /// Decodes the parts of a structure. Of JSON, only parts that decode to something are kept,
    /// because the whole document is shown anyway.
    fn parts(&mut self, step: &mut DecodeStep, hints: BodyHints<'_>, depth: usize) {
        for part in &mut step.parts {
            let own = match step.layer {
                Layer::Multipart => multipart::content_type(&part.value),
                _ => String::new(),
            };
            let content = match step.layer {
                Layer::Multipart => multipart::content(&part.value),
                _ => &part.value,
            };
            let hints = if own.is_empty() {
                BodyHints::default()
            } else {
                BodyHints {
                    content_type: &own,
                    ..hints
                }
            };
            part.steps = self.steps(content, hints, depth);
            if step.layer == Layer::Multipart {
                part.value = content.to_vec();
            }
            self.left = self.left.saturating_sub(part.value.len());
        }
        if step.layer == Layer::Json {
            step.parts.retain(|part| !part.steps.is_empty());
        }
    }

    fn step(&self, bytes: &[u8], hints: BodyHints<'_>) -> Option<DecodeStep> {
        if let Some(step) = self.inflated(bytes, hints) {
            return Some(step);
        }
        if let Some(step) = multipart_step(bytes, hints) {
            return Some(step);
        }
        let text = trimmed(std::str::from_utf8(bytes).ok()?);
        json_step(text, hints)
            .or_else(|| jwt_step(text))
            .or_else(|| xml_step(text, hints))
            .or_else(|| form_step(text, hints))
            .or_else(|| url_step(text))
            .or_else(|| hex_step(text))
            .or_else(|| base64_step(text))
    }

    fn inflated(&self, bytes: &[u8], hints: BodyHints<'_>) -> Option<DecodeStep> {
        let declares_deflate = hints.encoding.to_ascii_lowercase().contains("deflate");
        let (how, why) = match CompressionFormat::of(bytes) {
            Some(how) => (
                how,
                format!("begins with {:02x} {:02x}", bytes[0], bytes[1]),
            ),
            None if declares_deflate => (
                CompressionFormat::Deflate,
                "declared by Content-Encoding".to_owned(),
            ),
            None => return None,
        };
        let inflated = how.inflated(bytes, self.left)?;
        let layer = if how == CompressionFormat::Gzip {
            Layer::Gzip
        } else {
            Layer::Deflate
        };
        let note = match (inflated.more, inflated.broken) {
            (true, _) => Some("truncated: larger than the decoding limit"),
            (false, true) => Some("incomplete or corrupt"),
            (false, false) => None,
        };
        Some(DecodeStep {
            note,
            ..step(layer, why, inflated.bytes)
        })
    }
}

fn step(layer: Layer, why: impl Into<String>, result: impl Into<Vec<u8>>) -> DecodeStep {
    DecodeStep {
        layer,
        why: why.into(),
        result: result.into(),
        note: None,
        parts: Vec::new(),
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim()
}

fn multipart_step(bytes: &[u8], hints: BodyHints<'_>) -> Option<DecodeStep> {
    if !hints.declares("multipart/") {
        return None;
    }
    let parts = multipart::parts(bytes, &multipart::boundary(hints.content_type)?)?;
    let laid_out = parts
        .iter()
        .map(|part| format!("{}\n", part.name))
        .collect::<String>();
    Some(DecodeStep {
        parts,
        ..step(Layer::Multipart, "declared by Content-Type", laid_out)
    })
}

fn json_step(text: &str, hints: BodyHints<'_>) -> Option<DecodeStep> {
    let laid_out = json::laid_out(text, LIMIT)?;
    let why = if hints.declares("json") {
        "valid JSON, declared by Content-Type"
    } else {
        "valid JSON"
    };
    let parts = if text.len() <= LOOKED_INTO {
        json::strings(text)
    } else {
        Vec::new()
    };
    let note = (text.len() > LOOKED_INTO).then_some("too large: strings in it are not decoded");
    Some(DecodeStep {
        parts,
        note,
        ..step(Layer::Json, why, laid_out)
    })
}

fn jwt_step(text: &str) -> Option<DecodeStep> {
    let (laid_out, parts) = jwt::read(text)?;
    let why = "base64url header and payload; the header names an algorithm";
    Some(DecodeStep {
        parts,
        note: Some("signature not checked"),
        ..step(Layer::Jwt, why, laid_out)
    })
}

fn xml_step(text: &str, hints: BodyHints<'_>) -> Option<DecodeStep> {
    let laid_out = xml::laid_out(text, LIMIT)?;
    let why = if hints.declares("xml") {
        "declared by Content-Type"
    } else {
        "begins with a tag"
    };
    Some(DecodeStep {
        note: Some("formatted; entities are not resolved"),
        ..step(Layer::Xml, why, laid_out)
    })
}

fn form_step(text: &str, hints: BodyHints<'_>) -> Option<DecodeStep> {
    let is_declared = hints.declares("form-urlencoded");
    // Any other content type excludes a form.
    if !is_declared && (!hints.content_type.is_empty() || !form::looks_like(text)) {
        return None;
    }
    let parts = form::pairs(text);
    let why = if is_declared {
        "declared by Content-Type"
    } else {
        "name=value pairs joined by &"
    };
    (!parts.is_empty()).then(|| DecodeStep {
        parts: parts.clone(),
        ..step(Layer::Form, why, form::laid_out(&parts))
    })
}

fn url_step(text: &str) -> Option<DecodeStep> {
    let Cow::Owned(plain) = percent::decoded(text.as_bytes()) else {
        return None;
    };
    let escapes = (text.len() - plain.len()) / 2;
    Some(step(
        Layer::Url,
        format!("contains {}", plural(escapes, "%XX escape")),
        plain,
    ))
}

fn hex_step(text: &str) -> Option<DecodeStep> {
    if text.len() < LEAST_ENCODED || !text.len().is_multiple_of(2) {
        return None;
    }
    let plain = hex::decoded(text.as_bytes())
        .filter(|plain| is_text(plain) || CompressionFormat::of(plain).is_some())?;
    Some(step(
        Layer::Hex,
        format!(
            "all {} characters are hex digits and decode to text",
            text.len()
        ),
        plain,
    ))
}

fn base64_step(text: &str) -> Option<DecodeStep> {
    let run = Base64Run::of(text.as_bytes()).filter(|run| run.len() >= LEAST_ENCODED)?;
    let plain = run.decoded(0)?;
    let readable = is_text(&plain) || CompressionFormat::of(&plain).is_some();
    let has = |kind: fn(&u8) -> bool| text.bytes().any(|byte| kind(&byte));
    let of_all_kinds =
        has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    let whole = text.ends_with('=') || run.len().is_multiple_of(4);
    let may_be_binary = of_all_kinds && whole && run.len() >= LEAST_BINARY;
    if !readable && !may_be_binary {
        return None;
    }
    let layer = if run.for_urls {
        Layer::Base64Url
    } else {
        Layer::Base64
    };
    let reason = if readable {
        "decode to printable text"
    } else {
        "are in the base64 alphabet"
    };
    Some(step(
        layer,
        format!("all {} characters {reason}", run.len()),
        plain,
    ))
}

#[cfg(test)]
mod tests;
