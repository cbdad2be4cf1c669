//! A request as plain data: built by the endpoints, sent by `exchange`.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;

use reqwest::Method;
use serde::Serialize;

use super::raw::{FormPairs, RequestBody};
use super::{ClientResult, Lane};

/// Items per page of a list.
const PAGE_LIMIT: u32 = 1000;
/// Pages that are read of one list: a service that invents pages must not fill the memory.
const MOST_PAGES: u32 = 500;

#[derive(Clone, Debug)]
pub(super) struct ApiRequest {
    pub method: Method,
    /// Path below the base URL, with a leading slash.
    pub path: String,
    pub query: FormPairs,
    pub body: RequestBody,
    pub accept: &'static str,
    pub lane: Lane,
    pub size: ResponseSize,
    /// The memory of the decoded list.
    pub list: ListSize,
    /// The response is a file, so HTML is acceptable too.
    pub any_content: bool,
}

/// How much of a response is read, and how long that may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseSize {
    /// Single objects and short lists.
    Small,
    /// Findings, captures and files.
    Large,
    /// Single objects as the answer to a file.
    AfterUpload,
}

impl ResponseSize {
    /// Limit in decoded bytes.
    pub fn limit(self) -> usize {
        match self {
            ResponseSize::Small | ResponseSize::AfterUpload => 32 << 20,
            ResponseSize::Large => 512 << 20,
        }
    }

    /// Factor of the total timeout.
    pub fn timeout_factor(self) -> u32 {
        match self {
            ResponseSize::Small => 1,
            ResponseSize::Large => 4,
            // 512 MB over a slow line.
            ResponseSize::AfterUpload => 40,
        }
    }
}

/// Memory that a decoded list may occupy, all its pages together. The lists that a dashboard holds
/// share 512 MB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListSize {
    Findings,
    Scans,
    Targets,
    /// Workspaces, loggers, reports, wordlists, tests.
    Other,
    /// Captures are moved into a ring with a limit of its own.
    Captures,
}

impl ListSize {
    /// Limit in bytes.
    pub fn limit(self) -> usize {
        let megabytes = match self {
            ListSize::Findings => 288,
            ListSize::Scans => 80,
            ListSize::Targets => 64,
            ListSize::Other => 20,
            ListSize::Captures => 512,
        };
        megabytes << 20
    }
}

impl ApiRequest {
    pub fn new(method: Method, path: impl Into<String>, lane: Lane) -> Self {
        Self {
            method,
            path: path.into(),
            query: Vec::new(),
            body: RequestBody::Empty,
            accept: "application/json",
            lane,
            size: ResponseSize::Small,
            list: ListSize::Other,
            any_content: false,
        }
    }

    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path, Lane::Read)
    }

    pub fn post(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path, Lane::Write)
    }

    pub fn put(path: impl Into<String>) -> Self {
        Self::new(Method::PUT, path, Lane::Write)
    }

    pub fn delete(path: impl Into<String>) -> Self {
        Self::new(Method::DELETE, path, Lane::Write)
    }

    /// Adds a query parameter if it has a value.
    pub fn with(mut self, name: &'static str, value: Option<impl Display>) -> Self {
        self.query
            .extend(value.map(|value| (name.into(), value.to_string())));
        self
    }

    /// A form body of the fields that have a value.
    pub fn with_form<const N: usize>(
        mut self,
        fields: [(&'static str, Option<String>); N],
    ) -> Self {
        let filled = fields
            .into_iter()
            .filter_map(|(name, value)| Some((name.into(), value?)));
        self.body = RequestBody::Form(filled.collect());
        self
    }

    /// A JSON body. The bodies of the contract are maps with string keys, so they always have a
    /// JSON form.
    pub fn with_json(mut self, body: &impl Serialize) -> Self {
        self.body = RequestBody::Json(serde_json::to_value(body).unwrap_or_default());
        self
    }

    pub fn accepting(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    pub fn with_size(mut self, size: ResponseSize) -> Self {
        self.size = size;
        self
    }

    pub fn with_list(mut self, list: ListSize) -> Self {
        self.list = list;
        self
    }

    pub fn in_lane(mut self, lane: Lane) -> Self {
        self.lane = lane;
        self
    }

    /// Accepts every content type.
    pub fn for_a_file(mut self) -> Self {
        self.any_content = true;
        self
    }

    /// Whether the request changes data of the service.
    pub fn is_change(&self) -> bool {
        self.method != Method::GET && self.method != Method::HEAD
    }

    /// Whether a request that may have been carried out can be sent again. A deletion cannot: it
    /// could delete captures that arrived after the first one and are not archived.
    pub fn is_repeatable(&self) -> bool {
        self.method != Method::POST && self.method != Method::DELETE
    }
}

/// Reads all pages of a list; `fetch` gets limit and number of a page, and the memory of the pages
/// before, which it returns with that of its own. A page shorter than the limit is the last one. So
/// is a page without new items, for services that ignore `page` (`hosted-service.md`, Lists).
pub(super) async fn all_pages<
    T,
    I: Eq + Hash,
    F: Future<Output = ClientResult<(Vec<T>, usize)>>,
>(
    id: impl Fn(&T) -> I,
    mut fetch: impl FnMut(u32, u32, usize) -> F,
) -> ClientResult<Vec<T>> {
    let (mut items, mut ids, mut memory) = (Vec::new(), HashSet::new(), 0);
    for number in 1..=MOST_PAGES {
        let (page, so_far) = fetch(PAGE_LIMIT, number, memory).await?;
        memory = so_far;
        let is_full = page.len() >= PAGE_LIMIT as usize;
        let before = items.len();
        items.extend(page.into_iter().filter(|item| ids.insert(id(item))));
        if !is_full || items.len() == before {
            break;
        }
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of items and the number of pages read from a service whose page N is `page(N)`.
    async fn read(page: impl Fn(u32) -> std::ops::Range<u32>) -> (usize, u32) {
        let mut pages = 0;
        let fetch = |limit, number, memory| {
            assert_eq!(
                (limit, number, memory),
                (1000, pages + 1, 7 * pages as usize)
            );
            pages = number;
            std::future::ready(Ok((page(number).collect(), memory + 7)))
        };
        let items: Vec<u32> = all_pages(|item| *item, fetch).await.unwrap();
        (items.len(), pages)
    }

    #[tokio::test]
    async fn pages_short_repeated_or_endless_end_the_list() {
        assert_eq!(
            read(|number| if number == 1 { 0..1000 } else { 900..1100 }).await,
            (1100, 2)
        );
        assert_eq!(read(|_| 0..1000).await, (1000, 2));
        assert_eq!(
            read(|number| number * 1000..(number + 1) * 1000).await,
            (500_000, 500)
        );
    }
}
