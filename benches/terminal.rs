//! Latency and memory end to end: the binary in a pseudo-terminal at 200×60.
//!
//! First a service with 100,000 distinct findings of 1.3 kB, of which four scans move, as a table
//! beside csvlens when that is installed (`cargo install csvlens`), and the latency of keys while
//! its answers are broken. Then 100,000 findings in 34 classes with 100,000 captures and 1,000 more
//! a second, and 100 MB of captures in one response. Prints figures; with `SCANDECK_BUDGETS=1`, as
//! in `.ci/full`, it fails when a figure of the table exceeds its budget.
//!
//! `cargo bench --bench terminal` (seven minutes); `SCANDECK_BENCH_FINDINGS=2000` for fewer
//! findings and captures. `cargo bench --bench terminal -- million` measures 1,000,000 findings of
//! 20,000 scans, and 1,000,000 captures, instead.

#![allow(clippy::unwrap_used, dead_code)]

#[path = "terminal/budgets.rs"]
mod budgets;
#[path = "../tests/triage/busy_logger.rs"]
mod busy_logger;
#[path = "terminal/faults.rs"]
mod faults;
#[path = "../tests/triage/generated.rs"]
mod generated;
#[path = "terminal/million.rs"]
mod million;
#[path = "terminal/moving.rs"]
mod moving;
#[path = "terminal/pty.rs"]
mod pty;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use budgets::Budgets;
use faults::{Fault, FaultSwitch};
use generated::Generated;
use portable_pty::CommandBuilder;
use pty::{QUERY, Terminal, ms, print_figure, quantiles};
use scandeck::oob::Store;

/// Findings, and captures before the stream begins.
static FINDINGS: LazyLock<usize> = LazyLock::new(|| {
    std::env::var("SCANDECK_BENCH_FINDINGS").map_or(100_000, |number| {
        number.parse::<usize>().unwrap().max(1_000)
    })
});
/// Captures per second of the stream.
const PER_SECOND: i64 = 1_000;
/// One in so many captures of the large response has a body: 100 MB, of which the dashboard loads
/// the newest.
const BIG: i64 = 68;

fn main() {
    // `cargo test --benches` requests the list of tests, which is empty.
    if std::env::args().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if std::env::args().any(|argument| argument == "million") {
        return measure_million(&runtime);
    }
    let budgets = print_table(&runtime);
    let generated = runtime.block_on(Generated::with(*FINDINGS));
    let home = tempfile::tempdir().unwrap();

    print_figure(
        "baseline: echo of a key by `cat`",
        echo_latency(home.path()),
    );
    let terminal = Terminal::start(&generated.base, home.path(), "Findings");
    print_figure("first start: first frame", ms(terminal.until("Findings")));
    print_figure(
        "first start: 100,000 findings listed",
        ms(terminal.until(&listed())),
    );
    terminal.wait_until_idle();
    print_figure(
        "memory with 100,000 findings (resident)",
        terminal.memory_summary(),
    );
    let mut terminal = measure_keys(terminal);
    print_figure("idle with a live connection", terminal.idle(10));
    terminal.keys("\x1b");
    terminal.end();

    // The disk is still busy with the writes of the first run.
    std::thread::sleep(Duration::from_secs(5));
    let terminal = Terminal::start(&generated.base, home.path(), "Findings");
    print_figure(
        "second start, from the cache: first frame",
        ms(terminal.until("Findings")),
    );
    print_figure(
        "second start, from the cache: 100,000 findings listed",
        ms(terminal.until(&listed())),
    );
    terminal.wait_until_idle();
    measure_during_stream(terminal, &generated);

    let home = tempfile::tempdir().unwrap();
    generated.busy_logger.generate(in_one_response(), BIG);
    measure_large_response(Terminal::start(&generated.base, home.path(), &listed()));
    let archived = runtime.block_on(archived_captures(home.path()));
    print_figure(
        "100 MB of captures: archived",
        format!("{archived} of {}", in_one_response()),
    );
    budgets.enforce();
}

/// Captures of the large response.
fn in_one_response() -> i64 {
    *FINDINGS as i64 / 50 * 51
}

/// The position line of the list when it has all findings: `1 of 100,000`.
fn listed() -> String {
    format!(" of {}", *FINDINGS / 1_000)
}

