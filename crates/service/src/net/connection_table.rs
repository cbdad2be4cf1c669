//! The open connections of one listener, and which of them is closed when there is no room for a
//! new one.
//!
//! ```text
//!              handshake            first request          response sent
//!   admitted ────────────► Unfinished ──────────► Answering ────────────► Idle ─► Answering …
//!   (TLS: Handshake)       no whole request       not closed for 5 s       │
//!                                                                          └─ with a valid key: not closed
//!   no room ─► the address with the most unfinished connections (more than 8) loses its oldest
//!           └► otherwise the address with the most connections loses the one that is closed first: Stage, then age
//! ```
//!
//! An address that floods the listener therefore displaces its own connections. An address with few
//! connections has a second to send its request; the newcomer waits for so long. Part of the places
//! is for connections with a valid key and for addresses that had one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::net::connections::{ConnectionLimits, client_of};

/// Most connections that one address may hold without losing the oldest at once.
const FEW: usize = 8;
/// The same as a share of all connections, and of all handshakes: otherwise a few addresses would
/// use up a low limit.
const FEW_SHARE: usize = 4;
const HANDSHAKE_SHARE: usize = 16;
/// How long a connection of an address with few connections stays open in any case.
const GRACE: Duration = Duration::from_secs(1);
/// How long a whole request may be answered before its connection may be closed: its client does
/// not read the response.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// How often a newcomer that waits is tried again.
const RETRY: Duration = Duration::from_millis(100);
/// Addresses with a valid key that are remembered.
const KEY_CLIENTS: usize = 1024;
/// How long they are remembered.
const KEY_TIME: Duration = Duration::from_secs(60 * 60);

/// The progress of a connection. The order is that in which connections of one address are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Handshake,
    /// Without a whole request.
    Unfinished,
    /// Between whole requests.
    Idle,
    /// A whole request is being answered.
    Answering,
}

#[derive(Debug)]
struct OpenConnection {
    client: IpAddr,
    opened: Instant,
    stage: Stage,
    stage_since: Instant,
    has_key: bool,
    evicted: CancellationToken,
}

impl OpenConnection {
    fn is_unfinished(&self) -> bool {
        self.stage <= Stage::Unfinished
    }

    /// Whether it may be closed for a newcomer.
    fn may_close(&self, now: Instant) -> bool {
        !self.has_key && (self.stage != Stage::Answering || now - self.stage_since >= ANSWER_TIME)
    }
}

/// The open connections of a listener.
#[derive(Clone, Debug)]
pub struct ConnectionTable(Arc<SharedTable>);

#[derive(Debug)]
struct SharedTable {
    places: Mutex<OpenPlaces>,
    /// Notified when a connection was closed or may be closed now.
    changed: Notify,
}

impl SharedTable {
    fn places(&self) -> MutexGuard<'_, OpenPlaces> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionTable {
    pub fn new(limits: &ConnectionLimits) -> Self {
        let places = Mutex::new(OpenPlaces::new(limits));
        Self(Arc::new(SharedTable {
            places,
            changed: Notify::new(),
        }))
    }

    /// A place for a new connection, as soon as there is room; `None` when its address has too many
    /// connections.
    pub async fn admit(&self, client: IpAddr, first: FirstStep) -> Option<ConnectionPlace> {
        loop {
            let admission = self
                .0
                .places()
                .admit(client_of(client), first, Instant::now());
            match admission {
                Admission::Admitted { id, evicted } => {
                    return Some(ConnectionPlace {
                        id,
                        evicted,
                        table: Arc::clone(&self.0),
                    });
                }
                Admission::TooMany => return None,
                Admission::Wait => {
                    drop(tokio::time::timeout(RETRY, self.0.changed.notified()).await)
                }
            }
        }
    }
}

/// The first step of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstStep {
    /// A TLS handshake.
    Handshake,
    Request,
}

/// The place of one connection in the table, which is free again when it is dropped.
#[derive(Debug)]
pub struct ConnectionPlace {
    id: u64,
    evicted: CancellationToken,
    table: Arc<SharedTable>,
}

impl ConnectionPlace {
    /// Reports the progress of the connection; can be cloned and kept longer than the place.
    pub fn marks(&self) -> ConnectionMarks {
        ConnectionMarks {
            id: self.id,
            evicted: self.evicted.clone(),
            table: Arc::clone(&self.table),
        }
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.table.places().close(self.id);
        self.table.changed.notify_one();
    }
}

