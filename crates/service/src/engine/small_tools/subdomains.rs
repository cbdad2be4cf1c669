//! Tool 20: names below a domain that resolve, from a wordlist.
//!
//! ```text
//!   domain ──► made-up names: does every name resolve? ──► word.domain ──► resolver ──► other addresses ──► finding
//! ```
//!
//! A wildcard may choose from a pool of addresses, by name or by chance. Then more made-up names
//! show the networks of the pool; names in these networks cannot be distinguished from made-up
//! ones. A pool that is everywhere hides all names.
//!
//! Only the resolver receives requests; no found address is contacted.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use futures::{StreamExt, stream};
use serde_json::{Value, json};

use super::{ToolCoverage, words_of};
use crate::engine::coverage::{CheckCoverage, Obstacle, PROBES};
use crate::engine::kinds::{self, domain};
use crate::engine::pace::RequestPace;
use crate::engine::run::ScanRun;
use crate::engine::tools::target_refusal;
use crate::engine::{NewFinding, ScanOutcome, TestDone};
use crate::net::resolver::LookupError;
use scandeck_wire::text::plural;

/// Number of concurrent queries.
const CONCURRENCY: usize = 16;
const QUERIES_PER_SECOND: u32 = 100;
/// Made-up names before the list, and again before a name outside of the known networks of a pool
/// is listed.
const FIRST_CONTROLS: usize = 3;
/// Further made-up names that show the networks of a pool.
const POOL_CONTROLS: usize = 21;
/// Names that count as one test.
const CHUNK: usize = 20;
/// The port and the protocol of name servers, where the findings belong.
const DNS_PORT: u16 = 53;

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    if let Some(refusal) = target_refusal(run.job.tool, &run.job.params, &run.address) {
        return Err(ScanOutcome::FailedToStart(refusal));
    }
    let words = words_of(
        &run.job.params,
        include_str!("../../../assets/wordlists/common-subdomains.txt"),
    );
    let search = NameSearch {
        domain: run.address.host(),
        resolver: PacedResolver {
            run,
            pace: RequestPace::new(Some(QUERIES_PER_SECOND)),
        },
        wildcard: Wildcard::default(),
        listed: Vec::new(),
        hosts: BTreeSet::new(),
        coverage: ToolCoverage::new(run, "domain.subdomain"),
    };
    Ok(search.run(&words).await)
}

/// A running search.
struct NameSearch<'a> {
    domain: String,
    resolver: PacedResolver<'a>,
    wildcard: Wildcard,
    /// The output of the tool.
    listed: Vec<Value>,
    /// Found names; a list may name one twice.
    hosts: BTreeSet<String>,
    coverage: ToolCoverage<'a>,
}

impl NameSearch<'_> {
    /// Reports all results; returns the summary.
    async fn run(mut self, words: &[String]) -> String {
        let domain = &self.domain;
        let names: Vec<String> = words
            .iter()
            .map(|word| format!("{word}.{domain}"))
            .collect();
        let tests = names.len().div_ceil(CHUNK) as u32 + 2;
        self.resolver.run.planned(tests).await;
        // The first test counts the queries of the controls too.
        let mut counts = CheckCoverage::default();
        self.read_wildcard(&counts).await;
        for chunk in names.chunks(CHUNK) {
            self.search(chunk, &counts).await;
            counts = CheckCoverage::default();
        }
        let summary = format!(
            "{} tried, {} found",
            plural(names.len(), "name"),
            plural(self.hosts.len(), "subdomain")
        );
        self.coverage.end(DNS_PORT, "dns", summary).await
    }

    /// Finds out whether names that do not exist resolve, and reports it as the first test.
    async fn read_wildcard(&mut self, counts: &CheckCoverage) {
        self.sample(counts, FIRST_CONTROLS).await;
        if self.wildcard.exists() {
            self.sample(counts, POOL_CONTROLS).await;
        }
        let run = self.resolver.run;
        if let Some(note) = self.wildcard.note(&self.domain) {
            run.info(note).await;
        }
        let metadata = json!({"wildcard": self.wildcard.exists()});
        let test = TestDone::new(
            "domain.wildcard",
            "Wildcard of the domain",
            metadata,
            Vec::new(),
        );
        run.tested(test).await;
    }

    /// Adds the addresses of made-up names.
    async fn sample(&mut self, counts: &CheckCoverage, names: usize) {
        for _ in 0..names {
            let name = format!("sd{:012x}.{}", rand::random::<u64>() >> 16, self.domain);
            self.wildcard.add(self.resolver.lookup(counts, &name).await);
        }
    }

    async fn search(&mut self, names: &[String], counts: &CheckCoverage) {
        let mut findings = Vec::new();
        for (name, ips) in self.resolver.lookup_all(counts, names).await {
            if self.is_found(&ips, counts).await {
                self.list(&name, &ips).await;
                findings.push(finding(&name, &ips));
            }
        }
        let metadata = json!({"names": names.len(), "findings": findings.len()});
        let missed = counts.incomplete(PROBES);
        let description = format!("Names below {}", self.domain);
        self.coverage
            .report(description, metadata, findings, missed)
            .await;
        let output = json!({"subdomains": self.listed});
        self.resolver.run.output("subdomain_list", output).await;
    }

    /// Whether these addresses differ from those of made-up names.
    async fn is_found(&mut self, ips: &BTreeSet<IpAddr>, counts: &CheckCoverage) -> bool {
        if self.wildcard.exists() && !self.wildcard.covers(ips) {
            // The pool may have shown only some of its networks so far.
            self.sample(counts, FIRST_CONTROLS).await;
        }
        !self.wildcard.covers(ips)
    }

    async fn list(&mut self, name: &str, ips: &BTreeSet<IpAddr>) {
        let line = format!("{name} {}", listed(ips));
        self.resolver.run.raw(line).await;
        let row = |ip: &IpAddr| json!({"hostname": name, "ip_address": ip.to_string()});
        self.listed.extend(ips.iter().map(row));
        self.hosts.insert(name.to_owned());
    }
}

