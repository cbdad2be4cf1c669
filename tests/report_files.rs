//! The files of reports, read back: every format shows the same findings, and no text of a finding
//! breaks a file.

mod pages;

use scandeck::contract::{
    Evidence, Finding, FindingId, ReportFormat, Risk, Scan, ScanId, ScanStatus, Stamp, Tool,
};
use scandeck::report::{
    ChapterKind, Document, FORMATS, Logo, Remark, ReportData, ReportDecision, ReportFinding,
    ReportOptions, ReportScan, ReportTemplate, Standing, render,
};

use crate::readback::{parts, pdf_pages, readable, sheets};

/// Text that attacks spreadsheets, XML, layouts and terminals.
const HOSTILE: &str = "=cmd|' /C calc'!A0 </w:t> ]]> &amp; _x0041_ \0 \x1b]52;c;eA==\x07 \u{202e}gpj \u{fffe}\u{ffff} \u{9b}31m";

fn stamp(text: &str) -> Stamp {
    Stamp::parse(text).unwrap()
}

fn finding(id: i64, target: &str, name: &str, risk: Risk, evidence: Evidence) -> ReportFinding {
    let finding = Finding {
        id: FindingId(id),
        name: name.into(),
        risk_level: risk,
        vuln_id: "class".into(),
        vuln_description: "Die Zählung ist öffentlich.".into(),
        recommendation: "Restrict the path.".into(),
        references: vec![
            "https://example.org/?a=1&b=2".into(),
            "javascript:alert(1)".into(),
        ],
        cwe: "CWE-200".into(),
        port: 443,
        protocol: "tcp".into(),
        status: "open".into(),
        vuln_evidence: evidence,
        ..Finding::default()
    };
    let found_at = Some(stamp("2026-11-20 10:00:00"));
    ReportFinding {
        finding,
        target: target.into(),
        tool: Tool::WEBSITE,
        found_at,
        history: Vec::new(),
        decided: None,
    }
}

/// Everything, in these chapters.
fn by(group_by: ChapterKind) -> ReportOptions {
    ReportOptions {
        group_by,
        ..ReportOptions::everything()
    }
}

fn data(findings: Vec<ReportFinding>) -> ReportData {
    ReportData {
        workspace: "Acme <external>".into(),
        generated: stamp("2026-11-21 09:30:00"),
        selection: String::new(),
        options: by(ChapterKind::Target),
        template: ReportTemplate::default(),
        findings,
        with_decisions: false,
        targets: vec!["quiet.test".into()],
        scans: vec![ReportScan {
            scan: Scan {
                id: ScanId(7),
                tool_id: 170,
                status_name: ScanStatus::Finished,
                tool_params: Some(serde_json::json!({"scan_type": "light"})),
                ..Scan::default()
            },
            target: "shop.test".into(),
        }],
    }
}

fn table(rows: &[[&str; 2]]) -> Evidence {
    Evidence::table(
        &["Request", "Answer"],
        rows.iter().map(|row| row.map(str::to_owned).to_vec()),
    )
}

fn typical() -> ReportData {
    data(vec![
        finding(
            1,
            "shop.test",
            "Backup readable",
            Risk::High,
            table(&[["GET /backup.sql", "200, 4 kB"]]),
        ),
        finding(
            2,
            "api.test",
            "Backup readable",
            Risk::Low,
            table(&[["GET /old.sql", "200"]]),
        ),
        finding(
            3,
            "shop.test",
            "Server names its version",
            Risk::Info,
            Evidence::default(),
        ),
    ])
}

fn file(data: &ReportData, format: &ReportFormat) -> Vec<u8> {
    render(&Document::new(data).unwrap(), format).unwrap()
}

fn text(data: &ReportData, format: &ReportFormat) -> String {
    readable(format.as_str(), &file(data, format))
}

/// The formats for people.
fn pages() -> impl Iterator<Item = &'static ReportFormat> {
    FORMATS
        .iter()
        .filter(|format| !matches!(format, ReportFormat::Json | ReportFormat::Csv))
}

#[test]
fn every_format_shows_findings_evidence_and_recommendations_in_every_grouping() {
    for group_by in ChapterKind::ALL {
        let data = ReportData {
            options: by(group_by),
            ..typical()
        };
        for format in FORMATS {
            let text = text(&data, format);
            for words in [
                "Backup readable",
                "shop.test",
                "api.test",
                "GET /backup.sql",
                "Restrict the path.",
                "CWE-200",
            ] {
                assert!(text.contains(words), "{format} lacks {words}:\n{text}");
            }
            assert!(text.contains("Zählung"), "{format}:\n{text}");
        }
    }
}

