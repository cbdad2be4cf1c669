//! Settings in the store of decisions, by name and workspace. Settings of a kind are named
//! `kind:name`.

use std::collections::BTreeMap;

use crate::oob::Network;
use scandeck_wire::contract::Shared;

/// JSON values by name and workspace; an empty workspace is the service as a whole.
pub type StoredSettings = BTreeMap<(Shared, Shared), String>;

/// Kind of settings for the analyst's addresses.
pub const OWN_ADDRESSES: &str = "own_addresses";

/// The last view of a workspace, with its filters.
pub const VIEW: &str = "view";
/// When the workspace was last visited.
pub const VISITED_AT: &str = "looked";

/// Settings of one person about a workspace, which bundles leave out.
const PERSONAL: [&str; 2] = [VIEW, VISITED_AT];

/// Whether a setting belongs to one person, not to the workspace.
pub fn is_personal(key: &str) -> bool {
    PERSONAL.contains(&key)
}

/// The name of one setting of a kind.
pub fn setting(of: &str, name: &str) -> Shared {
    format!("{of}:{name}").into()
}

/// The settings of a kind that were not removed: name and value.
pub fn settings_of(settings: &StoredSettings, of: &str, workspace: &str) -> Vec<(String, String)> {
    let stored = settings
        .iter()
        .filter(|((_, place), _)| **place == *workspace);
    let named = stored
        .filter_map(|((key, _), json)| Some((key.strip_prefix(of)?.strip_prefix(':')?, json)));
    named
        .filter_map(|(name, json)| {
            Some((
                name.to_owned(),
                serde_json::from_str::<Option<String>>(json).ok()??,
            ))
        })
        .collect()
}

/// The analyst's addresses: configured and marked ones.
pub fn own_addresses(settings: &StoredSettings, configured: &[Network]) -> Vec<Network> {
    let marked = settings_of(settings, OWN_ADDRESSES, "");
    let marked = marked
        .iter()
        .filter_map(|(address, _)| address.parse().ok());
    configured.iter().copied().chain(marked).collect()
}