/// Reports the progress of a connection to the table.
#[derive(Clone, Debug)]
pub struct ConnectionMarks {
    id: u64,
    evicted: CancellationToken,
    table: Arc<SharedTable>,
}

impl ConnectionMarks {
    /// The TLS handshake is complete.
    pub fn handshake_done(&self) {
        self.enter(Stage::Unfinished);
    }

    /// A request has begun whose body is not complete.
    pub fn request_begun(&self) {
        self.enter(Stage::Unfinished);
    }

    /// The last byte of a request was read.
    pub fn request_whole(&self) {
        self.enter(Stage::Answering);
    }

    /// The response was sent.
    pub fn request_answered(&self) {
        self.enter(Stage::Idle);
        self.table.changed.notify_one();
    }

    /// A request with a valid key: the connection is no longer closed for others, and its address
    /// may use the reserve.
    pub fn key_proven(&self) {
        self.table.places().prove_key(self.id, Instant::now());
    }

    /// Waits until the connection lost its place to another one. Its owner then closes it soon.
    pub async fn evicted(&self) {
        self.evicted.cancelled().await;
    }

    fn enter(&self, stage: Stage) {
        self.table.places().enter(self.id, stage, Instant::now());
    }
}

#[derive(Debug)]
enum Admission {
    Admitted {
        id: u64,
        evicted: CancellationToken,
    },
    /// The address has too many connections, which all serve requests.
    TooMany,
    /// There is no connection to close yet.
    Wait,
}

/// The table without locks and clock.
#[derive(Debug)]
struct OpenPlaces {
    connections: usize,
    per_client: usize,
    handshakes: usize,
    reserve: usize,
    /// Connections that one address may hold without losing the oldest at once.
    few: usize,
    next_id: u64,
    /// By id, and therefore by age.
    open: BTreeMap<u64, OpenConnection>,
    /// When an address last had a connection with a valid key.
    key_clients: HashMap<IpAddr, Instant>,
}

impl OpenPlaces {
    fn new(limits: &ConnectionLimits) -> Self {
        let connections = limits.connections.max(1);
        Self {
            connections,
            per_client: limits.per_client.max(1),
            handshakes: limits.handshakes.max(1),
            reserve: limits.reserve.min(connections / 2),
            few: FEW.min(connections / FEW_SHARE).max(2),
            next_id: 0,
            open: BTreeMap::new(),
            key_clients: HashMap::new(),
        }
    }

    fn admit(&mut self, client: IpAddr, first: FirstStep, now: Instant) -> Admission {
        let of_client = self
            .open
            .values()
            .filter(|one| one.client == client)
            .count();
        if of_client >= self.per_client {
            match self.to_close(now, self.few, |one| one.client == client) {
                Some(id) => self.evict(id),
                None => return Admission::TooMany,
            }
        }
        let handshakes = self
            .open
            .values()
            .filter(|one| one.stage == Stage::Handshake)
            .count();
        if first == FirstStep::Handshake && handshakes >= self.handshakes {
            let few = FEW.min(self.handshakes / HANDSHAKE_SHARE);
            match self.to_close(now, few, |one| one.stage == Stage::Handshake) {
                Some(id) => self.evict(id),
                None => return Admission::Wait,
            }
        }
        if !self.has_room(client, now) {
            match self.to_close(now, self.few, |_| true) {
                Some(id) => self.evict(id),
                None => return Admission::Wait,
            }
        }
        Admission::Admitted {
            id: self.next_id,
            evicted: self.open(client, first, now),
        }
    }

    /// Whether a connection of this address needs no other one to be closed.
    fn has_room(&self, client: IpAddr, now: Instant) -> bool {
        let had_key = self
            .key_clients
            .get(&client)
            .is_some_and(|at| now.saturating_duration_since(*at) < KEY_TIME);
        let without_key = || self.open.values().filter(|one| !one.has_key).count();
        self.open.len() < self.connections
            && (had_key || without_key() < self.connections - self.reserve)
    }

    fn open(&mut self, client: IpAddr, first: FirstStep, now: Instant) -> CancellationToken {
        let evicted = CancellationToken::new();
        let stage = match first {
            FirstStep::Handshake => Stage::Handshake,
            FirstStep::Request => Stage::Unfinished,
        };
        let connection = OpenConnection {
            client,
            opened: now,
            stage,
            stage_since: now,
            has_key: false,
            evicted: evicted.clone(),
        };
        self.open.insert(self.next_id, connection);
        self.next_id += 1;
        evicted
    }

