//! The checks of the local service: whether it runs, its data, and the scanners that it can use.

use super::{Diagnosis, stores};
use crate::config::Environment;
use crate::service::engine::guests::GUESTS;
use crate::service::{DataDir, Holder};

const AREA: &str = "local service";

/// Checks the local service of this user. A service that does not exist is no problem.
pub fn check(environment: &Environment) -> Vec<Diagnosis> {
    let path = environment.state_dir().service_dir();
    let of = |value: String| Diagnosis::ok(AREA, "service", value);
    let unusable = |error: std::io::Error| {
        vec![of(format!("{}: {error}", path.display())).failed("check the path and its permissions")]
    };
    let dir = match DataDir::existing(&path) {
        Ok(Some(dir)) => dir,
        Ok(None) => return vec![of("never started".to_owned())],
        Err(error) => return unusable(error),
    };
    let state = match dir.holder() {
        Ok(Holder::Nobody) => of("not running; `scandeck serve` starts it".to_owned()),
        Ok(Holder::Running(None)) => of("starting or stopping".to_owned()),
        Ok(Holder::Running(Some(info))) => of(format!("{} (pid {})", info.base_url, info.pid)),
        Err(error) => return unusable(error),
    };
    let mut all = vec![state, data(&dir)];
    all.extend(GUESTS.iter().map(|(tool, guest, _)| {
        let name = tool.name().unwrap_or_default();
        let of = |value: String| Diagnosis::ok(AREA, guest.program(), value);
        match guest.find() {
            Some(path) => of(path.display().to_string()),
            None => of(format!("not installed; used by the {name} ({})", tool.0)).warning(guest.remedy()),
        }
    }));
    all
}

fn data(dir: &DataDir) -> Diagnosis {
    let size = stores::size(dir.path());
    let check = Diagnosis::ok(AREA, "data", format!("{}, {}", dir.path().display(), stores::megabytes(size)));
    match dir.database_copies().len() {
        0 => check,
        copies => Diagnosis { value: format!("{}, copies of the database: {copies}", check.value), ..check }
            .warning("delete scandeck.db.bak-* in this directory when the service works after an upgrade"),
    }
}
