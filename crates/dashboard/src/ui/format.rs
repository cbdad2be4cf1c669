//! Numbers, times and risks as short text. Every text has a known greatest width, so that columns
//! can be fixed.

use crate::ui::Theme;
use jiff::Timestamp;
use ratatui::text::Span;
use scandeck_wire::contract::{Risk, Stamp};
use scandeck_wire::text;

pub use scandeck_wire::text::{duration, long_duration, plural, thousands};

/// Width of [`risk_word`] with its glyph.
pub const RISK: u16 = 6;

/// `, 12 hidden`, the end of a count of rows; nothing if none is.
pub fn and_hidden(hidden: usize) -> String {
    if hidden > 0 {
        format!(", {} hidden", thousands(hidden as u64))
    } else {
        String::new()
    }
}

/// An age in words: `2m ago`, `just now`.
pub fn ago(age: &str) -> String {
    if age.ends_with("now") {
        "just now".to_owned()
    } else {
        format!("{age} ago")
    }
}

/// Age in one unit: `40s` `9m` `3h` `12d` `8w` `2y`. A time stamp ahead of the clock is `now`.
pub fn age(now: Timestamp, then: Stamp) -> String {
    match now.as_second() - then.as_second() {
        ..=0 => "now".to_owned(),
        seconds => duration(seconds),
    }
}

/// Remaining time: an estimate, therefore with `~`, and in steps of at least ten seconds.
pub fn time_left(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    format!(
        "~{}",
        duration(if seconds < 60 {
            (seconds + 9) / 10 * 10
        } else {
            seconds
        })
    )
}

/// A count in at most four columns: `999` `8.5k` `120k` `3.1M` `999M`, then `999G` at the most.
pub fn count(number: i64) -> String {
    let n = number.max(0);
    for (unit, letter) in [(1_000_000_000, 'G'), (1_000_000, 'M'), (1_000, 'k')] {
        if n >= unit {
            let (whole, tenth) = (n / unit, n % unit * 10 / unit);
            return if whole < 10 {
                format!("{whole}.{tenth}{letter}")
            } else {
                format!("{}{letter}", whole.min(999))
            };
        }
    }
    n.to_string()
}

/// Bytes: `512 B` `4.0 kB` `1.9 MB`.
pub fn bytes(number: usize) -> String {
    match number {
        ..1_000 => format!("{number} B"),
        1_000..1_000_000 => format!("{:.1} kB", number as f64 / 1e3),
        _ => format!("{:.1} MB", number as f64 / 1e6),
    }
}

/// Date and time in UTC.
pub fn stamp(theme: Theme, stamp: Option<Stamp>) -> String {
    stamp.map_or_else(
        || theme.glyphs.dash.to_owned(),
        |stamp| format!("{stamp} UTC"),
    )
}

/// Time of day in UTC.
pub fn clock(theme: Theme, stamp: Option<Stamp>) -> String {
    stamp.map_or_else(
        || theme.glyphs.dash.to_owned(),
        |stamp| stamp.0.strftime("%H:%M:%S").to_string(),
    )
}

/// At most four letters.
pub fn risk_word(risk: Risk) -> &'static str {
    match risk {
        Risk::Critical => "CRIT",
        Risk::High => "HIGH",
        Risk::Medium => "MED",
        Risk::Low => "LOW",
        Risk::Info => "INFO",
    }
}

pub fn risk_glyph(theme: Theme, risk: Risk) -> &'static str {
    theme.glyphs.risk[risk.level() as usize]
}

/// `◆ CRIT`, six columns, in its colour.
pub fn risk_span(theme: Theme, risk: Risk) -> Span<'static> {
    Span::styled(
        format!("{} {:<4}", risk_glyph(theme, risk), risk_word(risk)),
        theme.risk(risk),
    )
}

