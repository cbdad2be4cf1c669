//! subfinder: JSON lines. Each name below the domain is information about it.

use scandeck_wire::contract::{Shared, lenient};
use serde::Deserialize;

use super::FormatReader;
use crate::entry::ImportEntry;
use crate::evidence::EntryEvidence;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json;
use crate::run::ImportRun;
use crate::target::ImportTarget;

pub const READER: &dyn FormatReader = &SubfinderReader;

struct SubfinderReader;

impl FormatReader for SubfinderReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let has_source = head.has_keys(&["source"]) || head.has_keys(&["sources"]);
        head.has_keys(&["host", "input"]) && has_source && !head.has_keys(&["url"])
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        json::each_object(
            input,
            head.is_json_lines(),
            run,
            |name: SubfinderName, run| run.add_or_skip(name.entry()),
        )
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SubfinderName {
    #[serde(deserialize_with = "lenient::text")]
    host: Shared,
    /// The domain.
    #[serde(deserialize_with = "lenient::text")]
    input: Shared,
    #[serde(deserialize_with = "lenient::text")]
    source: Shared,
    /// In place of `source` where all are collected.
    #[serde(deserialize_with = "lenient::texts")]
    sources: Vec<Shared>,
}

impl SubfinderName {
    fn entry(self) -> Result<ImportEntry, &'static str> {
        let domain = ImportTarget::of_host(&self.input).ok_or("name without a domain")?;
        let found = ImportTarget::of_host(&self.host).ok_or("entry without a name")?;
        let mut sources: Vec<&str> = self.sources.iter().map(|source| &**source).collect();
        sources.push(&self.source);
        sources.retain(|source| !source.is_empty());
        let name = found.name;
        // The names differ by their URLs only; nobody has requested these.
        let row = vec![format!("https://{name}/"), sources.join(", ")];
        let mut entry = ImportEntry {
            vuln_id: "subfinder:subdomain".to_owned(),
            title: format!("Subdomain: {name}"),
            description: "A public source names this host of the domain. Nobody has contacted it."
                .to_owned(),
            test: "subfinder".to_owned(),
            evidence: EntryEvidence::table(&["URL", "Sources"], vec![row]),
            target: Some(domain),
            ..ImportEntry::default()
        };
        entry.place.path = name;
        Ok(entry)
    }
}
