//! Scans: one run of a tool against a target, its progress, output and tests.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::node::place_in_note;
use super::shared::{SharedPool, SharedTexts};
use super::{Finding, ScanId, Shared, Stamp, TargetId, TestId, WorkspaceId, lenient};

/// A scan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Scan {
    pub id: ScanId,
    /// The tool.
    #[serde(deserialize_with = "lenient::integer")]
    pub tool_id: i64,
    pub target_id: TargetId,
    pub status_name: ScanStatus,
    /// Whether a VPN profile was requested.
    #[serde(deserialize_with = "lenient::boolean")]
    pub vpn_scan: bool,
    /// Percentage of finished tests; 100 for a finished scan only.
    // Other services: can be below 100 on a finished scan.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0, max = 100))]
    pub progress: i64,
    #[serde(deserialize_with = "lenient::object")]
    pub result_summary: ResultSummary,
    /// Null before the first start; the last start if the scan was started again, or waits again.
    /// `YYYY-MM-DD HH:MM:SS` in UTC.
    #[serde(deserialize_with = "Stamp::maybe")]
    pub start_time: Option<Stamp>,
    /// Null until the scan ends. `YYYY-MM-DD HH:MM:SS` in UTC.
    #[serde(deserialize_with = "Stamp::maybe")]
    pub end_time: Option<Stamp>,
    /// Seconds since the start, or from start to end; 0 while the scan waits.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub duration: i64,
    /// Number of planned tests; it can grow while the scan runs.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub num_tests: i64,
    /// Number of finished tests.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub num_finished_tests: i64,
    /// The cause of the status; empty while the scan waits. While the scan runs: the current step,
    /// if the tool reports one.
    pub status_message: Shared,
    /// Notes of the scanner for the user.
    #[serde(deserialize_with = "lenient::texts")]
    pub info_text_lines: Vec<Shared>,
    /// Id of the workspace of the target.
    #[serde(
        deserialize_with = "lenient::maybe_id",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(!skip_serializing_if, required)]
    pub workspace_id: Option<WorkspaceId>,
    /// Whether the original URL is scanned even if it redirects.
    #[serde(deserialize_with = "lenient::boolean")]
    pub scan_original_url: bool,
    /// Minutes after which the scan times out.
    #[serde(
        deserialize_with = "lenient::maybe_integer",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(!skip_serializing_if, required, range(min = 0))]
    pub max_scan_time: Option<i64>,
    /// The parameters of the tool with their defaults; credentials are replaced by `•••`.
    // Reading replaces them too, because other services send them.
    #[serde(
        deserialize_with = "without_secrets",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(!skip_serializing_if, required, extend("type" = "object"))]
    pub tool_params: Option<Value>,
}

impl SharedTexts for Scan {
    fn share_texts(&mut self, pool: &mut SharedPool) {
        pool.share(&mut self.status_message);
        self.info_text_lines.share_texts(pool);
    }
}

impl Scan {
    /// Waiting or running.
    pub fn is_active(&self) -> bool {
        self.status_name.is_active()
    }

    /// The place from which it is scanned; none for a scan of the service itself.
    pub fn place(&self) -> Option<&str> {
        if !self.vpn_scan {
            return None;
        }
        let mut notes = self.info_text_lines.iter();
        notes.find_map(|note| place_in_note(note))
    }

    /// Whether the scan has ended. With an unknown status, it has when its end time is set.
    pub fn has_ended(&self) -> bool {
        match self.status_name {
            ScanStatus::Waiting | ScanStatus::Running => false,
            ScanStatus::Other(_) => self.end_time.is_some(),
            _ => true,
        }
    }

    /// Finished, but some of its tests have no result.
    pub fn is_incomplete(&self) -> bool {
        self.status_name == ScanStatus::Finished
            && (1..self.num_tests).contains(&self.num_finished_tests)
    }

    /// The status to show: [`INCOMPLETE`] instead of `finished` when tests have no result.
    pub fn shown_status(&self) -> &str {
        if self.is_incomplete() {
            INCOMPLETE
        } else {
            self.status_name.as_str()
        }
    }
}

/// The word for a test without a result, and for a finished scan that has such tests.
pub const INCOMPLETE: &str = "incomplete";

/// The tool parameter that names the tests of a scan, where it runs some tests alone.
pub const ONLY_TESTS: &str = "only_tests";

/// Replaces a secret.
pub const HIDDEN: &str = "•••";

fn without_secrets<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    let mut params = Option::<Value>::deserialize(from)?;
    params.iter_mut().for_each(hide_secrets);
    Ok(params)
}

/// Replaces the credentials of a scan with [`HIDDEN`].
pub fn hide_secrets(params: &mut Value) {
    if let Some(secret) = params
        .get_mut("authentication")
        .filter(|secret| !secret.is_null())
    {
        *secret = Value::from(HIDDEN);
    }
}

