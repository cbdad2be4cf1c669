//! The tools of the service. No endpoint lists them, so clients need this table.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A tool id, known or unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tool(pub i64);

/// Ids, full names, and short names for columns and for scans as nouns (`hosted-service.md`,
/// Tools). All screens, commands, reports and the API description take the names from here.
const NAMES: &[(i64, &str, &str)] = &[
    (20, "Subdomain Finder", "Subdomains"),
    (30, "Whois Lookup", "Whois"),
    (70, "Port Scanner", "Port scan"),
    (80, "UDP Port Scanner", "UDP ports"),
    (90, "URL Fuzzer", "URL fuzzer"),
    (160, "Virtual Hosts Finder", "Virt. hosts"),
    (170, "Website Scanner", "Website"),
    (240, "Ping", "Ping"),
    (260, "SharePoint Scanner", "SharePoint"),
    (270, "WordPress Scanner", "WordPress"),
    (280, "Drupal Scanner", "Drupal"),
    (290, "Joomla Scanner", "Joomla"),
    (310, "Website Recon", "Recon"),
    (320, "Subdomain Takeover", "Takeover"),
    (350, "Network Scanner", "Network"),
    (380, "SQLi Exploiter", "SQLi"),
    (390, "Domain Finder", "Domains"),
    (400, "Password Auditor", "Passwords"),
    (450, "SSL/TLS Scanner", "TLS"),
    (490, "Sniper", "Sniper"),
    (500, "WAF Detector", "WAF"),
    (510, "API Scanner", "API"),
    (520, "Cloud Scanner", "Cloud"),
    (530, "People Hunter", "People"),
    (540, "Kubernetes Scanner", "Kubernetes"),
];

/// Other scanners: their files are imported, and the service runs some of them where they are
/// installed. Findings of later scans need the ids: an id never changes.
const SCANNERS: &[(i64, &str, &str)] = &[
    (10_001, "scandeck", "scandeck"),
    (10_002, "nuclei", "nuclei"),
    (10_003, "ZAP", "ZAP"),
    (10_004, "Burp Suite", "Burp Suite"),
    (10_005, "Nessus", "Nessus"),
    (10_006, "nmap", "nmap"),
    (10_007, "testssl.sh", "testssl.sh"),
    (10_008, "SARIF", "SARIF"),
    (10_009, "OpenVAS", "OpenVAS"),
    (10_010, "masscan", "masscan"),
    (10_011, "sslyze", "sslyze"),
    (10_012, "sslscan", "sslscan"),
    (10_013, "wapiti", "wapiti"),
    (10_014, "nikto", "nikto"),
    (10_015, "WPScan", "WPScan"),
    (10_016, "Acunetix", "Acunetix"),
    (10_017, "CycloneDX", "CycloneDX"),
    (10_018, "httpx", "httpx"),
    (10_019, "naabu", "naabu"),
    (10_020, "ffuf", "ffuf"),
    (10_021, "DefectDojo", "DefectDojo"),
    (10_022, "Imported findings", "Imported"),
    (10_023, "subfinder", "subfinder"),
];

impl Tool {
    /// TCP ports and banners.
    pub const PORTS: Tool = Tool(70);
    /// UDP ports and their services.
    pub const UDP_PORTS: Tool = Tool(80);
    /// Names below a domain.
    pub const SUBDOMAINS: Tool = Tool(20);
    /// Paths of a web site from a wordlist.
    pub const FUZZER: Tool = Tool(90);
    /// Web sites that an address serves by name.
    pub const VIRTUAL_HOSTS: Tool = Tool(160);
    /// Whether a host is up.
    pub const PING: Tool = Tool(240);
    /// Technologies of a web site.
    pub const RECON: Tool = Tool(310);
    /// The web application firewall in front of a web site.
    pub const FIREWALL: Tool = Tool(500);
    /// Weaknesses of a web site.
    pub const WEBSITE: Tool = Tool(170);
    /// Ports, services and scripts of a host.
    pub const NETWORK: Tool = Tool(350);
    /// Protocol versions and certificate of a TLS server.
    pub const TLS: Tool = Tool(450);

    /// Templates of nuclei.
    pub const NUCLEI: Tool = Tool(10_002);
    /// TLS by testssl.sh.
    pub const TESTSSL: Tool = Tool(10_007);
    /// Attacks on a web site by wapiti.
    pub const WAPITI: Tool = Tool(10_013);
    /// Attacks on a web server by nikto.
    pub const NIKTO: Tool = Tool(10_014);
    /// Pages by httpx.
    pub const HTTPX: Tool = Tool(10_018);
    /// Paths by ffuf.
    pub const FFUF: Tool = Tool(10_020);
    /// Names below a domain by subfinder.
    pub const SUBFINDER: Tool = Tool(10_023);

    /// Findings of `POST /findings/import`.
    pub const FINDINGS_IMPORT: Tool = Tool(10_022);

    /// The full name of a known tool.
    pub fn name(self) -> Option<&'static str> {
        self.row().map(|row| row.1)
    }

    /// The full name; that of an unknown tool has its id: `tool 9`.
    pub fn full_name(self) -> String {
        self.name().map_or_else(|| self.to_string(), str::to_owned)
    }

    /// The full name with the id: `Website Scanner (170)`.
    pub fn name_with_id(self) -> String {
        match self.name() {
            Some(name) => format!("{name} ({})", self.0),
            None => self.to_string(),
        }
    }

    /// The short name of a known tool, at most 11 columns.
    pub fn short_name(self) -> Option<&'static str> {
        self.row().map(|row| row.2)
    }

    /// A scan by this tool as a noun: `Website scan`.
    pub fn scan(self) -> String {
        let name = self.to_string();
        if name.ends_with(" scan") {
            name
        } else {
            format!("{name} scan")
        }
    }

    /// The known tools of services, by id.
    pub fn all() -> impl Iterator<Item = Tool> {
        NAMES.iter().map(|row| Tool(row.0))
    }

    fn row(self) -> Option<&'static (i64, &'static str, &'static str)> {
        let mut rows = NAMES.iter().chain(SCANNERS);
        rows.find(|row| row.0 == self.0)
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.short_name() {
            Some(name) => f.pad(name),
            None => f.pad(&format!("tool {}", self.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_are_unique_and_short_names_fit_their_column() {
        let mut names = Vec::new();
        for (_, full, short) in NAMES.iter().chain(SCANNERS) {
            assert!(short.len() <= 11, "{short}");
            names.push(*full);
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn unknown_tool_is_named_by_its_id() {
        assert_eq!(Tool::TLS.full_name(), "SSL/TLS Scanner");
        assert_eq!(Tool::TLS.name_with_id(), "SSL/TLS Scanner (450)");
        assert_eq!(Tool::TLS.scan(), "TLS scan");
        assert_eq!(Tool(9).full_name(), "tool 9");
        assert_eq!(Tool(9).name_with_id(), "tool 9");
    }
}
