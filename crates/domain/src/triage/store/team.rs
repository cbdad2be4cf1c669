//! Events shared with a team: which ones a service has, and how far its logs were read.
//!
//! ```text
//!   recorded ─► position null (unsent) ─► sent: 0 ─► read back: its position
//!                                    └──► refused: kept here, not sent again
//!   events of others ─► with their positions, as they arrived, in one transaction with the place in the log
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use sqlx::{QueryBuilder, Sqlite};

use super::{CHUNK, Store, StoreError};
use crate::triage::event::{Event, EventId};
use crate::triage::jsonl;
use scandeck_wire::contract::team::Member;
use scandeck_wire::contract::{Shared, WorkspaceId};
use scandeck_wire::sqlite::{RefusedRows, UnsentRow};

/// How far the log of a workspace at a service was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamLog {
    /// Number of the service's database.
    pub service: Shared,
    /// The workspace at the service, and its name here.
    pub id: WorkspaceId,
    pub workspace: Shared,
    pub epoch: i64,
    /// Positions of the last event and payload that were read.
    pub last: i64,
    pub last_payload: i64,
    /// Whether the decisions of the workspace are exchanged.
    pub is_shared: bool,
}

/// An event of the service.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivedEvent {
    pub position: i64,
    /// Name of the key that sent it.
    key: Shared,
    id: EventId,
    /// As it arrived.
    json: String,
    /// None if only a newer program can read it. It is stored all the same.
    pub event: Option<Arc<Event>>,
}

impl ArrivedEvent {
    /// Reads an event that a key sent. None if it has no id, or a clock that would prevent further events.
    pub fn parse(position: i64, key: &Shared, json: &str) -> Option<Self> {
        #[derive(serde::Deserialize)]
        struct NamedEvent {
            id: EventId,
        }
        let event: Option<Event> = serde_json::from_str(json).ok();
        let id = match &event {
            Some(event) => jsonl::believed(event).ok().map(|()| event.id),
            None => serde_json::from_str(json)
                .ok()
                .map(|named: NamedEvent| named.id),
        };
        Some(Self {
            position,
            key: key.clone(),
            id: id?,
            json: json.to_owned(),
            event: event.map(Arc::new),
        })
    }
}

