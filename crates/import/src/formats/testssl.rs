//! testssl.sh: flat JSON, pretty JSON and CSV.
//!
//! Every test is a row. Rows that are `OK` are passed tests, rows that are `INFO` describe the
//! server; both state what was tested.

use std::collections::{BTreeMap, HashMap};

use scandeck_wire::contract::{Risk, Shared, lenient};
use serde::Deserialize;

use super::FormatReader;
use crate::coverage::{ImportCoverage, TestedPorts};
use crate::entry::ImportEntry;
use crate::evidence::EntryEvidence;
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json::{self, JsonReader, JsonStep};
use crate::run::ImportRun;
use crate::table;
use crate::target::ImportTarget;

pub const READER: &dyn FormatReader = &TestsslReader;

struct TestsslReader;

impl FormatReader for TestsslReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let is_flat = ["id", "fqdn/ip", "severity", "finding"];
        let is_old_flat = ["id", "ip", "port", "severity", "finding"];
        let is_pretty =
            head.has_keys(&["Invocation", "scanResult"]) || head.has_keys(&["clientProblem1"]);
        head.has_columns(&is_flat) || head.has_keys(&is_old_flat) || is_pretty
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        let mut scan = TestsslScan::default();
        if head.is_table() {
            table::each_row(input, |row| {
                let cell = |name: &str| Shared::from(row.get(&[name]));
                let test = TestsslRow {
                    id: cell("id"),
                    place: cell("fqdn/ip"),
                    port: cell("port"),
                    severity: cell("severity"),
                    finding: cell("finding"),
                    cve: cell("cve"),
                    cwe: cell("cwe"),
                };
                scan.read(&test, run)
            })?;
        } else {
            let mut reader = TestsslJson {
                run,
                scan: &mut scan,
                server: TestsslAddress::default(),
                problem: TestsslRow::default(),
            };
            json::walk(input, &mut reader)?;
        }
        scan.finish(run);
        Ok(())
    }
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct TestsslRow {
    #[serde(deserialize_with = "lenient::text")]
    id: Shared,
    /// `shop.test/192.0.2.1`.
    #[serde(rename = "ip", alias = "fqdn/ip", deserialize_with = "lenient::text")]
    place: Shared,
    #[serde(deserialize_with = "lenient::text")]
    port: Shared,
    #[serde(deserialize_with = "lenient::text")]
    severity: Shared,
    #[serde(deserialize_with = "lenient::text")]
    finding: Shared,
    #[serde(deserialize_with = "lenient::text")]
    cve: Shared,
    #[serde(deserialize_with = "lenient::text")]
    cwe: Shared,
}

struct TestsslJson<'a, 'b> {
    run: &'a mut ImportRun<'b>,
    scan: &'a mut TestsslScan,
    /// Of the pretty form: the server of the next tests.
    server: TestsslAddress,
    /// Of the pretty form: the row in place of a server, if the server was not tested.
    problem: TestsslRow,
}

#[derive(Default)]
struct TestsslAddress {
    name: String,
    ip: String,
    port: String,
}

impl JsonReader for TestsslJson<'_, '_> {
    fn step(&self, path: &str) -> JsonStep {
        match path {
            "*" | "version" | "startTime" => JsonStep::Take,
            "scanResult" | "scanResult/*" => JsonStep::Walk,
            "scanResult/*/targetHost" | "scanResult/*/ip" | "scanResult/*/port" => JsonStep::Take,
            "scanResult/*/id" | "scanResult/*/severity" | "scanResult/*/finding" => JsonStep::Take,
            path if path.starts_with("scanResult/*/") && path.ends_with("/*") => JsonStep::Take,
            path if path.starts_with("scanResult/*/") => JsonStep::Walk,
            _ => JsonStep::Skip,
        }
    }

