//! The blocks of a paged report, which each format renders in its own way.

use crate::logo::Logo;
use crate::markdown::RichBlock;
use crate::view::{Fact, SummaryRow};
use scandeck_wire::contract::Risk;

/// A block of a paged report.
pub enum Block<'a> {
    Logo(&'a Logo),
    Title(&'a str),
    Heading {
        heading: Heading<'a>,
        is_new_page: bool,
    },
    Facts(&'a [Fact]),
    /// Text with a bold label; an empty label is not shown.
    Paragraph {
        label: &'a str,
        text: &'a str,
    },
    /// Text of the template.
    Rich(&'a [RichBlock]),
    /// A remark in small print.
    Remark(&'a str),
    /// Text in a fixed-width font.
    Verbatim(&'a str),
    Table(TableBlock<'a>),
    Chart(&'a [SummaryRow]),
    Contents(&'a [ContentsLine]),
    References {
        links: &'a [String],
        others: &'a [String],
    },
}

/// A heading. Those with an anchor are in the bookmarks.
#[derive(Clone, Debug)]
pub struct Heading<'a> {
    /// 1 or 2.
    pub level: u8,
    pub number: &'a str,
    pub text: &'a str,
    pub risk: Option<Risk>,
    /// The target of links to this heading; 0 without one.
    pub anchor: usize,
}

/// A table; rows may be shorter than the header row.
#[derive(Clone, Copy, Debug)]
pub struct TableBlock<'a> {
    pub headers: &'a [String],
    pub rows: &'a [Vec<String>],
    /// The column of the risk, and the risk of each row; empty without one.
    pub risk_column: usize,
    pub risks: &'a [Risk],
    /// Shares of the width, in percent.
    pub widths: &'a [f32],
    /// Evidence, in a fixed-width font.
    pub is_verbatim: bool,
}

impl TableBlock<'_> {
    /// The risk that a cell shows.
    pub fn risk_at(&self, row: usize, column: usize) -> Option<Risk> {
        let is_risk = column == self.risk_column;
        self.risks.get(row).copied().filter(|_| is_risk)
    }
}

#[derive(Clone, Debug)]
pub struct ContentsLine {
    pub number: String,
    pub text: String,
    pub aside: String,
    /// The heading it leads to; 0 without one.
    pub anchor: usize,
}
