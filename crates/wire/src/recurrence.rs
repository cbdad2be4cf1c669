//! When a schedule starts: pure functions of the schedule, its last start, the time and the time
//! zone.
//!
//! ```text
//!   first start (local time) + n × interval ─► occurrences ─┬─ the next one is later ────────► wait
//!                                                           ├─ due within the window ────────► start once
//!                                                           └─ due before the window ────────► skip
//! ```
//!
//! Days, weeks and months keep the local time of the first start: a start at 02:00 is at 02:00 in
//! summer and in winter. A local time that the change to summer time skips is an hour later, and
//! one that occurs twice counts once. Months count from the first start, so the 31st becomes the
//! last day of a shorter month, and the 31st again afterwards. Minutes and hours are elapsed time.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, Zoned};

/// Most units of an interval.
const MOST_UNITS: i64 = 1_000;

/// The time between two starts: `15min`, `6h`, `1d`, `2w` or `1mo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartInterval {
    count: i64,
    unit: IntervalUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IntervalUnit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
}

impl IntervalUnit {
    const ALL: [(IntervalUnit, &'static str); 5] = [
        (IntervalUnit::Minute, "min"),
        (IntervalUnit::Hour, "h"),
        (IntervalUnit::Day, "d"),
        (IntervalUnit::Week, "w"),
        (IntervalUnit::Month, "mo"),
    ];

    /// Seconds of the longest such unit, apart from changes of the clock.
    fn seconds(self) -> i64 {
        match self {
            IntervalUnit::Minute => 60,
            IntervalUnit::Hour => 60 * 60,
            IntervalUnit::Day => 24 * 60 * 60,
            IntervalUnit::Week => 7 * 24 * 60 * 60,
            IntervalUnit::Month => 31 * 24 * 60 * 60,
        }
    }

    /// Whether it is elapsed time, and not a part of the calendar.
    fn is_elapsed(self) -> bool {
        matches!(self, IntervalUnit::Minute | IntervalUnit::Hour)
    }
}

impl FromStr for StartInterval {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const REMEDY: &str = "use 1 to 1000 with min, h, d, w or mo, such as 1w";
        let (count, unit) = split_number(text).ok_or(REMEDY)?;
        let named = IntervalUnit::ALL
            .into_iter()
            .find(|(_, name)| *name == unit);
        match named {
            Some((unit, _)) if (1..=MOST_UNITS).contains(&count) => Ok(Self { count, unit }),
            _ => Err(REMEDY),
        }
    }
}

impl fmt::Display for StartInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = IntervalUnit::ALL
            .iter()
            .find(|(unit, _)| *unit == self.unit);
        let name = named.map_or("", |(_, name)| name);
        write!(f, "{}{name}", self.count)
    }
}

/// The time of a window in words: `90min`, `6h` or `2d`.
///
/// # Errors
/// The valid forms, when the text is none of them.
pub fn parse_window(text: &str) -> Result<SignedDuration, &'static str> {
    const REMEDY: &str = "use 1 to 1000 with min, h or d, such as 6h";
    let interval: StartInterval = text.parse().map_err(|_| REMEDY)?;
    match interval.unit {
        IntervalUnit::Minute | IntervalUnit::Hour | IntervalUnit::Day => Ok(
            SignedDuration::from_secs(interval.count * interval.unit.seconds()),
        ),
        IntervalUnit::Week | IntervalUnit::Month => Err(REMEDY),
    }
}

/// A window as it is written: `90min`, `6h` or `2d`.
pub fn window_text(window: SignedDuration) -> String {
    let seconds = window.as_secs();
    let units = [IntervalUnit::Day, IntervalUnit::Hour, IntervalUnit::Minute];
    let whole = units.into_iter().find(|unit| seconds % unit.seconds() == 0);
    let unit = whole.unwrap_or(IntervalUnit::Minute);
    let count = seconds / unit.seconds();
    StartInterval { count, unit }.to_string()
}

