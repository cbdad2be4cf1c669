//! The query fields of an issue, with and without decisions. Those of its occurrences are in
//! `listed_fields`.

use std::cmp::{Ordering, Reverse, max};
use std::collections::BTreeSet;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::issue::ReopenCause;
use super::listed_fields::is_long;
use super::{Assessment, Issue, IssueId, Presence};
use crate::query::{ColumnBuilder, Field, Flag, QueryKind};
use crate::table::row::{flags, put, shared, target_name, tool};
use crate::table::{Item, OtherLists, Row, SortOrder};
use scandeck_wire::contract::import::ImportOrigin;
use scandeck_wire::contract::{Risk, Stamp, TargetId};
use scandeck_wire::text::natural;

fn by_risk(a: &Issue, b: &Issue) -> Ordering {
    (Reverse(a.risk()), Reverse(a.finding.id)).cmp(&(Reverse(b.risk()), Reverse(b.finding.id)))
}

impl Row for Issue {
    const KIND: QueryKind = QueryKind::Findings;

    fn search_text(&self, to: &mut String) {
        self.finding.search_text(to);
        self.severity
            .iter()
            .for_each(|severity| put(to, &[severity.as_str()]));
    }

    fn write_field(&self, field: Field, others: &dyn OtherLists, to: &mut ColumnBuilder) {
        if field.is_of_decision() {
            return AssessedFinding {
                issue: self,
                assessment: &Assessment::default(),
            }
            .write_field(field, others, to);
        }
        match field {
            Field::Id => self.finding_ids().for_each(|id| to.whole(id.0)),
            Field::Scan if !self.earlier.is_empty() => {
                self.earlier
                    .iter()
                    .filter_map(|one| one.finding.task_id())
                    .for_each(|id| to.whole(id.0));
            }
            Field::Tool if !self.earlier.is_empty() => {
                let scans = self.scans().filter_map(|id| others.scan(id));
                let tools: BTreeSet<(i64, Option<&str>)> = scans
                    .map(|scan| (scan.tool_id, ImportOrigin::tool_of(scan)))
                    .collect();
                tools
                    .into_iter()
                    .for_each(|(id, named)| tool(to, id, named));
            }
            Field::Target if self.finding.target_id().is_none() => {
                target_name(
                    to,
                    self.finding
                        .target_name()
                        .as_ref()
                        .or(Some(&self.identity.asset)),
                );
            }
            Field::Risk => to.whole(self.risk().level()),
            Field::Presence => to.text(self.presence.as_str()),
            Field::First => to.time(self.first_seen.get()),
            Field::Seen => to.time(self.last_seen.get()),
            Field::Class => to.shared(&self.identity.class),
            Field::Asset => to.shared(&self.identity.asset),
            Field::Key => to.text(&self.key().to_string()),
            Field::Is => {
                self.finding.write_field(field, others, to);
                let presence = match self.presence {
                    Presence::New => Flag::New,
                    Presence::Unchanged => Flag::Unchanged,
                    Presence::Changed => Flag::Changed,
                    Presence::Reappeared => Flag::Reappeared,
                    Presence::NotRetested => Flag::NotRetested,
                    Presence::Absent => Flag::Absent,
                };
                let manual = self.manual().is_some();
                flags(
                    to,
                    &[
                        (presence, true),
                        (Flag::Present, self.is_present()),
                        (Flag::Manual, manual),
                        (Flag::Reusable, self.earlier_decision().is_some()),
                    ],
                );
            }
            _ => self.finding.write_field(field, others, to),
        }
    }
}

impl Item for Issue {
    type Id = IssueId;
    const SORTS: &'static [SortOrder<Self>] = &[
        SortOrder {
            name: "risk",
            compare: by_risk,
        },
        SortOrder {
            name: "newest",
            compare: |a, b| b.finding.id.cmp(&a.finding.id),
        },
        SortOrder {
            name: "target",
            compare: |a, b| {
                let [a_name, b_name] =
                    [a, b].map(|issue| issue.target_name().as_deref().unwrap_or_default());
                natural(a_name, b_name).then_with(|| a.target_id().cmp(&b.target_id()))
            },
        },
        SortOrder {
            name: "name",
            compare: |a, b| natural(&a.name, &b.name),
        },
        SortOrder {
            name: "port",
            compare: |a, b| a.port().cmp(&b.port()),
        },
    ];
    // Those of groups, tabs and the line of changes. A column that few queries need is built by the
    // first of them.
    const READY: &'static [Field] = &[
        Field::Is,
        Field::Risk,
        Field::Class,
        Field::Asset,
        Field::Presence,
        Field::First,
    ];
    fn id(&self) -> IssueId {
        self.id
    }
    fn target(&self) -> Option<TargetId> {
        self.target_id()
    }
    fn risk(&self) -> Option<Risk> {
        self.is_present().then(|| self.risk())
    }
    fn is_long(field: Field) -> bool {
        is_long(field)
    }
    fn is_in_file(&self) -> bool {
        self.finding.held_texts().is_none()
    }
}

