//! Guests: scanners that the user has installed, run as child processes.
//!
//! ```text
//!   tool ──fixed arguments──► process (own group, limits) ──XML──► parser of the tool ──► findings
//!                                                        └──lines──► raw log
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

pub mod process;
pub mod raw_sockets;
pub mod xml;

/// A scanner that may be installed beside this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guest {
    Nmap,
    Sslscan,
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
];

impl Guest {
    /// The name of the program, which is also the name of its package in Debian, Fedora and
    /// Homebrew.
    pub fn program(self) -> &'static str {
        match self {
            Guest::Nmap => "nmap",
            Guest::Sslscan => "sslscan",
        }
    }

    /// How to install it.
    pub fn remedy(self) -> String {
        format!(
            "install it, for example with `apt-get install {}`",
            self.program()
        )
    }

    /// The executable in the directories of `PATH`.
    pub fn find(self) -> Option<PathBuf> {
        self.find_in(&env::var_os("PATH")?)
    }

    fn find_in(self, path: &OsStr) -> Option<PathBuf> {
        // An empty or relative entry would run a program of the current directory.
        let directories = env::split_paths(path).filter(|directory| directory.is_absolute());
        directories
            .map(|directory| directory.join(self.program()))
            .find(|file| is_executable(file))
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
    let (program, name) = (guest.program(), tool.name().unwrap_or_default());
    format!(
        "tool_id {} ({name}) needs {program}, which is not installed on the machine of the service; {}",
        tool.0,
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
}
