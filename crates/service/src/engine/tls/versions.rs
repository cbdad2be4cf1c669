//! Everything that a server accepts with each version, found by removal from offers.

use std::sync::{Mutex, PoisonError};

use futures::future::join_all;

use super::hello::{self, Offer, Version};
use super::modern::KeyKind;
use super::results::handshake_test;
use super::{OFFERED, Server, TlsAnswer, VersionAnswer, checks, selection, suites};

/// Chains of one server that are checked.
const MAX_CHAINS: usize = 4;
/// The alert of a server that does not support a version.
const PROTOCOL_VERSION: u8 = 70;

impl Server<'_> {
    /// Finds everything that the server accepts, and reports the handshakes of each version.
    pub(super) async fn versions(&self) -> Vec<VersionAnswer> {
        let so_far = Mutex::new(Vec::new());
        let so_far = &so_far;
        let versions = Version::ALL.iter().map(|version| async move {
            let answer = self.version(*version).await;
            self.note(so_far, answer.clone()).await;
            let test = handshake_test(&answer);
            if selection::is_selected(self.run, &test.uid) {
                self.run.tested(test).await;
            }
            answer
        });
        join_all(versions).await
    }

    /// Finds everything that the server accepts with a version.
    async fn version(&self, version: Version) -> VersionAnswer {
        let mut result = VersionAnswer {
            version,
            answer: TlsAnswer::default(),
            suites: Vec::new(),
            groups: Vec::new(),
            compression: false,
            client_renegotiation: false,
        };
        match version {
            Version::Ssl2 => {
                result.answer = self.handshake(&Offer::new(version, Vec::new())).await;
            }
            Version::Tls13 => {
                self.find_suites(&mut result).await;
                self.find_chain(&mut result).await;
                self.find_groups(&mut result).await;
            }
            _ => {
                self.find_suites(&mut result).await;
                if result.answer.accepted {
                    self.find_options(&mut result).await;
                }
            }
        }
        self.log_version(&result).await;
        result
    }

    /// Reads the chain of TLS 1.3, which the server encrypts.
    async fn find_chain(&self, result: &mut VersionAnswer) {
        let modern = self.modern(KeyKind::Any).await;
        if let Some(modern) = modern.filter(|modern| modern.accepted) {
            // Without it, some servers refuse an empty key share.
            let suite = result.answer.suite;
            result.answer = TlsAnswer {
                is_tls: true,
                suite,
                ..modern
            };
        } else if let Some(group) = result.answer.group.filter(|_| result.answer.accepted) {
            result.answer.chain = self.chain_by_group(group).await.unwrap_or_default();
        }
    }

    /// Finds out whether an accepted version comes with compression and renegotiation. A server that
    /// ignores the second handshake costs the whole time limit, so only its own test asks for it.
    async fn find_options(&self, result: &mut VersionAnswer) {
        let version = result.version;
        let mut offer = Offer::new(version, result.answer.suite.into_iter().collect());
        offer.compression = true;
        result.compression = self.handshake(&offer).await.compression;
        result.client_renegotiation = version != Version::Ssl3
            && selection::is_selected(self.run, checks::RENEGOTIATION_BY_CLIENTS)
            && self.accepts_renegotiation(version).await;
    }

    async fn log_version(&self, result: &VersionAnswer) {
        let VersionAnswer {
            version, answer, ..
        } = result;
        let word = if answer.is_late {
            self.late()
        } else {
            answer.word().to_owned()
        };
        let mut line = format!(
            "{} {} {word} {}",
            self.address,
            version.name(),
            answer.cipher
        );
        if result.suites.len() > 1 {
            let names: Vec<&str> = result.suites.iter().map(|one| &one.cipher[..]).collect();
            line.push_str(&format!("; all suites: {}", names.join(" ")));
        }
        self.run.raw(line.trim_end()).await;
    }

    /// Adds the responses of a version; a stopped scan reports the findings that all responses so
    /// far prove.
    async fn note(&self, so_far: &Mutex<Vec<VersionAnswer>>, answer: VersionAnswer) {
        let output = {
            let mut so_far = so_far.lock().unwrap_or_else(PoisonError::into_inner);
            so_far.push(answer);
            so_far.sort_by_key(|one| one.version);
            if !so_far.iter().any(|one| one.answer.accepted) {
                return;
            }
            let checked = self.check(&distinct(&so_far, Vec::new()), &[]);
            let mut tests = self.tests(&so_far, &checked, None);
            // Without a finding, a test ends only after the answers of all versions.
            tests.retain(|test| !test.findings.is_empty());
            self.run.report_if_stopped(tests);
            self.output(&so_far, &checked)
        };
        self.run.output_findings(output).await;
    }

    async fn find_suites(&self, result: &mut VersionAnswer) {
        let mut is_first = true;
        for suites in suites::offered(result.version).chunks(OFFERED) {
            let mut offer = Offer::new(result.version, suites.to_vec());
            loop {
                let answer = self.handshake(&offer).await;
                if is_first || (answer.accepted && !result.answer.accepted) {
                    result.answer = answer.clone();
                    is_first = false;
                }
                let Some(suite) = answer.suite.filter(|_| answer.accepted) else {
                    break;
                };
                offer.suites.retain(|offered| *offered != suite);
                result.suites.push(answer);
                if offer.suites.is_empty() {
                    break;
                }
            }
            // Further offers of a version that the server ignores would take as long.
            let is_pointless = result.answer.is_late || result.answer.is_untested;
            if result.answer.alert == Some(PROTOCOL_VERSION) || is_pointless {
                return;
            }
        }
    }

    /// Finds the groups of TLS 1.3 by removal.
    async fn find_groups(&self, result: &mut VersionAnswer) {
        if !result.suites.iter().any(|one| one.is_retry) {
            return;
        }
        let mut offer = Offer::new(result.version, suites::offered(result.version));
        while !offer.groups.is_empty() {
            let answer = self.handshake(&offer).await;
            let Some(group) = answer
                .group
                .filter(|group| answer.accepted && offer.groups.contains(group))
            else {
                return;
            };
            offer.groups.retain(|offered| *offered != group);
            result.groups.extend(
                hello::NEW_GROUPS
                    .iter()
                    .find(|(number, _)| *number == group)
                    .map(|(_, name)| *name),
            );
        }
    }

    /// The chains of the server, one for each of its certificates, the one of the newest version
    /// first.
    pub(super) async fn chains(&self, answers: &[VersionAnswer]) -> Vec<Vec<Vec<u8>>> {
        let mut others = Vec::new();
        if answers
            .iter()
            .any(|one| one.version == Version::Tls13 && one.answer.accepted)
        {
            for keys in [KeyKind::Rsa, KeyKind::Elliptic] {
                others.extend(self.modern(keys).await.map(|answer| answer.chain));
            }
        }
        distinct(answers, others)
    }
}

/// The chains of these answers and `others`, one for each certificate. Current clients receive the
/// chain of the newest version.
fn distinct(answers: &[VersionAnswer], others: Vec<Vec<Vec<u8>>>) -> Vec<Vec<Vec<u8>>> {
    let newest = answers.iter().rev().map(|one| one.answer.chain.clone());
    let of_suites = answers
        .iter()
        .flat_map(|one| &one.suites)
        .map(|answer| answer.chain.clone());
    let mut distinct: Vec<Vec<Vec<u8>>> = Vec::new();
    for chain in newest
        .chain(others)
        .chain(of_suites)
        .filter(|chain| !chain.is_empty())
    {
        if !distinct.iter().any(|known| known[0] == chain[0]) && distinct.len() < MAX_CHAINS {
            distinct.push(chain);
        }
    }
    if distinct.is_empty() {
        // The check then reports that no certificate is readable.
        distinct.push(Vec::new());
    }
    distinct
}
