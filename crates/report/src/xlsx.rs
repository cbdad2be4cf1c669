//! The spreadsheet: a sheet for each chapter of the report. Tables have filters and a header row
//! that stays in view.
//!
//! ```text
//!   Summary (cover, chart, contents) · Findings (a row each) · Evidence (a row per row) · Recommendations · Scans
//! ```
//!
//! A sheet per target would make the filters useless. Every text is written as a string, never as a
//! formula.

use rust_xlsxwriter::{
    Chart, ChartFormat, ChartPoint, ChartSolidFill, Color, DocProperties, ExcelDateTime, Format,
    FormatAlign, Workbook, Worksheet,
};

use super::csv::{COLUMNS, DECISION_COLUMNS, FindingColumn};
use super::spreadsheet::{require_room, within_cell};
use super::view::{Proof, ProofLimit, View};
use super::{Document, RenderError, ReportOutput, risk_color};
use scandeck_wire::contract::Risk;
use scandeck_wire::text;

/// Most cells of an evidence row; the others are joined in the last one.
const CELLS: usize = 12;

pub(super) fn render(
    document: &Document<'_>,
    out: &mut dyn ReportOutput,
) -> Result<(), RenderError> {
    let view = View::new(document)?;
    let mut book = Workbook::new();
    let at = view.generated().as_second();
    let mut properties = DocProperties::new()
        .set_title(within_cell(&view.title))
        .set_author("scandeck");
    if let Ok(created) = ExcelDateTime::from_timestamp(at) {
        // Equal data gives equal bytes.
        properties = properties.set_creation_datetime(&created);
    }
    book.set_properties(&properties);
    let formats = Formats::new();
    summary(book.add_worksheet(), &formats, &view)?;
    findings(book.add_worksheet(), &formats, &view)?;
    evidence(book.add_worksheet(), &formats, &view)?;
    if !view.recommendations.is_empty() {
        recommendations(book.add_worksheet(), &formats, &view)?;
    }
    if view.scans().len() > 0 {
        let mut table = SheetTable::new(
            book.add_worksheet(),
            &formats,
            "Scans",
            &[8, 20, 32, 14, 20, 20, 8, 60],
        )?;
        table.headers(view.scan_headers().into_iter())?;
        for scan in view.scans() {
            table.row(scan.iter().map(String::as_str).map(Cell::of_text))?;
        }
        table.finish()?;
    }
    book.save_to_writer(out)?;
    Ok(())
}

struct Formats {
    title: Format,
    header: Format,
    label: Format,
    text: Format,
    wrapped: Format,
    risks: [Format; 5],
}

impl Formats {
    fn new() -> Self {
        let top = || Format::new().set_align(FormatAlign::Top);
        Self {
            title: Format::new().set_bold().set_font_size(18),
            header: top()
                .set_bold()
                .set_background_color(Color::RGB(0x00EE_F0F3)),
            label: top().set_font_color(Color::RGB(0x005B_6472)),
            text: top(),
            wrapped: top().set_text_wrap(),
            risks: Risk::DOWN.map(|risk| top().set_bold().set_font_color(color(risk))),
        }
    }

    fn risk(&self, risk: Risk) -> &Format {
        &self.risks[4 - risk.level() as usize]
    }
}

fn color(risk: Risk) -> Color {
    let [red, green, blue] = risk_color(risk).map(u32::from);
    Color::RGB(red << 16 | green << 8 | blue)
}

/// A value of a table.
enum Cell<'a> {
    Text(&'a str),
    Number(f64),
    Risk(Risk),
}

impl<'a> Cell<'a> {
    fn of_text(text: &'a str) -> Self {
        Self::Text(text)
    }

    fn of_count(count: usize) -> Self {
        Self::Number(count as f64)
    }
}

struct SheetTable<'a> {
    sheet: &'a mut Worksheet,
    formats: &'a Formats,
    next: u32,
    columns: u16,
}

