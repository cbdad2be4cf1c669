//! Cookies and their protective attributes: one finding per cookie and missing attribute.

use std::collections::BTreeMap;

use super::site::Site;
use crate::service::engine::NewFinding;
use crate::service::engine::kinds::{FindingKind, web};

/// A cookie without its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cookie {
    name: String,
    secure: bool,
    http_only: bool,
    same_site: String,
    removed: bool,
}

/// Cookies of an HTTPS site that browsers would also send over HTTP.
pub fn secure(site: &Site) -> Vec<NewFinding> {
    if !site.is_https() {
        return Vec::new();
    }
    without(site, web::COOKIE_SECURE, "Secure", |cookie| cookie.secure)
}

/// Cookies that scripts can read, except CSRF tokens, which scripts must read.
pub fn http_only(site: &Site) -> Vec<NewFinding> {
    without(site, web::COOKIE_HTTP_ONLY, "HttpOnly", |cookie| {
        let name = cookie.name.to_ascii_lowercase();
        cookie.http_only || name.contains("csrf") || name.contains("xsrf")
    })
}

/// Cookies that browsers send with cross-site requests.
pub fn same_site(site: &Site) -> Vec<NewFinding> {
    without(site, web::COOKIE_SAME_SITE, "SameSite", |cookie| matches!(cookie.same_site.as_str(), "lax" | "strict"))
}

fn without(site: &Site, kind: FindingKind, attribute: &str, has: impl Fn(&Cookie) -> bool) -> Vec<NewFinding> {
    let mut rows: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for page in &site.pages {
        for cookie in page.all("set-cookie").filter_map(parse).filter(|cookie| !cookie.removed && !has(cookie)) {
            let row = vec![page.url.to_string(), cookie.name.clone(), format!("no {attribute}"), shown(&cookie)];
            rows.entry(cookie.name).or_default().push(row);
        }
    }
    let findings = rows.into_iter().map(|(name, rows)| {
        let finding = site.finding(kind, &["URL", "Cookie", "Missing", "Attributes"], rows);
        NewFinding { place: format!("cookie {name}"), name: format!("{}: {name}", finding.name), ..finding }
    });
    findings.collect()
}

fn parse(header: &str) -> Option<Cookie> {
    let mut parts = header.split(';').map(str::trim);
    let (name, _) = parts.next()?.split_once('=')?;
    let mut cookie = Cookie { name: name.trim().chars().take(80).collect(), ..Cookie::default() };
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key.trim().to_ascii_lowercase().as_str() {
            "secure" => cookie.secure = true,
            "httponly" => cookie.http_only = true,
            "samesite" => cookie.same_site = value.trim().to_ascii_lowercase(),
            "max-age" => cookie.removed = value.trim().parse::<i64>().is_ok_and(|seconds| seconds <= 0),
            "expires" => cookie.removed |= value.contains(" 1970"),
            _ => {}
        }
    }
    (!cookie.name.is_empty()).then_some(cookie)
}

fn shown(cookie: &Cookie) -> String {
    let same_site = format!("SameSite={}", cookie.same_site);
    let all = [(cookie.secure, "Secure"), (cookie.http_only, "HttpOnly"), (!cookie.same_site.is_empty(), &same_site)];
    let set: Vec<&str> = all.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name).collect();
    if set.is_empty() { "none".to_owned() } else { set.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_reads_attributes_in_any_case_and_drops_the_value() {
        let cookie = parse("sid=s3cret; Path=/; SECURE; httponly; samesite=Lax").unwrap();
        assert!(cookie.secure && cookie.http_only && cookie.same_site == "lax" && !cookie.removed);
        assert!(!format!("{cookie:?}{}", shown(&cookie)).contains("s3cret"));
        assert!(parse("sid=; Max-Age=0").unwrap().removed);
        assert!(parse("sid=; expires=Thu, 01 Jan 1970 00:00:00 GMT").unwrap().removed);
        assert_eq!(parse("no cookie at all"), None);
    }
}
