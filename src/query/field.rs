//! The fields of the query language as data: their names, what kind of value they have, which lists have them.
//!
//! The parser, the completion, the explanation of errors and `docs/query.md` all read this table.

use super::QueryKind::{self, Captures, Findings, Loggers, Payloads, Reports, Scans, Targets, Wordlists, Workspaces};
use crate::finding::{Presence, Reason, Verdict};

/// What a clause looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // the table tells
pub enum Field {
    Text,
    Is,
    Id,
    Name,
    Risk,
    Severity,
    Verdict,
    Reason,
    By,
    Source,
    Decided,
    Until,
    Tag,
    Note,
    Duplicate,
    Presence,
    First,
    Seen,
    Changed,
    Target,
    TargetId,
    Workspace,
    Scan,
    Tool,
    Scanner,
    Class,
    VulnId,
    Cve,
    Cwe,
    Owasp,
    Port,
    Protocol,
    Service,
    Epss,
    Percentile,
    Cvss,
    CvssV3,
    Status,
    Test,
    Description,
    RiskDescription,
    Evidence,
    Recommendation,
    Reference,
    Screenshots,
    Asset,
    Key,
    Progress,
    Started,
    Ended,
    Duration,
    Tests,
    TestsDone,
    Message,
    Params,
    Critical,
    High,
    Medium,
    Low,
    Info,
    Type,
    From,
    Method,
    Query,
    Agent,
    Os,
    Header,
    BodyType,
    Body,
    Time,
    Path,
    HttpVersion,
    Logger,
    Payload,
    Planted,
    Technique,
    Delay,
    Hits,
    Number,
    Batch,
    About,
    Url,
    Days,
    Requests,
    Left,
    Format,
    Made,
    Expires,
    Words,
    ScanCount,
    TargetCount,
    Decision,
}

/// What the values of a field are, and so how a clause compares them.
#[derive(Clone, Copy, Debug)]
pub enum ValueKind {
    /// The text that bare words search.
    Search,
    /// Flags by name.
    Flags,
    /// Names and longer texts: without `*` or `?` it is enough that the value has the text somewhere.
    Prose,
    /// Short texts: the whole value is compared.
    Word,
    /// One of a few names, each with the word that the screen shows.
    Choice(fn() -> Vec<[&'static str; 2]>),
    /// A number.
    Number,
    /// `info` to `critical`.
    Risk,
    /// A length of time.
    Span,
    /// A point in time that has passed: a length of time stands for its age.
    Time,
    /// A point in time to come: a length of time stands for what is left.
    Deadline,
}

/// One row of the table.
#[derive(Debug)]
pub struct FieldSpec {
    /// What it is about.
    pub field: Field,
    /// Its name in queries.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// What its values are.
    pub values: ValueKind,
    /// The lists that have it.
    pub lists: &'static [QueryKind],
    /// What it is, for people.
    pub words: &'static str,
    /// One clause with it.
    pub example: &'static str,
}

impl Field {
    /// Its row of the table.
    pub fn spec(self) -> &'static FieldSpec {
        &FIELDS[self as usize]
    }

    /// The field of this name or alias, any case, where the list has it.
    pub fn named(name: &str, kind: QueryKind) -> Option<Self> {
        let of = |spec: &&FieldSpec| {
            spec.lists.contains(&kind)
                && (spec.name.eq_ignore_ascii_case(name)
                    || spec.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name)))
        };
        FIELDS.iter().find(of).map(|spec| spec.field)
    }

    /// The fields of a list, in the order of the table.
    pub fn of(kind: QueryKind) -> impl Iterator<Item = &'static FieldSpec> {
        FIELDS.iter().filter(move |spec| spec.lists.contains(&kind))
    }
}

fn verdicts() -> Vec<[&'static str; 2]> {
    Verdict::ALL.iter().map(|verdict| [verdict.as_str(), verdict.word()]).collect()
}

fn reasons() -> Vec<[&'static str; 2]> {
    Reason::ALL.iter().map(|reason| [reason.as_str(); 2]).collect()
}

fn presences() -> Vec<[&'static str; 2]> {
    Presence::ALL.iter().map(|presence| [presence.as_str(), presence.word()]).collect()
}

fn sources() -> Vec<[&'static str; 2]> {
    ["person", "rule", "service", "nobody"].map(|name| [name; 2]).into()
}

fn scanner() -> Vec<[&'static str; 2]> {
    ["proven", "unproven"].map(|name| [name; 2]).into()
}

