//! One field of a form: a text, several lines, or a choice.
use crate::base::Secret;
use crate::text::TextInput;
use std::collections::BTreeMap;

/// Declares the fields, with the names that the service uses for them when it refuses; none for
/// what is never sent.
macro_rules! fields {
    ($($(#[$doc:meta])* $field:ident $($name:literal)*;)+) => {
        /// Which field; forms share them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FieldId { $($(#[$doc])* $field,)+ }

        impl FieldId {
            /// How the service calls it when it refuses, lower case; matched in its words, any
            /// case.
            pub fn wire_names(self) -> &'static [&'static str] {
                match self { $(Self::$field => &[$($name),*],)+ }
            }
        }
    };
}

fields! {
    Name "name";
    Description "description";
    /// Targets, a line each.
    Names;
    /// Tags to add to targets, or to remove.
    TargetTags "add" "remove";
    TagsInUse;
    Label "label";
    BaseUrl "base url" "base_url";
    Key "api key" "unauthorized";
    /// The targets of a scan form: captured ids, or a typed name.
    Targets "target_id";
    TargetName "target_name" "target";
    /// A set of scans of the configuration.
    ScanProfile;
    Tool "tool_id" "tool id";
    ToolId "tool_id" "tool id";
    Params;
    ParamsJson "tool_params";
    ScanType "scan_type";
    Ports;
    PortTop "port_top";
    PortRange "port_range";
    PortList "port_list";
    TlsPort "port";
    StartTls "starttls";
    Protocol "protocol_type";
    CheckAlive "check_alive";
    /// The words of a tool that guesses names or paths.
    ScanWords "wordlist_id";
    Domain "domain";
    Extensions "extensions";
    /// The templates of nuclei.
    Tags "tags";
    RecursionDepth "recursion_depth";
    PingPort "port";
    PingCount "count";
    RequestsPerSecond "requests_per_second";
    RedirectLevel "redirect_level";
    MaxScanTime "max_scan_time";
    OriginalUrl "scan_original_url";
    Vpn "vpn_profile_uuid";
    VpnUuid "vpn_profile_uuid";
    CallbackUrl "report_callback";
    CallbackFormat "report_callback.format";
    Format "format";
    GroupBy "group_by";
    Source "source";
    Resources "resources";
    Webhook "webhook_url" "webhook";
    FindingHistory "include_finding_history";
    AllTargets "include_all_targets";
    HowToReproduce "include_how_to_reproduce";
    FalsePositives "include_false_positives";
    InfoFindings "include_info";
    NotVerified "include_not_verified";
    Ignored "include_ignored";
    Accepted "include_accepted";
    Fixed "include_fixed";
    ToolConfiguration "include_tool_configuration";
    /// The chapters of a report that scandeck writes.
    Chapters;
    /// Its findings by verdict.
    ReportVerdicts;
    /// Its template.
    Template;
    History;
    InternalNotes;
    Coverage;
    Appendix;
    /// Its findings of risk info.
    InfoRisk;
    Changes;
    Chains;
    /// The finding to which captured requests are added.
    Into;
    /// Who makes a report.
    MadeBy;
    Risk;
    Class;
    Port;
    Text;
    Recommendation;
    Cwe;
    Cvss;
    References;
    Evidence;
    /// Whether an edit keeps the verdict of a finding.
    Verdict;
    /// Where a payload went.
    Parameter;
    Technique;
    Note;
    /// The finding to which a payload belongs.
    Finding;
    /// The interval of a schedule.
    Every "every";
    /// Time of day of its first start.
    At "at";
    /// Day of its first start.
    First "first";
    /// How late a missed start may be.
    Window "window";
    /// What a result file contains.
    ResultFiles;
    ResultTool;
    ResultTargets;
    ResultFindings;
    SkippedResults;
    /// Whether the run of a result file tested the same as the last one.
    Complete "complete";
}

impl FieldId {
    /// A refusal that names no field (403, 409) is shown here.
    pub fn is_object_name(self) -> bool {
        matches!(
            self,
            Self::Name | Self::Label | Self::TargetName | Self::Targets
        )
    }
}

#[derive(Clone, Debug)]
pub enum FieldValue {
    /// One line of text, or several.
    Text(Box<TextInput>),
    /// One of several.
    Choice {
        /// As shown.
        options: Vec<String>,
        /// The chosen one.
        at: usize,
    },
    /// Shown only, never focused.
    Info(String),
}

/// The note on one line of a field of several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineNote {
    /// Nothing.
    Empty,
    /// It can go: its kind.
    Good(String),
    /// It cannot: why.
    Bad(String),
    /// It was sent and refused: the server's words.
    Refused(String),
}

#[derive(Clone, Debug)]
pub struct FormField {
    /// Which.
    pub id: FieldId,
    /// Its name for people.
    pub label: &'static str,
    /// The accepted values in a few words: `1 to 1440 minutes`.
    pub help: &'static str,
    /// The current value.
    pub value: FieldValue,
    /// The problem of the value.
    pub error: Option<String>,
    /// Options that cannot be chosen, with the reasons.
    pub disabled: BTreeMap<usize, String>,
    /// For several lines: the note on each.
    pub notes: Vec<LineNote>,
    /// It takes part.
    pub shown: bool,
    /// Something was typed or chosen.
    pub touched: bool,
    /// The text that the server refused, and its message, which is shown until the text changes.
    pub refused: Option<(Secret, String)>,
}

impl FormField {
    fn with_value(id: FieldId, label: &'static str, value: FieldValue) -> Self {
        Self {
            id,
            label,
            help: "",
            value,
            error: None,
            disabled: BTreeMap::new(),
            notes: Vec::new(),
            shown: true,
            touched: false,
            refused: None,
        }
    }

