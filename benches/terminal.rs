//! What a person at a terminal gets, end to end: the real binary in a pseudo-terminal at 200×60, on a service with
//! 100,000 findings behind real HTTP; then with 100,000 captures kept and 1,000 a second coming in, and with 100 MB of
//! captures in one answer. Prints a table of figures; nothing is judged.
//!
//! `cargo bench --bench terminal` (two minutes)

#![allow(clippy::unwrap_used, missing_docs, dead_code)]

#[path = "../tests/triage/generated.rs"]
mod generated;
#[path = "../tests/triage/loud.rs"]
mod loud;

use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use generated::Generated;
use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};
use scandeck::oob::Store;

const FINDINGS: usize = 100_000;
/// Captures kept before the stream begins, and those that come in a second.
const CAPTURES: i64 = 100_000;
const A_SECOND: i64 = 1_000;
/// Captures of one answer, one in [`BIG`] with a body: 100 MB, of which memory keeps the newest.
const AT_ONCE: i64 = 102_000;
const BIG: i64 = 68;
const PATIENCE: Duration = Duration::from_secs(120);

/// What came out of the terminal so far.
#[derive(Default)]
struct Seen {
    screen: Option<vt100::Parser>,
    bytes: u64,
    last: Option<Instant>,
    /// What is waited for, and when it was there.
    wanted: Option<(String, Option<Instant>)>,
}

impl Seen {
    /// Whether what is waited for is on the screen; that it came with bytes read at a time.
    fn look(&mut self, at: Option<Instant>) {
        let (Some((what, came @ None)), Some(screen)) = (&mut self.wanted, &self.screen) else { return };
        if screen.screen().contents().contains(what.as_str()) {
            *came = at;
        }
    }
}

struct Terminal {
    seen: Arc<(Mutex<Seen>, Condvar)>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn portable_pty::MasterPty + Send>,
    started: Instant,
}

