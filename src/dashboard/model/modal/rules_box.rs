//! The list of rules (`:rules`, `g r`): what each finds, switched off and on, given another verdict or query.

use crate::dashboard::list::PopUpList;
use crate::dashboard::model::Model;
use crate::dashboard::text::TextInput;
use crate::triage::{EventId, RuleState};

/// The list, as long as it is open.
#[derive(Clone, Debug, Default)]
pub struct RulesBox {
    /// The selected rule.
    pub list: PopUpList,
    /// Its query while it is edited.
    pub edit: Option<RuleEdit>,
}

/// The query of a rule while it is edited.
#[derive(Clone, Debug)]
pub struct RuleEdit {
    /// Of which rule.
    pub rule: EventId,
    /// What is typed.
    pub input: TextInput,
    /// How many findings it finds now, or why it is no query.
    pub finds: Result<usize, String>,
}

impl Model {
    /// The rules that decide in the workspace worked in, also those switched off, in the order in which they were made.
    pub fn rules(&self) -> Vec<&RuleState> {
        let here = self.workspace().map_or("", |workspace| workspace.name.as_str());
        let concerns = |of: &str| here.is_empty() || of.is_empty() || of == here;
        self.findings.triage.state.rules().into_iter().filter(|rule| concerns(&rule.workspace)).collect()
    }
}
