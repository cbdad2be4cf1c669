//! The terminal guard: it takes over the terminal and restores it, whatever ends the dashboard.
//!
//! ```text
//!   enter ─► raw mode, alternate screen, bracketed paste ─► draw … ─► restore
//!                                                            drop ──────┤
//!                                                            panic ─────┤   (the hook restores before the message)
//!                                                            suspend ───┘ ─► resume
//! ```
//!
//! Signals end the event loop, which drops the guard. Restoring twice does nothing the second time.

use crate::dashboard::base::Size;
use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::style::{ResetColor, force_color_output};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, size,
};
use crossterm::{execute, queue};
use ratatui::Frame;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use rustix::termios::{OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::io::{BufWriter, Stdout, Write, stdin, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{io, panic};

/// Whether the dashboard has the terminal.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

pub struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<ActiveOutput>>,
    /// The modes at the start; an editor that is killed leaves others behind.
    modes: Option<Termios>,
}

impl Terminal {
    /// Takes over the terminal.
    ///
    /// # Errors
    /// When the terminal cannot be switched; it is then unchanged.
    pub fn enter() -> io::Result<Self> {
        restore_on_panic();
        // With NO_COLOR crossterm would also drop the attributes of the selection; the theme respects NO_COLOR itself.
        force_color_output(true);
        let modes = tcgetattr(stdin()).ok();
        take()?;
        // A frame is one write: the output is collected until it is flushed.
        let output = ActiveOutput(BufWriter::with_capacity(1 << 16, stdout()));
        let inner = ratatui::Terminal::new(CrosstermBackend::new(output));
        inner.map(|inner| Self { inner, modes }).inspect_err(|_| restore())
    }

    /// The background colour, as the terminal reports it (OSC 11) within 100 ms.
    pub fn background(&mut self) -> Option<[u8; 3]> {
        let modes = tcgetattr(stdin()).ok()?;
        let mut waiting = modes.clone();
        waiting.special_codes[SpecialCodeIndex::VMIN] = 0;
        waiting.special_codes[SpecialCodeIndex::VTIME] = 1;
        tcsetattr(stdin(), OptionalActions::Now, &waiting).ok()?;
        let answer = self.write(BACKGROUND).map(|()| answer_within(PATIENCE)).unwrap_or_default();
        let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
        background_of(&answer)
    }

    /// Draws a frame, atomically in terminals that support synchronized output.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        queue!(self.inner.backend_mut(), BeginSynchronizedUpdate)?;
        self.inner.draw(draw)?;
        execute!(self.inner.backend_mut(), EndSynchronizedUpdate)
    }

    /// Discards the previous frame: the next one is written completely.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn clear(&mut self) -> io::Result<()> {
        // Not `clear`, which queries the cursor position and takes keys for the answer.
        let Size { columns, rows } = Self::size();
        self.inner.resize(Rect::new(0, 0, columns, rows))
    }

    /// Writes bytes beside the frames: the bell, a copy.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let backend = self.inner.backend_mut();
        backend.write_all(bytes)?;
        Write::flush(backend)
    }

    /// The size of the terminal; 80×24 if it is unknown.
    pub fn size() -> Size {
        let (columns, rows) = size().unwrap_or((80, 24));
        Size { columns, rows }
    }

    /// Hands the terminal to another program.
    pub fn leave(&mut self) {
        restore();
    }

    /// Takes the terminal back.
    ///
    /// # Errors
    /// When the terminal cannot be switched.
    pub fn resume(&mut self) -> io::Result<()> {
        if let Some(modes) = self.modes.as_ref().filter(|_| !IS_ACTIVE.load(Ordering::SeqCst)) {
            tcsetattr(stdin(), OptionalActions::Now, modes)?;
        }
        take()?;
        self.clear()
    }
}

/// The question for the background colour, and one that every terminal answers, so that nobody waits for a terminal
/// without OSC 11.
const BACKGROUND: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";
/// Limit for the answer.
const PATIENCE: Duration = Duration::from_millis(100);

/// The bytes up to the answer of the second question. A read waits for at most 100 ms.
fn answer_within(limit: Duration) -> Vec<u8> {
    let (start, mut answer, mut buffer) = (Instant::now(), Vec::new(), [0; 256]);
    while start.elapsed() < limit && !is_complete(&answer) {
        match rustix::io::read(stdin(), &mut buffer) {
            Ok(count @ 1..) => answer.extend_from_slice(&buffer[..count]),
            Ok(0) | Err(_) => break,
        }
    }
    answer
}

/// Whether it ends with the device attributes: `ESC [ ? 6 2 c`.
fn is_complete(answer: &[u8]) -> bool {
    let attributes = answer.windows(3).position(|three| three == b"\x1b[?");
    attributes.is_some_and(|at| answer[at..].contains(&b'c'))
}

/// The colour of `ESC ] 11 ; rgb:ffff/ffff/ffff`.
fn background_of(answer: &[u8]) -> Option<[u8; 3]> {
    let text = String::from_utf8_lossy(answer);
    let colour = text.split_once("]11;rgb")?.1.split_once(':')?.1;
    let parts: Vec<&str> = colour.split(['/', '\x1b', '\x07']).take(3).collect();
    let part = |part: &&str| {
        let most = 16u32.checked_pow(u32::try_from(part.len()).ok()?)?.checked_sub(1).filter(|most| *most > 0)?;
        u8::try_from(u32::from_str_radix(part, 16).ok()? * 255 / most).ok()
    };
    let parts: Option<Vec<u8>> = parts.iter().map(part).collect();
    parts?.try_into().ok()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Output to the terminal while the dashboard has it, and to nowhere afterwards. ratatui shows the cursor when it is
/// dropped, and panics if it can report the failure neither: after a closed window, every write fails.
struct ActiveOutput(BufWriter<Stdout>);

impl Write for ActiveOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if IS_ACTIVE.load(Ordering::SeqCst) { self.0.write(bytes) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if IS_ACTIVE.load(Ordering::SeqCst) { self.0.flush() } else { Ok(()) }
    }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    IS_ACTIVE.store(true, Ordering::SeqCst);
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste).inspect_err(|_| restore())
}

/// Restores the terminal. Errors mean that it is gone, so there is nothing to restore.
fn restore() {
    if IS_ACTIVE.swap(false, Ordering::SeqCst) {
        // The synchronized update is ended first: a panic while drawing leaves it open, and the message would be hidden.
        let _ =
            execute!(stdout(), EndSynchronizedUpdate, DisableBracketedPaste, ResetColor, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

fn restore_on_panic() {
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            tracing::error!(panic = %info, "panicked");
            restore();
            before(info);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_is_read_from_every_form_of_the_answer() {
        for (answer, expected) in [
            (&b"\x1b]11;rgb:ffff/8080/0000\x1b\\\x1b[?62;4c"[..], Some([255, 128, 0])),
            (b"\x1b]11;rgb:1e/1e/1e\x07\x1b[?6c", Some([30, 30, 30])),
            (b"\x1b]11;rgba:ffff/ffff/ffff/ffff\x1b\\", Some([255; 3])),
            (b"\x1b[?62;4c", None),
            (b"", None),
            (b"\x1b]11;rgb:zz/1/1\x07", None),
        ] {
            assert_eq!(background_of(answer), expected, "{:?}", String::from_utf8_lossy(answer));
        }
        assert!(is_complete(b"\x1b]11;rgb:0/0/0\x07\x1b[?62c") && !is_complete(b"\x1b]11;rgb:c/c/c\x07"));
    }
}
