//! The fields of the query language as a table: names, value kinds, lists.
//!
//! The parser, the completion, the error hints and `docs/query.md` use this table.

use super::QueryKind::{
    self, Activity, Captures, Findings, Loggers, Payloads, Reports, Scans, Schedules, Targets,
    Wordlists, Workspaces,
};
use crate::finding::{Presence, Reason, Verdict};

/// The kind of the values of a field, which determines how clauses compare them.
#[derive(Clone, Copy, Debug)]
pub enum ValueKind {
    /// The text searched by words without a field.
    Search,
    /// Flags by name.
    Flags,
    /// Long texts: without `*` or `?`, a value matches if it contains the text.
    Prose,
    /// Short texts: the whole value is compared.
    Word,
    /// One of a few names, each with the word shown on the screen.
    Choice(fn() -> Vec<[&'static str; 2]>),
    Number,
    /// `info` to `critical`.
    Risk,
    /// A duration.
    Span,
    /// A time in the past; a duration means the age.
    Time,
    /// A time in the future; a duration means the time left.
    Deadline,
}

/// One row of the table.
#[derive(Debug)]
pub struct FieldSpec {
    /// The described field.
    pub field: Field,
    /// Name in queries.
    pub name: &'static str,
    /// Aliases.
    pub aliases: &'static [&'static str],
    /// Kind of its values.
    pub values: ValueKind,
    /// Lists that have it.
    pub lists: &'static [QueryKind],
    /// Description.
    pub words: &'static str,
    /// Example clause.
    pub example: &'static str,
}

impl FieldSpec {
    /// Description for a list in which the general one would be wrong or vague.
    pub fn words_in(&self, list: QueryKind) -> &'static str {
        match (self.field, list) {
            (Field::Id, Findings) => "ids of all occurrences",
            (Field::Tool, Findings) => "id or name of a tool that found it",
            (Field::Id, Activity) => "number of the request",
            (Field::Name, Loggers) => "label",
            (Field::Risk, Targets | Scans) => "worst risk found",
            (Field::By, Payloads) => "who created it",
            (Field::Seen, Payloads) => "time of the last hit",
            (Field::Target, Captures) => {
                "target of the payload, of the sender, or mentioned in the request"
            }
            (Field::Port, Captures) => "port of the sender",
            (Field::Status, Activity) => "HTTP status",
            (Field::Message, Activity) => "error",
            (Field::Duration, Activity) => "how long it took",
            (Field::Time, Activity) => "when it was sent",
            (Field::Path, Activity) => "path and query",
            (Field::Payload, Captures) => "every token in the request",
            (Field::Delay, Payloads) => "time from payload to first hit",
            (Field::Url, Payloads) => "URL of the payload",
            _ => self.words,
        }
    }

    /// Example for a list whose rows have other values.
    pub fn example_in(&self, list: QueryKind) -> &'static str {
        match (self.field, list) {
            (Field::Text, Scans) => "text:\"connection refused\"",
            (Field::Text, Targets) => "text:shop",
            (Field::Tag, Targets) => "tag:prod",
            (Field::Text, Captures) => "text:metadata",
            (Field::Text, Loggers) => "text:blind",
            (Field::Text, Payloads) => "text:ssrf",
            (Field::Text, Reports) => "text:website",
            (Field::Text, Wordlists) => "text:parameters",
            (Field::Text, Workspaces) => "text:acme",
            (Field::Text, Schedules) => "text:web",
            (Field::Text, Activity) => "text:timeout",
            (Field::Name, Targets) => "name:shop*",
            (Field::Name, Loggers) => "name:blind-ssrf",
            (Field::Name, Reports) => "name:website",
            (Field::Name, Wordlists) => "name:parameters",
            (Field::Name, Workspaces) => "name:acme",
            (Field::Name, Schedules) => "name:web",
            (Field::Status, Findings) => "status:open",
            (Field::Status, Reports) => "status:finished",
            (Field::Status, Activity) => "status:404",
            (Field::Message, Activity) => "message:timeout",
            (Field::Duration, Activity) => "duration>5s",
            (Field::Path, Activity) => "path:/scans",
            _ => self.example,
        }
    }
}

/// The user, in queries and in commands such as `assign me`.
pub const ME: &str = "me";

impl Field {
    /// Whether its values are names of people.
    pub fn names_people(self) -> bool {
        matches!(self, Self::Assignee | Self::By)
    }

