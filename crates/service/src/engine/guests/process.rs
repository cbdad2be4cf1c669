//! Runs a guest: fixed arguments, no shell, its own process group, limits of memory, time and
//! output.
//!
//! ```text
//!   run ──► spawn ──► report (stdout, or a pipe in place of stdin) ──lines──► channel of the caller
//!    │        └─────► messages (stdout beside a pipe) ──lines──► another channel
//!    ├─ a limit, or its exit ──────────────► SIGKILL to the group, and to processes that left it
//!    └─ dropped (stop, time limit, shutdown) ──► SIGTERM to the group, SIGKILL as above 1 s later
//! ```
//!
//! A guest that writes files has a directory of its own, which is deleted after its end.
//!
//! After a `kill -9` of the service, the guest ends at its next write, because nobody reads its
//! pipe.

use std::path::Path;
use std::pin::pin;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::run_mark::RunMark;
use scandeck_wire::text::command_line;

/// Address space of a guest that writes no files.
const MAX_MEMORY: u64 = 4 << 30;
/// Bytes of its error output that are kept.
const MAX_ERRORS: usize = 8 * 1024;
/// Time to exit after the end of its output.
const EXIT_TIME: Duration = Duration::from_secs(5);
/// Time to the end of its output after its exit. Then it left a process behind that has the output
/// open.
const HELD_TIME: Duration = Duration::from_secs(2);
/// How often a look shows whether it has exited.
const LOOK_TIME: Duration = Duration::from_millis(100);
/// Time to end after SIGTERM; clients see a stopped scan within 2 s.
const TERM_TIME: Duration = Duration::from_secs(1);

/// Limits of one run.
#[derive(Clone, Copy, Debug)]
pub struct GuestLimits {
    pub time: Duration,
    /// Maximum bytes of the report, and of the messages; the first byte beyond this limit ends the
    /// run.
    pub output: usize,
    /// Address space in bytes.
    pub memory: u64,
    /// Bytes of the largest file that the guest may write.
    pub file: u64,
}

