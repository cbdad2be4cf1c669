//! nikto: the JSON and XML reports.

use scandeck_wire::contract::{Risk, Shared, lenient};
use serde::Deserialize;

use super::FormatReader;
use crate::entry::{EntryPlace, ImportEntry};
use crate::evidence::{EntryEvidence, EvidenceItem};
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json::{self, JsonReader, JsonStep};
use crate::run::ImportRun;
use crate::target::{ImportTarget, TargetPlace};
use crate::xml::{XmlStep, XmlStream};

pub const READER: &dyn FormatReader = &NiktoReader;

struct NiktoReader;

impl FormatReader for NiktoReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let is_json = head.has_keys(&["host", "port", "vulnerabilities"]);
        is_json || head.xml("niktoscan").is_some() || head.xml("niktoscans").is_some()
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        match head.is_xml() {
            true => read_xml(input, run),
            false => {
                let mut reader = NiktoJson {
                    run,
                    host: NiktoHost::default(),
                };
                json::walk(input, &mut reader)
            }
        }
    }
}

#[derive(Clone, Default)]
struct NiktoHost {
    host: String,
    ip: String,
    port: String,
    /// Of XML: the address with its scheme.
    site: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NiktoItem {
    #[serde(deserialize_with = "lenient::text")]
    id: Shared,
    #[serde(deserialize_with = "lenient::text")]
    method: Shared,
    #[serde(deserialize_with = "lenient::text")]
    url: Shared,
    #[serde(deserialize_with = "lenient::text")]
    msg: Shared,
    #[serde(deserialize_with = "lenient::text")]
    references: Shared,
}

struct NiktoJson<'a, 'b> {
    run: &'a mut ImportRun<'b>,
    host: NiktoHost,
}

impl JsonReader for NiktoJson<'_, '_> {
    fn step(&self, path: &str) -> JsonStep {
        match path.strip_prefix("*/").unwrap_or(path) {
            "*" => JsonStep::Walk,
            "vulnerabilities" => JsonStep::List,
            "vulnerabilities/*" | "host" | "ip" | "port" => JsonStep::Take,
            _ => JsonStep::Skip,
        }
    }

    fn first(&self, path: &str) -> &'static [&'static str] {
        match path {
            "" | "*" => &["host", "ip", "port"],
            _ => &[],
        }
    }

    fn take(&mut self, path: &str, raw: &str) -> Result<(), ReadFault> {
        match path.strip_prefix("*/").unwrap_or(path) {
            "host" => self.host.host = json::scalar(raw),
            "ip" => self.host.ip = json::scalar(raw),
            "port" => self.host.port = json::scalar(raw),
            _ => match json::object::<NiktoItem>(raw) {
                Ok(item) => return self.run.add_or_skip(entry(&item, &self.host)),
                Err(_) => self.run.skip(json::OTHER_SHAPE),
            },
        }
        Ok(())
    }

    fn leave(&mut self, path: &str) -> Result<(), ReadFault> {
        if path == "*" {
            self.host = NiktoHost::default();
        }
        Ok(())
    }
}

fn read_xml(input: &mut ImportInput<'_>, run: &mut ImportRun<'_>) -> Result<(), ReadFault> {
    let mut xml = XmlStream::new(input);
    let mut host = NiktoHost::default();
    loop {
        match xml.next()? {
            XmlStep::Start(tree) => match tree.name.as_str() {
                "niktoscan" if !tree.get("version").is_empty() => {
                    run.summary.version = tree.get("version").to_owned();
                }
                "scandetails" => {
                    run.extend_time(fields::time(tree.get("starttime")));
                    host = NiktoHost {
                        host: tree.get("targethostname").to_owned(),
                        ip: tree.get("targetip").to_owned(),
                        port: tree.get("targetport").to_owned(),
                        site: tree.get("sitename").to_owned(),
                    };
                }
                "statistics" => run.extend_time(fields::time(tree.get("endtime"))),
                "item" => {
                    let item = xml.whole(tree)?;
                    let item = NiktoItem {
                        id: item.get("id").into(),
                        method: item.get("method").into(),
                        url: item.at("uri").into(),
                        msg: item.at("description").into(),
                        references: item.at("references").into(),
                    };
                    run.add_or_skip(entry(&item, &host))?;
                }
                _ => {}
            },
            XmlStep::End(_) => {}
            XmlStep::Done => return Ok(()),
        }
    }
}

fn entry(item: &NiktoItem, host: &NiktoHost) -> Result<ImportEntry, &'static str> {
    if item.msg.trim().is_empty() {
        return Err("item without a text");
    }
    let port = fields::port(&host.port);
    let name = match host.host.is_empty() {
        true => &host.ip,
        false => &host.host,
    };
    let scheme = match port {
        Some(443 | 8443) => "https",
        _ => "http",
    };
    let shown_port = port.map(|port| format!(":{port}")).unwrap_or_default();
    // JSON does not name the scheme.
    let site = TargetPlace::of_url(&host.site);
    let place = site.or_else(|| TargetPlace::of_url(&format!("{scheme}://{name}{shown_port}/")));
    let mut place = place.ok_or("item without a host")?;
    let message = fields::plain(&item.msg);
    let parameter = quoted(&message);
    let url = format!("{}{}", place.target.name, item.url);
    let address = ImportTarget::of_host(&host.ip).map(|address| address.name);
    place.target.others.extend(address);
    let path = item.url.split(['?', '#']).next().unwrap_or_default();
    Ok(ImportEntry {
        vuln_id: match item.id.is_empty() {
            true => format!("nikto:{}", fields::slug(&message)),
            false => format!("nikto:{}", item.id),
        },
        risk: Risk::Low,
        title: message.clone(),
        description: message.clone(),
        test: format!("nikto test {}", item.id),
        cves: fields::cves(&message),
        references: fields::links(&item.references),
        evidence: EntryEvidence::Items(vec![EvidenceItem {
            url,
            method: item.method.to_string(),
            matched: message,
            ..EvidenceItem::default()
        }]),
        place: EntryPlace {
            path: path.to_owned(),
            parameter,
        },
        ..ImportEntry::at(place)
    })
}

/// The name of a header or file in `header 'x-cache' found`: one test reports several.
fn quoted(message: &str) -> String {
    let mut parts = message.split('\'');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(before), Some(name), Some(_)) if before.to_lowercase().contains("header") => {
            name.to_owned()
        }
        _ => String::new(),
    }
}
