//! The processes that serve one database (nodes): an extension of the service beside the API v2.
//!
//! ```text
//!   GET /scandeck/v1/nodes   NodeList
//! ```

use serde::{Deserialize, Serialize};

use super::{Shared, Stamp};

/// The path of the nodes, beside that of the API v2.
pub const NODES_ROOT: &str = "/scandeck/v1/nodes";

/// A process that serves the database.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeState {
    /// Random: a process that starts again has another one.
    pub id: Shared,
    /// The name of its machine.
    pub name: Shared,
    /// `api`, `logger` and `worker`, or some of them.
    pub roles: Vec<Shared>,
    pub version: Shared,
    /// By the clock of the database.
    #[serde(deserialize_with = "Stamp::maybe")]
    pub started_at: Option<Stamp>,
    /// Seconds since the node last renewed its claims; after 15 they end, and after 120 those of the
    /// only worker of a place.
    pub seconds_since_beat: i64,
    pub running_scans: i64,
    /// By how many milliseconds the clock of the machine is ahead of that of the database.
    pub clock_ahead_ms: i64,
    /// The place whose scans a worker runs that uses the API; none for a process with a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Shared>,
    /// The id of the place, with which a new scan chooses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpn_profile_uuid: Option<Shared>,
}

impl NodeState {
    /// What it does, and where: `api,worker`, `worker at office`.
    pub fn duties(&self) -> String {
        let roles: Vec<&str> = self.roles.iter().map(|role| role.as_str()).collect();
        let place = self.place.as_ref();
        let place = place.map_or_else(String::new, |place| format!(" at {place}"));
        format!("{}{place}", roles.join(","))
    }

    /// When it last renewed its claims: `4 s ago`.
    pub fn seen(&self) -> String {
        format!("{} s ago", self.seconds_since_beat)
    }

    /// The difference of its clock: `+250 ms`.
    pub fn clock(&self) -> String {
        format!("{:+} ms", self.clock_ahead_ms)
    }
}

/// Letters of the id of a node whose name is not unique.
const SHORT_ID: usize = 4;

/// These nodes; the beginning of its id is added to each name that several of them have, as the
/// nodes of one machine do.
pub fn with_unique_names(nodes: &[NodeState]) -> Vec<NodeState> {
    let named = |node: &NodeState| {
        let same = nodes.iter().filter(|other| other.name == node.name);
        let name = match same.count() {
            0 | 1 => node.name.clone(),
            _ => {
                let id: String = node.id.chars().take(SHORT_ID).collect();
                Shared::from(format!("{} {id}", node.name))
            }
        };
        NodeState {
            name,
            ..node.clone()
        }
    };
    nodes.iter().map(named).collect()
}

/// A place from which scans can run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlaceState {
    pub name: Shared,
    /// With which a new scan chooses it.
    pub vpn_profile_uuid: Shared,
    /// The workers that are connected.
    pub workers: usize,
}

/// The nodes, the oldest first, and the places of the scope and of the keys of workers, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeList {
    pub nodes: Vec<NodeState>,
    pub places: Vec<PlaceState>,
}

/// The note of a scan that names the worker which runs it.
pub fn worker_note(place: &str, worker: &str) -> String {
    format!("{NOTE_BEGIN}{place}{NOTE_MIDDLE}{worker}")
}

/// The note of a scan that no worker of its place has run yet.
pub fn place_note(place: &str) -> String {
    format!("{PLACE_BEGIN}{place}")
}

/// The place in a note of either kind.
pub fn place_in_note(note: &str) -> Option<&str> {
    if let Some(place) = note.strip_prefix(PLACE_BEGIN) {
        return Some(place);
    }
    let (place, _) = note.strip_prefix(NOTE_BEGIN)?.split_once(NOTE_MIDDLE)?;
    Some(place)
}

const PLACE_BEGIN: &str = "to be scanned from ";
const NOTE_BEGIN: &str = "scanned from ";
const NOTE_MIDDLE: &str = " by the worker ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_of_a_clock_has_its_sign() {
        let words = [-4, 0, 2_500].map(|clock_ahead_ms| {
            let node = NodeState {
                clock_ahead_ms,
                ..NodeState::default()
            };
            node.clock()
        });
        assert_eq!(words, ["-4 ms", "+0 ms", "+2500 ms"]);
    }

    #[test]
    fn place_is_read_from_the_notes_that_name_it() {
        let note = place_note("office");
        assert_eq!(note, "to be scanned from office");
        assert_eq!(place_in_note(&note), Some("office"));
        let note = worker_note("office", "office-1");
        assert_eq!(note, "scanned from office by the worker office-1");
        assert_eq!(place_in_note(&note), Some("office"));
        assert_eq!(place_in_note("connected to 127.0.0.1"), None);
    }

    #[test]
    fn nodes_of_one_machine_have_their_ids_in_their_names() {
        let node = |name: &str, id: &str| NodeState {
            name: name.into(),
            id: id.into(),
            ..NodeState::default()
        };
        let nodes = [
            node("build7", "6f0c11aa"),
            node("pc1", "9d"),
            node("build7", "71bb"),
        ];
        let named = with_unique_names(&nodes);
        let names: Vec<&str> = named.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["build7 6f0c", "pc1", "build7 71bb"]);
        assert_eq!(named[0].id, nodes[0].id);
    }

    #[test]
    fn node_is_described_by_roles_place_beat_and_clock() {
        let node = NodeState {
            roles: vec!["worker".into()],
            place: Some("office".into()),
            seconds_since_beat: 4,
            clock_ahead_ms: 250,
            ..NodeState::default()
        };
        assert_eq!(
            [node.duties(), node.seen(), node.clock()],
            ["worker at office", "4 s ago", "+250 ms"]
        );
    }
}
