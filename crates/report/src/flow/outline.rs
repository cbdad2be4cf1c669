//! Which parts a report has, in their order, and the anchors of their headings.

use crate::view::View;
use crate::words::Words;

/// A part before or after the chapters, with its place in the contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Summary,
    Recommendations,
    Scope,
    Methodology,
    Ids,
    Coverage,
    History,
    Changes,
    Chains,
}

impl Part {
    pub fn title(self, words: &Words) -> &str {
        words.get(match self {
            Self::Summary => "heading.summary",
            Self::Recommendations => "heading.recommendations",
            Self::Scope => "heading.scope",
            Self::Methodology => "heading.methodology",
            Self::Ids => "heading.appendix_ids",
            Self::Coverage => "heading.appendix_coverage",
            Self::History => "heading.appendix_history",
            Self::Changes => "heading.appendix_changes",
            Self::Chains => "heading.chains",
        })
    }
}

/// The headings of the first level, whose anchors count from 1.
pub struct Outline {
    pub before: Vec<Part>,
    chapters: usize,
    pub after: Vec<Part>,
}

impl Outline {
    pub fn of(view: &View<'_>) -> Self {
        let options = &view.document().options;
        let has_methodology = !view.template.methodology.trim().is_empty()
            || view
                .template
                .severities
                .texts()
                .iter()
                .any(|text| !text.is_empty());
        let before = [
            (Part::Summary, true),
            (Part::Recommendations, !view.recommendations.is_empty()),
            (Part::Scope, true),
            (Part::Methodology, has_methodology),
        ];
        let after = [
            (
                Part::Chains,
                options.chains && view.with_decisions() && !view.contents.is_empty(),
            ),
            (Part::Ids, options.appendix && !view.contents.is_empty()),
            (Part::Coverage, view.scans().len() > 0),
            (Part::History, options.history && !view.contents.is_empty()),
            (
                Part::Changes,
                options.changes && view.with_decisions() && !view.contents.is_empty(),
            ),
        ];
        let present = |parts: &[(Part, bool)]| {
            let present = parts.iter().filter(|(_, is_present)| *is_present);
            present.map(|(part, _)| *part).collect()
        };
        Self {
            before: present(&before),
            chapters: view.contents.len(),
            after: present(&after),
        }
    }

    pub fn anchor_of_chapter(&self, at: usize) -> usize {
        self.before.len() + 1 + at
    }

    pub fn anchor(&self, part: Part) -> usize {
        let place = |parts: &[Part]| parts.iter().position(|one| *one == part);
        let after = || place(&self.after).map(|at| self.anchor_of_chapter(self.chapters) + at);
        place(&self.before)
            .map(|at| at + 1)
            .or_else(after)
            .unwrap_or(0)
    }
}

/// The headings before and after the chapters of findings.
pub fn chapters_between<'a>(view: &View<'a>) -> (Vec<&'a str>, Vec<&'a str>) {
    let outline = Outline::of(view);
    let title = |part: &Part| part.title(view.words());
    let titles = |parts: &[Part]| parts.iter().map(title).collect();
    (titles(&outline.before), titles(&outline.after))
}
