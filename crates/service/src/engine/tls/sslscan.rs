//! Comparison with an installed sslscan: its XML is compared with the answers to this program's own
//! handshakes.
//!
//! Where both disagree about a version, the finding of the version says so; the test `tls.sslscan`
//! lists all differences. A version that sslscan cannot test (its OpenSSL lacks the old ones) is no
//! difference.

use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;

use super::hello::Version;
use super::starttls::StartTls;
use super::{Server, VersionAnswer};
use crate::engine::TestDone;
use crate::engine::guests::Guest;
use crate::engine::guests::process::{GuestLimits, run as run_guest, shown_command};
use crate::engine::guests::xml::{XmlElement, XmlNode, read};
use crate::engine::run::ScanRun;

const LIMITS: GuestLimits = GuestLimits::without_files(Duration::from_secs(20), 2 * 1024 * 1024);
/// Suites that are kept of a report, whatever it contains.
const MAX_SUITES: usize = 2000;

/// The report of sslscan about a server.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SslscanReport {
    pub version: String,
    /// Whether each version is enabled.
    protocols: Vec<(Version, bool)>,
    /// Accepted suites by number.
    suites: Vec<(Version, u16)>,
    pub error: String,
}

/// Runs sslscan if it is installed; `None` without a report.
pub async fn scan(run: &ScanRun<'_>, server: &Server<'_>) -> Option<SslscanReport> {
    let program = Guest::Sslscan.find()?;
    let args = arguments(server);
    run.raw(shown_command(&program, &args)).await;
    let (sender, mut lines) = mpsc::channel::<String>(64);
    let read = async {
        while let Some(line) = lines.recv().await {
            run.raw(line).await;
        }
    };
    let (output, ()) = tokio::join!(run_guest(&program, &args, LIMITS, sender, None), read);
    let (report, problem) = match output {
        Ok(output) => (SslscanReport::parse(&output.text), output.end.problem()),
        Err(error) => {
            run.info(format!("sslscan did not start: {error}")).await;
            return None;
        }
    };
    if report.protocols.is_empty() {
        let why = problem.unwrap_or(if report.error.is_empty() {
            "sent no report"
        } else {
            &report.error
        });
        run.info(format!("No comparison with sslscan: sslscan {why}."))
            .await;
        return None;
    }
    Some(report)
}

fn arguments(server: &Server) -> Vec<String> {
    let mut all: Vec<String> =
        // Groups are not compared, and their test takes 10 s on some servers.
        ["--xml=-", "--no-colour", "--no-heartbleed", "--no-groups", "--show-cipher-ids", "--no-check-certificate"]
            .into_iter()
            .map(str::to_owned)
            .collect();
    let starttls = match server.starttls {
        None => None,
        Some(StartTls::Smtp) => Some("smtp"),
        Some(StartTls::Imap) => Some("imap"),
        Some(StartTls::Pop3) => Some("pop3"),
        Some(StartTls::Ftp) => Some("ftp"),
        Some(StartTls::Postgres) => Some("psql"),
        Some(StartTls::Ldap) => Some("ldap"),
    };
    all.extend(starttls.map(|protocol| format!("--starttls-{protocol}")));
    if server.host.parse::<std::net::IpAddr>().is_err() {
        all.push(format!("--sni-name={}", server.host));
    }
    let pause = 1000 / server.lane.limits.requests_per_second.max(1);
    all.push(format!("--sleep={pause}"));
    // The address that the scope allows, never a name.
    all.push(server.address.to_string());
    all
}

impl SslscanReport {
    pub fn parse(text: &str) -> Self {
        let mut report = Self::default();
        let mut is_error = false;
        read(text, |node| match node {
            XmlNode::Start(element) => {
                is_error = element.name == "error";
                report.start(&element);
            }
            XmlNode::Text(text) if is_error && report.error.is_empty() => {
                report.error = text.trim().chars().take(200).collect()
            }
            XmlNode::Text(_) | XmlNode::End(_) => {}
        });
        report
    }

    fn start(&mut self, element: &XmlElement) {
        match element.name.as_str() {
            "document" => self.version = element.get("version").chars().take(40).collect(),
            "protocol" if self.protocols.len() < 10 => {
                let version = version_of(&format!(
                    "{}{}",
                    element.get("type"),
                    element.get("version")
                ));
                self.protocols
                    .extend(version.map(|version| (version, element.get("enabled") == "1")));
            }
            "cipher" if self.suites.len() < MAX_SUITES => {
                let number =
                    u16::from_str_radix(element.get("id").trim_start_matches("0x"), 16).ok();
                self.suites
                    .extend(version_of(element.get("sslversion")).zip(number));
            }
            _ => {}
        }
    }

    /// Whether sslscan found a version enabled; `None` when it cannot know.
    fn accepts(&self, version: Version) -> Option<bool> {
        self.protocols
            .iter()
            .find(|(known, _)| *known == version)
            .map(|(_, enabled)| *enabled)
    }

