//! Prints a line for each file: format, tool, version, entries, entries by risk, skipped entries.
//!
//! `cargo run -p scandeck-import --example count -- FILE…`

use std::fs::File;
use std::ops::ControlFlow;

use scandeck_import::{ImportEntry, ImportLimits, ImportSummary};

fn main() {
    let is_verbose = std::env::args().any(|argument| argument == "-v");
    println!(
        "file\tformat\ttool\tversion\tentries\tcritical/high/medium/low/info\ttargets\tcoverage\tskipped\tdamage"
    );
    for path in std::env::args().skip(1).filter(|argument| argument != "-v") {
        let mut show = |entry: ImportEntry| {
            if is_verbose {
                println!("{}", line(&entry));
            }
            ControlFlow::Continue(())
        };
        let read = File::open(&path)
            .map(|file| scandeck_import::read(file, None, &ImportLimits::default(), &mut show));
        match read {
            Ok(Ok(summaries)) => summaries.iter().for_each(|summary| print(&path, summary)),
            Ok(Err(error)) => println!("{path}\t{error}"),
            Err(error) => println!("{path}\t{error}"),
        }
    }
}

fn line(entry: &ImportEntry) -> String {
    let target = entry.target.as_ref().map_or("-", |target| &target.name);
    let port = entry.port.map(|port| port.to_string()).unwrap_or_default();
    format!(
        "  {} [{}] {} | {} {target} {port}/{} {} {} {:?} | {:?} {:?} {:?} | {} refs {:?}{}",
        entry.risk,
        entry.source_risk,
        entry.vuln_id,
        entry.title,
        entry.protocol,
        entry.service,
        entry.place.path,
        entry.place.parameter,
        entry.cves,
        entry.cwes,
        entry.cvss,
        entry.references.len(),
        entry.tags,
        entry
            .proposed
            .as_ref()
            .map(|proposed| format!(" | proposed: {}", proposed.phrase()))
            .unwrap_or_default(),
    )
}

fn print(path: &str, summary: &ImportSummary) {
    let member = summary
        .member
        .as_ref()
        .map(|name| format!("!{name}"))
        .unwrap_or_default();
    let risks: Vec<String> = summary.by_risk.iter().rev().map(u64::to_string).collect();
    let skipped: Vec<String> = summary
        .skipped
        .iter()
        .map(|skipped| format!("{} {}", skipped.count, skipped.reason))
        .collect();
    let checks: usize = summary
        .coverage
        .iter()
        .map(|coverage| coverage.checks.len())
        .sum();
    println!(
        "{path}{member}\t{}\t{}\t{}\t{}\t{}\t{}\t{checks}\t{}\t{}",
        summary.format.map_or("unknown", |format| format.name),
        summary.tool,
        summary.version,
        summary.entries,
        risks.join("/"),
        summary.targets.len(),
        skipped.join("; "),
        summary.damage.as_deref().unwrap_or_default(),
    );
}
