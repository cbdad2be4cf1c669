//! The formats: a table of readers, each in one file.
//!
//! To add a format, write its file, declare it, and add its line to [`FORMATS`]. The first format
//! that recognises a file reads it.

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
mod testssl;
mod wapiti;
mod wpscan;
mod zap;

use std::fmt;

use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::run::ImportRun;

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
    ($($module:ident: $name:literal $title:literal $tool:literal [$($extension:literal)+];)+) => {
        /// Every format.
        pub static FORMATS: &[ImportFormat] = &[
            $(ImportFormat {
                name: $name,
                title: $title,
                tool: $tool,
                extensions: &[$($extension),+],
                reader: $module::READER,
            }),+
        ];
    };
}

formats! {
    scandeck: "scandeck" "findings of scandeck (JSON lines)" "scandeck" ["jsonl"];
    nuclei: "nuclei" "nuclei (JSON lines, JSON)" "nuclei" ["jsonl" "json"];
    zap: "zap" "ZAP (XML, JSON)" "ZAP" ["xml" "json"];
    burp: "burp" "Burp Suite (XML)" "Burp Suite" ["xml"];
    nessus: "nessus" "Nessus (.nessus)" "Nessus" ["nessus" "xml"];
    nessus_csv: "nessus-csv" "Nessus, Tenable (CSV)" "Nessus" ["csv"];
    nmap: "nmap" "nmap (XML)" "nmap" ["xml"];
    testssl: "testssl" "testssl.sh (JSON, CSV)" "testssl.sh" ["json" "csv"];
    sarif: "sarif" "SARIF 2.1" "SARIF" ["sarif" "json"];
    openvas: "openvas" "OpenVAS, Greenbone (XML, CSV)" "OpenVAS" ["xml" "csv"];
    masscan: "masscan" "masscan (JSON)" "masscan" ["json"];
    sslyze: "sslyze" "sslyze (JSON)" "sslyze" ["json"];
    sslscan: "sslscan" "sslscan (XML)" "sslscan" ["xml"];
    wapiti: "wapiti" "wapiti (JSON, XML)" "wapiti" ["json" "xml"];
    nikto: "nikto" "nikto (JSON, XML)" "nikto" ["json" "xml"];
    wpscan: "wpscan" "WPScan (JSON)" "WPScan" ["json"];
    acunetix: "acunetix" "Acunetix (XML), Acunetix 360 (JSON)" "Acunetix" ["xml" "json"];
    cyclonedx: "cyclonedx" "CycloneDX vulnerabilities (JSON, XML)" "CycloneDX" ["json" "xml"];
    httpx: "httpx" "httpx (JSON lines, JSON)" "httpx" ["jsonl" "json"];
    naabu: "naabu" "naabu (JSON lines, JSON)" "naabu" ["jsonl" "json"];
    ffuf: "ffuf" "ffuf (JSON)" "ffuf" ["json"];
    generic: "generic" "DefectDojo generic findings (JSON, CSV)" "DefectDojo" ["json" "csv"];
}

/// The format with this name.
pub fn find(name: &str) -> Option<&'static ImportFormat> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The format that recognises the file.
pub fn recognise(head: &FileHead) -> Option<&'static ImportFormat> {
    FORMATS.iter().find(|format| format.reader.recognises(head))
}

/// All names, for messages.
pub fn names() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    names.join(", ")
}