/// The figures of large data, beside those of csvlens.
fn print_table(runtime: &tokio::runtime::Runtime) -> Budgets {
    let home = tempfile::tempdir().unwrap();
    let (faults, mut budgets) = (FaultSwitch::default(), Budgets::default());
    let base = runtime.block_on(moving::Moving::serve(*FINDINGS, faults.clone()));
    let mut ours = measure_large(&base, home.path(), &mut budgets);
    let csvlens = measure_csvlens(home.path());
    ours.extend(measure_faults(&base, home.path(), &faults, &mut budgets));
    println!(
        "| {} findings | scandeck | csvlens | goal |\n|---|---|---|---|",
        *FINDINGS
    );
    for (name, value, goal) in ours {
        let beside = csvlens
            .iter()
            .find(|(figure, _)| *figure == name)
            .map_or("", |(_, value)| value.as_str());
        println!("| {name} | {value} | {beside} | {goal} |");
    }
    budgets
}

const FIRST: &str = "first paint";
const STEP: &str = "one row down, list zoomed";
const SCROLLED: &str = "a scrolled row, zoomed";
const HELD: &str = "key held at 200/s";
const PEAK: &str = "peak memory";
/// Samples of a figure that occurs once per start or query.
const SAMPLES: usize = 9;

fn measure_large(
    base: &str,
    home: &Path,
    budgets: &mut Budgets,
) -> Vec<(&'static str, String, &'static str)> {
    let mut figures = Vec::new();
    let mut terminal = Terminal::start(base, home, "Findings");
    let first = terminal.until("Findings");
    figures.push(("all listed", ms(terminal.until(&listed())), ""));
    terminal.wait_until_idle();
    terminal.keys("3");
    terminal.keys("gg");
    figures.push(("one row down, five panes", terminal.steps(30), "<= csvlens"));
    terminal.keys("zgg");
    figures.push((STEP, terminal.steps(30), "<= csvlens"));
    terminal.keys("j".repeat(100).as_str());
    terminal.wait_until_idle();
    figures.push((SCROLLED, terminal.steps(100), "<= csvlens"));
    figures.push((HELD, terminal.held(), "p99 <= 16 ms"));
    terminal.keys("z/\x15");
    terminal.wait_until_idle();
    figures.push((
        "filter, typed",
        quantiles(terminal.query_latencies()),
        "<= fzf",
    ));
    terminal.keys("\x15");
    terminal.wait_until_idle();
    let burst = || {
        let time = terminal.burst(QUERY, QUERY);
        terminal.keys("\x15");
        terminal.wait_until_idle();
        time
    };
    figures.push((
        "filter, burst",
        quantiles(std::iter::repeat_with(burst).take(SAMPLES).collect()),
        "<= fzf",
    ));
    terminal.keys("\x1b");
    terminal.wait_until_idle();
    // The findings of running scans are read every 50 seconds.
    let idle = terminal.idle(60);
    budgets.add(&budgets::WAKE_UPS, idle.wake_ups);
    figures.push(("four scans move, no key", idle.to_string(), "<= 1.5 %"));
    budgets.add(&budgets::PEAK, terminal.peak_memory());
    figures.push((PEAK, terminal.memory_summary(), "<= 160 MB"));
    terminal.end();
    let starts = (0..SAMPLES).map(|_| first_paint(base, tempfile::tempdir().unwrap().path()));
    figures.push((
        FIRST,
        format!("{}, first start {}", quantiles(starts.collect()), ms(first)),
        "<= 20 ms",
    ));
    let starts = (0..SAMPLES).map(|_| first_paint(base, home));
    figures.push((
        "first paint, from the cache",
        quantiles(starts.collect()),
        "<= 20 ms",
    ));
    let terminal = Terminal::start(base, home, "Findings");
    terminal.until(&listed());
    std::thread::sleep(Duration::from_secs(10));
    budgets.add(&budgets::PEAK_FROM_CACHE, terminal.peak_memory());
    figures.push((
        "peak memory, from the cache",
        terminal.memory_summary(),
        "<= 160 MB",
    ));
    terminal.end();
    figures
}

/// Time to the first frame of a dashboard that is ended then.
fn first_paint(base: &str, home: &Path) -> Duration {
    let terminal = Terminal::start(base, home, "Findings");
    let time = terminal.until("Findings");
    terminal.end();
    time
}

