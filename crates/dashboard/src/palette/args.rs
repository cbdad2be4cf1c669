//! The parsed arguments of a command.

use crate::palette::BulkPayloads;
use jiff::civil::Date;
use scandeck_domain::oob::Token;
use scandeck_domain::triage::{Baseline, Draft, IssueId};
use scandeck_wire::contract::{LoggerId, ScanId, Shared, TargetId, WorkspaceId};
use std::ops::Range;

/// One argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentValue {
    /// A valid query, as typed.
    Query(String),
    Text(String),
    Workspace(WorkspaceId),
    Target(TargetId),
    Logger(LoggerId),
    Scan(ScanId),
    Finding(IssueId),
    Payload(Token),
    BulkPayloads(BulkPayloads),
    /// One of the fixed words.
    Choice(&'static str),
    Baseline(Option<Baseline>),
    /// A member of the team, or nobody.
    Assignee(Option<Shared>),
    Due(Option<Date>),
    /// Options of a verdict.
    Details(Box<Draft>),
    /// Added and removed tags.
    Tags((Vec<Shared>, Vec<Shared>)),
}

/// The arguments of a line, in the order of the slots, without omitted ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Args {
    /// With the range of each in the line.
    pub values: Vec<(Range<usize>, ArgumentValue)>,
}

/// Functions that return the first argument of a kind.
macro_rules! getters {
    ($($name:ident $variant:ident $type:ty;)+) => {
        impl Args {
            $(
                #[doc = concat!("The first argument that is a ", stringify!($variant), ".")]
                pub fn $name(&self) -> Option<$type> {
                    self.values.iter().find_map(|(_, value)| match value {
                        ArgumentValue::$variant(value) => Some(value.clone().into()),
                        _ => None,
                    })
                }
            )+
        }
    };
}

getters! {
    query Query String;
    text Text String;
    workspace Workspace WorkspaceId;
    target Target TargetId;
    logger Logger LoggerId;
    scan Scan ScanId;
    finding Finding IssueId;
    payload Payload Token;
    many BulkPayloads BulkPayloads;
    choice Choice &'static str;
    baseline Baseline Option<Baseline>;
    assignee Assignee Option<Shared>;
    due Due Option<Date>;
    tags Tags (Vec<Shared>, Vec<Shared>);
}

impl Args {
    /// Every scan, in order.
    pub fn scans(&self) -> Vec<ScanId> {
        let scan = |(_, value): &(Range<usize>, ArgumentValue)| match value {
            ArgumentValue::Scan(id) => Some(*id),
            _ => None,
        };
        self.values.iter().filter_map(scan).collect()
    }

    /// Which of these fixed words was chosen, where a command has several such arguments.
    pub fn choice_of(&self, words: &[&str]) -> Option<&'static str> {
        self.values.iter().find_map(|(_, value)| match value {
            ArgumentValue::Choice(word) => Some(*word).filter(|word| words.contains(word)),
            _ => None,
        })
    }

    /// Options of a verdict.
    pub fn details(&self) -> Option<Draft> {
        self.values.iter().find_map(|(_, value)| match value {
            ArgumentValue::Details(draft) => Some((**draft).clone()),
            _ => None,
        })
    }
}
