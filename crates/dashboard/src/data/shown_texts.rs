//! The long texts of the findings on the screen: they are read off the UI thread, and the newest
//! request wins.

use scandeck_domain::problem::Problem;
use scandeck_domain::triage::{FindingTexts, ListedFinding};
use std::collections::HashMap;
use std::sync::Arc;

/// A finding with its texts, or why they cannot be read.
pub type ReadFinding = (Arc<ListedFinding>, Result<Arc<FindingTexts>, Problem>);

/// The texts of a finding, as far as they were read.
#[derive(Clone, Debug)]
pub enum ShownText {
    Read(Arc<FindingTexts>),
    Reading,
    Unreadable(Problem),
}

impl ShownText {
    /// The texts, if they were read.
    pub fn read(self) -> Option<Arc<FindingTexts>> {
        match self {
            Self::Read(texts) => Some(texts),
            Self::Reading | Self::Unreadable(_) => None,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct ShownTexts {
    requested: Vec<Arc<ListedFinding>>,
    /// By address; `requested` prevents that an address is used again.
    read: HashMap<usize, Result<Arc<FindingTexts>, Problem>>,
    /// Raised when texts were read.
    pub revision: u64,
}

impl ShownTexts {
    /// Requests the texts of these findings. False if they were requested last.
    pub fn request(&mut self, findings: &[Arc<ListedFinding>]) -> bool {
        if same(findings.iter(), self.requested.iter()) {
            return false;
        }
        (self.requested, self.read) = (findings.to_vec(), HashMap::new());
        true
    }

    /// Takes texts that were read, unless others were requested later.
    pub fn take(&mut self, read: Vec<ReadFinding>) {
        if same(
            read.iter().map(|(finding, _)| finding),
            self.requested.iter(),
        ) {
            self.read = read
                .into_iter()
                .map(|(finding, texts)| (address(&finding), texts))
                .collect();
            self.revision += 1;
        }
    }

    pub fn of(&self, finding: &ListedFinding) -> ShownText {
        if let Some(held) = finding.held_texts() {
            return ShownText::Read(Arc::clone(held));
        }
        match self.read.get(&address(finding)) {
            Some(Ok(texts)) => ShownText::Read(Arc::clone(texts)),
            Some(Err(problem)) => ShownText::Unreadable(problem.clone()),
            None => ShownText::Reading,
        }
    }
}

fn address(finding: &ListedFinding) -> usize {
    std::ptr::from_ref(finding).addr()
}

fn same<'a>(
    mut one: impl Iterator<Item = &'a Arc<ListedFinding>>,
    mut other: impl Iterator<Item = &'a Arc<ListedFinding>>,
) -> bool {
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) if Arc::ptr_eq(one, other) => {}
            _ => return false,
        }
    }
}
