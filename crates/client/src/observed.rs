//! Metadata of calls: the number of sent requests and of received bytes, the unreadable items of
//! lists, and the tags of responses.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use reqwest::header::HeaderValue;

use super::request::ApiRequest;
use scandeck_wire::contract::Unreadable;

/// The `ETag`s of responses, by the path and query of their requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntityTags(BTreeMap<String, HeaderValue>);

impl EntityTags {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn of(&self, request: &ApiRequest) -> Option<&HeaderValue> {
        self.0.get(&key(request)?)
    }
}

/// Only reads have tags. A list of several pages has none: one page says nothing about the others.
fn key(request: &ApiRequest) -> Option<String> {
    (!request.is_change()).then(|| format!("{}?{:?}", request.path, request.query))
}

fn is_later_page(request: &ApiRequest) -> bool {
    request
        .query
        .iter()
        .any(|(name, page)| name == "page" && page != "1")
}

/// Calls, unreadable items and tags.
#[derive(Debug, Default)]
pub(super) struct Observed {
    calls: AtomicU32,
    /// Bytes of bodies, also while they arrive.
    pub received: AtomicU64,
    unreadable: Mutex<Unreadable>,
    tags: Mutex<EntityTags>,
}

impl Observed {
    pub fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }

    pub fn add_unreadable(&self, items: Unreadable) {
        // The lock protects plain lists, which stay usable after a panic of another holder.
        self.unreadable
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(items);
    }

    /// Takes the tag of a response. From the second page of a list on, the tags of its pages are
    /// dropped.
    pub fn add_tag(&self, request: &ApiRequest, tag: Option<&HeaderValue>) {
        let mut tags = self.tags.lock().unwrap_or_else(PoisonError::into_inner);
        match (key(request), tag) {
            _ if is_later_page(request) => tags.0.clear(),
            (Some(key), Some(tag)) => _ = tags.0.insert(key, tag.clone()),
            _ => {}
        }
    }

    pub fn tags(&self) -> EntityTags {
        self.tags
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub fn unreadable(&self) -> Unreadable {
        self.unreadable
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
