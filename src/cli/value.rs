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

/// A whole number that is not negative.
///
/// # Errors
/// When the text is not such a number.
pub fn number(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "use a number")
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
        let id = "Acme".parse::<scandeck_wire::contract::WorkspaceId>();
        assert_eq!(id.unwrap_err(), "use the id, a number");
    }
}