/// The number at the start of a text, and the rest.
fn split_number(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, rest) = text.split_at(end);
    Some((number.parse().ok()?, rest))
}

/// A time of day in words, such as `02:00`.
///
/// # Errors
/// The valid form, when the text has another one.
pub fn parse_time(text: &str) -> Result<Time, &'static str> {
    Time::strptime("%H:%M", text).map_err(|_| "use a time such as 02:00")
}

/// A day in words, such as `2026-12-07`.
///
/// # Errors
/// The valid form, when the text has another one.
pub fn parse_day(text: &str) -> Result<Date, &'static str> {
    Date::strptime("%Y-%m-%d", text).map_err(|_| "use a day such as 2026-12-07")
}

/// When a schedule starts, in the words of a person: its first start may follow from the time at
/// which it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartRule {
    pub every: StartInterval,
    /// Local time of day.
    pub at: Option<Time>,
    /// Day of the first start; without effect unless `at` is given.
    pub first: Option<Date>,
    /// How late a missed start may be.
    pub window: SignedDuration,
}

impl StartRule {
    /// The recurrence from the named day, else from the next time of the clock, else from now.
    pub fn counted_from(self, now: &Zoned) -> Recurrence {
        self.with_first(match (self.first, self.at) {
            (Some(day), Some(at)) => day.to_datetime(at),
            (None, Some(at)) => next_day_at(at, now),
            (_, None) => minute_of(now),
        })
    }

    /// The recurrence from this local time.
    pub fn with_first(self, first: DateTime) -> Recurrence {
        Recurrence {
            first,
            every: self.every,
            window: self.window,
        }
    }
}

/// `1w at 02:00 from 2026-12-07`; rules that start at other times have other texts.
impl fmt::Display for StartRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.every)?;
        if let Some(at) = self.at {
            write!(f, " at {}", at.strftime("%H:%M"))?;
        }
        match self.first {
            Some(first) => write!(f, " from {first}"),
            None => Ok(()),
        }
    }
}

/// The next time of the clock that is later than now.
fn next_day_at(at: Time, now: &Zoned) -> DateTime {
    let today = now.date().to_datetime(at);
    let tomorrow = now.date().tomorrow().map(|day| day.to_datetime(at));
    match today > now.datetime() {
        true => today,
        false => tomorrow.unwrap_or(today),
    }
}

/// The present minute: the first start is one interval later.
fn minute_of(now: &Zoned) -> DateTime {
    let time = now.datetime();
    let rest = SignedDuration::new(i64::from(time.second()), time.subsec_nanosecond());
    time.checked_sub(rest).unwrap_or(time)
}

/// When a schedule starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recurrence {
    /// In local time.
    pub first: DateTime,
    pub every: StartInterval,
    /// How late a missed start may be.
    pub window: SignedDuration,
}

/// The last start of a schedule, and the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartTimes {
    /// No occurrence up to here starts any more: the last one that was due, or the creation.
    pub done: Timestamp,
    pub next: Timestamp,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueStart {
    Wait,
    /// Start once for the occurrence `due`; earlier ones were missed.
    Start {
        due: Timestamp,
        missed: i64,
    },
    /// The occurrence `due` is older than the window.
    Skip {
        due: Timestamp,
    },
}

impl Recurrence {
    /// What is to be done now after the occurrences up to `done`, and the times to store.
    pub fn due(&self, done: Timestamp, now: Timestamp, zone: &TimeZone) -> (DueStart, StartTimes) {
        let (done, next) = self.next_start(done, now, zone);
        if next.at > now {
            let next = next.at;
            return (DueStart::Wait, StartTimes { done, next });
        }
        let after = self.first_after(now, zone);
        let last = self.occurrence(after.number - 1, zone);
        let times = StartTimes {
            done: last,
            next: after.at,
        };
        let due = match now.duration_since(last) <= self.window {
            true => DueStart::Start {
                due: last,
                missed: after.number - 1 - next.number,
            },
            false => DueStart::Skip { due: last },
        };
        (due, times)
    }

