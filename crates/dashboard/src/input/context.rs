//! Contexts of keys: the layers of the key map.

use crate::input::{Action, AppAction, CopyAction};

macro_rules! contexts {
    ($($(#[$doc:meta])+ $context:ident $name:literal $title:literal;)+) => {
        /// A section of the key map. Several are active at once, the inner before the outer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Context { $($(#[$doc])+ $context,)+ }

        impl Context {
            /// Every context, in the order of the help.
            pub const ALL: [Context; [$($name),+].len()] = [$(Context::$context),+];

            /// Its section in the key map.
            pub fn name(self) -> &'static str {
                match self { $(Self::$context => $name,)+ }
            }

            /// Its heading in the help and the documents, with `{}` for the keys before those of
            /// this context (`Keymap::title`).
            pub fn title(self) -> &'static str {
                match self { $(Self::$context => $title,)+ }
            }
        }
    };
}

// Variant, section in the key map, heading in the help.
contexts! {
    /// Everywhere except in text fields.
    Everywhere "everywhere" "In every pane";
    /// After `g`.
    Go "go" "{}, then";
    /// After `y`.
    Copy "copy" "{}, then";
    /// After `y p`.
    Shape "shape" "{}, then the payload shape";
    /// After `b` in the findings.
    Group "group" "{}, then";
    /// After `b` in the captures.
    CaptureGroup "capture_group" "{} in the captures, then";
    /// A list has the focus.
    Lists "lists" "Lists";
    /// Findings.
    Findings "findings" "Findings";
    /// Scans.
    Scans "scans" "Scans";
    /// Targets.
    Targets "targets" "Targets";
    /// The pane of the workspaces; the next ones are panes too.
    Workspaces "workspaces" "Workspaces";
    /// The list of loggers.
    Loggers "loggers" "Loggers";
    /// The stream of captured requests.
    Captures "captures" "Captures";
    /// The payload book.
    Payloads "payloads" "Payloads";
    /// Reports.
    Reports "reports" "Reports";
    /// Wordlists.
    Wordlists "wordlists" "Wordlists";
    /// Schedules.
    Schedules "schedules" "Schedules";
    /// Calls of the API.
    Activity "activity" "Activity";
    /// The board of a retest, or of two scans.
    Board "board" "Board of a retest, or of two scans";
    /// A review card.
    Review "review" "Review";
    /// A detail or any other text has the focus.
    Text "text" "Detail and other texts";
    /// A text in which a search is open.
    Search "search" "While a search is open";
    /// A form.
    Form "forms" "Forms";
    /// The menu that decides with details.
    Decide "decide" "Decide with details";
    /// The list of rules.
    Rules "rules" "Rules";
    /// The list of alert rules.
    Alerts "alerts" "Alerts";
    /// A plot of stored data.
    Plot "plots" "Plots";
    /// The explanation of a finding.
    Why "why" "Why a finding changed";
    /// The chain of an object.
    Chain "chains" "Chain of a row";
    /// A prompt that waits for an answer.
    Prompt "prompts" "Prompts";
    /// A line is typed: filter, search, or the filter of the help.
    Line "line" "Input line";
    /// The first-start question.
    Setup "setup" "First start";
}

impl Context {
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|context| context.name() == name)
    }

    /// The action after which the keys of this context are waited for, and a context with its key.
    pub fn opened_by(self) -> Option<(Self, Action)> {
        match self {
            Self::Go => Some((Self::Everywhere, Action::App(AppAction::GoPrefix))),
            Self::Copy => Some((Self::Everywhere, Action::App(AppAction::CopyPrefix))),
            Self::Shape => Some((Self::Copy, Action::Copy(CopyAction::Shapes))),
            Self::Group => Some((Self::Findings, Action::App(AppAction::GroupPrefix))),
            Self::CaptureGroup => Some((Self::Captures, Action::App(AppAction::GroupPrefix))),
            _ => None,
        }
    }

    /// Whether an action can have several keys in a row here. A prompt or a form takes each key at
    /// once.
    pub fn takes_sequences(self) -> bool {
        let takes_each = [
            Self::Form,
            Self::Decide,
            Self::Rules,
            Self::Alerts,
            Self::Plot,
            Self::Why,
            Self::Chain,
            Self::Prompt,
            Self::Line,
            Self::Setup,
        ];
        self.opened_by().is_none() && !takes_each.contains(&self)
    }
}
