//! What the answers mean: tests, findings, the output of the scan and its message.

use serde_json::{Value, json};

use super::hello::Version;
use super::{Server, TlsAnswer, TlsResults, VersionAnswer};
use super::{certificate, checks, cves, selection, sslscan, suites};
use crate::engine::exploited::with_cves;
use crate::engine::kinds::{self, FindingKind};
use crate::engine::run::ScanRun;
use crate::engine::{NewFinding, ScanOutcome, TestDone};
use scandeck_wire::text::plural;

impl TlsResults {
    pub(super) fn tests(&self, server: &Server<'_>) -> Vec<TestDone> {
        let second = self.second.as_ref();
        let mut tests = server.tests(&self.answers, &self.checked, second);
        tests.extend(second.map(|second| second.test(server, &self.answers)));
        match &self.refusals {
            None => tests,
            // Without all handshakes, no earlier finding is gone.
            Some(why) => tests
                .into_iter()
                .map(|test| test.judged(Some(why.clone())))
                .collect(),
        }
    }

    /// Names of accepted versions.
    fn accepted(&self) -> String {
        let accepted = self.answers.iter().filter(|one| one.answer.accepted);
        let names: Vec<&str> = accepted.map(|one| one.version.name()).collect();
        names.join(", ")
    }

    pub(super) async fn report_lines(&self, run: &ScanRun<'_>) {
        if let Some(second) = &self.second {
            run.info(second.line(&self.answers)).await;
        }
        for line in self.checked.iter().flat_map(|one| &one.lines) {
            run.raw(line.clone()).await;
        }
        if let Some(line) = self.checked.iter().find_map(|one| one.note.as_ref()) {
            run.info(line.clone()).await;
        }
        run.info(format!("Accepted: {}.", self.accepted())).await;
        if let Some(why) = &self.refusals {
            run.info(format!(
                "Incomplete: {why}. Lower the number of scans of this server, and scan again."
            ))
            .await;
        }
    }

    /// The status message; `findings` are those that it names.
    pub(super) fn summary(&self, findings: &str) -> String {
        let certificate = self.checked.first().map_or_else(
            || "no readable certificate".to_owned(),
            certificate::ChainFindings::summary,
        );
        let refusals = self.refusals.as_ref();
        let incomplete = refusals.map(|why| format!("; incomplete: {why}"));
        let accepted = self.accepted();
        let incomplete = incomplete.unwrap_or_default();
        format!("{accepted} accepted; {certificate}{findings}{incomplete}")
    }
}

/// Findings that the status message names.
const NAMED: usize = 3;

/// `; 11 findings: Cipher suites without encryption, … and 8 more`, the worst first.
pub(super) fn worst(tests: &[TestDone]) -> String {
    let mut found: Vec<&NewFinding> = tests.iter().flat_map(|test| &test.findings).collect();
    if found.is_empty() {
        return String::new();
    }
    found.sort_by_key(|finding| std::cmp::Reverse(finding.risk));
    let names: Vec<&str> = found
        .iter()
        .take(NAMED)
        .map(|finding| finding.name.as_str())
        .collect();
    let more = match found.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "; {}: {}{more}",
        plural(found.len(), "finding"),
        names.join(", ")
    )
}

impl Server<'_> {
    /// Checks each chain. `unstapled` are certificates that lack a required OCSP response.
    pub(super) fn check(
        &self,
        chains: &[Vec<Vec<u8>>],
        unstapled: &[Vec<u8>],
    ) -> Vec<certificate::ChainFindings> {
        chains
            .iter()
            .map(|chain| certificate::check(self.run, &self.host, chain, unstapled))
            .collect()
    }

    /// The results of the tests of versions, certificates and suites, from these answers.
    pub(super) fn tests(
        &self,
        answers: &[VersionAnswer],
        checked: &[certificate::ChainFindings],
        second: Option<&sslscan::SslscanReport>,
    ) -> Vec<TestDone> {
        let mut tests: Vec<_> = answers
            .iter()
            .map(|one| self.protocol_test(one, answers, second))
            .collect();
        tests.extend(certificate::tests(
            checked,
            self.address.port(),
            self.service(),
        ));
        tests.extend(checks::tests(self, answers));
        tests.retain(|test| selection::is_selected(self.run, &test.uid));
        tests
    }

    /// The outcome when no version was accepted.
    pub(super) fn without_version(&self, answers: &[VersionAnswer]) -> Result<String, ScanOutcome> {
        if let Some(why) = self
            .refusals()
            .filter(|_| !answers.iter().any(|one| one.answer.is_tls))
        {
            return Err(ScanOutcome::ConnectionError(why));
        }
        if !answers.iter().any(|one| one.answer.is_tls)
            && answers.iter().any(|one| one.answer.is_late)
        {
            return Err(ScanOutcome::ConnectionError(format!(
                "{} accepts connections, but {}",
                self.address,
                self.late()
            )));
        }
        if !answers.iter().any(|one| one.answer.is_tls) {
            return Err(ScanOutcome::ConnectionError(format!(
                "{} responds, but not with TLS",
                self.address
            )));
        }
        let alert = answers.iter().rev().find_map(|one| one.answer.alert);
        let alert = alert.map_or_else(String::new, |alert| format!(" (alert {alert})"));
        Err(ScanOutcome::ConnectionError(format!(
            "{} responds with TLS, but refuses every handshake{alert}",
            self.address
        )))
    }

    fn protocol_test(
        &self,
        one: &VersionAnswer,
        all: &[VersionAnswer],
        second: Option<&sslscan::SslscanReport>,
    ) -> TestDone {
        let VersionAnswer {
            version, answer, ..
        } = one;
        let finding = one.weakness(all).map(|kind| {
            // SSL 2.0 is a row only where it matters, as in earlier versions of this program.
            let is_shown =
                |row: &&VersionAnswer| row.version != Version::Ssl2 || row.answer.accepted;
            let shown = all.iter().filter(is_shown);
            let mut rows: Vec<Vec<String>> = shown.map(VersionAnswer::row).collect();
            rows.extend(second.and_then(|second| second.disagreement(one)));
            let headers = ["Version", "Answer", "Cipher suite"];
            finding(kind, self.address.port(), self.service(), &headers, rows)
        });
        let metadata = json!({"version": version.name(), "accepted": answer.accepted, "cipher": answer.cipher});
        TestDone::new(
            protocol_uid(*version),
            format!("Support for {}", version.name()),
            metadata,
            finding.into_iter().collect(),
        )
    }

    pub(super) fn output(
        &self,
        answers: &[VersionAnswer],
        checked: &[certificate::ChainFindings],
    ) -> Value {
        let protocols = answers.iter().map(|one| {
            let suites: Vec<&str> = one.suites.iter().map(|suite| suite.cipher.as_str()).collect();
            json!({
                "name": one.version.name(), "accepted": one.answer.accepted, "cipher": one.answer.cipher,
                "cipher_suites": suites, "groups": one.groups,
            })
        });
        let certificates = checked.iter().flat_map(|one| match one.as_json() {
            Value::Array(all) => all,
            other => vec![other],
        });
        json!({
            "host": self.host,
            "ip_address": self.address.ip().to_string(),
            "port": self.address.port(),
            "protocols": protocols.collect::<Vec<_>>(),
            "certificates": certificates.collect::<Vec<_>>(),
        })
    }
}

