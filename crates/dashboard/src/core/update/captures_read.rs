//! Captures whose bodies were read: the action that needed them continues.

use crate::base::{CaptureUse, Effect, Tone};
use crate::core::update::{copies, custom};
use crate::model::Model;
use crate::{captures, findings};
use scandeck_domain::oob::CaptureRecord;
use scandeck_domain::problem::Problem;

pub(crate) fn handle_captures_read(
    model: &mut Model,
    purpose: CaptureUse,
    captures: Vec<CaptureRecord>,
    problem: Option<Problem>,
    effects: &mut Vec<Effect>,
) {
    match (purpose, problem) {
        (CaptureUse::Filter, problem) => model.run_read_chunk(captures, problem.as_ref(), effects),
        (CaptureUse::Show, problem) => model.captures.shown.take(captures, problem),
        (_, Some(problem)) => model.notify_problem("body of the capture not read", &problem),
        (CaptureUse::ManualFinding, None) => findings::manual::open_with_captures(model, &captures),
        (CaptureUse::Replay(url), None) => {
            let prompted = captures
                .first()
                .map(|record| captures::keys::prompt_replay_of(model, record, &url));
            if let Some(Err(why)) = prompted {
                model.notify(Tone::Bad, why);
            }
        }
        (CaptureUse::Run(action), None) => {
            custom::run_on_captures(model, action, &captures, effects)
        }
        (
            purpose @ (CaptureUse::Curl
            | CaptureUse::Raw
            | CaptureUse::Markdown
            | CaptureUse::Json
            | CaptureUse::SaveJson),
            None,
        ) => {
            copies::copy_captures(model, &purpose, &captures, effects);
        }
    }
}
