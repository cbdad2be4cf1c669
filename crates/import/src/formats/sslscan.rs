//! sslscan: XML. The tool states facts; the weaknesses among them are entries.

use super::FormatReader;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::run::ImportRun;
use crate::target::ImportTarget;
use crate::tls::{self, TestedServer};
use crate::xml::{XmlStep, XmlStream, XmlTree};

pub const READER: &dyn FormatReader = &SslscanReader;

struct SslscanReader;

impl FormatReader for SslscanReader {
    fn recognises(&self, head: &FileHead) -> bool {
        head.xml("document").is_some_and(|document| {
            document.has("ssltest") || document.get("title") == "SSLScan Results"
        })
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        _head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        let mut xml = XmlStream::new(input);
        loop {
            match xml.next()? {
                XmlStep::Start(tree) if tree.name == "document" => {
                    run.summary.version = tree.get("version").to_owned();
                }
                XmlStep::Start(tree) if tree.name == "ssltest" => {
                    let test = xml.whole(tree)?;
                    read_server(&test, run)?;
                }
                XmlStep::Start(tree) if tree.name == "error" => {
                    drop(xml.whole(tree)?);
                    run.skip("server was not reachable");
                    run.uncompleted("sslscan:".to_owned());
                }
                XmlStep::Start(_) | XmlStep::End(_) => {}
                XmlStep::Done => return Ok(()),
            }
        }
    }
}

fn test(found: &mut TestedServer, id: &'static str, has_flaw: bool, name: &str, value: &str) {
    found.test(id, has_flaw.then(|| (name, value.to_owned())));
}

fn read_server(test: &XmlTree, run: &mut ImportRun<'_>) -> Result<(), ReadFault> {
    let Some(target) = ImportTarget::of_hosts([test.get("sniname"), test.get("host")]) else {
        run.skip("server without a name");
        return Ok(());
    };
    run.target(&target);
    let port: Option<u16> = test.get("port").parse().ok();
    let mut found = TestedServer::default();
    for element in &test.children {
        read_fact(element, &mut found);
    }
    found.add_to(run, "sslscan", &target, port)
}

fn read_fact(element: &XmlTree, found: &mut TestedServer) {
    let version = element.get("sslversion");
    match element.name.as_str() {
        "protocol" => {
            let is_on = element.get("enabled") == "1";
            let id = match (element.get("type"), element.get("version")) {
                ("ssl", "2") => "ssl-2.0",
                ("ssl", "3") => "ssl-3.0",
                ("tls", "1.0") => "tls-1.0",
                ("tls", "1.1") => "tls-1.1",
                _ => return,
            };
            test(found, id, is_on, "Protocol", "enabled");
        }
        "heartbleed" => {
            let is_vulnerable = element.get("vulnerable") == "1";
            test(found, "heartbleed", is_vulnerable, version, "vulnerable");
        }
        "renegotiation" => {
            let is_insecure = element.get("supported") == "1" && element.get("secure") == "0";
            test(
                found,
                "insecure-renegotiation",
                is_insecure,
                "Secure renegotiation",
                "no",
            );
        }
        "compression" => {
            let is_on = element.get("supported") == "1";
            test(found, "compression", is_on, "Compression", "supported");
        }
        "fallback" => {
            let is_missing = element.get("supported") == "0";
            test(
                found,
                "no-fallback-scsv",
                is_missing,
                "TLS_FALLBACK_SCSV",
                "not supported",
            );
        }
        "cipher" => {
            let is_offered = matches!(element.get("status"), "accepted" | "preferred");
            let name = element.get("cipher");
            let weakness = match element.get("strength") {
                "null" | "anonymous" => Some("null-cipher"),
                "weak" | "medium" => Some("weak-cipher"),
                _ => tls::weakness_of(name),
            };
            for id in ["null-cipher", "weak-cipher"] {
                test(found, id, is_offered && weakness == Some(id), version, name);
            }
            // Old versions name protocols with their ciphers only.
            let protocol = match version {
                "SSLv2" => "ssl-2.0",
                "SSLv3" => "ssl-3.0",
                "TLSv1.0" => "tls-1.0",
                "TLSv1.1" => "tls-1.1",
                _ => return,
            };
            test(found, protocol, is_offered, version, name);
        }
        "certificate" => read_certificate(element, found),
        // Since version 2.0, a list of certificates.
        "certificates" => element
            .all("certificate")
            .for_each(|one| read_certificate(one, found)),
        _ => {}
    }
}

fn read_certificate(certificate: &XmlTree, found: &mut TestedServer) {
    let subject = certificate.at("subject");
    let signature = certificate.at("signature-algorithm").to_ascii_lowercase();
    let is_weak = signature.starts_with("sha1") || signature.starts_with("md5");
    test(found, "certificate-sha1", is_weak, "Signature", &signature);
    let is_self_signed = certificate.at("self-signed") == "true";
    test(
        found,
        "certificate-self-signed",
        is_self_signed,
        "Subject",
        subject,
    );
    let expired = certificate.at("not-valid-after");
    test(
        found,
        "certificate-expired",
        certificate.at("expired") == "true",
        "Valid until",
        expired,
    );
    if let Some(key) = certificate.child("pk") {
        let bits: u32 = key.get("bits").parse().unwrap_or(u32::MAX);
        let least = match key.get("type") {
            "RSA" | "DSA" => 2048,
            _ => 224,
        };
        test(
            found,
            "certificate-weak-key",
            bits < least,
            "Bits",
            key.get("bits"),
        );
    }
}