/// The resolver of the service at the rate of this tool.
struct PacedResolver<'a> {
    run: &'a ScanRun<'a>,
    pace: RequestPace,
}

impl PacedResolver<'_> {
    /// The addresses of a name; none if it does not exist, or the name server does not say.
    async fn lookup(&self, counts: &CheckCoverage, name: &str) -> BTreeSet<IpAddr> {
        self.pace.wait().await;
        let answer = self.run.settings.resolver.lookup(name.to_owned()).await;
        let is_unanswered = matches!(answer, Err(LookupError::Unanswered(_)));
        counts.count(is_unanswered.then_some(Obstacle::NameServer));
        if let (true, Err(why)) = (is_unanswered, &answer) {
            self.run.raw(format!("{name} {why}")).await;
        }
        answer.unwrap_or_default().into_iter().collect()
    }

    async fn lookup_all(
        &self,
        counts: &CheckCoverage,
        names: &[String],
    ) -> Vec<(String, BTreeSet<IpAddr>)> {
        let lookup = |name: String| async move {
            let ips = self.lookup(counts, &name).await;
            (name, ips)
        };
        let lookups = stream::iter(names.to_vec()).map(lookup);
        lookups.buffered(CONCURRENCY).collect().await
    }
}

/// The addresses of made-up names.
#[derive(Debug, Default)]
struct Wildcard {
    /// The addresses of each made-up name that resolved.
    answers: Vec<BTreeSet<IpAddr>>,
}

impl Wildcard {
    fn add(&mut self, ips: BTreeSet<IpAddr>) {
        if !ips.is_empty() {
            self.answers.push(ips);
        }
    }

    fn exists(&self) -> bool {
        !self.answers.is_empty()
    }

    fn addresses(&self) -> BTreeSet<IpAddr> {
        self.answers.iter().flatten().copied().collect()
    }

    /// Whether made-up names have different addresses.
    fn is_pool(&self) -> bool {
        self.answers.windows(2).any(|pair| pair[0] != pair[1])
    }

    fn networks(&self) -> BTreeSet<(IpAddr, u8)> {
        self.answers
            .iter()
            .flatten()
            .map(|ip| network(*ip))
            .collect()
    }

    /// Whether nearly every made-up name shows another network, so that the next one would too.
    fn is_everywhere(&self) -> bool {
        self.is_pool() && self.networks().len() * 2 > self.answers.len()
    }

    /// Whether nothing distinguishes these addresses from those of a made-up name; true without an
    /// address.
    fn covers(&self, ips: &BTreeSet<IpAddr>) -> bool {
        if ips.is_subset(&self.addresses()) {
            return true;
        }
        let networks = self.networks();
        self.is_everywhere()
            || self.is_pool() && ips.iter().all(|ip| networks.contains(&network(*ip)))
    }

    fn note(&self, domain: &str) -> Option<String> {
        let networks = || {
            self.networks()
                .iter()
                .map(|(ip, bits)| format!("{ip}/{bits}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        Some(match () {
            () if self.answers.is_empty() => return None,
            () if self.is_everywhere() => format!(
                "Every name below {domain} resolves, to addresses in many networks: no name can be distinguished from a made-up one, so none is listed."
            ),
            () if self.is_pool() => format!(
                "Every name below {domain} resolves to a pool of addresses: names in {} are not listed.",
                networks()
            ),
            () => format!(
                "Every name below {domain} resolves to {}: names with these addresses are not listed.",
                listed(&self.addresses())
            ),
        })
    }
}

/// The network of an address, as pools of addresses use them: /24, and /64 of IPv6.
fn network(ip: IpAddr) -> (IpAddr, u8) {
    match ip {
        IpAddr::V4(ip) => (Ipv4Addr::from_bits(ip.to_bits() & !0xff).into(), 24),
        IpAddr::V6(ip) => (
            Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)).into(),
            64,
        ),
    }
}

