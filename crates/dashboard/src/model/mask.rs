//! The privacy mask: whether it is on, the names that it knows, and the effects that it changes.
//!
//! ```text
//!   data ─► KnownNames ─► Mask ─┬─► draw       every text of the screen
//!                               └─► effects    copies, files, notifications; files of a task get the mask along
//! ```

use crate::base::{Alert, Effect, Pane, Session, Tone};
use crate::data::Segment;
use crate::model::Model;
use scandeck_domain::mask::{KnownNames, Mask, MaskedKind};
use scandeck_wire::text::clean;
use std::collections::HashSet;

/// The segments whose names are masked.
pub(crate) const MASKED_SEGMENTS: &[Segment] = &[
    Segment::Items(Pane::Workspaces),
    Segment::Items(Pane::Targets),
    Segment::Items(Pane::Loggers),
    Segment::Items(Pane::Payloads),
    Segment::Items(Pane::Findings),
    Segment::Decisions,
];

/// The end of the notices about actions that the mask refuses.
const MASK_OFF: &str = " · :mask off first";

/// State of the privacy mask. The stand-ins remain when it is off.
#[derive(Clone, Debug, Default)]
pub struct MaskState {
    is_on: bool,
    mask: Mask,
}

impl Model {
    /// The mask, while it is on.
    pub fn mask(&self) -> Option<&Mask> {
        self.screen.mask.is_on.then_some(&self.screen.mask.mask)
    }

    /// The session with the name that the screen shows, for the line printed on exit.
    pub(crate) fn shown_session(&self) -> Session {
        let mut session = self.session.clone();
        if let Some(mask) = self.mask() {
            session.name = mask.text(&session.name).into_owned();
        }
        session
    }

    /// Turns the mask on or off.
    pub(crate) fn switch_mask(&mut self, is_on: bool) {
        self.screen.mask.is_on = is_on;
        self.learn_names();
        if !is_on {
            self.overlay.notices.remove_ending(MASK_OFF);
        }
        let state = if is_on {
            "names masked on the screen, in copies and files"
        } else {
            "mask off; names are shown"
        };
        self.notify(Tone::Plain, state);
    }

    /// Reads the names of the data again, while the mask is on.
    pub(crate) fn learn_names(&mut self) {
        if !self.screen.mask.is_on {
            return;
        }
        let mut known = KnownNames::default();
        let data = &self.data;
        known.add_host(&self.session.base_url);
        let session = &self.session;
        // Other names are not a profile's: `local`, `demo`, a host, a bundle.
        if session.service_flags.iter().any(|flag| flag == "--profile") {
            known.add(&clean(&session.name), MaskedKind::Service);
        }
        for workspace in data
            .workspaces
            .value()
            .iter()
            .flat_map(|table| table.items())
        {
            known.add(&clean(&workspace.name), MaskedKind::Workspace);
        }
        for target in data.targets.value().iter().flat_map(|table| table.items()) {
            known.add_host(&target.name);
        }
        for logger in data.loggers.value().iter().flat_map(|table| table.items()) {
            known.add(&clean(&logger.label), MaskedKind::Logger);
            known.add_logger_url(&logger.handler_url);
        }
        for payload in data.payloads.value().iter().flat_map(|table| table.items()) {
            known.add(&payload.token.to_string(), MaskedKind::Token);
        }
        let issues = data
            .findings
            .value()
            .into_iter()
            .flat_map(|table| table.items());
        let named: HashSet<&str> = issues
            .filter_map(|issue| issue.target_name().as_deref())
            .collect();
        named.into_iter().for_each(|name| known.add_host(name));
        let assessments = self.findings.triage.assessments.iter();
        let mut users: HashSet<&str> = assessments
            .filter_map(|assessment| assessment.who.as_deref())
            .collect();
        users.extend(
            self.findings
                .triage
                .writer
                .as_ref()
                .map(|writer| &*writer.who),
        );
        users
            .into_iter()
            .for_each(|user| known.add(user, MaskedKind::User));
        self.screen.mask.mask = self.screen.mask.mask.with_names(known);
    }

