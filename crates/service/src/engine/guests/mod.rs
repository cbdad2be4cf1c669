//! Guests: scanners that the user has installed, run as child processes.
//!
//! ```text
//!   tool ──fixed arguments──► process (own group, limits) ──XML──► parser of the tool ──► findings
//!                                                        └──lines──► raw log
//!   table ─► scan ─► process ──report──► reader of imports ──► findings
//!                      └──proxy──► the target alone
//! ```
//!
//! Nothing of a guest is part of this program. A tool that needs a missing guest is refused with
//! the package to install.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use raw_sockets::RawSockets;
use scandeck_wire::contract::{MissingScanner, RAW_SOCKETS, Tool};
use serde_json::Value;
use table::{GuestActivity, GuestRow, GuestScan};

use super::tools::label;

mod arguments;
mod findings;
mod place;
pub mod process;
mod proxy;
pub mod raw_sockets;
pub mod raw_text;
#[cfg(test)]
mod real_tests;
mod run_mark;
pub mod scan;
#[cfg(test)]
mod scan_tests;
pub mod table;
pub mod version;
pub mod xml;

/// A scanner that may be installed beside this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guest {
    Nmap,
    Sslscan,
    Testssl,
    Nuclei,
    Wapiti,
    Nikto,
    Ffuf,
    Httpx,
    Subfinder,
}

/// The behaviour of a tool without its guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestUse {
    /// The tool cannot run.
    Required,
    /// The tool runs, and compares its results with those of the guest when it is installed.
    Optional,
}

/// The guests of the tools; other tools have none.
pub const GUESTS: &[(Tool, Guest, GuestUse)] = &[
    (Tool::NETWORK, Guest::Nmap, GuestUse::Required),
    (Tool::UDP_PORTS, Guest::Nmap, GuestUse::Required),
    (Tool::TLS, Guest::Sslscan, GuestUse::Optional),
    (Tool::NUCLEI, Guest::Nuclei, GuestUse::Required),
    (Tool::TESTSSL, Guest::Testssl, GuestUse::Required),
    (Tool::WAPITI, Guest::Wapiti, GuestUse::Required),
    (Tool::NIKTO, Guest::Nikto, GuestUse::Required),
    (Tool::HTTPX, Guest::Httpx, GuestUse::Required),
    (Tool::FFUF, Guest::Ffuf, GuestUse::Required),
    (Tool::SUBFINDER, Guest::Subfinder, GuestUse::Required),
];

impl Guest {
    /// Its row in the table.
    pub fn row(self) -> &'static GuestRow {
        match self {
            Guest::Nmap => &table::NMAP,
            Guest::Sslscan => &table::SSLSCAN,
            Guest::Testssl => &table::TESTSSL,
            Guest::Nuclei => &table::NUCLEI,
            Guest::Wapiti => &table::WAPITI,
            Guest::Nikto => &table::NIKTO,
            Guest::Ffuf => &table::FFUF,
            Guest::Httpx => &table::HTTPX,
            Guest::Subfinder => &table::SUBFINDER,
        }
    }

    /// The name of the scanner, which is also the name of its package where there is one.
    pub fn program(self) -> &'static str {
        self.row().name
    }

    /// How to install it.
    pub fn remedy(self) -> String {
        format!("install it, for example with `{}`", self.row().install)
    }

    /// The executable in the directories of `PATH`.
    pub fn find(self) -> Option<PathBuf> {
        self.find_in(&env::var_os("PATH")?)
    }

    fn find_in(self, path: &OsStr) -> Option<PathBuf> {
        let in_path = |program: &&str| {
            // An empty or relative entry would run a program of the current directory.
            let mut directories = env::split_paths(path).filter(|one| one.is_absolute());
            let found = directories.find(|directory| is_executable(&directory.join(program)));
            found.map(|directory| directory.join(program))
        };
        self.row().programs.iter().find_map(in_path)
    }
}

fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// The guest of a tool, and what the tool does without it.
pub fn guest_of(tool: Tool) -> Option<(Guest, GuestUse)> {
    GUESTS
        .iter()
        .find(|(of, ..)| *of == tool)
        .map(|(_, guest, how)| (*guest, *how))
}

/// How the guest of a tool scans, if the tool is a guest.
pub fn scan_of(tool: Tool) -> Option<&'static GuestScan> {
    guest_of(tool)?.0.row().scan.as_ref()
}

