//! The columns that the pane of a noun and the table of its command share.
//!
//! ```text
//!   NounColumn ─┬─► pane: adds the width, and a cell of its own where room or colour matter
//!               └─► command: prints the text
//! ```
//!
//! Rows of scans, findings, captures and payloads show data of other lists, which pane and command
//! have in different forms; of their columns only the titles are shared.

use std::borrow::Cow;

/// A column of the items `T`.
#[derive(Debug)]
pub struct NounColumn<T> {
    pub title: &'static str,
    /// The text of an item in full; it comes from outside.
    pub text: TextOfColumn<T>,
}

type TextOfColumn<T> = for<'a> fn(&'a T) -> Cow<'a, str>;

impl<T> NounColumn<T> {
    const fn new(title: &'static str, text: TextOfColumn<T>) -> Self {
        Self { title, text }
    }
}

/// Columns of workspaces.
pub mod workspace {
    use super::NounColumn;
    use scandeck_wire::contract::Workspace;

    pub const ID: NounColumn<Workspace> = NounColumn::new("ID", |one| one.id.to_string().into());
    pub const NAME: NounColumn<Workspace> =
        NounColumn::new("WORKSPACE", |one| one.name.as_str().into());
    pub const TARGETS: NounColumn<Workspace> =
        NounColumn::new("TARGETS", |one| one.target_count.to_string().into());
    pub const SCANS: NounColumn<Workspace> =
        NounColumn::new("SCANS", |one| one.scan_count.to_string().into());
    pub const DESCRIPTION: NounColumn<Workspace> =
        NounColumn::new("DESCRIPTION", |one| one.description.as_str().into());
}

/// Columns of targets.
pub mod target {
    use super::NounColumn;
    use scandeck_wire::contract::Target;
    use scandeck_wire::contract::target_tags::tags_text;

    pub const ID: NounColumn<Target> = NounColumn::new("ID", |one| one.id.to_string().into());
    pub const NAME: NounColumn<Target> = NounColumn::new("TARGET", |one| one.name.as_str().into());
    pub const TYPE: NounColumn<Target> = NounColumn::new("TYPE", |one| one.kind.as_str().into());
    pub const WORKSPACE: NounColumn<Target> =
        NounColumn::new("WORKSPACE", |one| one.workspace_id.to_string().into());
    pub const TAGS: NounColumn<Target> = NounColumn::new("TAGS", |one| tags_text(&one.tags).into());
    pub const DESCRIPTION: NounColumn<Target> =
        NounColumn::new("DESCRIPTION", |one| one.description.as_str().into());
}

/// Columns of reports.
pub mod report {
    use super::{NounColumn, time};
    use scandeck_wire::contract::Report;

    pub const ID: NounColumn<Report> = NounColumn::new("ID", |one| one.id.to_string().into());
    pub const NAME: NounColumn<Report> =
        NounColumn::new("REPORT", |one| one.download_name.as_str().into());
    pub const FORMAT: NounColumn<Report> =
        NounColumn::new("FORMAT", |one| one.format.as_str().into());
    pub const STATUS: NounColumn<Report> =
        NounColumn::new("STATUS", |one| one.status.as_str().into());
    pub const CREATED: NounColumn<Report> =
        NounColumn::new("CREATED", |one| time(one.generation_date).into());
    pub const EXPIRES: NounColumn<Report> =
        NounColumn::new("EXPIRES", |one| time(one.expiration_date).into());
}

/// Columns of wordlists.
pub mod wordlist {
    use super::NounColumn;
    use scandeck_wire::contract::Wordlist;

    pub const ID: NounColumn<Wordlist> = NounColumn::new("ID", |one| one.id.to_string().into());
    pub const NAME: NounColumn<Wordlist> =
        NounColumn::new("WORDLIST", |one| one.name.as_str().into());
    pub const WORDS: NounColumn<Wordlist> =
        NounColumn::new("WORDS", |one| one.num_words.to_string().into());
    pub const KIND: NounColumn<Wordlist> = NounColumn::new("KIND", |one| kind(one).into());
    pub const DESCRIPTION: NounColumn<Wordlist> =
        NounColumn::new("DESCRIPTION", |one| one.description.as_str().into());

    fn kind(wordlist: &Wordlist) -> &'static str {
        if wordlist.predefined {
            "predefined"
        } else {
            "custom"
        }
    }
}

/// Columns of schedules.
pub mod schedule {
    use super::{NounColumn, time};
    use scandeck_wire::contract::Tool;
    use scandeck_wire::contract::schedule::ScanSchedule;
    use scandeck_wire::text::plural;

