//! The blocks of a chapter: a kind of finding with its places, or findings with a section each.

use std::collections::BTreeSet;

use super::grid::Grid;
use super::{Block, Each, FlowLimits, Heading};
use crate::RenderError;
use crate::options::EvidenceDetail;
use crate::view::{Chapter, Fact, FindingEntry, Proof, ProofLimit, Prose, location};
use crate::words::Words;
use scandeck_wire::contract::{EvidenceView, Risk};

/// Most columns of a table; evidence with more is written as text.
const COLUMNS: usize = 8;
/// Most earlier findings that a finding names.
const EARLIER: usize = 4;

/// A chapter on its way to the pages.
pub struct ChapterWalk<'a> {
    pub chapter: &'a Chapter<'a>,
    pub words: &'a Words,
    pub anchor: usize,
    pub is_new_page: bool,
    pub limits: FlowLimits,
}

impl ChapterWalk<'_> {
    pub fn walk(&self, each: Each<'_>) -> Result<(), RenderError> {
        let chapter = self.chapter;
        each(Block::Heading {
            heading: Heading {
                level: 1,
                number: &chapter.number.to_string(),
                text: &chapter.name,
                risk: chapter.risk,
                anchor: self.anchor,
            },
            is_new_page: self.is_new_page,
        })?;
        match (chapter.is_of_class(), chapter.len()) {
            (_, 0) => each(Block::Remark(self.words.get("text.no_findings"))),
            (true, 1) => self.walk_only(each),
            (true, _) => self.walk_class(each),
            (false, _) => self.walk_sections(each),
        }
    }

    /// Evidence within the limits of the format; `index` counts the findings of the chapter.
    fn limit(&self, index: usize) -> ProofLimit {
        let is_shown = match self.chapter.evidence() {
            EvidenceDetail::None => false,
            EvidenceDetail::First => index == 0,
            EvidenceDetail::All => true,
        };
        match is_shown && index < self.limits.in_full {
            true => self.limits.proof,
            false => ProofLimit::NOTHING,
        }
    }

    /// A kind with one place.
    fn walk_only(&self, each: Each<'_>) -> Result<(), RenderError> {
        let common = &self.chapter.common;
        for entry in self.chapter.entries(self.limit(0), 0) {
            let (_, entry) = entry?;
            let mut facts = entry.facts.clone();
            let classes = common
                .facts
                .iter()
                .filter(|fact| !entry.facts.contains(fact));
            facts.extend(classes.cloned());
            walk_facts(&facts, each)?;
            self.walk_texts(common, each)?;
            self.walk_proof(&entry, each)?;
        }
        self.walk_advice(common, each)
    }

    /// A kind with many places: its texts once, a row for each place.
    fn walk_class(&self, each: Each<'_>) -> Result<(), RenderError> {
        let common = &self.chapter.common;
        walk_facts(&common.facts, each)?;
        self.walk_texts(common, each)?;
        self.walk_places(each)?;
        let is_first_only = self.chapter.evidence() == EvidenceDetail::First;
        let most = match is_first_only {
            // The texts of the other places may differ.
            true if has_all_texts(common) => 1,
            _ => self.limits.in_full,
        };
        let all = self.limit(1);
        let first = self.chapter.entries(self.limit(0), 0).take(1);
        let others = self.chapter.entries(all, 1);
        for entry in first.chain(others).take(most) {
            self.walk_place(&entry?.1, each)?;
        }
        self.walk_advice(common, each)
    }

    fn walk_places(&self, each: Each<'_>) -> Result<(), RenderError> {
        let words = self.words;
        let keys = [
            "column.number",
            "column.risk",
            "column.target",
            "column.location",
            "column.detail",
            "column.exploited",
            "column.verdict",
            "column.found",
        ];
        let mut grid = Grid::new(words, &keys);
        let mut places = BTreeSet::new();
        let mut is_repeated = false;
        for entry in self.chapter.entries(ProofLimit::NOTHING, 0) {
            let (found, entry) = entry?;
            is_repeated |= !places.insert(entry.place.clone());
            let cells = [
                entry.place,
                location(&found.finding, words),
                entry.detail,
                entry.signals,
                entry.verdict,
                entry.found_on,
            ];
            grid.numbered_row(entry.number, entry.risk, words, cells);
        }
        // The chapter says what all places have in common.
        grid = grid.without_constant(5).without_constant(4);
        // One target with several rows: the location distinguishes them.
        if !is_repeated {
            grid = grid.without(3);
        }
        grid.without_constant(1).pass(each)
    }

    /// The evidence of a place, and what its row in the table lacks.
    fn walk_place(&self, entry: &FindingEntry, each: Each<'_>) -> Result<(), RenderError> {
        let texts = &entry.prose;
        let has_texts = [&texts.description, &texts.impact, &texts.recommendation]
            .iter()
            .any(|text| !text.is_empty());
        let has_content = entry.proof != Proof::Nothing
            || has_texts
            || !texts.facts.is_empty()
            || !entry.history.is_empty();
        if !has_content {
            return Ok(());
        }
        let text = match entry.detail.is_empty() {
            true => entry.place.clone(),
            false => format!("{} · {}", entry.place, entry.detail),
        };
        self.section(&entry.number, &text, None, each)?;
        let mut facts = entry.remarks.clone();
        facts.extend(texts.facts.iter().cloned());
        walk_facts(&facts, each)?;
        self.walk_texts(texts, each)?;
        self.walk_proof(entry, each)?;
        self.walk_advice(texts, each)
    }

    /// A section for each finding; after the limit a row of a table.
    fn walk_sections(&self, each: Each<'_>) -> Result<(), RenderError> {
        let chapter = self.chapter;
        let first = chapter.entries(self.limit(0), 0).take(1);
        let others = chapter.entries(self.limit(1), 1);
        for entry in first.chain(others).take(self.limits.in_full) {
            let (_, entry) = entry?;
            self.section(&entry.number, &entry.name, Some(entry.risk), each)?;
            walk_facts(&entry.facts, each)?;
            self.walk_texts(&entry.prose, each)?;
            self.walk_proof(&entry, each)?;
            self.walk_advice(&entry.prose, each)?;
        }
        let more = chapter.len().saturating_sub(self.limits.in_full);
        if more == 0 {
            return Ok(());
        }
        let words = self.words;
        let count = words.count(more, "noun.finding");
        each(Block::Remark(
            &words.filled("text.without_details", &[&count]),
        ))?;
        let keys = [
            "column.number",
            "column.risk",
            "column.finding",
            "column.place",
            "column.exploited",
            "column.verdict",
        ];
        let mut grid = Grid::new(words, &keys);
        for entry in chapter.entries(ProofLimit::NOTHING, self.limits.in_full) {
            let (_, entry) = entry?;
            let cells = [entry.name, entry.place, entry.signals, entry.verdict];
            grid.numbered_row(entry.number, entry.risk, words, cells);
        }
        grid.pass(each)
    }

    fn section(
        &self,
        number: &str,
        text: &str,
        risk: Option<Risk>,
        each: Each<'_>,
    ) -> Result<(), RenderError> {
        each(Block::Heading {
            heading: Heading {
                level: 2,
                number,
                text,
                risk,
                anchor: 0,
            },
            is_new_page: false,
        })
    }

    fn walk_texts(&self, prose: &Prose, each: Each<'_>) -> Result<(), RenderError> {
        let impact = self.words.get("fact.impact");
        for (label, text) in [("", &prose.description), (impact, &prose.impact)] {
            if !text.is_empty() {
                each(Block::Paragraph { label, text })?;
            }
        }
        Ok(())
    }

    fn walk_proof(&self, entry: &FindingEntry, each: Each<'_>) -> Result<(), RenderError> {
        walk_proof(&entry.proof, each)?;
        if !entry.cut.is_empty() {
            each(Block::Remark(&entry.cut))?;
        }
        if !entry.history.is_empty() {
            let mut earlier = entry.history.clone();
            let more = earlier.len().saturating_sub(EARLIER);
            if more > 0 {
                // The appendix has all of them.
                earlier.truncate(EARLIER);
                earlier.push(self.words.count(more, "noun.more_time"));
            }
            let text = self.words.filled("text.earlier", &[&earlier.join(", ")]);
            each(Block::Remark(&text))?;
        }
        Ok(())
    }

    fn walk_advice(&self, prose: &Prose, each: Each<'_>) -> Result<(), RenderError> {
        if !prose.recommendation.is_empty() {
            each(Block::Paragraph {
                label: self.words.get("fact.recommendation"),
                text: &prose.recommendation,
            })?;
        }
        if !prose.links.is_empty() || !prose.other_references.is_empty() {
            each(Block::References {
                links: &prose.links,
                others: &prose.other_references,
            })?;
        }
        Ok(())
    }
}

fn walk_facts(facts: &[Fact], each: Each<'_>) -> Result<(), RenderError> {
    match facts.is_empty() {
        true => Ok(()),
        false => each(Block::Facts(facts)),
    }
}

/// Whether no place has texts of its own.
fn has_all_texts(common: &Prose) -> bool {
    !common.description.is_empty() && !common.recommendation.is_empty()
}

fn walk_proof(proof: &Proof, each: Each<'_>) -> Result<(), RenderError> {
    let (headers, rows, exchange) = match proof {
        Proof::Nothing => return Ok(()),
        Proof::Text(text) => return each(Block::Verbatim(text)),
        Proof::Table {
            headers,
            rows,
            exchange,
        } => (headers, rows, exchange),
    };
    let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
    if longest.max(headers.len()) <= COLUMNS {
        Grid::evidence(headers, rows).pass(each)?;
    } else {
        let view = EvidenceView::Table {
            headers: headers.clone(),
            rows: rows.clone(),
        };
        each(Block::Verbatim(&crate::csv::evidence(&view)))?;
    }
    match exchange.is_empty() {
        true => Ok(()),
        false => each(Block::Verbatim(exchange)),
    }
}
