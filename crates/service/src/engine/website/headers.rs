//! Security headers: missing or ineffective ones. `header_values` says what several lines of a
//! header mean.

use url::Host;

use super::html::PageContents;
use super::site::Site;
use crate::engine::NewFinding;
use crate::engine::header_values::{self, directive};
use crate::engine::http::HttpPage;
use crate::engine::kinds::{FindingKind, web};

/// Half a year; with a shorter time a user's next visit may be unprotected.
const MIN_HSTS: u64 = 180 * 24 * 3600;
const HEADERS: &[&str] = &["URL", "Header", "Value"];

/// Content-Security-Policy missing, or without effect on scripts. A policy may be in a `meta`
/// element.
pub fn csp(site: &Site) -> Vec<NewFinding> {
    let name = "content-security-policy";
    let (mut missing, mut weak) = (Vec::new(), Vec::new());
    for (page, contents) in site.html_with_contents() {
        let policies: Vec<String> = header_policies(page)
            .chain(contents.policies.iter().cloned())
            .collect();
        if policies.is_empty() {
            missing.push(row(page, name));
        // A script runs only if every policy allows it, so one strict policy is sufficient.
        } else if let Some(why) = policies.iter().find_map(|policy| weakness(policy))
            && policies.iter().all(|policy| weakness(policy).is_some())
        {
            weak.push(vec![
                page.url.to_string(),
                format!("{name} ({why})"),
                policies.join(", "),
            ]);
        }
    }
    let mut found = site.finding_of_rows(web::CSP_MISSING, HEADERS, missing);
    found.extend(site.finding_of_rows(web::CSP_WEAK, HEADERS, weak));
    found
}

/// Strict-Transport-Security missing or too short. Only for HTTPS with a host name, because
/// browsers ignore the header elsewhere (RFC 6797 §8.1.1).
pub fn hsts(site: &Site) -> Vec<NewFinding> {
    let name = "strict-transport-security";
    if !site.is_https()
        || !site.is_shown()
        || !matches!(site.start.url.host(), Some(Host::Domain(_)))
    {
        return Vec::new();
    }
    let mut found = missing(site, web::HSTS_MISSING, site.pages(), name, |page| {
        page.header(name).is_empty()
    });
    let weak = site.pages().filter_map(|page| {
        // Browsers process the first line only.
        let line = page.all(name).next().filter(|line| !line.is_empty())?;
        match header_values::hsts_max_age(&line) {
            Ok(seconds) if seconds >= MIN_HSTS => None,
            Ok(_) => Some(row(page, name)),
            Err(reason) => Some(vec![
                page.url.to_string(),
                name.to_owned(),
                format!("{line} ({reason})"),
            ]),
        }
    });
    found.extend(site.finding_of_rows(web::HSTS_WEAK, HEADERS, weak.collect()));
    found
}

/// X-Content-Type-Options missing.
pub fn nosniff(site: &Site) -> Vec<NewFinding> {
    let name = "x-content-type-options";
    let pages = site.pages().filter(|page| page.is_success());
    missing(site, web::NOSNIFF_MISSING, pages, name, |page| {
        !header_values::is_nosniff(&page.header(name))
    })
}

/// Referrer-Policy missing or unsafe. A policy may be in a `meta` element.
pub fn referrer(site: &Site) -> Vec<NewFinding> {
    let name = "referrer-policy";
    let lacks = |(page, contents): &(&HttpPage, &PageContents)| {
        // An element comes after the header.
        let of_element = header_values::referrer_policy(&contents.referrer);
        let policy = of_element.or_else(|| header_values::referrer_policy(&page.header(name)));
        policy.is_none_or(|policy| policy == "unsafe-url")
    };
    let rows = site
        .html_with_contents()
        .filter(lacks)
        .map(|(page, _)| row(page, name))
        .collect();
    site.finding_of_rows(web::REFERRER_MISSING, HEADERS, rows)
}

/// Neither frame-ancestors nor X-Frame-Options.
pub fn frames(site: &Site) -> Vec<NewFinding> {
    missing(
        site,
        web::FRAMES_OPEN,
        site.html(),
        "x-frame-options",
        |page| {
            let by_policy =
                header_policies(page).any(|policy| directive(&policy, "frame-ancestors").is_some());
            !by_policy && !header_values::blocks_frames(&page.header("x-frame-options"))
        },
    )
}

fn missing<'p>(
    site: &Site,
    kind: FindingKind,
    pages: impl Iterator<Item = &'p HttpPage>,
    name: &str,
    lacks: impl Fn(&HttpPage) -> bool,
) -> Vec<NewFinding> {
    let rows = pages
        .filter(|page| lacks(page))
        .map(|page| row(page, name))
        .collect();
    site.finding_of_rows(kind, HEADERS, rows)
}

fn row(page: &HttpPage, name: &str) -> Vec<String> {
    let value = page.header(name);
    let value = if value.is_empty() {
        "absent".to_owned()
    } else {
        value.into_owned()
    };
    vec![page.url.to_string(), name.to_owned(), value]
}

/// The policies in the headers of a page.
fn header_policies(page: &HttpPage) -> impl Iterator<Item = String> {
    let lines: Vec<String> = page
        .all("content-security-policy")
        .map(|line| line.into_owned())
        .collect();
    lines.into_iter().flat_map(|line| {
        header_values::policies(&line)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    })
}

/// Why a policy does not block injected scripts, if so.
fn weakness(policy: &str) -> Option<&'static str> {
    let Some(sources) =
        directive(policy, "script-src").or_else(|| directive(policy, "default-src"))
    else {
        return Some("no script-src and no default-src");
    };
    let sources: Vec<String> = sources
        .iter()
        .map(|source| source.to_ascii_lowercase())
        .collect();
    let has = |source: &str| sources.iter().any(|one| one == source);
    // Nonces and hashes disable 'unsafe-inline'; 'strict-dynamic' disables hosts and schemes.
    let by_nonce = sources
        .iter()
        .any(|one| one.starts_with("'nonce-") || one.starts_with("'sha"));
    match () {
        () if has("'unsafe-inline'") && !by_nonce && !has("'strict-dynamic'") => {
            Some("'unsafe-inline'")
        }
        () if has("'strict-dynamic'") => None,
        () if has("*") || has("http:") || has("https:") => Some("scripts from anywhere"),
        () if has("data:") => Some("scripts from data:"),
        () => None,
    }
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
            (
                "script-src 'strict-dynamic' 'nonce-abc' https: 'unsafe-inline'",
                false,
            ),
            ("SCRIPT-SRC DATA:", true),
            ("img-src 'self'", true),
        ] {
            assert_eq!(weakness(policy).is_some(), weak, "{policy}");
        }
    }
}
