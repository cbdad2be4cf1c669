//! The archive task as calls use it that delete captures of the service.
//!
//! ```text
//!   captures of the call ─► ArchiveRequest::Archive ─► archived, recognised, reported ─► archived?
//! ```

use crate::runtime::archive::Task;
use crate::runtime::{ArchiveHandle, ArchiveRequest};
use jiff::Timestamp;
use scandeck_client::{CaptureArchive, Problem};
use scandeck_wire::contract::{Capture, Logger, Shared, Stamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc::WeakUnboundedSender;
use tokio::sync::oneshot;

/// Archives the captures of loggers. It does not keep the archive task running at the end of the
/// dashboard.
#[derive(Clone)]
pub(crate) struct CaptureArchiver {
    requests: WeakUnboundedSender<ArchiveRequest>,
    behind: Arc<AtomicUsize>,
}

impl ArchiveHandle {
    pub fn archiver(&self) -> CaptureArchiver {
        CaptureArchiver {
            requests: self.requests.downgrade(),
            behind: Arc::clone(&self.behind),
        }
    }
}

impl CaptureArchive for CaptureArchiver {
    /// Waits until the task has archived the captures.
    async fn archive(
        &mut self,
        workspace: &Shared,
        logger: &Logger,
        captures: Vec<Capture>,
    ) -> Result<usize, Problem> {
        let (reply, answer) = oneshot::channel();
        let captures: Vec<_> = captures.into_iter().map(Arc::new).collect();
        let seen_at = Stamp(Timestamp::now());
        let ended = || Problem::local("the dashboard has ended");
        let requests = self.requests.upgrade().ok_or_else(ended)?;
        self.behind.fetch_add(captures.len(), Ordering::Relaxed);
        requests
            .send(ArchiveRequest::Archive {
                workspace: workspace.clone(),
                logger: Arc::new(logger.clone()),
                seen_at,
                captures,
                reply: Some(reply),
            })
            .map_err(|_| ended())?;
        drop(requests);
        answer.await.map_err(|_| ended())?
    }
}

impl Task {
    /// Whether all captures so far are archived: not while some wait, nor after an error that ends
    /// the use of the archive.
    pub(crate) fn check_usable(&self) -> Result<(), Problem> {
        if let Some((problem, _)) = &self.backlog.outage {
            return Err(Problem::clone(problem));
        }
        match &self.store {
            Some(store) if store.is_writable() => Ok(()),
            Some(store) => Err(Problem::local(format!(
                "{} is read-only",
                store.path().display()
            ))),
            None => Err(Problem::local("the archive is not usable").with_hint("restart scandeck")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use wiremock::matchers::{method, path, query_param, query_param_is_missing};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    use super::*;
    use crate::runtime::archive::tests::{ArchiveTester, capture, ids, payload};
    use scandeck_client::{BaseUrl, Client, ClientSettings};
    use scandeck_domain::oob::ClearedRequests;
    use scandeck_wire::contract::LoggerId;

    /// A service whose logger returns two captures, and a third one in the next response.
    async fn service() -> (MockServer, Client) {
        let server = MockServer::start().await;
        let answer = |data| ResponseTemplate::new(200).set_body_json(json!({ "data": data }));
        let requests = |ids: &[i64]| {
            answer(json!({ "requests": ids.iter().map(|&id| capture(id)).collect::<Vec<_>>() }))
        };
        let data = || Mock::given(path("/api/v2/http_loggers/1/data"));
        let logger = json!({ "id": 1, "label": "probe", "handler_url": "http://127.0.0.1:9/l/x/" });
        Mock::given(path("/api/v2/http_loggers/1"))
            .respond_with(answer(logger))
            .mount(&server)
            .await;
        data()
            .and(query_param_is_missing("since_id"))
            .respond_with(requests(&[1, 2]))
            .mount(&server)
            .await;
        data()
            .and(query_param("since_id", "2"))
            .respond_with(requests(&[3]))
            .mount(&server)
            .await;
        data().respond_with(requests(&[])).mount(&server).await;
        Mock::given(method("DELETE"))
            .and(path("/api/v2/http_loggers/1"))
            .respond_with(ResponseTemplate::new(204))
            .with_priority(1)
            .mount(&server)
            .await;
        let base = BaseUrl::parse(&server.uri(), false).unwrap();
        let mut settings = ClientSettings::new(base, "k".to_owned().into());
        settings.retry_delay = Duration::from_millis(1);
        (server, Client::new(settings).unwrap())
    }

    /// Archives the captures of the logger, then deletes it.
    async fn delete_logger(
        app: &ArchiveTester,
        client: &Client,
        workspace: &str,
    ) -> Result<ClearedRequests, Problem> {
        let logger = client.get_logger(LoggerId(1)).await?;
        let archive = &mut app.archive.archiver();
        client
            .archive_and_delete_logger(archive, &workspace.into(), &logger)
            .await
    }

    #[tokio::test]
    async fn unread_captures_are_archived_and_counted_before_call() {
        let (temp, (_server, client)) = (tempfile::tempdir().unwrap(), service().await);
        let mut app = ArchiveTester::open(temp.path(), None);
        app.opened().await;
        app.archive
            .send(ArchiveRequest::Plant(vec![payload(2), payload(3)]));
        app.recalled().await;
        let deleted = delete_logger(&app, &client, "Acme").await.unwrap();
        assert_eq!((deleted.requests, deleted.archived), (3, 3));
        assert_eq!(
            [ids(&app.captures().await), ids(&app.captures().await)],
            [vec![1, 2], vec![3]]
        );
        app.counted([(2, 1), (3, 1)]).await;
        app.archive.end().await;
        let mut app = ArchiveTester::open(temp.path(), None);
        app.opened().await;
        assert_eq!(ids(&app.recalled().await[0].captures), [1, 2, 3]);
    }

    #[tokio::test]
    async fn captures_of_other_workspace_are_archived_there() {
        let (temp, (_server, client)) = (tempfile::tempdir().unwrap(), service().await);
        let mut app = ArchiveTester::open(temp.path(), None);
        app.opened().await;
        app.recalled().await;
        delete_logger(&app, &client, "Other").await.unwrap();
        let other = vec![Capture::clone(&capture(9))];
        app.archive
            .archiver()
            .archive(&"Acme".into(), &Logger::default(), other)
            .await
            .unwrap();
        assert_eq!(ids(&app.captures().await), [9]);
        app.archive.send(ArchiveRequest::Recall(1, "Other".into()));
        assert_eq!(ids(&app.recalled().await[0].captures), [1, 2, 3]);
    }

    #[tokio::test]
    async fn call_without_archive_or_response_is_refused_with_hint() {
        let (temp, (server, client)) = (tempfile::tempdir().unwrap(), service().await);
        std::fs::write(temp.path().join("file"), "").unwrap();
        let refusal_of = async |app: &ArchiveTester| {
            let problem = delete_logger(app, &client, "Acme").await.unwrap_err();
            assert!(
                problem
                    .hint
                    .as_ref()
                    .unwrap()
                    .ends_with("`scandeck api DELETE /http_loggers/1`"),
                "{problem:?}"
            );
            problem.message
        };
        let broken = ArchiveTester::open(&temp.path().join("file/x"), None);
        assert!(
            refusal_of(&broken)
                .await
                .contains("cannot be archived: captures and payloads cannot be saved")
        );
        let mut app = ArchiveTester::open(temp.path(), None);
        app.opened().await;
        let refusal = ResponseTemplate::new(403)
            .set_body_json(json!({ "status": 403, "message": "not this one" }));
        Mock::given(path("/api/v2/http_loggers/1/data"))
            .respond_with(refusal)
            .with_priority(1)
            .mount(&server)
            .await;
        assert!(
            refusal_of(&app)
                .await
                .ends_with("cannot be archived: not this one (403)")
        );
    }

    #[tokio::test]
    async fn replaced_archive_blocks_clear() {
        let temp = tempfile::tempdir().unwrap();
        let mut app = ArchiveTester::open(temp.path(), None);
        app.opened().await;
        app.recalled().await;
        std::fs::rename(
            temp.path().join("captures.db"),
            temp.path().join("elsewhere.db"),
        )
        .unwrap();
        let capture = vec![Capture::clone(&capture(9))];
        let result = app
            .archive
            .archiver()
            .archive(&"Acme".into(), &Logger::default(), capture)
            .await;
        assert_eq!(result.unwrap_err().message, "the archive is not usable");
    }

    #[tokio::test]
    async fn ended_dashboard_blocks_clear() {
        let (temp, (_server, client)) = (tempfile::tempdir().unwrap(), service().await);
        let mut app = ArchiveTester::open(temp.path(), Some(30));
        app.opened().await;
        let mut archiver = app.archive.archiver();
        let old = Capture {
            request_date: Some(Stamp(Timestamp::UNIX_EPOCH)),
            ..Capture::default()
        };
        let both = vec![
            old,
            Capture {
                request_date: Some(Stamp(Timestamp::now())),
                ..Capture::default()
            },
        ];
        assert_eq!(
            archiver
                .archive(&"Acme".into(), &Logger::default(), both)
                .await,
            Ok(1),
            "the other is too old"
        );
        app.archive.end().await;
        let logger = client.get_logger(LoggerId(1)).await.unwrap();
        let deleted = client
            .archive_and_delete_logger(&mut archiver, &"Acme".into(), &logger)
            .await;
        assert!(deleted.is_err());
    }
}
