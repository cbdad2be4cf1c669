//! The one parser of the bytes of the terminal: it splits them into keys, mouse events and pastes,
//! and drops the rest.
//!
//! ```text
//!   bytes ─┬─ characters · CSI · SS3 ──► terminput ─► key or mouse event
//!          ├─ bracketed paste ─────────────────────► its text
//!          └─ OSC · DCS · SOS · PM · APC ──────────► the background colour, or nothing
//! ```
//!
//! Answers of the terminal arrive late, split at any byte, or unrequested, and their letters would
//! be commands. So each sequence of ECMA-48 is consumed whole before anything else looks at it. A
//! sequence without an end is dropped after a limit; only a lone ESC becomes a key then. What
//! follows such an ESC within a second may still be the rest of a sequence, and is consumed as such
//! if its next bytes are those of one.
//!
//! The parser has neither I/O nor a clock: each read has its time.

#[cfg(test)]
mod tests;

use crate::runtime::terminal_answers::background_of;
use crossterm::event::Event;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::mem::take;
use std::time::Duration;
use terminput_crossterm::to_crossterm;
use tokio::time::Instant;

/// How long ESC waits for the rest of a sequence before it is the key.
pub(super) const ESCAPE_PAUSE: Duration = Duration::from_millis(50);
/// How long a byte that may continue an ESC which was taken for the key waits for its next byte.
pub(super) const LATE_PAUSE: Duration = Duration::from_millis(500);
/// How long an incomplete sequence waits for its next byte.
pub(super) const SEQUENCE_PAUSE: Duration = Duration::from_secs(1);
/// After this time a sequence ends with the first pause, so that held keys cannot prolong it.
const LONGEST_SEQUENCE: Duration = Duration::from_secs(10);
/// How long a paste waits for its next byte. As keys, the rest of a paste would be commands.
pub(super) const PASTE_PAUSE: Duration = Duration::from_secs(10);

/// Bytes of a sequence that are stored: more than an event or the answer for the background has.
const STORED: usize = 64;
/// A longer paste becomes several.
const LONGEST_PASTE: usize = 16 << 20;
const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const CTRL_C: u8 = 0x03;
/// The end of a control string that began with a control character of one byte.
const ST: u8 = 0x9c;
/// The first byte of such a control character in UTF-8.
const UTF8_CONTROL: u8 = 0xc2;

#[derive(Debug, PartialEq)]
pub(crate) enum TerminalInput {
    Event(Event),
    /// The colour of the background, in answer to the question for it.
    Background([u8; 3]),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ParserState {
    Ground,
    /// ESC, which is a key or begins a sequence.
    Escape,
    /// A byte after an ESC that was taken for the key: a key, or the rest of a sequence that was
    /// split.
    LateIntroducer,
    /// A character of several bytes.
    Character,
    /// A control sequence (CSI).
    Sequence,
    /// So many bytes follow: SS3, and two sequences that continue after their final byte.
    Following(usize),
    /// A control string: OSC, DCS, SOS, PM, APC.
    ControlString {
        last: u8,
    },
    Paste,
}

pub(super) struct InputParser {
    state: ParserState,
    /// The bytes of the input that is not complete yet.
    bytes: Vec<u8>,
    begun_at: Instant,
    received_at: Instant,
    /// When a lone ESC was taken for the key.
    escaped_at: Option<Instant>,
    /// Whether the control string began with a control character of one byte.
    has_short_start: bool,
    /// Whether the question for the background has no answer yet.
    pub awaits_background: bool,
    pub inputs: VecDeque<TerminalInput>,
}

impl InputParser {
    /// The terminal was asked for its background.
    pub fn new(now: Instant) -> Self {
        Self {
            state: ParserState::Ground,
            bytes: Vec::new(),
            begun_at: now,
            received_at: now,
            escaped_at: None,
            has_short_start: false,
            awaits_background: true,
            inputs: VecDeque::new(),
        }
    }

