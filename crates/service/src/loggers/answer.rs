//! Responses to senders. They are small: a recorded request receives an empty 200.

use axum::http::StatusCode;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::errors::ApiError;
use crate::request_reader::{ReceivedRequest, RequestVersion};

/// Sent before the body to a sender that waits for it.
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// How a request is answered, apart from the status.
#[derive(Clone, Copy, Debug)]
pub struct AnswerForm {
    is_http10: bool,
    is_head: bool,
    pub closes: bool,
}

impl AnswerForm {
    /// The version is that of the sender. HTTP/0.9 has no head, but its senders are tools that show
    /// what they receive, so they receive one as well.
    pub fn of(request: &ReceivedRequest) -> Self {
        Self {
            is_http10: request.head.version == RequestVersion::Http10,
            is_head: request.head.method == b"HEAD",
            closes: request.closes,
        }
    }

    pub fn bytes(self, result: &Result<(), ApiError>, now: Timestamp) -> Vec<u8> {
        let (status, body) = match result {
            Ok(()) => (StatusCode::OK, String::new()),
            Err(error) => (error.status, error.body()),
        };
        let version = if self.is_http10 {
            "HTTP/1.0"
        } else {
            "HTTP/1.1"
        };
        let kind = if body.is_empty() {
            ""
        } else {
            "content-type: application/json\r\n"
        };
        let connection = match (self.closes, self.is_http10) {
            (true, _) => "connection: close\r\n",
            (false, true) => "connection: keep-alive\r\n",
            (false, false) => "",
        };
        let date = now
            .to_zoned(TimeZone::UTC)
            .strftime("%a, %d %b %Y %H:%M:%S GMT");
        let length = body.len();
        let head = format!(
            "{version} {status}\r\n{kind}content-length: {length}\r\n{connection}date: {date}\r\n\r\n"
        );
        match self.is_head {
            true => head.into_bytes(),
            false => (head + &body).into_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_has_the_form_of_its_request() {
        let answer = |is_http10, is_head, closes, result: &Result<(), ApiError>| {
            let form = AnswerForm {
                is_http10,
                is_head,
                closes,
            };
            String::from_utf8(form.bytes(result, Timestamp::UNIX_EPOCH)).unwrap()
        };
        let date = "date: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n";
        assert_eq!(
            answer(false, false, false, &Ok(())),
            format!("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n{date}")
        );
        assert!(
            answer(true, false, false, &Ok(()))
                .contains("HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive")
        );
        let error = Err(ApiError::not_found("logger", 7));
        let full = answer(false, false, true, &error);
        let (head, body) = full.split_once("\r\n\r\n").unwrap();
        assert!(
            head.starts_with("HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\n"),
            "{head}"
        );
        assert!(
            head.contains(&format!(
                "content-length: {}\r\nconnection: close",
                body.len()
            )),
            "{head}"
        );
        assert_eq!(answer(false, true, true, &error), format!("{head}\r\n\r\n"));
    }
}
