//! Contexts of keys: the layers of the key map.

/// A section of the key map. Several are active at once, the inner before the outer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    /// Everywhere except in text fields.
    Everywhere,
    /// After `g`.
    Go,
    /// After `y`.
    Copy,
    /// After `y p`.
    Shape,
    /// After `b` in the findings.
    Group,
    /// After `b` in the captures.
    CaptureGroup,
    /// A list has the focus.
    Lists,
    /// The pane of the workspaces; the next ones are panes too.
    Workspaces,
    /// Targets.
    Targets,
    /// Findings.
    Findings,
    /// Scans.
    Scans,
    /// The list of loggers.
    Loggers,
    /// The stream of captured requests.
    Captures,
    /// Reports.
    Reports,
    /// Wordlists.
    Wordlists,
    /// The payload book.
    Payloads,
    /// The board of a retest, or of two scans.
    Board,
    /// A review card.
    Review,
    /// A detail or any other text has the focus.
    Text,
    /// A text in which a search is open.
    Search,
    /// A form.
    Form,
    /// The menu that decides with details.
    Decide,
    /// The list of rules.
    Rules,
    /// The list of alert rules.
    Alerts,
    /// A prompt that waits for an answer.
    Prompt,
    /// A line is typed: filter, search, or the filter of the help.
    Line,
    /// The first-start question.
    Setup,
}

impl Context {
    /// Every context, in the order of the help.
    pub const ALL: [Context; 27] = [
        Context::Everywhere,
        Context::Go,
        Context::Copy,
        Context::Shape,
        Context::Group,
        Context::CaptureGroup,
        Context::Lists,
        Context::Findings,
        Context::Scans,
        Context::Targets,
        Context::Workspaces,
        Context::Loggers,
        Context::Captures,
        Context::Payloads,
        Context::Reports,
        Context::Wordlists,
        Context::Board,
        Context::Review,
        Context::Text,
        Context::Search,
        Context::Form,
        Context::Decide,
        Context::Rules,
        Context::Alerts,
        Context::Prompt,
        Context::Line,
        Context::Setup,
    ];

    /// Its section in the key map.
    pub fn name(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::Go => "go",
            Self::Copy => "copy",
            Self::Shape => "shape",
            Self::Group => "group",
            Self::CaptureGroup => "capture_group",
            Self::Lists => "lists",
            Self::Workspaces => "workspaces",
            Self::Targets => "targets",
            Self::Findings => "findings",
            Self::Scans => "scans",
            Self::Loggers => "loggers",
            Self::Captures => "captures",
            Self::Reports => "reports",
            Self::Wordlists => "wordlists",
            Self::Board => "board",
            Self::Payloads => "payloads",
            Self::Review => "review",
            Self::Text => "text",
            Self::Search => "search",
            Self::Form => "forms",
            Self::Decide => "decide",
            Self::Rules => "rules",
            Self::Alerts => "alerts",
            Self::Prompt => "prompts",
            Self::Line => "line",
            Self::Setup => "setup",
        }
    }

    /// Its heading in the help and the documents.
    pub fn title(self) -> &'static str {
        match self {
            Self::Everywhere => "Everywhere",
            Self::Go => "g, then",
            Self::Copy => "y, then",
            Self::Shape => "yp, then: a payload as",
            Self::Group => "b, then",
            Self::CaptureGroup => "b in the captures, then",
            Self::Lists => "Lists",
            Self::Workspaces => "Workspaces",
            Self::Targets => "Targets",
            Self::Findings => "Findings",
            Self::Scans => "Scans",
            Self::Loggers => "Loggers",
            Self::Captures => "Captures",
            Self::Reports => "Reports",
            Self::Wordlists => "Wordlists",
            Self::Payloads => "Payloads",
            Self::Board => "Board of a retest, or of two scans",
            Self::Review => "Review",
            Self::Text => "Any text",
            Self::Search => "While a search is open",
            Self::Form => "Forms",
            Self::Decide => "t: decide with details",
            Self::Rules => "Rules",
            Self::Alerts => "Alerts",
            Self::Prompt => "Prompts",
            Self::Line => "While a line is typed",
            Self::Setup => "First start",
        }
    }

    /// The context of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|context| context.name() == name)
    }

    /// The keys of a sequence before those of this context.
    pub fn prefix(self) -> Option<&'static str> {
        match self {
            Self::Go => Some("g"),
            Self::Copy => Some("y"),
            Self::Shape => Some("yp"),
            Self::Group | Self::CaptureGroup => Some("b"),
            _ => None,
        }
    }
}