impl Store {
    /// The owner of the key at a base URL, as the service reported it last.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn member_at(&mut self, base_url: &str) -> Result<Option<Member>, StoreError> {
        let failed = self.file.failed();
        let query = "SELECT name, role, service FROM members WHERE base_url = ?";
        let row: Option<(String, String, String)> = sqlx::query_as(query)
            .bind(base_url.to_owned())
            .fetch_optional(&mut self.file.connection)
            .await
            .map_err(failed)?;
        Ok(row.map(|(name, role, service)| Member {
            name: name.into(),
            role: role.into(),
            service: service.into(),
        }))
    }

    /// Remembers the owner of the key at a base URL; without a name, forgets the owner.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn put_member(&mut self, base_url: &str, member: &Member) -> Result<(), StoreError> {
        if self.member_at(base_url).await?.unwrap_or_default() == *member {
            return Ok(());
        }
        let failed = self.file.failed();
        let query = match member.name.is_empty() {
            true => sqlx::query("DELETE FROM members WHERE base_url = ?"),
            false => sqlx::query(
                "INSERT INTO members (base_url, name, role, service) VALUES (?, ?, ?, ?)
                ON CONFLICT (base_url) DO UPDATE SET
                    name = excluded.name, role = excluded.role, service = excluded.service",
            ),
        };
        let mut query = query.bind(base_url.to_owned());
        if !member.name.is_empty() {
            query = query
                .bind(member.name.to_string())
                .bind(member.role.to_string())
                .bind(member.service.to_string());
        }
        query
            .execute(&mut self.file.connection)
            .await
            .map(drop)
            .map_err(failed)
    }

    /// The log of a workspace at a service; none before the first answer of the user.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn team_log(
        &mut self,
        service: &str,
        id: WorkspaceId,
    ) -> Result<Option<TeamLog>, StoreError> {
        let failed = self.file.failed();
        let query = "SELECT workspace, epoch, last, last_payload, is_shared FROM sync WHERE service = ? AND id = ?";
        let row: Option<(String, i64, i64, i64, bool)> = sqlx::query_as(query)
            .bind(service.to_owned())
            .bind(id.0)
            .fetch_optional(&mut self.file.connection)
            .await
            .map_err(failed)?;
        Ok(row.map(
            |(workspace, epoch, last, last_payload, is_shared)| TeamLog {
                service: service.into(),
                id,
                workspace: workspace.into(),
                epoch,
                last,
                last_payload,
                is_shared,
            },
        ))
    }

    /// The logs of a workspace at any service, by its name.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn team_logs_of(&mut self, workspace: &str) -> Result<Vec<TeamLog>, StoreError> {
        let failed = self.file.failed();
        let rows: Vec<(String, i64)> =
            sqlx::query_as("SELECT service, id FROM sync WHERE workspace = ? ORDER BY service, id")
                .bind(workspace.to_owned())
                .fetch_all(&mut self.file.connection)
                .await
                .map_err(failed)?;
        let mut logs = Vec::new();
        for (service, id) in rows {
            logs.extend(self.team_log(&service, WorkspaceId(id)).await?);
        }
        Ok(logs)
    }

    /// Stores the place in a log.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn put_team_log(&mut self, log: &TeamLog) -> Result<(), StoreError> {
        self.take_events(log, &[]).await.map(drop)
    }

    /// Whether the positions of the workspace on this machine are those of this log, and not of the
    /// workspace with the same name at another service.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn has_marks(&mut self, log: &TeamLog) -> Result<bool, StoreError> {
        let failed = self.file.failed();
        let query = "SELECT has_marks FROM sync WHERE service = ? AND id = ?";
        let has_marks: Option<bool> = sqlx::query_scalar(query)
            .bind(log.service.to_string())
            .bind(log.id.0)
            .fetch_optional(&mut self.file.connection)
            .await
            .map_err(failed)?;
        Ok(has_marks.unwrap_or_default())
    }

    /// The positions of the workspace are those of this log from now on.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn take_marks(&mut self, log: &TeamLog) -> Result<(), StoreError> {
        let failed = self.file.failed();
        let query = "UPDATE sync SET has_marks = (service = ? AND id = ?) WHERE workspace = ?";
        let query = sqlx::query(query)
            .bind(log.service.to_string())
            .bind(log.id.0)
            .bind(log.workspace.to_string());
        query
            .execute(&mut self.file.connection)
            .await
            .map(drop)
            .map_err(failed)
    }

    /// The positions on this machine are no longer those of this log.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn forget_marks(&mut self, log: &TeamLog) -> Result<(), StoreError> {
        let failed = self.file.failed();
        let query = sqlx::query("UPDATE sync SET has_marks = 0 WHERE service = ? AND id = ?")
            .bind(log.service.to_string())
            .bind(log.id.0);
        query
            .execute(&mut self.file.connection)
            .await
            .map(drop)
            .map_err(failed)
    }

    /// Stores events of the service together with the place in its log, and returns how many were
    /// not here. An event that is here already gets its position; its content and its sender remain,
    /// because any member sends it again to a service that was restored from a backup.
    ///
    /// # Errors
    /// If the file cannot be written; then nothing is stored.
    pub async fn take_events(
        &mut self,
        log: &TeamLog,
        events: &[ArrivedEvent],
    ) -> Result<usize, StoreError> {
        let failed = self.file.failed();
        let mut change = self.file.begin().await?;
        let mut new = events.len();
        for chunk in events.chunks(CHUNK) {
            let known = "SELECT count(*) FROM events WHERE id IN (";
            let mut query = QueryBuilder::<Sqlite>::new(known);
            let mut ids = query.separated(", ");
            for event in chunk {
                ids.push_bind(event.id.to_string());
            }
            query.push(")");
            let known: i64 = query
                .build_query_scalar()
                .fetch_one(&mut *change)
                .await
                .map_err(&failed)?;
            new = new.saturating_sub(usize::try_from(known).unwrap_or_default());
            let into = "INSERT INTO events (id, workspace, json, position, sender) ";
            let mut query = QueryBuilder::<Sqlite>::new(into);
            query.push_values(chunk, |mut row, event| {
                row.push_bind(event.id.to_string())
                    .push_bind(log.workspace.as_str());
                row.push_bind(event.json.as_str()).push_bind(event.position);
                row.push_bind(Some(event.key.as_str()).filter(|key| !key.is_empty()));
            });
            query.push(
                " ON CONFLICT (id) DO UPDATE SET
                    position = excluded.position, workspace = excluded.workspace, refused = NULL",
            );
            query.build().execute(&mut *change).await.map_err(&failed)?;
        }
        let put = "INSERT INTO sync (service, id, workspace, epoch, last, last_payload, is_shared)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (service, id) DO UPDATE SET workspace = excluded.workspace, epoch = excluded.epoch,
                last = excluded.last, last_payload = excluded.last_payload, is_shared = excluded.is_shared";
        sqlx::query(put)
            .bind(log.service.as_str())
            .bind(log.id.0)
            .bind(log.workspace.as_str())
            .bind(log.epoch)
            .bind(log.last)
            .bind(log.last_payload)
            .bind(log.is_shared)
            .execute(&mut *change)
            .await
            .map_err(&failed)?;
        change.commit().await.map_err(&failed)?;
        Ok(new)
    }

    /// The first events of a workspace that the service does not have, in the order of recording.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn unsent_events(&mut self, workspace: &str) -> Result<Vec<UnsentRow>, StoreError> {
        let failed = self.file.failed();
        let connection = &mut self.file.connection;
        let read = UnsentRow::read("events", "id", workspace, CHUNK, connection);
        let mut unsent = read.await.map_err(failed)?;
        // Stored events of newer programs may have line breaks between their fields.
        for one in &mut unsent {
            one.json = one.json.replace(['\n', '\r'], " ");
        }
        Ok(unsent)
    }

    /// How many events of a workspace the service does not have, without refused ones.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn count_unsent(&mut self, workspace: &str) -> Result<usize, StoreError> {
        let failed = self.file.failed();
        UnsentRow::count("events", workspace, &mut self.file.connection)
            .await
            .map_err(failed)
    }

    /// The events of a workspace that the service refused, by reason.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn refused_events(
        &mut self,
        workspace: &str,
    ) -> Result<Vec<RefusedRows>, StoreError> {
        let failed = self.file.failed();
        RefusedRows::read("events", Some(workspace), &mut self.file.connection)
            .await
            .map_err(failed)
    }

    /// The refused events of a workspace are to be sent again.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn retry_events(&mut self, workspace: &str) -> Result<(), StoreError> {
        let failed = self.file.failed();
        RefusedRows::retry("events", workspace, &mut self.file.connection)
            .await
            .map_err(failed)
    }

    /// Notes the answer of the service to these rows: sent, or refused with a reason by id.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn mark_events(
        &mut self,
        sent: &[UnsentRow],
        refused: &HashMap<&str, &str>,
    ) -> Result<(), StoreError> {
        let failed = self.file.failed();
        let change = self.file.begin().await?;
        UnsentRow::mark("events", sent, refused, change)
            .await
            .map_err(failed)
    }

    /// Forgets which events of a workspace a service has, and which it refused: all are sent again.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn forget_positions(&mut self, workspace: &str) -> Result<(), StoreError> {
        let failed = self.file.failed();
        UnsentRow::forget_positions("events", workspace, &mut self.file.connection)
            .await
            .map_err(failed)
    }

    /// Stores the events of a workspace under its new name. They keep the name that they were
    /// written with.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn rename_workspace(&mut self, from: &str, to: &str) -> Result<(), StoreError> {
        let failed = self.file.failed();
        let query = sqlx::query("UPDATE events SET workspace = ? WHERE workspace = ?")
            .bind(to.to_owned())
            .bind(from.to_owned());
        query
            .execute(&mut self.file.connection)
            .await
            .map(drop)
            .map_err(failed)
    }

    /// The events that are stored under a workspace.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn events_in(&mut self, workspace: &str) -> Result<Vec<Arc<Event>>, StoreError> {
        let failed = self.file.failed();
        let query =
            sqlx::query_as("SELECT row, json, sender FROM events WHERE workspace = ? ORDER BY row");
        let rows: Vec<super::EventRow> = query
            .bind(workspace.to_owned())
            .fetch_all(&mut self.file.connection)
            .await
            .map_err(failed)?;
        Ok(super::parsed(rows).await?.0)
    }
}