    /// One line of text.
    pub fn line(id: FieldId, label: &'static str, text: &str) -> Self {
        Self::with_value(id, label, FieldValue::Text(Box::new(TextInput::line(text))))
    }

    /// One line with a usual value, which typed text replaces.
    pub fn preset(id: FieldId, label: &'static str, text: &str) -> Self {
        Self::with_value(
            id,
            label,
            FieldValue::Text(Box::new(TextInput::preset(text))),
        )
    }

    /// One line that is never shown.
    pub fn masked(id: FieldId, label: &'static str) -> Self {
        Self::with_value(id, label, FieldValue::Text(Box::new(TextInput::masked())))
    }

    /// Several lines of text.
    pub fn lines(id: FieldId, label: &'static str, text: &str) -> Self {
        Self::with_value(
            id,
            label,
            FieldValue::Text(Box::new(TextInput::lines(text))),
        )
    }

    /// With the cursor at the end of its text, which is continued.
    pub fn at_end(mut self) -> Self {
        if let FieldValue::Text(input) = &mut self.value {
            input.move_to_end();
        }
        self
    }

    /// One of several.
    pub fn choice<S: Into<String>>(
        id: FieldId,
        label: &'static str,
        options: impl IntoIterator<Item = S>,
        at: usize,
    ) -> Self {
        let options: Vec<String> = options.into_iter().map(Into::into).collect();
        Self::with_value(id, label, FieldValue::Choice { options, at })
    }

    /// Yes or no.
    pub fn toggle(id: FieldId, label: &'static str, on: bool) -> Self {
        Self::choice(id, label, ["no", "yes"], usize::from(on))
    }

    /// Shown only.
    pub fn info(id: FieldId, label: &'static str, text: impl Into<String>) -> Self {
        Self::with_value(id, label, FieldValue::Info(text.into()))
    }

    /// With a few words about what it takes.
    pub fn with_help(mut self, help: &'static str) -> Self {
        self.help = help;
        self
    }

    /// Its text: lines joined by line breaks, the chosen option, or the information.
    pub fn text(&self) -> String {
        match &self.value {
            FieldValue::Text(input) => input.text(),
            FieldValue::Choice { options, at } => options.get(*at).cloned().unwrap_or_default(),
            FieldValue::Info(text) => text.clone(),
        }
    }

    /// The chosen option's place.
    pub fn chosen(&self) -> usize {
        match self.value {
            FieldValue::Choice { at, .. } => at,
            _ => 0,
        }
    }

    /// Whether keys are typed into it.
    pub fn is_text(&self) -> bool {
        matches!(self.value, FieldValue::Text(_))
    }

    /// Chooses one of the options.
    pub fn select(&mut self, to: usize) {
        self.touched = true;
        if let FieldValue::Choice { options, at } = &mut self.value {
            *at = to.min(options.len().saturating_sub(1));
        }
    }

    /// Replaces a text by another.
    pub fn set_text(&mut self, text: &str) {
        self.touched = true;
        if let FieldValue::Text(input) = &mut self.value {
            input.set(text);
        }
    }

    /// Chooses another option, going around. Disabled ones are skipped.
    pub fn choose(&mut self, by: isize) {
        let FieldValue::Choice { options, at } = &mut self.value else {
            return;
        };
        let place =
            |step: isize| (*at as isize + by * step).rem_euclid(options.len() as isize) as usize;
        if let Some(next) = (1..=options.len() as isize)
            .map(place)
            .find(|next| !self.disabled.contains_key(next))
        {
            *at = next;
            self.touched = true;
        }
    }

    /// Replaces the options. The last one, for a value that is typed, remains the chosen one; of the
    /// others the place remains.
    pub(crate) fn offer(&mut self, offered: Vec<String>) {
        if let FieldValue::Choice { options, at } = &mut self.value {
            let is_last = *at + 1 >= options.len();
            let last = offered.len().saturating_sub(1);
            *at = if is_last { last } else { last.min(*at) };
            *options = offered;
        }
    }

    /// Disables options, with the reasons. The first other one replaces a disabled choice.
    pub fn disable(&mut self, disabled: BTreeMap<usize, String>) {
        if let FieldValue::Choice { options, at } = &mut self.value
            && disabled.contains_key(at)
            && let Some(first) = (0..options.len()).find(|option| !disabled.contains_key(option))
        {
            *at = first;
        }
        self.disabled = disabled;
    }

    /// Why options are disabled: `html, xlsx not available: format must be pdf`, a line per reason.
    pub(crate) fn disabled_reasons(&self) -> Vec<String> {
        let FieldValue::Choice { options, .. } = &self.value else {
            return Vec::new();
        };
        let mut options_of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (&at, reason) in &self.disabled {
            options_of
                .entry(reason)
                .or_default()
                .extend(options.get(at).map(String::as_str));
        }
        options_of
            .into_iter()
            .map(|(reason, options)| format!("{} not available: {reason}", options.join(", ")))
            .collect()
    }

    /// The message of the service, as long as the text is the one that it refused.
    pub(crate) fn refusal(&self) -> Option<String> {
        let (refused, message) = self.refused.as_ref()?;
        (refused.0 == self.text()).then(|| message.clone())
    }

    /// Whether a draft restores it: not the objects that the form was opened for.
    pub(crate) fn is_in_drafts(&self) -> bool {
        // An answer about a verdict belongs to one edit.
        let belongs_to_opening = matches!(
            self.id,
            FieldId::Targets
                | FieldId::Resources
                | FieldId::Source
                | FieldId::Into
                | FieldId::ScanWords
                | FieldId::ScanProfile
                | FieldId::Verdict
        );
        !belongs_to_opening && !matches!(self.value, FieldValue::Info(_))
    }
}
