//! Schedules that `scandeck watch --schedules` starts, at a service that has none itself.
//!
//! ```toml
//! [schedules.nightly]
//! scan_profile = "web"
//! targets = ["shop.acme.test"]
//! every = "1d"
//! at = "02:00"
//! ```

use serde::Deserialize;

use super::ConfigError;
use super::scan_profiles::{self, ScanProfile};
use scandeck_wire::contract::NewScan;
use scandeck_wire::contract::schedule::DEFAULT_WINDOW;
use scandeck_wire::recurrence::{StartInterval, StartRule, parse_day, parse_time, parse_window};

/// A schedule of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchedSchedule {
    pub name: String,
    /// The service that it is meant for; any service if there is none.
    pub profile: Option<String>,
    /// The scans of each target, without one.
    pub scans: Vec<NewScan>,
    /// Names of targets; all of the workspace at each start if there are none.
    pub targets: Vec<String>,
    pub rule: StartRule,
}

/// A `[schedules.NAME]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSettings {
    pub profile: Option<String>,
    scan_profile: String,
    #[serde(default)]
    targets: Vec<String>,
    every: String,
    at: Option<String>,
    first: Option<String>,
    window: Option<String>,
}

impl ScheduleSettings {
    /// The schedule with the scans of its scan profile.
    ///
    /// # Errors
    /// When the scan profile does not exist, or a time is invalid.
    pub fn checked(
        &self,
        name: &str,
        profiles: &[ScanProfile],
    ) -> Result<WatchedSchedule, ConfigError> {
        let invalid = |setting: &str, text: &str, remedy: &str| {
            ConfigError::new(
                format!("{setting} of schedule {name}: {text:?} is invalid"),
                remedy,
            )
        };
        let every = self.every.parse::<StartInterval>();
        let at = self.at.as_deref().map(|text| {
            let time = parse_time(text);
            time.map_err(|remedy| invalid("at", text, remedy))
        });
        let first = self.first.as_deref().map(|text| {
            let day = parse_day(text);
            day.map_err(|remedy| invalid("first", text, remedy))
        });
        let window = self.window.as_deref().unwrap_or(DEFAULT_WINDOW);
        if first.is_some() && at.is_none() {
            let message = format!("first of schedule {name} has no time of day");
            return Err(ConfigError::new(message, "add at, such as at = \"02:00\""));
        }
        Ok(WatchedSchedule {
            name: name.to_owned(),
            profile: self.profile.clone(),
            scans: scan_profiles::named(profiles, &self.scan_profile)?
                .scans
                .clone(),
            targets: self.targets.clone(),
            rule: StartRule {
                every: every.map_err(|remedy| invalid("every", &self.every, remedy))?,
                at: at.transpose()?,
                first: first.transpose()?,
                window: parse_window(window).map_err(|remedy| invalid("window", window, remedy))?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::ConfigFile;
    use super::*;

    const WEB: &str = "[[scan_profiles.web]]\ntool = 170\n[profiles.prod]\nlocal = true\n";

    fn read(schedule: &str) -> Result<Vec<WatchedSchedule>, ConfigError> {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.toml");
        std::fs::write(&path, format!("{WEB}[schedules.nightly]\n{schedule}")).unwrap();
        ConfigFile::read(&path, true).map(|file| file.schedules)
    }

    #[test]
    fn schedule_has_the_scans_of_its_profile_and_its_times() {
        let all = read(
            "scan_profile = \"web\"\nprofile = \"prod\"\ntargets = [\"a.test\"]\nevery = \"2w\"\n\
             at = \"02:00\"\nfirst = \"2026-12-07\"\nwindow = \"90min\"",
        );
        let [schedule] = &all.unwrap()[..] else {
            panic!("one schedule");
        };
        assert_eq!(
            (schedule.name.as_str(), schedule.profile.as_deref()),
            ("nightly", Some("prod"))
        );
        assert_eq!(schedule.scans[0].tool_id, 170);
        assert_eq!(schedule.targets, ["a.test"]);
        assert_eq!(schedule.rule.to_string(), "2w at 02:00 from 2026-12-07");
        assert_eq!(schedule.rule.window.as_secs(), 90 * 60);
    }

    #[test]
    fn invalid_schedules_are_named_with_their_line() {
        let web = "scan_profile = \"web\"\n";
        for (schedule, words) in [
            (format!("{web}every = \"1y\""), "every of schedule nightly"),
            (format!("{web}every = \"1d\"\nat = \"2\""), "at of schedule"),
            (format!("{web}every = \"1d\"\nwindow = \"1w\""), "window of"),
            (
                format!("{web}every = \"1d\"\nfirst = \"2026-12-07\""),
                "has no time of day",
            ),
            (
                "scan_profile = \"wbe\"\nevery = \"1d\"".to_owned(),
                "scan profile \"wbe\" not found",
            ),
            (
                format!("{web}every = \"1d\"\nprofile = \"lab\""),
                "profile lab of schedule nightly not found",
            ),
            (web.to_owned(), "missing field `every`"),
        ] {
            let error = read(&schedule).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(words), "{schedule}: {text}");
            assert!(text.contains("config.toml:"), "{schedule}: {text}");
            assert!(!error.hint().is_empty(), "{schedule}");
        }
    }
}
