//! Nessus: the `.nessus` file (version 2).

use std::collections::BTreeSet;

use scandeck_wire::contract::Risk;

use super::FormatReader;
use crate::compliance::ComplianceCheck;
use crate::coverage::ImportCoverage;
use crate::entry::{CvssRating, EntryPlace, EpssRating, ImportEntry};
use crate::evidence::EntryEvidence;
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::run::ImportRun;
use crate::target::ImportTarget;
use crate::xml::{XmlStep, XmlStream, XmlTree};

pub const READER: &dyn FormatReader = &NessusReader;

/// The tag of results that need credentials on the host.
pub const LOCAL_CHECK: &str = "local check";

struct NessusReader;

#[derive(Default)]
struct NessusScan {
    plugins: BTreeSet<String>,
    host: NessusHost,
    /// Hosts that were scanned to their end, with and without credentials.
    with_credentials: Vec<ImportTarget>,
    without_credentials: Vec<ImportTarget>,
}

#[derive(Default)]
struct NessusHost {
    target: Option<ImportTarget>,
    is_finished: bool,
    has_credentials: bool,
}

impl FormatReader for NessusReader {
    fn recognises(&self, head: &FileHead) -> bool {
        head.xml("NessusClientData_v2").is_some()
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        _head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        let mut xml = XmlStream::new(input);
        let mut scan = NessusScan::default();
        let mut host_name = String::new();
        loop {
            match xml.next()? {
                XmlStep::Start(tree) => match tree.name.as_str() {
                    "preference" => scan.read_preference(&xml.whole(tree)?, run),
                    "ReportHost" => {
                        host_name = tree.get("name").to_owned();
                        scan.host = NessusHost {
                            target: ImportTarget::of_host(&host_name),
                            ..NessusHost::default()
                        };
                    }
                    "HostProperties" => {
                        let properties = xml.whole(tree)?;
                        scan.host = NessusHost::new(&host_name, &properties, run);
                    }
                    "ReportItem" => {
                        let item = xml.whole(tree)?;
                        run.add_or_skip(entry(&item, &scan.host))?;
                    }
                    _ => {}
                },
                XmlStep::End(name) if name == "ReportHost" => scan.end_host(),
                XmlStep::End(_) => {}
                XmlStep::Done => {
                    scan.finish(run);
                    return Ok(());
                }
            }
        }
    }
}

impl NessusScan {
    fn read_preference(&mut self, preference: &XmlTree, run: &mut ImportRun<'_>) {
        let value = preference.at("value");
        match preference.at("name") {
            "plugin_set" => {
                let ids = value.split(';').map(str::trim);
                let ids = ids.filter(|id| !id.is_empty() && id.bytes().all(|c| c.is_ascii_digit()));
                self.plugins.extend(ids.map(|id| format!("nessus:{id}")));
            }
            "sc_version" | "nessus_version" => run.summary.version = value.to_owned(),
            _ => {}
        }
    }

    fn end_host(&mut self) {
        let host = std::mem::take(&mut self.host);
        let Some(target) = host.target.filter(|_| host.is_finished) else {
            return;
        };
        match host.has_credentials {
            true => self.with_credentials.push(target),
            false => self.without_credentials.push(target),
        }
    }

    /// A file without a list of plugins does not say what was tested.
    fn finish(self, run: &mut ImportRun<'_>) {
        let groups = [
            (self.with_credentials, Vec::new()),
            (self.without_credentials, vec![LOCAL_CHECK]),
        ];
        for (targets, without_tags) in groups {
            if targets.is_empty() || self.plugins.is_empty() {
                continue;
            }
            run.summary.coverage.push(ImportCoverage {
                targets,
                checks: self.plugins.clone(),
                without_tags,
                ..ImportCoverage::default()
            });
        }
    }
}

impl NessusHost {
    fn new(name: &str, properties: &XmlTree, run: &mut ImportRun<'_>) -> Self {
        let tag = |name: &str| {
            let found = properties.all("tag").find(|tag| tag.get("name") == name);
            found.map_or("", |tag| tag.text.trim())
        };
        let started = [tag("HOST_START_TIMESTAMP"), tag("HOST_START")];
        let ended = [tag("HOST_END_TIMESTAMP"), tag("HOST_END")];
        let time = |texts: [&str; 2]| texts.into_iter().find_map(fields::time);
        run.extend_time(time(started));
        run.extend_time(time(ended));
        let names = [
            name,
            tag("host-fqdn"),
            tag("host-rdns"),
            tag("host-ip"),
            tag("netbios-name"),
        ];
        let target = ImportTarget::of_hosts(names);
        if let Some(target) = &target {
            run.target(target);
        }
        let has = |texts: [&str; 2]| texts.iter().any(|text| !text.is_empty());
        let is_finished = has(ended);
        if has(started) && !is_finished {
            run.skip("host was not scanned completely");
            run.uncompleted("nessus:".to_owned());
        }
        Self {
            target,
            is_finished,
            has_credentials: fields::is_true(tag("Credentialed_Scan")),
        }
    }
}