impl TlsAnswer {
    /// The word in evidence and logs.
    pub(super) fn word(&self) -> &'static str {
        match (self.accepted, self.is_untested) {
            (true, _) => "accepted",
            (false, true) => "not tested",
            (false, false) => "not accepted",
        }
    }
}

impl VersionAnswer {
    /// Why the answer is a finding, beside those of the other versions.
    fn weakness(&self, all: &[VersionAnswer]) -> Option<FindingKind> {
        let accepts_tls12 = || {
            all.iter()
                .any(|one| one.version == Version::Tls12 && one.answer.accepted)
        };
        match (self.version, self.answer.accepted) {
            (Version::Ssl2, true) => Some(kinds::tls::SSL2),
            (Version::Ssl3, true) => Some(kinds::tls::SSL3),
            (Version::Tls10, true) => Some(kinds::tls::TLS10),
            (Version::Tls11, true) => Some(kinds::tls::TLS11),
            (Version::Tls13, false) if accepts_tls12() && !self.answer.is_untested => {
                Some(kinds::tls::NO_TLS13)
            }
            _ => None,
        }
    }

    /// The row of evidence.
    fn row(&self) -> Vec<String> {
        vec![
            self.version.name().to_owned(),
            self.answer.word().to_owned(),
            suites::iana(&self.answer.cipher),
        ]
    }
}

pub(super) fn handshake_test(one: &VersionAnswer) -> TestDone {
    let name = one.version.name();
    let metadata = json!({"version": name, "accepted": one.answer.accepted, "cipher_suites": one.suites.len()});
    let uid = handshake_uid(one.version);
    TestDone::new(uid, format!("{name} handshakes"), metadata, Vec::new())
}

/// Such as `tls.handshake.tls10`.
pub(super) fn handshake_uid(version: Version) -> String {
    format!("tls.handshake.{version:?}").to_ascii_lowercase()
}

/// Such as `tls.protocol.tls10`.
pub(super) fn protocol_uid(version: Version) -> String {
    format!("tls.protocol.{version:?}").to_ascii_lowercase()
}

pub(super) fn finding(
    kind: FindingKind,
    port: u16,
    service: &str,
    headers: &[&str],
    rows: Vec<Vec<String>>,
) -> NewFinding {
    let cves: Vec<String> = cves::of(kind, &rows).map(str::to_owned).collect();
    let evidence = kinds::table(headers, rows);
    let finding = kind.finding();
    let risk_description = match service {
        "tls" => finding.risk_description,
        _ => without_browsers(&finding.risk_description),
    };
    let finding = NewFinding {
        risk_description,
        ..finding
    };
    let finding = with_cves(finding, cves.into_iter());
    NewFinding {
        port,
        service: service.to_owned(),
        confirmed: true,
        evidence,
        ..finding
    }
}

/// The text for services that browsers do not use, such as SMTP.
fn without_browsers(text: &str) -> String {
    const WORDS: &[(&str, &str)] = &[
        (
            "Users learn to ignore the browser warning, and then miss a real man-in-the-middle attack. Other clients refuse",
            "Clients that verify certificates refuse",
        ),
        (
            "Browsers refuse the connection or show a warning that users learn to ignore",
            "Clients refuse the connection",
        ),
        (
            "Browsers repair the order; some other clients",
            "Some clients",
        ),
        ("browsers may refuse", "clients may refuse"),
    ];
    WORDS
        .iter()
        .fold(text.to_owned(), |text, (browser, client)| {
            text.replace(browser, client)
        })
}