impl<'a> SheetTable<'a> {
    fn new(
        sheet: &'a mut Worksheet,
        formats: &'a Formats,
        name: &str,
        widths: &[u16],
    ) -> Result<Self, RenderError> {
        sheet
            .set_name(name)?
            .set_landscape()
            .set_print_fit_to_pages(1, 0);
        for (column, width) in (0..).zip(widths) {
            sheet.set_column_width(column, f64::from(*width))?;
        }
        Ok(Self {
            sheet,
            formats,
            next: 1,
            columns: 0,
        })
    }

    fn headers<'b>(&mut self, headers: impl Iterator<Item = &'b str>) -> Result<(), RenderError> {
        for header in headers {
            self.sheet
                .write_string_with_format(0, self.columns, header, &self.formats.header)?;
            self.columns += 1;
        }
        self.sheet.set_freeze_panes(1, 0)?.set_repeat_rows(0, 0)?;
        Ok(())
    }

    fn row<'b>(&mut self, cells: impl Iterator<Item = Cell<'b>>) -> Result<(), RenderError> {
        require_room(self.next as usize)?;
        for (column, cell) in (0..).zip(cells) {
            match cell {
                Cell::Text("") => {}
                Cell::Text(text) => {
                    self.sheet.write_string_with_format(
                        self.next,
                        column,
                        within_cell(text),
                        &self.formats.text,
                    )?;
                }
                Cell::Number(number) => {
                    self.sheet.write_number_with_format(
                        self.next,
                        column,
                        number,
                        &self.formats.text,
                    )?;
                }
                Cell::Risk(risk) => {
                    self.sheet.write_string_with_format(
                        self.next,
                        column,
                        risk.as_str(),
                        self.formats.risk(risk),
                    )?;
                }
            }
        }
        self.next += 1;
        Ok(())
    }

    fn finish(self) -> Result<(), RenderError> {
        if self.columns > 0 {
            self.sheet
                .autofilter(0, 0, self.next.saturating_sub(1).max(1), self.columns - 1)?;
        }
        Ok(())
    }
}

fn summary(sheet: &mut Worksheet, formats: &Formats, view: &View<'_>) -> Result<(), RenderError> {
    sheet.set_name("Summary")?.set_print_fit_to_pages(1, 0);
    sheet
        .set_column_width(0, 18.0)?
        .set_column_width(1, 52.0)?
        .set_column_range_width(2, 7, 11.0)?;
    sheet.write_string_with_format(0, 0, within_cell(&view.title), &formats.title)?;
    let after_facts = write_facts(sheet, formats, view, 2)?;
    let risks = after_facts + 1;
    let after_risks = write_risks(sheet, formats, view, risks)?;
    if view.has_chart() {
        sheet.insert_chart(1, 4, &chart(view, risks))?;
    }
    write_chapters(sheet, formats, view, after_risks + 1)
}

/// Writes the facts from a row on; returns the row after them.
fn write_facts(
    sheet: &mut Worksheet,
    formats: &Formats,
    view: &View<'_>,
    first: u32,
) -> Result<u32, RenderError> {
    let mut row = first;
    for fact in view.cover.iter().chain(&view.settled) {
        let value = if fact.aside.is_empty() {
            fact.value.clone()
        } else {
            format!("{}: {}", fact.value, fact.aside)
        };
        sheet.write_string_with_format(row, 0, &*fact.label, &formats.label)?;
        sheet.write_string_with_format(row, 1, within_cell(&value), &formats.wrapped)?;
        row += 1;
    }
    Ok(row)
}

