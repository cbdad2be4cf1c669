//! Every action there is, with the words that footer, menus, help and README use for it.

use crate::oob::Shape;
use crate::triage::verdict::Verdict;

/// Declares the actions: name in the key table, short word of the footer (empty: not shown there), sentence of the help.
macro_rules! actions {
    ($($variant:ident $name:literal $short:literal $help:literal;)+) => {
        /// What a key can ask for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)] // each describes itself
        pub enum Action { $($variant,)+ }

        impl Action {
            /// All of them.
            pub const ALL: &[Action] = &[$(Action::$variant,)+];

            /// Its name in the key table.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// One word for footer and menus; empty where it is not shown there.
            pub fn short(self) -> &'static str {
                match self { $(Self::$variant => $short,)+ }
            }

            /// What it does, for the help.
            pub fn describe(self) -> &'static str {
                match self { $(Self::$variant => $help,)+ }
            }
        }
    };
}

actions! {
    // everywhere
    Help "help" "keys" "show every key; type to filter";
    Back "back" "" "close what is open: one layer";
    Quit "quit" "leave" "leave this view; at the root, leave scandeck";
    Cancel "cancel" "" "cancel what is open or under way; twice in a second: leave at once";
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
    Refresh "refresh" "" "read anew from the service now";
    GoPrefix "go" "go" "go …: a second key says where";
    CopyPrefix "copy" "copy" "copy …: a second key says what";
    Commands "commands" "" "the command line: every view and action by name, with completion";
    Redraw "redraw" "" "draw the screen anew";
    Suspend "suspend" "" "hand the terminal back to the shell; `fg` returns";
    // payloads
    PlantPayload "payload" "payload" "a new payload of the current logger, copied; e tells afterwards where it went";
    EditPlace "edit_place" "where it went" "parameter, technique and note of the payload: of this row, or made last";
    // g then
    GoTop "go_top" "top" "first row";
    GoTarget "go_target" "target" "target of this row, else Targets";
    GoScan "go_scan" "scan" "scan of this row, else Scans";
    GoFindings "go_findings" "findings" "findings of this row, else Findings";
    GoLogger "go_logger" "logger" "logger of this row, else the loggers";
    Payloads "go_payloads" "payloads" "the payload book; of this row the payload it carries";
    GoWorkspace "go_workspace" "workspace" "workspace worked in";
    // y then
    CopyObvious "copy_obvious" "the obvious" "the obvious one: id, name or URL";
    CopyUrl "copy_url" "URL" "URL";
    CopyCurl "copy_curl" "curl" "the API call as curl, the key left to $SCANDECK_API_KEY";
    CopyJson "copy_json" "JSON" "JSON";
    CopyCommand "copy_command" "command" "the command that opens this view";
    CopyFile "copy_file" "to a file" "JSON to a file in the current directory";
    CopyShapes "copy_payload" "payload" "a payload in a shape: a third key says which";
    CopyRaw "copy_raw" "raw HTTP" "raw HTTP of a captured request";
    // yp then
    ShapePlain "shape_plain" "the URL" "the URL as it is";
    ShapeSchemeLess "shape_schemeless" "//host" "without a scheme: //host/…";
    ShapeHostless "shape_hostless" "hostless" "path and query, without a host";
    ShapeEncoded "shape_encoded" "URL-encoded" "URL-encoded, for a parameter";
    ShapeXxe "shape_xxe" "XXE" "an XML document with an external entity";
    ShapeImg "shape_img" "img" "an HTML image";
    ShapeSvg "shape_svg" "svg" "an SVG document with an image";
    ShapeCurl "shape_curl" "curl" "a curl command";
    // b then
    GroupPrefix "group_prefix" "group" "group …: a second key says by what";
    GroupClass "group_class" "class" "by class: one decision for all of a kind";
    GroupTarget "group_target" "target" "by target";
    GroupCve "group_cve" "CVE" "by CVE, the first of each";
    GroupCwe "group_cwe" "CWE" "by CWE";
    GroupOwasp "group_owasp" "OWASP" "by OWASP category";
    GroupPort "group_port" "port" "by port";
    GroupNow "group_now" "now" "the board by NOW, each under a head";
    GroupPayload "group_payload" "payload" "by payload: what each brought in";
    GroupSource "group_source" "source" "by source address";
    GroupLogger "group_logger" "logger" "by logger";
    GroupNone "group_none" "none" "no groups";
    // lists and texts
    Down "down" "" "down";
    Up "up" "" "up";
    Top "top" "" "to the first";
    Bottom "bottom" "" "to the last";
    HalfDown "half_down" "" "half a page down";
    HalfUp "half_up" "" "half a page up";
    PageDown "page_down" "" "a page down";
    PageUp "page_up" "" "a page up";
    In "in" "open" "in: work in it, show what belongs to it, or open its detail";
    Out "out" "out" "out again";
    Filter "filter" "filter" "filter by words and fields (docs/query.md); the present filter to edit";
    TakeBack "take_back" "" "take back the last filter or scope step";
    Mark "mark" "mark" "mark, and down";
    Range "range" "" "begin a range, and end it";
    MarkAll "mark_all" "" "mark all shown; again: none";
    Invert "invert" "" "invert the marks of what is shown";
    Sort "sort" "" "next sort order";
    Shown "shown" "" "next way to show this text: wrapped or long lines; a body decoded, raw or hex";
    MarkThis "mark_this" "" "mark this item";
    TabLeft "tab_left" "" "previous tab; on the first one out";
    TabRight "tab_right" "" "next tab";
    ScrollLeft "scroll_left" "" "long lines: left";
    ScrollRight "scroll_right" "" "long lines: right";
    Search "search" "search" "search in this text";
    NextMatch "next_match" "next" "next match";
    PreviousMatch "previous_match" "previous" "previous match";
    // on what is under the cursor, or marked
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
    // deciding about findings
    Confirm "confirm" "" "confirmed: it is there and matters";
    FalsePositive "false_positive" "" "false positive";
    AcceptRisk "accept_risk" "" "risk accepted, for 90 days unless said";
    NotApplicable "not_applicable" "" "not applicable";
    Fix "fix" "" "fixed";
    TakeUp "in_review" "" "in review";
    Reopen "reopen" "" "open again";
    ConfirmNext "confirm_next" "" "confirmed, and next";
    FalsePositiveNext "false_positive_next" "" "false positive, and next";
    AcceptRiskNext "accept_risk_next" "" "risk accepted, and next";
    NotApplicableNext "not_applicable_next" "" "not applicable, and next";
    FixNext "fix_next" "" "fixed, and next";
    TakeUpNext "in_review_next" "" "in review, and next";
    ReopenNext "reopen_next" "" "open again, and next";
    TakeOver "take_over" "" "take over the decisions offered from where it was before its port moved";
    DecideMore "decide_more" "more" "decide with details: reason, note, severity, tags, duplicate of, until, scope";
    Note "note" "" "note: appended, never replaced";
    Tags "tags" "" "tags: put on, -tag takes off";
    Reason "reason" "" "reason of the verdict";
    Severity "severity" "" "a severity of one's own, beside the scanner's";
    DuplicateOf "duplicate_of" "" "what it is a duplicate of";
    Until "until" "" "last day it holds";
    DecideAgain "decide_again" "again" "the last decision again, and next";
    PreviousChanged "previous_changed" "" "the row before that a scan changed: new, changed, gone, back, not retested";
    NextChanged "next_changed" "" "the next row that a scan changed";
    Rules "rules" "rules" "the list of rules";
    SwitchRule "switch_rule" "off, on" "switch the rule off, or on again";
    Undo "undo" "undo" "undo the last decision, and go there";
    Redo "redo" "" "redo what was undone last";
    Review "review" "review" "review what is shown card by card, or go on with the review";
    ReviewSkip "review_skip" "skip" "skip this card";
    ReviewBack "review_back" "back" "the card before";
    ReviewLeaveOut "review_leave_out" "" "on the tab Where: leave this finding out of the decision, or take it in";
    ReviewEnd "review_end" "stop" "stop here: to the summary of what was decided";
    ReviewClose "review_close" "" "on the summary: end the review";
    // forms, prompts, lines
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
    Close "close" "close" "close; a form keeps its draft";
    Yes "yes" "yes" "yes";
    TakeHidden "take_hidden" "all" "take the marked rows that the filter hides too";
    Accept "accept" "done" "done";
    Complete "complete" "" "complete what is typed: the next of what is offered";
    CompleteBack "complete_back" "" "the one before of what is offered";
    LineDown "line_down" "" "down, while typing; in a filter: a later query";
    LineUp "line_up" "" "up, while typing; in a filter: an earlier query";
    LinePageDown "line_page_down" "" "a page down, while typing";
    LinePageUp "line_page_up" "" "a page up, while typing";
    Here "here" "here" "run the service on this machine; it goes on when you leave";
    Hosted "hosted" "hosted" "use a service elsewhere: base URL and API key";
    Demo "demo" "demo" "a throw-away world on loopback, gone when you leave";
    // of a later version; the letters stay reserved
    LaterActivity "later_activity" "" "comes with the Activity view";
    LaterMarkdown "later_markdown" "" "comes with the exports";
    LaterBrowser "later_browser" "" "comes with opening a browser";
}

