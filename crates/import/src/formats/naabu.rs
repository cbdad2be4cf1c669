//! naabu: JSON lines and JSON.

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

pub const READER: &dyn FormatReader = &NaabuReader;

struct NaabuReader;

impl FormatReader for NaabuReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let is_httpx = head.has_keys(&["url"]) || head.has_keys(&["status_code"]);
        head.has_keys(&["ip", "port", "timestamp"]) && !is_httpx
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        let mut ports = OpenPorts::default();
        json::each_object(input, head.is_json_lines(), run, |found: NaabuPort, run| {
            run.extend_time(fields::time(&found.timestamp));
            let Some(target) = ImportTarget::of_hosts([&*found.host, &*found.ip]) else {
                run.skip("entry without a host");
                return Ok(());
            };
            let Some(port) = found.number() else {
                run.skip("port without a number");
                return Ok(());
            };
            let open = FoundPort {
                tool: "naabu",
                target,
                port,
                protocol: match found.protocol.to_lowercase().as_str() {
                    "udp" => "udp".to_owned(),
                    _ => "tcp".to_owned(),
                },
                service: String::new(),
                details: match found.tls {
                    true => vec![detail("TLS", "yes")],
                    false => Vec::new(),
                },
            };
            ports.add(open, run)
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NaabuPort {
    #[serde(deserialize_with = "lenient::text")]
    host: Shared,
    #[serde(deserialize_with = "lenient::text")]
    ip: Shared,
    /// A number, or an object in old versions.
    port: Value,
    #[serde(deserialize_with = "lenient::text")]
    protocol: Shared,
    #[serde(deserialize_with = "lenient::boolean")]
    tls: bool,
    #[serde(deserialize_with = "lenient::text")]
    timestamp: Shared,
}

impl NaabuPort {
    fn number(&self) -> Option<u16> {
        let value = self.port.get("Port").unwrap_or(&self.port);
        match value {
            Value::String(text) => fields::port(text),
            other => fields::port(&other.to_string()),
        }
    }
}
