//! Flags of `scandeck serve` for the limits of scans.

use std::time::Duration;

use clap::Args;
use clap::builder::RangedU64ValueParser;

use crate::service::ScanLimits;

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits of each scan")]
pub struct ScanLimitArgs {
    /// Findings that a scan stores
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = at_least_one())]
    scan_findings: usize,
    /// Bytes of all findings of a scan
    #[arg(long, value_name = "BYTES", default_value_t = 33_554_432, value_parser = at_least_one())]
    scan_bytes: usize,
    /// Rows in the evidence of a finding
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = at_least_one())]
    evidence_rows: usize,
    /// Bytes in the evidence of a finding
    #[arg(long, value_name = "BYTES", default_value_t = 65_536, value_parser = RangedU64ValueParser::<usize>::new().range(1024..))]
    evidence_bytes: usize,
    /// Lines in the raw log of a scan
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = at_least_one())]
    scan_raw_lines: usize,
    /// Open ports that a port scan lists
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = at_least_one())]
    scan_ports: usize,
    /// Seconds that a scan spends on reading HTML
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    html_seconds: u64,
}

fn at_least_one() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
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
        }
    }
}