/// Writes the findings of each risk from a row on; returns the row after them.
fn write_risks(
    sheet: &mut Worksheet,
    formats: &Formats,
    view: &View<'_>,
    first: u32,
) -> Result<u32, RenderError> {
    sheet.write_string_with_format(first, 0, "Risk", &formats.header)?;
    sheet.write_string_with_format(first, 1, "", &formats.header)?;
    for (column, series) in (2..).zip(&view.summary) {
        sheet.write_string_with_format(first, column, &*series.label, &formats.header)?;
    }
    let mut row = first + 1;
    for (position, risk) in Risk::DOWN.into_iter().enumerate() {
        sheet.write_string_with_format(row, 0, risk.as_str(), formats.risk(risk))?;
        for (column, series) in (2..).zip(&view.summary) {
            let count = series.counts[position] as f64;
            sheet.write_number_with_format(row, column, count, &formats.text)?;
        }
        row += 1;
    }
    Ok(row)
}

/// Writes the chapters with their findings from a row on.
fn write_chapters(
    sheet: &mut Worksheet,
    formats: &Formats,
    view: &View<'_>,
    first: u32,
) -> Result<(), RenderError> {
    let headers = [
        "No",
        view.chapter_noun(),
        "Critical",
        "High",
        "Medium",
        "Low",
        "Info",
        "Total",
    ];
    for (column, header) in (0..).zip(headers) {
        sheet.write_string_with_format(first, column, header, &formats.header)?;
    }
    let mut row = first;
    for chapter in &view.contents {
        row += 1;
        require_room(row as usize)?;
        sheet.write_number_with_format(row, 0, chapter.number as f64, &formats.text)?;
        sheet.write_string_with_format(row, 1, within_cell(&chapter.name), &formats.text)?;
        let counts = chapter.counts.iter().copied().chain([chapter.len()]);
        for (column, count) in (2..).zip(counts) {
            sheet.write_number_with_format(row, column, count as f64, &formats.text)?;
        }
    }
    if row > first {
        sheet.autofilter(first, 0, row, 7)?;
    }
    Ok(())
}

/// Bars by risk; with decisions one series for each verdict that needs work.
fn chart(view: &View<'_>, first: u32) -> Chart {
    let mut chart = Chart::new_bar();
    chart.title().set_name("Findings by risk");
    for (column, row) in (2..).zip(&view.summary) {
        let series = chart.add_series();
        series
            .set_name(&*row.label)
            .set_categories(("Summary", first + 1, 0, first + 5, 0))
            .set_values(("Summary", first + 1, column, first + 5, column));
        if view.summary.len() == 1 {
            let points = Risk::DOWN.map(|risk| {
                let mut format = ChartFormat::new();
                format.set_solid_fill(ChartSolidFill::new().set_color(color(risk)));
                ChartPoint::new().set_format(&mut format)
            });
            series.set_points(&points);
        }
    }
    if view.summary.len() == 1 {
        chart.legend().set_hidden();
    }
    // The first category is at the top, as in the table.
    chart.y_axis().set_reverse();
    chart.set_width(460).set_height(240);
    chart
}

/// The columns without evidence, which has a sheet of its own, and without the risk, which is
/// among the first ones.
fn finding_columns() -> Vec<&'static FindingColumn> {
    COLUMNS
        .iter()
        .filter(|(name, _)| !matches!(*name, "risk" | "evidence"))
        .collect()
}

fn findings(sheet: &mut Worksheet, formats: &Formats, view: &View<'_>) -> Result<(), RenderError> {
    let mut table = SheetTable::new(sheet, formats, "Findings", &[8, 28, 10, 10, 28, 10, 46])?;
    let columns = finding_columns();
    let decisions = if view.with_decisions() {
        DECISION_COLUMNS.as_slice()
    } else {
        &[]
    };
    let decision_names = decisions.iter().map(|(name, _)| *name);
    let names = columns.iter().map(|(name, _)| *name).chain(decision_names);
    table.headers(["no", "group", "risk"].into_iter().chain(names))?;
    for chapter in &view.contents {
        for read in chapter.entries(ProofLimit::NOTHING, 0) {
            let (finding, entry) = read?;
            let decided = finding.decided.clone().unwrap_or_default();
            let of_finding = columns.iter().map(|(_, value)| value(&finding));
            let of_decision = decisions.iter().map(|(_, value)| value(&decided));
            let cells: Vec<String> = of_finding
                .chain(of_decision)
                .map(|value| text::clean_text_for_print(&value).into_owned())
                .collect();
            let first = [
                Cell::Text(&entry.number),
                Cell::Text(&chapter.name),
                Cell::Risk(entry.risk),
            ];
            let cells = cells.iter().map(|cell| Cell::of_text(cell));
            table.row(first.into_iter().chain(cells))?;
        }
    }
    table.finish()
}