    /// Masks everything that leaves the dashboard by these effects.
    pub(crate) fn mask_effects(&mut self, effects: &mut Vec<Effect>) {
        let Some(mask) = self.mask().cloned() else {
            return;
        };
        let is_useless = |effect: &Effect| matches!(effect, Effect::Copy { text, needs_names: true, .. } if mask.text(text) != *text);
        if effects.iter().any(is_useless) {
            effects.retain(|effect| !is_useless(effect));
            self.notify(
                Tone::Bad,
                format!("URL not copied: a masked URL records nothing{MASK_OFF}"),
            );
        }
        effects
            .iter_mut()
            .for_each(|effect| mask_effect(&mask, effect));
        let before = effects.len();
        effects.retain(|effect| !matches!(effect, Effect::Edit(_)));
        if effects.len() < before {
            self.notify(
                Tone::Plain,
                format!("$EDITOR would reveal masked names{MASK_OFF}"),
            );
        }
    }
}

/// Masks what leaves the dashboard by an effect.
fn mask_effect(mask: &Mask, effect: &mut Effect) {
    match effect {
        Effect::Copy { what, text, .. } => {
            *text = mask.text(text).into_owned();
            *what = format!("masked {what}");
        }
        Effect::Page(Some(text)) => *text = mask.text(text).into_owned(),
        Effect::Save { content, .. } => *content = mask.bytes(content).into(),
        Effect::SaveBody { mask: own, .. } => *own = Some(mask.clone()),
        Effect::Export(exported) | Effect::PreviewReport(exported) => {
            exported.mask = Some(mask.clone());
        }
        Effect::ExportCaptures(exported) => exported.mask = Some(mask.clone()),
        Effect::Run(run) => {
            run.variables
                .iter_mut()
                .for_each(|(_, value)| *value = mask.text(value).into_owned());
            run.input = mask.text(&run.input).into_owned();
            run.is_masked = true;
        }
        Effect::Alert(alert) => mask_alert(mask, alert),
        // A case is masked before it is sealed, the text of the screen before it is paged; a
        // repeated alert is masked already, and the editor does not open.
        Effect::SealCase(_) | Effect::Page(None) | Effect::RetryAlert(_) | Effect::Edit(_) => {}
        // These need the names: at the service, in the stores and at the terminal.
        Effect::Quit
        | Effect::Call(..)
        | Effect::CancelCall(_)
        | Effect::OpenUrl(_)
        | Effect::Suspend
        | Effect::Redraw
        | Effect::Connect(_)
        | Effect::ReadImport(_)
        | Effect::ListFolder(_)
        | Effect::ReadReportFormats
        | Effect::ReadKey
        | Effect::AddToScope(_)
        | Effect::StartService
        | Effect::Correlate(..)
        | Effect::View(_)
        | Effect::SearchTexts(_)
        | Effect::ReadFindings(..)
        | Effect::CheckProof(_)
        | Effect::Chain(_)
        | Effect::ReadCaptures(..)
        | Effect::DrawPayloadNumbers(_)
        | Effect::BeginAlerts { .. }
        | Effect::ClaimAlert(_)
        | Effect::NotifyBy(_)
        | Effect::Record(_)
        | Effect::Remember { .. }
        | Effect::RememberOne { .. }
        | Effect::Plant(_)
        | Effect::Recognize { .. }
        | Effect::Mouse(_)
        | Effect::NextChunk
        | Effect::Team(_)
        | Effect::MarkSeen { .. } => {}
    }
}

fn mask_alert(mask: &Mask, alert: &mut Alert) {
    let fields = alert.events.iter_mut().flatten();
    let fields = fields.chain(&mut alert.fields).map(|(_, value)| value);
    for text in fields.chain([&mut alert.title, &mut alert.body]) {
        *text = mask.text(text).into_owned();
    }
}
