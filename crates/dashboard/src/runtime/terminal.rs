//! The terminal guard: it takes over the terminal and restores it, whatever ends the dashboard.
//!
//! ```text
//!   enter ─► raw mode, alternate screen, paste, mouse ─► draw … ─► restore
//!                                                            drop ──────┤
//!                                                            panic ─────┤   (the hook restores before the message)
//!                                                            suspend ───┘ ─► resume
//! ```
//!
//! Signals end the event loop, which drops the guard. Restoring twice does nothing the second time.

use crate::base::Size;
use crate::runtime::terminal_answers::BACKGROUND;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::style::{Print, ResetColor, force_color_output};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{Write, stdin, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{io, mem, panic};

/// Whether the dashboard has the terminal.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();
/// Whether the terminal reports the mouse while the dashboard has it.
static REPORTS_MOUSE: AtomicBool = AtomicBool::new(false);

/// Presses, drags and the wheel with SGR coordinates. `EnableMouseCapture` of crossterm also
/// requests every motion, which would wake the event loop for nothing.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";

pub struct Terminal {
    frames: Frames<ActiveOutput>,
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
        // With NO_COLOR crossterm would also drop the attributes of the selection; the theme
        // respects NO_COLOR itself.
        force_color_output(true);
        let modes = tcgetattr(stdin()).ok();
        take()?;
        // A frame is one write: the output is collected until it is flushed.
        let output = ActiveOutput(Vec::with_capacity(1 << 16));
        Ok(Self {
            frames: Frames::new(output),
            modes,
        })
    }

    /// Asks for the background colour (OSC 11), with the next output. The keyboard receives the
    /// answer.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn ask_for_background(&mut self) -> io::Result<()> {
        self.frames.backend.write_all(BACKGROUND)
    }

    /// Draws a frame into a blank buffer, and writes the cells that differ from the last one.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        self.frames.draw(Self::size(), draw)
    }

    /// Discards the previous frame: the next one is written completely.
    pub fn clear(&mut self) {
        self.frames.is_shown = false;
    }

    /// Writes bytes beside the frames: the bell, a copy.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let output = &mut self.frames.backend;
        output.write_all(bytes)?;
        Write::flush(output)
    }

    /// Turns the reports of the mouse on or off. They are off while another program has the
    /// terminal.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn report_mouse(&mut self, is_on: bool) -> io::Result<()> {
        if REPORTS_MOUSE.swap(is_on, Ordering::SeqCst) == is_on {
            return Ok(());
        }
        self.write(if is_on { MOUSE_ON } else { MOUSE_OFF }.as_bytes())
    }

    /// The size of the terminal; 80×24 if it is unknown.
    pub fn size() -> Size {
        let size = tcgetwinsize(stdout())
            .ok()
            .filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or(
            Size {
                columns: 80,
                rows: 24,
            },
            |size| Size {
                columns: size.ws_col,
                rows: size.ws_row,
            },
        )
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
        if let Some(modes) = self
            .modes
            .as_ref()
            .filter(|_| !IS_ACTIVE.load(Ordering::SeqCst))
        {
            tcsetattr(stdin(), OptionalActions::Now, modes)?;
        }
        take()?;
        self.clear();
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Writes frames: the cells that differ from the shown frame, as one update in terminals that
/// support synchronized output. `ratatui::Terminal` would ask for the size again, and flush before
/// the end of the update.
struct Frames<W: Write> {
    backend: CrosstermBackend<W>,
    shown: Buffer,
    next: Buffer,
    /// Whether `shown` is on the screen.
    is_shown: bool,
}

impl<W: Write> Frames<W> {
    fn new(output: W) -> Self {
        Self {
            backend: CrosstermBackend::new(output),
            shown: Buffer::default(),
            next: Buffer::default(),
            is_shown: false,
        }
    }

    fn draw(&mut self, size: Size, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        let area = Rect::new(0, 0, size.columns, size.rows);
        // What a failed write has shown is unknown.
        let is_shown = mem::take(&mut self.is_shown) && self.shown.area == area;
        queue!(self.backend, BeginSynchronizedUpdate)?;
        if !is_shown {
            self.shown = Buffer::empty(area);
            queue!(self.backend, Clear(ClearType::All))?;
        }
        self.next.resize(area);
        self.next.reset();
        draw(&mut self.next);
        self.backend.draw(self.shown.diff_iter(&self.next))?;
        execute!(self.backend, Hide, EndSynchronizedUpdate)?;
        mem::swap(&mut self.shown, &mut self.next);
        self.is_shown = true;
        Ok(())
    }
}

/// Whether the terminal is known to show links (OSC 8), derived from environment variables. Others
/// could print the address.
pub fn shows_links(variable: impl Fn(&str) -> Option<String>) -> bool {
    let text = |name| variable(name).unwrap_or_default().to_lowercase();
    let (term, program, version) = (
        text("TERM"),
        text("TERM_PROGRAM"),
        text("TERM_PROGRAM_VERSION"),
    );
    if program == "tmux" {
        let mut numbers = version
            .split(|c: char| !c.is_ascii_digit())
            .map(|number| number.parse::<u32>().unwrap_or(0));
        return (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (3, 4);
    }
    let named = [
        "alacritty",
        "contour",
        "foot",
        "ghostty",
        "iterm",
        "kitty",
        "vscode",
        "wezterm",
    ];
    let is_named = named
        .iter()
        .any(|name| term.contains(name) || program.contains(name));
    let is_new_vte = text("VTE_VERSION")
        .parse::<u32>()
        .is_ok_and(|version| version >= 5_000);
    let is_other = ["WT_SESSION", "KONSOLE_VERSION"]
        .iter()
        .any(|name| variable(name).is_some());
    let is_plain = matches!(term.as_str(), "" | "dumb" | "linux")
        || variable("STY").is_some()
        || variable("TMUX").is_some();
    !is_plain && (is_named || is_new_vte || is_other)
}

/// Output to the terminal while the dashboard has it, and to nowhere afterwards: what is not
/// flushed when it is dropped is not written.
struct ActiveOutput(Vec<u8>);

impl Write for ActiveOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if IS_ACTIVE.load(Ordering::SeqCst) {
            self.0.write(bytes)
        } else {
            Ok(bytes.len())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let is_active = IS_ACTIVE.load(Ordering::SeqCst);
        let written = if is_active {
            stdout().write_all(&self.0).and_then(|()| stdout().flush())
        } else {
            Ok(())
        };
        self.0.clear();
        written
    }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    IS_ACTIVE.store(true, Ordering::SeqCst);
    let mouse = if REPORTS_MOUSE.load(Ordering::SeqCst) {
        MOUSE_ON
    } else {
        ""
    };
    execute!(
        stdout(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        Print(mouse)
    )
    .inspect_err(|_| restore())
}

/// Restores the terminal. Errors mean that it is gone, so there is nothing to restore.
fn restore() {
    if IS_ACTIVE.swap(false, Ordering::SeqCst) {
        let mouse = if REPORTS_MOUSE.load(Ordering::SeqCst) {
            MOUSE_OFF
        } else {
            ""
        };
        // The synchronized update is ended first: a panic while drawing leaves it open, and the
        // message would be hidden.
        let _ = execute!(
            stdout(),
            EndSynchronizedUpdate,
            Print(mouse),
            DisableBracketedPaste,
            ResetColor,
            LeaveAlternateScreen,
            Show
        );
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
    use ratatui::style::Style;
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    const SIZE: Size = Size {
        columns: 20,
        rows: 4,
    };

    #[derive(Clone, Default)]
    struct Output {
        bytes: Rc<RefCell<Vec<u8>>>,
        flushed: Rc<Cell<usize>>,
        fails: Rc<Cell<bool>>,
    }

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.bytes.borrow_mut().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            self.flushed.set(self.flushed.get() + 1);
            if self.fails.get() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            Ok(())
        }
    }

    /// The bytes of a frame of these lines.
    fn drawn(frames: &mut Frames<Output>, output: &Output, size: Size, lines: &[&str]) -> String {
        let result = frames.draw(size, |buf| {
            for (line, y) in lines.iter().zip(0..) {
                buf.set_string(0, y, line, Style::new());
            }
        });
        assert_eq!(result.is_ok(), !output.fails.get());
        String::from_utf8(output.bytes.take()).unwrap()
    }

    #[test]
    fn frame_is_one_update_of_the_cells_that_differ() {
        let output = Output::default();
        let mut frames = Frames::new(output.clone());
        let first = drawn(&mut frames, &output, SIZE, &["abc", "日本"]);
        // The backend sets the cursor behind a wide character.
        assert!(
            first.contains("abc") && first.contains('日') && first.contains('本'),
            "{first:?}"
        );
        let second = drawn(&mut frames, &output, SIZE, &["abc", "日x"]);
        assert!(second.starts_with("\x1b[?2026h") && second.ends_with("\x1b[?25l\x1b[?2026l"));
        assert!(
            second.contains('x') && !second.contains("abc"),
            "{second:?}"
        );
        assert_eq!(output.flushed.get(), 2, "a frame is one write");
    }

    #[test]
    fn frame_after_unknown_content_is_written_completely() {
        let output = Output::default();
        let mut frames = Frames::new(output.clone());
        drawn(&mut frames, &output, SIZE, &["abc"]);
        frames.is_shown = false;
        assert!(drawn(&mut frames, &output, SIZE, &["abc"]).contains("abc"));
        let wider = Size {
            columns: 30,
            ..SIZE
        };
        assert!(drawn(&mut frames, &output, wider, &["abc"]).contains("abc"));
        output.fails.set(true);
        drawn(&mut frames, &output, wider, &["abc"]);
        output.fails.set(false);
        assert!(drawn(&mut frames, &output, wider, &["abc"]).contains("abc"));
    }

    #[test]
    fn output_while_another_program_has_the_terminal_is_not_kept() {
        let mut output = ActiveOutput(Vec::new());
        output.write_all(b"frame").unwrap();
        assert_eq!(output.0, b"", "the terminal is not taken in this test");
    }

    #[test]
    fn links_are_shown_by_known_terminals_only() {
        let shows = |variables: &[(&str, &str)]| {
            shows_links(|name| {
                variables
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| (*value).to_owned())
            })
        };
        let term = ("TERM", "xterm-256color");
        assert!(shows(&[("TERM", "xterm-kitty")]) && shows(&[term, ("TERM_PROGRAM", "WezTerm")]));
        assert!(
            shows(&[term, ("VTE_VERSION", "7600")]) && !shows(&[term, ("VTE_VERSION", "4205")])
        );
        assert!(
            !shows(&[term])
                && !shows(&[("TERM", "dumb"), ("TERM_PROGRAM", "WezTerm")])
                && !shows(&[])
        );
        let tmux = |version| {
            shows(&[
                ("TERM", "tmux-256color"),
                ("TERM_PROGRAM", "tmux"),
                ("TERM_PROGRAM_VERSION", version),
            ])
        };
        assert!(tmux("3.4") && tmux("4.0a") && !tmux("3.3a"));
    }
}
