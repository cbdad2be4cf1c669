//! masscan: JSON, also with the commas that old versions write after the last entry.

use scandeck_wire::contract::{Shared, lenient};
use serde::Deserialize;

use super::FormatReader;
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json;
use crate::open_port::{FoundPort, OpenPorts, detail};
use crate::run::ImportRun;
use crate::target::ImportTarget;

pub const READER: &dyn FormatReader = &MasscanReader;

struct MasscanReader;

impl FormatReader for MasscanReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let json = head.json();
        json.is_some_and(|json| {
            json.entry("ip").is_some()
                && (json.get("*/ports/*/proto").is_some() || json.get("ports/*/proto").is_some())
        })
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        _head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        let mut ports = OpenPorts::default();
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
    ports: Vec<MasscanPort>,
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
        let Some(target) = ImportTarget::of_host(&self.ip) else {
            run.skip("entry without an address");
            return Ok(());
        };
        for port in self.ports {
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
}
