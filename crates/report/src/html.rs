//! The HTML report: one self-contained page without scripts, written block by block: a page of
//! 20,000 findings is never in memory.

use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::flow::{Block, ContentsLine, FlowLimits, Heading, TableBlock, walk};
use super::logo::Logo;
use super::markdown::{RichBlock, RichKind};
use super::view::{Fact, ProofLimit, SummaryRow, View, counted};
use super::words::Words;
use super::{Document, RenderError, ReportOutput};
use scandeck_wire::contract::Risk;

/// Most rows of a table that a printer puts on one page.
const KEPT_ROWS: usize = 6;
const STYLE: &str = include_str!("../assets/reports/report.css");

pub(super) fn render(
    document: &Document<'_>,
    out: &mut dyn ReportOutput,
) -> Result<(), RenderError> {
    let view = View::new(document)?;
    write!(
        out,
        "<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        document.words.language,
        escaped(&view.title),
    )?;
    let mut page = HtmlPage {
        words: &document.words,
        html: String::new(),
    };
    let limits = FlowLimits {
        in_full: usize::MAX,
        proof: ProofLimit::ALL,
    };
    walk(&view, limits, &mut |block| {
        page.block(&block);
        out.write_all(page.html.as_bytes())?;
        page.html.clear();
        Ok(())
    })?;
    writeln!(
        out,
        "<footer class=\"small\">{}</footer>\n</body>\n</html>",
        escaped(&view.footer())
    )?;
    Ok(())
}

/// The HTML of the current block.
struct HtmlPage<'a> {
    words: &'a Words,
    html: String,
}

