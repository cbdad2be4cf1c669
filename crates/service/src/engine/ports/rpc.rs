//! Calls of ONC RPC by TCP, and their replies (RFC 5531): the port mapper (RFC 1833) and the mount
//! service of NFS (RFC 1813).
//!
//! ```text
//!   record: length ─► id, call, version 2, program, version, procedure, no credentials ─► arguments
//!           length ─► id, reply, accepted, no credentials, success                     ─► results
//! ```

const CALL_ID: [u8; 4] = *b"deck";
/// Marks the last fragment of a record.
const LAST: u32 = 0x8000_0000;
const PORTMAPPER: u32 = 100_000;
const MOUNTD: u32 = 100_005;
const TCP: u32 = 6;
/// Bytes of a path or a group.
const MAX_TEXT: usize = 1024;
/// Groups of an export.
const MAX_GROUPS: usize = 1000;

/// A call without credentials.
pub struct RpcCall {
    program: u32,
    version: u32,
    procedure: u32,
    arguments: &'static [u32],
}

/// The record of a call that does nothing, and identifies the port mapper.
pub const PORTMAPPER_NULL: &[u8] =
    b"\x80\0\0\x28deck\0\0\0\0\0\0\0\x02\0\x01\x86\xa0\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
/// The record of a call that does nothing, and identifies NFS.
pub const NFS_NULL: &[u8] =
    b"\x80\0\0\x28deck\0\0\0\0\0\0\0\x02\0\x01\x86\xa3\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
/// The port of the mount service.
pub const MOUNTD_PORT: RpcCall = RpcCall {
    program: PORTMAPPER,
    version: 2,
    procedure: 3,
    arguments: &[MOUNTD, 3, TCP, 0],
};
/// All exports with their groups of clients.
pub const EXPORTS: RpcCall = RpcCall {
    program: MOUNTD,
    version: 3,
    procedure: 5,
    arguments: &[],
};

/// A directory that is exported to groups of clients; without groups to everybody.
#[derive(Debug, PartialEq, Eq)]
pub struct NfsExport {
    pub path: String,
    pub groups: Vec<String>,
}

impl RpcCall {
    /// The call as a record of one fragment.
    pub fn record(&self) -> Vec<u8> {
        let credentials = [0; 4];
        let head = [0, 2, self.program, self.version, self.procedure];
        let words = head.iter().chain(&credentials).chain(self.arguments);
        let body: Vec<u8> = CALL_ID
            .into_iter()
            .chain(words.flat_map(|word| word.to_be_bytes()))
            .collect();
        let length = LAST | body.len() as u32;
        length.to_be_bytes().into_iter().chain(body).collect()
    }
}

/// Whether all fragments of a record are there.
pub fn is_complete(bytes: &[u8]) -> bool {
    fragments(bytes).is_some()
}

/// The content of a record.
fn fragments(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut rest, mut content) = (bytes, Vec::new());
    loop {
        let mark = u32::from_be_bytes(rest.first_chunk().copied()?);
        let length = (mark & !LAST) as usize;
        content.extend(rest.get(4..)?.get(..length)?);
        rest = &rest[4 + length..];
        if mark & LAST != 0 {
            return Some(content);
        }
    }
}

/// The status of an accepted reply to a call of this file, and its results.
fn reply(bytes: &[u8]) -> Option<(u32, Vec<u8>)> {
    let content = fragments(bytes)?;
    let mut words = XdrReader {
        rest: content.strip_prefix(&CALL_ID)?,
    };
    // A reply, accepted, with an empty verifier.
    if (words.number()?, words.number()?, words.number()?) != (1, 0, 0) {
        return None;
    }
    words.text()?;
    Some((words.number()?, words.rest.to_vec()))
}

/// The results of a successful call.
pub fn results(bytes: &[u8]) -> Option<Vec<u8>> {
    reply(bytes)
        .filter(|(status, _)| *status == 0)
        .map(|(_, results)| results)
}

/// Whether a reply proves that the program of a call is there, in this version or another one.
pub fn has_program(bytes: &[u8]) -> bool {
    const OTHER_VERSION: u32 = 2;
    reply(bytes).is_some_and(|(status, _)| status == 0 || status == OTHER_VERSION)
}