/// Latencies of keys while the findings are requested again and again, and the answers are broken.
fn measure_faults(
    base: &str,
    home: &Path,
    faults: &FaultSwitch,
    budgets: &mut Budgets,
) -> Vec<(&'static str, String, &'static str)> {
    let mut figures = Vec::new();
    let mut terminal = Terminal::start(base, home, "Findings");
    terminal.until(&listed());
    terminal.wait_until_idle();
    terminal.keys("3gg");
    for fault in Fault::ALL {
        faults.set(Some(fault));
        let mut times = Vec::new();
        for _ in 0..2 {
            terminal.keys("r");
            // A key without a response within the patience of `key_latency` counts as the longest.
            times.extend((0..100).map(|_| terminal.key_latency("j").unwrap_or(pty::SLOWEST)));
        }
        faults.set(None);
        budgets.add(
            &budgets::KEY_BESIDE_FAULTS,
            pty::quantile(&times, 0.99).as_secs_f64() * 1000.0,
        );
        figures.push((fault.name(), pty::tail(&times), "p99 <= 16 ms"));
        terminal.keys("r");
        terminal.wait_until_idle();
    }
    figures.push(("peak memory beside them", terminal.memory_summary(), ""));
    terminal.end();
    figures
}

/// Latencies and memory with 1,000,000 findings and captures.
fn measure_million(runtime: &tokio::runtime::Runtime) {
    const COUNT: usize = 1_000_000;
    let home = tempfile::tempdir().unwrap();
    let base = runtime.block_on(million::Million::serve(COUNT));
    // The first start creates the archive.
    Terminal::start(&base, home.path(), "Findings").end();
    runtime.block_on(million::archive_captures(home.path(), COUNT as i64));
    let mut terminal = Terminal::start(&base, home.path(), "Findings");
    print_figure(
        "1,000,000 findings: first paint",
        ms(terminal.until("Findings")),
    );
    print_figure("first findings listed", ms(terminal.until("not loaded")));
    terminal.keys("3gg");
    let unread = std::hint::black_box(vec![1; 16 << 20]);
    let (mut times, mut before, mut same) = (Vec::new(), None, 0);
    // Loading has ended when the number of missing findings has not changed for 20 seconds.
    while same < 5 {
        // A key without a response within the patience of `key_latency` counts as the longest.
        times.extend((0..100).map(|_| terminal.key_latency("j").unwrap_or(pty::SLOWEST)));
        let missing = terminal.line_with("not loaded");
        same = if missing == before { same + 1 } else { 0 };
        before = missing;
    }
    print_figure("keys while findings are read", pty::tail(&times));
    let (cold, warm) = (read_pages(&unread), read_pages(&unread));
    print_figure(
        "baseline: 16 MB that were unread meanwhile",
        format!("{}, again {}", ms(cold), ms(warm)),
    );
    print_figure("all read that fit", ms(terminal.started.elapsed()));
    print_figure("the pane", before.unwrap_or_default());
    terminal.wait_until_idle();
    print_figure("memory", terminal.memory_summary());
    let keys = |terminal: &mut Terminal, name: &str, keys: &[&str]| {
        let times: Vec<Duration> = keys
            .iter()
            .filter_map(|key| terminal.key_latency(key))
            .collect();
        print_figure(name, pty::tail(&times));
        terminal.wait_until_idle();
    };
    keys(&mut terminal, "cursor down", &["j"; 200]);
    terminal.keys("/\x15");
    terminal.wait_until_idle();
    let letters: Vec<String> = QUERY.chars().map(String::from).collect();
    keys(
        &mut terminal,
        "filter, typed",
        &letters.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    terminal.keys("\x15\x1b");
    terminal.wait_until_idle();
    keys(
        &mut terminal,
        "groups: class, target, port, none",
        &["b", "c", "b", "t", "b", "p", "b", "b"],
    );
    keys(
        &mut terminal,
        "decisions",
        &["f", "c", "f", "a", "x", "i", "u", "u", "u", "u"],
    );
    keys(&mut terminal, "orders", &["o", "o", "o", "o", "o"]);
    terminal.keys("/\x15scan:1\r");
    let requested_at = Instant::now();
    terminal.until(&format!("1 of {} ", COUNT / million::TARGETS / 2));
    print_figure("scan:1 loaded", ms(requested_at.elapsed()));
    terminal.keys("/\x15\r");
    terminal.wait_until_idle();
    terminal.keys("5");
    terminal.wait_until_idle();
    print_figure(
        "the captures",
        terminal.line_with("older").unwrap_or_default(),
    );
    keys(&mut terminal, "captures: cursor up", &["k"; 100]);
    terminal.keys("/\x15");
    keys(
        &mut terminal,
        "captures: filter, typed",
        &["n", "=", "9", "9", "9"],
    );
    terminal.keys("\x15\x1b");
    terminal.wait_until_idle();
    keys(
        &mut terminal,
        "captures: groups by source, none",
        &["b", "s", "b", "b"],
    );
    print_figure("peak memory", terminal.memory_summary());
    terminal.end();
}

/// Time to read a byte of each page. Virtual machines may take memory away that was not read for a
/// while; its first use is then slow in every program, without a page fault that the program could
/// count.
fn read_pages(memory: &[u8]) -> Duration {
    let begun = Instant::now();
    std::hint::black_box(
        memory
            .iter()
            .step_by(4096)
            .map(|&byte| u64::from(byte))
            .sum::<u64>(),
    );
    begun.elapsed()
}

/// The same with csvlens, when it is installed.
fn measure_csvlens(home: &Path) -> Vec<(&'static str, String)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(program) = std::env::split_paths(&path)
        .map(|folder| folder.join("csvlens"))
        .find(|file| file.is_file())
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
    let mut store = Store::open(&services.next().unwrap().unwrap().path())
        .await
        .unwrap()
        .store;
    store.captures_of("Generated").await.unwrap().len()
}

/// Latencies while captures arrive.
fn measure_during_stream(mut terminal: Terminal, generated: &Generated) {
    generated.busy_logger.generate(*FINDINGS as i64, 0);
    terminal.until(&format!("n={}", *FINDINGS));
    terminal.wait_until_idle();
    print_figure(
        "memory with 100,000 findings and 100,000 captures",
        terminal.memory_summary(),
    );
    print_figure(
        "with 100,000 captures: cursor down",
        quantiles(terminal.cursor_latencies()),
    );
    let (busy_logger, stopped) = (
        Arc::clone(&generated.busy_logger),
        Arc::new(AtomicBool::new(false)),
    );
    let stop = Arc::clone(&stopped);
    let sender = std::thread::spawn(move || {
        let started_at = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
            busy_logger.generate(
                *FINDINGS as i64 + started_at.elapsed().as_millis() as i64 * PER_SECOND / 1000,
                0,
            );
        }
    });
    let (started_at, cpu) = (Instant::now(), terminal.cpu());
    print_figure(
        "at 1,000 captures a second: cursor down",
        quantiles(terminal.cursor_latencies()),
    );
    terminal.keys("/\x15");
    std::thread::sleep(Duration::from_secs(1));
    print_figure(
        "at 1,000 captures a second: typed query",
        quantiles(terminal.query_latencies()),
    );
    terminal.keys("\x1b");
    let share = (terminal.cpu() - cpu).as_secs_f64() / started_at.elapsed().as_secs_f64() * 100.0;
    print_figure(
        "at 1,000 captures a second: processor",
        format!("{share:.0} %"),
    );
    stopped.store(true, Ordering::Relaxed);
    sender.join().unwrap();
    terminal.wait_until_idle();
    print_figure("memory after the stream", terminal.memory_summary());
    terminal.end();
}

