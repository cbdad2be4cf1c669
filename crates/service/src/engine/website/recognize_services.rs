//! Recognises pages and files of services, tools and deployments by content.
//!
//! Like `recognize.rs`: each function returns the proof for a report, without the secrets in it.

use regex::Regex;
use serde_json::Value;

use super::api_operations::{self, ApiVersion};
use super::recognize::is_markup;
use super::recognize_consoles;
use crate::engine::http::HttpPage;
use scandeck_wire::text::plural;

/// A regular expression that is compiled once.
macro_rules! pattern {
    ($text:expr) => {{
        static PATTERN: std::sync::LazyLock<Option<regex::Regex>> =
            std::sync::LazyLock::new(|| regex::Regex::new($text).ok());
        PATTERN.as_ref()
    }};
}
pub(super) use pattern;

fn proof(is_it: bool, what: &str) -> Option<String> {
    is_it.then(|| what.to_owned())
}

/// The text between two markers, shortened.
fn shown(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(120)
        .collect()
}

pub fn cvs(page: &HttpPage) -> Option<String> {
    let text = page.text();
    let entries = pattern!(r"(?m)^/[^/\n]+/[\d.]+/[^/\n]*/[^/\n]*/")?
        .find_iter(&text)
        .count();
    proof(entries > 0 && !is_markup(page), "CVS entries of files")
}

pub fn bazaar(page: &HttpPage) -> Option<String> {
    proof(
        page.body.starts_with(b"Bazaar") && page.body.len() < 500,
        "format of a Bazaar branch",
    )
}

/// The output of `phpinfo()`.
pub fn phpinfo(page: &HttpPage) -> Option<String> {
    let text = page.text();
    let version =
        pattern!(r"PHP Version\s*(?:</?[^>]{1,80}>\s*)*(\d+\.\d+[\w.+-]*)")?.captures(&text)?;
    let is_it = text.contains("phpinfo()") || text.contains("php.ini") || text.contains("_SERVER[");
    is_it.then(|| format!("phpinfo() of PHP {}", &version[1]))
}

/// The status or configuration page of a web server.
pub fn server_status(page: &HttpPage) -> Option<String> {
    let text = page.text();
    match () {
        () if text.contains("Apache Server Status for") => Some("Apache server-status".to_owned()),
        () if text.contains("Apache Server Information") && text.contains("Server Settings") => {
            Some("Apache server-info".to_owned())
        }
        () if pattern!(r"(?m)^Active connections: \d+")?.is_match(&text)
            && text.contains("server accepts handled") =>
        {
            Some("nginx stub_status".to_owned())
        }
        () if text.contains("Total Accesses: ") && text.contains("Scoreboard: ") => {
            Some("server-status?auto".to_owned())
        }
        () if text.contains("<title>phpfpm")
            || (text.contains("pool:") && text.contains("process manager:")) =>
        {
            Some("PHP-FPM status".to_owned())
        }
        () if text.contains("Statistics Report for HAProxy")
            || text.starts_with("# pxname,svname") =>
        {
            Some("HAProxy statistics".to_owned())
        }
        () => None,
    }
}

/// The JSON of an answer that is no web page.
pub(super) fn json(page: &HttpPage) -> Option<Value> {
    if is_markup(page) {
        None
    } else {
        serde_json::from_slice(&page.body).ok()
    }
}

/// Endpoints of Spring Boot Actuator.
pub fn actuator(page: &HttpPage) -> Option<String> {
    let value = json(page)?;
    let links = value["_links"]
        .as_object()
        .filter(|links| links.contains_key("self") && links.len() > 1);
    if let Some(links) = links {
        let names: Vec<&str> = links
            .keys()
            .map(String::as_str)
            .filter(|name| *name != "self")
            .take(8)
            .collect();
        return Some(format!("links to {}", names.join(", ")));
    }
    let sources = match value["propertySources"]
        .as_array()
        .filter(|_| value.get("activeProfiles").is_some())
    {
        Some(sources) => sources.len(),
        // Spring Boot 1.
        None if value["profiles"].is_array() && value["systemProperties"].is_object() => {
            value.as_object()?.len() - 1
        }
        None => return None,
    };
    Some(format!(
        "environment, {}",
        plural(sources, "property source")
    ))
}

