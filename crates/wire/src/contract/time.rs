//! Timestamps of the wire format: `YYYY-MM-DD HH:MM:SS` in UTC, or RFC 3339.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Shared, inline_schema, lenient};

const FORM: &str = "%Y-%m-%d %H:%M:%S";

/// A timestamp, serialised in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(pub Timestamp);

inline_schema!(Stamp, {
    "type": "string",
    "pattern": r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$",
});

/// A time in seconds, or none, in a third of the memory of an `Option<Stamp>`: every finding has
/// two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CompactStamp(i64);

impl CompactStamp {
    const NONE: i64 = i64::MIN;

    /// The time, if there is one.
    pub fn get(self) -> Option<Stamp> {
        Timestamp::from_second(self.0).ok().map(Stamp)
    }
}

impl From<Option<Stamp>> for CompactStamp {
    fn from(stamp: Option<Stamp>) -> Self {
        Self(stamp.map_or(Self::NONE, Stamp::as_second))
    }
}

impl Default for CompactStamp {
    fn default() -> Self {
        Self(Self::NONE)
    }
}

impl fmt::Debug for CompactStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl Stamp {
    /// Parses either form with a precision of seconds; without a time zone it is UTC.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let stamp = text.parse::<Timestamp>().ok().or_else(|| {
            let civil: DateTime = text
                .parse()
                .or_else(|_| DateTime::strptime(FORM, text))
                .ok()?;
            civil
                .to_zoned(TimeZone::UTC)
                .ok()
                .map(|zoned| zoned.timestamp())
        })?;
        Timestamp::from_second(stamp.as_second()).ok().map(Self)
    }

    /// Seconds since 1970.
    pub fn as_second(self) -> i64 {
        self.0.as_second()
    }

    /// The day in the local time zone.
    pub fn local_day(self) -> Date {
        self.0.to_zoned(TimeZone::system()).date()
    }

    /// Field reader: a timestamp in either form, or `None`.
    ///
    /// # Errors
    /// Only for invalid JSON.
    pub fn maybe<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Self>, D::Error> {
        Ok(lenient::maybe_text(from)?.and_then(|text| Self::parse(&text)))
    }

    /// Field writer for fields that are never null: `None` becomes the empty string.
    ///
    /// # Errors
    /// The errors of the serializer.
    pub fn as_text<S: Serializer>(stamp: &Option<Self>, to: S) -> Result<S::Ok, S::Error> {
        match stamp {
            Some(stamp) => stamp.serialize(to),
            None => to.serialize_str(""),
        }
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.strftime(FORM).fmt(f)
    }
}

impl From<Timestamp> for Stamp {
    fn from(stamp: Timestamp) -> Self {
        Self(stamp)
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Stamp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text: Shared = lenient::text(from)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom(format!("not a timestamp: {text:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_accepts_both_forms_and_display_writes_the_first() {
        let plain = Stamp::parse("2026-11-21 13:58:10").unwrap();
        assert_eq!(Stamp::parse("2026-11-21T14:58:10+01:00"), Some(plain));
        assert_eq!(plain.to_string(), "2026-11-21 13:58:10");
        assert_eq!(Stamp::parse("yesterday"), None);
        for fraction in ["2026-11-21 13:58:10.5", "2026-11-21T13:58:10.999Z"] {
            assert_eq!(Stamp::parse(fraction), Some(plain), "{fraction}");
        }
    }
}
