//! Every action there is, with the words that footer, menus, help and README use for it.

use crate::oob::PayloadShape;
use crate::triage::Verdict;

/// Declares the actions by area: name in the key table, short word of the footer (empty: not shown there), sentence of
/// the help.
macro_rules! actions {
    ($($(#[$doc:meta])+ $actions:ident($area:ident) { $($variant:ident $name:literal $short:literal $help:literal;)+ })+) => {
        /// What a key can ask for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action { $($(#[$doc])+ $area($actions),)+ }

        $(
            $(#[$doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            #[allow(missing_docs)] // each describes itself
            pub enum $actions { $($variant,)+ }
        )+

        impl Action {
            /// All of them.
            pub const ALL: &[Action] = &[$($(Action::$area($actions::$variant),)+)+];

            /// Its name in the key table, its short word and its sentence.
            fn words(self) -> [&'static str; 3] {
                match self { $($(Self::$area($actions::$variant) => [$name, $short, $help],)+)+ }
            }
        }
    };
}

actions! {
    /// Views and panes: which of them is on the screen and has the keys.
    ViewAction(View) {
        Help "help" "keys" "show every key; type to filter";
        Back "back" "" "close what is open: one layer";
        Quit "quit" "leave" "leave this view; at the root, leave scandeck";
        NextPane "next_pane" "pane" "next pane";
        PreviousPane "previous_pane" "" "previous pane";
        Workspaces "workspaces" "" "go to Workspaces";
        Targets "targets" "" "go to Targets";
        Findings "findings" "" "go to Findings";
        Scans "scans" "" "go to Scans";
        Captures "captures" "" "go to Captures";
        Reports "reports" "" "go to Reports";
        Wordlists "wordlists" "" "go to Word lists";
        PreviousTab "previous_tab" "" "previous tab of the detail; in the list of findings, the saved query before";
        NextTab "next_tab" "" "next tab of the detail; in the list of findings, the next saved query";
        OtherDown "other_down" "" "the other side down: from a list scroll the detail, from a detail walk the list";
        OtherUp "other_up" "" "the other side up";
        Zoom "zoom" "zoom" "give the focused pane the whole screen, and back";
        PreviousView "previous_view" "" "the view before this one";
    }
    /// The dashboard as a whole, and the first keys of sequences.
    AppAction(App) {
        Cancel "cancel" "" "cancel what is open or under way; twice in a second: leave at once";
        Refresh "refresh" "" "read anew from the service now";
        GoPrefix "go" "go" "go …: a second key says where";
        CopyPrefix "copy" "copy" "copy …: a second key says what";
        GroupPrefix "group_prefix" "group" "group …: a second key says by what";
        Commands "commands" "" "the command line: every view and action by name, with completion";
        Redraw "redraw" "" "draw the screen anew";
        Suspend "suspend" "" "hand the terminal back to the shell; `fg` returns";
    }
    /// Payloads.
    PayloadAction(Payload) {
        Plant "payload" "payload" "a new payload of the current logger, copied; e tells afterwards where it went";
        EditPlace "edit_place" "where it went" "parameter, technique and note of the payload: of this row, or made last";
    }
    /// `g`, then where to: from a row to what belongs to it.
    GoAction(Go) {
        Top "go_top" "top" "first row";
        Target "go_target" "target" "target of this row, else Targets";
        Scan "go_scan" "scan" "scan of this row, else Scans";
        Findings "go_findings" "findings" "findings of this row, else Findings";
        Logger "go_logger" "logger" "logger of this row, else the loggers";
        Payloads "go_payloads" "payloads" "the payload book; of this row the payload it carries";
        Workspace "go_workspace" "workspace" "workspace worked in";
    }
    /// `y`, then what.
    CopyAction(Copy) {
        Obvious "copy_obvious" "the obvious" "the obvious one: id, name or URL";
        Url "copy_url" "URL" "URL";
        Curl "copy_curl" "curl" "the API call as curl, the key left to $SCANDECK_API_KEY";
        Json "copy_json" "JSON" "JSON";
        Command "copy_command" "command" "the command that opens this view";
        File "copy_file" "to a file" "JSON to a file in the current directory";
        Shapes "copy_payload" "payload" "a payload in a shape: a third key says which";
        Raw "copy_raw" "raw HTTP" "raw HTTP of a captured request";
    }
    /// `y p`, then the shape of the payload.
    ShapeAction(Shape) {
        Plain "shape_plain" "the URL" "the URL as it is";
        SchemeLess "shape_schemeless" "//host" "without a scheme: //host/…";
        Hostless "shape_hostless" "hostless" "path and query, without a host";
        Encoded "shape_encoded" "URL-encoded" "URL-encoded, for a parameter";
        Xxe "shape_xxe" "XXE" "an XML document with an external entity";
        Img "shape_img" "img" "an HTML image";
        Svg "shape_svg" "svg" "an SVG document with an image";
        Curl "shape_curl" "curl" "a curl command";
    }
    /// `b`, then by what.
    GroupAction(Group) {
        Class "group_class" "class" "by class: one decision for all of a kind";
        Target "group_target" "target" "by target";
        Cve "group_cve" "CVE" "by CVE, the first of each";
        Cwe "group_cwe" "CWE" "by CWE";
        Owasp "group_owasp" "OWASP" "by OWASP category";
        Port "group_port" "port" "by port";
        Now "group_now" "now" "the board by NOW, each under a head";
        Payload "group_payload" "payload" "by payload: what each brought in";
        Source "group_source" "source" "by source address";
        Logger "group_logger" "logger" "by logger";
        None "group_none" "none" "no groups";
    }
    /// Steps in a list or a text.
    MoveAction(Move) {
        Down "down" "" "down";
        Up "up" "" "up";
        Top "top" "" "to the first";
        Bottom "bottom" "" "to the last";
        HalfDown "half_down" "" "half a page down";
        HalfUp "half_up" "" "half a page up";
        PageDown "page_down" "" "a page down";
        PageUp "page_up" "" "a page up";
    }
    /// A list: in and out, filter, marks, order.
    ListAction(List) {
        In "in" "open" "in: work in it, show what belongs to it, or open its detail";
        Out "out" "out" "out again";
        Filter "filter" "filter" "filter by words and fields (docs/query.md); the present filter to edit";
        TakeBack "take_back" "" "take back the last filter or scope step";
        Mark "mark" "mark" "mark, and down";
        Range "range" "" "begin a range, and end it";
        MarkAll "mark_all" "" "mark all shown; again: none";
        Invert "invert" "" "invert the marks of what is shown";
        Sort "sort" "" "next sort order";
    }
    /// A detail or any other text.
    TextAction(Text) {
        Shown "shown" "" "next way to show this text: wrapped or long lines; a body decoded, raw or hex";
        MarkThis "mark_this" "" "mark this item";
        TabLeft "tab_left" "" "previous tab; on the first one out";
        TabRight "tab_right" "" "next tab";
        ScrollLeft "scroll_left" "" "long lines: left";
        ScrollRight "scroll_right" "" "long lines: right";
        Search "search" "search" "search in this text";
        NextMatch "next_match" "next" "next match";
        PreviousMatch "previous_match" "previous" "previous match";
    }
    /// What is under the cursor, or marked.
    ItemAction(Item) {
        New "new" "new" "make a new one; of captures or findings a finding of your own";
        Edit "edit" "edit" "edit";
        Delete "delete" "delete" "delete, after a prompt that names it and what goes with it";
        Scan "scan" "scan" "scan this target, or every marked one";
        Retest "retest" "retest" "retest: start again the scans that found this, or all marked";
        Compare "compare" "compare" "what changed: two marked scans or captures, one and the one before it, a finding in its last two scans";
        ScanAgain "scan_again" "again" "the same scan again";
        Stop "stop" "stop" "stop the scan, after a prompt";
        Report "report" "report" "make a report of this, or of all marked";
        Download "download" "download" "download into the current directory; nothing is overwritten";
        Replay "replay" "send again" "send this captured request again, to a URL that is typed, after a prompt";
        Pause "pause" "pause" "pause the stream, and go on";
        Clear "clear" "clear" "clear the logger: the service forgets its requests for good, after a prompt";
    }
    /// A verdict on findings.
    VerdictAction(Verdict) {
        Confirm "confirm" "" "confirmed: it is there and matters";
        FalsePositive "false_positive" "" "false positive";
        AcceptRisk "accept_risk" "" "risk accepted, for 90 days unless said";
        NotApplicable "not_applicable" "" "not applicable";
        Fix "fix" "" "fixed";
        InReview "in_review" "" "in review";
        Reopen "reopen" "" "open again";
        ConfirmNext "confirm_next" "" "confirmed, and next";
        FalsePositiveNext "false_positive_next" "" "false positive, and next";
        AcceptRiskNext "accept_risk_next" "" "risk accepted, and next";
        NotApplicableNext "not_applicable_next" "" "not applicable, and next";
        FixNext "fix_next" "" "fixed, and next";
        InReviewNext "in_review_next" "" "in review, and next";
        ReopenNext "reopen_next" "" "open again, and next";
    }
    /// Decisions beside the verdict keys, with the options of the menu.
    DecideAction(Decide) {
        TakeOver "take_over" "" "take over the decisions offered from where it was before its port moved";
        More "decide_more" "more" "decide with details: reason, note, severity, tags, duplicate of, until, scope";
        Note "note" "" "note: appended, never replaced";
        Tags "tags" "" "tags: put on, -tag takes off";
        Reason "reason" "" "reason of the verdict";
        Severity "severity" "" "a severity of one's own, beside the scanner's";
        DuplicateOf "duplicate_of" "" "what it is a duplicate of";
        Until "until" "" "last day it holds";
        Again "decide_again" "again" "the last decision again, and next";
        PreviousChanged "previous_changed" "" "the row before that a scan changed: new, changed, gone, back, not retested";
        NextChanged "next_changed" "" "the next row that a scan changed";
        Rules "rules" "rules" "the list of rules";
        SwitchRule "switch_rule" "off, on" "switch the rule off, or on again";
        Undo "undo" "undo" "undo the last decision, and go there";
        Redo "redo" "" "redo what was undone last";
    }
    /// A review, card by card.
    ReviewAction(Review) {
        Open "review" "review" "review what is shown card by card, or go on with the review";
        Skip "review_skip" "skip" "skip this card";
        Back "review_back" "back" "the card before";
        Exclude "review_leave_out" "" "on the tab Where: leave this finding out of the decision, or take it in";
        End "review_end" "stop" "stop here: to the summary of what was decided";
        Close "review_close" "" "on the summary: end the review";
    }
    /// The fields of a form.
    FormAction(Form) {
        NextField "next_field" "next" "next field";
        PreviousField "previous_field" "" "previous field";
        FieldDown "field_down" "" "down in a field of several lines, else the next field";
        FieldUp "field_up" "" "up in a field of several lines, else the previous field";
        Enter "enter" "" "next field; a new line where there are several; on the button: send";
        Send "send" "send" "send from anywhere";
        ChoiceLeft "choice_left" "" "previous choice; in a text: left";
        ChoiceRight "choice_right" "" "next choice; in a text: right";
        ChoiceNext "choice_next" "choose" "next choice; in a text: a space";
        Editor "editor" "" "this field in $EDITOR";
    }
    /// What lies over the panes: its answer, and the line that is typed in it.
    EditAction(Edit) {
        Close "close" "close" "close; a form keeps its draft";
        Yes "yes" "yes" "yes";
        IncludeHidden "take_hidden" "all" "take the marked rows that the filter hides too";
        Accept "accept" "done" "done";
        Complete "complete" "" "complete what is typed: the next of what is offered";
        CompleteBack "complete_back" "" "the one before of what is offered";
        LineDown "line_down" "" "down, while typing; in a filter: a later query";
        LineUp "line_up" "" "up, while typing; in a filter: an earlier query";
        LinePageDown "line_page_down" "" "a page down, while typing";
        LinePageUp "line_page_up" "" "a page up, while typing";
    }
    /// The first-start question.
    SetupAction(Setup) {
        Here "here" "here" "run the service on this machine; it goes on when you leave";
        Hosted "hosted" "hosted" "use a service elsewhere: base URL and API key";
        Demo "demo" "demo" "a throw-away world on loopback, gone when you leave";
    }
}

impl Action {
    /// The action of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }

    /// Its name in the key table.
    pub fn name(self) -> &'static str {
        self.words()[0]
    }

    /// One word for footer and menus; empty where it is not shown there.
    pub fn short(self) -> &'static str {
        self.words()[1]
    }

    /// What it does, for the help.
    pub fn describe(self) -> &'static str {
        self.words()[2]
    }

    /// What it asks of what lies over the panes; none where it is of another area.
    pub fn edit(self) -> Option<EditAction> {
        match self {
            Self::Edit(action) => Some(action),
            _ => None,
        }
    }

    /// It changes something at the service, or makes something for a target: off in a read-only session.
    pub fn changes(self) -> bool {
        match self {
            Self::Item(action) => action.changes(),
            Self::Payload(action) => action == PayloadAction::Plant,
            Self::View(_)
            | Self::App(_)
            | Self::Go(_)
            | Self::Copy(_)
            | Self::Shape(_)
            | Self::Group(_)
            | Self::Move(_)
            | Self::List(_)
            | Self::Text(_)
            | Self::Verdict(_)
            | Self::Decide(_)
            | Self::Review(_)
            | Self::Form(_)
            | Self::Edit(_)
            | Self::Setup(_) => false,
        }
    }
}

