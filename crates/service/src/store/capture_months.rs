//! Months of captures: the oldest ones are deleted as a whole, with the same result on both engines.
//!
//! ```text
//!   months before the first that is kept
//!     ─► PostgreSQL: their tables, one after the other; then `captures_other`, in batches
//!     ─► SQLite: their captures, in batches
//! ```
//!
//! No index has the time of a capture, and a clock that was wrong may have given a new one an old
//! time. So the captures that are kept are searched too, once a month: a part of the ids in each
//! statement, beside all other work. Ids that were searched are remembered, so a start of the
//! service searches the new ones only.
//!
//! Captures and the counters of their loggers change in one transaction, so a logger always has as
//! many captures as it counts. The counters also change the version of the list.

use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::captures::CAPTURE_BYTES;
use super::sql::{Statement, per_engine, sql};
use super::{DatabaseError, Store, StoreResult};

/// The row of `settings` with the captures that were searched.
const SEARCHED: &str = "searched_captures";
/// Ids among which a statement searches captures. With bodies of a page each, it reads 200 MB.
const SEARCHED_AT_ONCE: i64 = 50_000;
/// Captures among which a batch finds those that it deletes.
const DELETED_AT_ONCE: usize = 500;

/// Captures after an id, up to the last one.
#[derive(Clone, Copy, Debug)]
struct CaptureIds {
    after: i64,
    last: i64,
}

/// Captures up to an id, of which none is before a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MonthSearch {
    /// In milliseconds since 1970.
    before: i64,
    last: i64,
}

impl MonthSearch {
    /// The value in `settings`.
    fn value(self) -> String {
        format!("{} {}", self.before, self.last)
    }

    /// `None` for a value of another form.
    fn parse(value: &str) -> Option<Self> {
        let (before, last) = value.split_once(' ')?;
        Some(Self {
            before: before.parse().ok()?,
            last: last.parse().ok()?,
        })
    }
}

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
        let Some(ids) = self.ids_to_search(table, before).await? else {
            return Ok(0);
        };
        let (mut deleted, mut last) = (0, ids.last);
        while last > ids.after {
            if self.deletions.is_ending() {
                return Err(DatabaseError::PoolClosed);
            }
            let after = (last - SEARCHED_AT_ONCE).max(ids.after);
            let part = CaptureIds { after, last };
            deleted += self.delete_captures_of(table, before, part).await?;
            last = after;
        }
        // A server may give an id before another one that is visible earlier.
        if self.is_file() {
            let searched = MonthSearch {
                before,
                last: ids.last,
            };
            self.remember_searched(searched).await?;
        }
        Ok(deleted)
    }

    /// The captures among which some may be before a time.
    async fn ids_to_search(&self, table: &str, before: i64) -> StoreResult<Option<CaptureIds>> {
        let ends: (Option<i64>, Option<i64>) = sql(format!(
            "SELECT (SELECT min(id) FROM {table}), (SELECT max(id) FROM {table})"
        ))
        .one(self.read())
        .await?;
        let (Some(first), Some(last)) = ends else {
            return Ok(None);
        };
        let value: Option<String> = sql("SELECT value FROM settings WHERE name = $1")
            .bind(SEARCHED)
            .optional(self.read())
            .await?;
        let searched = value.as_deref().and_then(MonthSearch::parse);
        let after = searched
            .filter(|searched| searched.before >= before)
            .map_or(first - 1, |searched| searched.last.max(first - 1));
        Ok(Some(CaptureIds { after, last }))
    }

    async fn remember_searched(&self, searched: MonthSearch) -> StoreResult<()> {
        let remember = sql("INSERT INTO settings (name, value) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value");
        let remember = remember.bind(SEARCHED).bind(searched.value());
        self.execute(remember).await.map(drop)
    }

    /// Deletes those of some captures that are before a time, if there are any.
    async fn delete_captures_of(
        &self,
        table: &str,
        before: i64,
        ids: CaptureIds,
    ) -> StoreResult<u64> {
        // A batch that searched for them would read those that are kept, while no other write runs.
        let old: Vec<i64> = sql(format!(
            "SELECT id FROM {table} WHERE received_at < $1 AND id > $2 AND id <= $3 ORDER BY id"
        ))
        .bind(before)
        .bind(ids.after)
        .bind(ids.last)
        .all(self.read())
        .await?;
        let mut deleted = 0;
        for some in old.chunks(DELETED_AT_ONCE) {
            let statements = deletion_of(table).map(|statement| statement.bind_ids(some));
            deleted += self.run_in_batches(&statements, 1).await?;
        }
        Ok(deleted)
    }
}

/// Subtracts a batch of some captures from the counters of their loggers, and deletes it.
fn deletion_of(table: &str) -> [Statement; 2] {
    let [sqlite, postgres] = ["IN list($1)", "= ANY($1)"]
        .map(|some| format!("SELECT id FROM {table} WHERE id {some} ORDER BY id LIMIT $2"));
    let uncount = |batch: &str| {
        format!(
            "UPDATE loggers SET num_requests = num_requests - requests, body_bytes = body_bytes - bytes
             FROM (SELECT logger_id, count(*) AS requests, sum({CAPTURE_BYTES}) AS bytes FROM {table}
                WHERE id IN ({batch}) GROUP BY logger_id) AS deleted
             WHERE loggers.id = logger_id"
        )
    };
    let delete = |batch: &str| format!("DELETE FROM {table} WHERE id IN ({batch})");
    [
        per_engine(uncount(&sqlite), uncount(&postgres)),
        per_engine(delete(&sqlite), delete(&postgres)),
    ]
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
    fn searched_captures_are_read_as_they_were_stored() {
        let searched = MonthSearch {
            before: i64::MIN,
            last: 7,
        };
        assert_eq!(MonthSearch::parse(&searched.value()), Some(searched));
        for other in ["", "7", "7 ", "a 7", "7 8 9"] {
            assert_eq!(MonthSearch::parse(other), None, "{other}");
        }
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