impl GuestLimits {
    /// The limits of a guest that writes no files.
    pub const fn without_files(time: Duration, output: usize) -> Self {
        Self {
            time,
            output,
            memory: MAX_MEMORY,
            file: 0,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuestOutput {
    /// The report.
    pub text: String,
    /// The first lines of its error output.
    pub errors: String,
    pub end: GuestEnd,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GuestEnd {
    #[default]
    Success,
    /// With another exit status, or by a signal.
    Failure,
    TimeLimit,
    OutputLimit,
}

impl GuestEnd {
    /// Why the results are incomplete.
    pub fn problem(self) -> Option<&'static str> {
        match self {
            GuestEnd::Success => None,
            GuestEnd::Failure => Some("ended with an error"),
            GuestEnd::TimeLimit => Some("was killed at its time limit"),
            GuestEnd::OutputLimit => Some("was killed at its output limit"),
        }
    }
}

/// Kills the process group, and the processes that left it, when dropped.
#[derive(Default)]
struct GroupGuard {
    leader: Option<Pid>,
    mark: RunMark,
}

impl GroupGuard {
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.leader {
            // Fails when the group has ended by itself.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Kills the group, then the processes that left it, which are looked for on a blocking thread.
    /// Returns whether the look has ended.
    async fn kill(&self) -> bool {
        if self.leader.is_none() {
            return true;
        }
        self.signal(Signal::KILL);
        let mark = self.mark.clone();
        spawn_blocking(move || mark.kill()).await.is_ok()
    }

    /// Kills as a drop does, without its work on a thread of the runtime.
    async fn end(&mut self) {
        if self.kill().await {
            self.leader = None;
        }
    }

    /// Returns this time after the exit of the guest, which is not reaped, so that its group keeps
    /// its id.
    async fn outlived(&self, time: Duration) {
        let Some(leader) = self.leader else {
            return std::future::pending().await;
        };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(leader), options), Ok(None)) {
            sleep(LOOK_TIME).await;
        }
        sleep(time).await;
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        // Only a run whose end was interrupted, such as by the end of the runtime, has a leader.
        if self.leader.is_some() {
            self.signal(Signal::KILL);
            self.mark.kill();
        }
    }
}

/// A started guest. Dropped before its end, it may end by itself for a moment: a guest that is
/// killed leaves its temporary files behind.
struct RunningGuest {
    // Before `child`, so that the group is killed before the child is reaped.
    group: GroupGuard,
    child: Option<Child>,
    directory: Option<Arc<TempDir>>,
}

impl RunningGuest {
    /// Kills what the guest left behind, and reaps it.
    async fn finish(mut self) {
        self.group.end().await;
        if let Some(mut child) = self.child.take() {
            let _ = child.wait().await;
        }
    }
}

impl Drop for RunningGuest {
    fn drop(&mut self) {
        let (Some(child), Ok(runtime)) = (self.child.take(), Handle::try_current()) else {
            return;
        };
        self.group.signal(Signal::TERM);
        let mut ending = Self {
            group: std::mem::take(&mut self.group),
            // The task is the end: it must not start another one.
            child: None,
            directory: self.directory.take(),
        };
        runtime.spawn(async move {
            // The child is not reaped before, so that its group keeps its id.
            sleep(TERM_TIME).await;
            ending.group.end().await;
            drop(ending);
            drop(child);
        });
    }
}

/// The command in the raw log, with shell quoting.
pub fn shown_command(program: &Path, arguments: &[String]) -> String {
    let program = program.to_string_lossy();
    command_line(
        [&*program]
            .into_iter()
            .chain(arguments.iter().map(String::as_str)),
    )
}

/// Runs a program, and sends each line of its report to `lines`.
///
/// Without `messages`, the report is standard output. With `messages`, standard output is the
/// messages, and the program writes the report to `/dev/stdin`: no file remains, and messages do
/// not mix with the report.
///
/// # Errors
/// When the program cannot be started.
pub async fn run(
    program: &Path,
    args: &[String],
    limits: GuestLimits,
    lines: mpsc::Sender<String>,
    messages: Option<mpsc::Sender<String>>,
) -> Result<GuestOutput, String> {
    let command = command(program, args);
    let channels = GuestChannels { lines, messages };
    run_command(command, program, limits, channels, None).await
}

/// Runs a program whose home and current directory is `directory`, and sends each line of its
/// standard output to `lines`. The directory exists at least as long as the program runs.
///
/// # Errors
/// When the program cannot be started.
pub async fn run_in(
    directory: &Arc<TempDir>,
    program: &Path,
    args: &[String],
    limits: GuestLimits,
    lines: mpsc::Sender<String>,
) -> Result<GuestOutput, String> {
    let mut command = command(program, args);
    command.current_dir(directory.path());
    for name in ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
        command.env(name, directory.path());
    }
    let channels = GuestChannels {
        lines,
        messages: None,
    };
    run_command(
        command,
        program,
        limits,
        channels,
        Some(Arc::clone(directory)),
    )
    .await
}

/// Who receives the lines of a guest.
struct GuestChannels {
    lines: mpsc::Sender<String>,
    messages: Option<mpsc::Sender<String>>,
}

async fn run_command(
    mut command: Command,
    program: &Path,
    limits: GuestLimits,
    channels: GuestChannels,
    directory: Option<Arc<TempDir>>,
) -> Result<GuestOutput, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    let GuestChannels { lines, messages } = channels;
    let pipe = messages
        .is_some()
        .then(|| report_pipe(&mut command))
        .transpose()
        .map_err(failed)?;
    let mark = RunMark::random();
    mark.add_to(&mut command);
    let mut child = command.spawn().map_err(failed)?;
    // Closes our write end of the pipe, so that the report ends when the guest ends.
    drop(command);
    let leader = id_of(&child);
    limit_resources(leader, limits);
    let streams = GuestStreams {
        report: pipe,
        stdout: child.stdout.take(),
        stderr: child.stderr.take(),
        most: limits.output,
    };
    let mut guest = RunningGuest {
        group: GroupGuard { leader, mark },
        child: Some(child),
        directory,
    };
    let mut bytes = Vec::new();
    let mut output = GuestOutput::default();
    let reading = read_to_end(streams.read(&mut bytes, lines, messages), &guest.group);
    let (is_complete, errors) = match timeout(limits.time, reading).await {
        Ok(read) => read,
        Err(_) => {
            output.end = GuestEnd::TimeLimit;
            (true, String::new())
        }
    };
    output.errors = errors;
    output.text = String::from_utf8_lossy(&bytes).into_owned();
    match (output.end, is_complete) {
        (GuestEnd::Success, true) => output.end = exit(guest.child.as_mut()).await,
        (GuestEnd::Success, false) => output.end = GuestEnd::OutputLimit,
        _ => {}
    }
    guest.finish().await;
    Ok(output)
}

