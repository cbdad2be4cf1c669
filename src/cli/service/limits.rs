//! Flags of `scandeck serve` for the limits of connections and scans.

use std::time::Duration;

use clap::Args;

use super::value::{at_least, at_least_one, seconds};
use crate::cli::value::number_in;
use scandeck_service::{ConnectionLimits, ScanLimits};

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits of each scan")]
pub struct ScanLimitArgs {
    /// Maximum number of findings that a scan stores
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = at_least_one::<usize>)]
    scan_findings: usize,
    /// Maximum size of all findings of a scan
    #[arg(long, value_name = "BYTES", default_value_t = 33_554_432, value_parser = at_least_one::<usize>)]
    scan_bytes: usize,
    /// Maximum number of rows in the evidence of a finding
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = at_least_one::<usize>)]
    evidence_rows: usize,
    /// Maximum size of the evidence of a finding
    #[arg(long, value_name = "BYTES", default_value_t = 65_536, value_parser = |text: &str| at_least(1024_usize, text))]
    evidence_bytes: usize,
    /// Maximum number of lines in the raw log of a scan
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = at_least_one::<usize>)]
    scan_raw_lines: usize,
    /// Maximum number of open ports that a port scan lists
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = at_least_one::<usize>)]
    scan_ports: usize,
    /// Maximum time that a scan spends on reading HTML
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = seconds)]
    html_seconds: u64,
    /// Maximum number of pages, and of scripts, that a deep website scan reads
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = at_least_one::<usize>)]
    scan_pages: usize,
    /// Maximum size of a script that a deep website scan reads
    #[arg(long, value_name = "BYTES", default_value_t = 4_194_304, value_parser = |text: &str| at_least(524_288_usize, text))]
    scan_script_bytes: usize,
    /// Maximum time for a TLS handshake with a slow server; default: 10 for this machine, 30
    /// elsewhere
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    scan_handshake_seconds: Option<u64>,
    /// Highest `requests_per_second` that a scan may set; 0: 200 for this machine, 10 elsewhere
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = |text: &str| at_least(0_u32, text))]
    scan_requests_per_second: u32,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits of connections")]
pub struct ConnectionArgs {
    /// Maximum number of open connections of each listener
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = at_least_one::<usize>)]
    max_connections: usize,
    /// Maximum number of open connections of each listener from one address
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = at_least_one::<usize>)]
    connections_per_client: usize,
    /// Maximum number of concurrent TLS handshakes
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = at_least_one::<usize>)]
    max_handshakes: usize,
    /// Number of API connections that only addresses with a valid key may open, at most half of all
    #[arg(long, value_name = "N", default_value_t = 64)]
    reserved_connections: usize,
    /// Maximum size of request line and headers
    #[arg(long, value_name = "BYTES", default_value_t = 65_536, value_parser = |text: &str| number_in(1024..=1_048_576_usize, text))]
    head_bytes: usize,
    /// Seconds in which request line and headers must arrive
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = seconds)]
    head_seconds: u64,
    /// Seconds for which a body may keep the service waiting; each 256 KB that arrive give one back
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = seconds)]
    body_seconds: u64,
    /// Seconds after which an idle connection is closed
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = seconds)]
    idle_seconds: u64,
}

impl From<ConnectionArgs> for ConnectionLimits {
    fn from(args: ConnectionArgs) -> Self {
        Self {
            connections: args.max_connections,
            per_client: args.connections_per_client,
            handshakes: args.max_handshakes,
            reserve: args.reserved_connections,
            head_bytes: args.head_bytes,
            head_time: Duration::from_secs(args.head_seconds),
            body_time: Duration::from_secs(args.body_seconds),
            idle_time: Duration::from_secs(args.idle_seconds),
        }
    }
}

impl From<ScanLimitArgs> for ScanLimits {
    fn from(args: ScanLimitArgs) -> Self {
        Self {
            findings: args.scan_findings,
            bytes: args.scan_bytes,
            evidence_rows: args.evidence_rows,
            evidence_bytes: args.evidence_bytes,
            raw_lines: args.scan_raw_lines,
            ports: args.scan_ports,
            html_time: Duration::from_secs(args.html_seconds),
            pages: args.scan_pages,
            script_bytes: args.scan_script_bytes,
            answer_time: None,
            handshake_time: args.scan_handshake_seconds.map(Duration::from_secs),
            requests_per_second: args.scan_requests_per_second,
        }
    }
}
