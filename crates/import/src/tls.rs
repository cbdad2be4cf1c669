//! Weaknesses of TLS that several scanners state as facts about a server, not as findings.

use std::collections::{BTreeMap, BTreeSet};

use scandeck_wire::contract::Risk;

use crate::coverage::{ImportCoverage, TestedPorts};
use crate::entry::ImportEntry;
use crate::evidence::EntryEvidence;
use crate::input::ReadFault;
use crate::run::ImportRun;
use crate::target::ImportTarget;

/// A weakness with its texts.
pub struct TlsFlaw {
    /// The end of the `vuln_id`.
    pub id: &'static str,
    risk: Risk,
    title: &'static str,
    description: &'static str,
    remedy: &'static str,
    cve: &'static str,
    cwe: u32,
}

macro_rules! flaws {
    ($($id:literal $risk:ident $cwe:literal $cve:literal $title:literal $description:literal $remedy:literal;)+) => {
        const FLAWS: &[TlsFlaw] = &[$(TlsFlaw {
            id: $id,
            risk: Risk::$risk,
            title: $title,
            description: $description,
            remedy: $remedy,
            cve: $cve,
            cwe: $cwe,
        }),+];
    };
}

flaws! {
    "heartbleed" High 125 "CVE-2014-0160" "Heartbleed" "The server sends parts of its memory to anyone who asks for them." "Update OpenSSL, then replace keys and certificates.";
    "ccs-injection" High 326 "CVE-2014-0224" "OpenSSL CCS injection" "The server accepts a ChangeCipherSpec message too early, so an attacker on the path can read the connection." "Update OpenSSL.";
    "robot-strong" High 203 "" "ROBOT (strong oracle)" "The answers of the server allow an attacker to decrypt recorded connections with RSA key exchange." "Update the TLS library, or turn off cipher suites with RSA key exchange.";
    "robot-weak" Medium 203 "" "ROBOT (weak oracle)" "The answers of the server allow an attacker to decrypt connections with RSA key exchange, with many requests." "Update the TLS library, or turn off cipher suites with RSA key exchange.";
    "insecure-renegotiation" Medium 295 "CVE-2009-3555" "Insecure renegotiation" "An attacker on the path can insert data before those of the client." "Turn on secure renegotiation (RFC 5746).";
    "client-renegotiation" Low 400 "CVE-2011-1473" "Renegotiation by clients" "A client can make the server compute many handshakes in one connection." "Refuse renegotiation by clients.";
    "compression" Medium 310 "CVE-2012-4929" "TLS compression (CRIME)" "The length of compressed data reveals secrets such as cookies." "Turn off TLS compression.";
    "no-fallback-scsv" Low 757 "" "No protection against downgrades (TLS_FALLBACK_SCSV)" "An attacker on the path can make clients use an older protocol." "Update the TLS library.";
    "early-data" Low 294 "" "TLS 1.3 early data" "An attacker can send early data again." "Turn off early data, or allow it for requests without effect only.";
    "ssl-2.0" High 327 "CVE-2016-0800" "SSL 2.0" "The server offers SSL 2.0, which protects nothing any more." "Turn off SSL 2.0.";
    "ssl-3.0" High 327 "CVE-2014-3566" "SSL 3.0" "The server offers SSL 3.0, whose ciphers are broken (POODLE)." "Turn off SSL 3.0.";
    "tls-1.0" Low 327 "" "TLS 1.0" "The server offers TLS 1.0, which RFC 8996 forbids." "Turn off TLS 1.0.";
    "tls-1.1" Low 327 "" "TLS 1.1" "The server offers TLS 1.1, which RFC 8996 forbids." "Turn off TLS 1.1.";
    "null-cipher" High 327 "" "Cipher suites without encryption or authentication" "The server offers cipher suites that do not encrypt, or do not prove who the server is." "Turn off these cipher suites.";
    "weak-cipher" Medium 327 "" "Weak cipher suites" "The server offers cipher suites with RC4, DES, 3DES, export keys or MD5." "Turn off these cipher suites.";
    "certificate-untrusted" Medium 295 "" "Certificate is not trusted" "Clients do not trust the certificate of the server." "Install a certificate of a trusted authority with its whole chain.";
    "certificate-name" Medium 297 "" "Certificate is for another name" "The certificate does not contain the name of the server." "Install a certificate with this name.";
    "certificate-expired" Medium 298 "" "Certificate has expired" "The certificate is no longer valid." "Renew the certificate.";
    "certificate-self-signed" Medium 295 "" "Certificate is self-signed" "No authority signed the certificate, so clients cannot check it." "Install a certificate of a trusted authority.";
    "certificate-sha1" Low 328 "" "Certificate with a weak signature" "The chain has a signature with SHA-1 or MD5, which can be forged." "Replace the certificate.";
    "certificate-weak-key" Medium 326 "" "Certificate with a short key" "The key of the certificate is too short." "Replace the certificate with one of at least 2048 bits RSA or 256 bits EC.";
    "certificate-order" Info 295 "" "Certificate chain in the wrong order" "Some clients cannot build the chain of the server." "Send the chain from the server's certificate to the authority's.";
    "hsts-missing" Low 319 "" "No Strict-Transport-Security header" "Browsers may connect without TLS." "Send the header with a long `max-age`.";
}