fn evidence(sheet: &mut Worksheet, formats: &Formats, view: &View<'_>) -> Result<(), RenderError> {
    let mut table = SheetTable::new(sheet, formats, "Evidence", &[8, 10, 40, 28, 6, 40, 40, 40])?;
    let names = ["no", "risk", "name", "target", "row"]
        .map(str::to_owned)
        .into_iter();
    let names: Vec<String> = names
        .chain((1..=CELLS).map(|at| format!("evidence {at}")))
        .collect();
    table.headers(names.iter().map(String::as_str))?;
    for chapter in &view.contents {
        for entry in chapter.entries(ProofLimit::ALL, 0) {
            let (found, entry) = entry?;
            let target = text::clean_for_print(&found.target);
            let rows = match &entry.proof {
                Proof::Nothing => continue,
                Proof::Text(text) => vec![vec![text.clone()]],
                Proof::Table {
                    headers,
                    rows,
                    exchange,
                } => {
                    let messages = (!exchange.is_empty()).then(|| vec![exchange.clone()]);
                    let found = rows.iter().map(|row| labelled(headers, row));
                    found.chain(messages).collect()
                }
            };
            for (at, row) in rows.iter().enumerate() {
                let first = [
                    Cell::Text(&entry.number),
                    Cell::Risk(entry.risk),
                    Cell::Text(&entry.name),
                ];
                let second = [Cell::Text(&target), Cell::of_count(at + 1)];
                table.row(
                    first
                        .into_iter()
                        .chain(second)
                        .chain(row.iter().map(|cell| Cell::of_text(cell))),
                )?;
            }
        }
    }
    table.finish()
}

/// `header: cell`, because each finding has other headers.
fn labelled(headers: &[String], row: &[String]) -> Vec<String> {
    let mut cells: Vec<String> = Vec::with_capacity(row.len().min(CELLS));
    for (at, cell) in row.iter().enumerate() {
        let value = match headers.get(at) {
            Some(header) if !header.is_empty() => format!("{header}: {cell}"),
            _ => cell.clone(),
        };
        match cells.last_mut() {
            Some(last) if at >= CELLS => {
                last.push_str("; ");
                last.push_str(&value);
            }
            _ => cells.push(value),
        }
    }
    cells
}

fn recommendations(
    sheet: &mut Worksheet,
    formats: &Formats,
    view: &View<'_>,
) -> Result<(), RenderError> {
    let mut table = SheetTable::new(
        sheet,
        formats,
        "Recommendations",
        &[10, 46, 16, 22, 10, 10, 100],
    )?;
    let headers = [
        "Risk",
        "Finding",
        "Exploitation",
        "Removes",
        "Findings",
        "Targets",
        "Recommendation",
    ];
    table.headers(headers.into_iter())?;
    for one in &view.recommendations {
        let removes = one.removes(view.words());
        let names = one.names.join(", ");
        let cells = [
            Cell::Risk(one.risk),
            Cell::Text(&names),
            Cell::Text(&one.signals),
            Cell::Text(&removes),
            Cell::of_count(one.findings),
            Cell::of_count(one.targets),
            Cell::Text(&one.text),
        ];
        table.row(cells.into_iter())?;
    }
    table.finish()
}
