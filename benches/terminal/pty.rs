//! A program in a pseudo-terminal of 200×60: keys, the time until they are on the screen, and what
//! the process costs.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};

/// Longest wait for the output of a key.
pub const SLOWEST: Duration = Duration::from_millis(500);
/// The query that is typed.
pub const QUERY: &str = "risk>=high target:host1* cwe:105";
const PATIENCE: Duration = Duration::from_secs(600);
/// The question for the background colour (OSC 11), and the answer.
const BACKGROUND: (&[u8], &[u8]) = (b"\x1b]11;?", b"\x1b]11;rgb:0000/0000/0000\x1b\\");

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
        let (Some((text, appeared @ None)), Some(screen)) = (&mut self.expected, &self.screen)
        else {
            return;
        };
        if screen.screen().contents().contains(text.as_str()) {
            *appeared = at;
        }
    }
}

pub struct Terminal {
    output: Arc<(Mutex<TerminalOutput>, Condvar)>,
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    pub child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn portable_pty::MasterPty + Send>,
    pub started: Instant,
}

impl Terminal {
    /// Starts the dashboard; `text` is expected first.
    pub fn start(base: &str, home: &Path, text: &str) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_scandeck"));
        for name in [
            "TMUX",
            "NO_COLOR",
            "SCANDECK_PROFILE",
            "XDG_CACHE_HOME",
            "XDG_DATA_HOME",
        ] {
            command.env_remove(name);
        }
        for (name, value) in [
            ("SCANDECK_BASE_URL", base),
            ("SCANDECK_API_KEY", "k"),
            ("TERM", "xterm-256color"),
        ] {
            command.env(name, value);
        }
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            command.env(name, home);
        }
        command.cwd(home);
        Self::run(command, text)
    }

    pub fn run(command: CommandBuilder, text: &str) -> Self {
        let pty = native_pty_system()
            .openpty(PtySize {
                rows: 60,
                cols: 200,
                ..PtySize::default()
            })
            .unwrap();
        // The time starts after the fork, which is slow because this process holds all findings.
        let child = pty.slave.spawn_command(command).unwrap();
        let started = Instant::now();
        drop(pty.slave);
        let size = |cells| std::num::NonZeroU16::new(cells).unwrap();
        let screen = Some(vt100::Parser::new(size(60), size(200), 0));
        let output = TerminalOutput {
            screen,
            expected: Some((text.to_owned(), None)),
            ..TerminalOutput::default()
        };
        let output = Arc::new((Mutex::new(output), Condvar::new()));
        let (mut reader, shared) = (pty.master.try_clone_reader().unwrap(), Arc::clone(&output));
        let writer = Arc::new(Mutex::new(pty.master.take_writer().unwrap()));
        let answers = Arc::clone(&writer);
        std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                let at = Instant::now();
                if bytes[..read]
                    .windows(BACKGROUND.0.len())
                    .any(|window| window == BACKGROUND.0)
                {
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
        Self {
            output,
            writer,
            child,
            _master: pty.master,
            started,
        }
    }

    pub fn keys(&mut self, keys: &str) {
        self.writer
            .lock()
            .unwrap()
            .write_all(keys.as_bytes())
            .unwrap();
    }

    /// Time from the start to the read that brought this text to the screen.
    pub fn until(&self, text: &str) -> Duration {
        let mut output = self.output.0.lock().unwrap();
        if output
            .expected
            .as_ref()
            .is_none_or(|(expected, _)| expected != text)
        {
            output.expected = Some((text.to_owned(), None));
            let last = output.last;
            output.check_expected(last);
        }
        let missing = |output: &mut TerminalOutput| {
            output
                .expected
                .as_ref()
                .is_some_and(|(_, appeared)| appeared.is_none())
        };
        let (output, timeout) = self
            .output
            .1
            .wait_timeout_while(output, PATIENCE, missing)
            .unwrap();
        assert!(
            !timeout.timed_out(),
            "not on the screen: {text}\n{}",
            output.screen.as_ref().unwrap().screen().contents()
        );
        let appeared = output.expected.as_ref().and_then(|(_, appeared)| *appeared);
        appeared
            .unwrap_or(self.started)
            .duration_since(self.started)
    }

    /// Time from a key to the next output, if there is any within [`SLOWEST`].
    ///
    /// Keys are 40 ms apart, which is faster than typing. Without the pause, two keys could fall
    /// into one frame, and the wait for the next frame would be measured.
    pub fn key_latency(&mut self, key: &str) -> Option<Duration> {
        std::thread::sleep(Duration::from_millis(40));
        let before = self.output.0.lock().unwrap().bytes;
        let pressed = Instant::now();
        self.keys(key);
        let waiting = |output: &mut TerminalOutput| output.bytes == before;
        let guard = self.output.0.lock().unwrap();
        let (output, timeout) = self
            .output
            .1
            .wait_timeout_while(guard, SLOWEST, waiting)
            .unwrap();
        (!timeout.timed_out()).then(|| output.last.unwrap().saturating_duration_since(pressed))
    }

    pub fn cursor_latencies(&mut self) -> Vec<Duration> {
        (0..200).filter_map(|_| self.key_latency("j")).collect()
    }

    pub fn query_latencies(&mut self) -> Vec<Duration> {
        QUERY
            .chars()
            .filter_map(|letter| self.key_latency(&letter.to_string()))
            .collect()
    }

    pub fn shows(&self, text: &str) -> bool {
        self.output
            .0
            .lock()
            .unwrap()
            .screen
            .as_ref()
            .unwrap()
            .screen()
            .contents()
            .contains(text)
    }

    /// Waits until there was no output for 700 ms, or for 14 s: csvlens writes something every 250
    /// ms.
    pub fn wait_until_idle(&self) {
        for _ in 0..20 {
            let before = self.output.0.lock().unwrap().bytes;
            std::thread::sleep(Duration::from_millis(700));
            if self.output.0.lock().unwrap().bytes == before {
                return;
            }
        }
    }

    pub fn bytes(&self) -> u64 {
        self.output.0.lock().unwrap().bytes
    }

    /// A line of `/proc/PID/status` in kB.
    pub fn memory(&self, name: &str) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.child.process_id().unwrap()))
                .unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    pub fn memory_summary(&self) -> String {
        format!(
            "{} MB, peak {} MB",
            self.memory("VmRSS") / 1024,
            self.memory("VmHWM") / 1024
        )
    }

    /// Processor time so far.
    pub fn cpu(&self) -> Duration {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", self.child.process_id().unwrap()))
                .unwrap();
        let fields: Vec<u64> = stat
            .rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .filter_map(|field| field.parse().ok())
            .collect();
        // utime and stime are the 11th and 12th numbers after name and state, in hundredths of a
        // second.
        Duration::from_millis((fields[10] + fields[11]) * 10)
    }

    /// Voluntary context switches of each thread.
    pub fn wakeups(&self) -> BTreeMap<std::ffi::OsString, u64> {
        let tasks = format!("/proc/{}/task", self.child.process_id().unwrap());
        let of = |task: std::fs::DirEntry| {
            let status = std::fs::read_to_string(task.path().join("status")).ok()?;
            let line = status
                .lines()
                .find(|line| line.starts_with("voluntary_ctxt_switches"))?
                .to_owned();
            Some((
                task.file_name(),
                line.split_whitespace().nth(1)?.parse::<u64>().ok()?,
            ))
        };
        std::fs::read_dir(tasks)
            .unwrap()
            .flatten()
            .filter_map(of)
            .collect()
    }

    /// The line of the screen with this text.
    pub fn line_with(&self, text: &str) -> Option<String> {
        let output = self.output.0.lock().unwrap();
        let contents = output.screen.as_ref().unwrap().screen().contents();
        contents
            .lines()
            .find(|line| line.contains(text))
            .map(|line| line.trim().to_owned())
    }

    /// The peak so far in MB.
    pub fn peak_memory(&self) -> f64 {
        self.memory("VmHWM") as f64 / 1024.0
    }

    /// The cost of an idle screen during these seconds.
    pub fn idle(&self, seconds: u64) -> IdleCost {
        let (before, bytes, cpu, started_at) =
            (self.wakeups(), self.bytes(), self.cpu(), Instant::now());
        std::thread::sleep(Duration::from_secs(seconds));
        let (after, elapsed) = (self.wakeups(), started_at.elapsed().as_secs_f64());
        // A thread that ended has no number any more.
        let since = |(thread, number): (&std::ffi::OsString, &u64)| {
            number - before.get(thread).unwrap_or(&0).min(number)
        };
        let wakeups: u64 = after.iter().map(since).sum();
        IdleCost {
            processor: (self.cpu() - cpu).as_secs_f64() / elapsed * 100.0,
            wake_ups: wakeups as f64 / elapsed,
            bytes: (self.bytes() - bytes) as f64 / elapsed,
        }
    }

    /// Latency and bytes of steps down. The bytes are those before the detail follows.
    pub fn steps(&mut self, count: usize) -> String {
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
            times
                .get(times.len() / 2)
                .map_or("none".to_owned(), |time| ms(*time)),
            bytes[bytes.len() / 2]
        )
    }

    /// Processor and latency of a key that is held for two seconds at 200 a second.
    pub fn held(&mut self) -> String {
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
        let shown = |key: Instant| {
            output
                .times
                .get(output.times.partition_point(|&at| at < key))
                .map(|&at| at - key)
        };
        let mut times: Vec<Duration> = pressed.into_iter().filter_map(shown).collect();
        times.sort();
        format!(
            "{share:.0} %, p50 {}",
            times
                .get(times.len() / 2)
                .map_or("none".to_owned(), |time| ms(*time))
        )
    }

    /// Time from these keys, all at once, until this text is on the screen.
    pub fn burst(&mut self, keys: &str, text: &str) -> Duration {
        // Not the time of an earlier burst.
        self.output.0.lock().unwrap().expected = Some((text.to_owned(), None));
        let pressed = self.started.elapsed();
        self.keys(keys);
        let shown = self.until(text);
        assert!(shown > pressed, "shown before the keys: {text}");
        shown - pressed
    }

    pub fn end(mut self) {
        self.keys("q");
        let started_at = Instant::now();
        while self.child.try_wait().unwrap().is_none()
            && started_at.elapsed() < Duration::from_secs(10)
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
    }
}