#[test]
fn reports_for_people_have_cover_summary_recommendations_and_appendix() {
    for format in pages() {
        let text = text(&typical(), format);
        let escaped = if *format == ReportFormat::Html {
            "Acme &lt;external&gt;"
        } else {
            "Acme <external>"
        };
        for words in [
            escaped,
            "Website Scanner",
            "2026-11-21",
            "3 targets",
            "Recommendation",
            "light",
        ] {
            assert!(text.contains(words), "{format} lacks {words}:\n{text}");
        }
    }
}

#[test]
fn reports_for_people_count_verdicts_in_the_headline() {
    let mut data = typical();
    data.with_decisions = true;
    for (found, (verdict, standing)) in data.findings.iter_mut().zip([
        ("confirmed", Standing::Confirmed),
        ("false positive", Standing::Dismissed),
        ("fixed", Standing::Fixed),
    ]) {
        found.decided = Some(ReportDecision {
            verdict: verdict.into(),
            standing,
            notes: vec![Remark {
                text: "see ticket 114".into(),
                who: "ada".into(),
                at: "2026-11-20".into(),
            }],
            ..ReportDecision::default()
        });
    }
    for format in pages() {
        let text = text(&data, format);
        for words in [
            "Confirmed",
            "Fixed",
            "Dismissed",
            "1 false positive",
            "see ticket 114",
        ] {
            assert!(text.contains(words), "{format} lacks {words}:\n{text}");
        }
    }
}

#[test]
fn equal_data_gives_equal_files() {
    for format in FORMATS {
        assert!(
            file(&typical(), format) == file(&typical(), format),
            "{format}"
        );
    }
}

#[test]
fn hostile_text_breaks_no_file_and_hides_nothing() {
    let mut evil = finding(
        1,
        HOSTILE,
        HOSTILE,
        Risk::Critical,
        table(&[[HOSTILE, "=1+1"]]),
    );
    evil.finding.vuln_description = HOSTILE.into();
    evil.finding.references = vec![
        format!("https://example.org/{HOSTILE}").as_str().into(),
        HOSTILE.into(),
    ];
    let data = ReportData {
        workspace: HOSTILE.into(),
        ..data(vec![evil])
    };
    for format in FORMATS {
        let text = text(&data, format);
        let is_control = |c: char| {
            (c.is_control() && !matches!(c, '\n' | '\r')) || matches!(c, '\u{202e}' | '\u{fffe}')
        };
        assert!(!text.contains(is_control), "{format}: {text:?}");
        assert!(
            text.contains("calc") && text.contains("_x0041_"),
            "{format}: {text:?}"
        );
    }
}

#[test]
fn long_words_and_a_megabyte_of_evidence_stay_within_every_file() {
    let huge = "A".repeat(1 << 20);
    let mut evil = finding(
        1,
        "shop.test",
        &"B".repeat(5000),
        Risk::High,
        table(&[["GET /", &huge]]),
    );
    evil.finding.vuln_description = "ü".repeat(40_000).as_str().into();
    let data = data(vec![
        evil,
        finding(
            2,
            "shop.test",
            "Last one",
            Risk::Info,
            Evidence::from_value(&huge.into()),
        ),
    ]);
    for format in pages() {
        let text = text(&data, format);
        assert!(text.contains("Last one"), "{format}");
        assert!(
            format == &ReportFormat::Html || text.contains("more characters"),
            "{format} shows no mark"
        );
    }
}

#[test]
fn spreadsheet_has_a_sheet_for_each_chapter_with_strings_only() {
    let mut data = typical();
    data.findings[0].finding.name = "=1+1".into();
    let bytes = file(&data, &ReportFormat::Xlsx);
    let sheets = sheets(&bytes);
    let names: Vec<&str> = sheets.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Summary",
            "Findings",
            "Evidence",
            "Recommendations",
            "Scans"
        ]
    );
    let findings = &sheets[1].1;
    assert_eq!(
        (findings.len(), &*findings[0][2], &*findings[1][2]),
        (4, "risk", "high")
    );
    assert!(findings[1].iter().any(|cell| cell == "=1+1"));
    for at in 1..=5 {
        let sheet = crate::readback::part(&bytes, &format!("xl/worksheets/sheet{at}.xml"));
        assert!(!sheet.contains("<f>"), "sheet {at} has a formula");
        assert_eq!(sheet.contains("state=\"frozen\""), at > 1, "sheet {at}");
        assert!(sheet.contains("<autoFilter"), "sheet {at}");
    }
    assert!(
        parts(&bytes)
            .iter()
            .any(|name| name.starts_with("xl/charts/chart"))
    );
}