/// `◆1 ▲4 ■9`, from critical down, without zeros. `–` if there are no findings. Unknown counts are
/// omitted.
pub fn risk_counts(
    theme: Theme,
    counts: [Option<i64>; 5],
    apart: &'static str,
) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for (risk, number) in Risk::DOWN.into_iter().zip(counts) {
        let Some(number) = number.filter(|&number| number > 0) else {
            continue;
        };
        if !spans.is_empty() {
            spans.push(Span::raw(apart));
        }
        spans.push(Span::styled(
            format!("{}{}", risk_glyph(theme, risk), count(number)),
            theme.risk(risk),
        ));
    }
    if spans.is_empty() {
        spans.push(Span::styled(theme.glyphs.dash, theme.dim()));
    }
    spans
}

/// Critical and high: their counts are never summed up.
const SEVERE: usize = 2;

/// As [`risk_counts`], in at most `columns`: the counts of the lowest risks are summed up first.
/// Critical and high risks are always shown; where the sum of the others has no room, a plus sign
/// remains.
pub fn risk_counts_in(theme: Theme, counts: [Option<i64>; 5], columns: u16) -> Vec<Span<'static>> {
    let width = |spans: &[Span<'_>]| {
        spans
            .iter()
            .map(|span| text::width(&span.content))
            .sum::<usize>()
    };
    let mut shown = counts.map(|count| count.filter(|&count| count > 0));
    let mut rest = 0;
    loop {
        let mut spans = risk_counts(theme, shown, " ");
        if rest > 0 {
            spans.push(Span::styled(format!(" +{}", count(rest)), theme.dim()));
        }
        let last = shown
            .iter()
            .rposition(Option::is_some)
            .filter(|&last| last >= SEVERE && shown[..last].iter().any(Option::is_some));
        match last {
            _ if width(&spans) <= usize::from(columns) => return spans,
            Some(last) => rest += shown[last].take().unwrap_or_default(),
            None => {
                if let Some(sum) = spans.last_mut().filter(|_| rest > 0) {
                    sum.content = "+".into();
                }
                return spans;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::text::width;

    #[test]
    fn age_of_a_time_ahead_of_the_clock_is_now() {
        let now = Timestamp::from_second(1_000).unwrap();
        let at = |second| Stamp(Timestamp::from_second(second).unwrap());
        assert_eq!(
            (age(now, at(940)).as_str(), age(now, at(1_005)).as_str()),
            ("1m", "now")
        );
    }

    #[test]
    fn counts_and_durations_fit_into_four_columns() {
        for power in 0..18 {
            for n in [10i64.pow(power), 10i64.pow(power) * 9, 10i64.pow(power) - 1] {
                assert!(width(&count(n)) <= 4, "{}", count(n));
                assert!(width(&duration(n)) <= 4, "{}", duration(n));
            }
        }
        assert_eq!(
            (count(8_512), count(120_000), count(3_100_000)),
            ("8.5k".into(), "120k".into(), "3.1M".into())
        );
    }

    #[test]
    fn time_left_is_rounded_estimate() {
        assert_eq!(
            [time_left(200), time_left(12), time_left(55), time_left(0)],
            ["~3m", "~20s", "~1m", "~0s"]
        );
    }

    #[test]
    fn risk_counts_without_known_counts_are_dash() {
        let text = |counts| {
            risk_counts(Theme::default(), counts, " ")
                .iter()
                .map(|span| span.content.clone())
                .collect::<String>()
        };
        assert_eq!(
            text([Some(1), Some(0), Some(12_000), None, None]),
            "◆1 ■12k"
        );
        assert_eq!(text([None; 5]), "–");
        let short: String = risk_counts_in(Theme::default(), [Some(3); 5], 8)
            .iter()
            .map(|s| s.content.clone())
            .collect();
        assert_eq!(short, "◆3 ▲3 +9");
        let of = |counts: [i64; 5], columns| {
            let spans = risk_counts_in(Theme::default(), counts.map(Some), columns);
            spans.iter().map(|s| s.content.clone()).collect::<String>()
        };
        assert_eq!(
            of([12, 34, 5, 4, 0], 8),
            "◆12 ▲34+",
            "high is never in the sum"
        );
        assert_eq!(of([0, 0, 5, 43, 0], 5), "■5+");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }
}
