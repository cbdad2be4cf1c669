//! The real binary in a pseudo-terminal: what a person sees, and what is left of the terminal afterwards.
//!
//! [`Session`] holds the program and a screen that understands what it writes. Waiting is always for something seen.

mod bundle;
mod captures;
mod dashboard;
mod demo;
mod local;
mod panic;

use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

/// How long something may take to show.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program in a terminal.
pub struct Session {
    screen: Arc<Mutex<vt100::Parser>>,
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    modes: String,
}

impl Session {
    /// Starts the binary with these arguments in a home of its own.
    pub fn start(home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_scandeck"));
        command.args(arguments);
        Self::start_command(home, command, variables)
    }

    pub fn start_command(home: &Path, mut command: CommandBuilder, variables: &[(&str, &str)]) -> Self {
        let pty = native_pty_system().openpty(PtySize { rows: 40, cols: 120, ..PtySize::default() }).unwrap();
        for name in ["TMUX", "STY", "NO_COLOR", "SCANDECK_BASE_URL", "SCANDECK_API_KEY", "EDITOR", "VISUAL"] {
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
        // Ends by itself with the last program on the terminal.
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                seen.lock().unwrap().process(&bytes[..read]);
            }
        });
        let writer = pty.master.take_writer().unwrap();
        Self { screen, master: pty.master, writer, child, modes }
    }

    /// Types.
    pub fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    pub fn resize(&self, rows: u16, cols: u16) {
        self.screen.lock().unwrap().screen_mut().set_size(size(rows), size(cols));
        self.master.resize(PtySize { rows, cols, ..PtySize::default() }).unwrap();
    }

    pub fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Waits until the screen holds these words.
    pub async fn until(&self, words: &str) {
        self.until_true(words, |text| text.contains(words)).await;
    }

    /// Waits until the screen is as wanted.
    pub async fn until_true(&self, what: &str, wanted: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        loop {
            let text = self.text();
            if wanted(&text) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "never seen: {what}\n{text}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.process_id().unwrap() as i32).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end and gives the exit code.
    pub async fn ended(&mut self) -> u32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end\n{}", self.text());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Whether the alternate screen is shown.
    pub fn is_full_screen(&self) -> bool {
        self.screen.lock().unwrap().screen().alternate_screen()
    }

    /// Asserts that the terminal is as it was before the program.
    #[track_caller]
    pub fn assert_restored(&self) {
        let parser = self.screen.lock().unwrap();
        let screen = parser.screen();
        assert!(!screen.alternate_screen(), "the alternate screen stayed");
        assert!(!screen.hide_cursor(), "the cursor stayed hidden");
        assert!(!screen.bracketed_paste(), "bracketed paste stayed on");
        drop(parser);
        assert_eq!(modes(&*self.master), self.modes, "the terminal's modes stayed changed");
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