    fn first(&self, path: &str) -> &'static [&'static str] {
        match path {
            "scanResult/*" => &["targetHost", "ip", "port"],
            _ => &[],
        }
    }

    fn leave(&mut self, path: &str) -> Result<(), ReadFault> {
        if path != "scanResult/*" {
            return Ok(());
        }
        let server = std::mem::take(&mut self.server);
        let mut problem = std::mem::take(&mut self.problem);
        if problem.severity.is_empty() {
            return Ok(());
        }
        problem.place = format!("{}/{}", server.name, server.ip).into();
        problem.port = server.port.into();
        self.scan.read(&problem, self.run)
    }

    fn take(&mut self, path: &str, raw: &str) -> Result<(), ReadFault> {
        match path {
            "version" => {
                let version = json::scalar(raw);
                self.run.summary.version = version
                    .split_whitespace()
                    .next()
                    .unwrap_or_default()
                    .to_owned();
            }
            "startTime" => self.run.summary.started = fields::time(&json::scalar(raw)),
            "scanResult/*/targetHost" => self.server.name = json::scalar(raw),
            "scanResult/*/ip" => self.server.ip = json::scalar(raw),
            "scanResult/*/port" => self.server.port = json::scalar(raw),
            "scanResult/*/id" => self.problem.id = json::scalar(raw).into(),
            "scanResult/*/severity" => self.problem.severity = json::scalar(raw).into(),
            "scanResult/*/finding" => self.problem.finding = json::scalar(raw).into(),
            path => match json::object::<TestsslRow>(raw) {
                Ok(mut row) => {
                    if path != "*" {
                        let server = &self.server;
                        row.place = format!("{}/{}", server.name, server.ip).into();
                        row.port = server.port.as_str().into();
                    }
                    return self.scan.read(&row, self.run);
                }
                Err(_) => self.run.skip(json::OTHER_SHAPE),
            },
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TestsslServer {
    target: String,
    port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct TestsslKey {
    target: String,
    port: u16,
    id: String,
}

#[derive(Default)]
struct TestsslScan {
    servers: BTreeMap<TestsslServer, ImportCoverage>,
    /// The first result of each test: a name with several addresses is tested at each.
    seen: HashMap<TestsslKey, Shared>,
}

impl TestsslScan {
    fn read(&mut self, row: &TestsslRow, run: &mut ImportRun<'_>) -> Result<(), ReadFault> {
        let id = row.id.trim();
        if id == "scanTime" {
            return Ok(());
        }
        let severity = row.severity.trim().to_ascii_uppercase();
        if id.is_empty() || severity.is_empty() {
            run.skip("row without an id or a severity");
            return Ok(());
        }
        let (name, address) = row.place.split_once('/').unwrap_or((&row.place, ""));
        let target = ImportTarget::of_hosts([name, address]);
        if let Some(target) = &target {
            run.target(target);
        }
        if severity == "FATAL" {
            run.skip("server was not tested (FATAL)");
            // Of every class.
            run.uncompleted("testssl:".to_owned());
            return Ok(());
        }
        let Some(target) = target else {
            run.skip("row without a host");
            return Ok(());
        };
        let port = fields::port(&row.port).unwrap_or(443);
        let (id, certificate) = id.split_once(" <").unwrap_or((id, ""));
        let vuln_id = format!("testssl:{}", id.trim());
        match severity.as_str() {
            "WARN" => {
                run.skip("test was not completed (WARN)");
                run.uncompleted(vuln_id);
                return Ok(());
            }
            "DEBUG" => {
                run.skip("debug output");
                return Ok(());
            }
            _ => self.cover(&target, port, &vuln_id),
        }
        if severity == "OK" {
            run.skip("test passed (OK)");
            return Ok(());
        }
        let key = TestsslKey {
            target: target.name.clone(),
            port,
            id: row.id.to_string(),
        };
        let mut parameter = certificate.trim_end_matches('>').to_owned();
        match self.seen.get(&key) {
            Some(finding) if *finding == row.finding => {
                run.skip("same result at another address of the host");
                return Ok(());
            }
            Some(_) => parameter = format!("{parameter} {address}").trim().to_owned(),
            None => drop(self.seen.insert(key, row.finding.clone())),
        }
        let mut entry = ImportEntry {
            risk: fields::risk(&severity).unwrap_or(Risk::Info),
            title: format!("{id}: {}", row.finding.trim()),
            test: format!("testssl.sh test {id}"),
            evidence: EntryEvidence::table(
                &["Test", "Result"],
                vec![vec![id.to_owned(), row.finding.to_string()]],
            ),
            cves: fields::cves(&row.cve),
            cwes: fields::cwes(&row.cwe),
            target: Some(target),
            port: Some(port),
            protocol: "tcp".to_owned(),
            source_risk: severity,
            vuln_id,
            ..ImportEntry::default()
        };
        // A server may have several certificates, and another result at another address.
        entry.place.parameter = parameter;
        run.add(entry)
    }

    fn cover(&mut self, target: &ImportTarget, port: u16, vuln_id: &str) {
        let server = TestsslServer {
            target: target.name.clone(),
            port,
        };
        let coverage = self
            .servers
            .entry(server)
            .or_insert_with(|| ImportCoverage {
                targets: vec![target.clone()],
                ports: vec![TestedPorts {
                    protocol: "tcp".to_owned(),
                    first: port,
                    last: port,
                }],
                ..ImportCoverage::default()
            });
        coverage.checks.insert(vuln_id.to_owned());
        // A cipher that is no longer offered has no row.
        let lists_ciphers = vuln_id.starts_with("testssl:supportedciphers_");
        if lists_ciphers && coverage.prefixes.is_empty() {
            coverage.prefixes.push("testssl:cipher-");
        }
    }

    fn finish(self, run: &mut ImportRun<'_>) {
        run.summary.coverage.extend(self.servers.into_values());
    }
}
