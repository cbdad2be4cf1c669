//! The bytes of the archive of a case. Programs that follow its directory and programs that read it
//! from the beginning must find the same two files, and nothing else.
//!
//! ```text
//!   head, timeline ─ head, page ─ record of the timeline ─ record of the page ─ end
//! ```

use std::io::{self, Read};

use flate2::bufread::DeflateDecoder;

use super::{PAGE, TIMELINE};

/// Bytes of a file in the archive.
pub const MAX_BYTES: u64 = 2 << 30;
/// Bytes at the end of an archive without a comment: signature, disks, entries, length and place
/// of the directory, length of the comment.
pub const END: usize = 22;
const END_SIGNATURE: &[u8] = b"PK\x05\x06";
/// Bytes of a head, and of a record of the directory, before the name of the file.
const HEAD: usize = 30;
const RECORD: usize = 46;
const HEAD_SIGNATURE: &[u8] = b"PK\x03\x04";
const RECORD_SIGNATURE: &[u8] = b"PK\x01\x02";
const DEFLATED: usize = 8;

/// Whether an archive is the two files of a case, and has no bytes for anything else.
pub fn is_case_alone(file: &[u8]) -> bool {
    let parts = EntryParts::of(file);
    let parts = parts.and_then(|parts| parts.after(TIMELINE));
    let parts = parts.and_then(|parts| parts.after(PAGE));
    parts.is_some_and(|rest| rest.files.is_empty() && rest.directory.is_empty())
}

/// The files and records that are not compared yet.
struct EntryParts<'a> {
    /// The place of the next head in the archive.
    place: usize,
    files: &'a [u8],
    directory: &'a [u8],
}

impl<'a> EntryParts<'a> {
    /// The parts of an archive of two files without a comment.
    fn of(file: &'a [u8]) -> Option<Self> {
        let (parts, end) = file.split_last_chunk::<END>()?;
        let (files, directory) = parts.split_at_checked(long(end, 16)?)?;
        let fits = end.starts_with(END_SIGNATURE)
            && short(end, 10)? == 2
            && long(end, 12)? == directory.len()
            && short(end, 20)? == 0;
        fits.then_some(Self {
            place: 0,
            files,
            directory,
        })
    }

    /// The parts after the next file, if its head and its record say the same.
    fn after(self, name: &str) -> Option<Self> {
        let (record, directory) = self.directory.split_at_checked(RECORD + name.len())?;
        let (head, rest) = self.files.split_at_checked(HEAD + name.len())?;
        let (data, files) = rest.split_at_checked(long(record, 20)?)?;
        let fits = record.starts_with(RECORD_SIGNATURE)
            && head.starts_with(HEAD_SIGNATURE)
            // Version, method, time, checksum, sizes, lengths of the name and of other fields.
            && record.get(6..32) == head.get(4..30)
            && short(record, 28)? == name.len()
            && short(record, 30)? == 0
            && short(record, 32)? == 0
            && long(record, 42)? == self.place
            && record.ends_with(name.as_bytes())
            && head.ends_with(name.as_bytes())
            && is_whole(data, short(record, 10)?, long(record, 24)?);
        fits.then_some(Self {
            place: self.place + head.len() + data.len(),
            files,
            directory,
        })
    }
}

/// Whether the data of a file have the size that readers allow for, and no bytes behind the end of
/// compressed ones, which readers skip.
fn is_whole(data: &[u8], method: usize, size: usize) -> bool {
    if method != DEFLATED {
        return data.len() == size;
    }
    let mut decoder = DeflateDecoder::new(data);
    let read = io::copy(&mut decoder.by_ref().take(MAX_BYTES), &mut io::sink());
    read.is_ok_and(|bytes| bytes == size as u64) && decoder.total_in() == data.len() as u64
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    let number = bytes.get(at..)?.first_chunk()?;
    Some(usize::from(u16::from_le_bytes(*number)))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    let number = bytes.get(at..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*number)).ok()
}

#[cfg(test)]
mod tests {
    use super::super::{CaseFault, seal, verify};
    use super::*;
    use scandeck_wire::contract::Stamp;

    const HIDDEN: &[u8] = b"\x99\x99\x06\x00forged";

    fn case() -> Vec<u8> {
        let made = Stamp::parse("2026-11-29 12:00:00").unwrap();
        seal("Acme", Vec::new(), made).unwrap().file
    }

    /// The places of the head of the page, of both records, and of the end.
    fn places(file: &[u8]) -> [usize; 4] {
        let page = HEAD + TIMELINE.len() + long(file, 18).unwrap();
        let end = file.len() - END;
        let first = long(file, end + 16).unwrap();
        [page, first, first + RECORD + TIMELINE.len(), end]
    }

    /// Adds the length of the hidden bytes to a number.
    fn grow(file: &mut [u8], at: usize) {
        let grown = long(file, at).unwrap() + HIDDEN.len();
        let bytes = u32::try_from(grown).unwrap().to_le_bytes();
        file[at..at + 4].copy_from_slice(&bytes);
    }

    fn hide(mut file: Vec<u8>, at: usize, numbers: &[usize]) -> Vec<u8> {
        for number in numbers {
            grow(&mut file, *number);
        }
        file.splice(at..at, HIDDEN.iter().copied());
        file
    }

    #[test]
    fn bytes_that_readers_of_the_directory_skip_are_no_case() {
        let file = case();
        assert!(verify(&file).is_ok());
        let [page, first, second, end] = places(&file);
        let moved = [second + 42, end + 16];
        let behind_data = [vec![18, first + 20], moved.to_vec()].concat();
        let in_head = [vec![28], moved.to_vec()].concat();
        for (hidden, numbers, what) in [
            (page, behind_data, "behind the compressed timeline"),
            (HEAD + TIMELINE.len(), in_head, "a field of the head"),
            (second, vec![first + 30, end + 12], "a field of the record"),
            (page, moved.to_vec(), "between the files"),
            (first, vec![end + 16], "before the directory"),
        ] {
            let forged = hide(file.clone(), hidden, &numbers);
            assert!(
                matches!(verify(&forged), Err(CaseFault::NoCase(_))),
                "{what}"
            );
        }
    }

    #[test]
    fn size_that_differs_from_the_data_is_no_case() {
        let file = case();
        let [page, first, second, _] = places(&file);
        for (head, record) in [(0, first), (page, second)] {
            let mut forged = file.clone();
            forged[head + 22] ^= 1;
            forged[record + 24] ^= 1;
            assert!(matches!(verify(&forged), Err(CaseFault::NoCase(_))));
        }
    }

    #[test]
    fn head_that_differs_from_the_directory_is_no_case() {
        let file = case();
        let [page, ..] = places(&file);
        // Method, checksum, both sizes and the name.
        for at in [8, 14, 18, 22, 30].map(|at| [at, page + at]).concat() {
            let mut forged = file.clone();
            forged[at] ^= 1;
            assert!(matches!(verify(&forged), Err(CaseFault::NoCase(_))), "{at}");
        }
    }
}
