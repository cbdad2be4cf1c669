//! The start page of a website scan, after the redirects that `redirect_level` allows.
//!
//! The rules are in api-v2.md §4 (`redirect_level`). With a refused redirect the scan fails to
//! start.

use url::Url;

use crate::engine::ScanOutcome;
use crate::engine::http::{HttpPage, Web, WebError};
use crate::engine::run::ScanRun;
use scandeck_wire::contract::RedirectLevel;

const MAX_REDIRECTS: usize = 10;

/// Fetches the start page.
///
/// # Errors
/// The outcome of the scan when there is no start page.
pub async fn find(run: &ScanRun<'_>, web: &Web<'_>) -> Result<HttpPage, ScanOutcome> {
    let first = fetch_first(run, web).await?;
    let level = &run.job.redirect_level;
    if *level == RedirectLevel::None || first.redirect().is_none() {
        return Ok(first);
    }
    let original = first.url.clone();
    let last = follow(run, web, first.clone(), level).await?;
    if run.job.scan_original_url {
        return Ok(first);
    }
    run.info(format!(
        "{original} redirects to {}, which is scanned.",
        last.url
    ))
    .await;
    Ok(last)
}

/// The response of the target itself. A host without scheme is requested over https, then http.
async fn fetch_first(run: &ScanRun<'_>, web: &Web<'_>) -> Result<HttpPage, ScanOutcome> {
    let schemes: &[&str] = if run.address.url().is_some() {
        &["as given"]
    } else {
        &["https", "http"]
    };
    let mut failures = Vec::new();
    for url in schemes
        .iter()
        .filter_map(|scheme| run.address.url_with(scheme))
    {
        match web.get(&url).await {
            Ok(page) => {
                web.settle(&url);
                return Ok(page);
            }
            Err(WebError::Refused(why)) => return Err(ScanOutcome::FailedToStart(why)),
            // A TLS port closes the connection, or sends an alert that is no HTTP.
            Err(error @ (WebError::Tls | WebError::Silent | WebError::Broken(_)))
                if url.scheme() == "http" =>
            {
                let mut over_tls = url.clone();
                let hint = match over_tls.set_scheme("https") {
                    Ok(()) => format!("; if the port uses TLS, scan {over_tls}"),
                    Err(()) => String::new(),
                };
                failures.push(format!("{url}: {error}{hint}"));
            }
            Err(error) => failures.push(format!("{url}: {error}")),
        }
    }
    Err(ScanOutcome::ConnectionError(failures.join("; ")))
}

/// The start page over plain HTTP, for a site that is scanned over HTTPS on its usual port.
pub async fn plain_side(run: &ScanRun<'_>, web: &Web<'_>, start: &Url) -> Option<HttpPage> {
    if start.scheme() != "https"
        || start.port().is_some()
        || start.host_str() != run.address.url_with("https")?.host_str()
    {
        return None;
    }
    let mut plain = start.clone();
    plain.set_scheme("http").ok()?;
    web.get(&plain).await.ok()
}

/// The folders where the application of a start page may be installed: the root, and that of the
/// page if it is another one.
pub fn base_folders(start: &Url) -> Vec<String> {
    let path = start.path();
    let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
    let mut all = vec!["/".to_owned()];
    if folder != "/" && folder.starts_with('/') {
        all.push(folder.to_owned());
    }
    all
}

async fn follow(
    run: &ScanRun<'_>,
    web: &Web<'_>,
    mut page: HttpPage,
    level: &RedirectLevel,
) -> Result<HttpPage, ScanOutcome> {
    let home = run.address.host();
    for _ in 0..MAX_REDIRECTS {
        let Some(next) = page.redirect() else {
            return Ok(page);
        };
        check(level, &home, &page.url, &next).map_err(ScanOutcome::FailedToStart)?;
        page = match web.get(&next).await {
            Ok(page) => page,
            Err(WebError::Refused(why)) => {
                return Err(ScanOutcome::FailedToStart(format!(
                    "redirected to {next}: {why}"
                )));
            }
            Err(error) => {
                return Err(ScanOutcome::ConnectionError(format!(
                    "redirected to {next}: {error}"
                )));
            }
        };
    }
    Err(ScanOutcome::FailedToStart(format!(
        "more than {MAX_REDIRECTS} redirects, the last to {}",
        page.url
    )))
}

fn check(level: &RedirectLevel, home: &str, from: &Url, to: &Url) -> Result<(), String> {
    let host = to
        .host_str()
        .unwrap_or_default()
        .trim_start_matches('[')
        .trim_end_matches(']');
    let refused = || {
        Err(format!(
            "{from} redirects to {to}, which redirect_level {level} does not allow"
        ))
    };
    if !matches!(to.scheme(), "http" | "https") {
        return Err(format!(
            "{from} redirects to {to}, which is not a web address"
        ));
    }
    match level {
        RedirectLevel::CheckAccessibility => refused(),
        RedirectLevel::SameHost if host != home => refused(),
        RedirectLevel::SameDomain if !is_same_domain(home, host) => refused(),
        _ => Ok(()),
    }
}

/// The host itself, with or without `www.`, or a name below it.
fn is_same_domain(home: &str, host: &str) -> bool {
    let base = home.strip_prefix("www.").unwrap_or(home);
    host == base
        || host
            .strip_suffix(base)
            .is_some_and(|rest| rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirect_levels_allow_their_hosts_only() {
        let from = Url::parse("http://www.shop.test/").unwrap();
        for (to, allowed_by) in [
            (
                "https://www.shop.test/in",
                "same_host same_domain allow_all",
            ),
            ("http://shop.test/", "same_domain allow_all"),
            ("http://login.shop.test/", "same_domain allow_all"),
            ("http://evilshop.test/", "allow_all"),
            ("http://shop.test.evil.test/", "allow_all"),
            ("http://test/", "allow_all"),
            ("file:///etc/passwd", ""),
        ] {
            let to = Url::parse(to).unwrap();
            for level in [
                "check_accessibility",
                "same_host",
                "same_domain",
                "allow_all",
            ] {
                let allowed =
                    check(&RedirectLevel::from(level), "www.shop.test", &from, &to).is_ok();
                assert_eq!(
                    allowed,
                    allowed_by.split(' ').any(|name| name == level),
                    "{level} {to}"
                );
            }
        }
    }
}
