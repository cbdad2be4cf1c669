//! The checks of the data on this machine: directory, free space, and the stores of each service
//! with their sizes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::statvfs;

use super::Diagnosis;
use scandeck_dashboard::config::StateDir;
use scandeck_dashboard::runtime::cached_lists;
use scandeck_domain::formats::data_formats;
use scandeck_wire::data_format::DataFormat;
use scandeck_wire::sqlite::{UTF8_REMEDY, is_database, schema_version};
use scandeck_wire::text::plural;

const AREA: &str = "stored data";
/// Below this much free space, a store may fail to grow.
const LEAST_FREE: u64 = 1 << 30;

/// Checks the state directory. A directory that does not exist is no problem.
pub fn check(state: &StateDir) -> Vec<Diagnosis> {
    let path = state.path();
    let shown = || path.display().to_string();
    if path.to_str().is_none() {
        let value = format!("{}: the path is not UTF-8 text", shown());
        return vec![Diagnosis::ok(AREA, "directory", value).failed(UTF8_REMEDY)];
    }
    let directory = match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return vec![Diagnosis::ok(
                AREA,
                "directory",
                format!("{}, not created yet", shown()),
            )];
        }
        Err(error) => {
            let check = Diagnosis::ok(AREA, "directory", format!("{}: {error}", shown()));
            return vec![check.failed("check the path and its permissions")];
        }
        Ok(metadata) if metadata.permissions().mode() & 0o077 != 0 => {
            let check = Diagnosis::ok(
                AREA,
                "directory",
                format!("{}, other users can enter it", shown()),
            );
            check.warning(format!("chmod 700 {}", shown()))
        }
        Ok(_) => Diagnosis::ok(AREA, "directory", shown()),
    };
    let mut all = vec![directory, free_space(path)];
    for directory in entries(&state.services_dir()) {
        all.push(service(&directory));
        let in_file = |format: DataFormat| Some((directory.join(format.file?), format));
        let files = data_formats().into_iter().filter_map(in_file);
        all.extend(files.filter_map(|(file, format)| newer(AREA, &file, format)));
    }
    if let Ok(metadata) = fs::metadata(state.log_file()) {
        all.push(Diagnosis::ok(
            AREA,
            "log",
            format!(
                "{}, {}",
                state.log_file().display(),
                megabytes(metadata.len())
            ),
        ));
    }
    all
}

fn free_space(path: &Path) -> Diagnosis {
    let of = |value: String| Diagnosis::ok(AREA, "free space", value);
    match statvfs(path).map(|stat| stat.f_bavail.saturating_mul(stat.f_frsize)) {
        Ok(free) if free < LEAST_FREE => {
            of(megabytes(free)).warning("make room on this file system")
        }
        Ok(free) => of(megabytes(free)),
        Err(error) => of(format!("unknown: {error}")),
    }
}

/// The files of one service.
#[derive(Default)]
struct StoreSizes {
    decisions: u64,
    captures: u64,
    lists: u64,
    others: u64,
    /// Number of damaged files that were replaced.
    broken: usize,
    /// Number of copies from before an upgrade.
    copies: usize,
}

impl StoreSizes {
    fn of(directory: &Path) -> Self {
        let mut sizes = Self::default();
        for path in entries(directory) {
            let (name, size) = (file_name(&path), size(&path));
            let (is_broken, is_copy) = (name.contains(".broken-"), name.contains(".bak-"));
            sizes.broken += usize::from(is_broken);
            sizes.copies += usize::from(is_copy);
            let sum = match name.as_str() {
                _ if is_broken || is_copy => &mut sizes.others,
                name if name.starts_with("decisions.db") => &mut sizes.decisions,
                name if name.starts_with("captures.db") => &mut sizes.captures,
                name if name.starts_with(cached_lists::PREFIX) => &mut sizes.lists,
                _ => &mut sizes.others,
            };
            *sum += size;
        }
        sizes
    }

    /// Such as `decisions 3 MB, cached lists 12 MB`.
    fn summary(&self) -> String {
        let parts = [
            ("decisions", self.decisions),
            ("captures", self.captures),
            ("cached lists", self.lists),
            ("other files", self.others),
        ];
        let parts = parts.into_iter().filter(|(_, size)| *size > 0);
        let parts = parts.map(|(name, size)| format!("{name} {}", megabytes(size)));
        match parts.collect::<Vec<_>>().join(", ") {
            empty if empty.is_empty() => "empty".to_owned(),
            summary => summary,
        }
    }
}

