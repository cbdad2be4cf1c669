//! Decoding: what a value that came in stands for, layer by layer, each step with the reason it was taken.
//!
//! ```text
//!   bytes ─► gzip ─► url ─► base64 ─► json ──┬─ user.token ─► jwt
//!                                            └─ next ─► url
//!            layers: one result each          structures: laid out, with parts that have steps of their own
//! ```
//!
//! Each layer is a file that knows nothing of the others; [`chain()`] alone decides what is tried, and bounds the work.

pub mod base64;
mod chain;
mod form;
pub mod hex;
mod json;
mod jwt;
mod multipart;
pub mod percent;
pub mod squeezed;
mod xml;

pub use chain::{BodyHints, LIMIT, chain};
pub use squeezed::Squeezed;

/// What a step takes off or lays out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // their names say it
pub enum Layer {
    Url,
    Base64,
    Base64Url,
    Hex,
    Gzip,
    Deflate,
    Json,
    Xml,
    Form,
    Multipart,
    Jwt,
}

impl Layer {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Base64 => "base64",
            Self::Base64Url => "base64url",
            Self::Hex => "hex",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Json => "json",
            Self::Xml => "xml",
            Self::Form => "form",
            Self::Multipart => "multipart",
            Self::Jwt => "jwt",
        }
    }

    /// It is laid out, and its parts go on by themselves; the others stand for one value each.
    pub fn is_structure(self) -> bool {
        matches!(self, Self::Json | Self::Xml | Self::Form | Self::Multipart | Self::Jwt)
    }
}

/// One step of decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeStep {
    /// What it was.
    pub layer: Layer,
    /// Why it was taken for that, in words.
    pub why: String,
    /// What it stands for, or the structure laid out: still outside bytes.
    pub result: Vec<u8>,
    /// What has to be known of the result, such as that it was cut.
    pub note: Option<&'static str>,
    /// Of a structure: what it holds by name.
    pub parts: Vec<DecodedPart>,
}

/// A named part of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedPart {
    /// Its name or place: still outside text.
    pub name: String,
    /// Its value, as the structure has it.
    pub value: Vec<u8>,
    /// What the value stands for.
    pub steps: Vec<DecodeStep>,
}

/// Text that a person can read: UTF-8 without controls other than line breaks and tabs.
pub fn is_text(bytes: &[u8]) -> bool {
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    std::str::from_utf8(bytes).is_ok_and(|text| !text.contains(control))
}
