//! Why there was no response, and what the errors of the client say.

use std::error::Error;
use std::io;

use thiserror::Error;

use crate::engine::legacy_http::causes;

/// Why there was no response.
#[derive(Clone, Debug, Error)]
pub enum WebError {
    #[error("{0}")]
    Refused(String),
    #[error("cannot connect: {0}")]
    Connect(String),
    #[error("the port responds, but not with TLS; use http:// if it serves plain HTTP")]
    NotTls,
    #[error("no complete response before the timeout")]
    Timeout,
    #[error("no HTTP response")]
    Tls,
    #[error("the server closed the connection without a response")]
    Silent,
    #[error("no complete response: {0}")]
    Broken(String),
    #[error("invalid HTTP response: {0}")]
    Malformed(String),
    #[error("the response is not HTTP: it begins with \"{0}\"")]
    NotHttp(String),
    #[error("the server speaks HTTP/2 only")]
    Http2,
    #[error("the server limits the rate of requests (429)")]
    RateLimited,
    #[error("the server stopped responding")]
    Unresponsive,
    #[error("the budget of requests or bytes is exhausted")]
    Budget,
    /// The session of the scan has ended.
    #[error("{0}")]
    LoggedOut(String),
}

/// Whether the server closed a TLS connection without close_notify, as many old ones do.
pub(super) fn lacks_close_notify(error: &reqwest::Error) -> bool {
    innermost(error).contains("close_notify")
}

/// Whether the connection ended before the response.
pub(super) fn is_cut(error: &reqwest::Error) -> bool {
    let is_end = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
    causes(error).any(|cause| cause.downcast_ref::<io::Error>().is_some_and(is_end))
        || innermost(error).contains("end of file")
}

/// Whether hyper refuses the form of a response.
pub fn is_malformed(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| {
        cause
            .downcast_ref::<hyper::Error>()
            .is_some_and(hyper::Error::is_parse)
    })
}

/// Whether a TLS server refuses the protocol HTTP/1.
pub(super) fn refuses_http1(error: &reqwest::Error) -> bool {
    let refused = rustls::Error::AlertReceived(rustls::AlertDescription::NoApplicationProtocol);
    causes(error).any(|cause| cause.downcast_ref::<rustls::Error>() == Some(&refused))
}

/// The innermost cause, the most useful one for the user.
pub(super) fn innermost(error: &reqwest::Error) -> String {
    causes(error)
        .last()
        .map(ToString::to_string)
        .unwrap_or_default()
}

pub(super) fn web_error(error: reqwest::Error) -> WebError {
    if error.is_timeout() {
        return WebError::Timeout;
    }
    let error = error.without_url();
    let cause = match innermost(&error) {
        cause if cause.contains("close_notify") => {
            "the connection ended before the body".to_owned()
        }
        cause => cause
            .split(" (os error")
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    match () {
        // The name of a rustls error.
        () if error.is_connect() && cause.contains("InvalidContentType") => WebError::NotTls,
        () if error.is_connect() => WebError::Connect(cause.to_lowercase()),
        () if is_malformed(&error) => WebError::Malformed(cause),
        () => WebError::Broken(cause),
    }
}