    /// The first occurrence after `done`.
    ///
    /// A `done` of the future is from before the clock was set back. After less than an interval it
    /// still holds, so that no occurrence starts twice. After more, the schedule continues from now.
    fn next_start(
        &self,
        done: Timestamp,
        now: Timestamp,
        zone: &TimeZone,
    ) -> (Timestamp, NumberedStart) {
        let next = self.first_after(done, zone);
        if done > now {
            let from_now = self.first_after(now, zone);
            if next.number > from_now.number + 1 {
                return (now, from_now);
            }
        }
        (done, next)
    }

    /// The first occurrence after an instant.
    fn first_after(&self, instant: Timestamp, zone: &TimeZone) -> NumberedStart {
        let elapsed = instant.as_second() - self.occurrence(0, zone).as_second();
        // A change of the date line adds or removes a day.
        let longest = self.every.count * self.every.unit.seconds();
        let mut number = (elapsed / longest - 2).max(0);
        loop {
            let at = self.occurrence(number, zone);
            if at > instant || at == Timestamp::MAX {
                return NumberedStart { number, at };
            }
            number += 1;
        }
    }

    /// The occurrence with this number, from 0; the end of time beyond it.
    fn occurrence(&self, number: i64, zone: &TimeZone) -> Timestamp {
        self.checked_occurrence(number, zone)
            .unwrap_or(Timestamp::MAX)
    }

    fn checked_occurrence(&self, number: i64, zone: &TimeZone) -> Option<Timestamp> {
        let units = number.checked_mul(self.every.count)?;
        let local = |time: DateTime| {
            let zoned = time.to_zoned(zone.clone());
            zoned.ok().map(|zoned| zoned.timestamp())
        };
        if self.every.unit.is_elapsed() {
            let seconds = units.checked_mul(self.every.unit.seconds())?;
            let elapsed = SignedDuration::from_secs(seconds);
            return local(self.first)?.checked_add(elapsed).ok();
        }
        let span = match self.every.unit {
            IntervalUnit::Week => Span::new().try_weeks(units),
            IntervalUnit::Month => Span::new().try_months(units),
            _ => Span::new().try_days(units),
        };
        local(self.first.checked_add(span.ok()?).ok()?)
    }
}

/// An occurrence with its number, from 0.
#[derive(Clone, Copy, Debug)]
struct NumberedStart {
    number: i64,
    at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Summer time from the last Sunday of March to the last one of October, as in Berlin.
    fn berlin() -> TimeZone {
        TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
    }

    fn at(text: &str) -> Timestamp {
        let time: DateTime = text.parse().unwrap();
        time.to_zoned(berlin()).unwrap().timestamp()
    }

    fn recurrence(first: &str, every: &str) -> Recurrence {
        Recurrence {
            first: first.parse().unwrap(),
            every: every.parse().unwrap(),
            window: SignedDuration::from_hours(6),
        }
    }

