//! The tools that a service offers and cannot run, because a scanner is not installed on its
//! machine, or because the service may not open raw sockets.
//!
//! The local service names them in a header of `GET /scans`:
//! `x-missing-scanners: 350=nmap, 80=CAP_NET_RAW`. Other services send no such header, so nothing
//! is known to be missing there.

use std::fmt;

use super::{Shared, Tool};

/// The header of `GET /scans`; absent when every tool can run.
pub const MISSING_SCANNERS: &str = "x-missing-scanners";
/// In place of a program: the capability that a service without root needs to scan UDP ports.
pub const RAW_SOCKETS: &str = "CAP_NET_RAW";
/// Entries that are read, and the length of a program name.
const MAX_ENTRIES: usize = 50;
const MAX_PROGRAM: usize = 40;

/// A tool and the scanner or capability that it lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingScanner {
    /// The tool that cannot run.
    pub tool: Tool,
    /// The program, which is also the name of its package, or [`RAW_SOCKETS`].
    pub program: Shared,
}

impl MissingScanner {
    /// Reads the header; unreadable entries are dropped.
    pub fn parse_list(header: &str) -> Vec<Self> {
        header
            .split(',')
            .filter_map(Self::parse)
            .take(MAX_ENTRIES)
            .collect()
    }

    /// The header for these tools; `None` when every tool can run.
    pub fn list(missing: &[Self]) -> Option<String> {
        let entries: Vec<String> = missing.iter().map(ToString::to_string).collect();
        (!entries.is_empty()).then(|| entries.join(", "))
    }

    fn parse(entry: &str) -> Option<Self> {
        let (tool, program) = entry.trim().split_once('=')?;
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        let is_name = (1..=MAX_PROGRAM).contains(&program.len()) && program.chars().all(is_letter);
        is_name.then_some(Self {
            tool: Tool(tool.parse().ok()?),
            program: program.into(),
        })
    }
}

impl fmt::Display for MissingScanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.tool.0, self.program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_written_and_read() {
        let missing = [(350, "nmap"), (80, "masscan")].map(|(tool, program)| MissingScanner {
            tool: Tool(tool),
            program: program.into(),
        });
        let header = MissingScanner::list(&missing).unwrap();
        assert_eq!(header, "350=nmap, 80=masscan");
        assert_eq!(MissingScanner::parse_list(&header), missing);
        assert_eq!(MissingScanner::list(&[]), None);
    }

    #[test]
    fn unreadable_entries_are_dropped() {
        let header = "350, x=nmap, 350=, 350=a b, 350=\u{1b}[2J, 450=sslscan,";
        let read: Vec<String> = MissingScanner::parse_list(header)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(read, ["450=sslscan"]);
    }
}
