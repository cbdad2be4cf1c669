//! Lists that are sent while they are read.
//!
//! ```text
//!   ids ─► batches ─► rows of one batch ─► JSON text ─► client
//!                       ▲                     │ sent? (a slow client holds one batch, and no connection to the database)
//!                       └─────────────────────┘
//! ```
//!
//! The ids are read once, so the list has no gaps when rows are added or deleted meanwhile. The
//! first batch is read before the response begins: an error of the database is then still an error
//! response.

use std::future::Future;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::stream;

use crate::store::{DatabaseError, StoreResult};

/// The text around the items of `{"data": [...]}`.
pub const LIST: (&str, &str) = ("{\"data\":[", "]}");

/// A response with the items of `batches` between the two texts of `around`. `read` returns the
/// items of a batch as JSON.
///
/// # Errors
/// When the first batch cannot be read. A later error closes the connection, so that clients notice
/// the missing rest.
pub async fn respond<T, F, R>(
    around: (impl Into<String>, &'static str),
    batches: Vec<T>,
    read: F,
) -> StoreResult<Response>
where
    T: Send + 'static,
    F: Fn(T) -> R + Send + 'static,
    R: Future<Output = StoreResult<Vec<String>>> + Send + 'static,
{
    let mut batches = batches.into_iter();
    let mut text = around.0.into();
    let start = text.len();
    if let Some(batch) = batches.next() {
        text.push_str(&read(batch).await?.join(","));
    }
    let kind = [(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    )];
    if batches.len() == 0 {
        text.push_str(around.1);
        return Ok((kind, text).into_response());
    }
    let rest = ListRest {
        has_items: text.len() > start,
        batches,
        read,
        end: Some(around.1),
    };
    let first = Ok::<_, DatabaseError>(Bytes::from(text));
    let first = stream::once(std::future::ready(first));
    let rest = stream::try_unfold(rest, ListRest::next);
    let body = Body::from_stream(futures::StreamExt::chain(first, rest));
    Ok((kind, body).into_response())
}

/// The part of a list that was not sent yet.
struct ListRest<T, F> {
    batches: std::vec::IntoIter<T>,
    read: F,
    /// Whether items were sent, which a comma has to follow.
    has_items: bool,
    /// The text after the last item, until it is sent.
    end: Option<&'static str>,
}

impl<T, F, R> ListRest<T, F>
where
    F: Fn(T) -> R,
    R: Future<Output = StoreResult<Vec<String>>>,
{
    /// The next bytes of the body.
    async fn next(mut self) -> StoreResult<Option<(Bytes, Self)>> {
        let Some(batch) = self.batches.next() else {
            let end = self.end.take();
            return Ok(end.map(|end| (Bytes::from_static(end.as_bytes()), self)));
        };
        let items = (self.read)(batch).await?;
        let mut text = String::with_capacity(items.iter().map(|item| item.len() + 1).sum());
        for item in &items {
            if self.has_items {
                text.push(',');
            }
            text.push_str(item);
            self.has_items = true;
        }
        Ok(Some((Bytes::from(text), self)))
    }
}

/// Ids in batches of this number.
pub fn batches(ids: Vec<i64>, size: usize) -> Vec<Vec<i64>> {
    ids.chunks(size.max(1)).map(<[i64]>::to_vec).collect()
}

/// Ids in batches whose rows together have about this number of bytes.
pub fn batches_of_bytes(rows: Vec<(i64, i64)>, bytes: i64) -> Vec<Vec<i64>> {
    let (mut batches, mut size) = (Vec::<Vec<i64>>::new(), i64::MAX);
    for (id, length) in rows {
        size = size.saturating_add(length);
        match batches.last_mut() {
            Some(batch) if size <= bytes => batch.push(id),
            _ => {
                batches.push(vec![id]);
                size = length;
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn text(batches: Vec<Vec<i64>>) -> String {
        let read = |ids: Vec<i64>| async move {
            Ok(ids
                .into_iter()
                .filter(|id| *id > 0)
                .map(|id| id.to_string())
                .collect())
        };
        let response = respond(LIST, batches, read).await.unwrap();
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX)
            .await
            .unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn batches_form_one_list() {
        assert_eq!(text(vec![]).await, r#"{"data":[]}"#);
        assert_eq!(
            text(batches(vec![1, 2, 3, 4, 5], 2)).await,
            r#"{"data":[1,2,3,4,5]}"#
        );
        // Rows of a batch may have been deleted after the ids were read.
        assert_eq!(
            text(vec![vec![0], vec![0, 1], vec![0], vec![2], vec![0]]).await,
            r#"{"data":[1,2]}"#
        );
        assert_eq!(text(vec![vec![0], vec![0]]).await, r#"{"data":[]}"#);
    }

    #[tokio::test]
    async fn error_after_the_first_batch_ends_the_body_with_an_error() {
        let read = |id: i64| async move {
            if id > 1 {
                Err(DatabaseError::PoolClosed)
            } else {
                Ok(vec![id.to_string()])
            }
        };
        let response = respond(LIST, vec![1, 2], read).await.unwrap();
        assert!(
            axum::body::to_bytes(response.into_body(), usize::MAX)
                .await
                .is_err()
        );
        assert!(respond(LIST, vec![2], read).await.is_err());
    }

    #[test]
    fn batches_of_bytes_are_limited_and_never_empty() {
        let rows = vec![(1, 10), (2, 10), (3, 50), (4, 10), (5, 10)];
        assert_eq!(
            batches_of_bytes(rows, 20),
            [vec![1, 2], vec![3], vec![4, 5]]
        );
    }
}