/// The port in the results of [`MOUNTD_PORT`]; 0 is none.
pub fn port_of_mountd(results: &[u8]) -> Option<u16> {
    u16::try_from(XdrReader { rest: results }.number()?)
        .ok()
        .filter(|port| *port != 0)
}

/// The exports in the results of [`EXPORTS`], at most this number; none of a list that ends early.
pub fn exports(results: &[u8], limit: usize) -> Option<Vec<NfsExport>> {
    let mut words = XdrReader { rest: results };
    let mut exports = Vec::new();
    while words.number()? == 1 && exports.len() < limit {
        let (path, mut groups) = (words.text()?, Vec::new());
        while words.number()? == 1 {
            groups.push(words.text()?);
            if groups.len() > MAX_GROUPS {
                return None;
            }
        }
        exports.push(NfsExport { path, groups });
    }
    Some(exports)
}

/// Reads the data format of RPC (XDR, RFC 4506).
struct XdrReader<'a> {
    rest: &'a [u8],
}

impl XdrReader<'_> {
    fn number(&mut self) -> Option<u32> {
        let (word, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_be_bytes(*word))
    }

    /// A text, which is padded to a multiple of four bytes.
    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?)
            .ok()
            .filter(|length| *length <= MAX_TEXT)?;
        let text = String::from_utf8_lossy(self.rest.get(..length)?).into_owned();
        self.rest = self.rest.get(length.next_multiple_of(4)..)?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An accepted reply with this status and these results.
    fn record(status: u8, results: &[u8]) -> Vec<u8> {
        let mut body = CALL_ID.to_vec();
        body.extend([
            0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, status,
        ]);
        body.extend(results);
        (LAST | body.len() as u32)
            .to_be_bytes()
            .into_iter()
            .chain(body)
            .collect()
    }

    const LIST: &[u8] =
        b"\0\0\0\x01\0\0\0\x04/srv\0\0\0\x01\0\0\0\x01*\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x02/a\0\0\0\0\0\0\0\0\0\0";

    #[test]
    fn list_of_exports_is_read_up_to_its_end() {
        let export = |path: &str, groups: &[&str]| NfsExport {
            path: path.to_owned(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        };
        assert_eq!(
            exports(LIST, 9),
            Some(vec![export("/srv", &["*"]), export("/a", &[])])
        );
        assert_eq!(exports(&[0; 4], 9), Some(Vec::new()));
        for end in 0..LIST.len() {
            assert_eq!(exports(&LIST[..end], 9), None, "{end}");
        }
    }

    #[test]
    fn replies_are_those_to_calls_of_this_program() {
        let good = record(0, &[0, 0, 2, 1]);
        assert_eq!(
            results(&good).as_deref().and_then(port_of_mountd),
            Some(513)
        );
        assert!(
            has_program(&good) && has_program(&record(2, &[0; 8])) && !has_program(&record(1, &[]))
        );
        for end in 0..good.len() {
            assert!(
                !is_complete(&good[..end]) && results(&good[..end]).is_none(),
                "{end}"
            );
        }
        let mut other = good.clone();
        other[4] = b'x';
        assert!(results(&other).is_none() && results(PORTMAPPER_NULL).is_none());
        assert_eq!(port_of_mountd(&[0; 4]), None);
    }

    #[test]
    fn records_of_probes_are_those_of_their_calls() {
        for (program, version, expected) in
            [(PORTMAPPER, 2, PORTMAPPER_NULL), (100_003, 3, NFS_NULL)]
        {
            assert_eq!(
                RpcCall {
                    program,
                    version,
                    procedure: 0,
                    arguments: &[]
                }
                .record(),
                expected
            );
        }
    }

    #[test]
    fn record_of_several_fragments_is_joined() {
        let whole = record(0, LIST);
        let (first, second) = whole[4..].split_at(9);
        let mut parts = 9_u32.to_be_bytes().to_vec();
        parts.extend(first);
        assert!(!is_complete(&parts));
        parts.extend((LAST | second.len() as u32).to_be_bytes());
        parts.extend(second);
        assert_eq!(results(&parts), Some(LIST.to_vec()));
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_replies_are_read_without_panic(bytes: Vec<u8>) {
            let _ = (results(&bytes), exports(&bytes, 9), port_of_mountd(&bytes), results(&record(0, &bytes)));
        }
    }
}
