//! Values of the flags of the local service, with errors that name a valid value.

use std::net::SocketAddr;

use crate::cli::value::number_in;

/// An address with a port.
///
/// # Errors
/// When the text has another form.
pub fn socket_address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "use ADDR:PORT, such as 127.0.0.1:8765")
}

/// The address of a name server.
///
/// # Errors
/// When the text has another form.
pub fn name_server(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "use IP:PORT, such as 192.0.2.53:53")
}

/// A whole number from this one on.
///
/// # Errors
/// When the text is not a number, or is below.
pub fn at_least<T>(least: T, text: &str) -> Result<T, String>
where
    T: PartialOrd + std::fmt::Display + std::str::FromStr,
{
    text.parse()
        .ok()
        .filter(|number| *number >= least)
        .ok_or_else(|| format!("use {least} or more"))
}

/// A whole number of at least 1.
///
/// # Errors
/// When the text is not such a number.
pub fn at_least_one<T: PartialOrd + From<u8> + std::fmt::Display + std::str::FromStr>(
    text: &str,
) -> Result<T, String> {
    at_least(T::from(1), text)
}

/// Seconds up to an hour.
///
/// # Errors
/// When the text is not such a number.
pub fn seconds(text: &str) -> Result<u64, String> {
    number_in(1..=3600, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_the_least_name_it() {
        assert_eq!(at_least(65_536, "5"), Err("use 65536 or more".to_owned()));
        assert!(at_least_one::<u32>("0").is_err());
        assert_eq!(at_least_one("7"), Ok(7_u32));
    }
}
