//! The fixed arguments of the guests that are tools of their own.
//!
//! A guest receives the proxy of its run, or the address that the scope allows. Nothing of a target
//! or of a parameter becomes an option: parameters are checked, and hosts and URLs are canonical.

use std::env;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::table::GuestActivity;
use crate::engine::tls::starttls::StartTls;

/// The file in the directory of a guest that it writes its report to.
pub const REPORT: &str = "report";
/// The file with the words that a guest tries.
pub const WORDS: &str = "words.txt";

/// Templates of nuclei that disturb a service never run.
const DOS: &str = "dos";
/// Templates that run only when a tag asks for them.
const UNASKED_TAGS: &[&str] = &[DOS, "intrusive", "fuzz", "brute-force", "bruteforce"];
/// Templates that attack: a scan that only reads excludes them, since a template with one of its
/// tags may have these too.
const ATTACK_TAGS: &[&str] = &[
    "cve",
    "rce",
    "sqli",
    "xss",
    "lfi",
    "rfi",
    "ssrf",
    "ssti",
    "xxe",
    "injection",
    "default-login",
    "fileupload",
    "deserialization",
    "oast",
    "auth-bypass",
];

/// Modules of wapiti: none that guesses passwords, fills the disk of the target, or needs a server
/// of its authors.
const WAPITI_MODULES: &str = "backup,cookieflags,crlf,csp,csrf,exec,file,htaccess,http_headers,\
    methods,permanentxss,redirect,sql,xss";

/// What a guest scans, and how.
pub struct GuestTarget<'a> {
    /// Checked parameters.
    pub params: &'a Value,
    /// Name or address, without brackets.
    pub host: &'a str,
    /// The address that the scope allows; none for a guest that does not connect to its target.
    pub ip: Option<IpAddr>,
    pub port: u16,
    /// The website; empty for a guest of another kind of target.
    pub url: &'a str,
    /// The only way to the website.
    pub proxy: &'a str,
    /// The directory of the guest.
    pub directory: &'a Path,
    /// Requests per second.
    pub rate: u32,
    /// Concurrent connections.
    pub connections: usize,
}

impl GuestTarget<'_> {
    fn file(&self, name: &str) -> String {
        self.directory.join(name).to_string_lossy().into_owned()
    }

    fn texts(&self, name: &str) -> Vec<&str> {
        let list = self.params[name].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).collect()
    }

    /// The website for a guest that reads a list of them.
    fn one_url(&self) -> String {
        self.url.replace(',', "%2C")
    }
}

fn owned(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|one| (*one).to_owned()).collect()
}

/// testssl.sh asks no name server, and no server of a certificate authority.
pub fn testssl(target: &GuestTarget<'_>) -> Result<Vec<String>, String> {
    let report = target.file(REPORT);
    let mut all = owned(&[
        "--quiet",
        "--color",
        "0",
        "--warnings",
        "off",
        "--nodns",
        "none",
        "--connect-timeout",
        "10",
        "--openssl-timeout",
        "10",
        "--jsonfile",
        &report,
    ]);
    let starttls = match target.params["starttls"].as_str() {
        Some(name) => StartTls::of(name),
        None => StartTls::of_port(target.port),
    };
    let protocol = starttls.map(|one| match one {
        StartTls::Postgres => "postgres",
        other => other.name(),
    });
    all.extend(protocol.map(|name| format!("--starttls={name}")));
    let (is_address, is_v6) = (
        target.host.parse::<IpAddr>().is_ok(),
        target.ip.is_some_and(|ip| ip.is_ipv6()),
    );
    if is_v6 {
        all.push("-6".to_owned());
    }
    // An address without a name gets no server name indication.
    let ip = target.ip.filter(|_| !is_address || is_v6);
    all.extend(ip.map(|ip| format!("--ip={ip}")));
    let (host, port) = (target.host, target.port);
    all.push(match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    });
    Ok(all)
}

