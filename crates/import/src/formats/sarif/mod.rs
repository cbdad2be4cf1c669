//! SARIF 2.1: results of code scanners and others.
//!
//! ```text
//!   runs/*/tool ─► rules          runs/*/results/* ─► result + its rule ─► entry
//! ```
//!
//! The order of keys is free: results that come before the rules wait for them, within a limit.

mod entry;

use std::collections::BTreeMap;

use scandeck_wire::contract::{Shared, lenient};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::FormatReader;
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json::{self, JsonReader, JsonStep};
use crate::run::ImportRun;
use crate::target::ImportTarget;

pub const READER: &dyn FormatReader = &SarifReader;

/// Bytes of results that wait for their rules.
const MAX_WAITING: usize = 64 << 20;

struct SarifReader;

impl FormatReader for SarifReader {
    fn recognises(&self, head: &FileHead) -> bool {
        head.json().is_some_and(|json| {
            let version = json.get("version").unwrap_or_default();
            let is_version = version.starts_with("2.1");
            // Its results have other names.
            let is_old = version.starts_with("1.");
            let schema = json.get("$schema").unwrap_or_default();
            let has_runs = json.get("runs").is_some();
            let has_tool =
                json.get("runs/*/tool").is_some() || json.get("runs/*/results").is_some();
            has_runs && !is_old && (is_version || schema.contains("sarif") || has_tool)
        })
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        _head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        let mut reader = SarifJson {
            run,
            tools: Vec::new(),
            part: SarifRun::default(),
        };
        json::walk(input, &mut reader)?;
        let SarifJson { run, mut tools, .. } = reader;
        tools.dedup();
        if !tools.is_empty() {
            run.summary.tool = tools.join(", ");
        }
        Ok(())
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SarifTool {
    #[serde(deserialize_with = "lenient::object")]
    driver: SarifComponent,
    #[serde(deserialize_with = "list")]
    extensions: Vec<SarifComponent>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SarifComponent {
    #[serde(deserialize_with = "lenient::text")]
    name: Shared,
    #[serde(deserialize_with = "lenient::text")]
    version: Shared,
    #[serde(deserialize_with = "lenient::text")]
    semantic_version: Shared,
    #[serde(deserialize_with = "list")]
    rules: Vec<SarifRule>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SarifRule {
    #[serde(deserialize_with = "lenient::text")]
    id: Shared,
    #[serde(deserialize_with = "lenient::text")]
    name: Shared,
    #[serde(deserialize_with = "lenient::object")]
    short_description: SarifText,
    #[serde(deserialize_with = "lenient::object")]
    full_description: SarifText,
    #[serde(deserialize_with = "lenient::object")]
    help: SarifText,
    #[serde(deserialize_with = "lenient::text")]
    help_uri: Shared,
    #[serde(deserialize_with = "lenient::object")]
    default_configuration: SarifConfiguration,
    #[serde(deserialize_with = "lenient::object")]
    message_strings: Map<String, Value>,
    #[serde(deserialize_with = "lenient::object")]
    properties: Map<String, Value>,
    #[serde(deserialize_with = "list")]
    relationships: Vec<SarifRelationship>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct SarifConfiguration {
    #[serde(deserialize_with = "lenient::text")]
    level: Shared,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct SarifRelationship {
    #[serde(deserialize_with = "lenient::object")]
    target: SarifReference,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SarifReference {
    #[serde(deserialize_with = "lenient::text")]
    id: Shared,
    #[serde(deserialize_with = "lenient::maybe_integer")]
    index: Option<i64>,
    #[serde(deserialize_with = "lenient::object")]
    tool_component: SarifIndex,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct SarifIndex {
    #[serde(deserialize_with = "lenient::maybe_integer")]
    index: Option<i64>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct SarifText {
    #[serde(deserialize_with = "lenient::text")]
    text: Shared,
    #[serde(deserialize_with = "lenient::text")]
    markdown: Shared,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SarifResult {
    #[serde(deserialize_with = "lenient::text")]
    rule_id: Shared,
    #[serde(deserialize_with = "lenient::maybe_integer")]
    rule_index: Option<i64>,
    #[serde(deserialize_with = "lenient::object")]
    rule: SarifReference,
    #[serde(deserialize_with = "lenient::text")]
    kind: Shared,
    #[serde(deserialize_with = "lenient::text")]
    level: Shared,
    #[serde(deserialize_with = "lenient::object")]
    message: SarifMessage,
    #[serde(deserialize_with = "list")]
    locations: Vec<SarifLocation>,
    #[serde(deserialize_with = "list")]
    suppressions: Vec<SarifSuppression>,
    #[serde(deserialize_with = "lenient::text")]
    baseline_state: Shared,
    #[serde(deserialize_with = "lenient::object")]
    fingerprints: BTreeMap<String, Value>,
    #[serde(deserialize_with = "lenient::object")]
    partial_fingerprints: BTreeMap<String, Value>,
    #[serde(deserialize_with = "lenient::object")]
    properties: Map<String, Value>,
    #[serde(deserialize_with = "lenient::object")]
    web_request: SarifWebRequest,
    #[serde(deserialize_with = "lenient::object")]
    web_response: SarifWebResponse,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SarifMessage {
    #[serde(deserialize_with = "lenient::text")]
    text: Shared,
    #[serde(deserialize_with = "lenient::text")]
    id: Shared,
    #[serde(deserialize_with = "lenient::texts")]
    arguments: Vec<Shared>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SarifLocation {
    #[serde(deserialize_with = "lenient::object")]
    physical_location: SarifPhysical,
    #[serde(deserialize_with = "list")]
    logical_locations: Vec<SarifLogical>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SarifPhysical {
    #[serde(deserialize_with = "lenient::object")]
    artifact_location: SarifArtifact,
    #[serde(deserialize_with = "lenient::object")]
    region: SarifRegion,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SarifArtifact {
    #[serde(deserialize_with = "lenient::text")]
    uri: Shared,
    #[serde(deserialize_with = "lenient::maybe_integer")]
    index: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SarifRegion {
    #[serde(deserialize_with = "lenient::maybe_integer")]
    start_line: Option<i64>,
    #[serde(deserialize_with = "lenient::object")]
    snippet: SarifText,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SarifLogical {
    #[serde(deserialize_with = "lenient::text")]
    fully_qualified_name: Shared,
    #[serde(deserialize_with = "lenient::text")]
    name: Shared,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SarifSuppression {
    #[serde(deserialize_with = "lenient::text")]
    kind: Shared,
    #[serde(alias = "state", deserialize_with = "lenient::text")]
    status: Shared,
    #[serde(deserialize_with = "lenient::text")]
    justification: Shared,
    #[serde(deserialize_with = "lenient::object")]
    properties: SarifDecision,
}

/// The decision that an export of scandeck has in the properties of a suppression.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SarifDecision {
    #[serde(deserialize_with = "lenient::text")]
    verdict: Shared,
    #[serde(deserialize_with = "lenient::text")]
    reason: Shared,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SarifWebRequest {
    #[serde(deserialize_with = "lenient::text")]
    method: Shared,
    #[serde(deserialize_with = "lenient::text")]
    target: Shared,
    #[serde(deserialize_with = "lenient::object")]
    headers: BTreeMap<String, Value>,
    #[serde(deserialize_with = "lenient::object")]
    body: SarifText,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SarifWebResponse {
    #[serde(deserialize_with = "lenient::maybe_integer")]
    status_code: Option<i64>,
    #[serde(deserialize_with = "lenient::object")]
    headers: BTreeMap<String, Value>,
    #[serde(deserialize_with = "lenient::object")]
    body: SarifText,
}

/// The elements of a list. One of another form remains as an empty one, because others are named by
/// their position.
fn list<'de, T: DeserializeOwned + Default, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let value = Value::deserialize(from)?;
    let elements = json::elements(&value).iter();
    let read = |one: &Value| T::deserialize(one).unwrap_or_default();
    Ok(elements.map(read).collect())
}

/// The position that an index names; -1 names none: SARIF 2.1.0, section 3.7.4.
fn position(index: Option<i64>) -> Option<usize> {
    index.and_then(|index| usize::try_from(index).ok())
}

/// One run of a tool.
#[derive(Default)]
struct SarifRun {
    tool: Option<SarifTool>,
    target: Option<ImportTarget>,
    artifacts: Vec<String>,
    waiting: Vec<String>,
    waiting_bytes: usize,
}

struct SarifJson<'a, 'b> {
    run: &'a mut ImportRun<'b>,
    tools: Vec<String>,
    part: SarifRun,
}

impl JsonReader for SarifJson<'_, '_> {
    fn step(&self, path: &str) -> JsonStep {
        match path {
            "runs" | "runs/*" | "runs/*/results" | "runs/*/artifacts" | "runs/*/invocations" => {
                JsonStep::Walk
            }
            "runs/*/tool"
            | "runs/*/results/*"
            | "runs/*/artifacts/*"
            | "runs/*/invocations/*"
            | "runs/*/versionControlProvenance" => JsonStep::Take,
            _ => JsonStep::Skip,
        }
    }

    fn take(&mut self, path: &str, raw: &str) -> Result<(), ReadFault> {
        match path {
            "runs/*/tool" => self.set_tool(raw),
            "runs/*/artifacts/*" => {
                let value: Value = serde_json::from_str(raw).unwrap_or_default();
                let uri = value["location"]["uri"].as_str().unwrap_or_default();
                self.part.artifacts.push(uri.to_owned());
            }
            "runs/*/invocations/*" => {
                let value: Value = serde_json::from_str(raw).unwrap_or_default();
                let time = |name: &str| fields::time(value[name].as_str().unwrap_or_default());
                self.run
                    .extend_time(time("startTimeUtc").or(time("startTime")));
                self.run.extend_time(time("endTimeUtc").or(time("endTime")));
            }
            "runs/*/versionControlProvenance" => {
                let value: Value = serde_json::from_str(raw).unwrap_or_default();
                let uri = value[0]["repositoryUri"].as_str().unwrap_or_default();
                self.part.target = ImportTarget::product(uri.trim_end_matches(".git"));
            }
            // Targets and artifacts may come after the results, too.
            _ if self.part.waiting_bytes + raw.len() <= MAX_WAITING => {
                self.part.waiting_bytes += raw.len();
                self.part.waiting.push(raw.to_owned());
            }
            _ => {
                self.add_waiting()?;
                self.add_result(raw)?;
            }
        }
        Ok(())
    }

    fn leave(&mut self, path: &str) -> Result<(), ReadFault> {
        if path == "runs/*" {
            self.add_waiting()?;
            self.part = SarifRun::default();
        }
        Ok(())
    }
}

impl SarifJson<'_, '_> {
    fn set_tool(&mut self, raw: &str) {
        let Ok(tool) = json::object::<SarifTool>(raw) else {
            self.run.skip("description of the tool has another shape");
            return;
        };
        let driver = &tool.driver;
        if !driver.name.is_empty() {
            self.tools.push(driver.name.to_string());
        }
        let version = [&driver.semantic_version, &driver.version];
        if self.run.summary.version.is_empty() {
            let version = version.into_iter().find(|version| !version.is_empty());
            self.run.summary.version = version.map(Shared::to_string).unwrap_or_default();
        }
        self.part.tool = Some(tool);
    }

    fn add_waiting(&mut self) -> Result<(), ReadFault> {
        for raw in std::mem::take(&mut self.part.waiting) {
            self.add_result(&raw)?;
        }
        Ok(())
    }

    fn add_result(&mut self, raw: &str) -> Result<(), ReadFault> {
        match json::object::<SarifResult>(raw) {
            Ok(result) => self.run.add_or_skip(self.part.entry(result)),
            Err(_) => {
                self.run.skip(json::OTHER_SHAPE);
                Ok(())
            }
        }
    }
}
