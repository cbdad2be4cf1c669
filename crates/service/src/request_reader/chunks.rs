//! A chunked body (RFC 9112 §7.1): its data, its trailers, and where it ends. After an invalid
//! chunk everything is data.

use super::head::{HeaderLine, header_lines, without_line_end};
use super::problems::{ProblemList, quoted};

/// The longest line with the size of a chunk, in bytes.
const SIZE_LINE: usize = 4096;
/// Bytes of trailers that are kept.
const TRAILERS: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkState {
    Size,
    /// With the bytes that are left.
    Data(u64),
    DataEnd,
    Trailers,
    Invalid,
}

#[derive(Debug)]
pub(super) struct ChunkReader {
    state: ChunkState,
    /// The current line, as far as it arrived.
    line: Vec<u8>,
    trailers: Vec<u8>,
    /// Number of the current chunk.
    chunk: usize,
}

impl Default for ChunkReader {
    fn default() -> Self {
        Self {
            state: ChunkState::Size,
            line: Vec::new(),
            trailers: Vec::new(),
            chunk: 1,
        }
    }
}

impl ChunkReader {
    pub fn state(&self) -> ChunkState {
        self.state
    }

    /// The lines after the last chunk.
    pub fn take_trailers(&mut self, problems: &mut ProblemList) -> Vec<HeaderLine> {
        let trailers = std::mem::take(&mut self.trailers);
        let lines = header_lines(&trailers, "trailer line", problems);
        if !lines.is_empty() {
            let names = lines
                .iter()
                .map(|line| quoted(line.name.as_deref().unwrap_or(&line.value)));
            problems.add(format!(
                "headers after the body: {}",
                names.take(10).collect::<Vec<_>>().join(", ")
            ));
        }
        lines
    }

    /// Reads bytes; returns how many, and whether the body has ended.
    pub fn read(
        &mut self,
        bytes: &[u8],
        body: &mut Vec<u8>,
        problems: &mut ProblemList,
    ) -> (usize, bool) {
        let mut used = 0;
        while used < bytes.len() {
            let rest = &bytes[used..];
            match self.state {
                ChunkState::Size | ChunkState::Trailers => {
                    let end = rest.iter().position(|&byte| byte == b'\n');
                    let length = end.map_or(rest.len(), |end| end + 1).min(self.line_room());
                    self.line.extend_from_slice(&rest[..length]);
                    used += length;
                    let is_complete = self.line.ends_with(b"\n");
                    if (is_complete || self.line_room() == 0)
                        && self.end_line(is_complete, body, problems)
                    {
                        return (used, true);
                    }
                }
                ChunkState::Data(left) => {
                    let length = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                    body.extend_from_slice(&rest[..length]);
                    used += length;
                    let left = left - length as u64;
                    self.state = if left == 0 {
                        ChunkState::DataEnd
                    } else {
                        ChunkState::Data(left)
                    };
                }
                ChunkState::DataEnd => {
                    self.line.push(rest[0]);
                    used += 1;
                    self.end_data(body, problems);
                }
                ChunkState::Invalid => {
                    body.extend_from_slice(rest);
                    used = bytes.len();
                }
            }
        }
        (used, false)
    }

    fn line_room(&self) -> usize {
        let limit = if self.state == ChunkState::Trailers {
            TRAILERS
        } else {
            SIZE_LINE
        };
        limit.saturating_sub(self.line.len() + self.trailers.len())
    }

    /// A size or a trailer, or the start of one that is too long; returns whether the body has
    /// ended.
    fn end_line(
        &mut self,
        is_complete: bool,
        body: &mut Vec<u8>,
        problems: &mut ProblemList,
    ) -> bool {
        let whole = std::mem::take(&mut self.line);
        let line = without_line_end(&whole);
        match (self.state, is_complete) {
            (ChunkState::Trailers, true) if line.is_empty() => return true,
            (ChunkState::Trailers, true) => self.trailers.extend_from_slice(&whole),
            (_, true) => match self.size(line, problems) {
                Some(0) => self.state = ChunkState::Trailers,
                Some(size) => self.state = ChunkState::Data(size),
                None => {
                    problems.add(format!(
                        "chunk {} has the invalid size {}; the rest is the body",
                        self.chunk,
                        quoted(line)
                    ));
                    self.fail(&whole, body);
                }
            },
            (_, false) => {
                problems
                    .add("a line of the chunked body is too long; the rest is the body".to_owned());
                self.fail(&whole, body);
            }
        }
        false
    }

    /// The size in a line, without its extensions.
    fn size(&self, line: &[u8], problems: &mut ProblemList) -> Option<u64> {
        let end = line.iter().position(|&byte| byte == b';');
        let (digits, extension) = line.split_at(end.unwrap_or(line.len()));
        if !extension.is_empty() {
            problems.add(format!(
                "chunk {} has the extension {}",
                self.chunk,
                quoted(extension)
            ));
        }
        let trimmed = digits.trim_ascii();
        let is_number =
            (1..=16).contains(&trimmed.len()) && trimmed.iter().all(u8::is_ascii_hexdigit);
        if is_number && trimmed.len() != digits.len() {
            problems.add(format!("chunk {} has blanks around its size", self.chunk));
        }
        let text = std::str::from_utf8(trimmed).ok().filter(|_| is_number)?;
        u64::from_str_radix(text, 16).ok()
    }

    /// The line end after the data of a chunk, as far as it arrived.
    fn end_data(&mut self, body: &mut Vec<u8>, problems: &mut ProblemList) {
        match self.line.as_slice() {
            b"\r" => {}
            b"\r\n" | b"\n" => {
                self.line.clear();
                self.chunk += 1;
                self.state = ChunkState::Size;
            }
            _ => {
                problems.add(format!(
                    "chunk {} is longer than its size; the rest is the body",
                    self.chunk
                ));
                let line = std::mem::take(&mut self.line);
                self.fail(&line, body);
            }
        }
    }

    fn fail(&mut self, line: &[u8], body: &mut Vec<u8>) {
        body.extend_from_slice(line);
        self.state = ChunkState::Invalid;
    }
}
