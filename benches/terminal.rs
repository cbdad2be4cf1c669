//! Latency and memory end to end: the binary in a pseudo-terminal at 200×60, on a service with 100,000 findings over
//! HTTP, then with 100,000 captures and 1,000 more a second, and with 100 MB of captures in one response. Prints a
//! table of figures and has no limits.
//!
//! `cargo bench --bench terminal` (two minutes)

#![allow(clippy::unwrap_used, dead_code)]

#[path = "../tests/triage/busy_logger.rs"]
mod busy_logger;
#[path = "../tests/triage/generated.rs"]
mod generated;

use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use generated::Generated;
use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};
use scandeck::oob::Store;

const FINDINGS: usize = 100_000;
/// Captures before the stream begins, and captures per second of the stream.
const CAPTURES: i64 = 100_000;
const PER_SECOND: i64 = 1_000;
/// Captures in one response, one in [`BIG`] with a body: 100 MB, of which the dashboard loads the newest.
const IN_ONE_RESPONSE: i64 = 102_000;
const BIG: i64 = 68;
const PATIENCE: Duration = Duration::from_secs(120);

/// Output of the terminal.
#[derive(Default)]
struct TerminalOutput {
    screen: Option<vt100::Parser>,
    bytes: u64,
    last: Option<Instant>,
    /// The expected text, and the time at which it appeared.
    expected: Option<(String, Option<Instant>)>,
}

impl TerminalOutput {
    /// Records the time at which the expected text appeared.
    fn check_expected(&mut self, at: Option<Instant>) {
        let (Some((text, appeared @ None)), Some(screen)) = (&mut self.expected, &self.screen) else { return };
        if screen.screen().contents().contains(text.as_str()) {
            *appeared = at;
        }
    }
}

struct Terminal {
    output: Arc<(Mutex<TerminalOutput>, Condvar)>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn portable_pty::MasterPty + Send>,
    started: Instant,
}

impl Terminal {
    /// Starts the dashboard; `text` is expected first.
    fn start(base: &str, home: &Path, text: &str) -> Self {
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
        Self::run(command, text)
    }

    fn run(command: CommandBuilder, text: &str) -> Self {
        let pty = native_pty_system().openpty(PtySize { rows: 60, cols: 200, ..PtySize::default() }).unwrap();
        // The time starts after the fork, which is slow because this process holds all findings.
        let child = pty.slave.spawn_command(command).unwrap();
        let started = Instant::now();
        drop(pty.slave);
        let size = |cells| std::num::NonZeroU16::new(cells).unwrap();
        let screen = Some(vt100::Parser::new(size(60), size(200), 0));
        let output = TerminalOutput { screen, expected: Some((text.to_owned(), None)), ..TerminalOutput::default() };
        let output = Arc::new((Mutex::new(output), Condvar::new()));
        let (mut reader, shared) = (pty.master.try_clone_reader().unwrap(), Arc::clone(&output));
        std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                let at = Instant::now();
                let mut output = shared.0.lock().unwrap();
                output.screen.as_mut().unwrap().process(&bytes[..read]);
                output.bytes += read as u64;
                output.last = Some(at);
                output.check_expected(Some(at));
                shared.1.notify_all();
            }
        });
        let writer = pty.master.take_writer().unwrap();
        Self { output, writer, child, _master: pty.master, started }
    }

    fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Time from the start to the read that brought this text to the screen.
    fn until(&self, text: &str) -> Duration {
        let mut output = self.output.0.lock().unwrap();
        if output.expected.as_ref().is_none_or(|(expected, _)| expected != text) {
            output.expected = Some((text.to_owned(), None));
            let last = output.last;
            output.check_expected(last);
        }
        let missing =
            |output: &mut TerminalOutput| output.expected.as_ref().is_some_and(|(_, appeared)| appeared.is_none());
        let (output, timeout) = self.output.1.wait_timeout_while(output, PATIENCE, missing).unwrap();
        assert!(
            !timeout.timed_out(),
            "not on the screen: {text}\n{}",
            output.screen.as_ref().unwrap().screen().contents()
        );
        let appeared = output.expected.as_ref().and_then(|(_, appeared)| *appeared);
        appeared.unwrap_or(self.started).duration_since(self.started)
    }

    /// Time from a key to the next output, if there is any within half a second.
    ///
    /// Keys are 40 ms apart, which is faster than typing. Without the pause, two keys would fall into one frame (there
    /// are at most 60 a second), and the wait for the next frame would be measured.
    fn key_latency(&mut self, key: &str) -> Option<Duration> {
        std::thread::sleep(Duration::from_millis(40));
        let before = self.output.0.lock().unwrap().bytes;
        let pressed = Instant::now();
        self.keys(key);
        let waiting = |output: &mut TerminalOutput| output.bytes == before;
        let guard = self.output.0.lock().unwrap();
        let (output, timeout) = self.output.1.wait_timeout_while(guard, Duration::from_millis(500), waiting).unwrap();
        (!timeout.timed_out()).then(|| output.last.unwrap().saturating_duration_since(pressed))
    }

    fn cursor_latencies(&mut self) -> Vec<Duration> {
        (0..200).filter_map(|_| self.key_latency("j")).collect()
    }

    fn query_latencies(&mut self) -> Vec<Duration> {
        let typed = "risk>=high target:host1* cwe:105";
        typed.chars().filter_map(|letter| self.key_latency(&letter.to_string())).collect()
    }

    fn shows(&self, text: &str) -> bool {
        self.output.0.lock().unwrap().screen.as_ref().unwrap().screen().contents().contains(text)
    }

    /// Waits until there was no output for 700 ms.
    fn wait_until_idle(&self) {
        loop {
            let before = self.output.0.lock().unwrap().bytes;
            std::thread::sleep(Duration::from_millis(700));
            if self.output.0.lock().unwrap().bytes == before {
                return;
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.output.0.lock().unwrap().bytes
    }

    /// A line of `/proc/PID/status` in kB.
    fn memory(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.process_id().unwrap())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    fn memory_summary(&self) -> String {
        format!("{} MB, peak {} MB", self.memory("VmRSS") / 1024, self.memory("VmHWM") / 1024)
    }

    /// Processor time so far.
    fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.process_id().unwrap())).unwrap();
        let fields: Vec<u64> =
            stat.rsplit(')').next().unwrap().split_whitespace().filter_map(|field| field.parse().ok()).collect();
        // utime and stime are the 11th and 12th numbers after name and state, in hundredths of a second.
        Duration::from_millis((fields[10] + fields[11]) * 10)
    }

    /// Voluntary context switches of all threads.
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
        let started_at = Instant::now();
        while self.child.try_wait().unwrap().is_none() && started_at.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
    }
}

