//! Archiving before calls that delete captures of the service: the call is made only after
//! everything is archived.
//!
//! ```text
//!   /data, a look after the other ─► ArchiveRequest::Archive ─► archived, recognised, reported ─► archived? ─► the call
//! ```

use crate::runtime::archive::Task;
use crate::runtime::{ArchiveHandle, ArchiveRequest};
use jiff::Timestamp;
use scandeck_client::{CapturesRead, Client, Problem};
use scandeck_domain::oob::{ArchivedCapture, ClearedRequests};
use scandeck_wire::contract::{Capture, Logger, LoggerId, Shared, Stamp, WorkspaceId};
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

impl CaptureArchiver {
    /// Archives the captures of a logger of this workspace.
    ///
    /// # Errors
    /// When they cannot be read or archived: the logger must then not be cleared.
    pub async fn archive_logger(
        &self,
        client: &Client,
        workspace: &Shared,
        id: LoggerId,
    ) -> Result<CapturesRead, Problem> {
        let logger = Arc::new(client.get_logger(id).await?);
        let archive = |captures| self.archive(workspace.clone(), Arc::clone(&logger), captures);
        client
            .archive_captures(id, archive)
            .await
            .map_err(|why| unread(&logger, &why))
    }

    /// Archives the captures of all loggers of a workspace.
    ///
    /// # Errors
    /// As [`archive_logger`](Self::archive_logger).
    pub async fn archive_workspace(
        &self,
        client: &Client,
        id: WorkspaceId,
    ) -> Result<Option<CapturesRead>, Problem> {
        let workspace = client.get_workspace(id).await?.name;
        let mut all: Option<CapturesRead> = None;
        for logger in client.list_loggers(Some(id)).await? {
            let read = self.archive_logger(client, &workspace, logger.id).await?;
            all = Some(all.map_or(read, |before| before.and(read)));
        }
        Ok(all)
    }

    /// Archives and clears a logger.
    ///
    /// # Errors
    /// As [`archive_logger`](Self::archive_logger), and those of the service.
    pub async fn clear(
        &self,
        client: &Client,
        workspace: &Shared,
        id: LoggerId,
    ) -> Result<ClearedRequests, Problem> {
        let before = client.get_logger(id).await?.num_requests;
        let read = self.archive_logger(client, workspace, id).await?;
        // More captures may have arrived since.
        let before = before.max(i64::try_from(read.counts.requests).unwrap_or(i64::MAX));
        client.clear_captures(id, before).await?;
        Ok(read.deleted())
    }

    /// Waits until the captures are archived. Returns the number of captures that have not expired.
    pub(crate) async fn archive(
        &self,
        workspace: Shared,
        logger: Arc<Logger>,
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
                workspace,
                logger,
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
    /// Removes expired captures, which the service may still have.
    pub(crate) fn young(&self, mut captures: Vec<ArchivedCapture>) -> Vec<ArchivedCapture> {
        let (all, oldest) = (captures.len(), self.memory.oldest_retained());
        captures.retain(|one| oldest.is_none_or(|oldest| one.at() >= oldest));
        self.behind
            .fetch_sub(all - captures.len(), Ordering::Relaxed);
        captures
    }

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

/// The reason why a logger is not cleared, and the command that clears it nevertheless.
fn unread(logger: &Logger, why: &Problem) -> Problem {
    let hint = why
        .hint
        .as_deref()
        .map(|hint| format!("{hint}; or "))
        .unwrap_or_default();
    Problem::local(format!("captures cannot be archived: {why}")).with_hint(format!(
        "{hint}without archiving: `scandeck api DELETE /http_loggers/{}/data`",
        logger.id
    ))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use wiremock::matchers::{path, query_param, query_param_is_missing};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    use super::*;
    use crate::runtime::ArchiveRequest;
    use crate::runtime::archive::tests::{ArchiveTester, capture, ids, payload};
    use scandeck_client::{BaseUrl, ClientSettings};

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
        let base = BaseUrl::parse(&server.uri(), false).unwrap();
        let mut settings = ClientSettings::new(base, "k".to_owned().into());
        settings.retry_delay = Duration::from_millis(1);
        (server, Client::new(settings).unwrap())
    }

    #[tokio::test]
    async fn unread_captures_are_archived_and_counted_before_call() {
        let (temp, (_server, client)) = (tempfile::tempdir().unwrap(), service().await);
        let mut app = ArchiveTester::open(temp.path(), None);
        app.opened().await;
        app.archive
            .send(ArchiveRequest::Plant(vec![payload(2), payload(3)]));
        app.recalled().await;
        let read = app
            .archive
            .archiver()
            .archive_logger(&client, &"Acme".into(), LoggerId(1))
            .await
            .unwrap();
        assert_eq!((read.counts.requests, read.counts.archived), (3, 3));
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
        app.archive
            .archiver()
            .archive_logger(&client, &"Other".into(), LoggerId(1))
            .await
            .unwrap();
        app.archive
            .archiver()
            .archive(
                "Acme".into(),
                Arc::default(),
                vec![Capture::clone(&capture(9))],
            )
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
            let problem = app
                .archive
                .archiver()
                .archive_logger(&client, &"Acme".into(), LoggerId(1))
                .await
                .unwrap_err();
            assert!(
                problem
                    .hint
                    .as_ref()
                    .unwrap()
                    .ends_with("`scandeck api DELETE /http_loggers/1/data`"),
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
            .archive("Acme".into(), Arc::default(), capture)
            .await;
        assert_eq!(result.unwrap_err().message, "the archive is not usable");
    }

    #[tokio::test]
    async fn ended_dashboard_blocks_clear() {
        let (temp, (_server, client)) = (tempfile::tempdir().unwrap(), service().await);
        let mut app = ArchiveTester::open(temp.path(), Some(30));
        app.opened().await;
        let archiver = app.archive.archiver();
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
            archiver.archive("Acme".into(), Arc::default(), both).await,
            Ok(1),
            "the other is too old"
        );
        app.archive.end().await;
        assert!(
            archiver
                .archive_logger(&client, &"Acme".into(), LoggerId(1))
                .await
                .is_err()
        );
    }
}
