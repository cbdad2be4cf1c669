//! The list of rules (`:rules`, `g r`): what each finds, switched off and on, given another verdict or query.

use tui_textarea::TextArea;

use crate::app::model::Model;
use crate::triage::{EventId, RuleState};

/// The list, as long as it is open.
#[derive(Clone, Debug, Default)]
pub struct RulesBox {
    /// The selected rule, counted from the first.
    pub at: usize,
    /// Its query while it is edited.
    pub edit: Option<Edit>,
}

/// The query of a rule while it is edited.
#[derive(Clone, Debug)]
pub struct Edit {
    /// Of which rule.
    pub rule: EventId,
    /// What is typed.
    pub input: TextArea<'static>,
    /// How many findings it finds now, or why it is no query.
    pub finds: Result<usize, String>,
}

impl Model {
    /// The rules that decide in the workspace worked in, also those switched off, in the order in which they were made.
    pub fn rules(&self) -> Vec<&RuleState> {
        let here = self.workspace().map_or("", |workspace| workspace.name.as_str());
        let concerns = |of: &str| here.is_empty() || of.is_empty() || of == here;
        self.triage.state.rules().into_iter().filter(|rule| concerns(&rule.workspace)).collect()
    }
}
