//! Bundles that were taken up here: what the service told when they were made, for the time when it is not reached.

use crate::cli::headless::HeadlessSession;
use crate::client::{Error, ErrorKind};
use crate::dashboard::runtime::Memory;
use crate::text;
use crate::triage::Bundle;

/// The bundles that stand in for a service that does not answer, of the workspaces in question.
///
/// # Errors
/// The error that came, where it is another than silence or no bundle was taken up.
pub fn instead(session: &HeadlessSession, error: anyhow::Error) -> anyhow::Result<Vec<Bundle>> {
    let Some(why) = silence(&error) else { return Err(error) };
    let mut bundles = all(&session.memory);
    bundles.retain(|bundle| session.means(&bundle.manifest.workspace));
    if bundles.is_empty() {
        return Err(error);
    }
    for Bundle { manifest, .. } in &bundles {
        let (workspace, made) = (text::clean(&manifest.workspace), manifest.made);
        eprintln!("scandeck: {why}; {workspace} as it was bundled at {made} UTC");
    }
    Ok(bundles)
}

/// Why nothing answers, where this tells that.
pub fn silence(error: &anyhow::Error) -> Option<&'static str> {
    match error.downcast_ref::<Error>()?.kind {
        ErrorKind::NotConfigured => Some("no service is configured, and none runs here"),
        ErrorKind::Connect | ErrorKind::Timeout => Some("the service is not reached"),
        _ => None,
    }
}

/// All bundles that were taken up, by name. Files that cannot be read are left out: they stand in for something else.
pub fn all(memory: &Memory) -> Vec<Bundle> {
    let files = std::fs::read_dir(&memory.directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let bundles = files.filter(|path| path.extension().is_some_and(|ending| ending == "bundle"));
    let mut all: Vec<Bundle> =
        bundles.filter_map(|path| Bundle::read(&std::fs::read_to_string(path).ok()?).ok()).collect();
    all.sort_by(|a, b| a.manifest.workspace.cmp(&b.manifest.workspace));
    all
}