#[test]
fn pdf_has_page_numbers_bookmarks_tags_and_links() {
    let data = data(
        (0..60)
            .map(|id| {
                finding(
                    id,
                    "shop.test",
                    "Backup readable",
                    Risk::High,
                    table(&[["GET /", "200"]]),
                )
            })
            .collect(),
    );
    let bytes = file(&data, &ReportFormat::Pdf);
    let pages = pdf_pages(&bytes);
    assert!(pages.len() > 5, "{}", pages.len());
    for (at, page) in pages.iter().enumerate() {
        assert!(
            page.contains(&format!("Page {} of {}", at + 1, pages.len())),
            "{page}"
        );
    }
    let document = lopdf::Document::load_mem(&bytes).unwrap();
    let titles: Vec<String> = document
        .get_toc()
        .unwrap()
        .toc
        .into_iter()
        .map(|line| line.title)
        .collect();
    let sections = titles.iter().filter(|title| title.starts_with("1."));
    assert_eq!(sections.count(), 60, "{titles:?}");
    assert_eq!(
        titles[..4],
        [
            "Contents",
            "Executive summary",
            "Recommendations by effect",
            "Scope"
        ]
    );
    let catalog = document.catalog().unwrap();
    assert!(catalog.has(b"StructTreeRoot") && catalog.get(b"Lang").is_ok());
    assert!(
        document
            .extract_text(&[2])
            .unwrap()
            .contains("Restrict the path.")
    );
    let contents = format!(
        "{:?}",
        document
            .get_page_annotations(document.get_pages()[&1])
            .unwrap()
    );
    assert!(contents.contains("Link"), "{contents}");
}

#[test]
fn reports_keep_the_marks_of_every_script() {
    let name = "हिन्दी स्त्री क्षि ภาษาไทย น้ำ العَرَبِيَّة שָׁלוֹם";
    let mut found = finding(1, name, name, Risk::High, table(&[[name, "200"]]));
    found.finding.vuln_description = name.into();
    // The glyphs of a PDF are in visual order; the test of its scripts reads it.
    for format in FORMATS
        .iter()
        .filter(|format| **format != ReportFormat::Pdf)
    {
        let text = text(&data(vec![found.clone()]), format);
        assert!(
            text.contains(name) && !text.contains('◌'),
            "{format}: {text}"
        );
    }
}

