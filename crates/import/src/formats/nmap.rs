//! nmap: the XML report with the results of scripts.
//!
//! An open port is a finding; a script that found a weakness is one too. The output of other
//! scripts is evidence of the port.

use std::collections::BTreeSet;

use scandeck_wire::contract::Risk;

use super::FormatReader;
use crate::coverage::{ImportCoverage, TestedPorts, port_ranges};
use crate::entry::{CvssRating, ImportEntry};
use crate::evidence::EntryEvidence;
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::run::ImportRun;
use crate::target::ImportTarget;
use crate::xml::{XmlStep, XmlStream, XmlTree};

pub const READER: &dyn FormatReader = &NmapReader;

const OPEN_PORT: &str = "nmap:open-port";
/// CVEs that the script `vulners` lists for the version of a service.
const OF_VERSION: &str = "nmap:CVE-";
const FAILED: &str = "nmap ended with an error before its scan was complete";

struct NmapReader;

#[derive(Default)]
struct NmapStatement {
    ports: Vec<TestedPorts>,
    up: Vec<ImportTarget>,
    is_finished: bool,
    coverage: Vec<ImportCoverage>,
}

#[derive(Default)]
struct NmapHost {
    names: Vec<String>,
    addresses: Vec<String>,
    is_up: bool,
}

/// Where a script ran.
struct ScriptPlace<'a> {
    host: &'a ImportTarget,
    port: Option<u16>,
    protocol: &'a str,
    service: &'a str,
}

impl FormatReader for NmapReader {
    fn recognises(&self, head: &FileHead) -> bool {
        // masscan writes the same root.
        head.xml("nmaprun")
            .is_some_and(|run| run.get("scanner") != "masscan")
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        _head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        let mut xml = XmlStream::new(input);
        let mut scan = NmapStatement::default();
        let mut host = NmapHost::default();
        loop {
            match xml.next()? {
                XmlStep::Start(tree) => match tree.name.as_str() {
                    "nmaprun" => {
                        run.summary.version = tree.get("version").to_owned();
                        run.summary.started = fields::time(tree.get("start"));
                    }
                    "scaninfo" => {
                        scan.ports
                            .extend(port_ranges(tree.get("protocol"), tree.get("services")));
                    }
                    "finished" => {
                        run.summary.ended = fields::time(tree.get("time"));
                        scan.is_finished = tree.get("exit") != "error";
                        if !scan.is_finished {
                            run.summary.damage = Some(FAILED.to_owned());
                        }
                    }
                    "host" => host = NmapHost::default(),
                    "status" => host.is_up = tree.get("state") == "up",
                    "address" if tree.get("addrtype") != "mac" => {
                        host.addresses.push(tree.get("addr").to_owned());
                    }
                    "hostname" => {
                        let name = tree.get("name").to_owned();
                        // The name that the user gave comes before that of the address.
                        match tree.get("type") {
                            "user" => host.names.insert(0, name),
                            _ => host.names.push(name),
                        }
                    }
                    "port" => {
                        let port = xml.whole(tree)?;
                        read_port(&port, &host, &mut scan, run)?;
                    }
                    "hostscript" => {
                        let scripts = xml.whole(tree)?;
                        let Some(target) = host.target() else {
                            continue;
                        };
                        let place = ScriptPlace {
                            host: &target,
                            port: None,
                            protocol: "",
                            service: "",
                        };
                        for script in scripts.all("script") {
                            read_script(script, &place, &mut scan, run)?;
                        }
                    }
                    // Routers on the way are no targets.
                    "trace" => drop(xml.whole(tree)?),
                    _ => {}
                },
                XmlStep::End(name) if name == "host" => {
                    let target = host.target().filter(|_| host.is_up);
                    if let Some(target) = target {
                        run.target(&target);
                        scan.up.push(target);
                    }
                }
                XmlStep::End(_) => {}
                XmlStep::Done => {
                    scan.finish(run);
                    return Ok(());
                }
            }
        }
    }
}

impl NmapHost {
    fn target(&self) -> Option<ImportTarget> {
        let names = self.names.iter().chain(&self.addresses);
        ImportTarget::of_hosts(names.map(String::as_str))
    }
}

