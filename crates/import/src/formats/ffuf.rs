//! ffuf: JSON. Each path that the fuzzer found is information about its website.

use scandeck_wire::contract::{Shared, lenient};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::FormatReader;
use crate::entry::ImportEntry;
use crate::evidence::{EntryEvidence, EvidenceItem};
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json::{self, JsonReader, JsonStep};
use crate::run::ImportRun;
use crate::target::TargetPlace;

pub const READER: &dyn FormatReader = &FfufReader;

struct FfufReader;

impl FormatReader for FfufReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let is_ffuf = head.json().is_some_and(|json| {
            json.get("commandline")
                .is_some_and(|line| line.contains("ffuf"))
                || json.get("results/*/resultfile").is_some()
        });
        is_ffuf && head.has_keys(&["results"])
            || head.has_keys(&["input", "position", "resultfile", "url"])
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        if head.is_json_lines() && head.has_keys(&["input", "position", "resultfile"]) {
            return json::each_object(input, true, run, |result: FfufResult, run| {
                run.add_or_skip(result.entry())
            });
        }
        json::walk(input, &mut FfufJson { run })
    }
}

struct FfufJson<'a, 'b> {
    run: &'a mut ImportRun<'b>,
}

impl JsonReader for FfufJson<'_, '_> {
    fn step(&self, path: &str) -> JsonStep {
        match path {
            "results" => JsonStep::Walk,
            "results/*" | "time" => JsonStep::Take,
            _ => JsonStep::Skip,
        }
    }

    fn take(&mut self, path: &str, raw: &str) -> Result<(), ReadFault> {
        if path == "time" {
            self.run.summary.started = fields::time(&json::scalar(raw));
            return Ok(());
        }
        match json::object::<FfufResult>(raw) {
            Ok(result) => self.run.add_or_skip(result.entry()),
            Err(_) => {
                self.run.skip(json::OTHER_SHAPE);
                Ok(())
            }
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FfufResult {
    #[serde(deserialize_with = "lenient::object")]
    input: Map<String, Value>,
    #[serde(deserialize_with = "lenient::integer")]
    status: i64,
    #[serde(deserialize_with = "lenient::integer")]
    length: i64,
    #[serde(rename = "content-type", deserialize_with = "lenient::text")]
    content_type: Shared,
    #[serde(rename = "redirectlocation", deserialize_with = "lenient::text")]
    location: Shared,
    #[serde(deserialize_with = "lenient::text")]
    url: Shared,
}

impl FfufResult {
    fn entry(self) -> Result<ImportEntry, &'static str> {
        let place = TargetPlace::of_url(&self.url).ok_or("result without a URL")?;
        let words = self
            .input
            .iter()
            .filter(|(name, _)| name.as_str() != "FFUFHASH");
        let words: Vec<&str> = words.filter_map(|(_, word)| word.as_str()).collect();
        let mut details = vec![
            format!("Status: {}", self.status),
            format!("Length: {}", self.length),
        ];
        let others = [
            ("Content type", &self.content_type),
            ("Location", &self.location),
        ];
        let others = others.into_iter().filter(|(_, value)| !value.is_empty());
        details.extend(others.map(|(name, value)| format!("{name}: {value}")));
        Ok(ImportEntry {
            vuln_id: "ffuf:found".to_owned(),
            source_risk: self.status.to_string(),
            title: format!("Found {} (status {})", place.path, self.status),
            description: "The fuzzer found this address.".to_owned(),
            test: "ffuf".to_owned(),
            evidence: EntryEvidence::Items(vec![EvidenceItem {
                url: self.url.to_string(),
                attack: words.join(" "),
                details: details.join("\n"),
                ..EvidenceItem::default()
            }]),
            ..ImportEntry::at(place)
        })
    }
}
