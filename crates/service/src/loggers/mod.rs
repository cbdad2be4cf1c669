//! The listener of the loggers: whatever arrives for a logger's URL, without key, Host check or
//! rate limit.
//!
//! ```text
//!   bytes ─► request_reader ─► names a logger? ─► still records? ─► on disk ─► 200
//!            also malformed        │ 404, 400        410       413 over 1 MiB (recorded up to it)
//!            and cut requests      ▼                           431 head over 64 KiB (recorded up to the limit)
//!                               unattributed                   408 too slow (recorded as far as it arrived)
//! ```
//!
//! Strange requests are the purpose of a logger, so no parser refuses one: `connection` reads,
//! `record` stores the raw bytes and the parts that can be read. A vulnerable server that sends a
//! request often closes the connection without waiting for the response, and the request must be
//! recorded nevertheless.

mod answer;
mod capture;
mod connection;
mod record;
pub mod recorder;
mod unattributed;

use rand::RngExt;

use crate::state::App;
use crate::store::loggers::LoggerRow;
use scandeck_wire::contract::Logger;

pub use connection::serve;
pub use record::LoggerHandler;
pub use unattributed::UnattributedList;

/// Length of the secret part of a logger's URL: 22 lower-case letters and digits are 113 bits.
const TOKEN_LENGTH: usize = 22;

/// A new secret part of a logger's URL. Targets change the case of a URL, so it has no upper-case
/// letters.
pub fn new_token() -> String {
    const ALPHABET: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut random = rand::rng();
    (0..TOKEN_LENGTH)
        .map(|_| char::from(ALPHABET[random.random_range(0..ALPHABET.len())]))
        .collect()
}

/// A stored logger as sent to clients.
pub fn to_contract(app: &App, row: &LoggerRow) -> Logger {
    Logger {
        id: row.id.into(),
        label: row.label.as_str().into(),
        handler_url: format!("{}l/{}/", app.logger_base, row.token).into(),
        active_days: row.days_left(app.settings.logger_days, app.now()),
        num_requests: row.num_requests,
        requests_left: if is_full(app, row) {
            0
        } else {
            app.settings.logger_quota - row.num_requests
        },
    }
}

fn is_full(app: &App, logger: &LoggerRow) -> bool {
    logger.num_requests >= app.settings.logger_quota
        || logger.stored_bytes >= app.settings.logger_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_token_has_lower_case_letters_and_digits() {
        let new = new_token();
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        assert!(new.len() == TOKEN_LENGTH && new.bytes().all(fits), "{new}");
        assert_ne!(new, new_token());
    }
}
