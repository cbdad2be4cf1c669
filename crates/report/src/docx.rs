//! The Word report: WordprocessingML, written block by block into the archive, so that its memory
//! does not grow with the number of findings.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;

use jiff::tz::TimeZone;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::flow::{Block, ContentsLine, FlowLimits, Heading, TableBlock, walk};
use super::logo::Logo;
use super::markdown::{RichBlock, RichKind};
use super::view::{Fact, ProofLimit, SummaryRow, View};
use super::words::Words;
use super::{Document, RenderError, ReportOutput, risk_color};
use scandeck_wire::contract::Risk;

/// Width of the text in twentieths of a point: A4 with margins of 2 cm.
const WIDTH: f32 = 9638.0;
/// Most links; more are plain text. Word refuses files with far more relationships.
const LINKS: usize = 10_000;
/// Blocks of the longest bar of the chart.
const BAR: usize = 28;

/// A paragraph on the page of the next one.
const KEEP: &str = "<w:keepNext/>";
/// A row that is not divided between two pages.
const WHOLE_ROW: &str = "<w:tr><w:trPr><w:cantSplit/></w:trPr>";
/// Longest cell of such a row.
const KEPT_LINES: usize = 20;
const KEPT_CHARACTERS: usize = 1_500;
/// The colour of text of less weight.
const SOFT: &str = r#"<w:color w:val="5B6472"/>"#;
const CODE: &str = r#"<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Consolas"/>"#;

const NAMESPACES: &str = r#"xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships""#;
/// Rows of a table that stay on one page; of longer ones the first two do.
const KEPT_ROWS: usize = 6;
/// Largest width and height of the logo in English Metric Units.
const LOGO: (f64, f64) = (2_160_000.0, 900_000.0);
/// Largest size of its pixels.
const PIXEL: f64 = 9_525.0;

const FOOTER: &str = include_str!("../assets/reports/docx/footer.xml");
const PARTS: [(&str, &str); 5] = [
    (
        "[Content_Types].xml",
        include_str!("../assets/reports/docx/content_types.xml"),
    ),
    (
        "_rels/.rels",
        include_str!("../assets/reports/docx/rels.xml"),
    ),
    (
        "docProps/app.xml",
        include_str!("../assets/reports/docx/app.xml"),
    ),
    (
        "word/settings.xml",
        include_str!("../assets/reports/docx/settings.xml"),
    ),
    (
        "word/styles.xml",
        include_str!("../assets/reports/docx/styles.xml"),
    ),
];

pub(super) fn render(
    document: &Document<'_>,
    out: &mut dyn ReportOutput,
) -> Result<(), RenderError> {
    let view = View::new(document)?;
    let mut zip = ZipWriter::new(out);
    // Equal data gives equal bytes.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    for (name, part) in PARTS {
        zip.start_file(name, options)?;
        zip.write_all(part.as_bytes())?;
    }
    zip.start_file("word/footer1.xml", options)?;
    zip.write_all(footer(&view).as_bytes())?;
    let logo = view.template.image.as_ref();
    let has_logo = logo.is_some();
    if let Some(logo) = logo {
        zip.start_file("word/media/logo.png", options)?;
        zip.write_all(&logo.png)?;
    }
    zip.start_file("docProps/core.xml", options)?;
    zip.write_all(properties(&view).as_bytes())?;

    zip.start_file("word/document.xml", options)?;
    write!(
        zip,
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document {NAMESPACES}><w:body>"#
    )?;
    let mut page = Page {
        xml: String::new(),
        links: HashMap::new(),
        words: view.words(),
    };
    let limits = FlowLimits {
        in_full: usize::MAX,
        proof: ProofLimit::PAGES,
    };
    walk(&view, limits, &mut |block| -> Result<(), RenderError> {
        page.block(&block);
        zip.write_all(page.xml.as_bytes())?;
        page.xml.clear();
        Ok(())
    })?;
    write!(
        zip,
        r#"<w:sectPr><w:footerReference w:type="default" r:id="rId1"/><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1134" w:right="1134" w:bottom="1134" w:left="1134" w:header="567" w:footer="567" w:gutter="0"/></w:sectPr></w:body></w:document>"#
    )?;
    zip.start_file("word/_rels/document.xml.rels", options)?;
    zip.write_all(relationships(&page.links, has_logo).as_bytes())?;
    zip.finish()?;
    Ok(())
}