/// What an idle screen costs: per cent of a processor, and numbers per second.
pub struct IdleCost {
    pub processor: f64,
    pub wake_ups: f64,
    pub bytes: f64,
}

impl std::fmt::Display for IdleCost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:.1} %, {:.1} wake-ups/s, {:.0} B/s",
            self.processor, self.wake_ups, self.bytes
        )
    }
}

/// The time that this share of all times does not exceed.
pub fn quantile(times: &[Duration], share: f64) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    times
        .get((times.len().saturating_sub(1) as f64 * share).round() as usize)
        .copied()
        .unwrap_or_default()
}

/// Median, 99th percentile and maximum.
pub fn tail(times: &[Duration]) -> String {
    let [p50, p99, most] = [0.5, 0.99, 1.0].map(|share| ms(quantile(times, share)));
    format!("p50 {p50}, p99 {p99}, max {most} of {}", times.len())
}

pub fn print_figure(name: &str, value: impl std::fmt::Display) {
    println!("{name:<64} {value}");
}

pub fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// Median and 95th percentile.
pub fn quantiles(mut times: Vec<Duration>) -> String {
    times.sort();
    if times.is_empty() {
        return "none".to_owned();
    }
    let at = |share: f64| ms(times[((times.len() - 1) as f64 * share) as usize]);
    format!("p50 {}, p95 {} of {}", at(0.5), at(0.95), times.len())
}
