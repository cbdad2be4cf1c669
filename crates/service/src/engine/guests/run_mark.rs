//! The mark of a run in the environment of its guest, which also finds processes that left the
//! process group, such as daemons.
//!
//! ```text
//!   run ──SCANDECK_RUN=…──► guest ──inherited──► its processes, in any group and session
//!    └─ end ──► /proc/PID/environ has the mark? ──► SIGKILL
//! ```
//!
//! Linux only. Not found is a process that replaces its environment, or whose environment this user
//! may not read.

use tokio::process::Command;

/// The variable with the mark.
const VARIABLE: &str = "SCANDECK_RUN";

/// A text that no other run has.
#[derive(Clone, Debug, Default)]
pub(super) struct RunMark(String);

impl RunMark {
    pub fn random() -> Self {
        Self(format!("{:032x}", rand::random::<u128>()))
    }

    pub fn add_to(&self, command: &mut Command) {
        command.env(VARIABLE, &self.0);
    }

    /// Kills the processes with the mark. It reads the files of all processes of the machine.
    #[cfg(target_os = "linux")]
    pub fn kill(&self) {
        let entry = format!("{VARIABLE}={}", self.0);
        let mut killed = std::collections::BTreeSet::new();
        // A process can start another one while it is found.
        for _ in 0..MOST_LOOKS {
            let found = process_ids().filter(|&id| kill_if_marked(id, &entry));
            let new = found.filter(|&id| killed.insert(id)).count();
            if new == 0 {
                return;
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub fn kill(&self) {}
}

/// How often processes are looked for that others have started in between.
#[cfg(target_os = "linux")]
const MOST_LOOKS: usize = 20;

#[cfg(target_os = "linux")]
fn process_ids() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Kills a process whose environment has this entry.
#[cfg(target_os = "linux")]
fn kill_if_marked(id: i32, entry: &str) -> bool {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    // Opened before its environment is read: its id may be that of another process later.
    let process = Pid::from_raw(id).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let Some(process) = process else {
        return false;
    };
    let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
    let mut variables = environment.split(|&byte| byte == 0);
    variables.any(|one| one == entry.as_bytes())
        && pidfd_send_signal(&process, Signal::KILL).is_ok()
}