/// Whether a scan only reads; tools of the engine always do.
pub fn activity_of(tool: Tool) -> GuestActivity {
    scan_of(tool).map_or(GuestActivity::ReadOnly, |scan| scan.activity)
}

/// Whether a scan with these checked parameters sends attacks.
pub fn is_active(tool: Tool, params: &Value) -> bool {
    activity_of(tool).is_active(params)
}

/// The tools that cannot run here, with what they lack: their guests, or the right to open raw
/// sockets.
pub fn missing_scanners() -> Vec<MissingScanner> {
    let lacks = |tool: Tool, guest: Guest| match guest.find() {
        None => Some(guest.program()),
        Some(_) if tool == Tool::UDP_PORTS && RawSockets::of_guests() == RawSockets::Forbidden => {
            Some(RAW_SOCKETS)
        }
        Some(_) => None,
    };
    let needed = GUESTS.iter().filter(|(.., how)| *how == GuestUse::Required);
    needed
        .filter_map(|&(tool, guest, _)| {
            Some(MissingScanner {
                tool,
                program: lacks(tool, guest)?.into(),
            })
        })
        .collect()
}

/// Why a tool cannot run here: its guest is missing.
pub fn missing(tool: Tool) -> Option<String> {
    match guest_of(tool) {
        Some((guest, GuestUse::Required)) if guest.find().is_none() => {
            Some(missing_message(tool, guest))
        }
        _ => None,
    }
}

fn missing_message(tool: Tool, guest: Guest) -> String {
    format!(
        "tool_id {} needs {}, which is not installed on the machine of the service; {}",
        label(tool),
        guest.program(),
        guest.remedy()
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn find_accepts_executables_of_absolute_directories_only() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("nmap");
        fs::write(&file, "").unwrap();
        assert_eq!(Guest::Nmap.find_in(dir.path().as_os_str()), None);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(Guest::Nmap.find_in(dir.path().as_os_str()), Some(file));
        assert_eq!(Guest::Sslscan.find_in(dir.path().as_os_str()), None);
        assert_eq!(Guest::Nmap.find_in(OsStr::new(":.:relative")), None);
    }

    #[test]
    fn missing_message_names_tool_program_and_remedy() {
        assert_eq!(
            missing_message(Tool::NETWORK, Guest::Nmap),
            "tool_id 350 (Network Scanner) needs nmap, which is not installed on the machine of the service; \
             install it, for example with `apt-get install nmap`"
        );
        assert_eq!(guest_of(Tool::PORTS), None);
    }

    #[test]
    fn second_name_of_a_program_is_found_in_any_directory() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = env::join_paths([first.path(), second.path()]).unwrap();
        let write = |file: &Path| {
            fs::write(file, "").unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        };
        let short = first.path().join("testssl");
        write(&short);
        assert_eq!(Guest::Testssl.find_in(&path), Some(short));
        let whole = second.path().join("testssl.sh");
        write(&whole);
        assert_eq!(Guest::Testssl.find_in(&path), Some(whole));
    }

    #[test]
    fn row_of_a_tool_names_its_format_and_its_id() {
        for &(tool, guest, _) in GUESTS {
            let row = guest.row();
            let Some(scan) = &row.scan else { continue };
            let format = scandeck_import::FORMATS
                .iter()
                .find(|format| format.name == scan.format);
            // An imported file and a run of one tool are comparable.
            assert_eq!(format.map(|format| format.tool_id), Some(tool), "{guest:?}");
            assert_eq!(tool.name(), Some(row.name));
        }
    }

    #[test]
    fn only_nuclei_with_its_default_tags_is_read_only() {
        use serde_json::json;
        let active = [Tool::WAPITI, Tool::NIKTO, Tool::FFUF];
        for &(tool, ..) in GUESTS {
            let is_nuclei = tool == Tool::NUCLEI;
            let expected = active.contains(&tool) || is_nuclei;
            assert_eq!(is_active(tool, &json!({})), expected, "{tool}");
        }
        let nuclei = |tags: &[&str]| is_active(Tool::NUCLEI, &json!({"tags": tags}));
        assert!(!nuclei(&["ssl", "tech"]) && nuclei(&["tech", "cve"]));
    }
}