    pub const ID: NounColumn<ScanSchedule> = NounColumn::new("ID", |one| one.id.to_string().into());
    pub const NAME: NounColumn<ScanSchedule> =
        NounColumn::new("SCHEDULE", |one| one.name.as_str().into());
    pub const EVERY: NounColumn<ScanSchedule> =
        NounColumn::new("EVERY", |one| one.every.as_str().into());
    pub const NEXT: NounColumn<ScanSchedule> =
        NounColumn::new("NEXT START", |one| next_start(one).into());
    pub const LAST: NounColumn<ScanSchedule> =
        NounColumn::new("LAST START", |one| time(one.last_start).into());
    pub const STARTS: NounColumn<ScanSchedule> =
        NounColumn::new("STARTS", |one| one.starts.to_string().into());
    pub const TARGETS: NounColumn<ScanSchedule> =
        NounColumn::new("TARGETS", |one| targets(one).into());
    pub const TOOLS: NounColumn<ScanSchedule> = NounColumn::new("TOOLS", |one| tools(one).into());
    pub const RESULT: NounColumn<ScanSchedule> =
        NounColumn::new("LAST RESULT", |one| one.last_result.as_str().into());

    fn next_start(one: &ScanSchedule) -> String {
        match one.is_paused {
            true => "paused".to_owned(),
            false => time(one.next_start),
        }
    }

    fn targets(one: &ScanSchedule) -> String {
        match (&one.target_ids, &one.tag) {
            (Some(ids), _) => plural(ids.len(), "target"),
            (None, Some(tag)) => format!("#{tag}"),
            (None, None) => "all".to_owned(),
        }
    }

    fn tools(one: &ScanSchedule) -> String {
        let tools = one.scans.iter().map(|scan| Tool(scan.tool_id).to_string());
        tools.collect::<Vec<_>>().join(", ")
    }
}

/// Columns of loggers.
pub mod logger {
    use super::NounColumn;
    use scandeck_wire::contract::Logger;

    pub const ID: NounColumn<Logger> = NounColumn::new("ID", |one| one.id.to_string().into());
    pub const LABEL: NounColumn<Logger> =
        NounColumn::new("LOGGER", |one| one.label.as_str().into());
    pub const RECEIVED: NounColumn<Logger> =
        NounColumn::new("RECEIVED", |one| one.num_requests.to_string().into());
    pub const LEFT: NounColumn<Logger> =
        NounColumn::new("LEFT", |one| one.requests_left.to_string().into());
    pub const DAYS_LEFT: NounColumn<Logger> =
        NounColumn::new("DAYS LEFT", |one| one.active_days.to_string().into());
    pub const URL: NounColumn<Logger> =
        NounColumn::new("URL", |one| one.handler_url.as_str().into());
}

/// Titles of columns of scans.
pub mod scan {
    pub const ID: &str = "ID";
    pub const TOOL: &str = "TOOL";
    pub const TARGET: &str = "TARGET";
}

/// Titles of columns of findings.
pub mod finding {
    pub const ID: &str = "ID";
    pub const RISK: &str = "RISK";
    pub const NAME: &str = "FINDING";
    pub const TARGET: &str = "TARGET";
    pub const PORT: &str = "PORT";
    pub const PRESENCE: &str = "PRESENCE";
    pub const LAST_SEEN: &str = "LAST SEEN";
    pub const TOOL: &str = super::scan::TOOL;
    pub const DECISION: &str = "DECISION";
    pub const ASSIGNEE: &str = "ASSIGNEE";
    pub const DUE: &str = "DUE";
}

/// Titles of columns of captures.
pub mod capture {
    pub const ID: &str = "ID";
    pub const TIME: &str = "TIME";
    pub const LOGGER: &str = "LOGGER";
    pub const METHOD: &str = "METHOD";
    pub const FROM: &str = "FROM";
    pub const REQUEST: &str = "REQUEST";
    pub const PLACEMENT: &str = super::payload::PLACEMENT;
    pub const DELAY: &str = super::payload::DELAY;
}

/// Titles of columns of payloads.
pub mod payload {
    pub const TOKEN: &str = "TOKEN";
    pub const CREATED: &str = "CREATED";
    pub const LOGGER: &str = super::capture::LOGGER;
    pub const PLACEMENT: &str = "PLACEMENT";
    pub const TECHNIQUE: &str = "TECHNIQUE";
    pub const NOTE: &str = "NOTE";
    pub const HITS: &str = "HITS";
    pub const DELAY: &str = "DELAY";
}

fn time(at: Option<scandeck_wire::contract::Stamp>) -> String {
    at.map_or_else(|| "–".to_owned(), |at| at.to_string())
}
