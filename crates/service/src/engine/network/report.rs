//! The XML report of nmap (`-oX`), read tolerantly: a field that is missing or damaged is empty.

use crate::engine::guests::xml::{XmlElement, XmlNode, read};

/// Entries that are kept of a report, whatever it contains.
const MAX_PORTS: usize = 65_536;
const MAX_SCRIPTS: usize = 100;

/// A report on one host.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NmapReport {
    pub version: String,
    pub ports: Vec<NmapPort>,
    /// Results of scripts that concern the host and no port.
    pub scripts: Vec<NmapScript>,
    /// Whether the host responded; false also for a report that was cut before its end.
    pub is_up: bool,
    /// Whether nmap ended by itself and without an error.
    pub is_complete: bool,
    /// The error message of nmap.
    pub error: String,
}

/// A port that nmap lists: it is open, or it may be.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NmapPort {
    pub number: u16,
    /// `tcp` or `udp`.
    pub protocol: String,
    /// Such as `open` or `open|filtered`.
    pub state: String,
    pub service: NmapService,
    pub scripts: Vec<NmapScript>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct NmapService {
    pub name: String,
    pub product: String,
    pub version: String,
    pub extra: String,
    /// `ssl` for a service over TLS.
    pub tunnel: String,
    /// `probed`: the service answered; `table`: guessed by the port number.
    pub method: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct NmapScript {
    pub id: String,
    pub output: String,
}

/// The progress of a running scan, from one line of its output.
#[derive(Debug, PartialEq)]
pub struct NmapProgress {
    pub task: String,
    pub percent: f64,
}

impl NmapReport {
    pub fn parse(text: &str) -> Self {
        let mut report = Self::default();
        let mut in_port = false;
        // Scripts contain tables of elements, which repeat their output.
        let is_whole = read(text, |node| match node {
            XmlNode::Start(element) => report.start(&element, &mut in_port),
            XmlNode::End(name) if name == "port" => in_port = false,
            XmlNode::End(_) | XmlNode::Text(_) => {}
        });
        report.is_complete &= is_whole;
        report
    }

    fn start(&mut self, element: &XmlElement, in_port: &mut bool) {
        let has_room = self.ports.len() < MAX_PORTS;
        let port = if *in_port {
            self.ports.last_mut()
        } else {
            None
        };
        match (element.name.as_str(), port) {
            ("nmaprun", _) => self.version = element.get("version").to_owned(),
            ("status", _) => self.is_up = element.get("state") == "up",
            ("finished", _) => {
                self.is_complete = element.get("exit") == "success";
                self.error = element.get("errormsg").to_owned();
            }
            ("port", _) if has_room => {
                if let Some(number) = element.number("portid") {
                    let protocol = if element.get("protocol") == "udp" {
                        "udp"
                    } else {
                        "tcp"
                    };
                    self.ports.push(NmapPort {
                        number,
                        protocol: protocol.to_owned(),
                        ..NmapPort::default()
                    });
                    *in_port = true;
                }
            }
            ("state", Some(port)) => port.state = element.get("state").to_owned(),
            ("service", Some(port)) => port.service = NmapService::of(element),
            ("script", Some(port)) => add_script(&mut port.scripts, element),
            ("script", None) => add_script(&mut self.scripts, element),
            _ => {}
        }
    }
}

impl NmapService {
    fn of(element: &XmlElement) -> Self {
        let text = |name| element.get(name).to_owned();
        Self {
            name: text("name"),
            product: text("product"),
            version: text("version"),
            extra: text("extrainfo"),
            tunnel: text("tunnel"),
            method: text("method"),
        }
    }

    /// The name of the service; `unknown` without one.
    pub fn short_name(&self) -> String {
        let name: String = self
            .name
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
            .take(40)
            .collect();
        match (name.as_str(), self.tunnel.as_str()) {
            ("", _) => "unknown".to_owned(),
            ("http", "ssl") => "https".to_owned(),
            (_, "ssl") => format!("{name}-tls"),
            _ => name,
        }
    }

    /// Product, version and further information, as one line.
    pub fn banner(&self) -> String {
        let parts = [&self.product, &self.version, &self.extra];
        let text = parts
            .map(|part| part.trim())
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        text.chars()
            .map(|c| if c.is_control() { '.' } else { c })
            .take(200)
            .collect()
    }
}

fn add_script(scripts: &mut Vec<NmapScript>, element: &XmlElement) {
    let id: String = element.get("id").chars().take(60).collect();
    // The id becomes a part of a `vuln_id`.
    let is_name = !id.is_empty()
        && id
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c));
    if is_name && scripts.len() < MAX_SCRIPTS {
        scripts.push(NmapScript {
            id,
            output: element.get("output").trim().to_owned(),
        });
    }
}

/// Reads a message such as `Discovered open port 443/tcp on 127.0.0.1`, or
/// `Discovered open|filtered port 53/udp on 127.0.0.1 is actually open`.
pub fn discovered_port(line: &str) -> Option<NmapPort> {
    let rest = line.strip_prefix("Discovered open")?;
    let (port, _) = rest
        .strip_prefix("|filtered")
        .unwrap_or(rest)
        .strip_prefix(" port ")?
        .split_once(" on ")?;
    let (number, protocol) = port.split_once('/')?;
    let protocol = ["tcp", "udp"]
        .into_iter()
        .find(|known| *known == protocol)?
        .to_owned();
    let number = number.parse().ok().filter(|number| *number > 0)?;
    Some(NmapPort {
        number,
        protocol,
        state: "open".to_owned(),
        ..NmapPort::default()
    })
}