    /// The connection to close for a newcomer, among those that `is_candidate` selects. An address
    /// with more than `few` connections loses one at once.
    fn to_close(
        &self,
        now: Instant,
        few: usize,
        is_candidate: impl Fn(&OpenConnection) -> bool,
    ) -> Option<u64> {
        let candidates = || {
            self.open
                .iter()
                .filter(|(_, one)| is_candidate(one) && one.may_close(now))
        };
        let unfinished = first_by_client(candidates().filter(|(_, one)| one.is_unfinished()));
        let of_flood = |first: &ClientConnections| first.count > few;
        let settled = || {
            first_by_client(
                candidates().filter(|(_, one)| now.saturating_duration_since(one.opened) >= GRACE),
            )
        };
        let choice = unfinished
            .filter(of_flood)
            .or_else(|| first_by_client(candidates()).filter(of_flood));
        choice.or_else(settled).map(|first| first.id)
    }

    fn evict(&mut self, id: u64) {
        if let Some(connection) = self.open.remove(&id) {
            connection.evicted.cancel();
        }
    }

    fn close(&mut self, id: u64) {
        self.open.remove(&id);
    }

    fn enter(&mut self, id: u64, stage: Stage, now: Instant) {
        if let Some(connection) = self.open.get_mut(&id) {
            (connection.stage, connection.stage_since) = (stage, now);
        }
    }

    fn prove_key(&mut self, id: u64, now: Instant) {
        let Some(connection) = self.open.get_mut(&id) else {
            return;
        };
        connection.has_key = true;
        if self.key_clients.len() >= KEY_CLIENTS
            && !self.key_clients.contains_key(&connection.client)
        {
            let oldest = self
                .key_clients
                .iter()
                .min_by_key(|(_, at)| **at)
                .map(|(client, _)| *client);
            oldest.and_then(|client| self.key_clients.remove(&client));
        }
        self.key_clients.insert(connection.client, now);
    }
}

/// The connections of one address, and the one that is closed first.
#[derive(Clone, Copy, Debug)]
struct ClientConnections {
    count: usize,
    stage: Stage,
    id: u64,
}

