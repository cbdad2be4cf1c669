//! Facts, and the chart of the findings by risk.

use super::super::lines::{Ink, break_lines};
use super::super::output::TagName;
use super::rows::{self, RowCell, RowShape};
use super::sizes::{BODY, BOTTOM, LEFT, SHORT_FACTS, WIDTH};
use super::{HeldHeadings, PageLayout, PartStart, bold, plain, soft};
use crate::RenderError;
use crate::view::{Fact, SummaryRow};
use scandeck_wire::contract::Risk;

/// Width of the labels of facts.
const LABEL: f32 = 92.0;
/// A bar of the chart, with its risk and number.
const BAR: RowShape = RowShape {
    size: BODY,
    padding: 0.4,
    fill: None,
    has_rule: false,
};
/// Width of both, and where the numbers end.
const BAR_TEXT: f32 = 106.0;
const NUMBER_END: f32 = 96.0;

impl PageLayout<'_, '_> {
    pub(super) fn facts(&mut self, facts: &[Fact]) -> Result<(), RenderError> {
        let shape = RowShape {
            size: BODY,
            padding: 0.6,
            fill: None,
            has_rule: false,
        };
        let rows: Vec<[RowCell; 2]> = facts.iter().map(|fact| self.fact(fact)).collect();
        let height: f32 = rows.iter().map(|row| rows::height(row, shape)).sum();
        // Short facts belong to the headings above them: something follows both on their page.
        let is_short = height < SHORT_FACTS;
        if is_short && self.y + height + 1.0 > BOTTOM {
            self.new_page()?;
        }
        let held = self.held.take_if(|_| is_short);
        for row in &rows {
            self.row(row, shape, None)?;
        }
        self.held = match held {
            Some(held) => Some(HeldHeadings {
                has_facts: true,
                ..held
            }),
            None => self.held.take(),
        };
        self.y += 5.0;
        Ok(())
    }

    fn fact(&mut self, fact: &Fact) -> [RowCell; 2] {
        let tag = self.tag(None, TagName::Paragraph);
        let aside = if fact.aside.is_empty() {
            String::new()
        } else {
            format!("  {}", fact.aside)
        };
        let value = if fact.is_strong {
            bold(&fact.value)
        } else {
            plain(&fact.value)
        };
        let label = break_lines(self.fonts, &[soft(&fact.label)], BODY.size, LABEL);
        let lines = break_lines(self.fonts, &[value, soft(&aside)], BODY.size, WIDTH - LABEL);
        let cell = |lines, x, width| RowCell {
            lines,
            x,
            width,
            tag,
        };
        [
            cell(label, LEFT, LABEL),
            cell(lines, LEFT + LABEL, WIDTH - LABEL),
        ]
    }

    /// The bars of all risks, which are on one page with the end of the text above. A risk without
    /// findings has a number and no bar: readers look for it.
    pub(super) fn chart(
        &mut self,
        rows: &[SummaryRow],
        tail: Option<PartStart>,
    ) -> Result<(), RenderError> {
        let most = rows.iter().flat_map(|row| row.counts).max().unwrap_or(0);
        let bars = Risk::DOWN.len() as f32 * (BODY.leading + 2.0 * BAR.padding);
        let height = rows.len() as f32 * (BODY.leading + bars + 10.0);
        self.y += 6.0;
        self.hold_tail(tail, height);
        self.need(height)?;
        for row in rows {
            let total = format!("  {}", row.total());
            self.text(&[bold(&row.label), soft(&total)], BODY, TagName::Paragraph)?;
            self.y -= 3.0;
            for (risk, count) in Risk::DOWN.into_iter().zip(row.counts) {
                self.bar(risk, count, count as f32 / most.max(1) as f32)?;
            }
            self.y += 8.0;
        }
        Ok(())
    }

    fn bar(&mut self, risk: Risk, count: usize, share: f32) -> Result<(), RenderError> {
        let tag = self.tag(None, TagName::Paragraph);
        let digits = count.to_string();
        let label = self.words.risk(risk);
        let (name, number) = match count {
            0 => (soft(label), soft(&digits)),
            _ => (plain(label), bold(&digits)),
        };
        let [names, numbers] =
            [name, number].map(|span| break_lines(self.fonts, &[span], BODY.size, 60.0));
        let right = LEFT + NUMBER_END - numbers.first().map_or(0.0, |line| line.width);
        let width = match count {
            0 => 0.0,
            _ => ((WIDTH - BAR_TEXT) * share).max(1.5),
        };
        self.area(LEFT + BAR_TEXT, self.y + 2.2, width, 9.5, Ink::Risk(risk));
        let cell = |lines, x| RowCell {
            lines,
            x,
            width: 60.0,
            tag,
        };
        self.row(&[cell(names, LEFT), cell(numbers, right)], BAR, None)
    }
}
