//! Runs a service that misbehaves on command, until it is killed:
//! `cargo run --example faulty_service [RULE…]`.
//!
//! It prints the settings for `scandeck`, then reads rules from standard input:
//! `GET /findings 503`, `* /scans* hang x2`, `GET /findings ok`, `ok`. The same rules are accepted
//! by `curl -d RULE http://ADDRESS/faults`. Everything is on loopback.
//!
//! `tests/faulty` has the faults; the data is that of a real service with scripted scans in a
//! temporary directory.

#[allow(dead_code, unused_imports, clippy::unwrap_used)] // tests use the other items, and may unwrap
#[path = "../tests/faulty/mod.rs"]
mod faulty;
#[allow(dead_code, clippy::unwrap_used)]
#[path = "../tests/service/runner.rs"]
mod runner;

use std::sync::Arc;

use anyhow::{Context, Result};
use faulty::{FAULTS, FaultyService, sample_data};
use runner::{ScriptedRunner, typical_events};
use scandeck::service::{Parts, RateLimit, Settings, start_with};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let runner = ScriptedRunner::default();
    runner.set_events(typical_events());
    let mut settings = Settings::new(dir.path()).with_free_ports();
    settings.rate_limit = RateLimit::Off;
    let parts = Parts {
        runner: Some(Arc::new(runner.clone())),
        ..Parts::default()
    };
    let shutdown = CancellationToken::new();
    let service = start_with(settings, shutdown.clone(), parts).await?;
    let loggers = sample_data::fill(service.base_url.as_str(), &service.api_key, || {
        runner.finish_scans(1)
    })
    .await;
    let proxy = FaultyService::start(service.base_url.as_str()).await;
    for rule in std::env::args().skip(1) {
        proxy.faults.set(&rule).map_err(anyhow::Error::msg)?;
    }
    println!("export SCANDECK_BASE_URL={}", proxy.base);
    println!("export SCANDECK_API_KEY={}", service.api_key);
    println!(
        "# rules: curl -d 'GET /findings 503' {}",
        proxy.base.replace("/api/v2", "/faults")
    );
    println!("# faults: {} ok", FAULTS.join(" "));
    loggers
        .iter()
        .for_each(|(id, url)| println!("# logger {id}: curl {url}"));
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    tokio::select! {
        ended = tokio::signal::ctrl_c() => ended.context("no signals")?,
        ended = read_rules(&mut lines, &proxy, &runner) => ended?,
    }
    shutdown.cancel();
    service.stopped().await
}

/// Reads rules; `finish` lets a running scan end. The end of the input does not stop the service.
async fn read_rules(
    lines: &mut tokio::io::Lines<BufReader<tokio::io::Stdin>>,
    proxy: &FaultyService,
    runner: &ScriptedRunner,
) -> Result<()> {
    while let Some(line) = lines.next_line().await? {
        match line.trim() {
            "" => print!("{}", proxy.faults.report()),
            "finish" => runner.finish_scans(1),
            rule => match proxy.faults.set(rule) {
                Ok(()) => println!("{rule}"),
                Err(why) => println!("{why}"),
            },
        }
    }
    std::future::pending().await
}