    /// Takes bytes that were read at once.
    pub fn take(&mut self, bytes: &[u8], now: Instant) {
        self.release_late(now);
        let is_key_after_escape = bytes
            .first()
            .is_some_and(|&byte| !is_introducer(byte) && byte != b'\\');
        if self.state == ParserState::Escape && is_key_after_escape {
            self.release(now);
        }
        // The way out of a paste whose end is missing.
        if self.state == ParserState::Paste
            && bytes == [CTRL_C]
            && now >= self.received_at + SEQUENCE_PAUSE
        {
            return self.release(now);
        }
        self.received_at = now;
        for &byte in bytes {
            self.push(byte);
        }
    }

    /// Until when an incomplete input waits for its next byte.
    pub fn held_until(&self) -> Option<Instant> {
        let pause = match self.state {
            ParserState::Ground => return None,
            ParserState::Escape => ESCAPE_PAUSE,
            ParserState::LateIntroducer => LATE_PAUSE,
            ParserState::Paste => PASTE_PAUSE,
            _ if self.received_at > self.begun_at + LONGEST_SEQUENCE => ESCAPE_PAUSE,
            _ => SEQUENCE_PAUSE,
        };
        Some(self.received_at + pause)
    }

    /// Ends an input that has waited long enough.
    pub fn release_late(&mut self, now: Instant) {
        if self.held_until().is_some_and(|until| now >= until) {
            self.release(now);
        }
    }

    /// Ends an incomplete input. A sequence is dropped.
    fn release(&mut self, now: Instant) {
        let (state, bytes) = (self.state, take(&mut self.bytes));
        self.state = ParserState::Ground;
        match state {
            ParserState::Escape => {
                self.escaped_at = Some(now);
                self.parse(&bytes);
            }
            ParserState::LateIntroducer => self.parse(&bytes),
            ParserState::Paste => self.paste(&bytes),
            _ => {}
        }
    }

    fn push(&mut self, byte: u8) {
        match self.state {
            ParserState::Ground => self.begin(byte),
            ParserState::Escape => self.follow_escape(byte),
            ParserState::LateIntroducer => self.follow_late_introducer(byte),
            ParserState::Character => self.push_to_character(byte),
            ParserState::Sequence => self.push_to_sequence(byte),
            ParserState::Following(count) => self.push_following(byte, count),
            ParserState::ControlString { last } => self.push_to_string(byte, last),
            ParserState::Paste => self.push_to_paste(byte),
        }
    }

    /// Takes the first byte of an input.
    fn begin(&mut self, byte: u8) {
        let escaped_at = self.escaped_at.take();
        self.begun_at = self.received_at;
        self.has_short_start = false;
        self.bytes = vec![byte];
        self.state = match byte {
            ESC => ParserState::Escape,
            0x80..=0x9f => return self.begin_short(byte),
            0xc2..=0xf4 => ParserState::Character,
            // No beginning of a character.
            0xa0.. => return self.end(),
            _ if is_introducer(byte)
                && escaped_at.is_some_and(|at| self.received_at < at + SEQUENCE_PAUSE) =>
            {
                ParserState::LateIntroducer
            }
            _ => return self.end_as_event(),
        };
    }

    /// Takes a control character of one byte, which is equal to ESC and a letter.
    fn begin_short(&mut self, byte: u8) {
        let letter = byte - 0x40;
        if !is_introducer(letter) {
            return self.end();
        }
        self.open(letter);
        self.has_short_start = true;
    }

    /// Begins a sequence.
    fn open(&mut self, introducer: u8) {
        self.bytes = vec![ESC, introducer];
        self.state = match introducer {
            b'[' => ParserState::Sequence,
            b'O' => ParserState::Following(1),
            _ => ParserState::ControlString { last: introducer },
        };
    }

    fn follow_escape(&mut self, byte: u8) {
        match byte {
            _ if is_introducer(byte) => self.open(byte),
            // The end of a control string that is no longer open.
            b'\\' => self.end(),
            0xc2..=0xf4 => {
                self.bytes.push(byte);
                self.state = ParserState::Character;
            }
            ESC | 0x80.. => {
                self.end_as_event();
                self.begin(byte);
            }
            _ => {
                self.bytes.push(byte);
                self.end_as_event();
            }
        }
    }

