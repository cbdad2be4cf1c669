//! A bundle: all stored data of a workspace and the latest data of the service in one file.
//!
//! ```text
//!   {"manifest":{…}}  {"event":{…}}  {"setting":{…}}  {"seen":"…"}  {"payload":{…}}  {"hit":{…}}
//!   {"capture":{…}}  {"target":{…}}  {"scan":{…}}  {"finding":{…}}
//! ```
//!
//! One JSON object a line. The manifest comes first, counts the rest and has their digest, so a file
//! that was cut short or changed is refused whole.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::bundle_digest;
use super::event::Event;
use super::jsonl::{self, BadLine};
use crate::finding::FindingKey;
use crate::oob::{ArchivedCapture, Hit, Payload};
use scandeck_wire::contract::{Finding, Scan, Shared, Stamp, Target};
use scandeck_wire::data_format::DataFormat;
use scandeck_wire::text;
use scandeck_wire::text::plural;

/// Format name in the manifest.
const FORMAT: &str = "scandeck-bundle";
/// The version written, and the greatest read.
const VERSION: u32 = 2;
/// Why a file that does not fit its digest is refused.
const CHANGED: &str = "file was damaged or changed: it does not match the digest in its first line";

/// The contents of a bundle file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    pub manifest: Manifest,
    pub events: Vec<Arc<Event>>,
    pub settings: Vec<Setting>,
    /// Findings that were seen.
    pub seen: Vec<FindingKey>,
    pub payloads: Vec<Arc<Payload>>,
    /// Hits, including those of deleted captures.
    pub hits: Vec<Hit>,
    /// Captured requests as they were archived.
    pub captures: Vec<ArchivedCapture>,
    pub targets: Vec<Arc<Target>>,
    pub scans: Vec<Arc<Scan>>,
    pub findings: Vec<Arc<Finding>>,
}

/// Contents of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    format: String,
    version: u32,
    /// Name of the workspace.
    pub workspace: Shared,
    /// Alias of the workspace in fingerprints; usually empty.
    #[serde(default)]
    pub alias: Shared,
    /// Name of the service.
    pub service: Shared,
    /// Who made the bundle.
    pub who: Shared,
    /// Time by the author's clock.
    pub made: Stamp,
    /// True if the service was reached; otherwise targets, scans and findings are missing.
    pub reached: bool,
    lines: usize,
    /// Of the lines of a file; files of earlier versions have none.
    #[serde(default)]
    digest: String,
}

/// A setting of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Id.
    pub key: Shared,
    /// Its value, as JSON.
    pub json: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BundleLine {
    Manifest(Manifest),
    Event(Arc<Event>),
    Setting(Setting),
    Seen(FindingKey),
    Payload(Arc<Payload>),
    Hit(Hit),
    Capture(ArchivedCapture),
    Target(Arc<Target>),
    Scan(Arc<Scan>),
    Finding(Arc<Finding>),
}

impl Manifest {
    /// Of a bundle that holds nothing yet.
    pub fn new(
        workspace: Shared,
        alias: Shared,
        service: Shared,
        (who, made): (Shared, Stamp),
    ) -> Self {
        let format = FORMAT.to_owned();
        Self {
            format,
            version: VERSION,
            workspace,
            alias,
            service,
            who,
            made,
            ..Self::default()
        }
    }
}

impl Bundle {
    pub fn format() -> DataFormat {
        DataFormat {
            name: "bundles",
            number: VERSION.into(),
            file: None,
        }
    }

    /// One that holds nothing yet.
    pub fn new(manifest: Manifest) -> Self {
        Self {
            manifest,
            ..Self::default()
        }
    }