/// Reads to the end of the output. Processes that the guest left behind are killed: they would keep
/// it open.
async fn read_to_end<T>(reading: impl Future<Output = T>, group: &GroupGuard) -> T {
    let mut reading = pin!(reading);
    tokio::select! {
        read = reading.as_mut() => return read,
        () = group.outlived(HELD_TIME) => {
            group.kill().await;
        }
    }
    reading.await
}

fn id_of(child: &Child) -> Option<Pid> {
    let id = i32::try_from(child.id()?).ok()?;
    Pid::from_raw(id)
}

/// The streams of a running program.
struct GuestStreams {
    /// The pipe of the report, if standard output is messages.
    report: Option<Receiver>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// Bytes of each stream that are read.
    most: usize,
}

impl GuestStreams {
    /// Reads until all streams end; returns whether no limit cut them, and the last errors.
    async fn read(
        self,
        bytes: &mut Vec<u8>,
        lines: mpsc::Sender<String>,
        messages: Option<mpsc::Sender<String>>,
    ) -> (bool, String) {
        let errors = read_errors(self.stderr);
        let Some(messages) = messages else {
            let report = read_lines(self.stdout, self.most, bytes, lines);
            return tokio::join!(report, errors);
        };
        let mut other = Vec::new();
        let (is_complete, has_all_messages, errors) = tokio::join!(
            read_lines(self.report, self.most, bytes, lines),
            read_lines(self.stdout, self.most, &mut other, messages),
            errors
        );
        (is_complete && has_all_messages, errors)
    }
}

fn command(program: &Path, args: &[String]) -> Command {
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir("/")
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .env("LC_ALL", "C")
        // Python keeps the messages for a pipe back, and a silent scan looks stalled.
        .env("PYTHONUNBUFFERED", "1");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    command
}

/// A pipe for the report, in place of standard input.
fn report_pipe(command: &mut Command) -> std::io::Result<Receiver> {
    let (reader, writer) = std::io::pipe()?;
    command.stdin(writer);
    Receiver::from_owned_fd(reader.into())
}

/// Limits memory, processor time and files of a started process.
#[cfg(target_os = "linux")]
fn limit_resources(process: Option<Pid>, limits: GuestLimits) {
    use rustix::process::{Resource, Rlimit, prlimit};
    let resources = [
        (Resource::As, limits.memory),
        (Resource::Cpu, limits.time.as_secs() + 1),
        (Resource::Fsize, limits.file),
        (Resource::Core, 0),
    ];
    for (resource, most) in resources {
        // The process may have ended.
        let _ = prlimit(
            process,
            resource,
            Rlimit {
                current: Some(most),
                maximum: Some(most),
            },
        );
    }
}

#[cfg(not(target_os = "linux"))]
fn limit_resources(_: Option<Pid>, _: GuestLimits) {}

/// Reads to the end; false beyond the limit.
async fn read_lines(
    stdout: Option<impl AsyncRead + Unpin>,
    limit: usize,
    all: &mut Vec<u8>,
    lines: mpsc::Sender<String>,
) -> bool {
    let Some(mut stdout) = stdout else {
        return true;
    };
    let mut from = 0;
    let mut chunk = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = stdout.read(&mut chunk).await {
        let searched = all.len();
        all.extend_from_slice(&chunk[..count.min(limit - all.len())]);
        let end_of = |all: &[u8], from: usize| {
            all[from..]
                .iter()
                .position(|byte| *byte == b'\n')
                .map(|at| from + at)
        };
        let mut next = end_of(all, searched);
        while let Some(end) = next {
            send(&lines, &all[from..end]).await;
            from = end + 1;
            next = end_of(all, from);
        }
        if all.len() >= limit {
            return false;
        }
    }
    if from < all.len() {
        send(&lines, &all[from..]).await;
    }
    true
}

