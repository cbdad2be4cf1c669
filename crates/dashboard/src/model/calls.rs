//! Batches of calls to the service, sent a few at a time.

use crate::base::{Batch, Effect, Tone};
use crate::model::Model;
use scandeck_domain::problem::Problem;

impl Model {
    /// Sends the first calls of a batch, or asks first when the service may have carried one of
    /// them out already.
    pub(crate) fn begin(&mut self, batch: Batch, effects: &mut Vec<Effect>) {
        match self.question_before(&batch) {
            Some(prompt) => self.open_prompt(prompt),
            None => self.begin_at_once(batch, effects),
        }
    }

    /// Sends the first calls of a batch.
    pub(crate) fn begin_at_once(&mut self, mut batch: Batch, effects: &mut Vec<Effect>) {
        (batch.existing, batch.began) = (self.existing_before(&batch), self.now.mono);
        self.send_next(&mut batch, effects);
        if batch.is_over() {
            self.conclude(batch);
        } else {
            self.calls.batches.push(batch);
        }
    }

    pub(crate) fn send_next(&mut self, batch: &mut Batch, effects: &mut Vec<Effect>) {
        let tickets = &mut self.calls.tickets;
        let calls = batch.next(|| {
            tickets.0 += 1;
            *tickets
        });
        effects.extend(
            calls
                .into_iter()
                .map(|(ticket, call)| Effect::Call(ticket, Box::new(call))),
        );
    }

    /// Shows a notice with the failed object, the cause and the next step.
    pub(crate) fn notify_problem(&mut self, what: &str, problem: &Problem) {
        let hint = problem
            .hint
            .as_deref()
            .map(|hint| format!(" · {hint}"))
            .unwrap_or_default();
        self.notify(Tone::Bad, format!("{what}: {problem}{hint}"));
    }
}
