//! The text of a file for its reader: buffered UTF-8, with the limit of one entry.

use std::cell::Cell;
use std::io::{BufRead, Error as IoError, ErrorKind, Read, Result as IoResult};
use std::rc::Rc;

use crate::decode::Utf8Read;

/// Characters of a file that its recognisers see.
const HEAD: usize = 256 * 1024;

/// Why the reader of a format stopped.
#[derive(Debug)]
pub enum ReadFault {
    Io(IoError),
    /// The file is no longer what its format demands.
    Damaged(String),
    Limit(String),
    /// The sink wants no more.
    Stopped,
}

impl From<IoError> for ReadFault {
    fn from(error: IoError) -> Self {
        match error.kind() {
            ErrorKind::FileTooLarge => Self::Limit(error.to_string()),
            // Of gzip and zip: the packed data are damaged or cut.
            ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
                Self::Damaged(error.to_string())
            }
            _ => Self::Io(error),
        }
    }
}

/// Bytes that the current entry may still have.
#[derive(Clone, Debug)]
pub struct EntryAllowance {
    left: Rc<Cell<u64>>,
    whole: u64,
}

impl EntryAllowance {
    /// The next entry begins.
    pub fn renew(&self) {
        self.left.set(self.whole);
    }
}

pub struct ImportInput<'a> {
    source: Utf8Read<Box<dyn Read + 'a>>,
    text: String,
    at: usize,
    allowance: EntryAllowance,
    /// What failed behind the text that is read already.
    failed: Option<IoError>,
}

impl<'a> ImportInput<'a> {
    pub fn new(bytes: Box<dyn Read + 'a>, entry_bytes: u64) -> Self {
        Self {
            source: Utf8Read::new(bytes),
            text: String::new(),
            at: 0,
            allowance: EntryAllowance {
                left: Rc::new(Cell::new(entry_bytes)),
                whole: entry_bytes,
            },
            failed: None,
        }
    }

    pub fn allowance(&self) -> EntryAllowance {
        self.allowance.clone()
    }

    /// The beginning of the text that is not read yet, without reading over it.
    pub fn peek(&mut self) -> Result<&str, ReadFault> {
        while self.failed.is_none() && self.text.len() < HEAD {
            match self.source.fill(&mut self.text) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if self.text.is_empty() => return Err(ReadFault::from(error)),
                Err(error) => self.failed = Some(error),
            }
        }
        let end = self.text.floor_char_boundary(HEAD.max(self.at));
        Ok(&self.text[self.at..end])
    }

    /// Reads over the first bytes of the text that [`ImportInput::peek`] shows.
    pub fn pass(&mut self, bytes: usize) {
        self.consume(bytes);
        self.allowance.renew();
    }

    /// The next line without its end; none at the end of the text. A line that is longer than an
    /// entry may be is read over: `Some(false)`.
    pub fn line(&mut self, line: &mut String) -> Result<Option<bool>, ReadFault> {
        line.clear();
        let mut fits = true;
        let mut is_read = false;
        loop {
            self.allowance.renew();
            let buffer = self.fill_buf()?;
            if buffer.is_empty() {
                return Ok(is_read.then_some(fits));
            }
            is_read = true;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(buffer.len(), |end| end + 1);
            let part = &self.text[self.at..self.at + end.unwrap_or(used)];
            fits &= line.len() + part.len() <= self.allowance.whole as usize;
            if fits {
                line.push_str(part);
            }
            self.consume(used);
            if end.is_some() {
                return Ok(Some(fits));
            }
        }
    }
}

impl BufRead for ImportInput<'_> {
    fn fill_buf(&mut self) -> IoResult<&[u8]> {
        if self.allowance.left.get() == 0 {
            let limit = format!("an entry has more than {} MB", self.allowance.whole >> 20);
            return Err(IoError::new(ErrorKind::FileTooLarge, limit));
        }
        while self.at == self.text.len() {
            self.text.clear();
            self.at = 0;
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if !self.source.fill(&mut self.text)? {
                break;
            }
        }
        Ok(&self.text.as_bytes()[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at = (self.at + amount).min(self.text.len());
        let left = self.allowance.left.get().saturating_sub(amount as u64);
        self.allowance.left.set(left);
    }
}

impl Read for ImportInput<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        let available = self.fill_buf()?;
        let amount = available.len().min(buffer.len());
        buffer[..amount].copy_from_slice(&available[..amount]);
        self.consume(amount);
        Ok(amount)
    }
}
