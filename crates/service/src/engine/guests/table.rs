//! The guests: a row for each, with its program, and for a tool of its own how it scans.
//!
//! To add a guest, write its row and its arguments, and the reader of its report in the crate of
//! imports. nmap and sslscan have no such scan: tools of the engine run them.

use serde_json::{Map, Value};

use super::arguments::{self, GuestTarget};
use crate::engine::params::ParamsError;
use crate::engine::params::guests as params;
use crate::engine::params::guests::READ_ONLY_TAGS;

/// A scanner that may be installed.
pub struct GuestRow {
    /// The name for people, without spaces.
    pub name: &'static str,
    /// Names of the program, the first one that is found.
    pub programs: &'static [&'static str],
    pub version: VersionProbe,
    /// A command that installs it.
    pub install: &'static str,
    /// None if a tool of the engine runs it.
    pub scan: Option<GuestScan>,
}

/// How a program reports its version.
pub struct VersionProbe {
    pub arguments: &'static [&'static str],
    /// The text before the version, in lower case. Another program of the same name has none.
    pub mark: &'static str,
}

/// A scan by the guest alone.
pub struct GuestScan {
    /// The reader of its report, by its name in the table of formats.
    pub format: &'static str,
    pub report: GuestReport,
    pub way: GuestWay,
    pub activity: GuestActivity,
    /// Checks the parameters, and adds their defaults.
    pub params: fn(&Map<String, Value>) -> Result<Value, ParamsError>,
    pub arguments: fn(&GuestTarget<'_>) -> Result<Vec<String>, String>,
}

/// Where the report is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestReport {
    /// Each line of standard output is a result.
    Lines,
    /// A file, which is read when the guest has ended.
    File,
}

/// How a guest reaches its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestWay {
    /// Over HTTP, by the proxy of its run.
    Website,
    /// By the address that the scope allows.
    Address,
    /// Not at all.
    Domain,
}

/// Whether a guest only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestActivity {
    ReadOnly,
    /// It sends attacks.
    Active,
    /// It only reads with the tags of [`READ_ONLY_TAGS`].
    ByTags,
}

impl GuestActivity {
    /// Whether a scan with these checked parameters sends attacks.
    pub fn is_active(self, params: &Value) -> bool {
        match self {
            GuestActivity::ReadOnly => false,
            GuestActivity::Active => true,
            GuestActivity::ByTags => match params["tags"].as_array() {
                Some(tags) => tags.iter().any(|tag| {
                    tag.as_str()
                        .is_none_or(|tag| !READ_ONLY_TAGS.contains(&tag))
                }),
                None => true,
            },
        }
    }

    /// In words, for lists.
    pub fn words(self) -> &'static str {
        match self {
            GuestActivity::ReadOnly => "read-only",
            GuestActivity::Active => "active",
            GuestActivity::ByTags => "read-only; active with other tags",
        }
    }
}

pub static NMAP: GuestRow = GuestRow {
    name: "nmap",
    programs: &["nmap"],
    version: VersionProbe {
        arguments: &["--version"],
        mark: "nmap version",
    },
    install: "apt-get install nmap",
    scan: None,
};

pub static SSLSCAN: GuestRow = GuestRow {
    name: "sslscan",
    programs: &["sslscan"],
    version: VersionProbe {
        arguments: &["--version"],
        mark: "",
    },
    install: "apt-get install sslscan",
    scan: None,
};

pub static TESTSSL: GuestRow = GuestRow {
    name: "testssl.sh",
    programs: &["testssl.sh", "testssl"],
    version: VersionProbe {
        arguments: &["--version"],
        mark: "testssl",
    },
    install: "apt-get install testssl.sh",
    scan: Some(GuestScan {
        format: "testssl",
        report: GuestReport::File,
        way: GuestWay::Address,
        activity: GuestActivity::ReadOnly,
        params: params::check_testssl,
        arguments: arguments::testssl,
    }),
};

pub static NUCLEI: GuestRow = GuestRow {
    name: "nuclei",
    programs: &["nuclei"],
    version: VersionProbe {
        arguments: &["-version", "-duc"],
        mark: "version:",
    },
    install: "go install github.com/projectdiscovery/nuclei/v3/cmd/nuclei@latest",
    scan: Some(GuestScan {
        format: "nuclei",
        report: GuestReport::Lines,
        way: GuestWay::Website,
        activity: GuestActivity::ByTags,
        params: params::check_nuclei,
        arguments: arguments::nuclei,
    }),
};

pub static WAPITI: GuestRow = GuestRow {
    name: "wapiti",
    programs: &["wapiti"],
    version: VersionProbe {
        arguments: &["--version"],
        mark: "",
    },
    install: "pipx install wapiti3",
    scan: Some(GuestScan {
        format: "wapiti",
        report: GuestReport::File,
        way: GuestWay::Website,
        activity: GuestActivity::Active,
        params: params::check_website,
        arguments: arguments::wapiti,
    }),
};

pub static NIKTO: GuestRow = GuestRow {
    name: "nikto",
    programs: &["nikto", "nikto.pl"],
    version: VersionProbe {
        arguments: &["-Version"],
        mark: "nikto",
    },
    // The package of Debian is too old.
    install: "git clone https://github.com/sullo/nikto /opt/nikto \
              && ln -s /opt/nikto/program/nikto.pl /usr/local/bin/",
    scan: Some(GuestScan {
        format: "nikto",
        report: GuestReport::File,
        way: GuestWay::Website,
        activity: GuestActivity::Active,
        params: params::check_website,
        arguments: arguments::nikto,
    }),
};

pub static FFUF: GuestRow = GuestRow {
    name: "ffuf",
    programs: &["ffuf"],
    version: VersionProbe {
        arguments: &["-V"],
        mark: "ffuf version:",
    },
    install: "go install github.com/ffuf/ffuf/v2@latest",
    scan: Some(GuestScan {
        format: "ffuf",
        report: GuestReport::File,
        way: GuestWay::Website,
        activity: GuestActivity::Active,
        params: params::check_ffuf,
        arguments: arguments::ffuf,
    }),
};

pub static HTTPX: GuestRow = GuestRow {
    name: "httpx",
    // The second one is also the name of a Python client.
    programs: &["httpx-toolkit", "httpx"],
    version: VersionProbe {
        arguments: &["-version", "-duc"],
        mark: "version:",
    },
    install: "go install github.com/projectdiscovery/httpx/cmd/httpx@latest",
    scan: Some(GuestScan {
        format: "httpx",
        report: GuestReport::Lines,
        way: GuestWay::Website,
        activity: GuestActivity::ReadOnly,
        params: params::check_website,
        arguments: arguments::httpx,
    }),
};

pub static SUBFINDER: GuestRow = GuestRow {
    name: "subfinder",
    programs: &["subfinder"],
    version: VersionProbe {
        arguments: &["-version", "-duc"],
        mark: "version:",
    },
    install: "go install github.com/projectdiscovery/subfinder/v2/cmd/subfinder@latest",
    scan: Some(GuestScan {
        format: "subfinder",
        report: GuestReport::Lines,
        way: GuestWay::Domain,
        activity: GuestActivity::ReadOnly,
        params: params::check_subfinder,
        arguments: arguments::subfinder,
    }),
};
