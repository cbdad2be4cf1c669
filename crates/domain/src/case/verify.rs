//! Compares a case file with its digests.

use std::io::{BufRead, BufReader, Cursor, Read};

use serde_json::Value;
use thiserror::Error;
use zip::ZipArchive;

use super::chain::SealedLine;
use super::layout::{MAX_BYTES, is_case_alone};
use super::{CaseEntry, CaseEntryKind, PAGE, TIMELINE, VERSION, digest};

/// A case whose entries fit together.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifiedCase {
    pub entries: Vec<CaseEntry>,
    /// Digest of the last entry.
    pub seal: String,
}

/// Why a file is no whole case.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CaseFault {
    #[error("not a case file: {0}")]
    NoCase(String),
    #[error("case format {0} needs a newer scandeck; this one reads up to {VERSION}")]
    Newer(u64),
    #[error("{0} is not part of a case")]
    ForeignFile(String),
    #[error("entry {number} does not fit: {reason}")]
    Entry { number: usize, reason: &'static str },
    #[error("entries are missing at the end: the last one is not that of the page")]
    Cut,
    #[error("{PAGE} is not the page of this case")]
    Page,
}

/// Verifies a case file.
///
/// # Errors
/// The first entry that does not fit, or what is missing.
pub fn verify(file: &[u8]) -> Result<VerifiedCase, CaseFault> {
    let files = CaseFiles::read(file)?;
    let mut entries: Vec<CaseEntry> = Vec::new();
    let mut seal = String::new();
    // A line ends with LF alone: CR before it has no digest.
    for (line, number) in files.timeline.split_terminator('\n').zip(1..) {
        let entry = entry_of(line, number, &mut seal)?;
        entries.push(entry);
    }
    let last = entries.last().ok_or(CaseFault::Cut)?;
    if last.kind != CaseEntryKind::Page {
        return Err(CaseFault::Cut);
    }
    match last.data["sha256"] == digest(&files.page) {
        true => Ok(VerifiedCase { entries, seal }),
        false => Err(CaseFault::Page),
    }
}

/// The number is read before everything else: a later format may have other files and entries.
fn require_known_format(archive: &mut ZipArchive<Cursor<&[u8]>>) -> Result<(), CaseFault> {
    let number = archive.by_name(TIMELINE).ok().and_then(|timeline| {
        let mut first = String::new();
        let mut lines = BufReader::new(timeline.take(MAX_BYTES));
        lines.read_line(&mut first).ok()?;
        let line: Value = serde_json::from_str(&first).ok()?;
        line["entry"]["data"]["format"].as_u64()
    });
    match number {
        Some(number) if number > u64::from(VERSION) => Err(CaseFault::Newer(number)),
        _ => Ok(()),
    }
}

/// The entry of a line; `seal` is the digest of the entry before, and that of this one afterwards.
fn entry_of(line: &str, number: usize, seal: &mut String) -> Result<CaseEntry, CaseFault> {
    let misfit = |reason| CaseFault::Entry { number, reason };
    let sealed: SealedLine = serde_json::from_str(line).map_err(|_| misfit("it is no entry"))?;
    if sealed.digest != digest(sealed.entry.get().as_bytes()) {
        return Err(misfit("its digest is another one"));
    }
    // Nothing beside the entry has a digest.
    if line != SealedLine::written(&sealed.digest, sealed.entry.get()) {
        return Err(misfit("its line has other data"));
    }
    let entry: CaseEntry =
        serde_json::from_str(sealed.entry.get()).map_err(|_| misfit("it is no entry"))?;
    if entry.previous != *seal {
        return Err(misfit("it follows another entry"));
    }
    if entry.number != number as u64 {
        return Err(misfit("its number is another one"));
    }
    *seal = sealed.digest;
    Ok(entry)
}

struct CaseFiles {
    timeline: String,
    page: Vec<u8>,
}

