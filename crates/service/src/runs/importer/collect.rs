//! Reads a file into scans, a scan for each target of each file, and rows of findings.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash, RandomState};
use std::io::Read;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::coverage::tested_classes;
use super::reading::{ReadStep, read_steps};
use super::rows::{ImportedRow, RowWriter, WrittenRows};
use crate::net::address::Address;
use crate::store::imports::{QueuedImport, ScanToImport, UnscannedFinding};
use scandeck_import::{ImportEntry, ImportFormat, ImportSummary, ImportTarget};
use scandeck_wire::contract::import::{ImportOrigin, ImportedFile, SkippedResults};
use scandeck_wire::contract::{Risk, Shared, Stamp};

const REPEATED: &str = "same as an earlier result";
const UNKNOWN_FORMAT: &str = "the format is not recognised; unpack it and name its format";

/// A file that was read.
pub struct Collected {
    /// Without their scans.
    pub files: Vec<ImportedFile>,
    pub scans: Vec<ScanToImport>,
    /// The position of the file of each scan.
    pub file_of_scan: Vec<usize>,
    /// The rows of the findings.
    pub rows: WrittenRows,
}

/// A file that is being read.
pub struct Collection<'a> {
    import: &'a QueuedImport,
    /// Replaces every target of the file.
    chosen: Option<Address>,
    /// More targets than a service may have end the file.
    most_targets: usize,
    stop: CancellationToken,
    members: Vec<CollectedMember>,
    scans: Vec<CollectedScan>,
    rows: RowWriter,
    places: UsedPlaces,
}

/// One file, of an archive or alone.
struct CollectedMember {
    format: &'static ImportFormat,
    /// Positions of scans by the name in the file; none if the name is no target.
    names: HashMap<String, Option<usize>>,
    /// Positions of scans by canonical name.
    targets: HashMap<String, usize>,
    skipped: BTreeMap<&'static str, i64>,
}

/// A target of one file.
struct CollectedScan {
    member: usize,
    target: Address,
    by_risk: [i64; 5],
}