/// Findings of a scan by risk.
// Of other services, a null count is unknown, not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ResultSummary {
    /// The numbers as a sentence.
    pub text: Shared,
    /// Findings with risk 4.
    #[serde(deserialize_with = "lenient::maybe_integer")]
    #[schemars(required, range(min = 0))]
    pub critical: Option<i64>,
    /// Findings with risk 3.
    #[serde(deserialize_with = "lenient::maybe_integer")]
    #[schemars(required, range(min = 0))]
    pub high: Option<i64>,
    /// Findings with risk 2.
    #[serde(deserialize_with = "lenient::maybe_integer")]
    #[schemars(required, range(min = 0))]
    pub medium: Option<i64>,
    /// Findings with risk 1.
    #[serde(deserialize_with = "lenient::maybe_integer")]
    #[schemars(required, range(min = 0))]
    pub low: Option<i64>,
    /// Findings with risk 0.
    #[serde(deserialize_with = "lenient::maybe_integer")]
    #[schemars(required, range(min = 0))]
    pub info: Option<i64>,
}

impl ResultSummary {
    /// The counts in descending order of risk.
    pub fn by_risk(&self) -> [Option<i64>; 5] {
        [self.critical, self.high, self.medium, self.low, self.info]
    }
}

string_enum! {
    /// `waiting` and `running` are active; all others are final.
    ScanStatus {
        /// Queued.
        Waiting = "waiting",
        /// In progress.
        Running = "running",
        /// All tests ended.
        Finished = "finished",
        /// Not started: name resolution, scope, redirect or scanner.
        FailedToStart = "failed to start",
        /// Stopped by a user.
        Stopped = "stopped",
        /// `max_scan_time` exceeded; partial results are available.
        TimedOut = "timed out",
        /// All attempts failed.
        Aborted = "aborted",
        /// The VPN profile could not be used.
        VpnConnectionError = "VPN connection error",
        /// The given authentication was refused.
        AuthFailed = "auth failed",
        /// No TCP connection.
        ConnectionError = "connection error",
    }
}

impl ScanStatus {
    /// Waiting or running; false for an unknown status.
    pub fn is_active(&self) -> bool {
        matches!(self, Self::Waiting | Self::Running)
    }

    /// Ended before all tests were done, except by a user.
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::FailedToStart
                | Self::TimedOut
                | Self::Aborted
                | Self::VpnConnectionError
                | Self::AuthFailed
                | Self::ConnectionError
        )
    }
}

string_enum! {
    /// Which redirects of the start URL a scan follows.
    RedirectLevel {
        /// None; the target is passed to the scanner.
        None = "none",
        /// Any redirect is an error.
        CheckAccessibility = "check_accessibility",
        /// Only within the same host.
        SameHost = "same_host",
        /// To subdomains too.
        SameDomain = "same_domain",
        /// Any redirect.
        AllowAll = "allow_all",
    }
}

/// Limits of `max_scan_time`, in minutes (api-v2.md §8).
pub const SCAN_MINUTES: std::ops::RangeInclusive<i64> = 1..=1440;

/// Body of `POST /scans`, with either `target_id` or `target_name`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewScan {
    pub tool_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_id: Option<TargetId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// `None` (absent): the profile of the workspace. `Some(None)` (null): no VPN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpn_profile_uuid: Option<Option<String>>,
    /// Minutes, within [`SCAN_MINUTES`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_scan_time: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report_callback: Option<ReportCallback>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scan_original_url: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_level: Option<RedirectLevel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_params: Option<Value>,
}

/// The receiver of a report when the scan has ended. The keys are those of the embedded service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportCallback {
    /// An `http` or `https` URL.
    pub url: String,
    /// One of the report formats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
}

/// Response of `POST /scans`.
// Some services respond with `{}`, then both are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ScanCreated {
    /// The id of the new scan.
    #[serde(
        deserialize_with = "lenient::maybe_id",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(!skip_serializing_if, required)]
    pub created_id: Option<ScanId>,
    /// Id of the target, which may be new.
    #[serde(
        deserialize_with = "lenient::maybe_id",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(!skip_serializing_if, required)]
    pub target_id: Option<TargetId>,
}

/// Response of `GET /scans/{id}/output` as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ScanOutput {
    /// `finding_list`, `port_scanner`, `subdomain_list`, or empty before the first output.
    // Other types of other services are shown as a tree.
    pub output_type: Shared,
    /// `findings`, `ports` or `subdomains`, depending on `output_type`; some tools add fields.
    #[schemars(schema_with = "output_data")]
    pub output_data: Value,
}

fn output_data(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "findings": {
                "type": "array", "items": generator.subschema_for::<Finding>(),
                "description": "`finding_list`: the findings so far, as `GET /findings` sends them.",
            },
            "ports": {
                "type": "array", "items": {"type": "object"},
                "description": "`port_scanner`: open ports with `number`, `state`, `service` and further fields.",
            },
            "subdomains": {
                "type": "array", "items": {"type": "object"},
                "description": "`subdomain_list`: names and addresses, as `hostname` and `ip_address`.",
            },
        },
    })
}