    /// An evidence row about a version for which both disagree.
    pub fn disagreement(&self, one: &VersionAnswer) -> Option<Vec<String>> {
        let accepts = self
            .accepts(one.version)
            .filter(|accepts| *accepts != one.answer.accepted)?;
        let word = if accepts { "accepted" } else { "not accepted" };
        Some(vec![
            format!("{} by sslscan {}", one.version.name(), self.version),
            word.to_owned(),
            String::new(),
        ])
    }

    fn differences(&self, answers: &[VersionAnswer]) -> Vec<String> {
        let mut all: Vec<String> = answers
            .iter()
            .filter_map(|one| self.disagreement(one))
            .map(|row| format!("{}: {}", row[0], row[1]))
            .collect();
        for one in answers
            .iter()
            .filter(|one| self.accepts(one.version) == Some(true) && one.answer.accepted)
        {
            let own: Vec<u16> = one.suites.iter().filter_map(|suite| suite.suite).collect();
            let theirs = self
                .suites
                .iter()
                .filter(|(version, _)| *version == one.version)
                .map(|(_, suite)| *suite);
            let missed = theirs.filter(|suite| !own.contains(suite)).map(|suite| {
                format!(
                    "{} {}: accepted by sslscan only",
                    one.version.name(),
                    super::suites::name(suite)
                )
            });
            all.extend(missed);
        }
        all
    }

    pub fn test(&self, server: &Server, answers: &[VersionAnswer]) -> TestDone {
        let metadata = json!({
            "program": "sslscan", "version": self.version, "address": server.address.to_string(),
            "differences": self.differences(answers),
        });
        TestDone::new(
            "tls.sslscan",
            "Comparison with sslscan",
            metadata,
            Vec::new(),
        )
    }

    /// A line about the comparison.
    pub fn line(&self, answers: &[VersionAnswer]) -> String {
        match &self.differences(answers)[..] {
            [] => format!(
                "sslscan {} found the same versions and cipher suites.",
                self.version
            ),
            some => format!(
                "sslscan {} found other results: {}.",
                self.version,
                some.join("; ")
            ),
        }
    }
}

fn version_of(name: &str) -> Option<Version> {
    match name.to_ascii_lowercase().as_str() {
        "ssl2" | "sslv2" => Some(Version::Ssl2),
        "ssl3" | "sslv3" => Some(Version::Ssl3),
        "tls1.0" | "tlsv1.0" => Some(Version::Tls10),
        "tls1.1" | "tlsv1.1" => Some(Version::Tls11),
        "tls1.2" | "tlsv1.2" => Some(Version::Tls12),
        "tls1.3" | "tlsv1.3" => Some(Version::Tls13),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<document title="SSLScan Results" version="2.0.7" web="http://github.com/rbsec/sslscan">
 <ssltest host="127.0.0.1" sniname="127.0.0.1" port="4433">
  <protocol type="ssl" version="2" enabled="0" />
  <protocol type="tls" version="1.0" enabled="1" />
  <protocol type="tls" version="1.2" enabled="1" />
  <cipher status="preferred" sslversion="TLSv1.2" bits="256" cipher="X" id="0xC030" strength="strong" />
 </ssltest>
</document>"#;

    fn answer(version: Version, accepted: bool, suites: &[u16]) -> VersionAnswer {
        let suite = |suite: &u16| super::super::TlsAnswer {
            suite: Some(*suite),
            ..Default::default()
        };
        VersionAnswer {
            version,
            answer: super::super::TlsAnswer {
                accepted,
                ..Default::default()
            },
            suites: suites.iter().map(suite).collect(),
            groups: Vec::new(),
            compression: false,
            client_renegotiation: false,
        }
    }

    #[test]
    fn differences_name_versions_and_suites() {
        let report = SslscanReport::parse(REPORT);
        assert_eq!(
            (report.version.as_str(), report.accepts(Version::Tls10)),
            ("2.0.7", Some(true))
        );
        let same = [
            answer(Version::Ssl2, false, &[]),
            answer(Version::Tls10, true, &[]),
            answer(Version::Tls12, true, &[0xc030]),
        ];
        assert_eq!(
            report.line(&same),
            "sslscan 2.0.7 found the same versions and cipher suites."
        );
        let other = [
            answer(Version::Ssl3, true, &[]),
            answer(Version::Tls10, false, &[]),
            answer(Version::Tls12, true, &[]),
        ];
        assert_eq!(
            report.differences(&other),
            [
                "TLS 1.0 by sslscan 2.0.7: accepted",
                "TLS 1.2 ECDHE_RSA_AES_256_GCM_SHA384: accepted by sslscan only"
            ]
        );
    }

    proptest! {
        #[test]
        fn damaged_report_is_read_without_panic(at in 0..REPORT.len(), length in 0..40_usize, put in "[ -~]{0,12}") {
            let mut bytes = REPORT.as_bytes().to_vec();
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, put.bytes());
            let report = SslscanReport::parse(&String::from_utf8_lossy(&bytes));
            prop_assert!(report.protocols.len() <= 4 && report.suites.len() <= 2);
        }
    }
}
