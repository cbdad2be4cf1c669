//! Nessus and Tenable: the CSV exports, whose columns have three sets of names.

use scandeck_wire::contract::Risk;
use scandeck_wire::contract::verdict::{ProposedVerdict, Verdict};

use super::FormatReader;
use crate::compliance::ComplianceCheck;
use crate::entry::{CvssRating, EntryPlace, ImportEntry};
use crate::evidence::EntryEvidence;
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::run::ImportRun;
use crate::table::{self, ImportRow};
use crate::target::{ImportTarget, TargetPlace};

pub const READER: &dyn FormatReader = &NessusCsvReader;

struct NessusCsvReader;

impl FormatReader for NessusCsvReader {
    fn recognises(&self, head: &FileHead) -> bool {
        // People choose the columns of an export of Nessus.
        head.has_columns(&["plugin id", "host", "risk"])
            || head.has_columns(&["plugin", "plugin name", "ip address", "severity"])
            || head.has_columns(&["definition.id", "definition.name", "severity"])
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        _head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        // A result with several CVEs has a row for each, one after the other.
        let mut waiting: Option<ImportEntry> = None;
        table::each_row(input, |row| {
            let entry = match entry(row) {
                Ok(entry) => entry,
                Err(reason) => {
                    run.skip(reason);
                    return Ok(());
                }
            };
            match &mut waiting {
                Some(before) if is_same(before, &entry) => before.cves.extend(entry.cves),
                waiting => {
                    if let Some(before) = waiting.replace(entry) {
                        run.add(before)?;
                    }
                }
            }
            Ok(())
        })?;
        waiting.map_or(Ok(()), |entry| run.add(entry))
    }
}

fn is_same(a: &ImportEntry, b: &ImportEntry) -> bool {
    let place = |entry: &ImportEntry| (entry.target.clone(), entry.port, entry.protocol.clone());
    a.vuln_id == b.vuln_id && place(a) == place(b) && a.evidence == b.evidence && a.cves != b.cves
}

fn entry(row: &ImportRow<'_>) -> Result<ImportEntry, &'static str> {
    let plugin = row.get(&["plugin id", "plugin", "definition.id"]);
    if plugin.is_empty() || !plugin.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("row without a plugin id");
    }
    let description = row.get(&["description", "definition.description"]);
    let check = ComplianceCheck::of_description(description);
    if let Some(reason) = check.as_ref().and_then(ComplianceCheck::refusal) {
        return Err(reason);
    }
    let check = check.map_or("", |check| check.name);
    let names = [
        row.get(&["dns name", "asset.display_fqdn"]),
        row.get(&["host", "ip address", "asset.display_ipv4_address"]),
        row.get(&["asset.display_ipv6_address"]),
        row.get(&["asset.host_name", "asset.name", "netbios name"]),
    ];
    // The web scanner names URLs.
    let url = names.iter().find(|name| name.contains("://"));
    let place = url.and_then(|url| TargetPlace::of_url(url));
    let target = place.as_ref().map(|place| place.target.clone());
    let port = fields::port(row.get(&["port"]));
    let protocol = row.get(&["protocol"]).to_lowercase();
    let is_transport = matches!(protocol.as_str(), "tcp" | "udp");
    let severity = row.get(&["severity", "risk", "risk factor"]);
    let solution = row.get(&["solution", "steps to remediate", "definition.solution"]);
    let family = row.get(&["family", "definition.family"]);
    let rating = cvss(row);
    Ok(ImportEntry {
        vuln_id: format!("nessus:{plugin}"),
        risk: risk(severity, rating.as_ref()),
        source_risk: severity.to_owned(),
        title: match check {
            "" => row
                .get(&["plugin name", "name", "definition.name"])
                .to_owned(),
            check => check.to_owned(),
        },
        description: fields::paragraphs(&[
            row.get(&["synopsis", "definition.synopsis"]),
            description,
        ]),
        recommendation: String::from(if solution == "n/a" { "" } else { solution }),
        test: format!("Nessus plugin {plugin} {family}").trim().to_owned(),
        evidence: EntryEvidence::text(row.get(&["plugin output", "plugin text", "output"])),
        cves: fields::cves(row.get(&["cve", "definition.cve"])),
        cwes: fields::cwes(row.get(&["definition.cwe"])),
        cvss: rating,
        references: fields::links(row.get(&["see also", "definition.see_also"])),
        target: target.or_else(|| ImportTarget::of_hosts(names)),
        port,
        service: match is_transport {
            true => String::new(),
            false => protocol.clone(),
        },
        protocol: match port {
            Some(_) if is_transport => protocol,
            Some(_) => "tcp".to_owned(),
            None => String::new(),
        },
        tags: vec![family.to_owned()],
        proposed: match row.get(&["accept risk comment"]) {
            "" => None,
            comment => Some(ProposedVerdict::new(Verdict::RiskAccepted, comment)),
        },
        place: EntryPlace {
            path: String::new(),
            parameter: check.to_owned(),
        },
        ..ImportEntry::default()
    })
}

/// Checks of audits have their result in place of a severity.
fn risk(severity: &str, rating: Option<&CvssRating>) -> Risk {
    match severity.to_ascii_uppercase().as_str() {
        "FAILED" => Risk::High,
        "WARNING" | "ERROR" => Risk::Medium,
        _ => fields::risk_or_score(severity, rating),
    }
}

/// The rating of version 3, else that of version 2.
fn cvss(row: &ImportRow<'_>) -> Option<CvssRating> {
    let rating = |score: &[&str], vector: &[&str]| {
        CvssRating::new(fields::number(row.get(score)), row.get(vector))
    };
    let current = rating(
        &[
            "cvss v3 base score",
            "cvss v3.0 base score",
            "cvssv3",
            "definition.cvss3.base_score",
        ],
        &[
            "cvss v3 vector",
            "cvss3 vector",
            "definition.cvss3.base_vector",
        ],
    );
    current.or_else(|| {
        rating(
            &[
                "cvss v2 base score",
                "cvss",
                "cvss v2.0 base score",
                "definition.cvss2.base_score",
            ],
            &["cvss v2 vector", "definition.cvss2.base_vector"],
        )
    })
}
