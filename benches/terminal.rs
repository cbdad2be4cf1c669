//! Latency and memory end to end: the binary in a pseudo-terminal at 200×60.
//!
//! First a service with 100,000 distinct findings of 1.3 kB, of which four scans move, as a table beside csvlens when that
//! is installed. Then 100,000 findings in 34 classes with 100,000 captures and 1,000 more a second, and 100 MB of captures
//! in one response. Prints figures and has no limits.
//!
//! `cargo bench --bench terminal` (four minutes); `SCANDECK_BENCH_FINDINGS=2000` for fewer findings and captures.

#![allow(clippy::unwrap_used, dead_code)]

#[path = "../tests/triage/busy_logger.rs"]
mod busy_logger;
#[path = "../tests/triage/generated.rs"]
mod generated;
#[path = "terminal/moving.rs"]
mod moving;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex};
use std::time::{Duration, Instant};

use generated::Generated;
use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};
use scandeck::oob::Store;

/// Findings, and captures before the stream begins.
static FINDINGS: LazyLock<usize> = LazyLock::new(|| {
    std::env::var("SCANDECK_BENCH_FINDINGS").map_or(100_000, |number| number.parse::<usize>().unwrap().max(1_000))
});
/// Captures per second of the stream.
const PER_SECOND: i64 = 1_000;
/// One in so many captures of the large response has a body: 100 MB, of which the dashboard loads the newest.
const BIG: i64 = 68;
/// The query that is typed.
const QUERY: &str = "risk>=high target:host1* cwe:105";
const PATIENCE: Duration = Duration::from_secs(120);
/// The question for the background colour (OSC 11), and the answer.
const BACKGROUND: (&[u8], &[u8]) = (b"\x1b]11;?", b"\x1b]11;rgb:0000/0000/0000\x1b\\");

/// Output of the terminal.
#[derive(Default)]
struct TerminalOutput {
    screen: Option<vt100::Parser>,
    bytes: u64,
    last: Option<Instant>,
    /// When each output was read.
    times: Vec<Instant>,
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
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn portable_pty::MasterPty + Send>,
    started: Instant,
}

