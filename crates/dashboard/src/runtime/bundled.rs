//! A bundle in place of a service: each plan is answered with the lists of the bundle, as of its
//! creation.
//!
//! ```text
//!   start ─► workspace of the bundle ─► Msg::Cached          plan ─► link down, each list failed ─► its lists ─► Msg::Cached
//! ```
//!
//! A list that failed keeps its rows, so the lists are shown as stale, each with the reason why
//! there are no newer ones.

use crate::base::{CachedList, Generation, Link, ListKind, PollEvent, PollPlan, Snapshot, Update};
use crate::core::Msg;
use crate::runtime::TaskReport;
use jiff::Timestamp;
use scandeck_domain::problem::Problem;
use scandeck_domain::table::Table;
use scandeck_domain::triage::Bundle;
use scandeck_wire::contract::{Stamp, Workspace, WorkspaceId};
use std::sync::Arc;
use tokio::sync::mpsc::{Sender, UnboundedSender};
use tokio::sync::watch::Receiver;

/// Answers the plans until the dashboard ends.
pub(crate) async fn serve(
    bundle: Bundle,
    mut plans: Receiver<PollPlan>,
    updates: Sender<Update>,
    answers: UnboundedSender<TaskReport>,
) {
    // Building large tables takes a while.
    let Ok(bundled) = tokio::task::spawn_blocking(move || BundledLists::new(bundle)).await else {
        return;
    };
    let report = |cached| {
        answers
            .send(TaskReport::Msg(Box::new(Msg::Cached(cached))))
            .is_ok()
    };
    let mut on = report(bundled.cached(0, bundled.workspaces.clone()));
    let mut lists_of = None;
    while on {
        let plan = plans.borrow_and_update().clone();
        for event in bundled.stale_events(&plan) {
            let update = Update {
                generation: plan.generation,
                at: Stamp(Timestamp::now()),
                event,
            };
            on = on && updates.send(update).await.is_ok();
        }
        if plan.workspace == Some(bundled.id) && lists_of != Some(plan.generation) {
            lists_of = Some(plan.generation);
            on = bundled
                .lists
                .iter()
                .all(|list| report(bundled.cached(plan.generation, list.clone())))
                && on;
        }
        on = on && plans.changed().await.is_ok();
    }
}

struct BundledLists {
    id: WorkspaceId,
    made: Stamp,
    problem: Arc<Problem>,
    workspaces: Snapshot,
    /// Findings last, because the rows are made of them.
    lists: Vec<Snapshot>,
}

impl BundledLists {
    fn new(bundle: Bundle) -> Self {
        let Bundle {
            manifest,
            targets,
            scans,
            findings,
            ..
        } = bundle;
        // The manifest names the workspace; its id is found in the targets and scans.
        let id = targets.first().map(|target| target.workspace_id);
        let id = id
            .or_else(|| scans.iter().find_map(|scan| scan.workspace_id))
            .unwrap_or_default();
        let workspace = Workspace {
            id,
            name: manifest.workspace,
            target_count: targets.len() as i64,
            scan_count: scans.len() as i64,
            ..Workspace::default()
        };
        let made = manifest.made.0.strftime("%Y-%m-%d %H:%M");
        let problem = Problem::local(format!("bundle of {made}, no service"));
        Self {
            id,
            made: manifest.made,
            problem: Arc::new(problem),
            workspaces: Snapshot::Workspaces(Arc::new(Table::new([workspace]))),
            lists: vec![
                Snapshot::Targets(Arc::new(Table::new(targets))),
                Snapshot::Scans(Arc::new(Table::new(scans))),
                Snapshot::Findings(Arc::new(Table::new(
                    findings.into_iter().map(Arc::unwrap_or_clone),
                ))),
            ],
        }
    }

    fn cached(&self, generation: Generation, snapshot: Snapshot) -> CachedList {
        CachedList {
            generation,
            at: self.made,
            worked_in: Some(self.id),
            snapshot,
        }
    }

    /// Events that mark the link as down and all lists as failed.
    fn stale_events(&self, plan: &PollPlan) -> Vec<PollEvent> {
        let problem = || Arc::clone(&self.problem);
        let link = PollEvent::Link(Link::Down { problem: problem() });
        let part = plan
            .scan_part
            .map(|(scan, part)| PollEvent::PartFailed(scan, part, problem()));
        let lists = ListKind::ALL
            .into_iter()
            .map(|list| PollEvent::Failed(list, problem()));
        [link].into_iter().chain(lists).chain(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::{mpsc, watch};

    use super::*;
    use crate::base::{Now, Session, Size};
    use crate::core::{Model, update};
    use scandeck_domain::table::Remote;
    use scandeck_domain::triage::Manifest;
    use scandeck_wire::contract::{Finding, FindingId, Shared, Target};

    fn bundle() -> Bundle {
        let made = Stamp::parse("2026-11-21 12:00:00").unwrap();
        let manifest = Manifest::new(
            "Acme".into(),
            Shared::default(),
            "prod".into(),
            ("ann".into(), made),
        );
        let target = Target {
            workspace_id: WorkspaceId(7),
            ..Target::default()
        };
        let finding = Finding {
            id: FindingId(1),
            name: "Private key".into(),
            ..Finding::default()
        };
        Bundle {
            targets: vec![Arc::new(target)],
            findings: vec![Arc::new(finding)],
            ..Bundle::new(manifest)
        }
    }

    #[tokio::test]
    async fn bundle_lists_are_stale_and_link_is_down() {
        let (plans, receiver) = watch::channel(PollPlan::default());
        let (updates, mut received) = mpsc::channel(4);
        let (answers, mut cached) = mpsc::unbounded_channel();
        let task = tokio::spawn(serve(bundle(), receiver, updates, answers));
        let mut model = Model::new(
            Session::default(),
            Size {
                columns: 80,
                rows: 24,
            },
        );
        while !(model.data.occurrences.value().is_some() && model.data.reports.problem().is_some())
        {
            let msg = tokio::select! {
                Some(update) = received.recv() => Msg::Update(update),
                Some(TaskReport::Msg(msg)) = cached.recv() => *msg,
            };
            update(
                &mut model,
                Now {
                    mono: std::time::Duration::ZERO,
                    wall: Timestamp::now(),
                },
                msg,
            );
            plans.send_replace(model.plan());
        }
        assert_eq!(
            model.workspace().map(|workspace| workspace.name.as_str()),
            Some("Acme")
        );
        let Remote::Stale { at, problem, .. } = &model.data.occurrences else {
            panic!("{:?}", model.data.occurrences)
        };
        assert_eq!(
            (at.to_string().as_str(), problem.message.as_str()),
            (
                "2026-11-21 12:00:00",
                "bundle of 2026-11-21 12:00, no service"
            )
        );
        assert!(
            matches!(&model.connection.link, Link::Down { problem } if problem.message.starts_with("bundle of"))
        );
        drop((plans, received, cached));
        task.await.unwrap();
    }
}