/// Whether the environment of Spring Boot contains values, and not only their names.
pub fn shows_values(page: &HttpPage) -> bool {
    let Some(value) = json(page) else {
        return false;
    };
    let is_shown = |value: &Value| {
        value
            .as_str()
            .is_some_and(|text| !text.is_empty() && text.chars().any(|c| c != '*'))
    };
    let mut sources = value["propertySources"].as_array().into_iter().flatten();
    let properties = |source: &Value| {
        source["properties"]
            .as_object()
            .cloned()
            .unwrap_or_default()
    };
    sources.any(|source| {
        properties(source)
            .values()
            .any(|property| is_shown(&property["value"]))
    }) || value["systemProperties"]
        .as_object()
        .is_some_and(|all| all.values().any(is_shown))
}

/// Metrics in the text format of Prometheus.
pub fn metrics(page: &HttpPage) -> Option<String> {
    let text = page.text();
    let name = pattern!(r"(?m)^# TYPE (\w+) (?:counter|gauge|histogram|summary|untyped)")?
        .captures(&text)?;
    (!is_markup(page)).then(|| format!("metrics: {}", &name[1]))
}

/// Profiles and variables of a Go program, or the debug pages of web frameworks.
pub fn debug(page: &HttpPage) -> Option<String> {
    let text = page.text();
    match () {
        () if text.contains("/debug/pprof/") && text.contains("goroutine") => {
            Some("Go pprof".to_owned())
        }
        () if json(page)
            .is_some_and(|value| value["memstats"].is_object() && value["cmdline"].is_array()) =>
        {
            Some("Go expvar: cmdline and memstats".to_owned())
        }
        () if text.contains("Application Trace")
            && text.contains("Requests to this Application") =>
        {
            Some("ASP.NET trace.axd".to_owned())
        }
        () if text.contains("Error Log for") && text.to_ascii_lowercase().contains("elmah") => {
            Some("ELMAH".to_owned())
        }
        () if text.contains("<title>Symfony Profiler") => Some("Symfony Profiler".to_owned()),
        () if recognize_consoles::is_werkzeug_console(page) => {
            let pin = if recognize_consoles::runs_python(page) {
                " without PIN"
            } else {
                ""
            };
            Some(format!("Werkzeug console{pin}"))
        }
        () if text.contains("Rails version") && text.contains("Application root") => {
            Some("Rails properties".to_owned())
        }
        () if text.contains("Laravel Telescope") || text.contains("<title>Telescope") => {
            Some("Telescope".to_owned())
        }
        () => None,
    }
}

pub fn api_description(page: &HttpPage) -> Option<String> {
    if let Some(document) = api_operations::document_of_page(page) {
        let ApiVersion { name, version } = api_operations::version(&document)?;
        let paths = plural(document["paths"].as_object()?.len(), "path");
        return Some(format!("{name} {version}: {paths}"));
    }
    let text = page.text();
    proof(
        text.contains("<title>Swagger UI") || text.contains("SwaggerUIBundle("),
        "Swagger UI",
    )
}

/// The answer to an introspection query.
pub fn graphql(page: &HttpPage) -> Option<String> {
    let value = json(page)?;
    let name = value["data"]["__schema"]["queryType"]["name"].as_str()?;
    Some(format!("introspection: query type {}", shown(name)))
}

pub fn ds_store(page: &HttpPage) -> Option<String> {
    proof(
        page.body.starts_with(b"\0\0\0\x01Bud1"),
        "macOS folder index",
    )
}

/// Manifests with the versions of dependencies.
pub fn manifest(page: &HttpPage) -> Option<String> {
    if let Some(value) = json(page) {
        let is_npm = value["dependencies"].is_object() || value["devDependencies"].is_object();
        let is_lock = value["packages"].is_array() || value["lockfileVersion"].is_number();
        let is_composer = value["require"].is_object();
        return proof(
            is_npm || is_lock || is_composer,
            "dependencies with versions",
        );
    }
    let text = page.text();
    let pinned = pattern!(r"(?m)^[A-Za-z][\w.\[\]-]*\s*[=~>]=\s*\d")?
        .find_iter(&text)
        .count();
    let is_lock = text.starts_with("GEM\n")
        || text.contains("# yarn lockfile")
        || text.starts_with("[[package]]");
    proof(
        !is_markup(page) && (pinned >= 2 || is_lock),
        "dependencies with versions",
    )
}

