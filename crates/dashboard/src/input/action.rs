//! All actions, with their texts in footer, menus, help and documents.

use crate::input::{Context, CustomAction};
use scandeck_domain::oob::PayloadShape;
use scandeck_domain::triage::Verdict;
use std::collections::HashMap;
use std::sync::LazyLock;
use strum::EnumTryAs;

/// Declares the actions by area: name in the key table, short word of the footer (empty: not shown
/// there), sentence of the help.
macro_rules! actions {
    ($($(#[$doc:meta])+ $actions:ident($area:ident) { $($variant:ident $name:literal $short:literal $help:literal;)+ })+) => {
        /// The action of a key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumTryAs)]
        pub enum Action {
            $($(#[$doc])+ $area($actions),)+
            /// A command of the configuration.
            Custom(CustomAction),
        }

        $(
            $(#[$doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub enum $actions { $($variant,)+ }
        )+

        impl Action {
            /// All of them, without the commands of the configuration.
            pub const ALL: &[Action] = &[$($(Action::$area($actions::$variant),)+)+];

            /// Its name in the key map, its short label and its description.
            fn words(self) -> [&'static str; 3] {
                match self {
                    $($(Self::$area($actions::$variant) => [$name, $short, $help],)+)+
                    // In the help, not in the footer.
                    Self::Custom(action) => [&action.command().name, "", &action.command().description],
                }
            }
        }
    };
}

actions! {
    /// Views and panes: which of them is on the screen and has the keys.
    ViewAction(View) {
        Help "help" "keys" "show every key; type to filter";
        Back "back" "" "close the menu, form or view in front";
        Quit "quit" "quit" "close this view; at top level, quit scandeck";
        NextPane "next_pane" "pane" "next pane";
        PreviousPane "previous_pane" "" "previous pane";
        Workspaces "workspaces" "" "go to Workspaces";
        Targets "targets" "" "go to Targets";
        Findings "findings" "" "go to Findings";
        Scans "scans" "" "go to Scans";
        Captures "captures" "" "go to Captures, or to the loggers while there are none";
        Reports "reports" "" "go to Reports";
        Wordlists "wordlists" "" "go to Wordlists";
        Schedules "schedules" "" "go to Schedules";
        Activity "activity" "" "go to Activity: the API requests";
        PreviousTab "previous_tab" "" "previous tab of the detail; in the findings, previous saved query";
        NextTab "next_tab" "" "next tab of the detail; in the findings, next saved query";
        OtherDown "other_down" "" "scroll the detail down; from the detail, move down the list";
        OtherUp "other_up" "" "scroll the detail up; from the detail, move up the list";
        Zoom "zoom" "zoom" "maximise or restore the focused pane";
        PreviousView "previous_view" "" "previous view";
        Taller "taller" "taller" "make the focused pane taller";
        Lower "shorter" "shorter" "make the focused pane shorter";
        Wider "wider" "wider" "make the focused pane wider";
        Narrower "narrower" "narrower" "make the focused pane narrower";
        ResetSizes "reset_sizes" "reset" "reset the sizes of the panes";
    }
    /// The dashboard as a whole, and the first keys of sequences.
    AppAction(App) {
        Refresh "refresh" "" "refresh from the service now";
        GoPrefix "go" "go" "go to …: a second key selects the list";
        CopyPrefix "copy" "copy" "copy …: a second key selects the content";
        GroupPrefix "group_prefix" "group" "group by …: a second key selects the field";
        Commands "commands" "" "command line: every view and action by name, with completion";
    }
    /// Actions that no prompt, form or text field holds up.
    TerminalAction(Terminal) {
        Cancel "cancel" "" "cancel prompts and queued requests; twice within a second: quit";
        Redraw "redraw" "" "redraw the screen";
        Suspend "suspend" "" "suspend to the shell; `fg` resumes";
    }
    /// Payloads.
    PayloadAction(Payload) {
        Plant "payload" "payload" "create and copy a payload of the current logger";
        EditPlace "edit_placement" "note" "edit note and placement of the selected or latest payload";
    }
    /// `g`, then where to: from a row to what belongs to it.
    GoAction(Go) {
        Top "go_top" "top" "first row";
        Target "go_target" "target" "target of this row, else Targets";
        Scan "go_scan" "scan" "scan of this row, else Scans";
        Findings "go_findings" "findings" "findings of this row, else Findings";
        Logger "go_logger" "logger" "logger of this row, else the loggers";
        Payloads "go_payloads" "payloads" "payload book; from a capture, the payload it contains";
        Workspace "go_workspace" "workspace" "current workspace";
    }
    /// `y`, then what.
    CopyAction(Copy) {
        Obvious "copy_id" "id or URL" "copy id, name or URL of this row";
        Url "copy_url" "URL" "copy the URL";
        Curl "copy_curl" "curl" "copy a curl command: the request in the evidence, else the API request, which reads the key from $SCANDECK_API_KEY";
        Markdown "copy_markdown" "Markdown" "copy as Markdown: findings, or captured requests";
        Json "copy_json" "JSON" "copy JSON";
        Command "copy_command" "command" "copy the command that prints this list";
        File "copy_file" "JSON to file" "write JSON to a file in the current directory";
        Browser "copy_browser" "browser" "open the URL in the browser of this machine, after a confirmation";
        Plot "copy_detail_plot" "plot CSV" "copy the numbers of the plot in the detail as CSV";
        Shapes "copy_payload" "payload …" "copy the payload as …: a third key selects the shape";
        Raw "copy_raw" "raw HTTP" "copy the raw HTTP of a capture";
    }
    /// While a plot is open.
    PlotAction(Plot) {
        Next "next_plot" "next plot" "next plot";
        Previous "previous_plot" "" "previous plot";
        Copy "copy_plot" "copy CSV" "copy the numbers of the plot as CSV";
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
        Class "group_class" "class" "group by class; one key decides a class";
        Target "group_target" "target" "group by target";
        Cve "group_cve" "CVE" "group by first CVE";
        Cwe "group_cwe" "CWE" "group by CWE";
        Owasp "group_owasp" "OWASP" "group by OWASP category";
        Port "group_port" "port" "group by port";
        Weakness "group_weakness" "weakness" "group by weakness, whichever tools saw it";
        Now "group_status" "retest board" "open the retest board, grouped by current status";
        Payload "group_payload" "payload" "group by payload; headers show the hits";
        Source "group_source" "source" "group by source address";
        Logger "group_logger" "logger" "group by logger";
        None "group_none" "none" "remove the groups";
    }
    /// Steps in a list or a text.
    MoveAction(Move) {
        Down "down" "" "down";
        Up "up" "" "up";
        Top "top" "" "first row";
        Bottom "bottom" "" "last row";
        HalfDown "half_down" "" "half a page down";
        HalfUp "half_up" "" "half a page up";
        PageDown "page_down" "" "a page down";
        PageUp "page_up" "" "a page up";
    }
    /// A list: in and out, filter, marks, order.
    ListAction(List) {
        In "open" "open" "open the row: its contents, or its detail";
        Out "parent" "back" "back to the parent list";
        Filter "filter" "filter" "edit the filter: words and fields; tab completes them";
        TakeBack "undo_filter" "" "undo the last filter or scope change";
        Mark "mark" "mark" "mark, and move down";
        Range "range" "" "start or end a range of marks";
        MarkAll "mark_all" "" "mark or unmark all shown rows";
        Invert "invert" "" "invert the marks of the shown rows";
        Sort "sort" "" "next sort order";
    }
    /// A detail or any other text.
    TextAction(Text) {
        Fold "fold" "" "JSON: fold or unfold the object or array at the cursor";
        Pager "pager" "" "open this text in $PAGER";
        Shown "display_mode" "" "next display mode: wrapped, unwrapped; bodies decoded, raw, hex";
        MarkThis "mark_item" "" "mark or unmark the shown row";
        TabLeft "tab_left" "" "previous tab; on the first tab, close the detail";
        TabRight "tab_right" "" "next tab";
        ScrollLeft "scroll_left" "" "long lines: left";
        ScrollRight "scroll_right" "" "long lines: right";
        Search "search" "search" "search in this text";
        NextMatch "next_match" "next" "next match";
        PreviousMatch "previous_match" "previous" "previous match";
    }
    /// The row under the cursor, or the marked rows.
    ItemAction(Item) {
        New "new" "new" "create an item; in captures and findings, a manual finding";
        Edit "edit" "edit" "edit the selected row";
        Delete "delete" "delete" "delete, after a confirmation";
        Scan "scan" "scan" "scan this target, or every marked one";
        TagTargets "tag_targets" "tags" "add tags to this target or every marked one; -tag removes one";
        Retest "retest" "retest" "retest: repeat the scans of this or the marked findings";
        Compare "compare" "compare" "compare with the previous scan, or compare two marked scans";
        Why "why" "why" "why this finding is new, changed, absent, reappeared or not retested";
        Prove "prove" "" "prove: send the request in the evidence to the target again, after a prompt";
        Chain "chain" "" "chain: how this row is connected to findings, captures, payloads, targets and services";
        ScanAgain "repeat_scan" "repeat" "repeat this scan";
        Stop "stop" "stop" "stop the scan, after a confirmation";
        CancelCall "cancel_request" "cancel" "cancel this request or the marked ones in flight";
        Report "report" "report" "create a report; its form shows which rows it covers";
        Download "download" "download" "download into the current directory; nothing is overwritten";
        Replay "replay" "replay" "replay this request to a URL that you enter";
        Pause "pause" "pause" "pause or resume the stream";
        PauseSchedule "pause_schedule" "pause" "pause or resume the schedule";
        Clear "clear" "clear" "clear the logger: delete its captures at the service";
    }
    /// A verdict on findings.
    VerdictAction(Verdict) {
        Confirm "confirm" "" "confirmed: real and relevant";
        FalsePositive "false_positive" "" "false positive";
        AcceptRisk "accept_risk" "" "risk accepted, for 90 days by default";
        NotApplicable "not_applicable" "" "not applicable";
        Fix "fix" "" "fixed";
        InReview "in_review" "" "in review";
        Reopen "reopen" "" "reopen";
        ConfirmNext "confirm_next" "" "confirmed, then go to the next row";
        FalsePositiveNext "false_positive_next" "" "false positive, then go to the next row";
        AcceptRiskNext "accept_risk_next" "" "risk accepted, then go to the next row";
        NotApplicableNext "not_applicable_next" "" "not applicable, then go to the next row";
        FixNext "fix_next" "" "fixed, then go to the next row";
        InReviewNext "in_review_next" "" "in review, then go to the next row";
        ReopenNext "reopen_next" "" "reopen, then go to the next row";
    }
    /// Decisions beside the verdict keys, with the options of the menu.
    DecideAction(Decide) {
        ReuseOffered "reuse" "" "reuse the decision of the earlier port or imported file";
        More "decide_more" "more" "decide with reason, note, severity, tags or expiry date, or decide the whole class";
        Note "note" "" "add a note";
        Tags "tags" "" "add tags; -tag removes one";
        Reason "reason" "" "reason of the verdict";
        Severity "severity" "" "severity override";
        DuplicateOf "duplicate_of" "" "mark as duplicate of another finding";
        Until "until" "" "expiry date of the decision";
        Assignee "assignee" "" "who works on the finding";
        Due "due" "" "due date of the finding";
        Again "repeat_decision" "repeat" "repeat the last decision, then go to the next row or card";
        PreviousChanged "previous_changed" "" "previous row that a scan changed";
        NextChanged "next_changed" "" "next row that a scan changed";
        Rules "rules" "rules" "list of rules";
        SwitchRule "toggle_rule" "on/off" "turn the rule on or off";
        Undo "undo" "undo" "undo the last change and go to its finding";
        Redo "redo" "" "redo the last undone change";
    }
    /// A review, card by card.
    ReviewAction(Review) {
        Open "review" "review" "review the shown findings card by card, or resume the review";
        Skip "review_skip" "skip" "skip this card";
        Back "review_back" "back" "previous card";
        Exclude "review_exclude" "" "on the tab Affected: exclude or include this finding";
        Summary "review_summary" "summary" "show the summary, where you can end the review";
        End "review_end" "" "end the review; only in the summary";
    }
    /// The fields of a form.
    FormAction(Form) {
        NextField "next_field" "next" "next field";
        PreviousField "previous_field" "" "previous field";
        FieldDown "field_down" "" "down in multi-line text, else the next field";
        FieldUp "field_up" "" "up in multi-line text, else the previous field";
        Enter "enter" "" "next field; in multi-line text, a new line; on the button, submit";
        Send "send" "submit" "submit the form";
        ChoiceLeft "choice_left" "" "previous choice; in a text: left";
        ChoiceRight "choice_right" "" "next choice; in a text: right";
        ChoiceNext "choice_next" "choose" "next choice; in a text: a space";
        Editor "editor" "editor" "edit this field in $EDITOR";
    }
    /// Modals: their answers and typed lines.
    EditAction(Edit) {
        Close "close" "close" "cancel";
        Yes "yes" "yes" "yes; some prompts require enter instead and show the key";
        IncludeHidden "take_hidden" "all" "include hidden marked rows, or choose the second action of the prompt";
        Accept "accept" "accept" "accept the input";
        Complete "complete" "" "complete the input with the next suggestion";
        CompleteBack "complete_back" "" "complete the input with the previous suggestion";
        LineDown "line_down" "" "next suggestion; in a filter: a later query";
        LineUp "line_up" "" "previous suggestion; in a filter: an earlier query";
        LinePageDown "line_page_down" "" "next page of suggestions";
        LinePageUp "line_page_up" "" "previous page of suggestions";
    }
    /// The first-start question.
    SetupAction(Setup) {
        Here "here" "local" "run the service on this machine; it keeps running when you quit";
        Hosted "hosted" "hosted" "use a hosted service: base URL and API key";
        Demo "demo" "demo" "temporary demo on loopback, deleted when you quit";
    }
}

impl Action {
    pub fn named(name: &str) -> Option<Self> {
        static BY_NAME: LazyLock<HashMap<&str, Action>> = LazyLock::new(|| {
            Action::ALL
                .iter()
                .map(|action| (action.name(), *action))
                .collect()
        });
        BY_NAME.get(name).copied()
    }

    /// Its name in the key table.
    pub fn name(self) -> &'static str {
        self.words()[0]
    }

    /// Its name on the command line, in words.
    pub fn command(self) -> String {
        self.name().replace('_', " ")
    }

    /// Short label of footer and menus; empty where it is not shown there.
    pub fn short(self) -> &'static str {
        self.words()[1]
    }

    /// Short label in a context where the general one would be wrong.
    pub fn short_in(self, context: Context) -> &'static str {
        match (self, context) {
            (Self::Item(ItemAction::Delete), Context::Alerts | Context::Rules) => "delete the rule",
            (Self::List(ListAction::In), Context::Setup) => "choose",
            _ => self.short(),
        }
    }

    /// Description of the help.
    pub fn describe(self) -> &'static str {
        self.words()[2]
    }

    /// Description of the help in a context where the general one would be wrong or vague.
    pub fn describe_in(self, context: Context) -> &'static str {
        match (self, context) {
            (Self::Item(ItemAction::New), Context::Workspaces) => "create a workspace",
            (Self::Item(ItemAction::New), Context::Targets) => "add targets",
            (Self::Item(ItemAction::New), Context::Scans) => "start a scan",
            (Self::Item(ItemAction::New), Context::Loggers) => "create a logger",
            (Self::Item(ItemAction::New), Context::Reports) => "create a report",
            (Self::Item(ItemAction::New), Context::Schedules) => "create a schedule",
            (Self::Item(ItemAction::New), Context::Findings) => "create a manual finding",
            (Self::Item(ItemAction::New), Context::Captures) => {
                "create a manual finding from these captures"
            }
            (Self::Item(ItemAction::Delete), Context::Alerts) => "delete the rule",
            (Self::Item(ItemAction::Delete), Context::Rules) => "delete the rule; undo restores it",
            (Self::Item(ItemAction::Edit), Context::Findings) => "edit a manual finding",
            (Self::Item(ItemAction::Delete), Context::Findings) => {
                "delete a manual finding, after a confirmation"
            }
            (Self::Item(ItemAction::Compare), Context::Findings | Context::Board) => {
                "compare the last two scans of this finding"
            }
            (Self::Item(ItemAction::Compare), Context::Why) => "compare the two scans",
            (Self::Item(ItemAction::Retest), Context::Why) => {
                "retest: repeat the scan that found it"
            }
            (Self::Item(ItemAction::Prove), Context::Why) => {
                "prove, where a proof can settle it: send the request in the evidence again"
            }
            (Self::Verdict(VerdictAction::Confirm), Context::Why) => {
                "confirm it, if the last proof shows that it is still there"
            }
            (Self::Verdict(VerdictAction::Fix), Context::Why) => {
                "mark it as fixed, if the last proof shows that it is gone"
            }
            (Self::List(ListAction::In), Context::Why) => "open the tests of the named scan",
            (Self::List(ListAction::In), Context::Chain) => "go to the selected object",
            (Self::Item(ItemAction::New), Context::Chain) => {
                "add the missing target, or a manual finding from the selected capture"
            }
            (Self::Item(ItemAction::Chain), Context::Chain) => {
                "show the chain of the selected object"
            }
            (Self::Item(ItemAction::Compare), Context::Captures) => {
                "compare with the previous capture, or compare two marked captures"
            }
            (Self::List(ListAction::In), Context::Setup) => "choose",
            (Self::List(ListAction::TakeBack), Context::Decide) => {
                "undo the last choice in this menu"
            }
            (Self::Edit(EditAction::Accept), Context::Decide) => "save without a verdict",
            (Self::Edit(EditAction::Close), Context::Form) => "close; the form keeps its draft",
            (
                Self::Edit(EditAction::Close),
                Context::Rules | Context::Alerts | Context::Plot | Context::Why | Context::Chain,
            ) => "close",
            (Self::Text(TextAction::ScrollLeft), Context::Plot) => "heat map: targets before these",
            (Self::Text(TextAction::ScrollRight), Context::Plot) => "heat map: targets after these",
            (Self::Edit(EditAction::LinePageDown), Context::Prompt) => {
                "next page of a long question"
            }
            (Self::Edit(EditAction::LinePageUp), Context::Prompt) => {
                "previous page of a long question"
            }
            _ => self.describe(),
        }
    }

    /// Whether it changes the service, creates a payload, sends a request, or runs a command that
    /// changes something: off in a read-only session.
    pub fn changes(self) -> bool {
        match self {
            Self::Item(action) => action.changes(),
            Self::Payload(action) => action == PayloadAction::Plant,
            // The browser sends a request.
            Self::Copy(action) => action == CopyAction::Browser,
            Self::Custom(action) => action.command().changes,
            Self::View(_)
            | Self::App(_)
            | Self::Terminal(_)
            | Self::Go(_)
            | Self::Shape(_)
            | Self::Plot(_)
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
            | Self::TagTargets
            | Self::Retest
            | Self::ScanAgain
            | Self::Stop
            | Self::Report
            | Self::Replay
            | Self::Prove
            | Self::PauseSchedule
            | Self::Clear => true,
            Self::Compare
            | Self::Why
            | Self::Chain
            | Self::Download
            | Self::Pause
            | Self::CancelCall => false,
        }
    }
}

impl ViewAction {
    /// Whether it changes the sizes of the panes.
    pub fn resizes(self) -> bool {
        matches!(
            self,
            Self::Taller | Self::Lower | Self::Wider | Self::Narrower | Self::ResetSizes
        )
    }
}

impl MoveAction {
    /// The number of rows that it moves, for a page of this size.
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
    /// One action for each verdict, in the order of the menu.
    pub const MENU: [Self; 7] = [
        Self::Confirm,
        Self::FalsePositive,
        Self::AcceptRisk,
        Self::NotApplicable,
        Self::InReview,
        Self::Fix,
        Self::Reopen,
    ];

    /// The verdict of this key, and whether the cursor moves to the next row.
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
