//! sslyze: JSON of versions 3 to 6. The tool states facts; the weaknesses among them are entries.

use std::collections::BTreeMap;

use scandeck_wire::contract::{Shared, lenient};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::FormatReader;
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json::{self, JsonReader, JsonStep};
use crate::run::ImportRun;
use crate::target::ImportTarget;
use crate::tls::{self, TestedServer};

pub const READER: &dyn FormatReader = &SslyzeReader;

/// The beginning of all classes.
const EVERY_CLASS: &str = "sslyze:";

/// Commands whose result is a list of cipher suites: the protocol and its weakness, if any.
const PROTOCOLS: [(&str, &str, &str); 6] = [
    ("ssl_2_0_cipher_suites", "SSL 2.0", "ssl-2.0"),
    ("ssl_3_0_cipher_suites", "SSL 3.0", "ssl-3.0"),
    ("tls_1_0_cipher_suites", "TLS 1.0", "tls-1.0"),
    ("tls_1_1_cipher_suites", "TLS 1.1", "tls-1.1"),
    ("tls_1_2_cipher_suites", "TLS 1.2", ""),
    ("tls_1_3_cipher_suites", "TLS 1.3", ""),
];

struct SslyzeReader;

impl FormatReader for SslyzeReader {
    fn recognises(&self, head: &FileHead) -> bool {
        head.has_keys(&["server_scan_results"])
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        _head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        json::walk(input, &mut SslyzeJson { run })
    }
}

struct SslyzeJson<'a, 'b> {
    run: &'a mut ImportRun<'b>,
}

impl JsonReader for SslyzeJson<'_, '_> {
    fn step(&self, path: &str) -> JsonStep {
        match path {
            "server_scan_results" => JsonStep::Walk,
            "server_scan_results/*" | "sslyze_version" => JsonStep::Take,
            "date_scans_started" | "date_scans_completed" => JsonStep::Take,
            _ => JsonStep::Skip,
        }
    }

    fn take(&mut self, path: &str, raw: &str) -> Result<(), ReadFault> {
        match path {
            "sslyze_version" => self.run.summary.version = json::scalar(raw),
            "date_scans_started" => self.run.summary.started = fields::time(&json::scalar(raw)),
            "date_scans_completed" => self.run.summary.ended = fields::time(&json::scalar(raw)),
            _ => match json::object::<SslyzeResult>(raw) {
                Ok(server) => return read_server(&server, self.run),
                Err(_) => self.run.skip(json::OTHER_SHAPE),
            },
        }
        Ok(())
    }
}

/// The keys of certificates are numbers that are longer than any type, so their parts are read
/// only where they are needed.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SslyzeResult {
    server_location: Value,
    server_info: SslyzeInfo,
    /// Since version 5.
    scan_result: Option<BTreeMap<String, Box<RawValue>>>,
    scan_commands_results: Option<BTreeMap<String, Box<RawValue>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SslyzeInfo {
    server_location: Value,
}

