//! httpx: JSON lines and JSON. Each page that answered is information about its website.

use scandeck_wire::contract::{Shared, lenient};
use serde::Deserialize;

use super::FormatReader;
use crate::entry::ImportEntry;
use crate::evidence::{EntryEvidence, EvidenceItem};
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json;
use crate::run::ImportRun;
use crate::target::{ImportTarget, TargetPlace};

pub const READER: &dyn FormatReader = &HttpxReader;

struct HttpxReader;

impl FormatReader for HttpxReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let has_status = head.has_keys(&["status_code"]) || head.has_keys(&["status-code"]);
        head.has_keys(&["url", "input"]) && (has_status || head.has_keys(&["failed"]))
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        json::each_object(input, head.is_json_lines(), run, |page: HttpxPage, run| {
            run.extend_time(fields::time(&page.timestamp));
            run.add_or_skip(page.entry())
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HttpxPage {
    #[serde(deserialize_with = "lenient::text")]
    url: Shared,
    #[serde(deserialize_with = "lenient::text")]
    title: Shared,
    #[serde(deserialize_with = "lenient::text")]
    method: Shared,
    #[serde(deserialize_with = "lenient::text")]
    webserver: Shared,
    #[serde(alias = "technologies", deserialize_with = "lenient::texts")]
    tech: Vec<Shared>,
    #[serde(alias = "status-code", deserialize_with = "lenient::integer")]
    status_code: i64,
    #[serde(alias = "content-type", deserialize_with = "lenient::text")]
    content_type: Shared,
    #[serde(deserialize_with = "lenient::text")]
    location: Shared,
    #[serde(deserialize_with = "lenient::text")]
    host: Shared,
    #[serde(deserialize_with = "lenient::text")]
    request: Shared,
    #[serde(alias = "raw_header", deserialize_with = "lenient::text")]
    response: Shared,
    #[serde(deserialize_with = "lenient::boolean")]
    failed: bool,
    #[serde(deserialize_with = "lenient::text")]
    timestamp: Shared,
}

impl HttpxPage {
    fn entry(self) -> Result<ImportEntry, &'static str> {
        if self.failed {
            return Err("host did not answer");
        }
        let mut place = TargetPlace::of_url(&self.url).ok_or("page without a URL")?;
        let details = [
            ("Status", self.status_code.to_string()),
            ("Title", self.title.to_string()),
            ("Server", self.webserver.to_string()),
            ("Content type", self.content_type.to_string()),
            ("Location", self.location.to_string()),
            ("Technologies", self.tech.join(", ")),
        ];
        let details = details.into_iter().filter(|(_, value)| !value.is_empty());
        let details: Vec<String> = details
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let address = ImportTarget::of_host(&self.host).map(|host| host.name);
        let shown = format!("{}://", place.scheme);
        let host = place
            .target
            .name
            .strip_prefix(&shown)
            .unwrap_or_default()
            .to_owned();
        let others = &mut place.target.others;
        others.extend(address.filter(|address| !host.starts_with(address.as_str())));
        Ok(ImportEntry {
            vuln_id: "httpx:page".to_owned(),
            source_risk: self.status_code.to_string(),
            title: format!(
                "Page answers with status {}: {}",
                self.status_code, place.path
            ),
            description: "The website answers at this address.".to_owned(),
            test: "httpx".to_owned(),
            evidence: EntryEvidence::Items(vec![EvidenceItem {
                url: self.url.to_string(),
                method: self.method.to_string(),
                details: details.join("\n"),
                request: self.request.to_string(),
                response: self.response.to_string(),
                ..EvidenceItem::default()
            }]),
            tags: self.tech.iter().map(Shared::to_string).collect(),
            found_at: fields::time(&self.timestamp),
            ..ImportEntry::at(place)
        })
    }
}
