//! The report as a person reads it: one model for html, pdf, docx and xlsx.
//!
//! ```text
//!   Document ─► cover · summary · recommendations · scope · chapters of findings · appendix
//! ```
//!
//! Findings are read and built one at a time while a writer asks for them. All texts are sanitised
//! here: a control character or a direction override reaches no file. Equal data gives equal views.

mod entry;
mod location;
mod overview;
mod proof;
mod recommendation;
mod reflow;
mod scope;

use serde::Serialize;

use super::arrange::CommonTexts;
use super::options::{ChapterKind, EvidenceDetail};
use super::template::{Placeholders, ReportTemplate};
use super::words::Words;
use super::{Document, RenderError, ReportFinding, ReportGroup};
use scandeck_wire::contract::{Risk, Stamp};
use scandeck_wire::text::{clean_for_print as clean, start};

use entry::EntryStyle;
pub use entry::FindingEntry;
pub use location::{location, locations};
pub use overview::{ExploitedKind, Recommendation};
pub use proof::{Proof, ProofLimit, incomplete_tests};
pub use recommendation::beginning;
pub use scope::ReportScope;

/// Between the parts of the footer.
pub const FOOTER_GAP: &str = " · ";
/// Longest part of it, in columns.
const FOOTER_PART: usize = 90;

/// A labelled line. `aside` is of less weight than `value`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fact {
    pub label: String,
    pub value: String,
    pub aside: String,
    pub is_strong: bool,
}

/// Counts by risk, critical first.
pub type RiskCounts = [usize; 5];

/// A row of the summary: findings of one kind by risk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SummaryRow {
    pub label: String,
    pub counts: RiskCounts,
}

impl SummaryRow {
    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }
}

/// The text blocks of a finding, or of all findings of a chapter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Prose {
    pub facts: Vec<Fact>,
    pub description: String,
    pub impact: String,
    /// After the evidence; empty if there is none.
    pub recommendation: String,
    pub links: Vec<String>,
    pub other_references: Vec<String>,
}

/// A chapter: a target, one kind of finding, or one risk.
#[derive(Clone)]
pub struct Chapter<'a> {
    /// From 1.
    pub number: usize,
    pub name: String,
    pub counts: RiskCounts,
    /// The highest risk, of a chapter of one kind.
    pub risk: Option<Risk>,
    pub is_exploited: bool,
    /// The facts and texts that all its findings have in common, shown once; empty in other
    /// chapters.
    pub common: Prose,
    shared: CommonTexts,
    /// Whether its findings say that they are new: not where all findings are.
    has_trend: bool,
    group: &'a ReportGroup,
    document: &'a Document<'a>,
}

/// A report in the order of its pages.
#[derive(Clone)]
pub struct View<'a> {
    pub title: String,
    /// With the data in its texts.
    pub template: ReportTemplate,
    pub cover: Vec<Fact>,
    /// The headline. Without decisions one row; with decisions the findings that need work, by
    /// verdict.
    pub summary: Vec<SummaryRow>,
    /// Findings that need no work, by verdict; empty without decisions.
    pub settled: Vec<Fact>,
    /// The changes since the previous scans.
    pub trend: Vec<Fact>,
    pub exploited: Vec<ExploitedKind>,
    pub recommendations: Vec<Recommendation>,
    pub scope: ReportScope,
    pub contents: Vec<Chapter<'a>>,
    document: &'a Document<'a>,
}

impl<'a> View<'a> {
    /// # Errors
    /// When the findings cannot be read, or a text of the template is invalid.
    pub fn new(document: &'a Document<'a>) -> Result<Self, RenderError> {
        let words = &document.words;
        let tally = overview::ReportTally::of(document)?;
        let exploited = tally.exploited();
        let places: usize = exploited.iter().map(|kind| kind.places).sum();
        let template = document
            .template
            .filled(&Placeholders::of(document, places))?;
        let title = match template.title.trim() {
            "" => words.filled("text.title", &[&clean(&document.workspace)]),
            title => clean(title).into_owned(),
        };
        let chapters = (1..).zip(&document.groups);
        let trend = tally.trend(document);
        let has_trend = !trend.is_empty();
        Ok(Self {
            title,
            cover: overview::cover(document, &template),
            template,
            summary: tally.summary(document),
            settled: tally.settled(document),
            trend,
            exploited,
            scope: scope::scope(document, &tally.targets, words),
            recommendations: tally.recommendations(),
            contents: chapters
                .map(|(number, group)| Chapter::new(document, number, group, has_trend))
                .collect::<Result<_, _>>()?,
            document,
        })
    }