/// nuclei sends nothing to a server of its authors (`-ni`), follows no redirects, and runs no
/// template that disturbs a service. Templates of TLS do not use the proxy, and resolve a name by
/// themselves, so they test addresses only.
pub fn nuclei(target: &GuestTarget<'_>) -> Result<Vec<String>, String> {
    let templates = nuclei_templates().ok_or(
        "nuclei has no templates on the machine of the service; install them with \
         `nuclei -update-templates` as the user of the service, or set NUCLEI_TEMPLATES_DIR",
    )?;
    let (url, tags) = (target.one_url(), target.texts("tags"));
    let (named, excluded) = (tags.join(","), excluded_tags(target, &tags).join(","));
    let kinds = match target.host.parse::<IpAddr>() {
        Ok(_) => "http,ssl",
        Err(_) => "http",
    };
    let (rate, connections) = (target.rate.to_string(), target.connections.to_string());
    Ok(owned(&[
        "-u",
        &url,
        "-t",
        &templates.to_string_lossy(),
        "-tags",
        &named,
        "-etags",
        &excluded,
        "-type",
        kinds,
        "-ni",
        "-dr",
        "-duc",
        "-nc",
        "-silent",
        "-jsonl",
        "-rl",
        &rate,
        "-c",
        &connections,
        "-proxy",
        target.proxy,
    ]))
}