impl Terminal {
    /// The dashboard; `what` is what is waited for first.
    fn start(base: &str, home: &Path, what: &str) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_scandeck"));
        for name in ["TMUX", "NO_COLOR", "SCANDECK_PROFILE"] {
            command.env_remove(name);
        }
        for (name, value) in [("SCANDECK_BASE_URL", base), ("SCANDECK_API_KEY", "k"), ("TERM", "xterm-256color")] {
            command.env(name, value);
        }
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            command.env(name, home);
        }
        command.cwd(home);
        Self::run(command, what)
    }

    fn run(command: CommandBuilder, what: &str) -> Self {
        let pty = native_pty_system().openpty(PtySize { rows: 60, cols: 200, ..PtySize::default() }).unwrap();
        // From here on: it is the fork of this process, with all its findings, that takes its time before.
        let child = pty.slave.spawn_command(command).unwrap();
        let started = Instant::now();
        drop(pty.slave);
        let size = |cells| std::num::NonZeroU16::new(cells).unwrap();
        let screen = Some(vt100::Parser::new(size(60), size(200), 0));
        let seen = Seen { screen, wanted: Some((what.to_owned(), None)), ..Seen::default() };
        let seen = Arc::new((Mutex::new(seen), Condvar::new()));
        let (mut reader, told) = (pty.master.try_clone_reader().unwrap(), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                let at = Instant::now();
                let mut seen = told.0.lock().unwrap();
                seen.screen.as_mut().unwrap().process(&bytes[..read]);
                seen.bytes += read as u64;
                seen.last = Some(at);
                seen.look(Some(at));
                told.1.notify_all();
            }
        });
        let writer = pty.master.take_writer().unwrap();
        Self { seen, writer, child, _master: pty.master, started }
    }

    fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Time until the screen held these words: of the read that brought them, however late this thread hears of it.
    fn until(&self, what: &str) -> Duration {
        let mut seen = self.seen.0.lock().unwrap();
        if seen.wanted.as_ref().is_none_or(|(wanted, _)| wanted != what) {
            seen.wanted = Some((what.to_owned(), None));
            let last = seen.last;
            seen.look(last);
        }
        let missing = |seen: &mut Seen| seen.wanted.as_ref().is_some_and(|(_, came)| came.is_none());
        let (seen, timeout) = self.seen.1.wait_timeout_while(seen, PATIENCE, missing).unwrap();
        assert!(!timeout.timed_out(), "never seen: {what}\n{}", seen.screen.as_ref().unwrap().screen().contents());
        let came = seen.wanted.as_ref().and_then(|(_, came)| *came);
        came.unwrap_or(self.started).duration_since(self.started)
    }

    /// Time until the first answer on the screen to a key, if there is one within half a second.
    ///
    /// Keys come 40 ms apart, faster than anyone types: frames are held to 60 a second, and a key pressed in the same
    /// frame as the one before would measure that.
    fn answered(&mut self, key: &str) -> Option<Duration> {
        std::thread::sleep(Duration::from_millis(40));
        let before = self.seen.0.lock().unwrap().bytes;
        let pressed = Instant::now();
        self.keys(key);
        let waiting = |seen: &mut Seen| seen.bytes == before;
        let guard = self.seen.0.lock().unwrap();
        let (seen, timeout) = self.seen.1.wait_timeout_while(guard, Duration::from_millis(500), waiting).unwrap();
        (!timeout.timed_out()).then(|| seen.last.unwrap().saturating_duration_since(pressed))
    }

    fn rows_down(&mut self) -> Vec<Duration> {
        (0..200).filter_map(|_| self.answered("j")).collect()
    }

    fn query_typed(&mut self) -> Vec<Duration> {
        let typed = "risk>=high target:host1* cwe:105";
        typed.chars().filter_map(|letter| self.answered(&letter.to_string())).collect()
    }

    fn shows(&self, what: &str) -> bool {
        self.seen.0.lock().unwrap().screen.as_ref().unwrap().screen().contents().contains(what)
    }

    /// Waits until nothing was written for a while.
    fn rest(&self) {
        loop {
            let before = self.seen.0.lock().unwrap().bytes;
            std::thread::sleep(Duration::from_millis(700));
            if self.seen.0.lock().unwrap().bytes == before {
                return;
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.seen.0.lock().unwrap().bytes
    }

    /// A line of `/proc/PID/status` in kB.
    fn memory(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.process_id().unwrap())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    fn memories(&self) -> String {
        format!("{} MB, at its highest {} MB", self.memory("VmRSS") / 1024, self.memory("VmHWM") / 1024)
    }

    /// Processor time so far.
    fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.process_id().unwrap())).unwrap();
        let fields: Vec<u64> =
            stat.rsplit(')').next().unwrap().split_whitespace().filter_map(|field| field.parse().ok()).collect();
        // After the name and the state: utime and stime are the 11th and 12th numbers, in hundredths of a second.
        Duration::from_millis((fields[10] + fields[11]) * 10)
    }

    /// How often any of its threads slept and woke.
    fn wakeups(&self) -> u64 {
        let tasks = format!("/proc/{}/task", self.child.process_id().unwrap());
        let of = |task: std::fs::DirEntry| {
            let status = std::fs::read_to_string(task.path().join("status")).ok()?;
            let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?.to_owned();
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        };
        std::fs::read_dir(tasks).unwrap().flatten().filter_map(of).sum()
    }

    fn end(mut self) {
        self.keys("q");
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
    }
}

fn tell(what: &str, value: impl std::fmt::Display) {
    println!("{what:<64} {value}");
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// The middle and the 95th of a hundred.
fn quantiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: f64| ms(times[((times.len() - 1) as f64 * share) as usize]);
    format!("p50 {}, p95 {} of {}", at(0.5), at(0.95), times.len())
}

fn main() {
    // `cargo test --benches` asks for a list of tests: there are none.
    if std::env::args().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let generated = runtime.block_on(Generated::with(FINDINGS));
    let home = tempfile::tempdir().unwrap();

    tell("floor of terminal and kernel: a letter and its echo", floor(home.path()));
    let terminal = Terminal::start(&generated.base, home.path(), "Findings");
    tell("first start: first frame", ms(terminal.until("Findings")));
    tell("first start: 100,000 findings listed", ms(terminal.until("of 100")));
    terminal.rest();
    tell("memory with 100,000 findings (resident)", terminal.memories());
    let mut terminal = figures_of_keys(terminal);
    let (wakeups, bytes, begun) = (terminal.wakeups(), terminal.bytes(), Instant::now());
    std::thread::sleep(Duration::from_secs(10));
    let idle = begun.elapsed().as_secs_f64();
    tell(
        "idle with a live connection",
        format!(
            "{:.1} wake-ups/s, {:.0} bytes/s",
            (terminal.wakeups() - wakeups) as f64 / idle,
            (terminal.bytes() - bytes) as f64 / idle
        ),
    );
    terminal.keys("\x1b");
    terminal.end();

    // The disk is still busy with what the first one left.
    std::thread::sleep(Duration::from_secs(5));
    let terminal = Terminal::start(&generated.base, home.path(), "Findings");
    tell("second start, from what is kept: first frame", ms(terminal.until("Findings")));
    tell("second start, from what is kept: 100,000 findings listed", ms(terminal.until("of 100")));
    terminal.rest();
    beside_a_stream(terminal, &generated);

    let home = tempfile::tempdir().unwrap();
    generated.loud.hears(AT_ONCE, BIG);
    at_once(Terminal::start(&generated.base, home.path(), "of 100"));
    let kept = runtime.block_on(kept_in(home.path()));
    tell("100 MB of captures: in the archive afterwards", format!("{kept} of {AT_ONCE}"));
}