/// The name of the document, and the number of the page between the words of the language.
fn footer(view: &View<'_>) -> String {
    let page = view
        .words()
        .filled("text.page_of", &["<page/>", "<pages/>"]);
    let (before, rest) = page.split_once("<page/>").unwrap_or((&page, ""));
    let (between, after) = rest.split_once("<pages/>").unwrap_or((rest, ""));
    let mut xml = FOOTER.to_owned();
    for (mark, text) in [
        ("@document@", &*view.footer()),
        ("@before@", before),
        ("@between@", between),
        ("@after@", after),
    ] {
        xml = xml.replacen(mark, &escaped(text), 1);
    }
    xml
}

fn keep(label: &str) -> &'static str {
    if label.is_empty() { "" } else { KEEP }
}

fn properties(view: &View<'_>) -> String {
    let at = view
        .generated()
        .0
        .to_zoned(TimeZone::UTC)
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string();
    format!(
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><dc:title>{}</dc:title><dc:creator>{}</dc:creator><dcterms:created xsi:type="dcterms:W3CDTF">{at}</dcterms:created></cp:coreProperties>"#,
        escaped(&view.title),
        escaped(match view.template.author.trim() {
            "" => "scandeck",
            author => author,
        })
    )
}

fn relationships(links: &HashMap<String, usize>, has_logo: bool) -> String {
    let base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let mut xml = format!(
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="{base}/footer" Target="footer1.xml"/><Relationship Id="rId2" Type="{base}/styles" Target="styles.xml"/><Relationship Id="rId3" Type="{base}/settings" Target="settings.xml"/>"#
    );
    if has_logo {
        let _ = write!(
            xml,
            r#"<Relationship Id="rId4" Type="{base}/image" Target="media/logo.png"/>"#
        );
    }
    let mut links: Vec<(&String, &usize)> = links.iter().collect();
    links.sort_by_key(|(_, id)| **id);
    for (link, id) in links {
        let link = escaped(link);
        let _ = write!(
            xml,
            r#"<Relationship Id="rId{id}" Type="{base}/hyperlink" Target="{link}" TargetMode="External"/>"#
        );
    }
    xml + "</Relationships>"
}

/// The XML of the current block, and the links of all blocks.
struct Page<'a> {
    xml: String,
    links: HashMap<String, usize>,
    words: &'a Words,
}