fn listed(ips: &BTreeSet<IpAddr>) -> String {
    ips.iter()
        .map(IpAddr::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

fn finding(name: &str, ips: &BTreeSet<IpAddr>) -> NewFinding {
    let finding = domain::SUBDOMAIN.finding();
    NewFinding {
        port: DNS_PORT,
        protocol: "udp".to_owned(),
        service: "dns".to_owned(),
        place: name.to_owned(),
        name: format!("{}: {name}", finding.name),
        confirmed: true,
        evidence: kinds::table(
            &["Host name", "Addresses"],
            vec![vec![name.to_owned(), listed(ips)]],
        ),
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;
    use crate::engine::testing::TestScan;
    use crate::net::dns::{DnsClient, testing::name_server};
    use scandeck_wire::contract::Tool;

    #[tokio::test]
    async fn names_are_found_and_wildcards_are_not() {
        for wildcard in [false, true] {
            let server = name_server(move |name| match name {
                "www.shop.localhost" => Some(Ipv4Addr::new(192, 0, 2, 7)),
                "shop.localhost" => Some(Ipv4Addr::LOCALHOST),
                _ => wildcard.then_some(Ipv4Addr::new(192, 0, 2, 1)),
            })
            .await;
            let mut scan = TestScan::new(Tool::SUBDOMAINS, "shop.localhost", json!({}));
            scan.resolver = Arc::new(DnsClient::new(server));
            scan.job.params["words"] = json!(["www", "mail", "a..b"]);
            let result = scan.run().await;
            result.check();
            let output = result.output.as_ref().unwrap();
            let listed = json!([{"hostname": "www.shop.localhost", "ip_address": "192.0.2.7"}]);
            assert_eq!(
                (&output.output_type[..], &output.output_data["subdomains"]),
                ("subdomain_list", &listed)
            );
            assert_eq!(
                result.outcome,
                ScanOutcome::Finished("3 names tried, 1 subdomain found".into())
            );
            assert_eq!(result.info.len(), usize::from(wildcard));
        }
    }

    /// The addresses of a pool, by a hash of the name or one after the other.
    #[tokio::test]
    async fn names_of_wildcard_pool_are_not_listed() {
        static NEXT: AtomicU8 = AtomicU8::new(0);
        let by_name = |name: &str| {
            name.bytes()
                .fold(0_u8, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte))
        };
        struct Pool {
            kind: &'static str,
            address: fn(u8) -> Ipv4Addr,
            found: &'static [&'static str],
        }
        let www: &[&str] = &["www.shop.localhost"];
        let pools = [
            Pool {
                kind: "one network",
                address: |number| Ipv4Addr::new(192, 0, 2, number),
                found: www,
            },
            Pool {
                kind: "three networks",
                address: |number| Ipv4Addr::new(198, 51, 100 + number % 3, number),
                found: www,
            },
            Pool {
                kind: "everywhere",
                address: |number| Ipv4Addr::new(198, number, number ^ 0x55, 9),
                found: &[],
            },
        ];
        for Pool {
            kind,
            address,
            found,
        } in pools
        {
            for is_stable in [true, false] {
                let server = name_server(move |name| match name {
                    "www.shop.localhost" => Some(Ipv4Addr::new(203, 0, 113, 7)),
                    name => {
                        let number = if is_stable {
                            by_name(name)
                        } else {
                            NEXT.fetch_add(37, Ordering::Relaxed)
                        };
                        name.ends_with("shop.localhost").then(|| address(number))
                    }
                })
                .await;
                let mut scan = TestScan::new(Tool::SUBDOMAINS, "shop.localhost", json!({}));
                scan.resolver = Arc::new(DnsClient::new(server));
                let words: Vec<String> = (0..40)
                    .map(|n| format!("name{n}"))
                    .chain(["www".to_owned()])
                    .collect();
                scan.job.params["words"] = json!(words);
                let result = scan.run().await;
                result.check();
                let places: Vec<&str> = result
                    .findings()
                    .map(|finding| finding.place.as_str())
                    .collect();
                assert_eq!(
                    places, found,
                    "{kind}, stable: {is_stable}: {:?}",
                    result.info
                );
                assert_eq!(result.info.len(), 1, "{:?}", result.info);
            }
        }
    }

    #[tokio::test]
    async fn without_name_server_the_scan_is_incomplete() {
        let closed = tokio::net::UdpSocket::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap();
        let mut scan = TestScan::new(Tool::SUBDOMAINS, "shop.localhost", json!({}));
        scan.resolver = Arc::new(DnsClient::new(closed));
        scan.job.params["words"] = json!(["www", "mail"]);
        let result = scan.run().await;
        result.check();
        let coverage = result.of("coverage.errors");
        assert!(
            coverage.len() == 1 && coverage[0].evidence.as_json().contains("domain.subdomain"),
            "{coverage:?}"
        );
        let ScanOutcome::Finished(message) = &result.outcome else {
            panic!("{:?}", result.outcome)
        };
        let expected = "2 names tried, 0 subdomains found; 1 of 1 test incomplete (no answer from the name server)";
        assert_eq!(message, expected);
        assert!(
            result
                .raw
                .iter()
                .any(|line| line.starts_with("www.shop.localhost ")),
            "{:?}",
            result.raw
        );
    }
}