async fn kept_in(home: &Path) -> usize {
    let mut services = std::fs::read_dir(home.join("scandeck/of")).unwrap();
    let mut store = Store::open(&services.next().unwrap().unwrap().path()).await.unwrap().store;
    store.captures_of("Generated").await.unwrap().len()
}

/// What a key costs while captures come in.
fn beside_a_stream(mut terminal: Terminal, generated: &Generated) {
    generated.loud.hears(CAPTURES, 0);
    terminal.until(&format!("n={CAPTURES}"));
    terminal.rest();
    tell("memory with 100,000 captures too", terminal.memories());
    tell("with 100,000 captures: one row down", quantiles(terminal.rows_down()));
    let (loud, ends) = (Arc::clone(&generated.loud), Arc::new(AtomicBool::new(false)));
    let ended = Arc::clone(&ends);
    let calling = std::thread::spawn(move || {
        let begun = Instant::now();
        while !ended.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
            loud.hears(CAPTURES + begun.elapsed().as_millis() as i64 * A_SECOND / 1000, 0);
        }
    });
    let (begun, cpu) = (Instant::now(), terminal.cpu());
    tell("beside 1,000 captures a second: one row down", quantiles(terminal.rows_down()));
    terminal.keys("/\x15");
    std::thread::sleep(Duration::from_secs(1));
    tell("beside 1,000 captures a second: a query typed", quantiles(terminal.query_typed()));
    terminal.keys("\x1b");
    let share = (terminal.cpu() - cpu).as_secs_f64() / begun.elapsed().as_secs_f64() * 100.0;
    tell("beside 1,000 captures a second: processor", format!("{share:.0} %"));
    ends.store(true, Ordering::Relaxed);
    calling.join().unwrap();
    terminal.rest();
    tell("memory after the stream", terminal.memories());
    terminal.end();
}

/// What a key costs while 100 MB are read, and how long that takes.
fn at_once(mut terminal: Terminal) {
    tell("100 MB of captures beside: 100,000 findings listed", ms(terminal.until("of 100")));
    let mut times = Vec::new();
    let last = format!("n={AT_ONCE}");
    while !terminal.shows(&last) {
        times.extend(terminal.answered("j"));
    }
    tell("100 MB of captures: archived and shown", ms(terminal.until(&last)));
    // It says that not all are in memory.
    terminal.until("put away");
    let longest = times.iter().max().copied().unwrap_or_default();
    tell("100 MB of captures: one row down meanwhile", format!("{}, longest {}", quantiles(times), ms(longest)));
    terminal.rest();
    tell("100 MB of captures: memory", terminal.memories());
    terminal.end();
}

/// What a key costs where the program does nothing but echo.
fn floor(home: &Path) -> String {
    let mut command = CommandBuilder::new("cat");
    command.cwd(home);
    let mut terminal = Terminal::run(command, "ready");
    terminal.keys("ready\n");
    terminal.until("ready");
    terminal.rest();
    let echoes = (0..200).filter_map(|_| terminal.answered("j")).collect();
    terminal.child.kill().unwrap();
    quantiles(echoes)
}

fn figures_of_keys(mut terminal: Terminal) -> Terminal {
    tell("key to changed screen: one row down", quantiles(terminal.rows_down()));
    let (before, begun) = (terminal.bytes(), Instant::now());
    let cpu = terminal.cpu();
    for _ in 0..400 {
        terminal.keys("j");
        std::thread::sleep(Duration::from_millis(5));
    }
    let held = begun.elapsed();
    let share = (terminal.cpu() - cpu).as_secs_f64() / held.as_secs_f64() * 100.0;
    let each = (terminal.bytes() - before) / 400;
    tell("a key held at 200/s for two seconds", format!("{share:.0} % of a processor, {each} bytes a step"));
    terminal.rest();
    terminal.keys("/\x15");
    terminal.rest();
    tell("key to changed screen: a query typed", quantiles(terminal.query_typed()));
    terminal.keys("\x1b");
    terminal.rest();
    terminal
}
