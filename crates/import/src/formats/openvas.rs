//! OpenVAS (GVM, Greenbone): the XML report and the CSV of results.

use scandeck_wire::contract::Risk;
use scandeck_wire::contract::verdict::{ProposedVerdict, Verdict};
use scandeck_wire::text::thousands;

use super::FormatReader;
use crate::entry::{CvssRating, EpssRating, ImportEntry};
use crate::evidence::EntryEvidence;
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::run::ImportRun;
use crate::table::{self, ImportRow};
use crate::target::ImportTarget;
use crate::xml::{XmlStep, XmlStream, XmlTree};

pub const READER: &dyn FormatReader = &OpenvasReader;

struct OpenvasReader;

impl FormatReader for OpenvasReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let is_report = head.xml("report").is_some_and(|report| {
            report.has("gmp")
                || report.has("omp")
                || report.has("report_format")
                || report.has("nvt")
        });
        let is_response = head.xml("get_reports_response").is_some();
        is_report || is_response || head.has_columns(&["ip", "nvt name", "nvt oid", "severity"])
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        match head.is_table() {
            true => table::each_row(input, |row| run.add_or_skip(csv_entry(row))),
            false => read_xml(input, run),
        }
    }
}

/// Whether a report has all results of its scan.
#[derive(Default)]
struct OpenvasExtent {
    /// Results that match the filter of the report, also on other pages.
    all: u64,
    /// Results of this page.
    read: u64,
    /// The first result of this page, from 1, and how many it may have.
    first: u64,
    most: Option<u64>,
    status: String,
}

fn read_xml(input: &mut ImportInput<'_>, run: &mut ImportRun<'_>) -> Result<(), ReadFault> {
    let mut xml = XmlStream::new(input);
    let mut extent = OpenvasExtent::default();
    loop {
        match xml.next()? {
            XmlStep::Start(tree) => match tree.name.as_str() {
                "result" => {
                    extent.read += 1;
                    let result = xml.whole(tree)?;
                    run.add_or_skip(xml_entry(&result))?;
                }
                "gmp" | "omp" => run.summary.version = xml.whole(tree)?.at("version").to_owned(),
                "scan_start" => run.summary.started = fields::time(&xml.whole(tree)?.text),
                "scan_end" => run.summary.ended = fields::time(&xml.whole(tree)?.text),
                "results" => {
                    extent.first = tree.get("start").parse().unwrap_or(1);
                    extent.most = tree.get("max").parse().ok();
                }
                "result_count" => {
                    let counted = xml.whole(tree)?.at("filtered").parse();
                    extent.all = counted.unwrap_or(extent.all);
                }
                "scan_run_status" => extent.status = xml.whole(tree)?.text.trim().to_owned(),
                // What the scan could not do, and what it found nothing about.
                "errors" | "report_format" | "task" => drop(xml.whole(tree)?),
                _ => {}
            },
            XmlStep::End(name) if name == "report" => {
                run.summary.damage = run.summary.damage.take().or(extent.gap());
                extent = OpenvasExtent::default();
            }
            XmlStep::End(_) => {}
            XmlStep::Done => return Ok(()),
        }
    }
}

impl OpenvasExtent {
    /// Why results are missing.
    fn gap(&self) -> Option<String> {
        let is_page = self.read == 0 || self.first > 1 || self.most == Some(self.read);
        if is_page && self.read < self.all {
            let (read, all) = (thousands(self.read), thousands(self.all));
            return Some(format!(
                "the report has only {read} of {all} results: export it with the filter rows=-1"
            ));
        }
        let unfinished = ["stopped", "stop requested", "interrupted", "running"];
        let status = self.status.to_lowercase();
        let is_cut = unfinished.iter().any(|word| status.starts_with(word));
        is_cut.then(|| format!("the scan of the report was not finished: {}", self.status))
    }
}

