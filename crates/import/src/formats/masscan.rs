//! masscan: JSON, also with the commas that old versions write after the last entry, records
//! (`-oD`), a line for each port, and XML.

use scandeck_wire::contract::{Shared, lenient};
use serde::Deserialize;
use serde_json::Value;

use super::FormatReader;
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json;
use crate::open_port::{FoundPort, OpenPorts, detail};
use crate::run::ImportRun;
use crate::target::ImportTarget;
use crate::xml::{XmlStep, XmlStream, XmlTree};

pub const READER: &dyn FormatReader = &MasscanReader;

struct MasscanReader;

impl FormatReader for MasscanReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let json = head.json();
        json.is_some_and(|json| {
            let is_host =
                json.get("*/ports/*/proto").is_some() || json.get("ports/*/proto").is_some();
            let is_record = json.entry("rec_type").is_some() && json.entry("proto").is_some();
            json.entry("ip").is_some() && (is_host || is_record)
        }) || is_xml(head)
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        let mut ports = OpenPorts::default();
        if head.is_xml() {
            return read_xml(input, &mut ports, run);
        }
        let has_lines = input.peek()?.lines().any(|line| {
            json::object::<MasscanHost>(entry_of(line)).is_ok_and(|host| !host.ip.is_empty())
        });
        if !has_lines {
            return json::each_object(input, false, run, |host: MasscanHost, run| {
                host.add(&mut ports, run)
            });
        }
        let mut line = String::new();
        while input.line(&mut line)?.is_some() {
            let text = entry_of(&line);
            if text.is_empty() || text.starts_with("{finished") {
                continue;
            }
            match json::object::<MasscanHost>(text) {
                Ok(host) => host.add(&mut ports, run)?,
                Err(_) => run.skip(json::OTHER_SHAPE),
            }
        }
        Ok(())
    }
}

/// The report in the form of nmap.
fn is_xml(head: &FileHead) -> bool {
    head.xml("nmaprun")
        .is_some_and(|run| run.get("scanner") == "masscan")
}

fn read_xml(
    input: &mut ImportInput<'_>,
    ports: &mut OpenPorts,
    run: &mut ImportRun<'_>,
) -> Result<(), ReadFault> {
    let mut xml = XmlStream::new(input);
    loop {
        match xml.next()? {
            XmlStep::Start(tree) if tree.name == "host" => {
                let host = xml.whole(tree)?;
                let address = host.child("address").map_or("", |found| found.get("addr"));
                let listed = host.child("ports").map_or_else(Vec::new, xml_ports);
                run.extend_time(fields::time(host.get("endtime")));
                add_ports(address, listed, ports, run)?;
            }
            XmlStep::Start(_) | XmlStep::End(_) => {}
            XmlStep::Done => return Ok(()),
        }
    }
}

fn xml_ports(list: &XmlTree) -> Vec<MasscanPort> {
    let of_tree = |port: &XmlTree| {
        let text = |child: &str, name: &str| {
            let found = port.child(child);
            Shared::from(found.map_or("", |tree| tree.get(name)))
        };
        MasscanPort {
            port: fields::port(port.get("portid")).map_or(0, i64::from),
            proto: Shared::from(port.get("protocol")),
            status: text("state", "state"),
            reason: text("state", "reason"),
            service: MasscanService {
                name: text("service", "name"),
                banner: text("service", "banner"),
            },
        }
    };
    list.all("port").map(of_tree).collect()
}

/// The line without the commas and brackets of the list.
fn entry_of(line: &str) -> &str {
    line.trim()
        .trim_start_matches(['[', ','])
        .trim_end_matches([',', ']'])
        .trim()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MasscanHost {
    #[serde(deserialize_with = "lenient::text")]
    ip: Shared,
    #[serde(deserialize_with = "lenient::text")]
    timestamp: Shared,
    /// A list, or an object in files that a converter wrote.
    ports: Value,
    /// Of a record, which is one port.
    #[serde(deserialize_with = "lenient::integer")]
    port: i64,
    #[serde(deserialize_with = "lenient::text")]
    proto: Shared,
    #[serde(deserialize_with = "lenient::object")]
    data: MasscanData,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MasscanData {
    #[serde(deserialize_with = "lenient::text")]
    status: Shared,
    #[serde(deserialize_with = "lenient::text")]
    reason: Shared,
    #[serde(deserialize_with = "lenient::text")]
    service_name: Shared,
    #[serde(deserialize_with = "lenient::text")]
    banner: Shared,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MasscanPort {
    #[serde(deserialize_with = "lenient::integer")]
    port: i64,
    #[serde(deserialize_with = "lenient::text")]
    proto: Shared,
    #[serde(deserialize_with = "lenient::text")]
    status: Shared,
    #[serde(deserialize_with = "lenient::text")]
    reason: Shared,
    #[serde(deserialize_with = "lenient::object")]
    service: MasscanService,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MasscanService {
    #[serde(deserialize_with = "lenient::text")]
    name: Shared,
    #[serde(deserialize_with = "lenient::text")]
    banner: Shared,
}

impl MasscanHost {
    fn add(self, ports: &mut OpenPorts, run: &mut ImportRun<'_>) -> Result<(), ReadFault> {
        run.extend_time(fields::time(&self.timestamp));
        let mut listed = Vec::new();
        for port in json::elements(&self.ports) {
            match MasscanPort::deserialize(port) {
                Ok(port) => listed.push(port),
                Err(_) => run.skip(json::OTHER_SHAPE),
            }
        }
        let address = self.ip.clone();
        listed.extend(self.record());
        add_ports(&address, listed, ports, run)
    }

    fn record(self) -> Option<MasscanPort> {
        (self.port > 0).then(|| MasscanPort {
            port: self.port,
            proto: self.proto,
            status: self.data.status,
            reason: self.data.reason,
            service: MasscanService {
                name: self.data.service_name,
                banner: self.data.banner,
            },
        })
    }
}

fn add_ports(
    address: &str,
    listed: Vec<MasscanPort>,
    ports: &mut OpenPorts,
    run: &mut ImportRun<'_>,
) -> Result<(), ReadFault> {
    let Some(target) = ImportTarget::of_host(address) else {
        run.skip("entry without an address");
        return Ok(());
    };
    for port in listed {
        let number = u16::try_from(port.port).unwrap_or_default();
        if number == 0 {
            run.skip("port without a number");
            continue;
        }
        // A banner comes as an entry of its own, without a status.
        if !matches!(&*port.status, "open" | "") {
            run.skip("port is not open");
            continue;
        }
        let open = FoundPort {
            tool: "masscan",
            target: target.clone(),
            port: number,
            protocol: port.proto.to_lowercase(),
            service: port.service.name.to_string(),
            details: vec![
                detail("Reason", &port.reason),
                detail("Banner", &port.service.banner),
            ],
        };
        ports.add(open, run)?;
    }
    Ok(())
}
