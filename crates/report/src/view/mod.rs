//! The report as a person reads it: one model for html, pdf, docx and xlsx.
//!
//! ```text
//!   Document ─► cover · summary · contents · chapters of findings · recommendations · appendix
//! ```
//!
//! Findings are read and built one at a time while a writer asks for them. All texts are sanitised
//! here: a control character or a direction override reaches no file. Equal data gives equal views.

mod entry;
mod overview;
mod proof;

use serde::Serialize;

use super::{Document, RenderError, ReportFinding, ReportGroup};
use scandeck_wire::contract::{GroupBy, Risk, Stamp, Tool};
use scandeck_wire::text::clean_for_print as clean;

pub use entry::FindingEntry;
pub use overview::Recommendation;
pub use proof::{Proof, ProofLimit};

/// A labelled line. `aside` is of less weight than `value`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fact {
    pub label: &'static str,
    pub value: String,
    pub aside: String,
}

/// Counts by risk, critical first.
pub type RiskCounts = [usize; 5];

/// A row of the summary: findings of one kind by risk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SummaryRow {
    pub label: &'static str,
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
    /// Before the evidence.
    pub paragraphs: Vec<Fact>,
    /// After the evidence; empty if there is none.
    pub recommendation: String,
    pub links: Vec<String>,
    pub other_references: Vec<String>,
}

/// A chapter: a target, or one kind of finding.
#[derive(Clone)]
pub struct Chapter<'a> {
    /// From 1.
    pub number: usize,
    pub name: String,
    pub counts: RiskCounts,
    /// The texts that all its findings have in common, shown once; empty in chapters of targets.
    pub common: Prose,
    is_common: bool,
    group: &'a ReportGroup,
    document: &'a Document<'a>,
}

/// A report in the order of its pages.
#[derive(Clone)]
pub struct View<'a> {
    pub title: String,
    pub cover: Vec<Fact>,
    /// The headline. Without decisions one row; with decisions the findings that need work, by
    /// verdict.
    pub summary: Vec<SummaryRow>,
    /// Findings that need no work, by verdict; empty without decisions.
    pub settled: Vec<Fact>,
    pub contents: Vec<Chapter<'a>>,
    pub recommendations: Vec<Recommendation>,
    document: &'a Document<'a>,
}

impl<'a> View<'a> {
    /// # Errors
    /// When the findings cannot be read.
    pub fn new(document: &'a Document<'a>) -> Result<Self, RenderError> {
        let tally = overview::ReportTally::of(document)?;
        let chapters = (1..).zip(&document.groups);
        Ok(Self {
            title: format!("Findings of {}", clean(&document.workspace)),
            cover: overview::cover(document),
            summary: tally.summary(document),
            settled: tally.settled(document),
            contents: chapters
                .map(|(number, group)| Chapter::new(document, number, group))
                .collect::<Result<_, _>>()?,
            recommendations: tally.recommendations(),
            document,
        })
    }

    /// The heading of the first column of tables of chapters.
    pub fn chapter_noun(&self) -> &'static str {
        if self.document.group_by == GroupBy::Vulnerability {
            "Finding"
        } else {
            "Target"
        }
    }

    pub fn generated(&self) -> Stamp {
        self.document.generated
    }

    pub fn with_decisions(&self) -> bool {
        self.document.with_decisions
    }

    /// Header row of the appendix.
    pub const SCAN_HEADERS: [&'static str; 8] = [
        "Scan",
        "Tool",
        "Target",
        "Status",
        "Start",
        "End",
        "Tests",
        "Parameters",
    ];

    /// The scans of the appendix; none when the tool configuration is excluded.
    pub fn scans(&self) -> impl ExactSizeIterator<Item = [String; 8]> + 'a {
        self.document.scans.iter().map(overview::scan)
    }
}

impl<'a> Chapter<'a> {
    fn new(
        document: &'a Document<'a>,
        number: usize,
        group: &'a ReportGroup,
    ) -> Result<Self, RenderError> {
        // The texts of one kind of finding are the same at every target, unless a scanner adds
        // details to them.
        let is_common = document.group_by == GroupBy::Vulnerability
            && group.len() > 1
            && group.has_common_texts;
        let first = if is_common {
            document.findings(group, 0).next().transpose()?
        } else {
            None
        };
        Ok(Self {
            number,
            name: named(&group.name),
            counts: group.counts,
            common: first
                .map(|found| entry::prose(&found.finding))
                .unwrap_or_default(),
            is_common,
            group,
            document,
        })
    }

    /// The findings with their sources, in descending order of risk, without the first `skipped`.
    pub fn entries(
        &self,
        limit: ProofLimit,
        skipped: usize,
    ) -> impl Iterator<Item = Result<(ReportFinding, FindingEntry), RenderError>> + use<'a> {
        let (number, is_common) = (self.number, self.is_common);
        self.document
            .findings(self.group, skipped)
            .zip(skipped.saturating_add(1)..)
            .map(move |(found, at)| {
                let found = found?;
                let entry = entry::entry(&found, format!("{number}.{at}"), is_common, limit);
                Ok((found, entry))
            })
    }

    pub fn len(&self) -> usize {
        self.group.len()
    }

    pub fn is_empty(&self) -> bool {
        self.group.is_empty()
    }
}

/// A name for a heading.
fn named(given: &str) -> String {
    match clean(given) {
        name if name.trim().is_empty() => "(no name)".to_owned(),
        name => name.into_owned(),
    }
}

/// The label of the risk chart, such as `3 critical`, for readers that do not see it.
pub fn counted(counts: &RiskCounts) -> String {
    let words: Vec<String> = Risk::DOWN
        .iter()
        .zip(counts)
        .map(|(risk, count)| format!("{count} {risk}"))
        .collect();
    words.join(", ")
}

fn fact(label: &'static str, value: impl Into<String>) -> Fact {
    Fact {
        label,
        value: value.into(),
        aside: String::new(),
    }
}

/// The full name of a tool; reports have the room.
fn tool_name(tool: Tool) -> String {
    tool.name().map_or_else(|| tool.to_string(), str::to_owned)
}

fn line(given: &str) -> String {
    clean(given.trim()).into_owned()
}

fn stamp(at: Option<Stamp>) -> String {
    at.map(|at| at.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::tests::data;
    use super::*;

    #[test]
    fn texts_common_to_a_chapter_are_shown_once() {
        let mut input = data(GroupBy::Vulnerability);
        for found in &mut input.findings {
            found.finding.vuln_description = "The header names the product.".into();
        }
        let texts = |input: &super::super::ReportData| {
            let document = Document::new(input).unwrap();
            let view = View::new(&document).unwrap();
            let chapter = &view.contents[1];
            let own: usize = chapter
                .entries(ProofLimit::ALL, 0)
                .map(|entry| entry.unwrap().1.prose.paragraphs.len())
                .sum();
            (chapter.len(), chapter.common.paragraphs.len(), own)
        };
        assert_eq!(texts(&input), (2, 1, 0));
        input.findings[0].finding.vuln_description = "Another text.".into();
        assert_eq!(texts(&input), (2, 0, 2));
    }
}
