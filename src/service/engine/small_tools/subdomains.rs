//! Tool 20: names below a domain that resolve, from a wordlist.
//!
//! ```text
//!   domain ──► made-up names: does every name resolve? ──► word.domain ──► resolver ──► addresses ──► finding
//! ```
//!
//! Only the resolver receives requests; no found address is contacted.

use std::collections::BTreeSet;
use std::net::IpAddr;

use futures::{StreamExt, stream};
use serde_json::{Value, json};

use super::{report_coverage, words_of};
use crate::service::engine::coverage::{CheckCoverage, IncompleteTest, Obstacle, PROBES, ScanCoverage};
use crate::service::engine::kinds::{self, domain};
use crate::service::engine::pace::RequestPace;
use crate::service::engine::run::ScanRun;
use crate::service::engine::tools::target_refusal;
use crate::service::engine::{NewFinding, ScanOutcome, TestDone};
use crate::service::resolver::LookupError;
use crate::text::plural;

/// Number of concurrent queries.
const CONCURRENCY: usize = 16;
const QUERIES_PER_SECOND: u32 = 100;
/// Names that count as one test.
const CHUNK: usize = 20;
/// The port and the protocol of name servers, where the findings belong.
const DNS_PORT: u16 = 53;

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    if let Some(refusal) = target_refusal(run.job.tool, &run.job.params, &run.address) {
        return Err(ScanOutcome::FailedToStart(refusal));
    }
    let domain = run.address.host();
    let words = words_of(&run.job.params, include_str!("../../../../assets/wordlists/common-subdomains.txt"));
    let names: Vec<String> = words.iter().map(|word| format!("{word}.{domain}")).collect();
    run.planned(names.len().div_ceil(CHUNK) as u32 + 2).await;
    let (pace, mut counts) = (RequestPace::new(Some(QUERIES_PER_SECOND)), CheckCoverage::default());
    let mut wildcard = BTreeSet::new();
    for _ in 0..2 {
        let name = format!("sd{:012x}.{domain}", rand::random::<u64>() >> 16);
        wildcard.extend(lookup(run, &pace, &counts, &name).await);
    }
    if !wildcard.is_empty() {
        let ips = listed(&wildcard);
        run.info(format!("Every name below {domain} resolves to {ips}: names with these addresses are not listed."))
            .await;
    }
    let metadata = json!({"wildcard": !wildcard.is_empty()});
    run.tested(TestDone::new("domain.wildcard", "Wildcard of the domain", metadata, Vec::new())).await;

    let mut found = Vec::<Value>::new();
    let mut incomplete = None;
    for names in names.chunks(CHUNK) {
        let counts = std::mem::take(&mut counts);
        let (pace, counts) = (&pace, &counts);
        let lookups = stream::iter(names.to_vec()).map(|name| async move {
            let ips = lookup(run, pace, counts, &name).await;
            (name, ips)
        });
        let mut findings = Vec::new();
        for (name, ips) in lookups.buffered(CONCURRENCY).collect::<Vec<_>>().await {
            if !ips.is_subset(&wildcard) {
                run.raw(format!("{name} {}", listed(&ips))).await;
                found.extend(ips.iter().map(|ip| json!({"hostname": name, "ip_address": ip.to_string()})));
                findings.push(finding(&name, &ips));
            }
        }
        let metadata = json!({"names": names.len(), "findings": findings.len()});
        let test = TestDone::new("domain.subdomain", format!("Names below {domain}"), metadata, findings);
        let missed = counts.incomplete(PROBES);
        run.tested(test.judged(missed.as_ref().map(IncompleteTest::cause))).await;
        incomplete = IncompleteTest::merged([incomplete, missed]);
        run.output("subdomain_list", json!({"subdomains": found})).await;
    }
    let hosts: BTreeSet<&str> = found.iter().filter_map(|one| one["hostname"].as_str()).collect();
    let mut summary = format!("{} tried, {} found", plural(names.len(), "name"), plural(hosts.len(), "subdomain"));
    let mut coverage = ScanCoverage::new(1);
    coverage.add("domain.subdomain", incomplete);
    report_coverage(run, &coverage, DNS_PORT, "dns", &mut summary).await;
    Ok(summary)
}

/// The addresses of a name; none if it does not exist, or the name server does not say.
async fn lookup(run: &ScanRun<'_>, pace: &RequestPace, counts: &CheckCoverage, name: &str) -> BTreeSet<IpAddr> {
    pace.wait().await;
    let answer = run.settings.resolver.lookup(name.to_owned()).await;
    let is_unanswered = matches!(answer, Err(LookupError::Unanswered(_)));
    counts.count(is_unanswered.then_some(Obstacle::NameServer));
    if let (true, Err(why)) = (is_unanswered, &answer) {
        run.raw(format!("{name} {why}")).await;
    }
    answer.unwrap_or_default().into_iter().collect()
}

fn listed(ips: &BTreeSet<IpAddr>) -> String {
    ips.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(", ")
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
        evidence: kinds::table(&["Host name", "Addresses"], vec![vec![name.to_owned(), listed(ips)]]),
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::Arc;

    use super::*;
    use crate::contract::Tool;
    use crate::service::dns::{DnsClient, testing::name_server};
    use crate::service::engine::testing::TestScan;

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
            assert_eq!((&output.output_type[..], &output.output_data["subdomains"]), ("subdomain_list", &listed));
            assert_eq!(result.outcome, ScanOutcome::Finished("3 names tried, 1 subdomain found".into()));
            assert_eq!(result.info.len(), usize::from(wildcard));
        }
    }

    #[tokio::test]
    async fn without_name_server_the_scan_is_incomplete() {
        let closed = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let mut scan = TestScan::new(Tool::SUBDOMAINS, "shop.localhost", json!({}));
        scan.resolver = Arc::new(DnsClient::new(closed));
        scan.job.params["words"] = json!(["www", "mail"]);
        let result = scan.run().await;
        result.check();
        let coverage = result.of("coverage.errors");
        assert!(coverage.len() == 1 && coverage[0].evidence.as_json().contains("domain.subdomain"), "{coverage:?}");
        let ScanOutcome::Finished(message) = &result.outcome else { panic!("{:?}", result.outcome) };
        let expected = "2 names tried, 0 subdomains found; 1 of 1 test incomplete (no answer from the name server)";
        assert_eq!(message, expected);
        assert!(result.raw.iter().any(|line| line.starts_with("www.shop.localhost ")), "{:?}", result.raw);
    }
}
