//! Work on findings that the UI thread may leave to others: their view, and the search of long
//! texts.

use crate::base::{FindingGroupBy, GroupKeys, RetainedRow};
use scandeck_domain::query::source::column_of;
use scandeck_domain::query::{
    Clause, Column, ColumnBuilder, Evaluator, Expr, FIELDS, Field, QueryKind, RowSet, RowSource,
    SearchedRows, SortKey,
};
use scandeck_domain::table::{Item, NoOtherLists, Rows, Table};
use scandeck_domain::triage::{AssessedFinding, Assessment, FindingColumns, Issue, IssueId};
use scandeck_wire::contract::{ScanId, Stamp, TargetId};
use scandeck_wire::text::search_form;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The rows that are shown whatever the filter says, with their places.
pub type RetainedFindings = BTreeMap<IssueId, RetainedRow<IssueId>>;

/// The part of a request that the rows of the list follow from, without the decided rows that are
/// retained in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    pub filter: String,
    /// Index of the named order.
    pub sort: usize,
    /// An order by several fields, in place of the named one.
    pub order: Vec<SortKey>,
    pub groups: Option<FindingGroupBy>,
    pub target: Option<TargetId>,
    pub scan: Option<ScanId>,
}

/// Everything that is to be found in the findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewRequest {
    pub list: ListRequest,
    pub retained: Arc<RetainedFindings>,
    /// Findings after this time that the filter hides are counted.
    pub news_since: Option<Stamp>,
    /// The queries of the tabs.
    pub tabs: Vec<String>,
    /// The filter of the retest board.
    pub board: String,
    /// The query of a command.
    pub command: Option<String>,
    /// The groups that a review needs, beside those of the list.
    pub cards: Option<FindingGroupBy>,
    /// The field whose values are offered while a query is typed.
    pub offered: Option<Field>,
}

/// The versions of the data that a view depends on; none of those that it does not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewInputs {
    pub issues: u64,
    pub decisions: Option<u64>,
    pub targets: Option<u64>,
    pub workspaces: Option<u64>,
    pub scans: Option<u64>,
    /// Results of the search of long texts.
    pub texts: Option<u64>,
    /// Steps of time.
    pub time: Option<u64>,
}

/// Identifies a view: equal keys, equal views.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewKey {
    pub request: ViewRequest,
    pub inputs: ViewInputs,
}

impl ViewKey {
    /// Whether this view has everything that another one would have. Results that nothing waits for
    /// any more do no harm.
    pub fn covers(&self, wanted: &Self) -> bool {
        let (has, wants) = (&self.request, &wanted.request);
        self.inputs == wanted.inputs
            && (&has.list, &has.retained, &has.news_since)
                == (&wants.list, &wants.retained, &wants.news_since)
            && (&has.tabs, &has.board) == (&wants.tabs, &wants.board)
            && (wants.command.is_none() || has.command == wants.command)
            && (wants.cards.is_none() || has.cards == wants.cards)
            && (wants.offered.is_none() || has.offered == wants.offered)
    }
}

/// The findings with everything that queries on them need. It never changes; a change of its inputs
/// is another source, which shares the columns that the change does not concern.
#[derive(Debug)]
pub struct FindingsSource {
    pub input: FindingColumns,
    /// The results of the search of long texts, by clause.
    pub texts: Vec<(Clause, SearchedRows)>,
    /// The columns that need other lists, by field number, built on first use.
    columns: Vec<OnceLock<Arc<Column>>>,
}

impl FindingsSource {
    pub fn new(
        input: FindingColumns,
        texts: Vec<(Clause, SearchedRows)>,
        built: Vec<(Field, ColumnBuilder)>,
    ) -> Self {
        let columns: Vec<OnceLock<Arc<Column>>> = FIELDS.iter().map(|_| OnceLock::new()).collect();
        for (field, column) in built {
            if let Some(place) = columns.get(field as usize) {
                // Each field is built once.
                let _ = place.set(Arc::new(column.finish()));
            }
        }
        Self {
            input,
            texts,
            columns,
        }
    }

    /// Whether this is the source of these inputs.
    pub fn is_of(&self, input: &FindingColumns) -> bool {
        let has = &self.input;
        Arc::ptr_eq(&has.issues, &input.issues)
            && Arc::ptr_eq(&has.assessments, &input.assessments)
            && has.state.clock() == input.state.clock()
            && Arc::ptr_eq(&has.targets, &input.targets)
            && Arc::ptr_eq(&has.workspaces, &input.workspaces)
            && Arc::ptr_eq(&has.scans, &input.scans)
    }

    /// Takes the columns of an earlier source that are those of this one.
    pub fn reusing(mut self, before: &Self) -> Self {
        for (at, spec) in FIELDS.iter().enumerate() {
            if self.columns[at].get().is_none() && before.input.is_current(spec.field, &self.input)
            {
                self.columns[at].clone_from(&before.columns[at]);
            }
        }
        self
    }