impl NmapStatement {
    /// A scan that was interrupted states nothing.
    fn finish(self, run: &mut ImportRun<'_>) {
        if !self.is_finished {
            return;
        }
        if !self.ports.is_empty() && !self.up.is_empty() {
            run.summary.coverage.push(ImportCoverage {
                targets: self.up,
                ports: self.ports,
                checks: BTreeSet::from([OPEN_PORT.to_owned()]),
                ..ImportCoverage::default()
            });
        }
        run.summary.coverage.extend(self.coverage);
    }

    /// A script stated its result for one port.
    fn cover(&mut self, place: &ScriptPlace<'_>, checks: &[&str], prefixes: &[&'static str]) {
        let ports = place.port.map(|port| TestedPorts {
            protocol: place.protocol.to_owned(),
            first: port,
            last: port,
        });
        self.coverage.push(ImportCoverage {
            targets: vec![place.host.clone()],
            ports: ports.into_iter().collect(),
            checks: checks.iter().map(|check| (*check).to_owned()).collect(),
            prefixes: prefixes.to_vec(),
            ..ImportCoverage::default()
        });
    }
}

fn read_port(
    port: &XmlTree,
    host: &NmapHost,
    scan: &mut NmapStatement,
    run: &mut ImportRun<'_>,
) -> Result<(), ReadFault> {
    let Some(target) = host.target() else {
        run.skip("port of a host without an address");
        return Ok(());
    };
    let Ok(number) = port.get("portid").parse::<u16>() else {
        run.skip("port without a number");
        return Ok(());
    };
    let state = port.child("state").map_or("", |state| state.get("state"));
    match state {
        "open" => {}
        "open|filtered" => {
            run.skip("port is open or filtered: nothing answered");
            return Ok(());
        }
        // What is closed was tested, and is no result.
        _ => return Ok(()),
    }
    let nothing = XmlTree::default();
    let service = port.child("service").unwrap_or(&nothing);
    let name = match service.get("tunnel") {
        "ssl" if service.get("name") == "http" => "https",
        _ => service.get("name"),
    };
    let protocol = port.get("protocol");
    let place = ScriptPlace {
        host: &target,
        port: Some(number),
        protocol,
        service: name,
    };
    run.add(open_port(port, service, &place))?;
    for script in port.all("script") {
        read_script(script, &place, scan, run)?;
    }
    Ok(())
}

fn open_port(port: &XmlTree, service: &XmlTree, place: &ScriptPlace<'_>) -> ImportEntry {
    let product = [service.get("product"), service.get("version")];
    let product = product.join(" ").trim().to_owned();
    let cpes: Vec<&str> = service.all("cpe").map(|cpe| cpe.text.trim()).collect();
    let state = port.child("state").map_or("", |state| state.get("reason"));
    let rows = [
        ("Service", place.service.to_owned()),
        ("Product", product),
        ("Information", service.get("extrainfo").to_owned()),
        ("CPE", cpes.join(" ")),
        ("Reason", state.to_owned()),
    ];
    let mut rows: Vec<Vec<String>> = rows
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| vec![name.to_owned(), value])
        .collect();
    let scripts = port.all("script").filter(|script| !is_finding(script));
    rows.extend(scripts.map(|script| {
        let output = script.get("output").trim().to_owned();
        vec![format!("Script {}", script.get("id")), output]
    }));
    let port_name = match place.service {
        "" => String::new(),
        name => format!(" ({name})"),
    };
    let number = place.port.unwrap_or_default();
    ImportEntry {
        vuln_id: OPEN_PORT.to_owned(),
        risk: Risk::Info,
        source_risk: "open".to_owned(),
        title: format!("Open port {number}/{}{port_name}", place.protocol),
        description: "The port accepts connections.".to_owned(),
        test: "nmap port scan".to_owned(),
        evidence: EntryEvidence::table(&["Detail", "Value"], rows),
        ..at_place(place)
    }
}