    fn follow_late_introducer(&mut self, byte: u8) {
        let introducer = self.bytes[0];
        let is_sequence = match introducer {
            // Capital letters: arrows and other keys, and reports of the focus. Small ones follow
            // numbers.
            b'[' => matches!(byte, b'0'..=b'9' | b'<'..=b'?' | b'A'..=b'Z'),
            b'O' => matches!(byte, b'A'..=b'D' | b'F' | b'H' | b'P'..=b'S'),
            b']' => byte.is_ascii_digit(),
            b'P' => matches!(byte, b'0'..=b'9' | b'<'..=b'?' | b'!' | b'$' | b'+' | b'|'),
            b'_' => byte == b'G',
            _ => false,
        };
        if is_sequence {
            self.open(introducer);
        } else {
            self.end_as_event();
        }
        self.push(byte);
    }

    fn push_to_character(&mut self, byte: u8) {
        self.bytes.push(byte);
        let is_alt = self.bytes[0] == ESC;
        match std::str::from_utf8(&self.bytes[usize::from(is_alt)..]) {
            Ok(text) => match text.chars().next() {
                Some(control @ '\u{80}'..='\u{9f}') if !is_alt => self.begin_short(control as u8),
                Some('\u{80}'..='\u{9f}') => self.end(),
                _ => self.end_as_event(),
            },
            Err(error) if error.error_len().is_none() => {}
            Err(_) => {
                self.end();
                self.begin(byte);
            }
        }
    }

    fn push_to_sequence(&mut self, byte: u8) {
        match byte {
            ESC => self.begin(byte),
            CAN | SUB => self.end(),
            b' '..=b'~' => {
                if self.bytes.len() < STORED {
                    self.bytes.push(byte);
                }
                // The first byte after `ESC [` may be a second bracket: the function keys of the
                // Linux console.
                if byte >= b'@' {
                    self.end_sequence();
                }
            }
            // Control characters are no part of a sequence, and its rest is no text.
            _ => {}
        }
    }

    fn end_sequence(&mut self) {
        match self.bytes.as_slice() {
            PASTE_START => {
                self.bytes.clear();
                self.state = ParserState::Paste;
            }
            b"\x1b[M" => self.state = ParserState::Following(3),
            b"\x1b[[" => self.state = ParserState::Following(1),
            bytes if bytes.len() < STORED && is_event(&bytes[2..]) => self.end_as_event(),
            _ => self.end(),
        }
    }

    fn push_following(&mut self, byte: u8, count: usize) {
        if byte == ESC {
            return self.begin(byte);
        }
        self.bytes.push(byte);
        let is_parameter =
            self.bytes[1] == b'O' && matches!(byte, b'0'..=b'?') && self.bytes.len() < STORED;
        match count {
            _ if is_parameter => {}
            1 => self.end_as_event(),
            _ => self.state = ParserState::Following(count - 1),
        }
    }

    fn push_to_string(&mut self, byte: u8, last: u8) {
        let is_escaped = last == ESC;
        let is_end = match byte {
            b'\\' => is_escaped,
            BEL => self.bytes[1] == b']',
            // Not as a byte within a character.
            ST => self.has_short_start && (last.is_ascii() || last == UTF8_CONTROL),
            _ => false,
        };
        match byte {
            _ if is_end => self.end_string(),
            _ if is_escaped && is_introducer(byte) => {
                self.has_short_start = false;
                self.begun_at = self.received_at;
                self.open(byte);
            }
            CAN | SUB => self.end(),
            _ => {
                self.state = ParserState::ControlString { last: byte };
                if self.bytes.len() < STORED {
                    self.bytes.push(byte);
                }
            }
        }
    }

