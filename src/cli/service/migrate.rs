//! `scandeck migrate`: the database of a data directory moves to PostgreSQL.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::audit;
use scandeck_service::migrate::migrate_dir;
use scandeck_service::{DataDir, DatabaseAddress};
use scandeck_wire::text::plural;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck migrate --from /var/lib/scandeck --to /etc/scandeck/database")]
pub struct MigrateArgs {
    /// Data directory with the database file, which remains as it is
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// File (0600) with the URL of an empty PostgreSQL database
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

/// Copies the database and compares both; a repetition continues after an interruption.
///
/// # Errors
/// When a service runs, a database cannot be used, or they differ.
pub async fn run(args: MigrateArgs) -> anyhow::Result<ExitCode> {
    let dir = DataDir::existing(&args.from)?
        .with_context(|| format!("{} does not exist", args.from.display()))?;
    let address = DatabaseAddress::read(&args.to)?;
    let tables = migrate_dir(&dir, &address).await?;
    audit(&dir, "migrate", &args.to.display().to_string());
    for table in tables.iter().filter(|table| table.rows > 0) {
        let rows = usize::try_from(table.rows).unwrap_or(usize::MAX);
        note!("{}: {} equal", table.name, plural(rows, "row"));
    }
    note!(
        "copied and compared; start the service with `scandeck serve --data-dir {} --database-file {}`",
        dir.path().display(),
        args.to.display()
    );
    Ok(ExitCode::SUCCESS)
}