#[test]
fn pdf_shows_scripts_marks_and_faces_and_keeps_their_text() {
    let name = "Zoë e\u{301} Жар Ωmega ไทย हिन्दी 😀 日本 שלום";
    let data = data(vec![finding(
        1,
        "shop.test",
        name,
        Risk::High,
        Evidence::default(),
    )]);
    let text = text(&data, &ReportFormat::Pdf);
    for words in ["Zoë", "e\u{301}", "Жар", "Ωmega", "ไทย", "😀", "日"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(
        ['ש', 'ל', 'ו', 'ם']
            .iter()
            .all(|letter| text.contains(*letter)),
        "{text}"
    );
}

#[test]
fn long_text_fills_pages_without_leaving_them() {
    let lines = "0123456789 ".repeat(1800);
    let data = data(vec![finding(
        1,
        "shop.test",
        "Long",
        Risk::Low,
        Evidence::from_value(&lines.into()),
    )]);
    let pages = pdf_pages(&file(&data, &ReportFormat::Pdf));
    let digits: usize = pages
        .iter()
        .map(|page| page.matches("0123456789").count())
        .sum();
    assert!(
        (4..12).contains(&pages.len()) && digits == 1800,
        "{} pages, {digits}",
        pages.len()
    );
}

#[test]
fn word_document_links_its_contents_and_web_addresses() {
    let bytes = file(&typical(), &ReportFormat::Docx);
    let document = crate::readback::part(&bytes, "word/document.xml");
    for at in 1..=8 {
        assert_eq!(
            document.matches(&format!("w:name=\"part{at}\"")).count(),
            1,
            "part {at}"
        );
        let page = format!(" PAGEREF part{at} \\h ");
        assert!(
            document.contains(&page),
            "the contents lack the page of {at}"
        );
    }
    for linked in document
        .split("w:anchor=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
    {
        assert!(
            document.contains(&format!("w:name=\"{linked}\"")),
            "{linked} leads nowhere"
        );
    }
    let links = crate::readback::part(&bytes, "word/_rels/document.xml.rels");
    assert!(
        links.contains("https://example.org/?a=1&amp;b=2") && !links.contains("javascript"),
        "{links}"
    );
}

/// Findings of many kinds with evidence of one to four rows and texts of one to nine lines.
fn varied() -> ReportData {
    let findings = (0..90).map(|id| {
        let rows: Vec<[String; 2]> = (0..1 + id % 4)
            .map(|row| {
                [
                    format!("GET /first-{id}-{row}"),
                    format!("answer-{id}-{row}"),
                ]
            })
            .collect();
        let rows: Vec<[&str; 2]> = rows.iter().map(|row| [&*row[0], &*row[1]]).collect();
        let mut found = finding(
            471_100 + id,
            &format!("host-{id}.example.test"),
            &format!("Kind number {id}"),
            Risk::Medium,
            table(&rows),
        );
        found.finding.vuln_id = format!("kind.{id}").as_str().into();
        let text = format!(
            "Begin{id}. {}End{id}.",
            "Words of a long text. ".repeat(1 + id as usize * 7 % 40)
        );
        found.finding.vuln_description = text.as_str().into();
        found
    });
    ReportData {
        options: ReportOptions {
            group_by: ChapterKind::Class,
            ..ReportOptions::default()
        },
        ..data(findings.collect())
    }
}

#[test]
fn pdf_pages_end_with_no_heading_and_do_not_divide_short_evidence() {
    let pages = pdf_pages(&file(&varied(), &ReportFormat::Pdf));
    let page_of = |words: &str| pages.iter().rposition(|page| page.contains(words));
    let mut is_continued = false;
    for id in 0..90 {
        let first = pages
            .iter()
            .position(|page| page.contains(&format!("Begin{id}.")))
            .unwrap();
        let heading = format!("Kind number {id}");
        assert!(pages[first].contains(&heading), "{heading} is alone");
        is_continued |= page_of(&format!("End{id}.")) != Some(first);
        let rows = 1 + id % 4;
        let of_row = |row: usize| page_of(&format!("answer-{id}-{row}"));
        for row in 1..rows {
            assert_eq!(of_row(row), of_row(0), "evidence of {id} is divided");
        }
    }
    assert!(is_continued, "no text is long enough for the test");
}

#[test]
fn ids_are_in_the_appendix_only() {
    let mut data = varied();
    data.findings.truncate(12);
    data.selection = "risk>=low".into();
    for format in pages().filter(|format| **format != ReportFormat::Xlsx) {
        let text = text(&data, format);
        let (body, appendix) = text.rsplit_once("Appendix: identifiers").unwrap();
        assert!(
            !body.contains("4711") && !body.contains("risk>"),
            "{format}"
        );
        assert!(appendix.contains("4711"), "{format}");
        data.options.appendix = false;
        assert!(!self::text(&data, format).contains("4711"), "{format}");
        data.options.appendix = true;
    }
}

#[test]
fn known_exploitation_is_shown_in_every_format() {
    let mut data = typical();
    data.findings[1].finding.in_cisa_catalog = true;
    data.findings[1].finding.epss_score = Some(0.934);
    for format in FORMATS {
        let text = text(&data, format);
        let words = match format {
            ReportFormat::Json | ReportFormat::Csv => ["in_cisa_catalog", "0.934"],
            _ => ["KEV", "93 %"],
        };
        for words in words {
            assert!(text.contains(words), "{format} lacks {words}:\n{text}");
        }
    }
}

#[test]
fn texts_of_a_template_are_in_every_page_format() {
    let template = "title = 'Test of {{ client }}'\nclient = 'Acme Ltd'\nclassification = 'Secret'\n\
        summary = '**{{ findings.high }} high** ones'\nscope = 'All hosts.'\n\
        methodology = \"1. First\\n2. Second\"\n[severities]\nhigh = 'Act now'";
    let mut data = typical();
    data.template = ReportTemplate::parse(template).unwrap();
    for format in pages().filter(|format| **format != ReportFormat::Xlsx) {
        let text = text(&data, format)
            .replace("<strong>", "")
            .replace("</strong>", "");
        for words in [
            "Test of Acme Ltd",
            "Secret",
            "1 high",
            "All hosts.",
            "Second",
            "Act now",
        ] {
            assert!(text.contains(words), "{format} lacks {words}:\n{text}");
        }
    }
    data.template.language = "de".into();
    for format in pages() {
        assert!(text(&data, format).contains("hoch"), "{format}");
    }
}

#[test]
fn png_logo_is_in_web_pages_and_word_documents() {
    let mut data = typical();
    let drawn =
        Logo::read(br#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 32"/>"#.to_vec());
    data.template.image = Some(Logo::read(drawn.unwrap().png).unwrap());
    let page = text(&data, &ReportFormat::Html);
    assert!(page.contains("src=\"data:image/png;base64,iVBOR"), "{page}");
    let document = file(&data, &ReportFormat::Docx);
    assert!(parts(&document).contains(&"word/media/logo.png".to_owned()));
    let xml = crate::readback::part(&document, "word/document.xml");
    assert!(
        xml.contains("cx=\"1800000\" cy=\"900000\""),
        "the ratio is kept"
    );
    let without = file(&typical(), &ReportFormat::Docx);
    let links = crate::readback::part(&without, "word/_rels/document.xml.rels");
    assert!(!links.contains("logo"), "{links}");
}