    /// This source at a time, for the search of a view: columns are built as they are needed.
    pub fn at(&self, now: i64) -> SourceAt<'_> {
        SourceAt {
            source: self,
            now,
            builds: true,
        }
    }

    /// The same with the columns that were built before; the others are empty.
    pub fn built_at(&self, now: i64) -> SourceAt<'_> {
        SourceAt {
            builds: false,
            ..self.at(now)
        }
    }

    /// The clauses of long texts of an expression, which are searched in chunks.
    pub fn text_clauses<'a>(&self, expr: &'a Expr) -> Vec<&'a Clause> {
        let table = &self.input.issues;
        let clauses = expr.clauses().into_iter();
        clauses
            .filter(|clause| Issue::is_long(clause.field) && table.awaits(clause.field))
            .collect()
    }

    fn targets_named(&self, text: &str) -> Vec<TargetId> {
        let targets = self.input.targets.items().iter();
        let named = targets.filter(|target| search_form(&target.name).contains(text));
        named.map(|target| target.id).collect()
    }
}

/// A source of findings at a time.
pub struct SourceAt<'a> {
    source: &'a FindingsSource,
    /// Seconds since 1970, by the service's clock.
    now: i64,
    /// Columns are built here.
    builds: bool,
}

impl RowSource for SourceAt<'_> {
    fn kind(&self) -> QueryKind {
        QueryKind::Findings
    }

    fn len(&self) -> usize {
        self.source.input.issues.len()
    }

    fn ready(&self, field: Field) -> Option<&Column> {
        let (table, others) = (
            &self.source.input.issues,
            self.source.columns.get(field as usize)?,
        );
        let of_others = field.needs_others(QueryKind::Findings);
        let built = match of_others {
            true => others.get().map(Arc::as_ref),
            false => table.built_column(field),
        };
        match built {
            Some(column) => Some(column),
            None if !self.builds => Some(table.blank()),
            None if of_others => {
                Some(others.get_or_init(|| Arc::new(column_of(field, &self.source.input).finish())))
            }
            None => table.column(field),
        }
    }

    fn searched(&self, clause: &Clause) -> Option<SearchedRows> {
        let table = &self.source.input.issues;
        if !Issue::is_long(clause.field) || !table.awaits(clause.field) {
            return None;
        }
        let known = self.source.texts.iter().find(|(of, _)| of == clause);
        let none = || SearchedRows {
            found: RowSet::none(table.len()),
            searched: RowSet::none(table.len()),
        };
        Some(known.map_or_else(none, |(_, rows)| rows.clone()))
    }

    fn write_field(&self, row: usize, field: Field, to: &mut ColumnBuilder) {
        self.source.input.write_field(row, field, to);
    }

    fn with_text(&self, text: &str) -> RowSet {
        let targets = self.source.targets_named(text);
        self.source.input.issues.with_text(text, &targets)
    }

    fn now(&self) -> i64 {
        self.now
    }
}

/// An order by several fields, with the key of the view that it was made for.
#[derive(Clone, Debug)]
pub struct MadeOrder {
    pub keys: Vec<SortKey>,
    pub inputs: ViewInputs,
    pub rows: Arc<Vec<u32>>,
}

/// Everything that a view is computed from.
#[derive(Clone, Debug)]
pub struct ViewJob {
    pub key: ViewKey,
    pub source: Arc<FindingsSource>,
    /// Seconds since 1970, by the service's clock.
    pub now: i64,
    /// Groups of an earlier view. Those of other findings are not used.
    pub made_groups: Vec<Arc<GroupKeys>>,
    /// The order of an earlier view. That of other inputs is not used.
    pub made_order: Option<MadeOrder>,
}

/// The same view of the same findings.
impl PartialEq for ViewJob {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.now == other.now
    }
}

/// Findings whose long texts are searched together.
#[derive(Clone, Debug)]
pub struct TextChunk {
    pub table: Arc<Table<Issue>>,
    /// Clauses of long texts.
    pub clauses: Vec<Clause>,
    /// Positions in the table.
    pub rows: Vec<u32>,
}

/// The same texts of the same findings.
impl PartialEq for TextChunk {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table)
            && (&self.clauses, &self.rows) == (&other.clauses, &other.rows)
    }
}

impl TextChunk {
    /// The matches of each clause, by the index of the row. Texts in files are read.
    pub fn search(&self) -> Vec<RowSet> {
        let assessment = Assessment::default();
        let issues = self
            .rows
            .iter()
            .filter_map(|&row| self.table.items().get(row as usize));
        let rows: Vec<AssessedFinding<'_>> = issues
            .map(|issue| AssessedFinding {
                issue,
                assessment: &assessment,
            })
            .collect();
        let source = Rows {
            rows: &rows,
            others: &NoOtherLists,
            now: 0,
        };
        // Clauses of one field share its column.
        let mut evaluator = Evaluator::default();
        self.clauses
            .iter()
            .map(|clause| evaluator.rows(&Expr::Clause(clause.clone()), &source))
            .collect()
    }
}
