//! Members who have a workspace open, and the finding that each looks at. A dashboard reports both
//! with each poll; a row is written when the finding changes, and every 10 s while it does not.
//!
//! ```text
//!   dashboards of anna: f1 since 12:00, f7 since 12:04 ─► one viewer: anna, f7
//! ```
//!
//! Each dashboard has a row, so that two of one person do not overwrite each other's place at every
//! poll. Others see the place to which the person moved last.

use jiff::Timestamp;

use crate::store::sql::{ReadRow, SqlRow, sql};
use crate::store::{Durability, Store, StoreResult, millis, stamp};
use scandeck_wire::contract::WorkspaceId;
use scandeck_wire::contract::team::Viewer;

/// How long a viewer is shown after the last poll, in milliseconds.
const SHOWN: i64 = 30_000;
/// How old an unchanged row may be, in milliseconds.
const FRESH: i64 = 10_000;

struct ViewerRow {
    key_name: String,
    finding: Option<String>,
    since: i64,
    seen_at: i64,
}

impl ReadRow for ViewerRow {
    fn read(row: &SqlRow) -> StoreResult<Self> {
        Ok(Self {
            key_name: row.get("key_name")?,
            finding: row.get("finding")?,
            since: row.get("since")?,
            seen_at: row.get("seen_at")?,
        })
    }
}

impl ViewerRow {
    /// Whether it was written within this time. A time in the future is from before the clock was
    /// set back.
    fn is_within(&self, interval: i64, now: Timestamp) -> bool {
        (millis(now) - self.seen_at).abs() < interval
    }
}

/// What a dashboard shows.
#[derive(Clone, Copy, Debug)]
pub struct DashboardView<'a> {
    /// The name of the key.
    pub key: &'a str,
    /// The running program; empty if it does not name itself.
    pub dashboard: &'a str,
    /// The finding on the screen; none if it is another list.
    pub finding: Option<&'a str>,
}

impl Store {
    /// The viewers of a workspace other than this key, by name: each where it moved last.
    pub async fn viewers(
        &self,
        workspace: WorkspaceId,
        except: &str,
        now: Timestamp,
    ) -> StoreResult<Vec<Viewer>> {
        let rows: Vec<ViewerRow> = sql("SELECT key_name, finding, since, seen_at FROM viewers
             WHERE workspace_id = $1 AND key_name <> $2
             ORDER BY key_name, since DESC, dashboard")
        .bind(workspace.0)
        .bind(except)
        .all(self.read())
        .await?;
        let mut shown: Vec<ViewerRow> = rows
            .into_iter()
            .filter(|row| row.is_within(SHOWN, now))
            .collect();
        shown.dedup_by(|later, first| later.key_name == first.key_name);
        let viewer = |row: ViewerRow| Viewer {
            who: row.key_name.into(),
            finding: row.finding.map(Into::into),
            since: Some(stamp(row.since)),
        };
        Ok(shown.into_iter().map(viewer).collect())
    }

    /// Records that a dashboard has the workspace open, and the finding on the screen.
    pub async fn look(
        &self,
        workspace: WorkspaceId,
        view: DashboardView<'_>,
        now: Timestamp,
    ) -> StoreResult<()> {
        let DashboardView {
            key,
            dashboard,
            finding,
        } = view;
        let row: Option<ViewerRow> = sql("SELECT key_name, finding, since, seen_at FROM viewers
             WHERE workspace_id = $1 AND key_name = $2 AND dashboard = $3")
        .bind(workspace.0)
        .bind(key)
        .bind(dashboard)
        .optional(self.read())
        .await?;
        let same = row.filter(|row| row.finding.as_deref() == finding && row.is_within(SHOWN, now));
        if same.as_ref().is_some_and(|row| row.is_within(FRESH, now)) {
            return Ok(());
        }
        let mut change = self.change_with(Durability::WithNext).await?;
        // Each start of a dashboard adds a row.
        sql("DELETE FROM viewers WHERE abs($1 - seen_at) >= $2")
            .bind(millis(now))
            .bind(SHOWN)
            .execute(&mut change)
            .await?;
        sql(
            "INSERT INTO viewers (workspace_id, key_name, dashboard, finding, since, seen_at)
             SELECT id, $2, $3, $4, $5, $6 FROM workspaces WHERE id = $1
             ON CONFLICT (workspace_id, key_name, dashboard) DO UPDATE
                SET finding = excluded.finding, since = excluded.since, seen_at = excluded.seen_at",
        )
        .bind(workspace.0)
        .bind(key)
        .bind(dashboard)
        .bind(finding)
        .bind(same.map_or(millis(now), |row| row.since))
        .bind(millis(now))
        .execute(&mut change)
        .await?;
        change.commit().await
    }
}