    /// The local times of the starts after `from`, each found at the time of the one before.
    fn starts(recurrence: &Recurrence, from: &str, count: usize) -> Vec<String> {
        let mut done = at(from);
        let next = |_| {
            let (due, times) = recurrence.due(done, done, &berlin());
            assert_eq!(due, DueStart::Wait);
            done = times.next;
            let local = done.to_zoned(berlin()).datetime();
            local.strftime("%m-%d %H:%M").to_string()
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn first_start_is_the_next_time_of_the_clock() {
        let now: Zoned = "2026-11-30T13:05:42[UTC]".parse().unwrap();
        let at = |text| next_day_at(parse_time(text).unwrap(), &now).to_string();
        assert_eq!(at("13:06"), "2026-11-30T13:06:00");
        assert_eq!(at("13:05"), "2026-12-01T13:05:00");
        assert_eq!(minute_of(&now).to_string(), "2026-11-30T13:05:00");
    }

    #[test]
    fn rule_is_counted_from_its_day_or_from_now() {
        let now: Zoned = "2026-11-30T13:05:42[UTC]".parse().unwrap();
        let rule = |at: Option<&str>, first: Option<&str>| StartRule {
            every: "2w".parse().unwrap(),
            at: at.map(|text| parse_time(text).unwrap()),
            first: first.map(|text| parse_day(text).unwrap()),
            window: SignedDuration::from_hours(6),
        };
        for (rule, first, words) in [
            (
                rule(Some("02:00"), Some("2026-12-07")),
                "2026-12-07T02:00:00",
                "2w at 02:00 from 2026-12-07",
            ),
            (
                rule(Some("02:00"), None),
                "2026-12-01T02:00:00",
                "2w at 02:00",
            ),
            (rule(None, None), "2026-11-30T13:05:00", "2w"),
        ] {
            assert_eq!(rule.counted_from(&now).first.to_string(), first);
            assert_eq!(rule.to_string(), words);
        }
        assert!(parse_time("2am").is_err() && parse_day("7.12.").is_err());
    }

    #[test]
    fn intervals_are_read_and_written() {
        for text in ["15min", "6h", "1d", "2w", "1mo", "1000d"] {
            let interval: StartInterval = text.parse().unwrap();
            assert_eq!(interval.to_string(), text);
        }
        for text in [
            "",
            "w",
            "0d",
            "1001d",
            "-1d",
            "1 w",
            "1y",
            "1.5h",
            "9999999999999999999h",
        ] {
            assert!(text.parse::<StartInterval>().is_err(), "{text}");
        }
        assert_eq!(parse_window("90min"), Ok(SignedDuration::from_mins(90)));
        assert_eq!(parse_window("2d"), Ok(SignedDuration::from_hours(48)));
        for text in ["90min", "6h", "2d"] {
            assert_eq!(window_text(parse_window(text).unwrap()), text);
        }
        assert!(parse_window("1w").is_err() && parse_window("6").is_err());
    }

    #[test]
    fn days_and_weeks_keep_the_local_time_across_summer_time() {
        let daily = recurrence("2026-03-27T02:00", "1d");
        assert_eq!(
            starts(&daily, "2026-03-27T12:00", 3),
            // 02:00 does not exist on the 29th.
            ["03-28 02:00", "03-29 03:00", "03-30 02:00"]
        );
        let autumn = recurrence("2026-10-24T02:30", "1d");
        assert_eq!(
            starts(&autumn, "2026-10-24T01:00", 4),
            ["10-24 02:30", "10-25 02:30", "10-26 02:30", "10-27 02:30"],
            "02:30 occurs twice on the 25th and starts once"
        );
        let weekly = recurrence("2026-03-22T02:00", "1w");
        assert_eq!(
            starts(&weekly, "2026-03-22T02:00", 2),
            ["03-29 03:00", "04-05 02:00"]
        );
    }

    #[test]
    fn hours_are_elapsed_time_across_summer_time() {
        let hourly = recurrence("2026-03-29T00:00", "1h");
        assert_eq!(
            starts(&hourly, "2026-03-29T00:30", 3),
            ["03-29 01:00", "03-29 03:00", "03-29 04:00"]
        );
        let autumn = recurrence("2026-10-25T01:00", "1h");
        assert_eq!(
            starts(&autumn, "2026-10-25T01:30", 3),
            ["10-25 02:00", "10-25 02:00", "10-25 03:00"],
            "both hours from 02:00"
        );
        let half = recurrence("2026-10-25T01:00", "30min");
        assert_eq!(starts(&half, "2026-10-25T01:00", 1), ["10-25 01:30"]);
    }

    #[test]
    fn months_end_on_their_last_day_and_return_to_the_31st() {
        let monthly = recurrence("2027-12-31T02:00", "1mo");
        assert_eq!(
            starts(&monthly, "2027-12-31T02:00", 4),
            ["01-31 02:00", "02-29 02:00", "03-31 02:00", "04-30 02:00"]
        );
        let quarterly = recurrence("2026-11-30T02:00", "3mo");
        assert_eq!(
            starts(&quarterly, "2026-11-30T03:00", 2),
            ["02-28 02:00", "05-30 02:00"]
        );
    }

    #[test]
    fn first_start_of_the_future_is_awaited() {
        let later = recurrence("2027-01-04T02:00", "1w");
        assert_eq!(
            starts(&later, "2026-11-29T12:00", 2),
            ["01-04 02:00", "01-11 02:00"]
        );
    }

    #[test]
    fn due_start_is_started_within_the_window_and_skipped_after_it() {
        let daily = recurrence("2026-11-01T02:00", "1d");
        let (done, due) = (at("2026-11-10T02:00"), at("2026-11-11T02:00"));
        let next = at("2026-11-12T02:00");
        let now = |text| daily.due(done, at(text), &berlin());
        let waiting = (DueStart::Wait, StartTimes { done, next: due });
        assert_eq!(now("2026-11-11T01:59:59"), waiting);
        let started = StartTimes { done: due, next };
        let start = DueStart::Start { due, missed: 0 };
        assert_eq!(now("2026-11-11T02:00"), (start, started));
        assert_eq!(now("2026-11-11T08:00"), (start, started));
        let skip = DueStart::Skip { due };
        assert_eq!(now("2026-11-11T08:00:01"), (skip, started));
    }

    #[test]
    fn starts_that_were_missed_for_weeks_are_started_once() {
        let daily = recurrence("2026-10-01T02:00", "1d");
        let done = at("2026-10-10T02:00");
        let (due, times) = daily.due(done, at("2026-10-31T05:00"), &berlin());
        let last = at("2026-10-31T02:00");
        assert_eq!(
            due,
            DueStart::Start {
                due: last,
                missed: 20
            }
        );
        assert_eq!(times.next, at("2026-11-01T02:00"));
        let later = daily.due(times.done, at("2026-10-31T05:01"), &berlin());
        assert_eq!(later, (DueStart::Wait, times));
        let (too_late, _) = daily.due(done, at("2026-10-31T12:00"), &berlin());
        assert_eq!(too_late, DueStart::Skip { due: last });
    }

    #[test]
    fn clock_that_jumps_back_a_little_starts_nothing_twice() {
        let daily = recurrence("2026-11-01T02:00", "1d");
        let done = at("2026-11-10T02:00");
        let next = at("2026-11-11T02:00");
        for back in ["2026-11-10T01:59:58", "2026-11-09T14:00"] {
            let waiting = (DueStart::Wait, StartTimes { done, next });
            assert_eq!(daily.due(done, at(back), &berlin()), waiting, "{back}");
        }
    }

    #[test]
    fn clock_that_jumps_back_years_continues_from_now() {
        let daily = recurrence("2026-11-01T02:00", "1d");
        let (done, now) = (at("2031-05-05T02:00"), at("2026-11-09T14:00"));
        let (due, times) = daily.due(done, now, &berlin());
        let next = at("2026-11-10T02:00");
        assert_eq!(
            (due, times),
            (DueStart::Wait, StartTimes { done: now, next })
        );
        let (due, _) = daily.due(times.done, next, &berlin());
        assert_eq!(
            due,
            DueStart::Start {
                due: next,
                missed: 0
            }
        );
    }

    #[test]
    fn end_of_time_is_reached_without_an_endless_loop() {
        let monthly = recurrence("9999-12-30T02:00", "1000mo");
        let last = at("9999-12-30T02:00");
        let (due, times) = monthly.due(last, last, &berlin());
        assert_eq!((due, times.next), (DueStart::Wait, Timestamp::MAX));
    }
}