/// Those of the address with the most connections.
fn first_by_client<'a>(
    connections: impl Iterator<Item = (&'a u64, &'a OpenConnection)>,
) -> Option<ClientConnections> {
    let mut clients: HashMap<IpAddr, ClientConnections> = HashMap::new();
    for (&id, connection) in connections {
        let stage = connection.stage;
        let first = clients
            .entry(connection.client)
            .or_insert(ClientConnections {
                count: 0,
                stage,
                id,
            });
        first.count += 1;
        if stage < first.stage {
            (first.stage, first.id) = (stage, id);
        }
    }
    clients
        .into_values()
        .max_by_key(|first| (first.count, Reverse((first.stage, first.id))))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Script {
        places: OpenPlaces,
        now: Instant,
    }

    impl Script {
        fn new(connections: usize, handshakes: usize, reserve: usize) -> Self {
            let limits = ConnectionLimits {
                connections,
                handshakes,
                reserve,
                ..ConnectionLimits::default()
            };
            Self {
                places: OpenPlaces::new(&limits),
                now: Instant::now(),
            }
        }

        fn admit(&mut self, client: u8, first: FirstStep) -> Admission {
            self.places.admit(address(client), first, self.now)
        }

        /// Opens connections; returns their ids.
        fn open(&mut self, client: u8, first: FirstStep, count: usize) -> Vec<u64> {
            let admitted = |admission| match admission {
                Admission::Admitted { id, .. } => id,
                other => panic!("{other:?}"),
            };
            (0..count)
                .map(|_| admitted(self.admit(client, first)))
                .collect()
        }

        fn is_open(&self, id: u64) -> bool {
            self.places.open.contains_key(&id)
        }

        fn enter(&mut self, ids: &[u64], stage: Stage) {
            ids.iter()
                .for_each(|id| self.places.enter(*id, stage, self.now));
        }

        fn pass(&mut self, time: Duration) {
            self.now += time;
        }
    }

    fn address(last: u8) -> IpAddr {
        [127, 0, 0, last].into()
    }

    #[tokio::test]
    async fn flood_of_unfinished_requests_displaces_its_own_oldest() {
        let mut script = Script::new(30, 30, 0);
        let honest = script.open(1, FirstStep::Request, 1)[0];
        let flood = script.open(2, FirstStep::Request, 29);
        let other = script.open(3, FirstStep::Request, 1)[0];
        assert!(!script.is_open(flood[0]) && script.is_open(flood[1]));
        let more = script.open(2, FirstStep::Request, 300);
        assert!(script.is_open(honest) && script.is_open(other) && script.is_open(more[299]));
        assert_eq!(script.places.open.len(), 30);
    }

    #[tokio::test]
    async fn idle_connections_do_not_displace_a_newcomer_by_new_requests() {
        let mut script = Script::new(30, 30, 0);
        let idle = script.open(2, FirstStep::Request, 29);
        script.enter(&idle, Stage::Idle);
        let honest = script.open(1, FirstStep::Request, 1)[0];
        script.open(2, FirstStep::Request, 100);
        assert!(script.is_open(honest));
    }

    #[tokio::test]
    async fn whole_requests_and_young_connections_of_small_clients_are_not_closed() {
        let mut script = Script::new(4, 4, 0);
        let ids: Vec<u64> = (1..=4)
            .map(|client| script.open(client, FirstStep::Request, 1)[0])
            .collect();
        script.enter(&ids[..1], Stage::Answering);
        assert!(matches!(
            script.admit(9, FirstStep::Request),
            Admission::Wait
        ));
        script.pass(GRACE);
        script.open(9, FirstStep::Request, 1);
        assert!(script.is_open(ids[0]) && !script.is_open(ids[1]) && script.is_open(ids[2]));
        script.pass(ANSWER_TIME);
        script.enter(&ids[2..], Stage::Idle);
        for client in 10..14 {
            assert!(script.is_open(ids[0]));
            script.open(client, FirstStep::Request, 1);
        }
        assert!(!script.is_open(ids[0]), "a response that nobody reads");
    }

    #[tokio::test]
    async fn two_addresses_do_not_use_up_a_low_limit() {
        let mut script = Script::new(8, 8, 0);
        for client in [1, 2] {
            script.open(client, FirstStep::Request, 4);
        }
        script.open(3, FirstStep::Request, 1);
    }

    #[tokio::test]
    async fn handshakes_have_a_limit_of_their_own() {
        let mut script = Script::new(100, 10, 0);
        let flood = script.open(2, FirstStep::Handshake, 50);
        assert_eq!(script.places.open.len(), 10);
        let honest = script.open(1, FirstStep::Handshake, 1)[0];
        let more = script.open(2, FirstStep::Handshake, 50);
        assert!(script.is_open(honest) && !script.is_open(flood[49]) && script.is_open(more[49]));
        script.enter(&[honest], Stage::Unfinished);
        assert_eq!(script.open(1, FirstStep::Handshake, 1).len(), 1);
    }

    #[tokio::test]
    async fn reserve_is_for_addresses_with_a_valid_key() {
        let mut script = Script::new(20, 20, 5);
        let with_key = script.open(1, FirstStep::Request, 2);
        script.places.prove_key(with_key[0], script.now);
        for client in 10..24 {
            script.open(client, FirstStep::Request, 1);
        }
        // 15 places are in use by connections without a key that are young.
        assert!(matches!(
            script.admit(30, FirstStep::Request),
            Admission::Wait
        ));
        let reserved = script.open(1, FirstStep::Request, 4);
        assert!(matches!(
            script.admit(1, FirstStep::Request),
            Admission::Wait
        ));
        script.pass(KEY_TIME);
        script.enter(&reserved, Stage::Answering);
        script.open(30, FirstStep::Request, 1);
        assert!(
            script.is_open(with_key[0]),
            "a connection with a key is not closed"
        );
    }

    #[tokio::test]
    async fn address_at_its_limit_loses_its_oldest_or_is_turned_away() {
        let mut script = Script::new(100, 100, 0);
        script.places.per_client = 10;
        let ids = script.open(1, FirstStep::Request, 11);
        assert!(!script.is_open(ids[0]) && script.is_open(ids[1]));
        script.enter(&ids, Stage::Answering);
        assert!(matches!(
            script.admit(1, FirstStep::Request),
            Admission::TooMany
        ));
        script.open(2, FirstStep::Request, 1);
    }

    #[tokio::test]
    async fn remembered_addresses_are_bounded() {
        let mut script = Script::new(5000, 1, 0);
        for n in 0..2000_u32 {
            let client = IpAddr::from(std::net::Ipv4Addr::from(n));
            let id = script.places.next_id;
            script.places.open(client, FirstStep::Request, script.now);
            script.places.prove_key(id, script.now);
        }
        assert_eq!(script.places.key_clients.len(), KEY_CLIENTS);
    }
}
