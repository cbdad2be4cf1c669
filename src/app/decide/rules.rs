//! The list of rules (`:rules`, `g r`): what each finds, switched off and on, given another verdict or query.

use tui_textarea::TextArea;

use crate::triage::EventId;

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
