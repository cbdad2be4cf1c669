//! The text of an input while its JSON is repaired.

use std::io::{BufRead, Read, Result as IoResult};

use super::JsonRepair;
use crate::input::ImportInput;

/// Bytes that are repaired together; an entry may exceed its limit by them.
const CHUNK: usize = 4096;

/// The JSON of an input, repaired.
pub struct RepairedRead<'a, 'b> {
    input: &'a mut ImportInput<'b>,
    repair: JsonRepair,
    /// Repaired bytes that are not read yet begin at `at`.
    ready: Vec<u8>,
    at: usize,
    is_end: bool,
}

impl<'a, 'b> RepairedRead<'a, 'b> {
    pub fn new(input: &'a mut ImportInput<'b>) -> Self {
        Self {
            input,
            repair: JsonRepair::default(),
            ready: Vec::new(),
            at: 0,
            is_end: false,
        }
    }
}

impl Read for RepairedRead<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        while self.at == self.ready.len() && !self.is_end {
            self.ready.clear();
            self.at = 0;
            let text = self.input.fill_buf()?;
            let chunk = &text[..text.len().min(CHUNK)];
            for byte in chunk {
                self.repair.push(*byte, &mut self.ready);
            }
            let read = chunk.len();
            self.input.consume(read);
            if read == 0 {
                self.repair.finish(&mut self.ready);
                self.is_end = true;
            }
        }
        let amount = buffer.len().min(self.ready.len() - self.at);
        buffer[..amount].copy_from_slice(&self.ready[self.at..self.at + amount]);
        self.at += amount;
        Ok(amount)
    }
}
