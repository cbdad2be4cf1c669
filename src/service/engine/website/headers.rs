//! Security headers: missing or ineffective ones.

use url::Host;

use super::html::PageContents;
use super::site::Site;
use crate::service::engine::NewFinding;
use crate::service::engine::http::HttpPage;
use crate::service::engine::kinds::{FindingKind, web};

/// Half a year; with a shorter time a user's next visit may be unprotected.
const MIN_HSTS: u64 = 180 * 24 * 3600;
const HEADERS: &[&str] = &["URL", "Header", "Value"];

/// Content-Security-Policy missing, or without effect on scripts. A policy may be in a `meta` element.
pub fn csp(site: &Site) -> Vec<NewFinding> {
    let name = "content-security-policy";
    let (mut missing, mut weak) = (Vec::new(), Vec::new());
    for (page, contents) in site.html_with_contents() {
        let policies: Vec<String> = policies(page).into_iter().chain(contents.policies.iter().cloned()).collect();
        if policies.is_empty() {
            missing.push(row(page, name));
        // A script runs only if every policy allows it, so one strict policy is sufficient.
        } else if let Some(why) = policies.iter().find_map(|policy| weakness(policy))
            && policies.iter().all(|policy| weakness(policy).is_some())
        {
            weak.push(vec![page.url.to_string(), format!("{name} ({why})"), policies.join(", ")]);
        }
    }
    let mut found = site.finding_of_rows(web::CSP_MISSING, HEADERS, missing);
    found.extend(site.finding_of_rows(web::CSP_WEAK, HEADERS, weak));
    found
}

/// Strict-Transport-Security missing or too short. Only for HTTPS with a host name, because browsers ignore the header
/// elsewhere (RFC 6797 §8.1.1).
pub fn hsts(site: &Site) -> Vec<NewFinding> {
    let name = "strict-transport-security";
    if !site.is_https() || !site.is_shown() || !matches!(site.start.url.host(), Some(Host::Domain(_))) {
        return Vec::new();
    }
    let mut found = missing(site, web::HSTS_MISSING, site.pages(), name, |page| page.header(name).is_empty());
    let short = site.pages().filter(|page| !page.header(name).is_empty());
    let short = short.filter(|page| max_age(page.header(name)).unwrap_or(0) < MIN_HSTS);
    found.extend(site.finding_of_rows(web::HSTS_WEAK, HEADERS, short.map(|page| row(page, name)).collect()));
    found
}

/// X-Content-Type-Options missing.
pub fn nosniff(site: &Site) -> Vec<NewFinding> {
    let name = "x-content-type-options";
    let pages = site.pages().filter(|page| page.is_success());
    missing(site, web::NOSNIFF_MISSING, pages, name, |page| !page.header(name).eq_ignore_ascii_case("nosniff"))
}

/// Referrer-Policy missing or unsafe. A policy may be in a `meta` element.
pub fn referrer(site: &Site) -> Vec<NewFinding> {
    let name = "referrer-policy";
    let lacks = |(page, contents): &(&HttpPage, &PageContents)| {
        // The last value counts (Referrer Policy §8.1), and an element comes after the header.
        let last = page.header(name).rsplit(',').next().unwrap_or_default().trim().to_ascii_lowercase();
        let last = if contents.referrer.is_empty() { last } else { contents.referrer.clone() };
        last.is_empty() || last == "unsafe-url"
    };
    let rows = site.html_with_contents().filter(lacks).map(|(page, _)| row(page, name)).collect();
    site.finding_of_rows(web::REFERRER_MISSING, HEADERS, rows)
}

/// Neither frame-ancestors nor X-Frame-Options.
pub fn frames(site: &Site) -> Vec<NewFinding> {
    missing(site, web::FRAMES_OPEN, site.html(), "x-frame-options", |page| {
        let by_policy = policies(page).iter().any(|policy| directive(policy, "frame-ancestors").is_some());
        let by_header = page.header("x-frame-options").trim().to_ascii_lowercase();
        !by_policy && by_header != "deny" && by_header != "sameorigin"
    })
}

fn missing<'p>(
    site: &Site,
    kind: FindingKind,
    pages: impl Iterator<Item = &'p HttpPage>,
    name: &str,
    lacks: impl Fn(&HttpPage) -> bool,
) -> Vec<NewFinding> {
    let rows = pages.filter(|page| lacks(page)).map(|page| row(page, name)).collect();
    site.finding_of_rows(kind, HEADERS, rows)
}

fn row(page: &HttpPage, name: &str) -> Vec<String> {
    let value = page.header(name);
    let value = if value.is_empty() { "absent" } else { value };
    vec![page.url.to_string(), name.to_owned(), value.to_owned()]
}

fn policies(page: &HttpPage) -> Vec<String> {
    page.all("content-security-policy").filter(|value| !value.trim().is_empty()).map(str::to_owned).collect()
}

fn directive<'p>(policy: &'p str, name: &str) -> Option<Vec<&'p str>> {
    policy.split(';').find_map(|part| {
        let mut words = part.split_whitespace();
        words.next().filter(|word| word.eq_ignore_ascii_case(name)).map(|_| words.collect())
    })
}

/// Why a policy does not block injected scripts, if so.
fn weakness(policy: &str) -> Option<&'static str> {
    let Some(sources) = directive(policy, "script-src").or_else(|| directive(policy, "default-src")) else {
        return Some("no script-src and no default-src");
    };
    let sources: Vec<String> = sources.iter().map(|source| source.to_ascii_lowercase()).collect();
    let has = |source: &str| sources.iter().any(|one| one == source);
    // Nonces and hashes disable 'unsafe-inline'; 'strict-dynamic' disables hosts and schemes.
    let by_nonce = sources.iter().any(|one| one.starts_with("'nonce-") || one.starts_with("'sha"));
    match () {
        () if has("'unsafe-inline'") && !by_nonce && !has("'strict-dynamic'") => Some("'unsafe-inline'"),
        () if has("'strict-dynamic'") => None,
        () if has("*") || has("http:") || has("https:") => Some("scripts from anywhere"),
        () if has("data:") => Some("scripts from data:"),
        () => None,
    }
}

fn max_age(value: &str) -> Option<u64> {
    value.split(';').find_map(|part| {
        let (name, seconds) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("max-age").then(|| seconds.trim().trim_matches('"').parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_that_allows_any_script_is_weak() {
        for (policy, weak) in [
            ("default-src 'self'", false),
            ("default-src 'self' 'unsafe-inline'", true),
            ("default-src *; script-src 'self'", false),
            ("script-src https:", true),
            ("script-src 'nonce-abc' 'unsafe-inline'", false),
            ("script-src 'strict-dynamic' 'nonce-abc' https: 'unsafe-inline'", false),
            ("SCRIPT-SRC DATA:", true),
            ("img-src 'self'", true),
        ] {
            assert_eq!(weakness(policy).is_some(), weak, "{policy}");
        }
    }

    #[test]
    fn max_age_is_parsed_with_and_without_quotes() {
        assert_eq!(max_age("max-age=31536000; includeSubDomains"), Some(31_536_000));
        assert_eq!(max_age("includeSubDomains; Max-Age=\"60\""), Some(60));
        assert_eq!(max_age("includeSubDomains"), None);
    }
}
