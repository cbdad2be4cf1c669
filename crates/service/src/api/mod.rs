//! The HTTP side of the API that all routes share: router, form of requests, streamed lists.
//!
//! ```text
//!   routes (rows of `endpoint`) ─► router ─► guards ─► request (arguments) ─► handler ─► list_stream
//! ```

pub mod endpoint;
pub mod etag;
pub mod list_stream;
pub mod request;
pub mod router;