impl Action {
    /// The action of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }

    /// Its letter is kept for a later version.
    pub fn is_later(self) -> bool {
        self.name().starts_with("later_")
    }

    /// The verdict that this key gives, and whether the cursor goes on to the next row.
    pub fn verdict(self) -> Option<(Verdict, bool)> {
        Some(match self {
            Self::Confirm => (Verdict::Confirmed, false),
            Self::FalsePositive => (Verdict::FalsePositive, false),
            Self::AcceptRisk => (Verdict::RiskAccepted, false),
            Self::NotApplicable => (Verdict::NotApplicable, false),
            Self::Fix => (Verdict::Fixed, false),
            Self::TakeUp => (Verdict::InReview, false),
            Self::Reopen => (Verdict::Open, false),
            Self::ConfirmNext => (Verdict::Confirmed, true),
            Self::FalsePositiveNext => (Verdict::FalsePositive, true),
            Self::AcceptRiskNext => (Verdict::RiskAccepted, true),
            Self::NotApplicableNext => (Verdict::NotApplicable, true),
            Self::FixNext => (Verdict::Fixed, true),
            Self::TakeUpNext => (Verdict::InReview, true),
            Self::ReopenNext => (Verdict::Open, true),
            _ => return None,
        })
    }

    /// The shape of a payload that this key copies.
    pub fn shape(self) -> Option<Shape> {
        Some(match self {
            Self::ShapePlain => Shape::Plain,
            Self::ShapeSchemeLess => Shape::SchemeLess,
            Self::ShapeHostless => Shape::Hostless,
            Self::ShapeEncoded => Shape::Encoded,
            Self::ShapeXxe => Shape::Xxe,
            Self::ShapeImg => Shape::Img,
            Self::ShapeSvg => Shape::Svg,
            Self::ShapeCurl => Shape::Curl,
            _ => return None,
        })
    }

    /// It changes something at the service, or makes something for a target: off in a read-only session.
    pub fn changes(self) -> bool {
        matches!(
            self,
            Self::New
                | Self::Edit
                | Self::Delete
                | Self::Scan
                | Self::ScanAgain
                | Self::Retest
                | Self::Stop
                | Self::Report
                | Self::Clear
                | Self::Replay
                | Self::PlantPayload
        )
    }
}
