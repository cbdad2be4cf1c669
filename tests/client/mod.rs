//! The client against misbehaving services: `responses` sends unexpected HTTP responses, `wire`
//! fails below HTTP.

mod responses;
mod wire;

use std::time::Duration;

use scandeck::client::{BaseUrl, Client, ClientSettings};

/// An API key that must not appear in any output.
pub const KEY: &str = "k3y-that-must-not-leak";

/// A client with short timeouts and retry delays.
pub fn client(origin: &str) -> Client {
    client_with(origin, |_| {})
}

/// A client like [`client`] with changed settings.
pub fn client_with(origin: &str, change: impl FnOnce(&mut ClientSettings)) -> Client {
    let base = BaseUrl::parse(origin, false).unwrap();
    let mut settings = ClientSettings::new(base, KEY.to_owned().into());
    settings.retry_delay = Duration::from_millis(1);
    settings.connect_timeout = Duration::from_secs(2);
    settings.total_timeout = Duration::from_secs(2);
    change(&mut settings);
    Client::new(settings).unwrap()
}
