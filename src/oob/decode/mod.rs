//! Decoding: what a value that came in stands for, layer by layer. Each layer is a file that knows nothing of the others.

pub mod base64;
pub mod hex;
pub mod percent;
pub mod squeezed;

pub use squeezed::Squeezed;