/// Log files.
pub fn log(page: &HttpPage) -> Option<String> {
    let text = page.text();
    let lines =
        |pattern: Option<&Regex>| pattern.map_or(0, |pattern| pattern.find_iter(&text).count());
    if is_markup(page) {
        return None;
    }
    let access = lines(pattern!(
        r#"(?m)^[0-9a-f.:]{7,39} \S+ \S+ \[[^\]]+\] "[A-Z]+ "#
    ));
    let errors = lines(pattern!(
        r"(?m)^\[?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d[^\n]{0,40}(?:\[(?:error|warn|crit|notice)\]|\b(?:ERROR|WARN|INFO|DEBUG)\b)"
    ));
    let apache = lines(pattern!(
        r"(?m)^\[\w{3} \w{3} \d\d [^\]]+\] \[[\w:]*(?:error|warn|notice)\]|^\[[^\]]+\] PHP \w+( error)?:"
    ));
    let npm = lines(pattern!(r"(?m)^\d+ (?:verbose|info|error|silly) "));
    match () {
        () if access > 0 => Some(plural(access, "access log line")),
        () if errors + apache > 0 => Some(plural(errors + apache, "log line")),
        () if npm > 2 => Some("npm debug log".to_owned()),
        () => None,
    }
}

/// Settings with the name of a secret and a value.
pub fn settings_with_secret(page: &HttpPage) -> Option<String> {
    if is_markup(page) && !page.body.starts_with(b"<?xml") {
        return None;
    }
    let text = page.text();
    let name = pattern!(
        r#"(?im)^\s*["']?([\w.-]*(?:password|passwd|secret|access[_-]?key|connectionstring|auth[_-]?token)[\w.-]*)["']?\s*(?::|=>?)\s*["']?[^\s"'<>{}\[\]$,]{4,}"#
    )?
    .captures(&text)?;
    Some(format!("setting {}", shown(&name[1])))
}

/// The configuration of an editor or IDE.
pub fn editor(page: &HttpPage) -> Option<String> {
    let text = page.text();
    let is_idea = text.contains("<project version=") && text.contains("<component name=");
    let is_eclipse = text.contains("<projectDescription>");
    let is_code = json(page).is_some_and(|value| {
        value.as_object().is_some_and(|fields| {
            fields
                .keys()
                .any(|key| key.contains('.') || key == "configurations")
        })
    });
    proof(is_idea || is_eclipse || is_code, "settings of an editor")
}

/// A deployment descriptor of Java.
pub fn web_inf(page: &HttpPage) -> Option<String> {
    let text = page.text();
    proof(
        text.contains("<web-app") && text.contains("</web-app>"),
        "web.xml",
    )
}

