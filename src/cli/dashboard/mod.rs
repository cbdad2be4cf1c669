//! The commands of the dashboard: the screen itself, the commands for scripts, and the checks of
//! this machine.

mod candidates;
// The demo is a service and a dashboard.
#[cfg_attr(not(feature = "service"), path = "no_demo.rs")]
pub mod demo;
pub mod doctor;
mod from_bundle;
pub mod headless;
mod hints;
pub mod key_table;
pub mod live_settings;
mod open;
mod screen;

use std::process::ExitCode;

use clap::Subcommand;

pub use candidates::with_candidates;
pub use hints::hint_of;
pub use scandeck_domain::formats::data_formats;
pub use screen::{DashboardArgs, run as show};

/// The feature that has this wing.
pub const FEATURE: &[&str] = &["dashboard"];
/// Without a command the program shows the dashboard.
pub const IS_DEFAULT: bool = true;

#[derive(Subcommand, Debug)]
pub enum DashboardCommand {
    #[command(flatten)]
    Headless(headless::HeadlessCommand),
    /// Check terminal, configuration, connection, local service and stored data, with a remedy for
    /// each problem; exit code 1 if a check fails
    Doctor(doctor::DoctorArgs),
}

/// Runs a command.
///
/// # Errors
/// Those of the command.
pub async fn run(command: DashboardCommand) -> anyhow::Result<ExitCode> {
    match command {
        DashboardCommand::Headless(command) => headless::run(command).await,
        DashboardCommand::Doctor(args) => doctor::run(args).await,
    }
}