    pub fn words(&self) -> &'a Words {
        &self.document.words
    }

    pub fn document(&self) -> &'a Document<'a> {
        self.document
    }

    /// The heading of the first column of tables of chapters.
    pub fn chapter_noun(&self) -> &'a str {
        self.words().get(match self.document.options.group_by {
            ChapterKind::Class => "column.finding",
            ChapterKind::Target => "column.target",
            ChapterKind::Risk => "column.risk",
        })
    }

    pub fn generated(&self) -> Stamp {
        self.document.generated
    }

    pub fn with_decisions(&self) -> bool {
        self.document.with_decisions
    }

    /// Header row of the scans.
    pub fn scan_headers(&self) -> [&'a str; 8] {
        [
            "column.scan",
            "column.tool",
            "column.target",
            "column.status",
            "column.start",
            "column.end",
            "column.tests",
            "column.parameters",
        ]
        .map(|key| self.words().get(key))
    }

    /// The scans of the appendix; none without coverage.
    pub fn scans(&self) -> impl ExactSizeIterator<Item = [String; 8]> + 'a {
        let scans = match self.document.options.coverage {
            true => self.document.scans.as_slice(),
            false => &[],
        };
        scans.iter().map(overview::scan)
    }

    /// Whether the chart of risks has a bar; the headline says that there are no findings.
    pub fn has_chart(&self) -> bool {
        self.summary.iter().any(|row| row.total() > 0)
    }

    /// The line at the end of each page.
    pub fn footer(&self) -> String {
        let day = day(self.generated());
        let date = match self.template.date.trim() {
            "" => &day,
            date => date,
        };
        let parts = [&self.template.classification, &self.title, date];
        let parts = parts.map(|part| start(&clean(part.trim()), FOOTER_PART).into_owned());
        let shown: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        shown.join(FOOTER_GAP)
    }
}

impl<'a> Chapter<'a> {
    fn new(
        document: &'a Document<'a>,
        number: usize,
        group: &'a ReportGroup,
        has_trend: bool,
    ) -> Result<Self, RenderError> {
        let words = &document.words;
        let mut chapter = Self {
            number,
            name: match (document.options.group_by, group.risk()) {
                (ChapterKind::Risk, Some(risk)) => words.risk(risk).to_owned(),
                _ => named(&group.name, words),
            },
            counts: group.counts,
            risk: None,
            is_exploited: group.is_exploited,
            common: Prose::default(),
            shared: CommonTexts::default(),
            has_trend,
            group,
            document,
        };
        if document.options.group_by != ChapterKind::Class {
            return Ok(chapter);
        }
        chapter.risk = group.risk();
        chapter.shared = group.common;
        if let Some(first) = document.findings(group, 0).next().transpose()? {
            let own = CommonTexts {
                description: !group.common.description,
                impact: !group.common.impact,
                recommendation: !group.common.recommendation,
                classes: !group.common.classes,
            };
            chapter.common = entry::prose(&first.finding, own, words);
            // The first finding is the most urgent one.
            let facts = entry::exploitation(&first.finding, words);
            chapter.common.facts.splice(0..0, facts);
        }
        Ok(chapter)
    }

    /// Whether it is about one kind of finding, so that its findings are places.
    pub fn is_of_class(&self) -> bool {
        self.document.options.group_by == ChapterKind::Class
    }

    /// How much of the evidence its pages show.
    pub fn evidence(&self) -> EvidenceDetail {
        self.document.options.evidence
    }

    /// The findings with their sources, in descending order of risk, without the first `skipped`.
    pub fn entries(
        &self,
        limit: ProofLimit,
        skipped: usize,
    ) -> impl Iterator<Item = Result<(ReportFinding, FindingEntry), RenderError>> + use<'a> {
        let (number, shared, document) = (self.number, self.shared, self.document);
        let style = EntryStyle {
            words: &document.words,
            options: &document.options,
            has_trend: self.has_trend,
            limit,
        };
        document
            .findings(self.group, skipped)
            .zip(skipped.saturating_add(1)..)
            .map(move |(found, at)| {
                let found = found?;
                let entry = entry::entry(&found, format!("{number}.{at}"), shared, style);
                Ok((found, entry))
            })
    }

    pub fn len(&self) -> usize {
        self.group.len()
    }
}

/// A name for a heading.
fn named(given: &str, words: &Words) -> String {
    match clean(given) {
        name if name.trim().is_empty() => words.get("text.no_name").to_owned(),
        name => name.into_owned(),
    }
}

/// The label of the risk chart, such as `3 critical`, for readers that do not see it.
pub fn counted(counts: &RiskCounts, words: &Words) -> String {
    let counts = Risk::DOWN.into_iter().zip(counts);
    let parts: Vec<String> = counts
        .map(|(risk, count)| format!("{count} {}", words.risk(risk)))
        .collect();
    parts.join(", ")
}

fn fact(label: &str, value: impl Into<String>) -> Fact {
    Fact {
        label: label.to_owned(),
        value: value.into(),
        ..Fact::default()
    }
}

fn line(given: &str) -> String {
    clean(given.trim()).into_owned()
}

fn day(at: Stamp) -> String {
    let text = at.to_string();
    text.split(' ').next().unwrap_or_default().to_owned()
}

pub fn stamp(at: Option<Stamp>) -> String {
    at.map(|at| at.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::tests::data;
    use super::*;

    #[test]
    fn texts_common_to_a_chapter_are_shown_once() {
        let mut input = data(ChapterKind::Class);
        for found in &mut input.findings {
            found.finding.vuln_description = "The header names the product.".into();
        }
        let texts = |input: &super::super::ReportData| {
            let document = Document::new(input).unwrap();
            let view = View::new(&document).unwrap();
            let chapter = &view.contents[1];
            let own: usize = chapter
                .entries(ProofLimit::ALL, 0)
                .map(|entry| usize::from(!entry.unwrap().1.prose.description.is_empty()))
                .sum();
            (
                chapter.len(),
                usize::from(!chapter.common.description.is_empty()),
                own,
            )
        };
        assert_eq!(texts(&input), (2, 1, 0));
        input.findings[0].finding.vuln_description = "Another text.".into();
        assert_eq!(texts(&input), (2, 0, 2));
    }
}
