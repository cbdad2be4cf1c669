//! The calls of the client for the activity view, with the rate budget and the memory of this
//! process.

use crate::data::RecordedCalls;
use crate::poller::announced_budget;
use jiff::Timestamp;
use scandeck_client::{Client, Lane};
use scandeck_domain::table::Table;
use std::sync::Arc;

/// The calls as of now.
pub(crate) fn recorded(client: &Client) -> RecordedCalls {
    RecordedCalls {
        table: Arc::new(Table::new(client.recorded_calls())),
        budget: announced_budget(client.budget(Lane::Read), Timestamp::now()),
        memory: std::fs::read_to_string("/proc/self/status")
            .ok()
            .and_then(|status| resident(&status)),
    }
}

/// The resident memory in a status file of Linux, in bytes.
fn resident(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_read_from_the_status_file() {
        assert_eq!(
            resident("Name:\tscandeck\nVmHWM:\t   9000 kB\nVmRSS:\t   8192 kB\n"),
            Some(8 << 20)
        );
        assert_eq!(resident("VmRSS: many\n"), None);
    }
}
