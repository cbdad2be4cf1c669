//! The pages of reports with extreme contents: none is empty, and what belongs together is on one.

use super::*;

/// A report with a short line at the end of its pages.
fn paged(findings: Vec<ReportFinding>, texts: &str) -> ReportData {
    let template = format!("title = 'T'\ndate = 'D'\n{texts}");
    ReportData {
        template: ReportTemplate::parse(&template).unwrap(),
        ..data(findings)
    }
}

fn described(text: &str) -> ReportFinding {
    let mut found = finding(1, "a.test", "Old server", Risk::High, Evidence::default());
    found.finding.vuln_description = text.into();
    found
}

#[test]
fn lines_of_a_scanner_flow_on_pages_and_stay_in_data() {
    let lines = "The version of Apache httpd installed on the remote host is prior to\n2.4.52. It \
                 is affected by a flaw in the handling of some of its modules.\n\nUpdate it.";
    let data = data(vec![described(lines)]);
    for format in FORMATS {
        let text = text(&data, format);
        match format {
            ReportFormat::Json => assert!(text.contains("prior to\\n2.4.52"), "{text}"),
            ReportFormat::Csv => assert!(text.contains("prior to\n2.4.52"), "{text}"),
            ReportFormat::Html | ReportFormat::Docx => {
                assert!(text.contains("host is prior to 2.4.52. It"), "{text}");
            }
            _ => {}
        }
    }
    let page = text(&data, &ReportFormat::Html);
    assert!(page.contains("modules.<br><br>Update it."), "{page}");
}

#[test]
fn chart_has_all_risks_and_a_report_without_findings_has_none() {
    let none = "<span class=\"soft\">critical</span><span class=\"soft\">0</span><span></span>";
    let page = text(&typical(), &ReportFormat::Html);
    assert!(page.contains(none), "{page}");
    let empty = data(Vec::new());
    for (format, mark) in [
        (ReportFormat::Html, "class=\"bars\""),
        (ReportFormat::Docx, "█"),
    ] {
        assert!(text(&typical(), &format).contains(mark), "{format}");
        assert!(!text(&empty, &format).contains(mark), "{format}");
    }
    let sheets = parts(&file(&empty, &ReportFormat::Xlsx));
    assert!(!sheets.iter().any(|name| name.starts_with("xl/charts")));
}

/// The letters and digits of a page, without those of its last line.
fn content(page: &str) -> usize {
    let all = page.chars().filter(|c| c.is_alphanumeric()).count();
    all.saturating_sub("TDPage12of34".len())
}

#[test]
fn pdf_pages_of_extreme_reports_are_not_empty() {
    let of_kind = |id: i64| {
        let name = format!("Kind number {id}");
        let mut found = finding(id, "a.test", &name, Risk::Low, Evidence::default());
        found.finding.vuln_id = format!("kind.{id}").as_str().into();
        found
    };
    let bare = ReportFinding {
        finding: Finding {
            name: "Only a title".into(),
            ..Finding::default()
        },
        target: String::new(),
        tool: Tool(0),
        found_at: None,
        history: Vec::new(),
        decided: None,
    };
    let headers = "header ".repeat(2_000);
    let tall = Evidence::table(&[headers.as_str()], [vec!["cell".to_owned()]]);
    let columns: Vec<String> = (0..12).map(|at| format!("column-{at}")).collect();
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let wide = Evidence::table(&names, [columns.clone()]);
    let reports = [
        ("empty", Vec::new()),
        ("bare", vec![bare]),
        ("contents", (0..120).map(of_kind).collect()),
        ("tall", vec![finding(1, "a.test", "Tall", Risk::Low, tall)]),
        ("wide", vec![finding(1, "a.test", "Wide", Risk::Low, wide)]),
        ("long", vec![described(&"long".repeat(5_000))]),
        ("right", vec![described(&"אבטחה של השרת ".repeat(400))]),
        (
            "title",
            vec![finding(
                1,
                "a.test",
                &"Title of a finding ".repeat(21),
                Risk::High,
                Evidence::default(),
            )],
        ),
    ];
    for (name, findings) in reports {
        for group_by in [ChapterKind::Class, ChapterKind::Target] {
            let data = ReportData {
                options: by(group_by),
                ..paged(findings.clone(), "")
            };
            for (at, page) in pdf_pages(&file(&data, &ReportFormat::Pdf))
                .iter()
                .enumerate()
            {
                assert!(content(page) >= 10, "{name}, page {}: {page}", at + 1);
            }
        }
    }
}

#[test]
fn pdf_pages_have_a_part_of_evidence_of_ten_thousand_lines() {
    let lines = (0..10_000).map(|at| format!("{at}\n"));
    let evidence = Evidence::from_value(&lines.collect::<String>().into());
    let data = data(vec![finding(1, "a.test", "Long", Risk::Low, evidence)]);
    let pages = pdf_pages(&file(&data, &ReportFormat::Pdf));
    assert!(pages.len() < 16, "{}", pages.len());
    assert!(pages.concat().contains("more characters"));
}

#[test]
fn pdf_pages_keep_the_scale_of_risks_with_the_methodology() {
    for count in (1..260).step_by(13) {
        let words = "Words of a method. ".repeat(count);
        let scale =
            "critical = 'Act1'\nhigh = 'Act2'\nmedium = 'Act3'\nlow = 'Act4'\ninfo = 'Act5'";
        let template = format!("methodology = '{words}Lastwords'\n[severities]\n{scale}");
        let pages = pdf_pages(&file(&paged(Vec::new(), &template), &ReportFormat::Pdf));
        let page = pages.iter().find(|page| page.contains("Act1")).unwrap();
        assert!(page.contains("Lastwords"), "{count}: {page}");
        assert!(page.contains("Act5"), "{count}: {page}");
    }
}

#[test]
fn title_of_four_hundred_characters_is_short_where_there_is_no_room() {
    let title = "Penetration test of the shop ".repeat(14);
    let mut data = typical();
    data.template.title = title.trim().to_owned();
    let page = text(&data, &ReportFormat::Html);
    let (_, footer) = page.rsplit_once("<footer").unwrap();
    assert!(footer.contains("… · 2026-11-21"), "{footer}");
    let heading = format!("<h1>{}</h1>", title.trim());
    assert!(page.contains(&heading), "{page}");
}