impl ItemAction {
    fn changes(self) -> bool {
        match self {
            Self::New
            | Self::Edit
            | Self::Delete
            | Self::Scan
            | Self::Retest
            | Self::ScanAgain
            | Self::Stop
            | Self::Report
            | Self::Replay
            | Self::Clear => true,
            Self::Compare | Self::Download | Self::Pause => false,
        }
    }
}

impl MoveAction {
    /// By how many rows it moves, where a page has so many.
    pub fn rows(self, page: isize) -> isize {
        match self {
            Self::Down => 1,
            Self::Up => -1,
            Self::Top => isize::MIN / 2,
            Self::Bottom => isize::MAX / 2,
            Self::HalfDown => page / 2,
            Self::HalfUp => -page / 2,
            Self::PageDown => page - 1,
            Self::PageUp => 1 - page,
        }
    }
}

impl VerdictAction {
    /// The verdict that this key gives, and whether the cursor goes on to the next row.
    pub fn verdict(self) -> (Verdict, bool) {
        match self {
            Self::Confirm => (Verdict::Confirmed, false),
            Self::FalsePositive => (Verdict::FalsePositive, false),
            Self::AcceptRisk => (Verdict::RiskAccepted, false),
            Self::NotApplicable => (Verdict::NotApplicable, false),
            Self::Fix => (Verdict::Fixed, false),
            Self::InReview => (Verdict::InReview, false),
            Self::Reopen => (Verdict::Open, false),
            Self::ConfirmNext => (Verdict::Confirmed, true),
            Self::FalsePositiveNext => (Verdict::FalsePositive, true),
            Self::AcceptRiskNext => (Verdict::RiskAccepted, true),
            Self::NotApplicableNext => (Verdict::NotApplicable, true),
            Self::FixNext => (Verdict::Fixed, true),
            Self::InReviewNext => (Verdict::InReview, true),
            Self::ReopenNext => (Verdict::Open, true),
        }
    }
}

impl ShapeAction {
    /// The shape of a payload that this key copies.
    pub fn shape(self) -> PayloadShape {
        match self {
            Self::Plain => PayloadShape::Plain,
            Self::SchemeLess => PayloadShape::SchemeLess,
            Self::Hostless => PayloadShape::Hostless,
            Self::Encoded => PayloadShape::Encoded,
            Self::Xxe => PayloadShape::Xxe,
            Self::Img => PayloadShape::Img,
            Self::Svg => PayloadShape::Svg,
            Self::Curl => PayloadShape::Curl,
        }
    }
}
