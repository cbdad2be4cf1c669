//! Durations as short text.

/// Seconds in one unit, rounded down: at most four columns.
pub fn duration(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    match seconds.max(0) {
        s if s < MINUTE => format!("{s}s"),
        s if s < HOUR => format!("{}m", s / MINUTE),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 100 * DAY => format!("{}d", s / DAY),
        s if s < 700 * DAY => format!("{}w", s / (7 * DAY)),
        s => format!("{}y", (s / (365 * DAY)).min(999)),
    }
}

/// Seconds in two units, for details: `1h 03m`, `4m 09s`, `12s`.
pub fn long_duration(seconds: i64) -> String {
    let s = seconds.max(0);
    match (s / 86_400, s / 3_600 % 24, s / 60 % 60, s % 60) {
        (0, 0, 0, s) => format!("{s}s"),
        (0, 0, m, s) => format!("{m}m {s:02}s"),
        (0, h, m, _) => format!("{h}h {m:02}m"),
        (d, h, _, _) => format!("{d}d {h:02}h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short_and_in_one_unit() {
        for (seconds, text) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (3_599, "59m"),
            (7_200, "2h"),
            (172_800, "2d"),
            (8_640_000, "14w"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        assert_eq!(long_duration(249), "4m 09s");
    }
}
