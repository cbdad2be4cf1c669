//! Commands of the local service: serve, worker, status, stop, keys, scope, tools, backup, restore,
//! and the import of wordlists.

pub mod backup;
pub mod data_dir;
pub mod keys;
mod limits;
pub mod migrate;
mod network;
pub mod scope;
pub mod serve;
pub mod status;
pub mod stop;
pub mod tools;
mod value;
pub mod wordlists;
pub mod worker;

use std::process::ExitCode;

use clap::Subcommand;
use jiff::Timestamp;

pub use data_dir::DataDirArg;
use scandeck_service::DataDir;
use scandeck_service::audit::{AuditLog, AuditedCommand};
pub use scandeck_service::data_formats;
use scandeck_wire::login::login;

/// The feature that has this wing.
pub const FEATURE: &[&str] = &["service"];

#[derive(Subcommand, Debug)]
pub enum ServiceCommand {
    /// Run the scanning service in the foreground, without the dashboard
    Serve(Box<serve::ServeArgs>),
    /// Run the scans of a place for a service elsewhere, in the foreground
    Worker(Box<worker::WorkerArgs>),
    /// Show whether a local service runs, its addresses and its scans; exit code 1 if none runs, 5
    /// while it starts or stops
    #[command(after_help = "Example:\n  scandeck status")]
    Status(DataDirArg),
    /// Stop the local service; its scans restart at the next start; exit code 0 even if no service
    /// runs
    #[command(after_help = "Example:\n  scandeck stop")]
    Stop(DataDirArg),
    /// Back up the local service to a new directory, also while it runs
    Backup(backup::BackupArgs),
    /// Restore a backup of the local service
    Restore(backup::RestoreArgs),
    /// Copy the database of the local service to PostgreSQL, and compare both
    Migrate(migrate::MigrateArgs),
    /// Targets beyond this machine that the local service may scan: add, deny, import, remove, list
    Scope(scope::ScopeArgs),
    /// Scan tools of the local service, and the installed scanners that they use
    Tools(tools::ToolsArgs),
}

/// Writes a change of a command into the audit log of the service.
fn audit(dir: &DataDir, command: &str, subject: &str) {
    let who = login(|name| std::env::var(name).ok());
    let entry = AuditedCommand {
        who: &who,
        command,
        subject,
    };
    AuditLog::new(dir.audit_log(), None).write("command", &entry, Timestamp::now());
}

/// Runs a command of the local service.
///
/// # Errors
/// Those of the command.
pub async fn run(command: ServiceCommand) -> anyhow::Result<ExitCode> {
    match command {
        ServiceCommand::Serve(args) => serve::run(*args).await,
        ServiceCommand::Worker(args) => worker::run(*args).await,
        ServiceCommand::Status(directory) => status::run(directory).await,
        ServiceCommand::Stop(directory) => stop::run(directory).await,
        ServiceCommand::Backup(args) => backup::back_up(args).await,
        ServiceCommand::Restore(args) => backup::restore(args).await,
        ServiceCommand::Migrate(args) => migrate::run(args).await,
        ServiceCommand::Scope(args) => scope::run(args).await,
        ServiceCommand::Tools(args) => tools::run(&args).await,
    }
}
