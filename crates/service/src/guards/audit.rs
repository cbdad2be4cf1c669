//! The audit log: who changed what, as JSON lines in `audit.jsonl` of the data directory.
//!
//! ```text
//!   change, refused key or role ─► audit.jsonl ─► audit.jsonl.1 ─► … ─► audit.jsonl.5 ─► deleted
//! ```
//!
//! Entries contain names of keys, never keys, and paths without their query.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jiff::Timestamp;
use serde::Serialize;

use crate::guards::keys::KeyIdentity;
use scandeck_wire::input_files::open_regular;

/// Older files that are kept.
const OLD_FILES: u32 = 5;

/// An audit log that is open for writing.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    /// Size at which a new file begins.
    max_bytes: u64,
    file: Mutex<Option<(File, u64)>>,
}

#[derive(Debug, Serialize)]
pub struct AuditedRequest<'a> {
    pub request_id: &'a str,
    pub client: String,
    /// The name of the key; absent without a valid one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'a str>,
    pub method: &'a str,
    pub path: &'a str,
    pub status: u16,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub counts: Option<AuditedCounts>,
}

/// Who sent a request, from the check of its key on. A response cannot say it, because the client
/// may leave before there is one.
#[derive(Clone, Debug, Default)]
pub struct RequestSender(Arc<OnceLock<KeyIdentity>>);

impl RequestSender {
    /// The key of the request is valid.
    pub fn identify(&self, identity: &KeyIdentity) {
        // It is set once, because a request has one key.
        let _ = self.0.set(identity.clone());
    }

    pub fn identity(&self) -> Option<&KeyIdentity> {
        self.0.get()
    }
}

/// The rows of a push or purge of shared decisions, never their contents.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum AuditedCounts {
    Push {
        stored: i64,
        known: i64,
        refused: usize,
    },
    Purge {
        events: i64,
        payloads: i64,
    },
}

/// A command in the audit log.
#[derive(Debug, Serialize)]
pub struct AuditedCommand<'a> {
    /// `login@host`.
    pub who: &'a str,
    pub command: &'a str,
    pub subject: &'a str,
}

#[derive(Serialize)]
struct AuditLine<'a, T> {
    time: String,
    event: &'a str,
    #[serde(flatten)]
    entry: &'a T,
}

impl AuditLog {
    /// Writes to `path`; without a size, the file grows.
    pub fn new(path: PathBuf, max_bytes: Option<u64>) -> Self {
        Self {
            path,
            max_bytes: max_bytes.unwrap_or(u64::MAX),
            file: Mutex::default(),
        }
    }

    /// Writes an entry. A failure is logged: it must not stop the service.
    pub fn write<T: Serialize>(&self, event: &str, entry: &T, now: Timestamp) {
        let line = AuditLine {
            time: now.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string(),
            event,
            entry,
        };
        let written = serde_json::to_string(&line)
            .map_err(io::Error::other)
            .and_then(|line| self.append(&line));
        if let Err(error) = written {
            tracing::error!(%error, path = %self.path.display(), "audit log not written");
        }
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let size = line.len() as u64 + 1;
        if file
            .as_ref()
            .is_some_and(|(_, length)| *length > 0 && length + size > self.max_bytes)
        {
            *file = None;
            // The entry is written to the full file rather than not at all.
            if let Err(error) = self.rotate() {
                tracing::error!(%error, path = %self.path.display(), "audit log not rotated");
            }
        }
        let (file, length) = match &mut *file {
            Some(open) => open,
            closed => {
                let options = &mut OpenOptions::new();
                let opened =
                    open_regular(&self.path, options.create(true).append(true).mode(0o600))?;
                let length = opened.metadata()?.len();
                closed.insert((opened, length))
            }
        };
        // One write: another process may append too.
        file.write_all(format!("{line}\n").as_bytes())?;
        *length += size;
        Ok(())
    }

    fn rotate(&self) -> io::Result<()> {
        for number in (1..OLD_FILES).rev() {
            let _ = fs::rename(
                numbered(&self.path, number),
                numbered(&self.path, number + 1),
            );
        }
        fs::rename(&self.path, numbered(&self.path, 1))
    }
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    PathBuf::from(format!("{}.{number}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_written_while_the_log_cannot_be_rotated() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("audit.jsonl");
        for number in 1..=OLD_FILES {
            fs::create_dir_all(numbered(&path, number).join("in the way")).unwrap();
        }
        let log = AuditLog::new(path.clone(), Some(10));
        for subject in ["0", "1", "2"] {
            log.write(
                "command",
                &AuditedCommand {
                    who: "ana@box",
                    command: "keys add",
                    subject,
                },
                Timestamp::UNIX_EPOCH,
            );
        }
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3);
    }

    #[test]
    fn full_audit_log_is_rotated_and_the_oldest_file_is_deleted() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("audit.jsonl");
        let command = |subject| AuditedCommand {
            who: "ana@box",
            command: "keys add",
            subject,
        };
        AuditLog::new(path.clone(), None).write(
            "command",
            &command("first"),
            Timestamp::UNIX_EPOCH,
        );
        // One entry fits.
        let log = AuditLog::new(path.clone(), Some(fs::metadata(&path).unwrap().len() + 3));
        for subject in ["0", "1", "2", "3", "4", "5", "6", "7", "8"] {
            log.write("command", &command(subject), Timestamp::UNIX_EPOCH);
        }
        let subjects = |path: &Path| {
            let text = fs::read_to_string(path).unwrap();
            let lines = text
                .lines()
                .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
            lines
                .map(|line| line["subject"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(subjects(&path), ["8"]);
        assert_eq!(subjects(&numbered(&path, 1)), ["7"]);
        assert_eq!(subjects(&numbered(&path, OLD_FILES)), ["3"]);
        assert_eq!(
            fs::read_dir(temp.path()).unwrap().count(),
            1 + OLD_FILES as usize
        );
    }
}