impl CaseFiles {
    fn read(file: &[u8]) -> Result<Self, CaseFault> {
        let no_case = |error: &dyn ToString| CaseFault::NoCase(error.to_string());
        let mut archive = ZipArchive::new(Cursor::new(file)).map_err(|error| no_case(&error))?;
        require_known_format(&mut archive)?;
        if archive.offset() > 0 {
            return Err(no_case(&"other data comes before the archive"));
        }
        let is_known = |name: &&[u8]| [TIMELINE, PAGE].iter().any(|one| one.as_bytes() == *name);
        if let Some(name) = archive.file_names_raw().find(|name| !is_known(name)) {
            let name = String::from_utf8_lossy(name).into_owned();
            return Err(CaseFault::ForeignFile(name));
        }
        if !is_case_alone(file) {
            return Err(no_case(&"the archive has data beside its two files"));
        }
        let mut read = |name: &str| {
            let member = archive.by_name(name).map_err(|error| no_case(&error))?;
            let mut bytes = Vec::new();
            let mut limited = member.take(MAX_BYTES);
            limited
                .read_to_end(&mut bytes)
                .map_err(|error| no_case(&error))?;
            Ok::<_, CaseFault>(bytes)
        };
        let timeline = String::from_utf8(read(TIMELINE)?).map_err(|error| no_case(&error))?;
        let page = read(PAGE)?;
        Ok(Self { timeline, page })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use serde_json::json;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::super::layout::END;
    use super::super::{CaseEvent, SealedCase, seal};
    use super::*;
    use scandeck_wire::contract::Stamp;

    fn made() -> Stamp {
        Stamp::parse("2026-11-29 12:00:00").unwrap()
    }

    fn sealed() -> SealedCase {
        let event = |kind, text: &str| CaseEvent {
            at: Some(made()),
            author: "ann".into(),
            kind,
            text: text.to_owned(),
            data: json!({"name": text, "evidence": "a < b & \"c\""}),
        };
        let events = vec![
            event(CaseEntryKind::Case, "case of workspace Acme"),
            event(CaseEntryKind::Scan, "scan 1"),
            event(CaseEntryKind::Finding, "<script>"),
            event(CaseEntryKind::Decision, "verdict: confirmed"),
        ];
        seal("Acme", events, made()).unwrap()
    }

    fn archive(files: &[(&str, &str)]) -> Vec<u8> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            archive
                .start_file(*name, SimpleFileOptions::default())
                .unwrap();
            archive.write_all(content.as_bytes()).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    /// Timeline and page of the sealed case.
    fn contents() -> (Vec<String>, String) {
        let files = CaseFiles::read(&sealed().file).unwrap();
        let lines = files.timeline.lines().map(str::to_owned);
        (lines.collect(), String::from_utf8(files.page).unwrap())
    }

    fn fault_of(lines: &[String], page: &str) -> CaseFault {
        let timeline: String = lines.iter().map(|line| format!("{line}\n")).collect();
        verify(&archive(&[(TIMELINE, &timeline), (PAGE, page)])).unwrap_err()
    }

    #[test]
    fn whole_case_has_its_entries_and_the_seal_of_its_maker() {
        let case = sealed();
        let verified = verify(&case.file).unwrap();
        assert_eq!((verified.entries.len(), verified.seal), (5, case.seal));
        assert_eq!(verified.entries[2].text, "<script>");
        let (_, page) = contents();
        assert!(
            page.contains("&lt;script&gt;") && !page.contains("<script"),
            "{page}"
        );
    }

    #[test]
    fn ten_manipulations_are_named() {
        let (lines, page) = contents();
        let misfit = |number, reason| CaseFault::Entry { number, reason };
        let changed = |at: usize, from: &str, to: &str| {
            let mut changed = lines.clone();
            assert!(changed[at].contains(from));
            changed[at] = changed[at].replace(from, to);
            changed
        };
        let text = changed(1, "scan 1", "scan 2");
        let author = changed(3, "\"ann\"", "\"bob\"");
        let time = changed(2, "12:00:00", "12:00:01");
        for (lines, number) in [(text, 2), (author, 4), (time, 3)] {
            let expected = misfit(number, "its digest is another one");
            assert_eq!(fault_of(&lines, &page), expected);
        }
        let mut removed = lines.clone();
        removed.remove(2);
        assert_eq!(
            fault_of(&removed, &page),
            misfit(3, "it follows another entry")
        );
        let mut swapped = lines.clone();
        swapped.swap(1, 2);
        assert_eq!(
            fault_of(&swapped, &page),
            misfit(2, "it follows another entry")
        );
        let mut doubled = lines.clone();
        doubled.insert(2, lines[1].clone());
        assert_eq!(
            fault_of(&doubled, &page),
            misfit(3, "it follows another entry")
        );
        // An entry with a digest of its own does not fit to the next one.
        let mut forged = lines.clone();
        let entry = forged[1].split_once("\"entry\":").unwrap().1;
        let entry = entry.strip_suffix('}').unwrap().replace("scan 1", "scan 2");
        forged[1] = format!(
            "{{\"digest\":\"{}\",\"entry\":{entry}}}",
            digest(entry.as_bytes())
        );
        assert_eq!(
            fault_of(&forged, &page),
            misfit(3, "it follows another entry")
        );
        assert_eq!(fault_of(&lines[..4], &page), CaseFault::Cut);
        let other_page = page.replace("verdict: confirmed", "verdict: fixed");
        assert_eq!(fault_of(&lines, &other_page), CaseFault::Page);
        let timeline = lines.join("\n");
        let with_more = [
            (TIMELINE, timeline.as_str()),
            (PAGE, &page),
            ("notes.txt", ""),
        ];
        let foreign = CaseFault::ForeignFile("notes.txt".to_owned());
        assert_eq!(verify(&archive(&with_more)).unwrap_err(), foreign);
    }

    /// An archive with two pages of one name.
    fn with_two_pages() -> Vec<u8> {
        let (lines, page) = contents();
        let timeline = lines.join("\n");
        let mut file = archive(&[
            (TIMELINE, timeline.as_str()),
            ("index.htmX", "all fixed"),
            (PAGE, &page),
        ]);
        let names = file.windows(PAGE.len()).enumerate();
        let others = names.filter(|(_, word)| *word == b"index.htmX");
        let places: Vec<usize> = others.map(|(at, _)| at).collect();
        for at in places {
            file[at..at + PAGE.len()].copy_from_slice(PAGE.as_bytes());
        }
        file
    }

    #[test]
    fn case_of_a_later_version_is_refused_with_both_numbers() {
        let later = json!({"digest": "", "entry": {"kind": "thought", "data": {"format": 3}}});
        let fault = fault_of(&[later.to_string()], "");
        assert_eq!(fault, CaseFault::Newer(3));
        let message = "case format 3 needs a newer scandeck; this one reads up to 2";
        assert_eq!(fault.to_string(), message);
    }

    #[test]
    fn data_beside_the_entries_is_named() {
        let (lines, page) = contents();
        for (from, to) in [
            ("}", ",\"note\":\"forged\"}"),
            ("{\"digest\"", "{\"note\":1,\"digest\""),
            ("\"entry\":", "\"entry\": "),
            ("}", "}\r"),
        ] {
            let mut changed = lines.clone();
            let at = match from {
                "}" => changed[1].rfind(from).unwrap(),
                _ => changed[1].find(from).unwrap(),
            };
            changed[1].replace_range(at..at + from.len(), to);
            let reason = "its line has other data";
            assert_eq!(
                fault_of(&changed, &page),
                CaseFault::Entry { number: 2, reason }
            );
        }
    }

    /// The archive with another page before that of the case, which no reader of directories shows.
    #[test]
    fn second_page_is_no_case() {
        let (lines, page) = contents();
        let timeline: String = lines.iter().map(|line| format!("{line}\n")).collect();
        // The names have one length, so that the positions remain.
        let mut file = archive(&[
            ("other.html", "forged"),
            (PAGE, &page),
            (TIMELINE, &timeline),
        ]);
        let find = |file: &[u8]| file.windows(10).position(|name| name == b"other.html");
        while let Some(at) = find(&file) {
            file[at..at + 10].copy_from_slice(PAGE.as_bytes());
        }
        assert!(matches!(verify(&file), Err(CaseFault::NoCase(_))));
    }

    #[test]
    fn other_files_are_no_case() {
        let case = sealed();
        let cut = &case.file[..case.file.len() - 30];
        let without_page = archive(&[(TIMELINE, "")]);
        let prefixed = [b"data".as_slice(), &case.file].concat();
        for file in [b"PK".as_slice(), cut, &without_page, &prefixed] {
            assert!(matches!(verify(file), Err(CaseFault::NoCase(_))));
        }
        let after = [case.file.as_slice(), b"data"].concat();
        let mut with_comment = case.file.clone();
        let at = with_comment.len() - 2;
        with_comment[at] = 4;
        with_comment.extend(b"data");
        // The last record of the directory gets a comment.
        let mut with_file_comment = case.file.clone();
        let end = with_file_comment.len() - END;
        let record = end - 46 - PAGE.len();
        assert_eq!(with_file_comment[record..][..4], *b"PK\x01\x02");
        with_file_comment[record + 32] = 4;
        with_file_comment[end + 12] += 4;
        with_file_comment.splice(end..end, *b"data");
        for file in [after, with_comment, with_file_comment, with_two_pages()] {
            assert!(matches!(verify(&file), Err(CaseFault::NoCase(_))));
        }
        let empty = archive(&[(TIMELINE, ""), (PAGE, "")]);
        assert_eq!(verify(&empty).unwrap_err(), CaseFault::Cut);
    }
}
