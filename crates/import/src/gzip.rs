//! A gzip file: the content of its members, and whether other bytes follow them.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Read, Result as IoResult};
use std::rc::Rc;

use flate2::bufread::GzDecoder;

/// The first bytes of a member: RFC 1952, section 2.3.1.
pub const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The content of all members, one after the other. Bytes after the last one, such as padding or a
/// signature, are not read.
pub struct GzipMembers<R> {
    /// None at the end.
    member: Option<GzDecoder<BufReader<R>>>,
    has_rest: Rc<Cell<bool>>,
}

impl<R: Read> GzipMembers<R> {
    /// `has_rest` becomes true if bytes follow the last member.
    pub fn new(packed: R, has_rest: Rc<Cell<bool>>) -> Self {
        Self {
            member: Some(GzDecoder::new(BufReader::new(packed))),
            has_rest,
        }
    }
}

impl<R: Read> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            // The buffer of the reader may end within the two bytes.
            let rest = member.get_mut().fill_buf()?;
            let has_rest = !rest.is_empty();
            let begins_member = rest
                .iter()
                .zip(GZIP_MAGIC)
                .all(|(byte, magic)| *byte == magic);
            let ended = self.member.take();
            match has_rest && begins_member {
                true => {
                    self.member = ended.map(|member| GzDecoder::new(member.into_inner()));
                }
                false => self.has_rest.set(has_rest),
            }
        }
        Ok(0)
    }
}