/// The stores of one service: decisions, captures, cached lists, and copies of damaged or older
/// files.
fn service(directory: &Path) -> Diagnosis {
    let sizes = StoreSizes::of(directory);
    let (at, summary) = (directory.display(), sizes.summary());
    let check = |value: String| Diagnosis::ok(AREA, file_name(directory), value);
    if sizes.broken > 0 {
        let broken = plural(sizes.broken, "file");
        return check(format!("{summary}; damaged and replaced: {broken}")).warning(format!(
            "delete {at}/*.broken-* when no decision or capture is missing"
        ));
    }
    if sizes.copies > 0 {
        let copies = plural(sizes.copies, "file");
        return check(format!("{summary}; before an upgrade: {copies}")).warning(format!(
            "delete {at}/*.bak-* when everything works after the upgrade"
        ));
    }
    check(summary)
}

/// The failed check of a database that only a newer scandeck can read.
pub fn newer(area: &'static str, file: &Path, format: DataFormat) -> Option<Diagnosis> {
    let DataFormat { name, number, .. } = format;
    let found = schema_version(file).ok()?;
    let is_newer = found > number && is_database(file).unwrap_or_default();
    let path = file.display();
    let value = format!("{path} has schema {found}, this version reads up to {number}");
    let remedy = "use the newer scandeck, or restore the copy *.bak-N from before the upgrade";
    is_newer.then(|| Diagnosis::ok(area, name, value).failed(remedy))
}

/// The size of a file, or of all files below a directory. Links are not followed.
pub fn size(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => entries(path).iter().map(|path| size(path)).sum(),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    }
}

/// The size in MB or GB.
pub fn megabytes(bytes: u64) -> String {
    match bytes {
        1_000_000_000.. => format!("{:.1} GB", bytes as f64 / 1e9),
        ..50_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn entries(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::super::DiagnosisState::{Failed, Ok, Warning};
    use super::*;

    #[test]
    fn directory_that_is_not_utf8_fails_with_its_remedy() {
        let state = StateDir::new(Path::new("/home").join(OsStr::from_bytes(b"caf\xe9")));
        let all = check(&state);
        assert_eq!((all.len(), all[0].state), (1, Failed));
        assert_eq!(all[0].remedy.as_deref(), Some(UTF8_REMEDY));
    }

    #[test]
    fn stores_are_listed_with_sizes_and_damaged_copies_with_a_remedy() {
        let home = tempfile::tempdir().unwrap();
        let state = StateDir::new(home.path().join("scandeck"));
        assert_eq!(check(&state).len(), 1, "nothing is created");
        assert!(!state.path().exists());
        state.make().unwrap();
        let local = state.services_dir().join("local");
        fs::create_dir_all(local.join("last-known/of-1")).unwrap();
        fs::write(local.join("decisions.db"), vec![0; 2_000_000]).unwrap();
        fs::write(local.join("decisions.db-wal"), vec![0; 1_000_000]).unwrap();
        fs::write(
            local.join("last-known/of-1/findings.json"),
            vec![0; 500_000],
        )
        .unwrap();
        let of_local =
            |all: Vec<Diagnosis>| all.into_iter().find(|one| one.check == "local").unwrap();
        let found = of_local(check(&state));
        assert_eq!(
            (found.state, found.value.as_str()),
            (Ok, "decisions 3.0 MB, cached lists 0.5 MB")
        );
        fs::write(local.join("captures.db.broken-1"), "").unwrap();
        let found = of_local(check(&state));
        assert!(
            found.state == Warning && found.remedy.unwrap().contains("*.broken-*"),
            "{:?}",
            found.value
        );
        let mut header = [0; 100];
        header[..16].copy_from_slice(b"SQLite format 3\0");
        header[60..64].copy_from_slice(&9000_u32.to_be_bytes());
        fs::write(local.join("alerts.db"), header).unwrap();
        let refused = check(&state)
            .into_iter()
            .find(|one| one.state == Failed)
            .unwrap();
        assert_eq!(refused.check, "sent alerts");
        assert!(
            refused
                .value
                .ends_with("has schema 9000, this version reads up to 1"),
            "{}",
            refused.value
        );
        fs::set_permissions(state.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(
            check(&state)[0]
                .remedy
                .as_ref()
                .unwrap()
                .starts_with("chmod 700")
        );
    }
}
