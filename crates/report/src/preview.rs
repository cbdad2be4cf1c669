//! The texts of a template with their data as lines, before the report is written.

use super::flow::chapters_between;
use super::view::{Fact, View};
use super::{Document, RenderError, ReportOptions, markdown};

/// Longest start of the summary.
const SUMMARY: usize = 160;

/// How a report would begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportPreview {
    /// Title, cover, summary and contents.
    pub lines: Vec<String>,
    pub options: ReportOptions,
}

/// How the report of a document would begin.
///
/// # Errors
/// When the findings cannot be read, or a text of the template is invalid.
pub fn preview(document: &Document<'_>) -> Result<ReportPreview, RenderError> {
    let view = View::new(document)?;
    let words = view.words();
    let mut lines = vec![view.title.clone()];
    // The workspace, the scope and the tools are not of the template.
    let of_template = [
        "fact.client",
        "fact.date",
        "fact.version",
        "fact.author",
        "fact.contact",
        "fact.document_class",
    ]
    .map(|key| words.get(key));
    let is_of_template = |fact: &&Fact| of_template.contains(&fact.label.as_str());
    let facts = view.cover.iter().filter(is_of_template);
    let facts = facts.map(|fact| format!("{}: {}", fact.label, fact.value));
    let logo = view.template.image.as_ref().map(|logo| {
        let (width, height) = logo.size;
        format!("Logo: {}, {width} × {height}", view.template.logo)
    });
    let cover: Vec<String> = facts.chain(logo).collect();
    lines.push(cover.join(" · "));
    let blocks = markdown::blocks(&view.template.summary);
    let texts = blocks.iter().map(|block| -> String {
        let spans = block.spans.iter();
        spans.map(|span| span.text.as_str()).collect()
    });
    let summary = texts.collect::<Vec<_>>().join(" ");
    lines.push(match summary.char_indices().nth(SUMMARY) {
        Some((end, _)) => format!("{} …", &summary[..end]),
        None => summary,
    });
    let (before, after) = chapters_between(&view);
    let findings = document.counts.iter().sum();
    let chapters = format!(
        "{} ({})",
        words.count(findings, "noun.finding"),
        document.groups.len()
    );
    let contents: Vec<&str> = before
        .into_iter()
        .chain([chapters.as_str()])
        .chain(after)
        .collect();
    lines.push(format!(
        "{}: {}",
        words.get("heading.contents"),
        contents.join(", ")
    ));
    lines.retain(|line| !line.is_empty());
    Ok(ReportPreview {
        lines,
        options: document.options.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReportTemplate;
    use crate::options::ChapterKind;

    #[test]
    fn preview_has_the_texts_of_the_template_with_their_data() {
        let mut input = crate::tests::data(ChapterKind::Class);
        let template = "title = 'For {{ client }}'\nclient = 'Acme'\nclassification = 'Secret'\n\
                        summary = '**{{ findings.total }} findings**'\nmethodology = 'By hand.'";
        input.template = ReportTemplate::parse(template).unwrap();
        input.options.coverage = false;
        let preview = preview(&Document::new(&input).unwrap()).unwrap();
        assert_eq!(
            preview.lines,
            [
                "For Acme",
                "Client: Acme · Date: 2026-11-21 · Classification: Secret",
                "3 findings",
                "Contents: Executive summary, Scope, Methodology, 3 findings (2), \
                 Appendix: identifiers",
            ]
        );
        assert_eq!(preview.options, input.options);
    }
}