string_enum! {
    /// The resource of a test: `finding` if the test has a finding, otherwise `scan`.
    ResourceType {
        /// The scan, for a test without a finding.
        Scan = "scan",
        /// The finding of the test.
        Finding = "finding",
    }
}

/// One test of a scan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Test {
    pub id: TestId,
    /// The stable name of the check.
    pub uid: Shared,
    /// The subject of the check.
    pub description: Shared,
    pub resource_type: ResourceType,
    /// Id of this finding or scan.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 1))]
    pub resource_id: i64,
    /// Request and result.
    #[schemars(extend("type" = "object"))]
    pub metadata: Value,
    /// The end of the test. `YYYY-MM-DD HH:MM:SS` in UTC.
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    #[schemars(with = "Stamp")]
    pub performed_at: Option<Stamp>,
}

impl SharedTexts for Test {}

impl Test {
    /// The field of `metadata` that the embedded service sets to false for a test without a result.
    /// Other services do not have it: their tests count as complete.
    pub const JUDGED: &str = "judged";
    /// The field of `metadata` with the reason.
    pub const CAUSE: &str = "cause";

    /// Whether the test ended without a result.
    pub fn is_incomplete(&self) -> bool {
        self.metadata.get(Self::JUDGED) == Some(&Value::Bool(false))
    }

    /// Why the test has no result; empty if the service does not report it.
    pub fn incomplete_cause(&self) -> &str {
        self.metadata
            .get(Self::CAUSE)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scan_with_nulls_and_unknown_fields_is_read() {
        let scan: Scan = serde_json::from_str(
            r#"{"id":"7","tool_id":170,"target_id":3,"status_name":"pondering","progress":null,"x":[1],
                "result_summary":{"high":2,"low":null},"start_time":"2026-11-21 10:00:00","end_time":null}"#,
        )
        .unwrap();
        assert_eq!(scan.id, ScanId(7));
        assert_eq!(scan.status_name, ScanStatus::Other("pondering".into()));
        assert_eq!(
            scan.result_summary.by_risk(),
            [None, Some(2), None, None, None]
        );
        assert!(!scan.is_active() && !scan.has_ended());
    }

    #[test]
    fn finished_scan_with_unfinished_tests_is_incomplete() {
        let scan = |status_name: ScanStatus, num_finished_tests| {
            let scan = Scan {
                status_name,
                num_tests: 66,
                num_finished_tests,
                ..Scan::default()
            };
            scan.shown_status().to_owned()
        };
        assert_eq!(scan(ScanStatus::Finished, 56), INCOMPLETE);
        assert_eq!(scan(ScanStatus::Finished, 66), "finished");
        assert_eq!(
            scan(ScanStatus::Finished, 0),
            "finished",
            "the service does not count tests"
        );
        assert_eq!(scan(ScanStatus::Stopped, 56), "stopped");
    }

    #[test]
    fn test_of_service_without_the_mark_is_complete() {
        for (metadata, expected) in [
            (
                serde_json::json!({"judged": false, "cause": "HTTP 403"}),
                (true, "HTTP 403"),
            ),
            (serde_json::json!({"judged": true}), (false, "")),
            (serde_json::json!({"judged": "no"}), (false, "")),
            (Value::Null, (false, "")),
        ] {
            let test = Test {
                metadata,
                ..Test::default()
            };
            assert_eq!((test.is_incomplete(), test.incomplete_cause()), expected);
        }
    }

    #[test]
    fn reading_scan_hides_passwords() {
        let scan: Scan = serde_json::from_str(
            r#"{"tool_params":{"scan_type":"light","authentication":{"password":"x1"}}}"#,
        )
        .unwrap();
        let params = scan.tool_params.unwrap().to_string();
        assert!(
            !params.contains("x1") && params.contains(HIDDEN),
            "{params}"
        );
    }

    #[test]
    fn hide_secrets_keeps_other_params() {
        let mut params =
            serde_json::json!({"scan_type": "light", "authentication": {"cookies": "session=x1"}});
        hide_secrets(&mut params);
        let shown = params.to_string();
        assert!(
            shown.contains("light") && shown.contains(HIDDEN) && !shown.contains("x1"),
            "{shown}"
        );
    }

    #[test]
    fn vpn_profile_serializes_as_null_or_absent() {
        let mut scan = NewScan {
            tool_id: 70,
            ..NewScan::default()
        };
        assert_eq!(serde_json::to_string(&scan).unwrap(), r#"{"tool_id":70}"#);
        scan.vpn_profile_uuid = Some(None);
        assert_eq!(
            serde_json::to_string(&scan).unwrap(),
            r#"{"tool_id":70,"vpn_profile_uuid":null}"#
        );
    }
}