fn entry(item: &XmlTree, host: &NessusHost) -> Result<ImportEntry, &'static str> {
    let plugin = item.get("pluginID");
    if plugin.is_empty() {
        return Err("result without a plugin id");
    }
    let check = compliance(item);
    if let Some(reason) = check.as_ref().and_then(ComplianceCheck::refusal) {
        return Err(reason);
    }
    let check = check.map_or("", |check| check.name);
    let port = fields::port(item.get("port"));
    let rating = |score: &str, vector: &str| {
        CvssRating::new(fields::number(item.at(score)), item.at(vector))
    };
    let cvss = rating("cvss4_base_score", "cvss4_vector")
        .or_else(|| rating("cvss3_base_score", "cvss3_vector"))
        .or_else(|| rating("cvss_base_score", "cvss_vector"));
    let texts = |name: &'static str| item.all(name).map(|tree| tree.text.trim());
    let xrefs: Vec<&str> = texts("xref").collect();
    let mut cwes: Vec<u32> = texts("cwe").flat_map(fields::cwes).collect();
    cwes.extend(
        xrefs
            .iter()
            .filter(|xref| xref.starts_with("CWE"))
            .flat_map(|xref| fields::cwes(xref)),
    );
    let mut tags = vec![item.get("pluginFamily").to_owned()];
    if item.at("plugin_type") == "local" {
        tags.push(LOCAL_CHECK.to_owned());
    }
    let solution = match item.at("compliance-solution") {
        "" => item.at("solution"),
        solution => solution,
    };
    Ok(ImportEntry {
        vuln_id: format!("nessus:{plugin}"),
        risk: risk(item, cvss.as_ref()),
        source_risk: match item.at("risk_factor") {
            "" => item.get("severity").to_owned(),
            word => word.to_owned(),
        },
        title: match check {
            "" => item.get("pluginName").to_owned(),
            check => check.to_owned(),
        },
        description: fields::paragraphs(&[item.at("synopsis"), item.at("description")]),
        recommendation: String::from(if solution == "n/a" { "" } else { solution }),
        test: format!("Nessus plugin {plugin} ({})", item.get("pluginFamily")),
        evidence: EntryEvidence::text(output(item)),
        cves: texts("cve").flat_map(fields::cves).collect(),
        cwes,
        cvss,
        epss: EpssRating::new(fields::number(item.at("epss_score")), None),
        references: texts("see_also").flat_map(fields::links).collect(),
        target: host.target.clone(),
        port,
        protocol: match port {
            Some(_) => item.get("protocol").to_lowercase(),
            None => String::new(),
        },
        service: match item.get("svc_name").trim_end_matches('?') {
            "general" => String::new(),
            name => name.to_owned(),
        },
        tags,
        is_confirmed: fields::is_true(item.at("exploited_by_nessus")),
        is_known_exploited: xrefs
            .iter()
            .any(|xref| xref.starts_with("CISA-KNOWN-EXPLOITED")),
        place: EntryPlace {
            path: String::new(),
            parameter: check.to_owned(),
        },
        ..ImportEntry::default()
    })
}

/// The check of an audit that the result is of.
fn compliance(item: &XmlTree) -> Option<ComplianceCheck<'_>> {
    match item.at("compliance-check-name") {
        "" => ComplianceCheck::of_description(item.at("description")),
        name => Some(ComplianceCheck {
            name,
            result: item.at("compliance-result"),
        }),
    }
}

/// All texts that the plugin wrote, and what a check of an audit compared.
fn output(item: &XmlTree) -> String {
    let compared = [
        ("Policy value", item.at("compliance-policy-value")),
        ("Actual value", item.at("compliance-actual-value")),
    ];
    let compared = compared.into_iter().filter(|(_, value)| !value.is_empty());
    let texts = item.all("plugin_output").map(|output| output.text.clone());
    let texts: Vec<String> = texts
        .chain(compared.map(|(name, value)| format!("{name}: {value}")))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    fields::paragraphs(&texts)
}

/// The severity that Nessus shows, after its users changed it; without one, that of the plugin.
fn risk(item: &XmlTree, cvss: Option<&CvssRating>) -> Risk {
    match item.get("severity") {
        "4" => Risk::Critical,
        "3" => Risk::High,
        "2" => Risk::Medium,
        "1" => Risk::Low,
        "0" => Risk::Info,
        _ => fields::risk_or_score(item.at("risk_factor"), cvss),
    }
}
