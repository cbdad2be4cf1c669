//! Values of flags, with errors that name a valid value.

use std::ops::RangeInclusive;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// A day that is not over yet (UTC).
///
/// # Errors
/// When the text is not a date, or the day is over.
pub fn future_date(text: &str) -> Result<Date, String> {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let date =
        Date::strptime("%Y-%m-%d", text).map_err(|_| "use a date such as 2030-12-31".to_owned())?;
    if date < today {
        Err(format!("{date} is in the past; use a later date"))
    } else {
        Ok(date)
    }
}

/// An address with a port.
///
/// # Errors
/// When the text has another form.
#[cfg(feature = "service")]
pub fn socket_address(text: &str) -> Result<std::net::SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "use ADDR:PORT, such as 127.0.0.1:8765")
}

/// The address of a name server.
///
/// # Errors
/// When the text has another form.
#[cfg(feature = "service")]
pub fn name_server(text: &str) -> Result<std::net::SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "use IP:PORT, such as 192.0.2.53:53")
}

/// A whole number in this range.
///
/// # Errors
/// When the text is not a number, or is outside the range.
pub fn number_in<T>(range: RangeInclusive<T>, text: &str) -> Result<T, String>
where
    T: Copy + PartialOrd + std::fmt::Display + std::str::FromStr,
{
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("use {} to {}", range.start(), range.end()))
}

/// A whole number from this one on.
///
/// # Errors
/// When the text is not a number, or is below.
#[cfg(feature = "service")]
pub fn at_least<T>(least: T, text: &str) -> Result<T, String>
where
    T: PartialOrd + std::fmt::Display + std::str::FromStr,
{
    text.parse()
        .ok()
        .filter(|number| *number >= least)
        .ok_or_else(|| format!("use {least} or more"))
}

/// A whole number that is not negative.
///
/// # Errors
/// When the text is not such a number.
pub fn number(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "use a number")
}

/// An id of the service.
///
/// # Errors
/// When the text is not a number.
#[cfg(feature = "dashboard")]
pub fn id(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "use a number")
}

/// A whole number of at least 1.
///
/// # Errors
/// When the text is not such a number.
#[cfg(feature = "service")]
pub fn at_least_one<T: PartialOrd + From<u8> + std::fmt::Display + std::str::FromStr>(
    text: &str,
) -> Result<T, String> {
    at_least(T::from(1), text)
}

/// Seconds up to an hour.
///
/// # Errors
/// When the text is not such a number.
#[cfg(feature = "service")]
pub fn seconds(text: &str) -> Result<u64, String> {
    number_in(1..=3600, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_values_name_a_valid_one() {
        assert_eq!(
            future_date("tomorrow").unwrap_err(),
            "use a date such as 2030-12-31"
        );
        assert_eq!(
            future_date("2020-01-01").unwrap_err(),
            "2020-01-01 is in the past; use a later date"
        );
        assert!(future_date("9998-12-31").is_ok());
        assert_eq!(number_in(1..=1440, "0").unwrap_err(), "use 1 to 1440");
        assert_eq!(number_in(1..=1440, "30"), Ok(30));
        assert_eq!(number("abc").unwrap_err(), "use a number");
        #[cfg(feature = "service")]
        assert_eq!(
            (at_least(65_536, "5"), at_least_one::<u32>("0").is_err()),
            (Err("use 65536 or more".to_owned()), true)
        );
    }
}
