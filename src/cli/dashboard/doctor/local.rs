//! The checks of the local service: whether it runs, its data, and the scanners that it can use.

use super::{Diagnosis, stores};
use crate::cli::error::with_causes;
use crate::cli::service::DataDirArg;
use scandeck_dashboard::config::Environment;
use scandeck_service::engine::guests::{GUESTS, Guest};
use scandeck_service::{DataDir, Holder, StartError, data_formats};

const AREA: &str = "local service";

/// Checks the service of a data directory, or else the local service of this user, which need not
/// exist.
pub async fn check(environment: &Environment, directory: &DataDirArg) -> Vec<Diagnosis> {
    let of_user = || environment.state_dir().service_dir();
    let path = directory.data_dir.clone().unwrap_or_else(of_user);
    let of = |value: String| Diagnosis::ok(AREA, "service", value);
    let unusable = |error: std::io::Error| {
        vec![
            of(format!("{}: {error}", path.display())).failed("check the path and its permissions"),
        ]
    };
    let dir = match DataDir::existing(&path) {
        Ok(Some(dir)) => dir,
        Ok(None) if directory.data_dir.is_some() => {
            let missing = of(format!("{} does not exist", path.display()));
            return vec![missing.failed("name the data directory of a service")];
        }
        Ok(None) => return vec![of("never started".to_owned())],
        Err(error) => return unusable(error),
    };
    let state = match dir.holder() {
        Ok(Holder::Nobody) => {
            of("not running; `scandeck` or `scandeck serve` starts it".to_owned())
        }
        Ok(Holder::Running(None)) => of("starting or stopping".to_owned()),
        Ok(Holder::Running(Some(info))) => of(format!("{} (pid {})", info.base_url, info.pid)),
        Err(error) => return unusable(error),
    };
    let mut all = vec![state, data(&dir)];
    let database_file = dir.database();
    let newer = |format| stores::newer(AREA, &database_file, format);
    all.extend(
        data_formats()
            .into_iter()
            .filter(|one| one.file.is_some())
            .filter_map(newer),
    );
    all.extend(database(dir, directory).await);
    all.extend(scanners());
    all
}

/// The PostgreSQL database that the service uses, or would use when started like this command.
async fn database(dir: DataDir, directory: &DataDirArg) -> Option<Diagnosis> {
    let of = |value: String| Diagnosis::ok(AREA, "database", value);
    let found = directory
        .database()
        .and_then(|address| Ok(dir.with_database(address)?));
    let checked = match &found {
        Ok(dir) => dir.postgres()?.check().await,
        Err(error) => {
            return Some(of(error.to_string()).failed("correct the address, or its file"));
        }
    };
    Some(match checked {
        Ok(version) => of(format!("PostgreSQL {version}")),
        Err(StartError::Newer { path, found, known }) => {
            let shown = path.display();
            let value = format!("{shown} has schema {found}, this version reads up to {known}");
            of(value).failed("use the newer scandeck, or restore a backup from before the upgrade")
        }
        Err(StartError::OlderSchema { path, found, known }) => {
            let shown = path.display();
            of(format!(
                "{shown} has schema {found}, this version uses {known}"
            ))
            .warning("`scandeck serve` of this version upgrades it")
        }
        Err(error) => of(with_causes(&anyhow::Error::from(error))).failed(
            "start the server, or correct its address; `psql` with the same URL shows more",
        ),
    })
}

/// A line for each program, which several tools can use.
fn scanners() -> Vec<Diagnosis> {
    let mut guests: Vec<Guest> = GUESTS.iter().map(|&(_, guest, _)| guest).collect();
    guests.dedup();
    let diagnosis = |guest: Guest| {
        let of = |value: String| Diagnosis::ok(AREA, guest.program(), value);
        let users = GUESTS.iter().filter(|(_, used, _)| *used == guest);
        let users = users.map(|(tool, ..)| tool.name_with_id());
        match guest.find() {
            Some(path) => of(path.display().to_string()),
            // A scanner that is a tool of its own is no part of another one.
            None if guest.row().scan.is_some() => {
                of("not installed; `scandeck tools` shows how".to_owned())
            }
            None => {
                let users = users.collect::<Vec<_>>().join(", ");
                of(format!("not installed; used by the {users}")).warning(guest.remedy())
            }
        }
    };
    guests.into_iter().map(diagnosis).collect()
}

fn data(dir: &DataDir) -> Diagnosis {
    let size = stores::size(dir.path());
    let check = Diagnosis::ok(
        AREA,
        "data",
        format!("{}, {}", dir.path().display(), stores::megabytes(size)),
    );
    match dir.database_copies().len() {
        0 => check,
        copies => Diagnosis {
            value: format!("{}, copies of the database: {copies}", check.value),
            ..check
        }
        .warning(
            "delete scandeck.db.bak-* in this directory when the service works after an upgrade",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_of_several_tools_has_one_line() {
        let checks: Vec<String> = scanners()
            .into_iter()
            .map(|diagnosis| diagnosis.check)
            .collect();
        assert_eq!(checks[..3], ["nmap", "sslscan", "nuclei"]);
        let distinct: std::collections::HashSet<&String> = checks.iter().collect();
        assert_eq!(distinct.len(), checks.len());
    }
}
