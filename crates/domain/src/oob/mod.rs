//! Out-of-band testing: payloads, captured requests and the hits between them. Pure except for the
//! archive.
//!
//! ```text
//!   random number ─► Token ─► Payload ─► PayloadBook ──┐
//!                                                      ▼
//!   Capture ─► decode chain ─► texts ─► recognition ─► Mention: payload, position, added text
//!
//!   store   captures as received, and the payload book: one SQLite file per service
//! ```

pub mod archived;
pub mod book;
pub mod compare;
pub mod decode;
pub mod hits;
pub mod lifetime;
pub mod mention;
pub mod out;
pub mod payload;
pub mod payload_request;
pub mod payload_shape;
pub mod reachability;
pub mod recognize;
pub mod replay;
pub mod request;
pub mod source;
pub mod store;
pub mod stored_body;
pub mod token;
pub mod unattributed;

pub use archived::NewestCapture;
pub use compare::{ComparedPart, PartChange, RequestPart};
pub use decode::{BodyHints, DecodeStep, DecodedPart, LIMIT};
pub use lifetime::LoggerExpiry;
pub use out::{CaptureFormat, CaptureRecord};
pub use payload::UrlForm;
pub use payload_request::{MOST, PayloadOrigin, PayloadRequest};
pub use reachability::Reachability;
pub use replay::Replay;
pub use source::{Agent, Network, TargetHosts};
pub use store::{
    ArchivePlace, ArrivedPayload, HitCount, OpenedArchive, RowRange, Store, StoreError,
};
pub use stored_body::{BodyStore, StoredBody, with_body};

pub use archived::{ArchivedCapture, ClearedRequests};
pub use book::PayloadBook;
pub use hits::{Hit, HitCounts, Hits, Wait};
pub use mention::{Mention, MentionPlace};
pub use payload::{Delay, Payload};
pub use payload_shape::PayloadShape;
pub use recognize::mentions;
pub use source::CaptureSource;
pub use token::Token;