    /// The entry in the table.
    pub fn spec(self) -> &'static FieldSpec {
        &FIELDS[self as usize]
    }

    /// The field of this name or alias in any case, if the list has it.
    pub fn named(name: &str, kind: QueryKind) -> Option<Self> {
        let of = |spec: &&FieldSpec| {
            spec.lists.contains(&kind)
                && (spec.name.eq_ignore_ascii_case(name)
                    || spec
                        .aliases
                        .iter()
                        .any(|alias| alias.eq_ignore_ascii_case(name)))
        };
        FIELDS.iter().find(of).map(|spec| spec.field)
    }

    /// The fields of a list, in the order of the table.
    pub fn of(kind: QueryKind) -> impl Iterator<Item = &'static FieldSpec> {
        FIELDS.iter().filter(move |spec| spec.lists.contains(&kind))
    }
}

fn verdicts() -> Vec<[&'static str; 2]> {
    Verdict::ALL
        .iter()
        .map(|verdict| [verdict.as_str(), verdict.word()])
        .collect()
}

fn reasons() -> Vec<[&'static str; 2]> {
    Reason::ALL
        .iter()
        .map(|reason| [reason.as_str(); 2])
        .collect()
}

fn presences() -> Vec<[&'static str; 2]> {
    Presence::ALL
        .iter()
        .map(|presence| [presence.as_str(); 2])
        .collect()
}

fn sources() -> Vec<[&'static str; 2]> {
    ["person", "rule", "service", "nobody"]
        .map(|name| [name; 2])
        .into()
}

fn scanner() -> Vec<[&'static str; 2]> {
    ["proven", "unproven"].map(|name| [name; 2]).into()
}

const ALL: &[QueryKind] = &QueryKind::ALL;
/// Lists whose rows have an id.
const NUMBERED: &[QueryKind] = &[
    Findings, Scans, Targets, Captures, Loggers, Reports, Wordlists, Workspaces, Activity,
    Schedules,
];
const WITH_TEXT: &[QueryKind] = &[Findings, Targets, Wordlists, Workspaces];

/// Declares [`Field`] and its table from one list.
macro_rules! fields {
    ($($field:ident $name:literal $aliases:expr, $values:expr, $lists:expr, $words:literal, $example:literal;)+) => {
        /// A property of rows that a clause tests.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Field {
            $(#[doc = $words] $field,)+
        }

        /// All fields, in the order of [`Field`].
        pub static FIELDS: &[FieldSpec] = {
            use ValueKind::{Choice, Deadline, Flags, Number, Prose, Risk, Search, Span, Time, Word};
            &[$(FieldSpec {
                field: Field::$field,
                name: $name,
                aliases: $aliases,
                values: $values,
                lists: $lists,
                words: $words,
                example: $example,
            }),+]
        };
    };
}

