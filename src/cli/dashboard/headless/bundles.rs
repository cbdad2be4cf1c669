//! Imported bundles: the lists of the service at the time of the bundle, for when the service is
//! not reachable.

use super::HeadlessSession;
use scandeck_client::{Error, ErrorKind};
use scandeck_dashboard::runtime::Memory;
use scandeck_domain::triage::Bundle;
use scandeck_wire::input_files::{InputKind, read_text};
use scandeck_wire::text;

/// The bundles of the selected workspaces, as a replacement for a service that is not reachable.
///
/// # Errors
/// The given error, if it has another cause or there is no bundle.
pub fn replacement(session: &HeadlessSession, error: anyhow::Error) -> anyhow::Result<Vec<Bundle>> {
    let bundles = selected(session);
    let Some(cause) = unreachable(&error).filter(|_| !bundles.is_empty()) else {
        return Err(error);
    };
    for Bundle { manifest, .. } in &bundles {
        let (workspace, made) = (text::clean(&manifest.workspace), manifest.made);
        note!("scandeck: {cause}; showing the bundle of {workspace} from {made} UTC");
    }
    Ok(bundles)
}

/// The cause of an error that means that the service is not reachable.
pub fn unreachable(error: &anyhow::Error) -> Option<&'static str> {
    match error.downcast_ref::<Error>()?.kind {
        ErrorKind::NotConfigured => {
            Some("no service is configured, and no local service is running")
        }
        ErrorKind::Connect | ErrorKind::Timeout => Some("service not reachable"),
        _ => None,
    }
}

/// The imported bundles of the selected workspaces.
pub fn selected(session: &HeadlessSession) -> Vec<Bundle> {
    let mut bundles = all(&session.memory);
    bundles.retain(|bundle| session.includes(&bundle.manifest.workspace));
    bundles
}

/// All imported bundles by name, without unreadable files: a bundle only replaces a service.
pub fn all(memory: &Memory) -> Vec<Bundle> {
    let files = std::fs::read_dir(&memory.directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let bundles = files.filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "bundle")
    });
    let mut all: Vec<Bundle> = bundles
        .filter_map(|path| Bundle::read(&read_text(&path, InputKind::Bundle).ok()?).ok())
        .collect();
    all.sort_by(|a, b| a.manifest.workspace.cmp(&b.manifest.workspace));
    all
}
