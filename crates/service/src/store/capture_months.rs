//! Months of captures: the oldest ones are deleted as a whole, with the same result on both engines.
//!
//! ```text
//!   months before the first that is kept
//!     ─► PostgreSQL: their tables, one after the other; then `captures_other`, in batches
//!     ─► SQLite: their captures, in batches
//! ```
//!
//! Captures and the counters of their loggers change in one transaction, so a logger always has as
//! many captures as it counts. The counters also change the version of the list.

use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::captures::CAPTURE_BYTES;
use super::sql::sql;
use super::{Store, StoreResult};

/// A month in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaptureMonth {
    first_day: Date,
}

impl CaptureMonth {
    /// The month of a time.
    pub fn of(at: Timestamp) -> Self {
        Self {
            first_day: at.to_zoned(TimeZone::UTC).date().first_of_month(),
        }
    }

    /// The month with this number of months between its beginning and that of this one.
    pub fn earlier(self, months: u16) -> Self {
        Self {
            first_day: self.first_day.saturating_sub(Span::new().months(months)),
        }
    }

    pub(super) fn following(self) -> Self {
        Self {
            first_day: self.first_day.saturating_add(Span::new().months(1)),
        }
    }

    /// Its first millisecond since 1970.
    pub(super) fn begins_at(self) -> i64 {
        let midnight = self.first_day.to_zoned(TimeZone::UTC);
        // The calendar begins before the first time.
        midnight.map_or(i64::MIN, |at| at.timestamp().as_millisecond())
    }

    /// Its table in PostgreSQL.
    pub(super) fn table(self) -> String {
        let (year, month) = (self.first_day.year(), self.first_day.month());
        format!("captures_{year:04}_{month:02}")
    }

    /// The month of a table; `None` for other tables.
    pub(super) fn of_table(name: &str) -> Option<Self> {
        let (year, month) = name.strip_prefix("captures_")?.split_once('_')?;
        let first_day = Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()?;
        Some(Self { first_day })
    }
}

impl fmt::Display for CaptureMonth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month) = (self.first_day.year(), self.first_day.month());
        write!(f, "{year:04}-{month:02}")
    }
}

impl Store {
    /// Deletes the captures of the months before this one; false when another node is doing so.
    ///
    /// # Errors
    /// Also when a month could not be locked: a later attempt deletes the rest.
    pub async fn delete_captures_before(&self, first_kept: CaptureMonth) -> StoreResult<bool> {
        for month in self.months_before(first_kept).await? {
            let Some(captures) = self.drop_month(month).await? else {
                return Ok(false);
            };
            tracing::info!(%month, captures, "old captures deleted");
        }
        // The end of the service waits for a batch only.
        let rest = self.to_its_end(move |store| async move {
            store.delete_captures_in_batches(first_kept).await
        });
        let captures = rest.await?;
        if captures > 0 {
            tracing::info!(before = %first_kept, captures, "old captures deleted");
        }
        Ok(true)
    }

    /// Deletes the captures before a month that are in no table of a month. Each batch changes the
    /// counters of the loggers too.
    async fn delete_captures_in_batches(&self, first_kept: CaptureMonth) -> StoreResult<u64> {
        let table = match self.is_file() {
            true => "captures",
            false => "captures_other",
        };
        let before = first_kept.begins_at();
        // No index has the time. With the last id, no batch looks at all newer captures.
        let last: Option<i64> = sql(format!(
            "SELECT max(id) FROM {table} WHERE received_at < $1"
        ))
        .bind(before)
        .one(self.read())
        .await?;
        let Some(last) = last else {
            return Ok(0);
        };
        let batch = format!(
            "SELECT id FROM {table} WHERE received_at < $1 AND id <= $2 ORDER BY id LIMIT $3"
        );
        let uncount = format!(
            "UPDATE loggers SET num_requests = num_requests - requests, body_bytes = body_bytes - bytes
             FROM (SELECT logger_id, count(*) AS requests, sum({CAPTURE_BYTES}) AS bytes FROM {table}
                WHERE id IN ({batch}) GROUP BY logger_id) AS deleted
             WHERE loggers.id = logger_id"
        );
        let delete = format!("DELETE FROM {table} WHERE id IN ({batch})");
        let statements = [uncount, delete].map(|text| sql(text).bind(before).bind(last));
        self.run_in_batches(&statements, 1).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn month(at: &str) -> CaptureMonth {
        CaptureMonth::of(at.parse().unwrap())
    }

    #[test]
    fn month_of_a_time_is_that_of_utc() {
        let may = month("2026-05-31T23:59:59.999Z");
        assert_eq!(may, month("2026-05-01T00:00:00Z"));
        assert_eq!(may.following(), month("2026-06-01T00:00:00Z"));
        assert_eq!(may.following(), month("2026-05-31T23:59:59-01:00"));
        assert_eq!(may.to_string(), "2026-05");
        let begin: Timestamp = "2026-05-01T00:00:00Z".parse().unwrap();
        assert_eq!(may.begins_at(), begin.as_millisecond());
    }

    #[test]
    fn earlier_month_is_counted_over_the_turn_of_the_year() {
        let march = month("2026-03-31T12:00:00Z");
        assert_eq!(march.earlier(0), march);
        assert_eq!(march.earlier(1).to_string(), "2026-02");
        assert_eq!(march.earlier(15).to_string(), "2024-12");
        let first = (0..4).fold(march, |month, _| month.earlier(u16::MAX));
        assert_eq!(first.earlier(1), first, "the calendar has a beginning");
        assert_eq!(first.begins_at(), i64::MIN);
    }

    #[test]
    fn table_of_a_month_names_it() {
        let may = month("2026-05-31T12:00:00Z");
        assert_eq!(may.table(), "captures_2026_05");
        assert_eq!(CaptureMonth::of_table("captures_2026_05"), Some(may));
        for other in [
            "captures",
            "captures_other",
            "captures_2026_13",
            "scans_2026_05",
        ] {
            assert_eq!(CaptureMonth::of_table(other), None, "{other}");
        }
    }
}
