//! The list of rules (`:rules`, `g r`).

use crate::list::PopUpList;
use crate::model::Model;
use crate::text::TextInput;
use scandeck_domain::triage::RuleState;

#[derive(Clone, Debug, Default)]
pub struct RulesBox {
    pub list: PopUpList,
    pub edit: Option<RuleEdit>,
}

/// The query of a rule while it is edited.
#[derive(Clone, Debug)]
pub struct RuleEdit {
    pub input: TextInput,
    /// The number of findings that match now, or a syntax error.
    pub finds: Result<usize, String>,
}

impl Model {
    /// The rules of the current workspace in the order of their creation, including rules that are
    /// off.
    pub fn rules(&self) -> Vec<&RuleState> {
        let here = self
            .workspace()
            .map_or("", |workspace| workspace.name.as_str());
        let concerns = |of: &str| here.is_empty() || of.is_empty() || of == here;
        self.findings
            .triage
            .state
            .rules()
            .into_iter()
            .filter(|rule| concerns(&rule.workspace))
            .collect()
    }
}
