//! Alerts: claimed once, and sent when they are due.

use crate::base::{Alert, AlertRequest};
use crate::core::Msg;
use crate::runtime::alert_outbox::release_failed;
use crate::runtime::event_loop::EventLoop;
use crate::runtime::{TaskReport, alert};
use scandeck_domain::alerts::AlertRoutes;
use std::sync::Arc;

impl EventLoop {
    pub(super) fn alert(&mut self, alert: Alert) {
        let plan = Arc::clone(&self.alert_plan);
        let Some(routes) = alert.routes.clone() else {
            return self.alert_when_due(&alert, &plan.all_routes());
        };
        let sequence = self.notify_method.sequence_on(&alert, &routes);
        // The next frame detects a terminal that is gone.
        let _ = self.terminal.write(sequence.as_bytes());
        let Some(backend) = &self.backend else {
            return;
        };
        let directory = backend.alerts.directory().to_owned();
        let clock_offset = self.clock_offset();
        let answers = self.answers.0.clone();
        self.tasks.spawn(async move {
            for problem in alert::deliver(&plan, &routes, &alert).await {
                let failed = release_failed(&directory, &alert, problem, clock_offset).await;
                let report = Msg::AlertFailed {
                    problem: failed.problem,
                    again: failed.has_next.then(|| Box::new(alert.clone())),
                };
                let _ = answers.send(TaskReport::Msg(Box::new(report)));
            }
        });
    }

    /// Sends an alert on each of these channels when it is due there.
    pub(super) fn alert_when_due(&mut self, alert: &Alert, routes: &AlertRoutes) {
        let clock_offset = self.clock_offset();
        let Some(backend) = &mut self.backend else {
            return;
        };
        let answers = self.answers.0.clone();
        let send = move |due: Alert| {
            let report = Msg::AlertDue(Box::new(due));
            let _ = answers.send(TaskReport::Msg(Box::new(report)));
        };
        backend
            .alerts
            .claim_alert(alert, routes, clock_offset, send);
    }

    pub(super) fn begin_alerts(&mut self, clock_offset: i64) {
        if let Some(backend) = &mut self.backend {
            backend.alerts.begin(clock_offset);
        }
    }

    fn clock_offset(&self) -> i64 {
        self.model.connection.clock_offset.unwrap_or(0)
    }

    pub(super) fn claim_alert(&mut self, request: &AlertRequest) {
        let Some(backend) = &mut self.backend else {
            return;
        };
        let answers = self.answers.0.clone();
        backend.alerts.claim(request, move |claimed, routes| {
            let claimed = Msg::AlertClaimed(Box::new(claimed), routes);
            let _ = answers.send(TaskReport::Msg(Box::new(claimed)));
        });
    }
}