/// The weakness with this id.
fn flaw(id: &str) -> Option<&'static TlsFlaw> {
    FLAWS.iter().find(|flaw| flaw.id == id)
}

/// An entry of a tool for a weakness; `details` are names and values.
fn entry(tool: &str, id: &str, details: Vec<Vec<String>>) -> Option<ImportEntry> {
    let flaw = flaw(id)?;
    Some(ImportEntry {
        vuln_id: format!("{tool}:{id}"),
        risk: flaw.risk,
        title: flaw.title.to_owned(),
        description: flaw.description.to_owned(),
        recommendation: flaw.remedy.to_owned(),
        test: format!("{tool} check {id}"),
        cves: match flaw.cve {
            "" => Vec::new(),
            cve => vec![cve.to_owned()],
        },
        cwes: vec![flaw.cwe],
        evidence: EntryEvidence::table(&["Detail", "Value"], details),
        protocol: "tcp".to_owned(),
        ..ImportEntry::default()
    })
}

/// What a tool tested at a server, and the weaknesses with their details.
#[derive(Default)]
pub struct TestedServer {
    tested: BTreeSet<&'static str>,
    flaws: BTreeMap<&'static str, Vec<Vec<String>>>,
}

impl TestedServer {
    /// A weakness that was tested, with a detail when the server has it.
    pub fn test(&mut self, id: &'static str, detail: Option<(&str, String)>) {
        self.tested.insert(id);
        if let Some((name, value)) = detail {
            let details = self.flaws.entry(id).or_default();
            details.push(vec![name.to_owned(), value]);
        }
    }

    /// Adds the coverage of the tool and an entry for each weakness.
    pub fn add_to(
        self,
        run: &mut ImportRun<'_>,
        tool: &str,
        target: &ImportTarget,
        port: Option<u16>,
    ) -> Result<(), ReadFault> {
        let ports = port.map(|port| TestedPorts {
            protocol: "tcp".to_owned(),
            first: port,
            last: port,
        });
        let checks = self.tested.iter().map(|id| format!("{tool}:{id}"));
        run.summary.coverage.push(ImportCoverage {
            targets: vec![target.clone()],
            ports: ports.into_iter().collect(),
            checks: checks.collect(),
            ..ImportCoverage::default()
        });
        for (id, details) in self.flaws {
            if let Some(mut entry) = entry(tool, id, details) {
                entry.target = Some(target.clone());
                entry.port = port;
                run.add(entry)?;
            }
        }
        Ok(())
    }
}

/// How weak a cipher suite is by its name: the id of a weakness.
pub fn weakness_of(cipher: &str) -> Option<&'static str> {
    let name = cipher.to_ascii_uppercase();
    let words: Vec<&str> = name.split(['-', '_']).collect();
    let has = |all: &[&str]| words.iter().any(|word| all.contains(word));
    if has(&["NULL", "ANON", "ADH", "AECDH"]) {
        Some("null-cipher")
    } else if has(&[
        "RC4",
        "RC2",
        "DES",
        "3DES",
        "CBC3",
        "EXP",
        "EXPORT",
        "EXPORT40",
        "EXPORT1024",
        "MD5",
        "IDEA",
        "SEED",
    ]) {
        Some("weak-cipher")
    } else {
        None
    }
}