impl HtmlPage<'_> {
    fn block(&mut self, block: &Block<'_>) {
        match block {
            Block::Logo(logo) => self.logo(logo),
            Block::Title(text) => self.element("h1", "", text),
            Block::Heading {
                heading,
                is_new_page,
            } => self.heading(heading, *is_new_page),
            Block::Facts(facts) => self.facts(facts),
            Block::Paragraph { label, text } => {
                self.html.push_str("<p>");
                if !label.is_empty() {
                    let _ = write!(self.html, "<strong>{}.</strong> ", escaped(label));
                }
                self.html.push_str(&escaped(text).replace('\n', "<br>"));
                self.html.push_str("</p>\n");
            }
            Block::Rich(blocks) => blocks.iter().for_each(|block| self.rich(block)),
            Block::Remark(text) => self.element("p", "small", text),
            Block::Verbatim(text) => self.element("pre", "", text),
            Block::Table(table) => self.table(table),
            Block::Chart(rows) => self.chart(rows),
            Block::Contents(lines) => self.contents(lines),
            Block::References { links, others } => self.references(links, others),
        }
    }

    fn element(&mut self, name: &str, class: &str, text: &str) {
        let class = match class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        let _ = writeln!(self.html, "<{name}{class}>{}</{name}>", escaped(text));
    }

    fn logo(&mut self, logo: &Logo) {
        let kind = if logo.is_svg { "svg+xml" } else { "png" };
        let _ = writeln!(
            self.html,
            "<img class=\"logo\" alt=\"\" src=\"data:image/{kind};base64,{}\">",
            STANDARD.encode(&logo.bytes)
        );
    }

    fn badge(&mut self, risk: Risk) {
        let name = escaped(self.words.risk(risk));
        let _ = write!(self.html, "<span class=\"risk {risk}\">{name}</span>");
    }

    fn heading(&mut self, heading: &Heading<'_>, is_new_page: bool) {
        let name = if heading.level == 1 { "h2" } else { "h3" };
        let _ = write!(self.html, "<{name}");
        if heading.anchor > 0 {
            let _ = write!(self.html, " id=\"part{}\"", heading.anchor);
        }
        if is_new_page {
            self.html.push_str(" class=\"page\"");
        }
        self.html.push('>');
        if let Some(risk) = heading.risk {
            self.badge(risk);
        }
        if !heading.number.is_empty() {
            let _ = write!(self.html, "<span class=\"soft\">{}</span> ", heading.number);
        }
        let _ = writeln!(self.html, "{}</{name}>", escaped(heading.text));
    }

    fn facts(&mut self, facts: &[Fact]) {
        self.html.push_str("<dl>");
        for fact in facts {
            let value = escaped(&fact.value);
            let value = match fact.is_strong {
                true => format!("<strong>{value}</strong>"),
                false => value,
            };
            let _ = write!(self.html, "<dt>{}</dt><dd>{value}", escaped(&fact.label));
            if !fact.aside.is_empty() {
                let _ = write!(
                    self.html,
                    " <span class=\"soft\">{}</span>",
                    escaped(&fact.aside)
                );
            }
            self.html.push_str("</dd>");
        }
        self.html.push_str("</dl>\n");
    }

    fn rich(&mut self, block: &RichBlock) {
        let (open, close) = match &block.kind {
            RichKind::Heading => ("<h3>".to_owned(), "</h3>"),
            RichKind::Paragraph => ("<p>".to_owned(), "</p>"),
            RichKind::Item(mark) => (
                format!(
                    "<p class=\"item\"><span class=\"mark\">{}</span>",
                    escaped(mark)
                ),
                "</p>",
            ),
        };
        self.html.push_str(&open);
        for span in &block.spans {
            let mut text = escaped(&span.text);
            if span.is_code {
                text = format!("<code>{text}</code>");
            }
            if span.is_bold {
                text = format!("<strong>{text}</strong>");
            }
            if !span.link.is_empty() {
                text = link(&span.link, &text);
            }
            self.html.push_str(&text);
        }
        self.html.push_str(close);
        self.html.push('\n');
    }

    fn table(&mut self, table: &TableBlock<'_>) {
        let font = if table.is_verbatim { "verbatim" } else { "" };
        let is_short = table.rows.len() <= KEPT_ROWS;
        let length = if is_short { " short" } else { "" };
        let _ = write!(
            self.html,
            "<div class=\"wide\"><table class=\"{font}{length}\"><colgroup>"
        );
        for width in table.widths {
            let _ = write!(self.html, "<col style=\"width:{width:.1}%\">");
        }
        self.html.push_str("</colgroup>");
        if table.headers.iter().any(|header| !header.is_empty()) {
            self.html.push_str("<thead><tr>");
            for header in table.headers {
                let _ = write!(self.html, "<th scope=\"col\">{}</th>", escaped(header));
            }
            self.html.push_str("</tr></thead>");
        }
        self.html.push_str("<tbody>");
        for (at, row) in table.rows.iter().enumerate() {
            self.html.push_str("<tr>");
            for (column, cell) in row.iter().enumerate() {
                self.html.push_str("<td>");
                match table.risk_at(at, column) {
                    Some(risk) => {
                        let _ = write!(
                            self.html,
                            "<strong class=\"on-{risk}\">{}</strong>",
                            escaped(cell)
                        );
                    }
                    None => self.html.push_str(&escaped(cell)),
                }
                self.html.push_str("</td>");
            }
            self.html.push_str("</tr>\n");
        }
        self.html.push_str("</tbody></table></div>\n");
    }

    fn chart(&mut self, rows: &[SummaryRow]) {
        let most = rows.iter().flat_map(|row| row.counts).max().unwrap_or(0);
        for row in rows {
            let label = escaped(&counted(&row.counts, self.words));
            let _ = write!(
                self.html,
                "<p><strong>{}</strong> <span class=\"soft\">{}</span></p>\n<div class=\"bars\" role=\"img\" aria-label=\"{label}\">",
                escaped(&row.label),
                row.total(),
            );
            for (risk, count) in Risk::DOWN.into_iter().zip(row.counts) {
                let name = escaped(self.words.risk(risk));
                let share = count * 100 / most.max(1);
                let _ = match count {
                    0 => write!(
                        self.html,
                        "<span class=\"soft\">{name}</span><span class=\"soft\">0</span><span></span>"
                    ),
                    _ => write!(
                        self.html,
                        "<span>{name}</span><span>{count}</span><span class=\"bar {risk}\" style=\"width:{share}%\"></span>"
                    ),
                };
            }
            self.html.push_str("</div>\n");
        }
    }

    fn contents(&mut self, lines: &[ContentsLine]) {
        self.html.push_str("<nav><ul class=\"contents\">");
        for line in lines {
            let text = escaped(&line.text);
            let _ = write!(
                self.html,
                "<li><span class=\"number\">{}</span>",
                line.number
            );
            let _ = match line.anchor {
                0 => write!(self.html, "{text}"),
                anchor => write!(self.html, "<a href=\"#part{anchor}\">{text}</a>"),
            };
            if !line.aside.is_empty() {
                let aside = escaped(&line.aside);
                let _ = write!(self.html, " <span class=\"soft\">{aside}</span>");
            }
            self.html.push_str("</li>");
        }
        self.html.push_str("</ul></nav>\n");
    }

    fn references(&mut self, links: &[String], others: &[String]) {
        let name = escaped(self.words.get("text.references"));
        let _ = write!(self.html, "<p class=\"small\">{name}:");
        for address in links {
            let _ = write!(self.html, " {}", link(address, &escaped(address)));
        }
        for other in others {
            let _ = write!(self.html, " {}", escaped(other));
        }
        self.html.push_str("</p>\n");
    }
}

/// A link to a web address, which has been checked to be one; `text` is HTML.
fn link(address: &str, text: &str) -> String {
    let address = escaped(address);
    format!("<a href=\"{address}\" rel=\"noreferrer\">{text}</a>")
}

/// Text for elements and attributes. The view is free of control characters already.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