fn print_figure(name: &str, value: impl std::fmt::Display) {
    println!("{name:<64} {value}");
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// Median and 95th percentile.
fn quantiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: f64| ms(times[((times.len() - 1) as f64 * share) as usize]);
    format!("p50 {}, p95 {} of {}", at(0.5), at(0.95), times.len())
}

fn main() {
    // `cargo test --benches` requests the list of tests, which is empty.
    if std::env::args().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let generated = runtime.block_on(Generated::with(FINDINGS));
    let home = tempfile::tempdir().unwrap();

    print_figure("baseline: echo of a key by `cat`", echo_latency(home.path()));
    let terminal = Terminal::start(&generated.base, home.path(), "Findings");
    print_figure("first start: first frame", ms(terminal.until("Findings")));
    print_figure("first start: 100,000 findings listed", ms(terminal.until("of 100")));
    terminal.wait_until_idle();
    print_figure("memory with 100,000 findings (resident)", terminal.memory_summary());
    let mut terminal = measure_keys(terminal);
    let (wakeups, bytes, started_at) = (terminal.wakeups(), terminal.bytes(), Instant::now());
    std::thread::sleep(Duration::from_secs(10));
    let idle = started_at.elapsed().as_secs_f64();
    print_figure(
        "idle with a live connection",
        format!(
            "{:.1} wake-ups/s, {:.0} bytes/s",
            (terminal.wakeups() - wakeups) as f64 / idle,
            (terminal.bytes() - bytes) as f64 / idle
        ),
    );
    terminal.keys("\x1b");
    terminal.end();

    // The disk is still busy with the writes of the first run.
    std::thread::sleep(Duration::from_secs(5));
    let terminal = Terminal::start(&generated.base, home.path(), "Findings");
    print_figure("second start, from the cache: first frame", ms(terminal.until("Findings")));
    print_figure("second start, from the cache: 100,000 findings listed", ms(terminal.until("of 100")));
    terminal.wait_until_idle();
    measure_during_stream(terminal, &generated);

    let home = tempfile::tempdir().unwrap();
    generated.busy_logger.generate(IN_ONE_RESPONSE, BIG);
    measure_large_response(Terminal::start(&generated.base, home.path(), "of 100"));
    let archived = runtime.block_on(archived_captures(home.path()));
    print_figure("100 MB of captures: archived", format!("{archived} of {IN_ONE_RESPONSE}"));
}

