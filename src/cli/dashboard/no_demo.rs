//! Stands in for `demo.rs` in a program without the service.

use std::any::Any;
use std::convert::Infallible;
use std::process::ExitCode;

use scandeck_dashboard::runtime::Connected;
use scandeck_domain::problem::Problem;

pub type DemoCommand = Infallible;

pub async fn run(command: DemoCommand) -> anyhow::Result<ExitCode> {
    match command {}
}

pub async fn open() -> Result<Connected, Problem> {
    Err(Problem::local("this build has no demo").with_hint("build with feature `service`"))
}

pub async fn end(_: Option<Box<dyn Any + Send>>) -> anyhow::Result<()> {
    Ok(())
}