const ALL: &[QueryKind] = &QueryKind::ALL;
/// The lists whose rows have a number at the service.
const NUMBERED: &[QueryKind] = &[Findings, Scans, Targets, Captures, Loggers, Reports, Wordlists, Workspaces];
const WITH_TEXT: &[QueryKind] = &[Findings, Targets, Wordlists, Workspaces];

const fn row(
    (field, name): (Field, &'static str),
    aliases: &'static [&'static str],
    values: ValueKind,
    lists: &'static [QueryKind],
    words: &'static str,
    example: &'static str,
) -> FieldSpec {
    FieldSpec { field, name, aliases, values, lists, words, example }
}

/// All fields, in the order of [`Field`].
#[rustfmt::skip]
pub static FIELDS: &[FieldSpec] = {
    use ValueKind::{Choice, Deadline, Flags, Number, Prose, Risk, Search, Span, Time, Word};
    &[
        row((Field::Text, "text"), &[], Search, ALL, "what bare words search: the texts a list shows", r#"text:"sql inj""#),
        row((Field::Is, "is"), &[], Flags, ALL, "the flags listed below", "is:new"),
        row((Field::Id, "id"), &[], Number, NUMBERED, "id of the service; of a finding, those of all its occurrences", "id:118"),
        row((Field::Name, "name"), &["label"], Prose, &[Findings, Targets, Loggers, Reports, Wordlists, Workspaces], "how it is called", "name:\"private key\""),
        row((Field::Risk, "risk"), &["risk_level"], Risk, &[Findings, Targets, Scans], "risk as scanned; of targets and scans, the worst found", "risk>=high"),
        row((Field::Severity, "severity"), &["sev"], Risk, &[Findings], "a severity of one's own, else the risk", "severity:medium,high"),
        row((Field::Verdict, "verdict"), &[], Choice(verdicts), &[Findings], "the verdict; of one that holds no more, the old one", "verdict:confirmed"),
        row((Field::Reason, "reason"), &[], Choice(reasons), &[Findings], "why it was decided so", "reason:not_reproducible"),
        row((Field::By, "by"), &["who", "decided_by"], Word, &[Findings, Payloads], "who decided; of payloads, who made it", "by:ann*"),
        row((Field::Source, "source"), &[], Choice(sources), &[Findings], "whose verdict it is", "source:rule"),
        row((Field::Decided, "decided"), &["decided_at"], Time, &[Findings], "when it was decided", "decided<1w"),
        row((Field::Until, "until"), &[], Deadline, &[Findings], "last day of the decision", "until<7d"),
        row((Field::Tag, "tag"), &["tags"], Word, &[Findings], "tags", "tag:client-*"),
        row((Field::Note, "note"), &["notes"], Prose, &[Findings, Payloads], "notes", "note:waf"),
        row((Field::Duplicate, "duplicate_of"), &["duplicate"], Word, &[Findings], "fingerprint of what it duplicates", "duplicate_of:5f*"),
        row((Field::Presence, "presence"), &[], Choice(presences), &[Findings], "against the scan before, or the baseline", "presence:reappeared"),
        row((Field::First, "first"), &["first_seen", "age"], Time, &[Findings], "when a scan saw it first", "age>1w"),
        row((Field::Seen, "seen"), &["last_seen"], Time, &[Findings, Payloads], "when the latest scan that saw it started; of payloads, the last hit", "seen>=2026-10-01"),
        row((Field::Changed, "changed"), &[], Time, &[Findings], "when it came, changed, came back or was decided", "changed<2d"),
        row((Field::Target, "target"), &["target_name", "host"], Prose, &[Findings, Scans, Captures, Payloads], "name of the target; of captures, of those that the payload was planted in, that sent it or that it names", "target:shop*"),
        row((Field::TargetId, "target_id"), &[], Number, &[Findings, Scans], "id of the target", "target_id:7"),
        row((Field::Workspace, "workspace"), &["ws"], Prose, &[Findings, Scans, Targets], "name of the workspace", "workspace:acme"),
        row((Field::Scan, "scan"), &["task_id", "scan_id"], Number, &[Findings], "ids of the scans that found it", "scan:118"),
        row((Field::Tool, "tool"), &["tool_id"], Word, &[Findings, Scans], "id or name of the tool", "tool:170"),
        row((Field::Scanner, "scanner"), &[], Choice(scanner), &[Findings], "whether the scanner says that it proved it", "scanner:proven"),
        row((Field::Class, "class"), &[], Word, &[Findings], "kind of finding, as groups and rules know it", "class:TLS*"),
        row((Field::VulnId, "vuln_id"), &["vuln"], Word, &[Findings], "kind of finding, as the service calls it", "vuln_id:SSL-*"),
        row((Field::Cve, "cve"), &[], Word, &[Findings], "CVE numbers", "cve:CVE-2024-*"),
        row((Field::Cwe, "cwe"), &[], Word, &[Findings], "CWE numbers, with or without `CWE-`", "cwe:79"),
        row((Field::Owasp, "owasp"), &[], Prose, &[Findings], "OWASP Top Ten categories of 2017, 2021 and 2025", "owasp:A05"),
        row((Field::Port, "port"), &["remote_port"], Number, &[Findings, Captures], "port; of captures, that of the sender", "port:80,443"),
        row((Field::Protocol, "protocol"), &["proto"], Word, &[Findings], "protocol", "protocol:tcp"),
        row((Field::Service, "service"), &[], Word, &[Findings], "service on the port", "service:http*"),
        row((Field::Epss, "epss"), &["epss_score"], Number, &[Findings], "EPSS score, 0 to 1", "epss>0.5"),
        row((Field::Percentile, "epss_percentile"), &["percentile"], Number, &[Findings], "EPSS percentile, 0 to 1", "epss_percentile>=0.95"),
        row((Field::Cvss, "cvss"), &["cvssv2"], Number, &[Findings], "CVSS 2 score", "cvss>7"),
        row((Field::CvssV3, "cvssv3"), &["cvss3"], Number, &[Findings], "CVSS 3 score", "cvssv3>=9"),
        row((Field::Status, "status"), &["status_name"], Word, &[Findings, Scans, Reports], "status at the service", "status:running"),
        row((Field::Test, "test"), &["test_description"], Prose, &[Findings], "what was tested", "test:cookie"),
        row((Field::Description, "description"), &["desc", "vuln_description"], Prose, WITH_TEXT, "description", "description:staging"),
        row((Field::RiskDescription, "risk_description"), &[], Prose, &[Findings], "why it matters", "risk_description:session"),
        row((Field::Evidence, "evidence"), &["vuln_evidence"], Prose, &[Findings], "evidence, as the JSON text it came as", "evidence:\"BEGIN RSA\""),
        row((Field::Recommendation, "recommendation"), &["fix"], Prose, &[Findings], "how to mend it", "fix:upgrade"),
        row((Field::Reference, "reference"), &["references", "ref"], Prose, &[Findings], "references", "reference:owasp.org"),
        row((Field::Screenshots, "screenshots"), &[], Number, &[Findings], "number of screenshots", "screenshots>0"),
        row((Field::Asset, "asset"), &[], Word, &[Findings], "canonical name of the target, as in the fingerprint", "asset:shop.test"),
        row((Field::Key, "key"), &["fingerprint"], Word, &[Findings], "fingerprint that decisions are kept under", "key:5f*"),
        row((Field::Progress, "progress"), &[], Number, &[Scans], "percent done", "progress>50"),
        row((Field::Started, "started"), &["start", "start_time", "age"], Time, &[Scans], "when it started", "started<1d"),
        row((Field::Ended, "ended"), &["end", "end_time"], Time, &[Scans], "when it ended", "ended>=2026-10-01"),
        row((Field::Duration, "duration"), &[], Span, &[Scans], "how long it took", "duration>10m"),
        row((Field::Tests, "tests"), &["num_tests"], Number, &[Scans], "number of tests", "tests>100"),
        row((Field::TestsDone, "tests_done"), &["num_finished_tests"], Number, &[Scans], "number of tests done", "tests_done:0"),
        row((Field::Message, "message"), &["status_message"], Prose, &[Scans], "what the service says about it", "message:refused"),
        row((Field::Params, "params"), &["tool_params"], Prose, &[Scans], "parameters, as JSON text without secrets", "params:deep"),
        row((Field::Critical, "critical"), &[], Number, &[Scans], "critical findings", "critical>0"),
        row((Field::High, "high"), &[], Number, &[Scans], "high findings", "high>=3"),
        row((Field::Medium, "medium"), &[], Number, &[Scans], "medium findings", "medium>0"),
        row((Field::Low, "low"), &[], Number, &[Scans], "low findings", "low>0"),
        row((Field::Info, "info"), &[], Number, &[Scans], "findings of no risk", "info>0"),
        row((Field::Type, "type"), &["kind"], Word, &[Targets], "`hostname`, `ip_address` or `url`", "type:url"),
        row((Field::From, "from"), &["ip_address", "ip"], Word, &[Captures], "address of the sender", "from:203.0.113.*"),
        row((Field::Method, "method"), &["request_method"], Word, &[Captures], "HTTP method", "method:post"),
        row((Field::Query, "query"), &["url_params"], Prose, &[Captures], "query string", "query:k7f2"),
        row((Field::Agent, "agent"), &["user_agent"], Prose, &[Captures], "user agent", "agent:curl"),
        row((Field::Os, "os"), &[], Word, &[Captures], "operating system of the sender, as guessed", "os:linux"),
        row((Field::Header, "header"), &["headers", "http_headers"], Prose, &[Captures], "header lines", "header:\"x-forwarded-for\""),
        row((Field::BodyType, "body_type"), &["request_body_type"], Word, &[Captures], "content type of the body", "body_type:*json*"),
        row((Field::Body, "body"), &["request_body"], Prose, &[Captures], "body, decoded", "body:passwd"),
        row((Field::Time, "time"), &["request_date", "age"], Time, &[Captures], "when it came", "time<1h"),
        row((Field::Path, "path"), &[], Prose, &[Captures], "path of the request, where the service records it", "path:latest"),
        row((Field::HttpVersion, "http_version"), &[], Word, &[Captures], "HTTP version, where the service records it", "http_version:*2*"),
        row((Field::Logger, "logger"), &[], Prose, &[Captures, Payloads], "label of the logger", "logger:blind-ssrf"),
        row((Field::Payload, "payload"), &["token"], Word, &[Captures, Payloads], "token; of captures, each one it carries", "payload:k7f2*"),
        row((Field::Planted, "planted"), &["where", "parameter"], Prose, &[Captures, Payloads], "where the payload was put: parameter, header, file of many", "planted:q"),
        row((Field::Technique, "technique"), &[], Prose, &[Captures, Payloads], "what the payload tried", "technique:ssrf"),
        row((Field::Delay, "delay"), &["after"], Span, &[Captures, Payloads], "from the payload to the request; of payloads, to the first", "delay>2s"),
        row((Field::Hits, "hits"), &[], Number, &[Payloads], "requests it brought in", "hits>1"),
        row((Field::Number, "number"), &["line"], Number, &[Captures, Payloads], "line of the payload, where many were made at once", "number:17"),
        row((Field::Batch, "batch"), &["file"], Prose, &[Captures, Payloads], "the file of those many", "batch:urls.txt"),
        row((Field::About, "finding"), &[], Prose, &[Payloads], "name of the finding it was made for", "finding:redirect"),
        row((Field::Url, "url"), &["handler_url"], Prose, &[Loggers, Payloads], "URL at which it receives requests; of payloads, what was handed out", "url:8081"),
        row((Field::Days, "days"), &["active_days"], Number, &[Loggers], "days left", "days<3"),
        row((Field::Requests, "requests"), &["num_requests"], Number, &[Loggers], "requests received", "requests>0"),
        row((Field::Left, "left"), &["requests_left"], Number, &[Loggers], "requests left", "left<10"),
        row((Field::Format, "format"), &[], Word, &[Reports], "file format", "format:pdf"),
        row((Field::Made, "made"), &["generation_date", "age"], Time, &[Reports, Payloads], "when it was made", "made<1d"),
        row((Field::Expires, "expires"), &["expiration_date"], Deadline, &[Reports], "when the service deletes it", "expires<2d"),
        row((Field::Words, "words"), &["num_words"], Number, &[Wordlists], "number of words", "words>1000"),
        row((Field::ScanCount, "scans"), &["scan_count"], Number, &[Workspaces], "number of scans", "scans:0"),
        row((Field::TargetCount, "targets"), &["target_count"], Number, &[Workspaces], "number of targets", "targets>10"),
        row((Field::Decision, "decision"), &[], Flags, &[], "the flags that follow from decisions: asked for by is:", ""),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;

    #[test]
    fn the_table_is_in_the_order_of_its_fields_and_no_list_has_a_name_twice() {
        for (at, spec) in FIELDS.iter().enumerate() {
            assert_eq!(spec.field as usize, at, "{}", spec.name);
            assert!(!spec.words.is_empty());
        }
        for kind in QueryKind::ALL {
            let mut names: Vec<_> = Field::of(kind).flat_map(|spec| spec.aliases.iter().chain([&spec.name])).collect();
            let all = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), all, "{kind:?}");
        }
    }

    #[test]
    fn every_example_of_the_table_is_a_query_of_every_list_that_has_the_field() {
        for spec in FIELDS {
            for &kind in spec.lists {
                // The flags differ from list to list.
                let kind = if spec.field == Field::Is { Findings } else { kind };
                let read = Query::parse(spec.example, kind);
                assert!(read.is_ok(), "{}: {read:?}", spec.example);
            }
        }
    }
}
