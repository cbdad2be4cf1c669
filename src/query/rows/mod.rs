//! What each list tells about its rows: one file for the findings, one for what the loggers recorded, one for payloads,
//! the others here.

mod captures;
mod findings;
mod payloads;

pub use captures::Recognised;
pub use findings::Judged;

use super::column::Builder;
use super::row::{Others, Row};
use super::{Field, Flag, Kind};
use crate::contract::{
    Logger, Report, ReportStatus, Risk, Scan, ScanStatus, Shared, Target, Tool, Wordlist, Workspace,
};

/// Appends texts, each followed by a line break.
fn put(to: &mut String, texts: &[&str]) {
    for text in texts {
        to.push_str(text);
        to.push('\n');
    }
}

/// Puts in the flags that hold.
fn flags(to: &mut Builder, flags: &[(Flag, bool)]) {
    let bits = flags.iter().filter(|(_, holds)| *holds).fold(0, |bits, (flag, _)| bits | flag.bit());
    to.flags(bits);
}

/// Puts in a tool by its id and its names.
fn tool(to: &mut Builder, id: i64) {
    to.text(&id.to_string());
    let tool = Tool(id);
    [tool.name(), tool.short_name()].into_iter().flatten().for_each(|name| to.text(name));
}

/// Puts in the worst of counted risks, from critical down.
fn worst(to: &mut Builder, counts: impl Iterator<Item = bool>) {
    if let Some((risk, _)) = Risk::DOWN.into_iter().zip(counts).find(|(_, any)| *any) {
        to.whole(risk.level());
    }
}

fn shared(to: &mut Builder, text: Option<&Shared>) {
    text.into_iter().for_each(|text| to.shared(text));
}

impl Row for Scan {
    const KIND: Kind = Kind::Scans;

    fn search_text(&self, to: &mut String) {
        let tool = Tool(self.tool_id);
        put(to, &[tool.name().unwrap_or_default(), &tool.to_string(), self.status_name.as_str(), &self.status_message]);
    }

    fn tell(&self, field: Field, others: &dyn Others, to: &mut Builder) {
        let found = &self.result_summary;
        let mut count = |count: Option<i64>| count.into_iter().for_each(|count| to.whole(count));
        match field {
            Field::Critical => count(found.critical),
            Field::High => count(found.high),
            Field::Medium => count(found.medium),
            Field::Low => count(found.low),
            Field::Info => count(found.info),
            Field::Id => to.whole(self.id.0),
            Field::Risk => worst(to, found.by_risk().into_iter().map(|count| count.is_some_and(|count| count > 0))),
            Field::Target => shared(to, others.target_name(self.target_id)),
            Field::TargetId => to.whole(self.target_id.0),
            Field::Workspace => shared(to, others.workspace_name(self.target_id)),
            Field::Tool => tool(to, self.tool_id),
            Field::Status => to.text(self.status_name.as_str()),
            Field::Progress => to.whole(self.progress),
            Field::Started => to.time(self.start_time),
            Field::Ended => to.time(self.end_time),
            Field::Duration => to.whole(self.duration),
            Field::Tests => to.whole(self.num_tests),
            Field::TestsDone => to.whole(self.num_finished_tests),
            Field::Message => {
                to.shared(&self.status_message);
                self.info_text_lines.iter().for_each(|line| to.shared(line));
            }
            Field::Params => self.tool_params.iter().for_each(|params| to.text(&params.to_string())),
            Field::Is => flags(
                to,
                &[
                    (Flag::Active, self.is_active()),
                    (Flag::Ended, self.has_ended()),
                    (Flag::Failed, self.status_name.is_failure()),
                    (Flag::Stopped, self.status_name == ScanStatus::Stopped),
                    (Flag::Vpn, self.vpn_scan),
                ],
            ),
            _ => {}
        }
    }
}

impl Row for Target {
    const KIND: Kind = Kind::Targets;

    fn search_text(&self, to: &mut String) {
        put(to, &[&self.name, self.kind.as_str(), &self.description]);
    }

    fn tell(&self, field: Field, others: &dyn Others, to: &mut Builder) {
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Name => to.shared(&self.name),
            Field::Type => to.text(self.kind.as_str()),
            Field::Description => to.shared(&self.description),
            Field::Workspace => shared(to, others.workspace_name(self.id)),
            Field::Risk => {
                worst(to, others.risks(self.id).into_iter().flatten().map(|count| count > 0));
            }
            Field::Is => {
                let scans = others.scans(self.id);
                let never = scans.is_some_and(|(all, _)| all == 0);
                let active = scans.is_some_and(|(_, active)| active > 0);
                flags(to, &[(Flag::Unscanned, never), (Flag::Active, active)]);
            }
            _ => {}
        }
    }
}

impl Row for Logger {
    const KIND: Kind = Kind::Loggers;

    fn search_text(&self, to: &mut String) {
        put(to, &[&self.label, &self.handler_url]);
    }

    fn tell(&self, field: Field, _: &dyn Others, to: &mut Builder) {
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Name => to.shared(&self.label),
            Field::Url => to.shared(&self.handler_url),
            Field::Days => to.whole(self.active_days),
            Field::Requests => to.whole(self.num_requests),
            Field::Left => to.whole(self.requests_left),
            Field::Is => {
                let closed = self.active_days <= 0 || self.requests_left <= 0;
                flags(to, &[(Flag::Closed, closed), (Flag::Empty, self.num_requests == 0)]);
            }
            _ => {}
        }
    }
}

impl Row for Report {
    const KIND: Kind = Kind::Reports;

    fn search_text(&self, to: &mut String) {
        put(to, &[&self.download_name, self.status.as_str(), self.format.as_str()]);
    }

    fn tell(&self, field: Field, _: &dyn Others, to: &mut Builder) {
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Name => to.shared(&self.download_name),
            Field::Status => to.text(self.status.as_str()),
            Field::Format => to.text(self.format.as_str()),
            Field::Made => to.time(self.generation_date),
            Field::Expires => to.time(self.expiration_date),
            Field::Is => {
                let (ready, failed) = (ReportStatus::Finished, ReportStatus::Failed);
                flags(to, &[(Flag::Ready, self.status == ready), (Flag::Failed, self.status == failed)]);
            }
            _ => {}
        }
    }
}

impl Row for Wordlist {
    const KIND: Kind = Kind::Wordlists;

    fn search_text(&self, to: &mut String) {
        put(to, &[&self.name, &self.description]);
    }

    fn tell(&self, field: Field, _: &dyn Others, to: &mut Builder) {
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Name => to.shared(&self.name),
            Field::Description => to.shared(&self.description),
            Field::Words => to.whole(self.num_words),
            Field::Is => flags(to, &[(Flag::Predefined, self.predefined), (Flag::Empty, self.num_words == 0)]),
            _ => {}
        }
    }
}

impl Row for Workspace {
    const KIND: Kind = Kind::Workspaces;

    fn search_text(&self, to: &mut String) {
        put(to, &[&self.name, &self.description]);
    }

    fn tell(&self, field: Field, _: &dyn Others, to: &mut Builder) {
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Name => to.shared(&self.name),
            Field::Description => to.shared(&self.description),
            Field::ScanCount => to.whole(self.scan_count),
            Field::TargetCount => to.whole(self.target_count),
            Field::Is => flags(to, &[(Flag::Empty, self.target_count == 0)]),
            _ => {}
        }
    }
}