/// A policy that lets any site read responses with Flash or Silverlight.
pub fn cross_domain(page: &HttpPage) -> Option<String> {
    let text = page.text();
    let allows =
        pattern!(r#"<(?:allow-access-from domain|domain uri)\s*=\s*["'](?:\*|http://\*)["']"#)?;
    proof(allows.is_match(&text), "access from any domain")
}

/// The log-in page of an administration interface.
pub fn admin(page: &HttpPage) -> Option<String> {
    let text = page.text();
    let title = pattern!(r"(?is)<title[^>]*>(.{1,200}?)</title>")?
        .captures(&text)
        .map(|found| shown(&found[1]));
    let heading = pattern!(r"(?is)<h1[^>]*>(.{1,200}?)</h1>")?
        .captures(&text)
        .map(|found| shown(&found[1]));
    let names = [title.unwrap_or_default(), heading.unwrap_or_default()];
    let is_admin = names.iter().any(|name| {
        let name = name.to_ascii_lowercase();
        [
            "admin",
            "phpmyadmin",
            "adminer",
            "wordpress",
            "jenkins",
            "grafana",
            "kibana",
            "tomcat",
            "webmin",
            "dashboard",
        ]
        .iter()
        .any(|word| name.contains(word))
    });
    let has_password = pattern!(r#"(?i)<input[^>]+type\s*=\s*["']?password"#)?.is_match(&text);
    let name = names.iter().find(|name| !name.is_empty())?;
    (is_admin && has_password).then(|| format!("log-in page: {name}"))
}

#[cfg(test)]
mod tests {
    use super::super::recognize::Recognizer;
    use super::*;

    fn page(body: &[u8]) -> HttpPage {
        HttpPage::for_tests("http://a.test/x", body)
    }

    #[test]
    fn files_and_pages_of_services_are_recognized_without_their_secrets() {
        let cases: &[(Recognizer, &str)] = &[
            (
                cvs,
                "/index.php/1.4/Mon Nov  2 10:00:00 2026//\nD/src////\n",
            ),
            (bazaar, "Bazaar-NG meta directory, format 1\n"),
            (
                phpinfo,
                "<title>PHP 8.2.7 - phpinfo()</title><h1 class=\"p\">PHP Version 8.2.7</h1>",
            ),
            (
                server_status,
                "<h1>Apache Server Status for shop.test (via 127.0.0.1)</h1>",
            ),
            (
                server_status,
                "Active connections: 2 \nserver accepts handled requests\n 4 4 5 \n",
            ),
            (
                actuator,
                r#"{"_links":{"self":{"href":"x"},"env":{"href":"y"}}}"#,
            ),
            (
                actuator,
                r#"{"activeProfiles":[],"propertySources":[{"name":"x"}]}"#,
            ),
            (metrics, "# HELP up Up.\n# TYPE up gauge\nup 1\n"),
            (debug, "<a href='/debug/pprof/heap'>heap</a> goroutine"),
            (debug, r#"{"cmdline":["/srv/shop"],"memstats":{}}"#),
            (api_description, r#"{"openapi":"3.0.1","paths":{"/a":{}}}"#),
            (
                api_description,
                "openapi: 3.1.0\ninfo:\n  title: x\npaths:\n  /a: {}\n",
            ),
            (
                graphql,
                r#"{"data":{"__schema":{"queryType":{"name":"Query"}}}}"#,
            ),
            (ds_store, "\0\0\0\u{1}Bud1\0"),
            (
                manifest,
                r#"{"name":"shop","dependencies":{"left-pad":"1.0.0"}}"#,
            ),
            (manifest, "django==4.2\nrequests>=2\n"),
            (
                log,
                "127.0.0.1 - - [22/Nov/2026:06:59:32 +0000] \"GET / HTTP/1.1\" 200 5\n",
            ),
            (log, "[2026-11-22 06:59:32] production.ERROR: x\n"),
            (settings_with_secret, "production:\n  password: hunter2\n"),
            (
                settings_with_secret,
                r#"{"ConnectionStrings": 1,
                "db_password": "hunter2"}"#,
            ),
            (
                editor,
                "<project version=\"4\"><component name=\"x\"/></project>",
            ),
            (web_inf, "<web-app></web-app>"),
            (
                cross_domain,
                "<cross-domain-policy><allow-access-from domain=\"*\"/></cross-domain-policy>",
            ),
            (
                admin,
                "<title>Admin log-in</title><form><input type=password></form>",
            ),
        ];
        for (number, (recognizer, body)) in cases.iter().enumerate() {
            let proof =
                recognizer(&page(body.as_bytes())).unwrap_or_else(|| panic!("{number}: {body}"));
            assert!(!proof.contains("hunter2"), "{proof}");
        }
    }

    #[test]
    fn environment_of_spring_shows_values_or_only_names() {
        let shown = |value: &str| {
            let body = format!(
                r#"{{"activeProfiles":[],"propertySources":[{{"name":"x","properties":{{"db.url":{{"value":"{value}"}}}}}}]}}"#
            );
            shows_values(&page(body.as_bytes()))
        };
        assert!(shown("jdbc:postgresql://db/shop") && !shown("******") && !shown(""));
        let old =
            page(br#"{"profiles":[],"server.ports":{},"systemProperties":{"java.home":"/usr"}}"#);
        assert_eq!(
            actuator(&old).as_deref(),
            Some("environment, 2 property sources")
        );
        assert!(shows_values(&old) && !shows_values(&page(br#"{"status":"UP"}"#)));
    }

    #[test]
    fn documentation_with_the_same_words_is_not_recognized() {
        let article = "<!doctype html><title>How to write a Dockerfile</title><p>FROM debian\nRUN x\nservices:\n  image: a\n\
            # TYPE up gauge\npassword: hunter2\nopenapi: 3.0\npaths:\nstages:\n - a\ndjango==4\nflask==2\n\
            127.0.0.1 - - [x] \"GET / HTTP/1.1\" 200\n{\"_links\":{\"self\":1}} propertySources PHP Version";
        let recognizers: &[Recognizer] = &[
            cvs,
            bazaar,
            phpinfo,
            server_status,
            actuator,
            metrics,
            debug,
            api_description,
            graphql,
            ds_store,
            manifest,
            log,
            settings_with_secret,
            editor,
            web_inf,
            cross_domain,
            admin,
        ];
        for (at, recognizer) in recognizers.iter().enumerate() {
            assert_eq!(
                recognizer(&page(article.as_bytes())),
                None,
                "recognizer {at}"
            );
        }
    }
}