async fn archived_captures(home: &Path) -> usize {
    let mut services = std::fs::read_dir(home.join("scandeck/of")).unwrap();
    let mut store = Store::open(&services.next().unwrap().unwrap().path()).await.unwrap().store;
    store.captures_of("Generated").await.unwrap().len()
}

/// Latencies while captures arrive.
fn measure_during_stream(mut terminal: Terminal, generated: &Generated) {
    generated.busy_logger.generate(CAPTURES, 0);
    terminal.until(&format!("n={CAPTURES}"));
    terminal.wait_until_idle();
    print_figure("memory with 100,000 findings and 100,000 captures", terminal.memory_summary());
    print_figure("with 100,000 captures: cursor down", quantiles(terminal.cursor_latencies()));
    let (busy_logger, stopped) = (Arc::clone(&generated.busy_logger), Arc::new(AtomicBool::new(false)));
    let stop = Arc::clone(&stopped);
    let sender = std::thread::spawn(move || {
        let started_at = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
            busy_logger.generate(CAPTURES + started_at.elapsed().as_millis() as i64 * PER_SECOND / 1000, 0);
        }
    });
    let (started_at, cpu) = (Instant::now(), terminal.cpu());
    print_figure("at 1,000 captures a second: cursor down", quantiles(terminal.cursor_latencies()));
    terminal.keys("/\x15");
    std::thread::sleep(Duration::from_secs(1));
    print_figure("at 1,000 captures a second: typed query", quantiles(terminal.query_latencies()));
    terminal.keys("\x1b");
    let share = (terminal.cpu() - cpu).as_secs_f64() / started_at.elapsed().as_secs_f64() * 100.0;
    print_figure("at 1,000 captures a second: processor", format!("{share:.0} %"));
    stopped.store(true, Ordering::Relaxed);
    sender.join().unwrap();
    terminal.wait_until_idle();
    print_figure("memory after the stream", terminal.memory_summary());
    terminal.end();
}

/// Latencies while 100 MB of captures are read, and the duration of the reading.
fn measure_large_response(mut terminal: Terminal) {
    print_figure("100 MB of captures: 100,000 findings listed", ms(terminal.until("of 100")));
    let mut times = Vec::new();
    let newest = format!("n={IN_ONE_RESPONSE}");
    while !terminal.shows(&newest) {
        times.extend(terminal.key_latency("j"));
    }
    print_figure("100 MB of captures: archived and shown", ms(terminal.until(&newest)));
    // The pane reports that older captures are not loaded.
    terminal.until("not loaded");
    let longest = times.iter().max().copied().unwrap_or_default();
    print_figure(
        "100 MB of captures: cursor down while reading",
        format!("{}, longest {}", quantiles(times), ms(longest)),
    );
    terminal.wait_until_idle();
    print_figure("100 MB of captures: memory", terminal.memory_summary());
    terminal.end();
}

/// Key latency of a program that only echoes.
fn echo_latency(home: &Path) -> String {
    let mut command = CommandBuilder::new("cat");
    command.cwd(home);
    let mut terminal = Terminal::run(command, "ready");
    terminal.keys("ready\n");
    terminal.until("ready");
    terminal.wait_until_idle();
    let latencies = (0..200).filter_map(|_| terminal.key_latency("j")).collect();
    terminal.child.kill().unwrap();
    quantiles(latencies)
}

/// Key latencies, and the cost of a key held down.
fn measure_keys(mut terminal: Terminal) -> Terminal {
    print_figure("key to changed screen: cursor down", quantiles(terminal.cursor_latencies()));
    let (before, started_at) = (terminal.bytes(), Instant::now());
    let cpu = terminal.cpu();
    for _ in 0..400 {
        terminal.keys("j");
        std::thread::sleep(Duration::from_millis(5));
    }
    let duration = started_at.elapsed();
    let share = (terminal.cpu() - cpu).as_secs_f64() / duration.as_secs_f64() * 100.0;
    let each = (terminal.bytes() - before) / 400;
    print_figure("key held for two seconds at 200/s", format!("{share:.0} % of a processor, {each} bytes per step"));
    terminal.wait_until_idle();
    terminal.keys("/\x15");
    terminal.wait_until_idle();
    print_figure("key to changed screen: typed query", quantiles(terminal.query_latencies()));
    terminal.keys("\x1b");
    terminal.wait_until_idle();
    terminal
}
