//! The formats: a table of readers, each in one file.
//!
//! To add a format, write its file, declare it, and add its line to `formats!`. The first format
//! that recognises a file reads it. In most modules `entry` turns a result of the tool into
//! an [`ImportEntry`](crate::ImportEntry), or `xml_entry`, `json_entry` and `csv_entry` do.

mod acunetix;
mod burp;
mod cyclonedx;
mod ffuf;
mod generic;
mod httpx;
mod masscan;
mod naabu;
mod nessus;
mod nessus_csv;
mod nikto;
mod nmap;
mod nuclei;
mod openvas;
mod sarif;
mod scandeck;
mod sslscan;
mod sslyze;
mod subfinder;
mod testssl;
mod wapiti;
mod wpscan;
mod zap;

use std::fmt;

use crate::head::{FileHead, later_starts};
use crate::input::{ImportInput, ReadFault};
use crate::run::ImportRun;
use scandeck_wire::contract::Tool;

/// Recognises and reads one format.
pub trait FormatReader: Sync {
    /// Whether a file that begins like this has the format.
    fn recognises(&self, head: &FileHead) -> bool;

    /// Passes the entries to the run.
    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault>;
}

/// A line of the table.
pub struct ImportFormat {
    /// The name on command lines.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The tool that writes the format, or several.
    pub tool: &'static str,
    /// The id of that tool in scans. Formats of one tool share it, so their scans are comparable.
    pub tool_id: Tool,
    /// Usual ends of file names; they do not decide.
    pub extensions: &'static [&'static str],
    pub(crate) reader: &'static dyn FormatReader,
}

impl fmt::Debug for ImportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for ImportFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

macro_rules! formats {
    ($($module:ident: $name:literal $title:literal $tool:literal $tool_id:literal [$($extension:literal)+];)+) => {
        /// Every format.
        pub static FORMATS: &[ImportFormat] = &[
            $(ImportFormat {
                name: $name,
                title: $title,
                tool: $tool,
                tool_id: Tool($tool_id),
                extensions: &[$($extension),+],
                reader: $module::READER,
            }),+
        ];
    };
}

formats! {
    scandeck: "scandeck" "findings of scandeck (JSON lines)" "scandeck" 10_001 ["jsonl"];
    nuclei: "nuclei" "nuclei (JSON lines, JSON)" "nuclei" 10_002 ["jsonl" "json"];
    zap: "zap" "ZAP (XML, JSON)" "ZAP" 10_003 ["xml" "json"];
    burp: "burp" "Burp Suite (XML)" "Burp Suite" 10_004 ["xml"];
    nessus: "nessus" "Nessus (.nessus)" "Nessus" 10_005 ["nessus" "xml"];
    nessus_csv: "nessus-csv" "Nessus, Tenable (CSV)" "Nessus" 10_005 ["csv"];
    nmap: "nmap" "nmap (XML)" "nmap" 10_006 ["xml"];
    testssl: "testssl" "testssl.sh (JSON, CSV)" "testssl.sh" 10_007 ["json" "csv"];
    sarif: "sarif" "SARIF 2.1" "SARIF" 10_008 ["sarif" "json"];
    openvas: "openvas" "OpenVAS, Greenbone (XML, CSV)" "OpenVAS" 10_009 ["xml" "csv"];
    masscan: "masscan" "masscan (JSON, XML)" "masscan" 10_010 ["json"];
    sslyze: "sslyze" "sslyze (JSON)" "sslyze" 10_011 ["json"];
    sslscan: "sslscan" "sslscan (XML)" "sslscan" 10_012 ["xml"];
    wapiti: "wapiti" "wapiti (JSON, XML)" "wapiti" 10_013 ["json" "xml"];
    nikto: "nikto" "nikto (JSON, XML)" "nikto" 10_014 ["json" "xml"];
    wpscan: "wpscan" "WPScan (JSON)" "WPScan" 10_015 ["json"];
    acunetix: "acunetix" "Acunetix (XML), Acunetix 360 (JSON)" "Acunetix" 10_016 ["xml" "json"];
    cyclonedx: "cyclonedx" "CycloneDX vulnerabilities (JSON, XML)" "CycloneDX" 10_017 ["json" "xml"];
    httpx: "httpx" "httpx (JSON lines, JSON)" "httpx" 10_018 ["jsonl" "json"];
    subfinder: "subfinder" "subfinder (JSON lines)" "subfinder" 10_023 ["jsonl" "json"];
    naabu: "naabu" "naabu (JSON lines, JSON)" "naabu" 10_019 ["jsonl" "json"];
    ffuf: "ffuf" "ffuf (JSON)" "ffuf" 10_020 ["json"];
    generic: "generic" "DefectDojo generic findings (JSON, CSV)" "DefectDojo" 10_021 ["json" "csv"];
}

/// The format with this name.
pub fn find(name: &str) -> Option<&'static ImportFormat> {
    FORMATS.iter().find(|format| format.name == name)
}

/// What was recognised in the beginning of a file.
pub struct RecognisedHead {
    pub format: &'static ImportFormat,
    pub head: FileHead,
    /// Bytes of messages before it.
    pub start: usize,
}

/// The format that recognises the file, else its part behind messages; only the named one if there
/// is one.
pub fn recognise(text: &str, named: Option<&ImportFormat>) -> Option<RecognisedHead> {
    let is_meant = |format: &ImportFormat| named.is_none_or(|one| one.name == format.name);
    let mut starts = std::iter::once(0).chain(later_starts(text));
    starts.find_map(|start| {
        let head = FileHead::of(&text[start..]);
        let mut formats = FORMATS.iter();
        let format = formats.find(|format| is_meant(format) && format.reader.recognises(&head))?;
        Some(RecognisedHead {
            format,
            head,
            start,
        })
    })
}

/// All names, for messages.
pub fn names() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_ids_have_the_names_of_the_tools() {
        for format in FORMATS {
            assert_eq!(format.tool_id.name(), Some(format.tool), "{}", format.name);
        }
    }
}