async fn send(lines: &mpsc::Sender<String>, line: &[u8]) {
    // Nobody may read the lines any more; the output is still complete.
    let _ = lines.send(String::from_utf8_lossy(line).into_owned()).await;
}

/// Reads error output to its end, and keeps the beginning.
async fn read_errors(stderr: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut stderr) = stderr else {
        return String::new();
    };
    let mut kept = Vec::new();
    let mut chunk = vec![0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
        kept.extend_from_slice(&chunk[..count.min(MAX_ERRORS - kept.len())]);
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

async fn exit(child: Option<&mut Child>) -> GuestEnd {
    let Some(child) = child else {
        return GuestEnd::Failure;
    };
    match timeout(EXIT_TIME, child.wait()).await {
        Ok(Ok(status)) if status.success() => GuestEnd::Success,
        _ => GuestEnd::Failure,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const LIMITS: GuestLimits = GuestLimits::without_files(Duration::from_secs(20), 4096);

    /// Time for what happens at once on an idle machine.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// Arguments of a shell, which is the guest here: the lines to run, and one argument for them.
    fn script(lines: &str) -> Vec<String> {
        ["-c", lines, "guest", "a b;$(id)"]
            .map(str::to_owned)
            .to_vec()
    }

    async fn run_script(lines: &str, limits: GuestLimits) -> (GuestOutput, Vec<String>) {
        let (sender, mut lines_of) = mpsc::channel(10_000);
        let output = run(Path::new("/bin/sh"), &script(lines), limits, sender, None).await;
        let mut seen = Vec::new();
        while let Some(line) = lines_of.recv().await {
            seen.push(line);
        }
        (output.unwrap(), seen)
    }

    #[tokio::test]
    async fn output_is_read_by_line_and_arguments_are_not_expanded() {
        let (output, lines) = run_script(
            "echo \"$1\"; printf 'two'; echo why >&2; env; exit 3",
            LIMITS,
        )
        .await;
        assert_eq!(lines[0], "a b;$(id)");
        assert!(lines[1].starts_with("two"), "{lines:?}");
        assert_eq!(
            (output.errors.as_str(), output.end),
            ("why", GuestEnd::Failure)
        );
        assert!(
            !output.text.contains("CARGO"),
            "the environment is not inherited: {}",
            output.text
        );
        assert!(output.text.contains("PYTHONUNBUFFERED=1"));
    }

    #[tokio::test]
    async fn report_beside_messages_ends_with_the_guest() {
        let ((sender, mut report), (messages, mut other)) = (mpsc::channel(9), mpsc::channel(9));
        let lines = script("echo '<a/>' >/dev/stdin; echo found; echo '<b/>' >/dev/stdin");
        let output = run(Path::new("/bin/sh"), &lines, LIMITS, sender, Some(messages))
            .await
            .unwrap();
        assert_eq!(
            (output.text.as_str(), output.end),
            ("<a/>\n<b/>\n", GuestEnd::Success)
        );
        assert_eq!(
            (report.recv().await.unwrap(), other.recv().await.unwrap()),
            ("<a/>".into(), "found".into())
        );
    }

    #[tokio::test]
    async fn output_beyond_the_limit_ends_the_run() {
        let (output, _) = run_script("while :; do echo 0123456789; done", LIMITS).await;
        assert_eq!(
            (output.end, output.text.len()),
            (GuestEnd::OutputLimit, 4096)
        );
    }

    #[tokio::test]
    async fn run_ends_at_its_time_limit() {
        let limits = GuestLimits {
            time: Duration::from_millis(50),
            ..LIMITS
        };
        let (output, _) = run_script("echo begun; exec sleep 600", limits).await;
        assert_eq!(output.end, GuestEnd::TimeLimit);
    }

    #[tokio::test]
    async fn process_that_a_guest_leaves_behind_does_not_hold_its_run() {
        let began = tokio::time::Instant::now();
        let (output, lines) = run_script("sleep 600 & echo $!", LIMITS).await;
        assert_eq!(output.end, GuestEnd::Success);
        assert!(began.elapsed() < LIMITS.time);
        ended(lines[0].parse().unwrap()).await;
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn daemon_of_a_guest_ends_with_its_run() {
        for lines in [
            "setsid sh -c 'sleep 600 >/dev/null 2>&1 & echo $!'",
            // A daemon that has the output open.
            "setsid sh -c 'sleep 600 & echo $!'",
        ] {
            let (output, pids) = run_script(lines, LIMITS).await;
            assert_eq!(output.end, GuestEnd::Success, "{lines}");
            ended(pids[0].parse().unwrap()).await;
        }
    }

    #[test]
    fn processes_that_left_the_group_are_looked_for_on_a_blocking_thread() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        let (release, released) = std::sync::mpsc::channel::<()>();
        runtime.block_on(async {
            let busy = spawn_blocking(move || released.recv());
            let mark = RunMark::random();
            let mut sleeping = command(Path::new("/bin/sh"), &script("exec sleep 600"));
            mark.add_to(&mut sleeping);
            let mut child = sleeping.spawn().unwrap();
            let mut group = GroupGuard {
                leader: id_of(&child),
                mark,
            };
            let mut ending = Box::pin(group.end());
            assert!(futures::poll!(&mut ending).is_pending());
            let killed = timeout(PATIENCE, child.wait()).await.unwrap().unwrap();
            assert!(!killed.success(), "the group is killed before the look");
            release.send(()).unwrap();
            busy.await.unwrap().unwrap();
            ending.await;
            assert!(group.leader.is_none());
        });
    }

    #[tokio::test]
    async fn dropped_run_kills_the_whole_group() {
        for lines in [
            #[cfg(target_os = "linux")]
            "setsid sh -c 'sleep 600 & echo $!'; sleep 600",
            "sleep 600 & echo $!; wait",
            // A guest that does not end by SIGTERM.
            "trap '' TERM; sleep 600 & echo $!; wait",
        ] {
            let (sender, mut pids) = mpsc::channel(1);
            let task = tokio::spawn(async move {
                run(Path::new("/bin/sh"), &script(lines), LIMITS, sender, None).await
            });
            let grandchild: i32 = pids.recv().await.unwrap().parse().unwrap();
            task.abort();
            let _ = task.await;
            ended(grandchild).await;
        }
    }

    #[tokio::test]
    async fn guest_with_a_directory_may_write_there_until_it_ends() {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let path = directory.path().to_owned();
        // The directory of the guest is deleted, and nobody reads its error output at the end.
        let outside = tempfile::tempdir().unwrap();
        let end = outside.path().join("end");
        let (sender, mut ready) = mpsc::channel(1);
        let limits = GuestLimits {
            file: 4096,
            ..LIMITS
        };
        let lines = format!(
            "exec 2>made.err; trap 'echo end >{}; exit' TERM; pwd >made; echo; \
             while :; do sleep 0.01; done",
            end.display()
        );
        let task = tokio::spawn(async move {
            let (program, arguments) = (Path::new("/bin/sh"), script(&lines));
            run_in(&directory, program, &arguments, limits, sender).await
        });
        ready.recv().await.unwrap();
        assert_eq!(
            fs::read_to_string(path.join("made")).unwrap().trim(),
            path.to_str().unwrap()
        );
        task.abort();
        let _ = task.await;
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while !end.exists() {
            assert!(tokio::time::Instant::now() < deadline, "SIGTERM is ignored");
            sleep(Duration::from_millis(5)).await;
        }
        while path.exists() {
            assert!(tokio::time::Instant::now() < deadline, "files remain");
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until a process has ended.
    async fn ended(process: i32) {
        let pid = Pid::from_raw(process).unwrap();
        let deadline = tokio::time::Instant::now() + PATIENCE;
        // A killed process may remain as a zombie until init reaps it.
        let is_running = || match fs::read_to_string(format!("/proc/{process}/stat")) {
            Ok(stat) => !stat.contains(") Z "),
            Err(_) => {
                rustix::process::test_kill_process(pid).is_ok() && !Path::new("/proc").exists()
            }
        };
        while is_running() {
            assert!(
                tokio::time::Instant::now() < deadline,
                "the process of the guest runs on"
            );
            sleep(Duration::from_millis(5)).await;
        }
    }
}
