//! Keys of the schedules.

use crate::base::{Batch, Call, Effect, Job, Pane, Tone};
use crate::model::Model;
use scandeck_wire::contract::schedule::ScanSchedule;

/// `=`: pauses the chosen schedules, or resumes them if all are paused.
pub(crate) fn pause_or_resume(model: &mut Model, effects: &mut Vec<Effect>) {
    let chosen = model.chosen(Pane::Schedules);
    let schedules: Vec<_> = model.items_of::<ScanSchedule>(&chosen.ids).collect();
    if schedules.is_empty() {
        return model.notify(Tone::Plain, "nothing selected");
    }
    let resumes = schedules.iter().all(|schedule| schedule.is_paused);
    let changed = schedules
        .iter()
        .filter(|schedule| schedule.is_paused == resumes);
    let jobs = changed.map(|schedule| {
        let call = match resumes {
            true => Call::ResumeSchedule(schedule.id),
            false => Call::PauseSchedule(schedule.id),
        };
        Job::new(format!("schedule {}", schedule.name), call)
    });
    let jobs = jobs.collect();
    let verb = match resumes {
        true => "resume",
        false => "pause",
    };
    model.begin(Batch::new(verb, None, jobs), effects);
}
