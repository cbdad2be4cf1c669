//! Where blocks are on pages.

use super::prose::FEW_VERBATIM;
use super::sizes::{BOTTOM, VERBATIM};
use super::*;
use crate::flow::TableBlock;

#[test]
fn short_evidence_is_whole_and_no_few_lines_of_a_longer_one_are_alone() {
    let (known, words) = (Measured::default(), Words::of("en").unwrap());
    // Lines of the evidence, lines that fit on the page, and lines on the next page.
    for (count, room, expected) in [(10, 9, 10), (30, 3, 30), (30, 28, 4), (30, 10, 20)] {
        let mut fonts = Fonts::new().unwrap();
        let mut layout = PageLayout::new(&mut fonts, None, &known, ("", &words));
        layout.y = BOTTOM - room as f32 * VERBATIM.leading - 1.0;
        let text = vec!["HTTP/1.1 200 OK"; count].join("\n");
        layout.block(&Block::Verbatim(&text)).unwrap();
        let lines = (layout.y - 6.0 - TOP) / VERBATIM.leading;
        assert_eq!(layout.found.pages, 1);
        assert_eq!(lines.round() as usize, expected, "{count} {room}");
    }
}

#[test]
fn report_with_boxes_says_what_they_are() {
    let (known, words) = (Measured::default(), Words::of("en").unwrap());
    let height = |text: &str| {
        let mut fonts = Fonts::new().unwrap();
        let mut layout = PageLayout::new(&mut fonts, None, &known, ("", &words));
        let block = Block::Paragraph { label: "", text };
        layout.block(&block).unwrap();
        let before = layout.y;
        layout.explain_boxes().unwrap();
        layout.y - before
    };
    assert_eq!(height("password"), 0.0);
    assert!(height("\u{5bc6}\u{7801}") > SMALL.leading);
}

#[test]
fn short_list_is_whole_with_the_heading_above_it() {
    let mut fonts = Fonts::new().unwrap();
    let (known, words) = (Measured::default(), Words::of("en").unwrap());
    let mut layout = PageLayout::new(&mut fonts, None, &known, ("", &words));
    layout.y = BOTTOM - 50.0;
    let text = "### Out of scope\n\n1. Denial of service\n2. Mail\n3. Phones";
    let blocks = crate::markdown::blocks(text);
    layout.block(&Block::Rich(&blocks)).unwrap();
    let is_text = |mark: &&PageMark| matches!(mark.kind, PageMarkKind::Text { .. });
    let texts = layout.marks.iter().filter(is_text).count();
    let page = layout.found.pages;
    assert_eq!((page, texts), (1, 7), "a heading and three items");
}

#[test]
fn paragraph_moves_with_the_list_below_it() {
    let mut fonts = Fonts::new().unwrap();
    let (known, words) = (Measured::default(), Words::of("en").unwrap());
    let mut layout = PageLayout::new(&mut fonts, None, &known, ("", &words));
    layout.y = BOTTOM - 50.0;
    let blocks = crate::markdown::blocks("We follow PTES:\n\n1. Discovery\n2. Tests\n3. Rating");
    layout.block(&Block::Rich(&blocks)).unwrap();
    let is_text = |mark: &&PageMark| matches!(mark.kind, PageMarkKind::Text { .. });
    let texts = layout.marks.iter().filter(is_text).count();
    let page = layout.found.pages;
    assert_eq!((page, texts), (1, 7), "a paragraph and three items");
}

#[test]
fn short_evidence_moves_with_the_request_below_it() {
    let (known, words) = (Measured::default(), Words::of("en").unwrap());
    let headers = ["URL".to_owned()];
    let rows = [vec!["https://a.test/".to_owned()]];
    let table = |is_verbatim| TableBlock {
        headers: &headers,
        rows: &rows,
        risk_column: 0,
        risks: &[],
        widths: &[100.0],
        is_verbatim,
    };
    let text = ["HTTP/1.1 200 OK"; 10].join("\n");
    // Evidence with its header row is on the page of the request; other tables are not.
    for (is_verbatim, expected) in [(true, 12), (false, 10)] {
        let mut fonts = Fonts::new().unwrap();
        let mut layout = PageLayout::new(&mut fonts, None, &known, ("", &words));
        layout.y = BOTTOM - 60.0;
        layout.block(&Block::Table(table(is_verbatim))).unwrap();
        assert_eq!(layout.found.pages, 0, "there is room for the table");
        layout.block(&Block::Verbatim(&text)).unwrap();
        let is_text = |mark: &&PageMark| matches!(mark.kind, PageMarkKind::Text { .. });
        let texts = layout.marks.iter().filter(is_text).count();
        assert_eq!((layout.found.pages, texts), (1, expected));
    }
}

#[test]
fn footer_that_is_too_long_lacks_its_last_parts() {
    let mut fonts = Fonts::new().unwrap();
    let (known, words) = (Measured::default(), Words::of("en").unwrap());
    let title = "Penetration test of the web shop and mail of Nordlicht Handels GmbH & Co. KG";
    let footer = format!("Strictly confidential · {title} · 2026-11-30");
    let mut layout = PageLayout::new(&mut fonts, None, &known, (footer.as_str(), &words));
    let line = layout.footer_line().unwrap();
    let shown: String = line
        .pieces
        .iter()
        .map(|piece| " ".repeat(piece.spaces) + &piece.word.text)
        .collect();
    assert_eq!(shown, format!("Strictly confidential · {title}"));
}

#[test]
fn references_take_the_end_of_the_evidence_to_the_next_page() {
    let (known, words) = (Measured::default(), Words::of("en").unwrap());
    // Lines of the evidence, and those that move to the next page with the title and the link.
    for (count, moved) in [(10, 10), (30, FEW_VERBATIM)] {
        let mut fonts = Fonts::new().unwrap();
        let mut layout = PageLayout::new(&mut fonts, None, &known, ("", &words));
        layout.y = BOTTOM - count as f32 * VERBATIM.leading - 1.0;
        let text = vec!["HTTP/1.1 200 OK"; count].join("\n");
        layout.block(&Block::Verbatim(&text)).unwrap();
        assert_eq!(layout.found.pages, 0, "there is room for the evidence");
        let (links, others) = (&["https://a.test/".to_owned()], &[]);
        layout.block(&Block::References { links, others }).unwrap();
        let is_text = |mark: &&PageMark| matches!(mark.kind, PageMarkKind::Text { .. });
        let texts = layout.marks.iter().filter(is_text).count();
        assert_eq!((layout.found.pages, texts), (1, moved + 2), "{count}");
    }
}

#[test]
fn references_take_the_paragraph_above_them_to_the_next_page() {
    let mut fonts = Fonts::new().unwrap();
    let (known, words) = (Measured::default(), Words::of("en").unwrap());
    let links = ["https://a.test/", "https://b.test/"].map(str::to_owned);
    let mut layout = PageLayout::new(&mut fonts, None, &known, ("", &words));
    layout.y = BOTTOM - 25.0;
    let (label, text) = ("Recommendation", "Remove it.");
    layout.block(&Block::Paragraph { label, text }).unwrap();
    assert_eq!(layout.found.pages, 0, "there is room for the paragraph");
    let others = &[];
    let links = &links;
    layout.block(&Block::References { links, others }).unwrap();
    let is_text = |mark: &&PageMark| matches!(mark.kind, PageMarkKind::Text { .. });
    let texts = layout.marks.iter().filter(is_text).count();
    assert_eq!(
        (layout.found.pages, texts),
        (1, 4),
        "recommendation, title and links"
    );
}