/// The tags whose templates a scan of nuclei with these tags does not run.
fn excluded_tags(target: &GuestTarget<'_>, tags: &[&str]) -> Vec<&'static str> {
    let attacks: &[&str] = match GuestActivity::ByTags.is_active(target.params) {
        true => &[],
        false => ATTACK_TAGS,
    };
    let all = UNASKED_TAGS.iter().chain(attacks).copied();
    all.filter(|tag| *tag == DOS || !tags.contains(tag))
        .collect()
}

/// Where the user of the service has the templates of nuclei: the guest has another home.
fn nuclei_templates() -> Option<PathBuf> {
    let named = env::var_os("NUCLEI_TEMPLATES_DIR").map(PathBuf::from);
    let home = env::var_os("HOME").map(PathBuf::from);
    let in_home = ["nuclei-templates", ".local/nuclei-templates"];
    let of_user = home
        .iter()
        .flat_map(|home| in_home.map(|name| home.join(name)));
    let shared = PathBuf::from("/usr/share/nuclei-templates");
    let mut all = named.into_iter().chain(of_user).chain([shared]);
    all.find(|folder| folder.is_absolute() && folder.is_dir())
}

/// Payloads of wapiti that load a file name the loopback address, in place of a server of its
/// authors.
pub fn wapiti(target: &GuestTarget<'_>) -> Result<Vec<String>, String> {
    let report = target.file(REPORT);
    Ok(owned(&[
        "-u",
        target.url,
        "-m",
        WAPITI_MODULES,
        "-f",
        "json",
        "-o",
        &report,
        "-p",
        target.proxy,
        "--external-endpoint",
        "http://127.0.0.1/",
        "--flush-session",
        "--no-bugreport",
    ]))
}

/// nikto runs without its tests for denial of service (`x6`).
pub fn nikto(target: &GuestTarget<'_>) -> Result<Vec<String>, String> {
    let report = target.file(REPORT);
    Ok(owned(&[
        "-host",
        target.url,
        "-Format",
        "xml",
        "-output",
        &report,
        "-Tuning",
        "x6",
        "-ask",
        "no",
        "-nointeractive",
        "-nolookup",
        "-useproxy",
        target.proxy,
    ]))
}

/// ffuf reads no keys, and compares with the answers for names that do not exist (`-ac`).
pub fn ffuf(target: &GuestTarget<'_>) -> Result<Vec<String>, String> {
    let (report, words) = (target.file(REPORT), target.file(WORDS));
    let folder = target.url.split('?').next().unwrap_or_default();
    let url = format!("{}/FUZZ", folder.trim_end_matches('/'));
    let (rate, connections) = (target.rate.to_string(), target.connections.to_string());
    let mut all = owned(&[
        "-u",
        &url,
        "-w",
        &words,
        "-ac",
        "-noninteractive",
        "-s",
        "-of",
        "json",
        "-o",
        &report,
        "-rate",
        &rate,
        "-t",
        &connections,
        "-x",
        target.proxy,
    ]);
    let extensions = target.texts("extensions");
    if !extensions.is_empty() {
        all.extend(["-e".to_owned(), extensions.join(",")]);
    }
    Ok(all)
}

/// httpx requests the page of the target.
pub fn httpx(target: &GuestTarget<'_>) -> Result<Vec<String>, String> {
    let (url, rate) = (target.one_url(), target.rate.to_string());
    Ok(owned(&[
        "-u",
        &url,
        "-json",
        "-silent",
        "-no-color",
        "-duc",
        "-title",
        "-status-code",
        "-content-type",
        "-location",
        "-web-server",
        "-tech-detect",
        "-rate-limit",
        &rate,
        "-http-proxy",
        target.proxy,
    ]))
}

/// subfinder asks public sources about the domain, never the target.
pub fn subfinder(target: &GuestTarget<'_>) -> Result<Vec<String>, String> {
    let all = ["-d", target.host, "-oJ", "-silent", "-nc", "-duc"];
    Ok(owned(&all))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn target<'a>(params: &'a Value, host: &'a str, ip: &str, port: u16) -> GuestTarget<'a> {
        GuestTarget {
            params,
            host,
            ip: ip.parse().ok(),
            port,
            url: "http://shop.test:8080/app/",
            proxy: "http://127.0.0.1:4000",
            directory: Path::new("/tmp/x"),
            rate: 10,
            connections: 5,
        }
    }

    #[test]
    fn testssl_tests_the_address_that_the_scope_allows() {
        let params = json!({});
        let end = |host: &str, ip: &str, port: u16| {
            let all = testssl(&target(&params, host, ip, port)).unwrap();
            all[all.len() - 2..].to_vec()
        };
        assert_eq!(
            end("shop.test", "192.0.2.1", 443),
            ["--ip=192.0.2.1", "shop.test:443"]
        );
        assert_eq!(end("192.0.2.1", "192.0.2.1", 443)[1], "192.0.2.1:443");
        assert_eq!(end("192.0.2.1", "192.0.2.1", 443)[0], "/tmp/x/report");
        assert_eq!(end("::1", "::1", 8443), ["--ip=::1", "[::1]:8443"]);
        assert_eq!(end("192.0.2.1", "192.0.2.1", 25)[0], "--starttls=smtp");
        let postgres = json!({"starttls": "postgresql"});
        let all = testssl(&target(&postgres, "192.0.2.1", "192.0.2.1", 5432)).unwrap();
        assert!(all.contains(&"--starttls=postgres".to_owned()), "{all:?}");
    }

    #[test]
    fn nuclei_that_only_reads_excludes_templates_that_attack() {
        let excluded = |params: &Value| {
            let of_params = target(params, "shop.test", "192.0.2.1", 8080);
            excluded_tags(&of_params, &of_params.texts("tags"))
        };
        let reading = excluded(&json!({"tags": ["tech", "misconfig"]}));
        for tag in [DOS, "fuzz", "cve", "rce", "default-login", "auth-bypass"] {
            assert!(reading.contains(&tag), "{tag}: {reading:?}");
        }
        assert!(!reading.contains(&"tech"), "{reading:?}");
        let active = excluded(&json!({"tags": ["misconfig", "cve", "fuzz", "dos"]}));
        assert_eq!(active, [DOS, "intrusive", "brute-force", "bruteforce"]);
    }

    #[test]
    fn guests_of_websites_use_the_proxy() {
        let params = json!({"tags": ["tech"], "extensions": [".bak", ".php"]});
        let of_params = target(&params, "shop.test", "192.0.2.1", 8080);
        for (arguments, flag) in [
            (wapiti(&of_params).unwrap(), "-p"),
            (nikto(&of_params).unwrap(), "-useproxy"),
            (ffuf(&of_params).unwrap(), "-x"),
            (httpx(&of_params).unwrap(), "-http-proxy"),
        ] {
            let place = arguments.iter().position(|one| one == flag).unwrap();
            assert_eq!(arguments[place + 1], of_params.proxy, "{arguments:?}");
        }
        let all = ffuf(&of_params).unwrap();
        assert_eq!(all[1], "http://shop.test:8080/app/FUZZ");
        assert_eq!(all.last().unwrap(), ".bak,.php");
    }
}
