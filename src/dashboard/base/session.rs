//! Which service the dashboard is on, under which name.

use crate::contract::Shared;
use crate::oob::Network;

/// Which service the dashboard is on.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// For the header: `local`, `demo`, or the profile's name.
    pub name: String,
    /// Base URL, for copies as curl.
    pub base_url: String,
    /// Actions that leave the machine are off.
    pub read_only: bool,
    /// A throw-away world: leaving ends it.
    pub demo: bool,
    /// Opened from a bundle: there is no service.
    pub bundled: bool,
    /// Where the practice target of the demo can be played with.
    pub practice: Option<Playground>,
    /// What stands for the workspace in fingerprints: set in the profile when a shared file must fit several servers.
    pub alias: Shared,
    /// Addresses of the analyst's: what comes from there was not sent by a target.
    pub own_addresses: Vec<Network>,
    /// Name or id of the workspace to work in at first; otherwise it is the first one that has targets.
    pub workspace: Option<String>,
}

/// Addresses of the demo's practice target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Playground {
    /// Where it is mended and broken.
    pub control: String,
    /// Where it requests what it is given.
    pub fetch: String,
    /// A file for `.` in a shell: scripts work on the demo then.
    pub script_file: String,
}