impl Terminal {
    /// Starts the dashboard; `text` is expected first.
    fn start(base: &str, home: &Path, text: &str) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_scandeck"));
        for name in ["TMUX", "NO_COLOR", "SCANDECK_PROFILE", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
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
        let writer = Arc::new(Mutex::new(pty.master.take_writer().unwrap()));
        let answers = Arc::clone(&writer);
        std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                let at = Instant::now();
                if bytes[..read].windows(BACKGROUND.0.len()).any(|window| window == BACKGROUND.0) {
                    answers.lock().unwrap().write_all(BACKGROUND.1).unwrap();
                }
                let mut output = shared.0.lock().unwrap();
                output.screen.as_mut().unwrap().process(&bytes[..read]);
                output.bytes += read as u64;
                output.last = Some(at);
                output.times.push(at);
                output.check_expected(Some(at));
                shared.1.notify_all();
            }
        });
        Self { output, writer, child, _master: pty.master, started }
    }

    fn keys(&mut self, keys: &str) {
        self.writer.lock().unwrap().write_all(keys.as_bytes()).unwrap();
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
    /// Keys are 40 ms apart, which is faster than typing. Without the pause, two keys could fall into one frame, and the wait
    /// for the next frame would be measured.
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
        QUERY.chars().filter_map(|letter| self.key_latency(&letter.to_string())).collect()
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

    /// Voluntary context switches of each thread.
    fn wakeups(&self) -> BTreeMap<std::ffi::OsString, u64> {
        let tasks = format!("/proc/{}/task", self.child.process_id().unwrap());
        let of = |task: std::fs::DirEntry| {
            let status = std::fs::read_to_string(task.path().join("status")).ok()?;
            let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?.to_owned();
            Some((task.file_name(), line.split_whitespace().nth(1)?.parse::<u64>().ok()?))
        };
        std::fs::read_dir(tasks).unwrap().flatten().filter_map(of).collect()
    }

    /// The cost of an idle screen during these seconds.
    fn idle(&self, seconds: u64) -> String {
        let (before, bytes, cpu, started_at) = (self.wakeups(), self.bytes(), self.cpu(), Instant::now());
        std::thread::sleep(Duration::from_secs(seconds));
        let (after, elapsed) = (self.wakeups(), started_at.elapsed().as_secs_f64());
        // A thread that ended has no number any more.
        let since =
            |(thread, number): (&std::ffi::OsString, &u64)| number - before.get(thread).unwrap_or(&0).min(number);
        let wakeups: u64 = after.iter().map(since).sum();
        format!(
            "{:.1} %, {:.1} wake-ups/s, {:.0} B/s",
            (self.cpu() - cpu).as_secs_f64() / elapsed * 100.0,
            wakeups as f64 / elapsed,
            (self.bytes() - bytes) as f64 / elapsed
        )
    }

    /// Latency and bytes of steps down. The bytes are those before the detail follows.
    fn steps(&mut self, count: usize) -> String {
        let (mut times, mut bytes) = (Vec::new(), Vec::new());
        for _ in 0..count {
            // The detail of the last step has followed, and its texts were read.
            std::thread::sleep(Duration::from_millis(110));
            let before = self.bytes();
            times.extend(self.key_latency("j"));
            std::thread::sleep(Duration::from_millis(8));
            bytes.push(self.bytes() - before);
        }
        times.sort();
        bytes.sort();
        format!(
            "{}, {} B",
            times.get(times.len() / 2).map_or("none".to_owned(), |time| ms(*time)),
            bytes[bytes.len() / 2]
        )
    }

    /// Processor and latency of a key that is held for two seconds at 200 a second.
    fn held(&mut self) -> String {
        let (cpu, started_at) = (self.cpu(), Instant::now());
        let mut pressed = Vec::new();
        for at in 0..400 {
            std::thread::sleep(Duration::from_millis(5 * at).saturating_sub(started_at.elapsed()));
            pressed.push(Instant::now());
            self.keys("j");
        }
        let share = (self.cpu() - cpu).as_secs_f64() / started_at.elapsed().as_secs_f64() * 100.0;
        self.wait_until_idle();
        let output = self.output.0.lock().unwrap();
        let shown = |key: Instant| output.times.get(output.times.partition_point(|&at| at < key)).map(|&at| at - key);
        let mut times: Vec<Duration> = pressed.into_iter().filter_map(shown).collect();
        times.sort();
        format!("{share:.0} %, p50 {}", times.get(times.len() / 2).map_or("none".to_owned(), |time| ms(*time)))
    }

    /// Time from these keys, all at once, until this text is on the screen.
    fn burst(&mut self, keys: &str, text: &str) -> Duration {
        let pressed = self.started.elapsed();
        self.keys(keys);
        self.until(text).saturating_sub(pressed)
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
    if times.is_empty() {
        return "none".to_owned();
    }
    let at = |share: f64| ms(times[((times.len() - 1) as f64 * share) as usize]);
    format!("p50 {}, p95 {} of {}", at(0.5), at(0.95), times.len())
}

fn main() {
    // `cargo test --benches` requests the list of tests, which is empty.
    if std::env::args().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    print_table(&runtime);
    let generated = runtime.block_on(Generated::with(*FINDINGS));
    let home = tempfile::tempdir().unwrap();

    print_figure("baseline: echo of a key by `cat`", echo_latency(home.path()));
    let terminal = Terminal::start(&generated.base, home.path(), "Findings");
    print_figure("first start: first frame", ms(terminal.until("Findings")));
    print_figure("first start: 100,000 findings listed", ms(terminal.until(&listed())));
    terminal.wait_until_idle();
    print_figure("memory with 100,000 findings (resident)", terminal.memory_summary());
    let mut terminal = measure_keys(terminal);
    print_figure("idle with a live connection", terminal.idle(10));
    terminal.keys("\x1b");
    terminal.end();

    // The disk is still busy with the writes of the first run.
    std::thread::sleep(Duration::from_secs(5));
    let terminal = Terminal::start(&generated.base, home.path(), "Findings");
    print_figure("second start, from the cache: first frame", ms(terminal.until("Findings")));
    print_figure("second start, from the cache: 100,000 findings listed", ms(terminal.until(&listed())));
    terminal.wait_until_idle();
    measure_during_stream(terminal, &generated);

    let home = tempfile::tempdir().unwrap();
    generated.busy_logger.generate(in_one_response(), BIG);
    measure_large_response(Terminal::start(&generated.base, home.path(), &listed()));
    let archived = runtime.block_on(archived_captures(home.path()));
    print_figure("100 MB of captures: archived", format!("{archived} of {}", in_one_response()));
}

/// Captures of the large response.
fn in_one_response() -> i64 {
    *FINDINGS as i64 / 50 * 51
}

/// The position line of the list when it has all findings: `1 of 100 000`.
fn listed() -> String {
    format!(" of {}", *FINDINGS / 1_000)
}

/// The figures of large data, beside those of csvlens.
fn print_table(runtime: &tokio::runtime::Runtime) {
    let home = tempfile::tempdir().unwrap();
    let base = runtime.block_on(moving::Moving::serve(*FINDINGS));
    let (ours, csvlens) = (measure_large(&base, home.path()), measure_csvlens(home.path()));
    println!("| {} findings | scandeck | csvlens | goal |\n|---|---|---|---|", *FINDINGS);
    for (name, value, goal) in ours {
        let beside = csvlens.iter().find(|(figure, _)| *figure == name).map_or("", |(_, value)| value.as_str());
        println!("| {name} | {value} | {beside} | {goal} |");
    }
}

const FIRST: &str = "first paint";
const STEP: &str = "one row down, list zoomed";
const SCROLLED: &str = "a scrolled row, zoomed";
const HELD: &str = "key held at 200/s";
const PEAK: &str = "peak memory";

fn measure_large(base: &str, home: &Path) -> Vec<(&'static str, String, &'static str)> {
    let mut figures = Vec::new();
    let mut terminal = Terminal::start(base, home, "Findings");
    figures.push((FIRST, ms(terminal.until("Findings")), "<= 10 ms"));
    figures.push(("all listed", ms(terminal.until(&listed())), ""));
    terminal.wait_until_idle();
    terminal.keys("3");
    terminal.keys("gg");
    figures.push(("one row down, five panes", terminal.steps(30), "<= 0.6 x csvlens, <= 500 B"));
    terminal.keys("zgg");
    figures.push((STEP, terminal.steps(30), "<= 0.6 x csvlens, <= 250 B"));
    terminal.keys("j".repeat(100).as_str());
    terminal.wait_until_idle();
    figures.push((SCROLLED, terminal.steps(100), "<= 0.6 x csvlens, <= 600 B"));
    figures.push((HELD, terminal.held(), "<= 10 %, p50 <= 8 ms"));
    terminal.keys("z/\x15");
    terminal.wait_until_idle();
    figures.push(("filter, typed", quantiles(terminal.query_latencies()), "<= 2.5 ms"));
    terminal.keys("\x15");
    terminal.wait_until_idle();
    figures.push(("filter, burst", ms(terminal.burst(QUERY, QUERY)), "<= 2.5 ms"));
    terminal.keys("\x15\x1b");
    terminal.wait_until_idle();
    figures.push(("four scans move, no key", terminal.idle(20), "<= 1 %, <= 4 wake-ups/s"));
    figures.push((PEAK, terminal.memory_summary(), "<= 100 MB"));
    terminal.end();
    let terminal = Terminal::start(base, home, "Findings");
    figures.push(("first paint, from the cache", ms(terminal.until("Findings")), "<= 10 ms"));
    terminal.until(&listed());
    std::thread::sleep(Duration::from_secs(10));
    figures.push(("peak memory, from the cache", terminal.memory_summary(), "<= 100 MB"));
    terminal.end();
    figures
}

/// The same with csvlens, when it is installed.
fn measure_csvlens(home: &Path) -> Vec<(&'static str, String)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(program) = std::env::split_paths(&path).map(|folder| folder.join("csvlens")).find(|file| file.is_file())
    else {
        return Vec::new();
    };
    let file = home.join("findings.csv");
    moving::write_csv(*FINDINGS, &file);
    let mut command = CommandBuilder::new(program);
    command.arg(&file);
    command.env("TERM", "xterm-256color");
    command.cwd(home);
    let mut terminal = Terminal::run(command, "Weakness");
    let mut figures = vec![(FIRST, ms(terminal.until("Weakness")))];
    terminal.wait_until_idle();
    figures.push((STEP, terminal.steps(30)));
    figures.push((SCROLLED, terminal.steps(100)));
    figures.push((HELD, terminal.held()));
    figures.push((PEAK, terminal.memory_summary()));
    terminal.end();
    figures
}

async fn archived_captures(home: &Path) -> usize {
    let mut services = std::fs::read_dir(home.join("scandeck/of")).unwrap();
    let mut store = Store::open(&services.next().unwrap().unwrap().path()).await.unwrap().store;
    store.captures_of("Generated").await.unwrap().len()
}

/// Latencies while captures arrive.
fn measure_during_stream(mut terminal: Terminal, generated: &Generated) {
    generated.busy_logger.generate(*FINDINGS as i64, 0);
    terminal.until(&format!("n={}", *FINDINGS));
    terminal.wait_until_idle();
    print_figure("memory with 100,000 findings and 100,000 captures", terminal.memory_summary());
    print_figure("with 100,000 captures: cursor down", quantiles(terminal.cursor_latencies()));
    let (busy_logger, stopped) = (Arc::clone(&generated.busy_logger), Arc::new(AtomicBool::new(false)));
    let stop = Arc::clone(&stopped);
    let sender = std::thread::spawn(move || {
        let started_at = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
            busy_logger.generate(*FINDINGS as i64 + started_at.elapsed().as_millis() as i64 * PER_SECOND / 1000, 0);
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
    print_figure("100 MB of captures: 100,000 findings listed", ms(terminal.until(&listed())));
    let mut times = Vec::new();
    let newest = format!("n={}", in_one_response());
    while !terminal.shows(&newest) {
        times.extend(terminal.key_latency("j"));
    }
    print_figure("100 MB of captures: archived and shown", ms(terminal.until(&newest)));
    // The pane reports that older captures are not loaded; fewer ones fit.
    if *FINDINGS >= 100_000 {
        terminal.until("not loaded");
    }
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
