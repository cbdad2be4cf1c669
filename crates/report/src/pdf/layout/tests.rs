//! Where blocks are on pages.

use super::prose::FEW_VERBATIM;
use super::sizes::{BOTTOM, LEFT, VERBATIM};
use super::*;
use crate::flow::{ContentsLine, Heading, TableBlock};
use crate::view::SummaryRow;
use scandeck_wire::contract::Risk;

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

/// The last page, and the number of texts on it, of blocks that begin this far above the end of a
/// page.
fn placed(room: f32, blocks: &[Block<'_>]) -> (usize, usize) {
    let mut fonts = Fonts::new().unwrap();
    let (known, words) = (Measured::default(), Words::of("en").unwrap());
    let mut layout = PageLayout::new(&mut fonts, None, &known, ("", &words));
    layout.y = BOTTOM - room;
    for block in blocks {
        layout.block(block).unwrap();
    }
    let is_text = |mark: &&PageMark| matches!(mark.kind, PageMarkKind::Text { .. });
    let texts = layout.marks.iter().filter(is_text).count();
    (layout.found.pages, texts)
}

fn heading(level: u8, text: &str) -> Block<'_> {
    Block::Heading {
        heading: Heading {
            level,
            number: "",
            text,
            risk: None,
            anchor: 0,
        },
        is_new_page: false,
    }
}

#[test]
fn table_is_on_the_page_of_the_end_of_the_text_above_it() {
    let headers = ["Risk", "Meaning"].map(str::to_owned);
    let rows: Vec<Vec<String>> = (0..5)
        .map(|_| ["high", "Act now."].map(str::to_owned).to_vec())
        .collect();
    let table = || {
        Block::Table(TableBlock {
            headers: &headers,
            rows: &rows,
            risk_column: 0,
            risks: &[],
            widths: &[20.0, 80.0],
            is_verbatim: false,
        })
    };
    let [short, list, long] = [
        "We test by hand.",
        "We test:\n\n1. Shop\n2. Mail",
        "We test by hand and with tools. ".repeat(60).as_str(),
    ]
    .map(crate::markdown::blocks);
    assert_eq!(placed(60.0, &[Block::Rich(&short), table()]), (1, 1 + 12));
    assert_eq!(placed(60.0, &[Block::Rich(&list), table()]), (1, 5 + 12));
    let below_heading = [heading(1, "Methodology"), Block::Rich(&short), table()];
    assert_eq!(placed(100.0, &below_heading), (1, 2 + 12));
    // Of a long paragraph, the last two lines move.
    let (_, lines) = placed(BOTTOM - TOP, &[Block::Rich(&long)]);
    let room = lines as f32 * BODY.leading + 10.0;
    assert_eq!(placed(room, &[Block::Rich(&long), table()]), (1, 2 + 12));
}

#[test]
fn chart_is_on_the_page_of_the_text_above_it() {
    let rows = [SummaryRow {
        label: "Findings".into(),
        counts: [0, 2, 0, 0, 3],
    }];
    let (label, text) = ("", "This report contains 5 findings on 1 target.");
    let blocks = [Block::Paragraph { label, text }, Block::Chart(&rows)];
    assert_eq!(placed(60.0, &blocks), (1, 1 + 11));
}

#[test]
fn risks_without_findings_have_no_bar() {
    let mut fonts = Fonts::new().unwrap();
    let (known, words) = (Measured::default(), Words::of("en").unwrap());
    let mut layout = PageLayout::new(&mut fonts, None, &known, ("", &words));
    let rows = [SummaryRow {
        label: "Findings".into(),
        counts: [0, 2, 0, 0, 3],
    }];
    layout.block(&Block::Chart(&rows)).unwrap();
    let areas = layout.marks.iter().filter_map(|mark| match mark.kind {
        PageMarkKind::Area { ink, .. } => Some(ink),
        _ => None,
    });
    let bars: Vec<Ink> = areas.collect();
    assert_eq!(bars, [Ink::Risk(Risk::High), Ink::Risk(Risk::Info)]);
}

#[test]
fn header_row_that_is_higher_than_a_page_leaves_no_page_empty() {
    let headers = ["word ".repeat(2_000)];
    let rows = [vec!["cell".to_owned()]];
    let table = || {
        Block::Table(TableBlock {
            headers: &headers,
            rows: &rows,
            risk_column: 0,
            risks: &[],
            widths: &[100.0],
            is_verbatim: true,
        })
    };
    let page = BOTTOM - TOP;
    assert_eq!(placed(page, &[table()]).0, 1);
    assert_eq!(placed(page, &[heading(2, "Host"), table()]).0, 1);
}

#[test]
fn last_lines_of_the_contents_are_on_one_page() {
    let line = ContentsLine {
        number: "1".into(),
        text: "Backup readable".into(),
        aside: "3 findings".into(),
        anchor: 0,
    };
    let lines = vec![line; 10];
    let room = 9.0 * (BODY.leading + 2.0) + 1.0;
    assert_eq!(placed(room, &[Block::Contents(&lines)]), (1, 3 * 2));
}

#[test]
fn title_of_references_is_on_the_page_of_the_first_one() {
    let others = ["CWE-79", "OSVDB-877", "a book"].map(str::to_owned);
    let references = Block::References {
        links: &[],
        others: &others,
    };
    assert_eq!(placed(20.0, &[references]), (1, 4));
}

#[test]
fn heading_moves_with_its_part_only() {
    let siblings = [heading(2, "One"), heading(2, "Other")];
    assert_eq!(placed(60.0, &siblings), (1, 1));
    let part = [heading(1, "Chapter"), heading(2, "Part")];
    assert_eq!(placed(80.0, &part), (1, 2));
}

#[test]
fn broken_line_of_evidence_goes_on_below_its_text() {
    let mut fonts = Fonts::new().unwrap();
    let (known, words) = (Measured::default(), Words::of("en").unwrap());
    let mut layout = PageLayout::new(&mut fonts, None, &known, ("", &words));
    let text = format!("    {}", "word ".repeat(60));
    layout.block(&Block::Verbatim(&text)).unwrap();
    let places: Vec<f32> = layout
        .marks
        .iter()
        .filter(|mark| matches!(mark.kind, PageMarkKind::Text { .. }))
        .map(|mark| mark.x)
        .collect();
    assert!(places.len() > 2, "{places:?}");
    assert!(places.iter().all(|x| *x > LEFT + 20.0), "{places:?}");
}

#[test]
fn number_of_findings_in_the_contents_is_not_broken() {
    let mut fonts = Fonts::new().unwrap();
    let (known, words) = (Measured::default(), Words::of("en").unwrap());
    for length in 30..70 {
        let mut layout = PageLayout::new(&mut fonts, None, &known, ("", &words));
        let line = ContentsLine {
            number: "7".to_owned(),
            text: vec!["a"; length].join(" "),
            aside: "1 finding".to_owned(),
            anchor: 0,
        };
        layout.block(&Block::Contents(&[line])).unwrap();
        let is_broken = layout.marks.iter().any(|mark| match &mark.kind {
            PageMarkKind::Text { line, .. } => {
                let last = line.pieces.last();
                last.is_some_and(|piece| &*piece.word.text == "1")
            }
            _ => false,
        });
        assert!(!is_broken, "{length}");
    }
}