    fn end_string(&mut self) {
        if self.awaits_background
            && self.bytes.starts_with(b"\x1b]11;")
            && let Some(colour) = background_of(&self.bytes)
        {
            self.inputs.push_back(TerminalInput::Background(colour));
            self.awaits_background = false;
        }
        self.end();
    }

    fn push_to_paste(&mut self, byte: u8) {
        self.bytes.push(byte);
        if self.bytes.ends_with(PASTE_END) {
            let mut text = take(&mut self.bytes);
            text.truncate(text.len() - PASTE_END.len());
            self.end();
            self.paste(&text);
        } else if self.bytes.len() == LONGEST_PASTE {
            // The last bytes may begin the end.
            let rest = self.bytes.split_off(LONGEST_PASTE - PASTE_END.len());
            let text = std::mem::replace(&mut self.bytes, rest);
            self.paste(&text);
        }
    }

    fn paste(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text).into_owned();
        self.inputs
            .push_back(TerminalInput::Event(Event::Paste(text)));
    }

    /// Ends an input that is nothing.
    fn end(&mut self) {
        self.bytes.clear();
        self.state = ParserState::Ground;
    }

    fn end_as_event(&mut self) {
        let bytes = take(&mut self.bytes);
        self.state = ParserState::Ground;
        self.parse(&bytes);
    }

    /// Parses the bytes of one key or mouse event.
    fn parse(&mut self, bytes: &[u8]) {
        let bytes = as_csi_u(bytes);
        let event = terminput::Event::parse_from(&bytes)
            .ok()
            .flatten()
            .and_then(|event| to_crossterm(event).ok());
        self.inputs.extend(event.map(TerminalInput::Event));
    }
}

/// A key with modifiers in the format of xterm (`CSI 27 ; modifiers ; code ~`), which tmux uses
/// too, in the format that terminput reads (`CSI code ; modifiers u`).
fn as_csi_u(bytes: &[u8]) -> Cow<'_, [u8]> {
    let numbers = bytes
        .strip_prefix(b"\x1b[27;")
        .and_then(|rest| rest.strip_suffix(b"~"));
    let parts: Vec<&[u8]> = numbers
        .map(|numbers| numbers.split(|&byte| byte == b';').collect())
        .unwrap_or_default();
    match parts[..] {
        [modifiers, code] => Cow::Owned([b"\x1b[", code, b";", modifiers, b"u"].concat()),
        _ => Cow::Borrowed(bytes),
    }
}

/// Whether this letter begins a sequence after ESC: CSI, SS3, OSC, DCS, SOS, PM, APC.
fn is_introducer(letter: u8) -> bool {
    matches!(letter, b'[' | b'O' | b']' | b'P' | b'X' | b'^' | b'_')
}

/// Whether a control sequence is a key or reports the mouse, by its bytes after `ESC [`. All others
/// are answers.
fn is_event(sequence: &[u8]) -> bool {
    let Some((&last, parameters)) = sequence.split_last() else {
        return false;
    };
    let is_mouse = matches!(last, b'M' | b'm') && parameters.starts_with(b"<");
    let is_private = parameters
        .iter()
        .any(|byte| matches!(byte, b' '..=b'/' | b'<'..=b'?'));
    let (first, rest) = parameters.split_at(
        parameters
            .iter()
            .position(|&byte| byte == b';')
            .unwrap_or(parameters.len()),
    );
    match last {
        _ if is_mouse => !has_zero_column(rest),
        _ if is_private => false,
        b'M' => !has_zero_column(rest),
        // The position of the cursor.
        b'R' => parameters.is_empty(),
        // A key with modifiers is `1;5A`; terminput does not look at the first number.
        b'A'..=b'S' => rest.is_empty() || matches!(first, b"" | b"1"),
        _ => true,
    }
}

/// Whether a report of the mouse has a column or row 0, which do not exist: terminput subtracts 1.
fn has_zero_column(numbers: &[u8]) -> bool {
    numbers
        .split(|&byte| byte == b';')
        .skip(1)
        .any(|number| !number.is_empty() && number.iter().all(|&byte| byte == b'0'))
}
