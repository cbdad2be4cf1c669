//! Runs the practice target on the ports of the fixture until it is killed:
//! `cargo run --example practice_target LOGGER PORT`.
//!
//! `tests/fixtures/0.1.0/make.sh` scans it. LOGGER is the URL that receives reports of visits,
//! PORT the last of the ports.

#[allow(dead_code, clippy::unwrap_used)] // tests use the other functions, and may unwrap
#[path = "../tests/compatibility/range.rs"]
mod range;

use anyhow::{Context, Result};

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let logger = arguments.next().context("give the URL of a logger")?;
    let last = arguments.next().context("give the last port")?;
    let mut ports = range::PORTS;
    ports[4] = last.parse().context("the last port is a number")?;
    let range = range::PracticeRange::on(ports).await;
    range.report_visits_to(&logger);
    std::future::pending::<()>().await;
    Ok(())
}
