//! The client against services that misbehave in every way of `quality.md`, "Never breaks".
//!
//! `answers` speaks HTTP and says strange things; `wire` does not even speak HTTP properly.

mod answers;
mod wire;

use std::time::Duration;

use scandeck::client::{BaseUrl, Client, ClientSettings};

/// The key that must never be printed.
pub const KEY: &str = "k3y-that-must-not-leak";

/// A client that does not make a test wait.
pub fn client(origin: &str) -> Client {
    client_with(origin, |_| {})
}

/// The same with other settings.
pub fn client_with(origin: &str, change: impl FnOnce(&mut ClientSettings)) -> Client {
    let base = BaseUrl::parse(origin, false).unwrap();
    let mut settings = ClientSettings::new(base, KEY.to_owned().into());
    settings.retry_delay = Duration::from_millis(1);
    settings.connect_timeout = Duration::from_secs(2);
    settings.total_timeout = Duration::from_secs(2);
    change(&mut settings);
    Client::new(settings).unwrap()
}
