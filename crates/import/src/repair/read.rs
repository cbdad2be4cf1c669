//! The text of an input while its JSON is repaired.

use std::io::{BufRead, Read, Result as IoResult};

use super::JsonRepair;
use crate::input::ImportInput;

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
            match self.input.fill_buf()?.first().copied() {
                // One by one, so that the limit of an entry counts its own bytes.
                Some(byte) => {
                    self.repair.push(byte, &mut self.ready);
                    self.input.consume(1);
                }
                None => {
                    self.repair.finish(&mut self.ready);
                    self.is_end = true;
                }
            }
        }
        let amount = buffer.len().min(self.ready.len() - self.at);
        buffer[..amount].copy_from_slice(&self.ready[self.at..self.at + amount]);
        self.at += amount;
        Ok(amount)
    }
}
