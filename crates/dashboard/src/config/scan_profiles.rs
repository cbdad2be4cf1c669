//! Scan profiles: named sets of scans, each a tool with its parameters.
//!
//! ```toml
//! [[scan_profiles.web]]              # one scan of each target
//! tool = 170
//! params = { scan_type = "light" }
//!
//! [[scan_profiles.web]]              # a second one
//! tool = 450
//! ```
//!
//! A profile of the configuration is a service (`[profiles.NAME]`), so the sets of scans have a
//! table of their own.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::ConfigError;
use scandeck_wire::contract::{NewScan, RedirectLevel, SCAN_MINUTES};

/// A scan profile, whose scans lack only their target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScanProfile {
    pub name: String,
    /// At least one.
    pub scans: Vec<NewScan>,
}

/// A `[[scan_profiles.NAME]]` entry.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileScan {
    tool: i64,
    #[serde(default)]
    params: Map<String, Value>,
    max_scan_time: Option<i64>,
    redirect_level: Option<String>,
    scan_original_url: Option<bool>,
}

/// Why an entry cannot be used, and the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidScan {
    pub cause: &'static str,
    pub remedy: &'static str,
}

impl ProfileScan {
    /// The scan without a target.
    ///
    /// # Errors
    /// When a value is outside the API, or the entry has credentials.
    pub fn to_scan(&self) -> Result<NewScan, InvalidScan> {
        let invalid = |cause, remedy| InvalidScan { cause, remedy };
        // Others can often read the configuration file.
        if self.params.contains_key("authentication") {
            let cause = "params of a scan profile must not have authentication";
            let remedy = "start this scan with --tool and --params @FILE";
            return Err(invalid(cause, remedy));
        }
        let is_allowed = |minutes: i64| SCAN_MINUTES.contains(&minutes);
        if !self.max_scan_time.is_none_or(is_allowed) {
            let cause = "max_scan_time must be 1 to 1440 minutes";
            let remedy = "correct it, or remove the line for the limit of the service";
            return Err(invalid(cause, remedy));
        }
        let level = self.redirect_level.as_deref().map(RedirectLevel::known);
        let redirect_level = level.transpose().map_err(|_| {
            let remedy = "use none, check_accessibility, same_host, same_domain or allow_all";
            invalid("redirect_level is unknown", remedy)
        })?;
        Ok(NewScan {
            tool_id: self.tool,
            max_scan_time: self.max_scan_time,
            redirect_level,
            scan_original_url: self.scan_original_url,
            tool_params: (!self.params.is_empty()).then(|| Value::Object(self.params.clone())),
            ..NewScan::default()
        })
    }
}

/// The scan profile with this name.
///
/// # Errors
/// When there is none.
pub fn named<'a>(profiles: &'a [ScanProfile], name: &str) -> Result<&'a ScanProfile, ConfigError> {
    let found = profiles.iter().find(|profile| profile.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = profiles.iter().map(|one| one.name.as_str()).collect();
        let hint = match names.as_slice() {
            [] => format!(
                "add [[scan_profiles.{name}]] with a line such as `tool = 170` to the configuration file"
            ),
            names => format!("use one of these scan profiles: {}", names.join(", ")),
        };
        ConfigError::new(format!("scan profile {name:?} not found"), hint)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::file::ConfigFile;
    use super::*;

    const WEB: &str = r#"
        [[scan_profiles.web]]
        tool = 170
        params = { scan_type = "deep", requests_per_second = 5 }
        max_scan_time = 90
        redirect_level = "same_host"
        scan_original_url = true

        [[scan_profiles.web]]
        tool = 450

        [[scan_profiles.ports]]
        tool = 70
    "#;

    fn read(text: &str) -> Result<Vec<ScanProfile>, ConfigError> {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        ConfigFile::read(&path, true).map(|file| file.scan_profiles)
    }

    #[test]
    fn entries_of_a_profile_are_scans_in_the_order_of_the_file() {
        let profiles = read(WEB).unwrap();
        let web = named(&profiles, "web").unwrap();
        assert_eq!(
            serde_json::to_value(&web.scans).unwrap(),
            json!([
                {"tool_id": 170, "max_scan_time": 90, "scan_original_url": true, "redirect_level": "same_host",
                    "tool_params": {"scan_type": "deep", "requests_per_second": 5}},
                {"tool_id": 450},
            ])
        );
        assert_eq!(named(&profiles, "ports").unwrap().scans.len(), 1);
        let missing = named(&profiles, "wb").unwrap_err();
        assert!(missing.hint().contains("ports, web"), "{}", missing.hint());
        let none = named(&[], "web").unwrap_err();
        assert!(none.hint().contains("[[scan_profiles.web]]"));
    }

    #[test]
    fn invalid_entries_are_named_with_their_line() {
        for (entry, cause) in [
            (
                "tool = 70\nmax_scan_time = 0",
                "max_scan_time must be 1 to 1440 minutes",
            ),
            (
                "tool = 70\nredirect_level = \"all\"",
                "redirect_level is unknown",
            ),
            (
                "tool = 170\nparams = { authentication = { cookies = \"sid=1\" } }",
                "must not have authentication",
            ),
            ("params = {}", "missing field `tool`"),
            ("tool = 70\ntols = 1", "unknown setting `tols`"),
        ] {
            let error = read(&format!("[[scan_profiles.web]]\n{entry}")).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(cause), "{entry}: {text}");
            assert!(text.contains("config.toml:"), "{entry}: {text}");
            assert!(
                !error.hint().is_empty() && !text.contains("sid="),
                "{entry}"
            );
        }
        let empty = read("[scan_profiles]\nweb = []").unwrap_err();
        assert!(empty.to_string().contains("scan profile web has no scan"));
    }
}