fn at_place(place: &ScriptPlace<'_>) -> ImportEntry {
    ImportEntry {
        target: Some(place.host.clone()),
        port: place.port,
        protocol: place.protocol.to_owned(),
        service: place.service.to_owned(),
        ..ImportEntry::default()
    }
}

/// Whether the script states weaknesses, so that its output is not evidence of the port.
fn is_finding(script: &XmlTree) -> bool {
    script.get("id") == "vulners"
        || script
            .all("table")
            .any(|table| !value(table, "state").is_empty())
}

/// The element with a key.
fn value<'a>(table: &'a XmlTree, key: &str) -> &'a str {
    let found = table.all("elem").find(|elem| elem.get("key") == key);
    found.map_or("", |elem| elem.text.trim())
}

fn read_script(
    script: &XmlTree,
    place: &ScriptPlace<'_>,
    scan: &mut NmapStatement,
    run: &mut ImportRun<'_>,
) -> Result<(), ReadFault> {
    if script.get("id") == "vulners" {
        scan.cover(place, &[], &[OF_VERSION]);
        for software in script.all("table") {
            for row in software.all("table") {
                match value(row, "type") {
                    "cve" => run.add(vulners_entry(software.get("key"), row, place))?,
                    _ => run.skip("vulners: an exploit or advisory without a CVE of its own"),
                }
            }
        }
        return Ok(());
    }
    for table in script.all("table") {
        let state = value(table, "state");
        let id = format!("nmap:{}", script.get("id"));
        match state {
            "" => {}
            state if state.contains("NOT VULNERABLE") => scan.cover(place, &[&id], &[]),
            _ => {
                scan.cover(place, &[&id], &[]);
                run.add(script_entry(&id, script, table, place))?;
            }
        }
    }
    Ok(())
}

fn vulners_entry(software: &str, row: &XmlTree, place: &ScriptPlace<'_>) -> ImportEntry {
    let id = value(row, "id");
    let score = fields::number(value(row, "cvss"));
    let is_exploited = value(row, "is_exploit") == "true";
    ImportEntry {
        vuln_id: format!("nmap:{id}"),
        risk: fields::risk_of_cvss(score.unwrap_or_default()),
        source_risk: value(row, "cvss").to_owned(),
        title: format!("{id} may affect {software}"),
        description: format!(
            "The version that the service states is listed for {id}. The weakness itself was not tested."
        ),
        test: "nmap script vulners".to_owned(),
        evidence: EntryEvidence::table(
            &["Detail", "Value"],
            vec![vec!["CPE".to_owned(), software.to_owned()]],
        ),
        cves: fields::cves(id),
        cvss: CvssRating::new(score, ""),
        references: vec![format!("https://vulners.com/cve/{id}")],
        tags: is_exploited
            .then(|| "exploit".to_owned())
            .into_iter()
            .collect(),
        ..at_place(place)
    }
}

fn script_entry(
    id: &str,
    script: &XmlTree,
    table: &XmlTree,
    place: &ScriptPlace<'_>,
) -> ImportEntry {
    let state = value(table, "state");
    let lists = |key: &'static str| {
        let found = table
            .all("table")
            .filter(move |list| list.get("key") == key);
        found
            .flat_map(|list| list.all("elem"))
            .map(|elem| elem.text.trim())
    };
    let output = script.get("output");
    let cves = lists("ids").flat_map(fields::cves).collect();
    let score = lists("scores").find_map(fields::number);
    let risk = fields::risk(value(table, "risk_factor")).or(score.map(fields::risk_of_cvss));
    let default = match state.contains("LIKELY") {
        true => Risk::Medium,
        false => Risk::High,
    };
    ImportEntry {
        vuln_id: id.to_owned(),
        risk: risk.unwrap_or(default),
        source_risk: state.to_owned(),
        title: value(table, "title").to_owned(),
        description: lists("description").collect::<Vec<_>>().join("\n"),
        test: format!("nmap script {}", script.get("id")),
        evidence: EntryEvidence::text(output.trim()),
        cves,
        cvss: CvssRating::new(score, ""),
        references: lists("refs").flat_map(fields::links).collect(),
        is_confirmed: state.contains("Exploitable"),
        ..at_place(place)
    }
}