/// An issue with its assessment.
#[derive(Clone, Copy, Debug)]
pub struct AssessedFinding<'a> {
    pub issue: &'a Issue,
    pub assessment: &'a Assessment,
}

impl Row for AssessedFinding<'_> {
    const KIND: QueryKind = QueryKind::Findings;

    fn search_text(&self, to: &mut String) {
        self.issue.search_text(to);
    }

    fn write_field(&self, field: Field, others: &dyn OtherLists, to: &mut ColumnBuilder) {
        let assessment = self.assessment;
        match field {
            Field::Verdict => to.text(assessment.verdict.as_str()),
            Field::Reason => assessment
                .reason
                .into_iter()
                .for_each(|reason| to.text(reason.as_str())),
            Field::By => shared(to, assessment.who.as_ref()),
            Field::Source => to.text(assessment.source.as_str()),
            Field::Decided => to.time(assessment.at),
            // A decision holds until the end of its last day.
            Field::Until => to.time(assessment.until.and_then(end_of)),
            Field::Assignee => shared(to, assessment.assignee.as_ref()),
            Field::Due => to.time(assessment.due.and_then(end_of)),
            Field::Tag => assessment.tags.iter().for_each(|tag| to.shared(tag)),
            Field::Note => others
                .notes(self.issue.key())
                .into_iter()
                .for_each(|note| to.shared(note)),
            Field::Duplicate => assessment
                .duplicate_of
                .into_iter()
                .for_each(|key| to.text(&key.to_string())),
            Field::Changed => to.time(self.changed()),
            Field::Decision => self.write_flags(to),
            _ => self.issue.write_field(field, others, to),
        }
    }
}

impl AssessedFinding<'_> {
    /// Time of the last appearance, change, reappearance or decision.
    fn changed(&self) -> Option<Stamp> {
        let issue = self.issue;
        let seen = if issue.presence == Presence::Unchanged {
            issue.first_seen.get()
        } else {
            issue.last_seen.get()
        };
        max(seen, self.assessment.at)
    }

    fn write_flags(&self, to: &mut ColumnBuilder) {
        let assessment = self.assessment;
        flags(
            to,
            &[
                (Flag::Undecided, assessment.is_undecided()),
                (Flag::Decided, !assessment.is_undecided()),
                (
                    Flag::Regression,
                    assessment.reopened == Some(ReopenCause::Regression),
                ),
                (
                    Flag::Expired,
                    assessment.reopened == Some(ReopenCause::Expired),
                ),
                (
                    Flag::Conflict,
                    assessment.reopened == Some(ReopenCause::Conflict),
                ),
                (Flag::Recheck, assessment.recheck),
                (Flag::Noted, assessment.notes > 0),
                (Flag::Tagged, !assessment.tags.is_empty()),
                (Flag::Overdue, assessment.is_overdue),
                (Flag::Differs, assessment.service.is_some()),
            ],
        );
    }
}

/// The last second of a day.
fn end_of(day: Date) -> Option<Stamp> {
    let end = day.at(23, 59, 59, 0).to_zoned(TimeZone::UTC).ok()?;
    Some(Stamp(end.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::IntoRow;
    use crate::table::Table;
    use scandeck_wire::contract::Finding;

    fn finding(id: i64, name: &str, target: i64, risk: Risk) -> Issue {
        let finding = Finding {
            name: name.into(),
            target_id: Some(TargetId(target)),
            risk_level: risk,
            ..Finding::default()
        };
        Issue {
            id: IssueId(id),
            finding: finding.into_row(),
            ..Issue::default()
        }
    }

    #[test]
    fn word_matches_item_text_or_target_name() {
        let table = Table::new([
            finding(1, "Git repository", 1, Risk::High),
            finding(2, "Directory listing", 2, Risk::Medium),
            finding(3, "Git ignored", 2, Risk::Info),
        ]);
        let hits = |text: &str, targets: &[TargetId]| {
            table.with_text(text, targets).rows().collect::<Vec<_>>()
        };
        assert_eq!(hits("git", &[]), [0, 2]);
        assert_eq!(hits("git", &[TargetId(2)]), [0, 1, 2]);
        assert_eq!(hits("repositorydirectory", &[]), [0; 0]);
    }

    #[test]
    fn table_columns_exclude_fields_of_other_lists() {
        let table = Table::new([
            finding(1, "b", 1, Risk::Low),
            finding(2, "b", 1, Risk::High),
        ]);
        let counts: Vec<_> = table.column(Field::Name).unwrap().counts();
        assert_eq!(counts, [("b", 2)]);
        assert!(table.column(Field::Verdict).is_none());
    }

    #[test]
    fn table_has_orders_and_risks_per_target() {
        let table = Table::new([
            finding(1, "b", 1, Risk::Low),
            finding(2, "a", 1, Risk::Critical),
            finding(2, "dropped: the id is taken", 1, Risk::Critical),
        ]);
        assert_eq!((table.len(), table.order(0)), (2, &[1, 0][..]));
        assert_eq!(table.of_target(TargetId(1)).unwrap().risks, [1, 0, 0, 1, 0]);
        assert_eq!(table.risks(), [1, 0, 0, 1, 0]);
    }
}