impl NmapProgress {
    /// Reads a line such as `<taskprogress task="Connect Scan" percent="33.33" …/>`, or the end of
    /// a task.
    pub fn parse(line: &str) -> Option<Self> {
        if !line.starts_with("<taskprogress ") && !line.starts_with("<taskend ") {
            return None;
        }
        let mut progress = None;
        read(line, |node| {
            if let XmlNode::Start(element) = node {
                let percent = if element.name == "taskend" {
                    Some(100.0)
                } else {
                    element.number("percent")
                };
                let percent = percent.filter(|percent: &f64| (0.0..=100.0).contains(percent));
                progress = percent.map(|percent| Self {
                    task: element.get("task").to_owned(),
                    percent,
                });
            }
        });
        progress
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE nmaprun>
<nmaprun scanner="nmap" version="7.93">
<host><status state="up" reason="user-set"/><ports>
<port protocol="tcp" portid="443"><state state="open" reason="syn-ack"/>
<service name="http" product="nginx" version="1.22.1" tunnel="ssl" method="probed" conf="10"/>
<script id="http-title" output="&#xa;Hello &amp; welcome"><elem key="title">Hello</elem></script></port>
<port protocol="udp" portid="53"><state state="open|filtered"/><service name="domain" method="table"/></port>
</ports><hostscript><script id="clock-skew" output="0s"/></hostscript></host>
<runstats><finished time="1" exit="success"/></runstats></nmaprun>"#;

    #[test]
    fn report_is_read() {
        let report = NmapReport::parse(REPORT);
        assert!(report.is_up && report.is_complete && report.version == "7.93");
        let [web, dns] = &report.ports[..] else {
            panic!("{report:?}")
        };
        assert_eq!(
            (
                web.number,
                web.service.short_name().as_str(),
                web.state.as_str()
            ),
            (443, "https", "open")
        );
        assert_eq!(web.service.banner(), "nginx 1.22.1");
        assert_eq!(
            (web.scripts[0].id.as_str(), web.scripts[0].output.as_str()),
            ("http-title", "Hello & welcome")
        );
        assert_eq!(
            (dns.protocol.as_str(), dns.state.as_str()),
            ("udp", "open|filtered")
        );
        assert_eq!(report.scripts[0].id, "clock-skew");
    }

    #[test]
    fn hostile_names_do_not_become_ids() {
        let text = r#"<port portid="1"><script id="A b" output="x"/><script id="" output="x"/><service name="a&#27;[1m"/></port>
            <port portid="70000"/><port portid="-1"/>"#;
        let report = NmapReport::parse(text);
        assert_eq!((report.ports.len(), report.ports[0].scripts.len()), (1, 0));
        assert_eq!(report.ports[0].service.short_name(), "a1m");
    }

    #[test]
    fn progress_is_read_from_a_line() {
        let line = r#"<taskprogress task="Service scan" time="1795399226" percent="33.33" remaining="4"/>"#;
        assert_eq!(
            NmapProgress::parse(line),
            Some(NmapProgress {
                task: "Service scan".to_owned(),
                percent: 33.33
            })
        );
        let line = r#"<taskend task="NSE" time="1795399226"/>"#;
        assert_eq!(NmapProgress::parse(line).unwrap().percent, 100.0);
        assert_eq!(
            NmapProgress::parse(r#"<taskprogress task="NSE" percent="NaN"/>"#),
            None
        );
        assert_eq!(NmapProgress::parse("<host>"), None);
    }

    #[test]
    fn discovered_port_is_read_from_a_message() {
        let port =
            |line| discovered_port(line).map(|port| (port.number, port.protocol, port.state));
        let open = |number, protocol: &str| Some((number, protocol.to_owned(), "open".to_owned()));
        assert_eq!(
            port("Discovered open port 443/tcp on 127.0.0.1"),
            open(443, "tcp")
        );
        assert_eq!(
            port("Discovered open|filtered port 53/udp on ::1 is actually open"),
            open(53, "udp")
        );
        for other in [
            "|  Discovered open port 1/tcp on x",
            "Discovered open port 0/tcp on x",
            "Discovered open port 70000/tcp on x",
        ] {
            assert_eq!(port(other), None, "{other}");
        }
    }

    proptest! {
        /// Damage anywhere in a report never ends in a panic, and never in a port without a number.
        #[test]
        fn damaged_report_is_read_without_panic(at in 0..REPORT.len(), length in 0..40_usize, put in "[ -~]{0,12}") {
            let mut bytes = REPORT.as_bytes().to_vec();
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, put.bytes());
            let report = NmapReport::parse(&String::from_utf8_lossy(&bytes));
            prop_assert!(report.ports.len() <= 3);
            for line in String::from_utf8_lossy(&bytes).lines() {
                NmapProgress::parse(line);
            }
        }

        #[test]
        fn arbitrary_text_is_no_report(text in "\\PC{0,200}") {
            prop_assert!(NmapReport::parse(&text).ports.is_empty());
        }
    }
}
