//! The terminal guard: takes the terminal over, and gives it back as it was, whatever ends the dashboard.
//!
//! ```text
//!   enter ─► raw mode, alternate screen, bracketed paste ─► draw … ─► restore
//!                                                            drop ──────┤
//!                                                            panic ─────┤   (the hook restores before it speaks)
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
use std::io::{BufWriter, Stdout, Write, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{io, panic};

/// The terminal is ours at present.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal while the dashboard has it.
pub struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<BufWriter<Stdout>>>,
}

impl Terminal {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// When it cannot be switched; then it is as it was.
    pub fn enter() -> io::Result<Self> {
        restore_on_panic();
        // NO_COLOR makes crossterm drop the attributes that show the selection too; the theme knows NO_COLOR itself.
        force_color_output(true);
        take()?;
        // One write a frame: what is drawn is collected until it is flushed.
        let inner = ratatui::Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(1 << 16, stdout())));
        inner.map(|inner| Self { inner }).inspect_err(|_| restore())
    }

    /// Draws a frame, all of it at once for terminals that know synchronized output.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        queue!(self.inner.backend_mut(), BeginSynchronizedUpdate)?;
        self.inner.draw(draw)?;
        execute!(self.inner.backend_mut(), EndSynchronizedUpdate)
    }

    /// Forgets what was drawn: the next frame is written whole.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn clear(&mut self) -> io::Result<()> {
        // Not `clear`: that asks the terminal where its cursor is, and takes keys for the answer.
        let Size { columns, rows } = Self::size();
        self.inner.resize(Rect::new(0, 0, columns, rows))
    }

    /// Writes bytes that are no part of a frame: the bell, a copy.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let backend = self.inner.backend_mut();
        backend.write_all(bytes)?;
        Write::flush(backend)
    }

    /// Its size now; 80×24 where nobody knows.
    pub fn size() -> Size {
        let (columns, rows) = size().unwrap_or((80, 24));
        Size { columns, rows }
    }

    /// Gives the terminal to another program for a while.
    pub fn leave(&mut self) {
        restore();
    }

    /// Takes it back.
    ///
    /// # Errors
    /// When it cannot be switched.
    pub fn resume(&mut self) -> io::Result<()> {
        take()?;
        self.clear()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste).inspect_err(|_| restore())
}

/// Gives the terminal back. Errors mean that it is gone, and then there is nothing to restore.
fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // The end of a synchronized update first: a panic while drawing leaves one open, and nothing would be shown.
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