/// Latencies while 100 MB of captures are read, and the duration of the reading.
fn measure_large_response(mut terminal: Terminal) {
    print_figure(
        "100 MB of captures: 100,000 findings listed",
        ms(terminal.until(&listed())),
    );
    let mut times = Vec::new();
    let newest = format!("n={}", in_one_response());
    while !terminal.shows(&newest) {
        times.extend(terminal.key_latency("j"));
    }
    print_figure(
        "100 MB of captures: archived and shown",
        ms(terminal.until(&newest)),
    );
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
    print_figure(
        "key to changed screen: cursor down",
        quantiles(terminal.cursor_latencies()),
    );
    let (before, started_at) = (terminal.bytes(), Instant::now());
    let cpu = terminal.cpu();
    for _ in 0..400 {
        terminal.keys("j");
        std::thread::sleep(Duration::from_millis(5));
    }
    let duration = started_at.elapsed();
    let share = (terminal.cpu() - cpu).as_secs_f64() / duration.as_secs_f64() * 100.0;
    let each = (terminal.bytes() - before) / 400;
    print_figure(
        "key held for two seconds at 200/s",
        format!("{share:.0} % of a processor, {each} bytes per step"),
    );
    terminal.wait_until_idle();
    terminal.keys("/\x15");
    terminal.wait_until_idle();
    print_figure(
        "key to changed screen: typed query",
        quantiles(terminal.query_latencies()),
    );
    terminal.keys("\x1b");
    terminal.wait_until_idle();
    terminal
}
