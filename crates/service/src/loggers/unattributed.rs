//! What arrived at the loggers' listener for no logger: other protocols, garbage, and paths of no
//! logger.
//!
//! Anyone may send it, so it is counted, and the newest is kept in memory only, up to a number and
//! a size.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;

use scandeck_wire::contract::{Stamp, UnattributedRequest, UnattributedRequests};

/// Requests that are kept.
const MOST: usize = 1000;
/// Bytes of one request that are kept.
const LONGEST: usize = 16 * 1024;
/// Bytes of all requests that are kept.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The newest requests for no logger, and the number of all since the start.
#[derive(Debug, Default)]
pub struct UnattributedList(Mutex<KeptRequests>);

#[derive(Debug, Default)]
struct KeptRequests {
    count: u64,
    bytes: usize,
    /// Oldest first.
    requests: VecDeque<KeptRequest>,
}

#[derive(Debug)]
struct KeptRequest {
    id: u64,
    client: SocketAddr,
    received_at: Timestamp,
    reason: String,
    size: usize,
    /// The first bytes.
    raw: Vec<u8>,
}

impl UnattributedList {
    pub fn add(&self, client: SocketAddr, received_at: Timestamp, reason: String, bytes: &[u8]) {
        let (size, raw) = (bytes.len(), bytes[..bytes.len().min(LONGEST)].to_vec());
        let mut kept = self.kept();
        kept.count += 1;
        kept.bytes += raw.len();
        let id = kept.count;
        kept.requests.push_back(KeptRequest {
            id,
            client,
            received_at,
            reason,
            size,
            raw,
        });
        while kept.requests.len() > MOST || kept.bytes > MOST_BYTES {
            let oldest = kept
                .requests
                .pop_front()
                .map_or(0, |oldest| oldest.raw.len());
            kept.bytes -= oldest;
        }
    }

    /// The number of all since the start.
    pub fn count(&self) -> u64 {
        self.kept().count
    }

    /// As sent to clients, oldest first.
    pub fn to_contract(&self) -> UnattributedRequests {
        let kept = self.kept();
        let requests = kept.requests.iter().map(|one| UnattributedRequest {
            id: i64::try_from(one.id).unwrap_or(i64::MAX),
            ip_address: one.client.ip().to_canonical().to_string().into(),
            remote_port: i64::from(one.client.port()),
            request_date: Some(Stamp(one.received_at)),
            reason: one.reason.as_str().into(),
            size: i64::try_from(one.size).unwrap_or(i64::MAX),
            raw_base64: STANDARD.encode(&one.raw).into(),
        });
        UnattributedRequests {
            count: i64::try_from(kept.count).unwrap_or(i64::MAX),
            requests: requests.collect(),
        }
    }

    fn kept(&self) -> MutexGuard<'_, KeptRequests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(list: &UnattributedList, bytes: &[u8]) {
        list.add(
            "127.0.0.1:9".parse().unwrap(),
            Timestamp::UNIX_EPOCH,
            "reason".to_owned(),
            bytes,
        );
    }

    #[test]
    fn list_counts_all_and_keeps_the_newest() {
        let list = UnattributedList::default();
        for n in 0..MOST + 5 {
            add(&list, format!("request {n}").as_bytes());
        }
        let sent = list.to_contract();
        assert_eq!(
            (sent.count, sent.requests.len(), sent.requests[0].id),
            (1005, MOST, 6)
        );
        assert_eq!(
            sent.requests[0].raw_base64.as_str(),
            STANDARD.encode("request 5")
        );
        for _ in 0..300 {
            add(&list, &[b'x'; 20_000]);
        }
        let sent = list.to_contract();
        let newest = sent.requests.last().unwrap();
        assert_eq!(
            (newest.size, newest.raw_base64.len()),
            (20_000, LONGEST.div_ceil(3) * 4)
        );
        assert_eq!(sent.requests.len(), MOST_BYTES / LONGEST);
        assert_eq!(list.kept().bytes, MOST_BYTES);
    }
}