/// Since version 5, a result has a status.
#[derive(Deserialize)]
struct SslyzeStatus<'a> {
    #[serde(default)]
    status: Option<String>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SslyzeCertificates {
    certificate_deployments: Vec<SslyzeDeployment>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SslyzeDeployment {
    leaf_certificate_subject_matches_hostname: Option<bool>,
    verified_chain_has_sha1_signature: Option<bool>,
    received_chain_has_valid_order: Option<bool>,
    received_certificate_chain: Vec<SslyzeCertificate>,
    path_validation_results: Vec<SslyzeValidation>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SslyzeCertificate {
    subject: SslyzeSubject,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SslyzeSubject {
    #[serde(deserialize_with = "lenient::text")]
    rfc4514_string: Shared,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SslyzeValidation {
    verified_certificate_chain: Option<Vec<IgnoredAny>>,
    #[serde(alias = "validation_error", deserialize_with = "lenient::text")]
    openssl_error_string: Shared,
}

fn read_server(server: &SslyzeResult, run: &mut ImportRun<'_>) -> Result<(), ReadFault> {
    let place = match &server.server_location {
        Value::Null => &server.server_info.server_location,
        place => place,
    };
    let text = |name: &str| place[name].as_str().unwrap_or_default();
    let Some(target) = ImportTarget::of_hosts([text("hostname"), text("ip_address")]) else {
        run.skip("server without a name");
        return Ok(());
    };
    run.target(&target);
    let results = server
        .scan_result
        .as_ref()
        .or(server.scan_commands_results.as_ref());
    let Some(results) = results else {
        run.skip("server was not reachable");
        run.uncompleted(EVERY_CLASS.to_owned());
        return Ok(());
    };
    let mut found = TestedServer::default();
    for (command, raw) in results {
        let status = serde_json::from_str::<SslyzeStatus<'_>>(raw.get()).ok();
        let status = status.and_then(|status| Some((status.status?, status.result)));
        let result = match status {
            None => raw.get(),
            Some((word, Some(result))) if word == "COMPLETED" && result.get() != "null" => {
                result.get()
            }
            Some((word, _)) if word == "NOT_SCHEDULED" => continue,
            Some(_) => {
                run.skip("test was not completed");
                run.uncompleted(EVERY_CLASS.to_owned());
                continue;
            }
        };
        if !read_result(command, result, &mut found) {
            run.skip("result of a test has another shape");
        }
    }
    let port = place["port"]
        .as_u64()
        .and_then(|port| u16::try_from(port).ok());
    found.add_to(run, "sslyze", &target, port)
}

/// Whether the result has the shape of its command.
fn read_result(command: &str, raw: &str, found: &mut TestedServer) -> bool {
    if command == "certificate_info" {
        let certificates = json::object::<SslyzeCertificates>(raw);
        let is_read = certificates.is_ok();
        read_certificates(&certificates.unwrap_or_default(), found);
        return is_read;
    }
    match serde_json::from_str::<Value>(raw) {
        Ok(result) if result.is_object() => {
            read_command(command, &result, found);
            true
        }
        _ => false,
    }
}

fn read_command(command: &str, result: &Value, found: &mut TestedServer) {
    let is = |name: &str| result[name].as_bool() == Some(true);
    let isnt = |name: &str| result[name].as_bool() == Some(false);
    let fact =
        |holds: bool, name: &'static str, value: &str| holds.then(|| (name, value.to_owned()));
    match command {
        "heartbleed" => {
            let vulnerable = is("is_vulnerable_to_heartbleed");
            found.test("heartbleed", fact(vulnerable, "Result", "vulnerable"));
        }
        "openssl_ccs_injection" => {
            let vulnerable = is("is_vulnerable_to_ccs_injection");
            found.test("ccs-injection", fact(vulnerable, "Result", "vulnerable"));
        }
        "robot" => {
            let word = result["robot_result"].as_str().unwrap_or_default();
            let is_strong = word == "VULNERABLE_STRONG_ORACLE";
            found.test("robot-strong", fact(is_strong, "Result", word));
            found.test(
                "robot-weak",
                fact(word == "VULNERABLE_WEAK_ORACLE", "Result", word),
            );
        }
        "session_renegotiation" => {
            let is_insecure = isnt("supports_secure_renegotiation");
            found.test(
                "insecure-renegotiation",
                fact(is_insecure, "Secure renegotiation", "no"),
            );
            let by_client = is("is_vulnerable_to_client_renegotiation_dos")
                || is("accepts_client_renegotiation");
            found.test(
                "client-renegotiation",
                fact(by_client, "Client renegotiation", "accepted"),
            );
        }
        "tls_compression" => {
            let is_used = is("supports_compression");
            found.test("compression", fact(is_used, "Compression", "supported"));
        }
        "tls_fallback_scsv" => {
            let is_missing = isnt("supports_fallback_scsv");
            found.test(
                "no-fallback-scsv",
                fact(is_missing, "TLS_FALLBACK_SCSV", "not supported"),
            );
        }
        "tls_1_3_early_data" => {
            let is_used = is("supports_early_data");
            found.test("early-data", fact(is_used, "Early data", "supported"));
        }
        "http_headers" => {
            let is_missing = result["strict_transport_security_header"].is_null();
            found.test("hsts-missing", fact(is_missing, "Header", "missing"));
        }
        _ => read_ciphers(command, result, found),
    }
}

fn read_ciphers(command: &str, result: &Value, found: &mut TestedServer) {
    let Some((_, name, flaw)) = PROTOCOLS.iter().find(|(known, _, _)| *known == command) else {
        return;
    };
    let accepted = result["accepted_cipher_suites"].as_array();
    let names = accepted.into_iter().flatten().filter_map(|cipher| {
        let suite = cipher["cipher_suite"]["name"].as_str();
        suite.or_else(|| cipher["name"].as_str())
    });
    let names: Vec<&str> = names.collect();
    if !flaw.is_empty() {
        let offered = (!names.is_empty()).then(|| (*name, names.join(", ")));
        found.test(flaw, offered);
    }
    for id in ["null-cipher", "weak-cipher"] {
        let weak = names
            .iter()
            .filter(|name| tls::weakness_of(name) == Some(id));
        let weak: Vec<&str> = weak.copied().collect();
        found.test(id, (!weak.is_empty()).then(|| (*name, weak.join(", "))));
    }
}

fn read_certificates(result: &SslyzeCertificates, found: &mut TestedServer) {
    for deployment in &result.certificate_deployments {
        let leaf = deployment.received_certificate_chain.first();
        let subject = leaf.map_or("certificate", |leaf| &leaf.subject.rfc4514_string);
        let detail = |holds: bool| holds.then(|| ("Subject", subject.to_owned()));
        let name = deployment.leaf_certificate_subject_matches_hostname == Some(false);
        found.test("certificate-name", detail(name));
        let sha1 = deployment.verified_chain_has_sha1_signature == Some(true);
        found.test("certificate-sha1", detail(sha1));
        let order = deployment.received_chain_has_valid_order == Some(false);
        found.test("certificate-order", detail(order));
        let all = &deployment.path_validation_results;
        let is_trusted = all
            .iter()
            .any(|one| one.verified_certificate_chain.is_some());
        let errors = all.iter().map(|one| &one.openssl_error_string);
        let error = errors.into_iter().find(|error| !error.is_empty());
        let untrusted = (!all.is_empty() && !is_trusted).then(|| match error {
            Some(error) => ("Error", error.to_string()),
            None => ("Subject", subject.to_owned()),
        });
        found.test("certificate-untrusted", untrusted);
    }
}
