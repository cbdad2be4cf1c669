//! The real binary in a pseudo-terminal: the screen that a user sees, and the state of the terminal
//! afterwards.
//!
//! [`Session`] holds the program and a terminal emulator that parses its output. Tests wait for
//! text on the screen, never for a time.

pub mod answers;
mod bundle;
mod captures;
mod dashboard;
mod demo;
mod import;
mod kills;
mod local;
mod panic;
mod reload;

use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

/// Limit for every condition.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program in a terminal.
pub struct Session {
    screen: Arc<Mutex<vt100::Parser>>,
    /// Bytes of output on the screen.
    output: Arc<AtomicUsize>,
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    modes: String,
    /// Limit for conditions on the screen.
    pub patience: Duration,
    reader: JoinHandle<()>,
    /// Ends the reader after its next read.
    closing: Arc<AtomicBool>,
}

impl Session {
    /// Starts the binary with these arguments with `home` as home directory.
    pub fn start(home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_scandeck"));
        command.args(arguments);
        Self::start_command(home, command, variables)
    }

    pub fn start_command(
        home: &Path,
        mut command: CommandBuilder,
        variables: &[(&str, &str)],
    ) -> Self {
        let pty = native_pty_system()
            .openpty(PtySize {
                rows: 40,
                cols: 120,
                ..PtySize::default()
            })
            .unwrap();
        for name in [
            "TMUX",
            "STY",
            "NO_COLOR",
            "SCANDECK_BASE_URL",
            "SCANDECK_API_KEY",
            "EDITOR",
            "VISUAL",
        ] {
            command.env_remove(name);
        }
        command.env("HOME", home);
        command.env("XDG_CONFIG_HOME", home.join("config"));
        command.env("XDG_STATE_HOME", home.join("state"));
        command.env("TERM", "xterm-256color");
        for (name, value) in variables {
            command.env(name, value);
        }
        command.cwd(home);
        let modes = modes(&*pty.master);
        let child = pty.slave.spawn_command(command).unwrap();
        drop(pty.slave);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(size(40), size(120), 0)));
        let (mut reader, seen) = (pty.master.try_clone_reader().unwrap(), Arc::clone(&screen));
        let output = Arc::new(AtomicUsize::new(0));
        let on_screen = Arc::clone(&output);
        let closing = Arc::new(AtomicBool::new(false));
        let is_closing = Arc::clone(&closing);
        // The thread ends at the end of the output, when the last program has closed the terminal.
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while !is_closing.load(Ordering::SeqCst)
                && let Ok(read @ 1..) = reader.read(&mut bytes)
            {
                seen.lock().unwrap().process(&bytes[..read]);
                on_screen.fetch_add(read, Ordering::SeqCst);
            }
        });
        let writer = pty.master.take_writer().unwrap();
        Self {
            screen,
            output,
            master: pty.master,
            writer,
            child,
            modes,
            patience: PATIENCE,
            reader,
            closing,
        }
    }

    pub fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    pub fn resize(&self, rows: u16, cols: u16) {
        self.screen
            .lock()
            .unwrap()
            .screen_mut()
            .set_size(size(rows), size(cols));
        self.master
            .resize(PtySize {
                rows,
                cols,
                ..PtySize::default()
            })
            .unwrap();
    }

    pub fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Waits until the screen contains a text.
    pub async fn until(&self, words: &str) {
        self.until_true(words, |text| text.contains(words)).await;
    }

    /// Waits until the text of the screen satisfies a condition, which `what` describes.
    pub async fn until_true(&self, what: &str, condition: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        let output = || self.output.load(Ordering::SeqCst);
        let (mut shown, mut text) = (output(), self.text());
        while !condition(&text) {
            assert!(
                begun.elapsed() < self.patience,
                "not on the screen: {what}\n{text}"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
            let now = output();
            // To read an unchanged screen again would take time from the program.
            if now != shown {
                (shown, text) = (now, self.text());
            }
        }
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.process_id().unwrap() as i32).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end of the program and returns its exit code.
    pub async fn ended(&mut self) -> u32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "the program does not end\n{}",
                self.text()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Closes the terminal, as a closed window does, and returns the exit code of the program. The
    /// last output is that of these keys.
    pub async fn ended_by_closing(mut self, keys: &str) -> u32 {
        // The system hangs up when the last copy of the terminal is closed. The reader holds one
        // until it has read.
        self.closing.store(true, Ordering::SeqCst);
        self.keys(keys);
        let begun = Instant::now();
        while !self.reader.is_finished() {
            assert!(
                begun.elapsed() < PATIENCE,
                "no output after {keys:?}\n{}",
                self.text()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.writer = Box::new(std::io::sink());
        self.master = native_pty_system()
            .openpty(PtySize::default())
            .unwrap()
            .master;
        self.ended().await
    }

    /// Whether the terminal reports presses, drags and the wheel of the mouse.
    pub fn has_mouse(&self) -> bool {
        let parser = self.screen.lock().unwrap();
        parser.screen().mouse_protocol_mode() == vt100::MouseProtocolMode::ButtonMotion
    }

    /// Whether the alternate screen is shown.
    pub fn is_full_screen(&self) -> bool {
        self.screen.lock().unwrap().screen().alternate_screen()
    }

    /// Waits until a cell has this colour of the 256.
    pub async fn until_coloured(&self, colour: u8) {
        let is_on_screen = |_: &str| {
            let parser = self.screen.lock().unwrap();
            let mut cells = (0..40).flat_map(|row| (0..120).map(move |column| (row, column)));
            cells.any(|(row, column)| {
                parser
                    .screen()
                    .cell(row, column)
                    .is_some_and(|cell| cell.fgcolor() == vt100::Color::Idx(colour))
            })
        };
        self.until_true(&format!("colour {colour}"), is_on_screen)
            .await;
    }

    /// Waits until the terminal is as it was before the program. The program can end before the
    /// reader has seen its last bytes, so the screen is not checked only once.
    pub async fn restored(&self) {
        let begun = Instant::now();
        while let Some(changed) = self.changed() {
            assert!(
                begun.elapsed() < PATIENCE,
                "not restored: {changed}\n{}",
                self.text()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The first property of the terminal that differs from before.
    fn changed(&self) -> Option<&'static str> {
        let parser = self.screen.lock().unwrap();
        let screen = parser.screen();
        let differences = [
            (screen.alternate_screen(), "alternate screen"),
            (screen.hide_cursor(), "cursor"),
            (screen.bracketed_paste(), "bracketed paste"),
            (
                screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None,
                "mouse",
            ),
            (modes(&*self.master) != self.modes, "terminal modes"),
        ];
        differences
            .into_iter()
            .find(|(differs, _)| *differs)
            .map(|(_, name)| name)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(cells: u16) -> std::num::NonZeroU16 {
    std::num::NonZeroU16::new(cells).unwrap()
}

/// Echo, line mode and the rest, as text.
fn modes(master: &(dyn MasterPty + Send)) -> String {
    format!("{:?}", master.get_termios())
}