    /// How much it holds, for people.
    pub fn summary(&self) -> String {
        let of_service = match self.manifest.reached {
            true => format!(
                "{}, {} and {} of the service",
                plural(self.targets.len(), "target"),
                plural(self.scans.len(), "scan"),
                plural(self.findings.len(), "finding")
            ),
            false => "without targets, scans and findings of the service".to_owned(),
        };
        let counts = [
            (self.events.len(), "decision"),
            (self.settings.len(), "setting"),
            (self.seen.len(), "seen finding"),
            (self.payloads.len(), "payload"),
            (self.hits.len(), "hit"),
            (self.captures.len(), "capture"),
        ];
        let mut parts: Vec<String> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, noun)| plural(count, noun))
            .collect();
        parts.push(of_service);
        parts.join(", ")
    }

    /// The file.
    pub fn write(&self) -> String {
        let mut lines: Vec<BundleLine> = Vec::new();
        lines.extend(self.events.iter().cloned().map(BundleLine::Event));
        lines.extend(self.settings.iter().cloned().map(BundleLine::Setting));
        lines.extend(self.seen.iter().copied().map(BundleLine::Seen));
        lines.extend(self.payloads.iter().cloned().map(BundleLine::Payload));
        lines.extend(self.hits.iter().cloned().map(BundleLine::Hit));
        lines.extend(self.captures.iter().cloned().map(BundleLine::Capture));
        lines.extend(self.targets.iter().cloned().map(BundleLine::Target));
        lines.extend(self.scans.iter().cloned().map(BundleLine::Scan));
        lines.extend(self.findings.iter().cloned().map(BundleLine::Finding));
        let manifest = Manifest {
            lines: lines.len(),
            ..self.manifest.clone()
        };
        let mut file = String::new();
        for line in [BundleLine::Manifest(manifest)].iter().chain(&lines) {
            file.push_str(&serde_json::to_string(line).unwrap_or_default());
            file.push('\n');
        }
        bundle_digest::add(&mut file);
        file
    }

    /// Reads a file: all of it or nothing.
    ///
    /// # Errors
    /// The first bad line, that there is no manifest of a version known here, that lines are
    /// missing, or that the file does not fit its digest.
    pub fn read(file: &str) -> Result<Self, BadLine> {
        let bad = |line: usize, reason: String| BadLine {
            line,
            reason: text::clean(&reason).into_owned(),
        };
        let mut lines = file
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty());
        let mut manifest = match lines.next().map(|(_, first)| serde_json::from_str(first)) {
            Some(Ok(BundleLine::Manifest(manifest))) if manifest.format == FORMAT => manifest,
            _ => return Err(bad(1, "not a scandeck bundle".to_owned())),
        };
        if manifest.version > VERSION {
            return Err(bad(
                1,
                format!(
                    "bundle version {} needs a newer scandeck; this one reads up to {VERSION}",
                    manifest.version
                ),
            ));
        }
        let (promised, mut found) = (manifest.lines, 0);
        let digest = std::mem::take(&mut manifest.digest);
        let mut bundle = Self::new(manifest);
        let unreadable = |error: &serde_json::Error| match bundle_digest::fits(file, &digest) {
            true => error.to_string(),
            false => format!("file is damaged: {error}"),
        };
        for (at, line) in lines {
            match serde_json::from_str(line).map_err(|error| bad(at + 1, unreadable(&error)))? {
                BundleLine::Manifest(_) => {
                    return Err(bad(at + 1, "second manifest in one bundle".to_owned()));
                }
                BundleLine::Event(event) => {
                    jsonl::believed(&event).map_err(|reason| bad(at + 1, reason))?;
                    bundle.events.push(event);
                }
                BundleLine::Setting(setting) => bundle.settings.push(setting),
                BundleLine::Seen(key) => bundle.seen.push(key),
                BundleLine::Payload(payload) => bundle.payloads.push(payload),
                BundleLine::Hit(hit) => bundle.hits.push(hit),
                BundleLine::Capture(capture) => bundle.captures.push(capture),
                BundleLine::Target(target) => bundle.targets.push(target),
                BundleLine::Scan(scan) => bundle.scans.push(scan),
                BundleLine::Finding(finding) => bundle.findings.push(finding),
            }
            found += 1;
        }
        bundle.manifest.lines = 0;
        if found != promised {
            let reason = format!("file is incomplete: {found} of {promised} lines");
            return Err(bad(found + 1, reason));
        }
        match bundle_digest::fits(file, &digest) {
            true => Ok(bundle),
            false => Err(bad(1, CHANGED.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oob::Token;
    use crate::triage::Verdict;
    use crate::triage::testing::Replica;
    use scandeck_wire::contract::{CaptureId, Evidence, FindingId, LoggerId, Risk};

    fn bundle() -> Bundle {
        let made = Stamp::parse("2026-11-21 12:00:00").unwrap();
        let manifest = Manifest::new(
            "Acme".into(),
            Shared::default(),
            "local".into(),
            ("ann".into(), made),
        );
        let finding = Finding {
            id: FindingId(7),
            name: "Key\u{1b}".into(),
            risk_level: Risk::High,
            vuln_evidence: Evidence::from_value(&serde_json::json!([["a", 1]])),
            ..Finding::default()
        };
        let mut bundle = Bundle::new(manifest);
        bundle.events = vec![Replica::new("ann", 1).decides(1, Verdict::Confirmed)];
        bundle.settings = vec![Setting {
            key: "tabs".into(),
            json: "[1]".into(),
        }];
        bundle.seen = vec![FindingKey(9)];
        bundle.payloads = vec![Arc::new(Payload {
            workspace: "Acme".into(),
            ..Payload::default()
        })];
        bundle.captures = vec![ArchivedCapture {
            workspace: "Acme".into(),
            ..ArchivedCapture::default()
        }];
        bundle.hits = vec![Hit {
            token: Token::of(1),
            workspace: "Acme".into(),
            logger: LoggerId(1),
            id: CaptureId(2),
            digest: i64::MIN,
            at: Some(made),
        }];
        bundle.findings = vec![Arc::new(finding)];
        bundle.scans = vec![Arc::new(Scan {
            tool_id: 170,
            ..Scan::default()
        })];
        bundle.targets = vec![Arc::new(Target {
            name: "shop.test".into(),
            ..Target::default()
        })];
        bundle
    }

    #[test]
    fn bundle_round_trips() {
        assert_eq!(Bundle::read(&bundle().write()), Ok(bundle()));
    }

    #[test]
    fn bundle_with_one_changed_byte_is_rejected() {
        let whole = bundle().write();
        let digest = whole.find("\"digest\":\"").unwrap();
        let key = digest..digest + "\"digest\":\"".len();
        for at in (0..whole.len()).filter(|at| !key.contains(at)) {
            let mut bytes = whole.clone().into_bytes();
            if !bytes[at].is_ascii_alphanumeric() {
                continue;
            }
            bytes[at] = if bytes[at] == b'1' { b'2' } else { b'1' };
            let changed = String::from_utf8(bytes).unwrap();
            assert!(Bundle::read(&changed).is_err(), "{at}: {changed}");
        }
        let other = whole.replacen("shop.test", "shop.best", 1);
        assert_eq!(Bundle::read(&other).unwrap_err().reason, CHANGED);
        let cut = &whole[..whole.len() - 40];
        let reason = Bundle::read(cut).unwrap_err().reason;
        assert!(reason.starts_with("file is damaged: "), "{reason}");
    }

    #[test]
    fn bundle_without_digest_or_with_other_ends_of_lines_is_read() {
        let whole = bundle().write();
        let windows = whole.replace('\n', "\r\n") + "\r\n";
        assert_eq!(Bundle::read(&windows), Ok(bundle()));
        let from = whole.find(",\"digest\":\"").unwrap();
        let to = whole.find("\"}}\n").unwrap() + 1;
        let older = format!("{}{}", &whole[..from], &whole[to..]);
        assert!(!older.contains("digest\":\""), "{older}");
        assert_eq!(Bundle::read(&older), Ok(bundle()));
    }

    #[test]
    fn truncated_or_foreign_bundle_is_rejected() {
        let whole = bundle().write();
        let lines: Vec<&str> = whole.lines().collect();
        let reason = |file: &str| Bundle::read(file).unwrap_err().reason;
        assert!(reason(&lines[..4].join("\n")).contains("3 of 9 lines"));
        assert!(reason(&lines[1..].join("\n")).contains("not a scandeck bundle"));
        assert!(reason("").contains("not a scandeck bundle"));
        assert!(
            reason(&whole.replace("\"version\":2,", "\"version\":3,"))
                .contains("version 3 needs a newer scandeck; this one reads up to 2")
        );
        let mut far = (*bundle().events[0]).clone();
        far.clock = u64::MAX;
        let far = Bundle {
            events: vec![far.into()],
            ..bundle()
        };
        assert!(reason(&far.write()).contains("out of range"));
        let half = whole.replace("{\"seen\":", "{\"se\u{202e}en\":");
        let bad = Bundle::read(&half).unwrap_err();
        assert!(bad.line == 4 && !bad.reason.contains('\u{202e}'), "{bad:?}");
    }
}