impl Page<'_> {
    fn block(&mut self, block: &Block<'_>) {
        match block {
            Block::Logo(logo) => self.logo(logo),
            Block::Title(text) => self.paragraph("Title", "", |page| page.text(text, "")),
            Block::Heading {
                heading,
                is_new_page,
            } => self.heading(heading, *is_new_page),
            Block::Facts(facts) => self.facts(facts),
            // What follows a recommendation is on its page, as its references.
            Block::Paragraph { label, text } => self.paragraph("", keep(label), |page| {
                if !label.is_empty() {
                    page.text(&format!("{label}. "), "<w:b/>");
                }
                page.text(text, "");
            }),
            Block::Rich(blocks) => self.rich_blocks(blocks),
            Block::Remark(text) => self.paragraph("Remark", "", |page| page.text(text, "")),
            Block::Verbatim(text) => self.paragraph("Verbatim", "", |page| page.text(text, "")),
            Block::Table(table) => self.table(table),
            Block::Chart(rows) => self.chart(rows),
            Block::Contents(lines) => lines.iter().for_each(|line| self.contents_line(line)),
            Block::References { links, others } => self.references(links, others),
        }
    }

    fn paragraph(&mut self, style: &str, properties: &str, content: impl FnOnce(&mut Self)) {
        self.xml.push_str("<w:p>");
        if !style.is_empty() || !properties.is_empty() {
            let style = if style.is_empty() {
                String::new()
            } else {
                format!(r#"<w:pStyle w:val="{style}"/>"#)
            };
            let _ = write!(self.xml, "<w:pPr>{style}{properties}</w:pPr>");
        }
        content(self);
        self.xml.push_str("</w:p>");
    }

    /// A run; line feeds become line breaks.
    fn text(&mut self, text: &str, properties: &str) {
        for (at, line) in text.split('\n').enumerate() {
            self.xml.push_str("<w:r>");
            if !properties.is_empty() {
                let _ = write!(self.xml, "<w:rPr>{properties}</w:rPr>");
            }
            if at > 0 {
                self.xml.push_str("<w:br/>");
            }
            let _ = write!(
                self.xml,
                r#"<w:t xml:space="preserve">{}</w:t></w:r>"#,
                escaped(line)
            );
        }
    }

    fn heading(&mut self, heading: &Heading<'_>, is_new_page: bool) {
        let style = format!("Heading{}", heading.level);
        let properties = if is_new_page {
            "<w:pageBreakBefore/>"
        } else {
            ""
        };
        self.paragraph(&style, properties, |page| {
            let anchor = heading.anchor;
            if anchor > 0 {
                let _ = write!(
                    page.xml,
                    r#"<w:bookmarkStart w:id="{anchor}" w:name="part{anchor}"/>"#
                );
            }
            if let Some(risk) = heading.risk {
                page.badge(risk);
                page.text("  ", "");
            }
            if !heading.number.is_empty() {
                page.text(&format!("{}  ", heading.number), SOFT);
            }
            page.text(heading.text, "");
            if anchor > 0 {
                let _ = write!(page.xml, r#"<w:bookmarkEnd w:id="{anchor}"/>"#);
            }
        });
    }

    fn logo(&mut self, logo: &Logo) {
        let (width, height) = logo.fitted(LOGO, PIXEL);
        let (width, height) = (width as i64, height as i64);
        let size = format!(r#"cx="{width}" cy="{height}""#);
        self.paragraph("", "", |page| {
            let _ = write!(
                page.xml,
                r#"<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent {size}/><wp:docPr id="1" name="Logo" descr=""/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:nvPicPr><pic:cNvPr id="1" name="logo.png"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="rId4"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext {size}/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"#
            );
        });
    }

    /// The last block is on the page of what follows the text.
    fn rich_blocks(&mut self, blocks: &[RichBlock]) {
        let last = blocks.len().saturating_sub(1);
        for (at, block) in blocks.iter().enumerate() {
            self.rich(block, if at == last { KEEP } else { "" });
        }
    }

    fn rich(&mut self, block: &RichBlock, keep: &str) {
        let (style, mark) = match &block.kind {
            RichKind::Heading => ("Heading2", ""),
            RichKind::Paragraph => ("", ""),
            RichKind::Item(mark) => ("Item", mark.as_str()),
        };
        self.paragraph(style, keep, |page| {
            if !mark.is_empty() {
                page.text(mark, "");
                page.xml.push_str("<w:r><w:tab/></w:r>");
            }
            for span in &block.spans {
                match (span.link.is_empty(), span.is_code, span.is_bold) {
                    (false, ..) => page.link_as(&span.link, &span.text),
                    (_, true, _) => page.text(&span.text, CODE),
                    (_, _, true) => page.text(&span.text, "<w:b/>"),
                    _ => page.text(&span.text, ""),
                }
            }
        });
    }

    fn badge(&mut self, risk: Risk) {
        let color = hex(risk);
        let properties = format!(
            r#"<w:b/><w:color w:val="FFFFFF"/><w:sz w:val="18"/><w:shd w:val="clear" w:color="auto" w:fill="{color}"/>"#
        );
        let name = self.words.risk(risk).to_uppercase();
        self.text(&format!(" {name} "), &properties);
    }

    /// A line for each fact, on the page of what follows.
    fn facts(&mut self, facts: &[Fact]) {
        for fact in facts {
            self.paragraph("Fact", KEEP, |page| {
                page.text(&fact.label, SOFT);
                page.xml.push_str("<w:r><w:tab/></w:r>");
                page.text(&fact.value, if fact.is_strong { "<w:b/>" } else { "" });
                if !fact.aside.is_empty() {
                    page.text(&format!("  {}", fact.aside), SOFT);
                }
            });
        }
        self.paragraph("Gap", KEEP, |_| {});
    }

    fn open_table(&mut self, style: &str, widths: &[f32]) {
        let style = if style.is_empty() {
            String::new()
        } else {
            format!(r#"<w:tblStyle w:val="{style}"/>"#)
        };
        let _ = write!(
            self.xml,
            r#"<w:tbl><w:tblPr>{style}<w:tblW w:w="{WIDTH}" w:type="dxa"/><w:tblLayout w:type="fixed"/></w:tblPr><w:tblGrid>"#
        );
        for width in widths {
            let _ = write!(self.xml, r#"<w:gridCol w:w="{}"/>"#, twips(*width));
        }
        self.xml.push_str("</w:tblGrid>");
    }

    /// Word needs a paragraph between two tables.
    fn close_table(&mut self) {
        self.xml.push_str("</w:tbl>");
        self.paragraph("Gap", "", |_| {});
    }

    fn cell(&mut self, width: f32, fill: &str, content: impl FnOnce(&mut Self)) {
        let fill = if fill.is_empty() {
            String::new()
        } else {
            format!(r#"<w:shd w:val="clear" w:color="auto" w:fill="{fill}"/>"#)
        };
        let _ = write!(
            self.xml,
            r#"<w:tc><w:tcPr><w:tcW w:w="{}" w:type="dxa"/>{fill}</w:tcPr>"#,
            twips(width)
        );
        content(self);
        self.xml.push_str("</w:tc>");
    }

    fn table(&mut self, table: &TableBlock<'_>) {
        self.open_table("Lines", table.widths);
        if table.headers.iter().any(|header| !header.is_empty()) {
            self.xml
                .push_str("<w:tr><w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>");
            self.row(
                table.headers,
                table.widths,
                ("Cell", KEEP),
                "EEF0F3",
                |_| "<w:b/>".to_owned(),
            );
        }
        let style = if table.is_verbatim {
            "VerbatimCell"
        } else {
            "Cell"
        };
        let last = table.rows.len().saturating_sub(1);
        for (at, row) in table.rows.iter().enumerate() {
            let is_kept = at < last && (at == 0 || last < KEPT_ROWS);
            let lines = row.iter().map(|cell| cell.lines().count()).max();
            let is_short = lines.unwrap_or(0) <= KEPT_LINES
                && row.iter().all(|cell| cell.len() < KEPT_CHARACTERS);
            self.xml
                .push_str(if is_short { WHOLE_ROW } else { "<w:tr>" });
            let keep = if is_kept && is_short { KEEP } else { "" };
            self.row(row, table.widths, (style, keep), "", |column| {
                let risk = table.risk_at(at, column);
                risk.map(|risk| format!(r#"<w:b/><w:color w:val="{}"/>"#, hex(risk)))
                    .unwrap_or_default()
            });
        }
        self.close_table();
    }

    fn row(
        &mut self,
        cells: &[String],
        widths: &[f32],
        (style, paragraph): (&str, &str),
        fill: &str,
        properties: impl Fn(usize) -> String,
    ) {
        for (at, width) in widths.iter().enumerate() {
            let text = cells.get(at).map_or("", String::as_str);
            let properties = properties(at);
            self.cell(*width, fill, |page| {
                page.paragraph(style, paragraph, |page| page.text(text, &properties))
            });
        }
        self.xml.push_str("</w:tr>");
    }

    /// Bars of block characters: every reader draws them, and they are text.
    fn chart(&mut self, rows: &[SummaryRow]) {
        let most = rows
            .iter()
            .flat_map(|row| row.counts)
            .max()
            .unwrap_or(0)
            .max(1);
        let widths = [20.0, 12.0, 8.0, 60.0];
        self.open_table("", &widths);
        let words = self.words;
        for row in rows {
            for (at, (risk, count)) in Risk::DOWN.into_iter().zip(row.counts).enumerate() {
                let label = if at == 0 {
                    format!("{} {}", row.label, row.total())
                } else {
                    String::new()
                };
                let blocks = if count == 0 {
                    0
                } else {
                    (count * BAR / most).max(1)
                };
                let bar = format!(r#"<w:color w:val="{}"/>"#, hex(risk));
                let ink = if count == 0 { SOFT } else { "" };
                let cells = [
                    (label, "<w:b/>"),
                    (words.risk(risk).to_owned(), ink),
                    (count.to_string(), ink),
                    ("█".repeat(blocks), &bar),
                ];
                self.xml.push_str(WHOLE_ROW);
                for ((text, properties), width) in cells.into_iter().zip(widths) {
                    self.cell(width, "", |page| {
                        page.paragraph("Cell", KEEP, |page| page.text(&text, properties))
                    });
                }
                self.xml.push_str("</w:tr>");
            }
        }
        self.close_table();
    }

    fn contents_line(&mut self, line: &ContentsLine) {
        self.paragraph("Contents", "", |page| {
            let text = format!("{} {}", line.number, line.text);
            if line.anchor > 0 {
                let _ = write!(page.xml, r#"<w:hyperlink w:anchor="part{}">"#, line.anchor);
                page.text(text.trim(), r#"<w:color w:val="1F4E79"/>"#);
                page.xml.push_str("</w:hyperlink>");
            } else {
                page.text(text.trim(), "");
            }
            if !line.aside.is_empty() {
                page.text(&format!("  {}", line.aside), SOFT);
            }
            if line.anchor > 0 {
                page.page_of(line.anchor);
            }
        });
    }

    /// The page of a heading, after a tab: a field that the reader computes when it opens the file.
    fn page_of(&mut self, anchor: usize) {
        let _ = write!(
            self.xml,
            r#"<w:r><w:tab/></w:r><w:r><w:fldChar w:fldCharType="begin" w:dirty="true"/></w:r><w:r><w:instrText xml:space="preserve"> PAGEREF part{anchor} \h </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t></w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>"#
        );
    }

    fn references(&mut self, links: &[String], others: &[String]) {
        self.paragraph("Remark", "", |page| {
            let name = page.words.get("text.references");
            page.text(&format!("{name}:"), "");
            for link in links {
                page.text(" ", "");
                page.link(link);
            }
            for other in others {
                page.text(&format!(" {other}"), "");
            }
        });
    }

    fn link(&mut self, link: &str) {
        self.link_as(link, link);
    }

    fn link_as(&mut self, link: &str, text: &str) {
        let id = match self.links.get(link) {
            Some(id) => *id,
            // Word refuses targets that are no URI.
            None if self.links.len() < LINKS && url::Url::parse(link).is_ok() => {
                // The first four relationships are the parts of the document.
                let id = self.links.len() + 5;
                self.links.insert(link.to_owned(), id);
                id
            }
            None => return self.text(text, ""),
        };
        let _ = write!(self.xml, r#"<w:hyperlink r:id="rId{id}">"#);
        self.text(text, r#"<w:color w:val="1F4E79"/>"#);
        self.xml.push_str("</w:hyperlink>");
    }
}

fn twips(percent: f32) -> i32 {
    (WIDTH * percent / 100.0) as i32
}

fn hex(risk: Risk) -> String {
    let [red, green, blue] = risk_color(risk);
    format!("{red:02X}{green:02X}{blue:02X}")
}

/// Text for XML. The view is free of control characters already.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
