//! Decoding of received values, layer by layer. Each step has a reason.
//!
//! ```text
//!   bytes ─► gzip ─► url ─► base64 ─► json ──┬─ user.token ─► jwt
//!                                            └─ next ─► url
//!            layers: one result each          structures: laid out, with parts that have steps of their own
//! ```
//!
//! Each layer is an independent file; [`chain()`] decides the order and limits the work.

pub mod base64;
mod chain;
pub mod compression;
mod form;
pub mod hex;
mod json;
mod jwt;
mod multipart;
pub mod percent;
pub mod spellings;
mod xml;

use crate::finding::named_enum;

pub use chain::{BodyHints, LIMIT, chain};
pub use compression::CompressionFormat;

named_enum! {
    /// An encoding that a step removes, or a structure that it formats.
    Layer {
        Url "url",
        Base64 "base64",
        Base64Url "base64url",
        Hex "hex",
        Gzip "gzip",
        Deflate "deflate",
        Json "json",
        Xml "xml",
        Form "form",
        Multipart "multipart",
        Jwt "jwt",
    }
}

impl Layer {
    /// True for formats with named parts, which are decoded separately.
    pub fn is_structure(self) -> bool {
        matches!(
            self,
            Self::Json | Self::Xml | Self::Form | Self::Multipart | Self::Jwt
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeStep {
    pub layer: Layer,
    /// Reason why the layer was recognized.
    pub why: String,
    /// Decoded bytes, or the formatted structure: still untrusted.
    pub result: Vec<u8>,
    /// Remark about the result, such as that it was cut.
    pub note: Option<&'static str>,
    /// Named parts of a structure.
    pub parts: Vec<DecodedPart>,
}

/// A named part of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedPart {
    /// Name or path: untrusted text.
    pub name: String,
    /// Value as in the structure.
    pub value: Vec<u8>,
    /// Steps that decode the value.
    pub steps: Vec<DecodeStep>,
}

/// True for UTF-8 without controls other than line breaks and tabs.
pub fn is_text(bytes: &[u8]) -> bool {
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    std::str::from_utf8(bytes).is_ok_and(|text| !text.contains(control))
}
