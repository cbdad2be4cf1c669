//! The service that the dashboard is connected to.

use crate::config::ProfileColour;
use scandeck_domain::oob::Network;
use scandeck_wire::contract::Shared;

/// The service that the dashboard is connected to.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// For the header: `local`, `demo`, or the profile's name.
    pub name: String,
    /// Base URL, for copies as curl.
    pub base_url: String,
    /// The flags by which a command finds this service, such as `--profile prod`; without its base
    /// URL.
    pub service_flags: Vec<String>,
    /// The colour of its name, from the profile.
    pub colour: Option<ProfileColour>,
    /// Actions that change the service are off.
    pub read_only: bool,
    /// Proofs may carry a payload (`--allow-active`).
    pub allow_active: bool,
    /// A temporary demo, which ends with the dashboard.
    pub demo: bool,
    /// This machine has a browser that the user can see.
    pub has_browser: bool,
    /// Opened from a bundle: there is no service.
    pub bundled: bool,
    /// The local service of this machine, which the dashboard can start.
    pub starts_service: bool,
    /// The practice target of the demo.
    pub practice: Option<Playground>,
    /// Whether the API key can be read again from its source. One of the environment cannot.
    pub reads_key_again: bool,
    /// Where the API key came from.
    pub key_source: String,
    /// Represents the workspace in fingerprints: set in the profile when several servers share a
    /// file of decisions.
    pub alias: Shared,
    /// Addresses of the analyst: requests from there were not sent by a target.
    pub own_addresses: Vec<Network>,
    /// Name or id of the first workspace; by default the first one with targets.
    pub workspace: Option<String>,
}

/// Addresses of the demo's practice target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Playground {
    /// Where its weaknesses are switched on and off.
    pub control: String,
    /// Where it requests a given URL.
    pub fetch: String,
    /// A file for `.` in a shell: scripts work on the demo then.
    pub script_file: String,
}