fn xml_entry(result: &XmlTree) -> Result<ImportEntry, &'static str> {
    let nothing = XmlTree::default();
    let nvt = result.child("nvt").unwrap_or(&nothing);
    let oid = nvt.get("oid");
    if oid.is_empty() || oid == "0" {
        return Err("result without an OID");
    }
    let hostname = [result.at("host/hostname"), result.at("host/asset/name")];
    let target = ImportTarget::of_hosts([hostname[0], result.at("host"), hostname[1]]);
    let (port, protocol) = port_and_protocol(result.at("port"));
    let tag = |name: &str| {
        let tags = nvt
            .at("tags")
            .split('|')
            .filter_map(|tag| tag.split_once('='));
        let mut values = tags
            .filter(|(key, _)| *key == name)
            .map(|(_, value)| value.trim());
        values.next().unwrap_or_default()
    };
    let mut cves: Vec<String> = references(nvt, "cve").flat_map(fields::cves).collect();
    cves.extend(fields::cves(nvt.at("cve")));
    let score = fields::number(result.at("severity"));
    let vector = match nvt.at("severities/severity/value") {
        "" => tag("cvss_base_vector"),
        vector => vector,
    };
    let solution = match nvt.at("solution") {
        "" => tag("solution"),
        solution => solution,
    };
    let threat = result.at("threat");
    // Without both, the score of the test.
    let rated = match threat {
        "" => score.or_else(|| fields::number(nvt.at("cvss_base"))),
        _ => score,
    };
    Ok(ImportEntry {
        vuln_id: format!("openvas:{oid}"),
        risk: risk(threat, rated),
        source_risk: paired(threat, result.at("severity")),
        title: [nvt.at("name"), result.at("name")]
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or_default()
            .to_owned(),
        description: fields::paragraphs(&[tag("summary"), tag("insight"), tag("affected")]),
        impact: tag("impact").to_owned(),
        recommendation: solution.to_owned(),
        test: format!("OpenVAS test {oid} ({})", nvt.at("family")),
        evidence: EntryEvidence::text(result.at("description")),
        cves,
        cvss: CvssRating::new(score.filter(|score| *score > 0.0), vector),
        epss: epss(nvt),
        references: references(nvt, "url").flat_map(fields::links).collect(),
        target,
        port,
        protocol: match port {
            Some(_) => protocol.to_owned(),
            None => String::new(),
        },
        tags: vec![nvt.at("family").to_owned()],
        proposed: proposed(threat),
        ..ImportEntry::default()
    })
}

/// Of `443/tcp`, `443/tcp (IANA: https)` or `https (443/tcp)`.
fn port_and_protocol(text: &str) -> (Option<u16>, &str) {
    let (before, after) = text.split_once('/').unwrap_or((text, ""));
    let port = before.rsplit([' ', '(']).next().and_then(fields::port);
    let protocol = after.split([' ', ')']).next().unwrap_or_default();
    (port, protocol)
}

/// The ids of the references of a type, such as `cve`.
fn references<'a>(nvt: &'a XmlTree, kind: &'static str) -> impl Iterator<Item = &'a str> {
    let all = nvt
        .child("refs")
        .into_iter()
        .flat_map(|refs| refs.all("ref"));
    let found = all.filter(move |one| one.get("type").eq_ignore_ascii_case(kind));
    found.map(|one| one.get("id"))
}

fn epss(nvt: &XmlTree) -> Option<EpssRating> {
    let severe = nvt.find("epss/max_severity");
    let epss = severe.or_else(|| nvt.find("epss/max_epss"))?;
    let number = |name: &str| fields::number(epss.at(name));
    EpssRating::new(number("score"), number("percentile"))
}

fn csv_entry(row: &ImportRow<'_>) -> Result<ImportEntry, &'static str> {
    let oid = row.get(&["nvt oid"]);
    let name = row.get(&["nvt name"]);
    if oid.is_empty() && name.is_empty() {
        return Err("row without an OID");
    }
    let port = fields::port(row.get(&["port"]));
    let score = fields::number(row.get(&["cvss"]));
    let threat = row.get(&["severity"]);
    Ok(ImportEntry {
        vuln_id: match oid {
            "" => format!("openvas:{}", fields::slug(name)),
            oid => format!("openvas:{oid}"),
        },
        risk: risk(threat, score),
        source_risk: paired(threat, row.get(&["cvss"])),
        title: name.to_owned(),
        description: fields::paragraphs(&[
            row.get(&["summary"]),
            row.get(&["vulnerability insight"]),
            row.get(&["affected software/os"]),
        ]),
        impact: row.get(&["impact"]).to_owned(),
        recommendation: row.get(&["solution"]).to_owned(),
        test: format!("OpenVAS test {oid}"),
        evidence: EntryEvidence::text(row.get(&["specific result"])),
        cves: fields::cves(row.get(&["cves"])),
        cvss: CvssRating::new(score.filter(|score| *score > 0.0), ""),
        references: fields::links(row.get(&["other references"])),
        target: ImportTarget::of_hosts([row.get(&["hostname"]), row.get(&["ip"])]),
        port,
        protocol: match port {
            Some(_) => row.get(&["port protocol"]).to_owned(),
            None => String::new(),
        },
        proposed: proposed(threat),
        found_at: fields::time(row.get(&["timestamp"])),
        ..ImportEntry::default()
    })
}

fn paired(word: &str, number: &str) -> String {
    match (word, number) {
        (word, "") => word.to_owned(),
        ("", number) => number.to_owned(),
        (word, number) => format!("{word} ({number})"),
    }
}

/// The score decides, because the words have no critical level in all versions; logs and false
/// positives have no risk.
fn risk(threat: &str, score: Option<f64>) -> Risk {
    match (threat, score) {
        ("Log" | "Debug" | "False Positive" | "Error", _) => Risk::Info,
        (_, Some(score)) => fields::risk_of_cvss(score),
        (threat, None) => fields::risk(threat).unwrap_or(Risk::Info),
    }
}

/// Of a result that an override made a false positive.
fn proposed(threat: &str) -> Option<ProposedVerdict> {
    (threat == "False Positive").then(|| ProposedVerdict::new(Verdict::FalsePositive, "override"))
}
