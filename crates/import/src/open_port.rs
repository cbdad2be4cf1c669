//! Open ports, as port scanners report them.

use std::collections::HashSet;

use crate::entry::ImportEntry;
use crate::evidence::EntryEvidence;
use crate::input::ReadFault;
use crate::run::ImportRun;
use crate::target::ImportTarget;

/// A port that accepts connections.
pub struct FoundPort {
    pub tool: &'static str,
    pub target: ImportTarget,
    pub port: u16,
    pub protocol: String,
    /// May be empty.
    pub service: String,
    /// What the tool says about it: name and value.
    pub details: Vec<Vec<String>>,
}

/// The ports of a file, each once: scanners repeat a port that answers twice.
#[derive(Default)]
pub struct OpenPorts {
    seen: HashSet<String>,
}

impl OpenPorts {
    pub fn add(&mut self, open: FoundPort, run: &mut ImportRun<'_>) -> Result<(), ReadFault> {
        let key = format!("{}/{}/{}", open.target.name, open.protocol, open.port);
        if !self.seen.insert(key) {
            run.skip("port is listed already");
            return Ok(());
        }
        let service = match open.service.as_str() {
            "" => String::new(),
            name => format!(" ({name})"),
        };
        let details = open
            .details
            .into_iter()
            .filter(|row| row.iter().all(|cell| !cell.is_empty()));
        run.add(ImportEntry {
            vuln_id: format!("{}:open-port", open.tool),
            source_risk: "open".to_owned(),
            title: format!("Open port {}/{}{service}", open.port, open.protocol),
            description: "The port accepts connections.".to_owned(),
            test: format!("{} port scan", open.tool),
            evidence: EntryEvidence::table(&["Detail", "Value"], details.collect()),
            target: Some(open.target),
            port: Some(open.port),
            protocol: open.protocol,
            service: open.service,
            ..ImportEntry::default()
        })
    }
}

/// A row of [`FoundPort::details`].
pub fn detail(name: &str, value: impl ToString) -> Vec<String> {
    vec![name.to_owned(), value.to_string()]
}