impl<'a> Collection<'a> {
    /// Writes the rows to an unnamed file in `dir`.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn new(
        dir: &Path,
        import: &'a QueuedImport,
        most_targets: usize,
        stop: CancellationToken,
    ) -> anyhow::Result<Self> {
        let chosen = match import.target_name.as_str() {
            "" => None,
            name => Some(Address::parse(name)?),
        };
        Ok(Self {
            import,
            chosen,
            most_targets,
            stop,
            members: Vec::new(),
            scans: Vec::new(),
            rows: RowWriter::new(dir).context("the rows cannot be written")?,
            places: UsedPlaces::default(),
        })
    }

    /// Reads the file to its end.
    ///
    /// # Errors
    /// When no file is recognised, there are too many targets, or the disk is full.
    pub fn read(mut self, input: impl Read + Send, now: Timestamp) -> anyhow::Result<Collected> {
        let import = self.import;
        let format = Some(import.format.as_str()).filter(|format| !format.is_empty());
        let summaries = read_steps(input, format, |step| self.collect(step))?;
        let recognised: Vec<RecognisedFile> = summaries
            .iter()
            .enumerate()
            .filter(|(_, summary)| summary.format.is_some())
            .map(|(position, summary)| RecognisedFile { position, summary })
            .collect();
        if recognised.is_empty() {
            bail!(UNKNOWN_FORMAT);
        }
        for (member, file) in recognised.iter().enumerate() {
            self.add_targets(member, file.summary)?;
        }
        let mut scans = self.scans_to_import(&recognised, now);
        for (member, file) in recognised.iter().enumerate() {
            self.add_coverage(member, file.summary, &mut scans);
        }
        let file_of = |scan: &CollectedScan| recognised.get(scan.member).map(|file| file.position);
        let mut members = self.members.iter().enumerate();
        let files = summaries.iter().map(|summary| match summary.format {
            Some(_) => self.imported_file(members.next(), summary),
            None => ImportedFile {
                file: self.file_name(summary),
                error: Some(UNKNOWN_FORMAT.into()),
                ..ImportedFile::default()
            },
        });
        Ok(Collected {
            files: files.collect(),
            file_of_scan: self.scans.iter().filter_map(file_of).collect(),
            scans,
            rows: self.rows.finish()?,
        })
    }

    fn collect(&mut self, step: ReadStep) -> anyhow::Result<()> {
        if self.stop.is_cancelled() {
            bail!("the service stops");
        }
        match step {
            ReadStep::File(format) => self.members.push(CollectedMember {
                format,
                names: HashMap::new(),
                targets: HashMap::new(),
                skipped: BTreeMap::new(),
            }),
            ReadStep::Results(results) => {
                for result in results {
                    self.add(result)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the row of a result, or counts why there is none.
    fn add(&mut self, entry: ImportEntry) -> anyhow::Result<()> {
        let Some(member) = self.members.len().checked_sub(1) else {
            return Ok(());
        };
        let scan = match self.scan_of(member, entry.target.as_ref())? {
            Ok(scan) => scan,
            Err(reason) => {
                self.skip(member, reason);
                return Ok(());
            }
        };
        let place = format!("{} {}", entry.place.path, entry.place.parameter);
        let finding = entry.into_finding();
        let mut finding = UnscannedFinding::of(&finding, place.trim())?;
        if !self.places.separate(scan, &mut finding) {
            self.skip(member, REPEATED);
            return Ok(());
        }
        if let Some(scan) = self.scans.get_mut(scan) {
            scan.by_risk[finding.risk as usize] += 1;
        }
        let row = ImportedRow { scan, finding };
        self.rows.push(&row).context("the rows cannot be written")
    }

    fn skip(&mut self, member: usize, reason: &'static str) {
        if let Some(member) = self.members.get_mut(member) {
            *member.skipped.entry(reason).or_default() += 1;
        }
    }

    /// The position of the scan of a target, or why it is none.
    fn scan_of(
        &mut self,
        member: usize,
        target: Option<&ImportTarget>,
    ) -> anyhow::Result<Result<usize, &'static str>> {
        let name = match (&self.chosen, target) {
            (Some(_), _) => "",
            (None, Some(target)) => target.name.as_str(),
            (None, None) => return Ok(Err(SkippedResults::NO_TARGET)),
        };
        let known = self.members[member].names.get(name).copied();
        let scan = match known {
            Some(known) => known,
            None => {
                let address = match &self.chosen {
                    Some(chosen) => Some(chosen.clone()),
                    None => Address::parse(name).ok(),
                };
                let added = address.map(|address| self.add_scan(member, address));
                let added = added.transpose()?;
                self.members[member].names.insert(name.to_owned(), added);
                added
            }
        };
        Ok(scan.ok_or(SkippedResults::NOT_A_TARGET))
    }

    /// The position of the scan of a target, which may be new.
    fn add_scan(&mut self, member: usize, target: Address) -> anyhow::Result<usize> {
        let targets = &mut self.members[member].targets;
        if let Some(known) = targets.get(target.canonical()) {
            return Ok(*known);
        }
        if targets.len() >= self.most_targets {
            return Err(anyhow!(
                "the file has more than {} targets; use smaller files, or restart the service with a larger --max-targets",
                self.most_targets
            ));
        }
        let scan = self.scans.len();
        targets.insert(target.canonical().to_owned(), scan);
        self.scans.push(CollectedScan {
            member,
            target,
            by_risk: [0; 5],
        });
        Ok(scan)
    }

    /// Adds scans of targets without results: a later scan of them may have some.
    fn add_targets(&mut self, member: usize, summary: &ImportSummary) -> anyhow::Result<()> {
        // A damaged file without a result says nothing about the chosen target.
        let is_unread = summary.damage.is_some() && summary.entries == 0;
        if self.chosen.is_some() && !is_unread {
            let _ = self.scan_of(member, None)?;
        }
        for found in summary.targets.values() {
            let _ = self.scan_of(member, Some(&found.target))?;
        }
        Ok(())
    }

    fn scans_to_import(&self, files: &[RecognisedFile], now: Timestamp) -> Vec<ScanToImport> {
        let to_import = |scan: &CollectedScan| {
            let summary = files.get(scan.member)?.summary;
            let format = self.members.get(scan.member)?.format;
            let at = |stamp: Option<Stamp>| stamp.map(|stamp| stamp.0.min(now));
            let (started, ended) = (at(summary.started), at(summary.ended));
            let started = started.or(ended).unwrap_or(now);
            Some(ScanToImport {
                target: scan.target.canonical().to_owned(),
                kind: scan.target.kind(),
                tool: format.tool_id,
                started,
                ended: ended.unwrap_or(started).max(started),
                origin: self.origin(summary, now),
                by_risk: scan.by_risk,
            })
        };
        self.scans.iter().filter_map(to_import).collect()
    }

    fn origin(&self, summary: &ImportSummary, now: Timestamp) -> ImportOrigin {
        ImportOrigin {
            id: self.import.id,
            file: self.file_name(summary),
            tool: summary.tool.as_str().into(),
            version: summary.version.as_str().into(),
            digest: self.import.digest.as_str().into(),
            imported_by: self.import.imported_by.as_str().into(),
            imported_at: Some(Stamp(now)),
            // A damaged file has not all results, and the tool knows better which tests it ended.
            complete: self.import.is_complete
                && summary.damage.is_none()
                && summary.uncompleted.is_empty(),
            coverage: Vec::new(),
        }
    }

    /// Adds what a file states about tests to its scans. Results of several targets under one name
    /// would have the tests of all of them.
    fn add_coverage(&self, member: usize, summary: &ImportSummary, scans: &mut [ScanToImport]) {
        if self.chosen.is_some() && summary.targets.len() > 1 {
            return;
        }
        let Some(member) = self.members.get(member) else {
            return;
        };
        for coverage in &summary.coverage {
            let names = coverage.targets.iter().map(|target| match self.chosen {
                Some(_) => "",
                None => target.name.as_str(),
            });
            let positions = names.filter_map(|name| member.names.get(name).copied().flatten());
            for scan in positions.collect::<BTreeSet<usize>>() {
                if let Some(scan) = scans.get_mut(scan) {
                    scan.origin.coverage.push(tested_classes(coverage));
                }
            }
        }
    }

    fn imported_file(
        &self,
        member: Option<(usize, &CollectedMember)>,
        summary: &ImportSummary,
    ) -> ImportedFile {
        let scans = self
            .scans
            .iter()
            .filter(|scan| member.is_some_and(|(at, _)| scan.member == at));
        let (mut by_risk, mut targets) = ([0; 5], 0);
        for scan in scans {
            targets += 1;
            by_risk
                .iter_mut()
                .zip(scan.by_risk)
                .for_each(|(sum, count)| *sum += count);
        }
        let own = member.into_iter().flat_map(|(_, read)| &read.skipped);
        let own = own.map(|(reason, count)| SkippedResults {
            reason: (*reason).into(),
            count: *count,
        });
        let of_reader = summary.skipped.iter().map(|skipped| SkippedResults {
            reason: skipped.reason.as_str().into(),
            count: i64::try_from(skipped.count).unwrap_or(i64::MAX),
        });
        let counts = Risk::DOWN
            .into_iter()
            .map(|risk| (risk.as_str().to_owned(), by_risk[risk as usize]));
        ImportedFile {
            file: self.file_name(summary),
            format: summary.format.map(|format| format.name.into()),
            tool: summary.tool.as_str().into(),
            version: summary.version.as_str().into(),
            started: summary.started,
            ended: summary.ended,
            targets,
            findings: by_risk.iter().sum(),
            by_risk: counts.filter(|(_, count)| *count > 0).collect(),
            skipped: of_reader.chain(own).collect(),
            error: summary.damage.as_deref().map(Shared::from),
            scans: Vec::new(),
        }
    }

    /// The name of the file, in an archive with the name there.
    fn file_name(&self, summary: &ImportSummary) -> Shared {
        let file = &self.import.file_name;
        match &summary.member {
            Some(member) if file.is_empty() => member.as_str().into(),
            Some(member) => format!("{file}: {member}").into(),
            None => file.as_str().into(),
        }
    }
}

/// A file with a known format, and its position among all.
struct RecognisedFile<'a> {
    position: usize,
    summary: &'a ImportSummary,
}

/// The duplicate groups of all scans. Results with other contents at the same place are not merged:
/// the later ones receive a number.
#[derive(Default)]
struct UsedPlaces {
    hashers: [RandomState; 2],
    seen: HashSet<u128>,
    /// The last number of each place.
    numbers: HashMap<u128, u32>,
}

impl UsedPlaces {
    /// Gives a finding a place of its own in its scan; false if it repeats an earlier one.
    fn separate(&mut self, scan: usize, finding: &mut UnscannedFinding) -> bool {
        let first = self.group(scan, finding);
        // 64 bits tell the contents at one place apart.
        let contents = self.hashers[0].hash_one((finding.risk, &finding.body));
        if !self.seen.insert(first ^ u128::from(contents)) {
            return false;
        }
        let Some(mut number) = self.numbers.get(&first).copied() else {
            self.numbers.insert(first, 1);
            return true;
        };
        let place = std::mem::take(&mut finding.place);
        loop {
            number += 1;
            finding.place = format!("{place} #{number}");
            let group = self.group(scan, finding);
            if !self.numbers.contains_key(&group) {
                self.numbers.insert(group, 1);
                self.numbers.insert(first, number);
                return true;
            }
        }
    }

    fn group(&self, scan: usize, finding: &UnscannedFinding) -> u128 {
        let UnscannedFinding {
            vuln_id,
            protocol,
            port,
            place,
            ..
        } = finding;
        self.hash(&(scan, vuln_id, protocol, port, place))
    }

    /// 128 bits of keyed hashes, so that nobody can prepare a collision.
    fn hash(&self, value: &impl Hash) -> u128 {
        let [high, low] = &self.hashers;
        (u128::from(high.hash_one(value)) << 64) | u128::from(low.hash_one(value))
    }
}