fields! {
    Text "text" &[], Search, ALL, "searches the same text as a word without a field", r#"text:"sql inj""#;
    Is "is" &[], Flags, ALL, "the flags listed below", "is:new";
    Id "id" &[], Number, NUMBERED, "id at the service", "id:118";
    Name "name" &["label"], Prose, &[Findings, Targets, Loggers, Reports, Wordlists, Workspaces, Schedules], "name", "name:\"private key\"";
    Risk "risk" &["risk_level", "severity", "sev"], Risk, &[Findings, Targets, Scans], "severity override, else the risk as scanned", "risk>=high";
    ScannedRisk "scanned_risk" &[], Risk, &[Findings], "risk as scanned, without the severity override", "scanned_risk:high risk:low";
    Verdict "verdict" &[], Choice(verdicts), &[Findings], "verdict; the last one if the finding is reopened", "verdict:confirmed";
    Reason "reason" &[], Choice(reasons), &[Findings], "reason for the verdict", "reason:not_reproducible";
    By "by" &["who", "decided_by"], Word, &[Findings, Payloads], "who decided", "by:ann*";
    Source "source" &[], Choice(sources), &[Findings], "origin of the verdict", "source:rule";
    Decided "decided" &["decided_at"], Time, &[Findings], "time of the decision", "decided<1w";
    Until "until" &[], Deadline, &[Findings], "expiry date of the decision", "until<7d";
    Assignee "assignee" &["assigned"], Word, &[Findings], "assignee; `none` if nobody is assigned", "assignee:anna";
    Due "due" &["due_date"], Deadline, &[Findings], "due date; `none` without a due date", "due<2026-12-10";
    Tag "tag" &["tags"], Word, &[Findings, Targets], "tags", "tag:client-*";
    Note "note" &["notes"], Prose, &[Findings, Payloads], "notes", "note:waf";
    Duplicate "duplicate_of" &["duplicate"], Word, &[Findings], "fingerprint of the original", "duplicate_of:5f*";
    Presence "presence" &[], Choice(presences), &[Findings], "compared with the previous scan or the baseline", "presence:reappeared";
    First "first" &["first_seen", "age"], Time, &[Findings], "start of the first scan that found it", "age>1w";
    Seen "seen" &["last_seen"], Time, &[Findings, Payloads], "start of the last scan that found it", "seen>=2026-10-01";
    Changed "changed" &[], Time, &[Findings], "when it appeared, changed, reappeared or was decided", "changed<2d";
    Target "target" &["target_name", "host"], Prose, &[Findings, Scans, Captures, Payloads], "target", "target:shop*";
    TargetId "target_id" &[], Number, &[Findings, Scans], "id of the target", "target_id:7";
    Workspace "workspace" &["ws"], Prose, &[Findings, Scans, Targets], "name of the workspace", "workspace:acme";
    Scan "scan" &["task_id", "scan_id"], Number, &[Findings], "ids of the scans that found it", "scan:118";
    Tool "tool" &["tool_id"], Word, &[Findings, Scans], "id or name of the tool", "tool:170";
    Scanner "scanner" &[], Choice(scanner), &[Findings], "whether the scanner proved the finding", "scanner:proven";
    Class "class" &[], Word, &[Findings], "class of the finding, as used by groups and rules", "class:coverage*";
    VulnId "vuln_id" &["vuln"], Word, &[Findings], "id of the class, as named by the service", "vuln_id:SSL-*";
    Cve "cve" &[], Word, &[Findings], "CVE numbers", "cve:CVE-2024-*";
    Cwe "cwe" &[], Word, &[Findings], "CWE numbers, with or without `CWE-`", "cwe:79";
    Owasp "owasp" &[], Prose, &[Findings], "OWASP Top Ten categories of 2017, 2021 and 2025", "owasp:A05";
    Port "port" &["remote_port"], Number, &[Findings, Captures], "port", "port:80,443";
    Protocol "protocol" &["proto"], Word, &[Findings], "protocol", "protocol:tcp";
    Service "service" &[], Word, &[Findings], "service on the port", "service:http*";
    Epss "epss" &["epss_score"], Number, &[Findings], "EPSS score, 0 to 1", "epss>0.5";
    Percentile "epss_percentile" &["percentile"], Number, &[Findings], "EPSS percentile, 0 to 1", "epss_percentile>=0.95";
    Cvss "cvss" &["cvssv2"], Number, &[Findings], "CVSS 2 score", "cvss>7";
    CvssV3 "cvssv3" &["cvss3"], Number, &[Findings], "CVSS 3 score", "cvssv3>=9";
    Status "status" &["status_name"], Word, &[Findings, Scans, Reports, Activity], "status at the service", "status:running";
    Test "test" &["test_description"], Prose, &[Findings], "name of the test", "test:cookie";
    Description "description" &["desc", "vuln_description"], Prose, WITH_TEXT, "description", "description:staging";
    RiskDescription "risk_description" &[], Prose, &[Findings], "why it matters", "risk_description:session";
    Evidence "evidence" &["vuln_evidence"], Prose, &[Findings], "evidence, as JSON text", "evidence:\"BEGIN RSA\"";
    Recommendation "recommendation" &["fix"], Prose, &[Findings], "how to fix it", "fix:upgrade";
    Reference "reference" &["references", "ref"], Prose, &[Findings], "references", "reference:owasp.org";
    Screenshots "screenshots" &[], Number, &[Findings], "number of screenshots", "screenshots>0";
    Asset "asset" &[], Word, &[Findings], "canonical target name, as in the fingerprint", "asset:shop.test";
    Key "key" &["fingerprint"], Word, &[Findings], "fingerprint of the finding, under which decisions are stored", "key:5f*";
    Progress "progress" &[], Number, &[Scans], "percent done", "progress>50";
    Started "started" &["start", "start_time", "age"], Time, &[Scans], "when it started", "started<1d";
    Ended "ended" &["end", "end_time"], Time, &[Scans], "when it ended", "ended>=2026-10-01";
    Duration "duration" &[], Span, &[Scans, Activity], "how long it ran", "duration>10m";
    Tests "tests" &["num_tests"], Number, &[Scans], "number of tests", "tests>100";
    TestsDone "tests_done" &["num_finished_tests"], Number, &[Scans], "number of tests done", "tests_done:0";
    Message "message" &["status_message", "error"], Prose, &[Scans, Activity], "status message of the service", "message:refused";
    Params "params" &["tool_params"], Prose, &[Scans], "parameters, as JSON text without secrets", "params:deep";
    Critical "critical" &[], Number, &[Scans], "critical findings", "critical>0";
    High "high" &[], Number, &[Scans], "high findings", "high>=3";
    Medium "medium" &[], Number, &[Scans], "medium findings", "medium>0";
    Low "low" &[], Number, &[Scans], "low findings", "low>0";
    Info "info" &[], Number, &[Scans], "informational findings", "info>0";
    Type "type" &["kind"], Word, &[Targets], "`hostname`, `ip_address` or `url`", "type:url";
    From "from" &["ip_address", "ip"], Word, &[Captures], "address of the sender", "from:203.0.113.*";
    Method "method" &["request_method"], Word, &[Captures, Activity], "HTTP method", "method:post";
    Query "query" &["url_params"], Prose, &[Captures], "query string", "query:k7f2";
    Agent "agent" &["user_agent"], Prose, &[Captures], "user agent", "agent:curl";
    Os "os" &[], Word, &[Captures], "guessed operating system of the sender", "os:linux";
    Header "header" &["headers", "http_headers"], Prose, &[Captures], "header lines", "header:\"x-forwarded-for\"";
    BodyType "body_type" &["request_body_type"], Word, &[Captures], "content type of the body", "body_type:*json*";
    Body "body" &["request_body"], Prose, &[Captures], "body, decoded", "body:passwd";
    Time "time" &["request_date", "age"], Time, &[Captures, Activity], "when it arrived", "time<1h";
    Path "path" &[], Prose, &[Captures, Activity], "path of the request, where the service records it", "path:latest";
    HttpVersion "http_version" &[], Word, &[Captures], "HTTP version, where the service records it", "http_version:*2*";
    Logger "logger" &[], Prose, &[Captures, Payloads], "label of the logger", "logger:blind-ssrf";
    Payload "payload" &["token"], Word, &[Captures, Payloads], "token", "payload:k7f2*";
    Planted "planted" &["where", "parameter"], Prose, &[Captures, Payloads], "placement of the payload: parameter, header or batch", "planted:q";
    Technique "technique" &[], Prose, &[Captures, Payloads], "technique that the payload tests", "technique:ssrf";
    Delay "delay" &["after"], Span, &[Captures, Payloads], "time from payload to request", "delay>2s";
    Hits "hits" &[], Number, &[Payloads], "number of hits", "hits>1";
    Number "number" &["line"], Number, &[Captures, Payloads], "line of the payload in its batch", "number:17";
    Batch "batch" &["file"], Prose, &[Captures, Payloads], "batch of payloads, by file", "batch:urls.txt";
    About "finding" &[], Prose, &[Payloads], "name of the finding it was created for", "finding:redirect";
    Url "url" &["handler_url"], Prose, &[Loggers, Payloads], "URL that records requests", "url:8081";
    Days "days" &["active_days"], Number, &[Loggers], "days left", "days<3";
    Requests "requests" &["num_requests"], Number, &[Loggers], "requests received", "requests>0";
    Left "left" &["requests_left"], Number, &[Loggers], "requests left", "left<10";
    Format "format" &[], Word, &[Reports], "file format", "format:pdf";
    Made "made" &["generation_date", "age"], Time, &[Reports, Payloads], "when it was created", "made<1d";
    Expires "expires" &["expiration_date"], Deadline, &[Reports], "when the service deletes it", "expires<2d";
    Words "words" &["num_words"], Number, &[Wordlists], "number of words", "words>1000";
    ScanCount "scans" &["scan_count"], Number, &[Workspaces], "number of scans", "scans:0";
    TargetCount "targets" &["target_count"], Number, &[Workspaces], "number of targets", "targets>10";
    Bytes "bytes" &["size"], Number, &[Activity], "bytes of the response", "bytes>1000000";
    Retries "retries" &[], Number, &[Activity], "attempts after the first", "retries>0";
    NextStart "next" &["next_start"], Deadline, &[Schedules], "when it starts next", "next<12h";
    LastStart "last" &["last_start"], Time, &[Schedules], "when it started last", "last<1d";
    Decision "decision" &[], Flags, &[], "flags that follow from decisions; queried with is:", "";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;

    #[test]
    fn field_names_are_unique_per_list() {
        for (at, spec) in FIELDS.iter().enumerate() {
            assert_eq!(spec.field as usize, at, "{}", spec.name);
            assert!(!spec.words.is_empty());
        }
        for kind in QueryKind::ALL {
            let mut names: Vec<_> = Field::of(kind)
                .flat_map(|spec| spec.aliases.iter().chain([&spec.name]))
                .collect();
            let all = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), all, "{kind:?}");
        }
    }

    #[test]
    fn field_examples_parse_for_every_list() {
        for spec in FIELDS {
            for &kind in spec.lists {
                // The flags differ from list to list.
                let kind = if spec.field == Field::Is {
                    Findings
                } else {
                    kind
                };
                let read = Query::parse(spec.example_in(kind), kind);
                assert!(read.is_ok(), "{}: {read:?}", spec.example_in(kind));
            }
        }
    }
}
