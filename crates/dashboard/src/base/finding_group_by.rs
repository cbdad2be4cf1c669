//! Attributes by which findings are grouped.

use serde::{Deserialize, Serialize};

/// The attribute that the findings of a group have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingGroupBy {
    #[default]
    Class,
    Target,
    Cve,
    Cwe,
    Owasp,
    Port,
    /// One weakness that several tools report.
    Weakness,
}

impl FindingGroupBy {
    /// Head of its column, name of one group, and of the group without a value.
    fn words(self) -> [&'static str; 3] {
        match self {
            Self::Class => ["CLASS", "class", "no class"],
            Self::Target => ["TARGET", "target", "no target"],
            Self::Cve => ["CVE", "CVE", "no CVE"],
            Self::Cwe => ["CWE", "CWE", "no CWE"],
            Self::Owasp => ["OWASP", "OWASP", "no OWASP category"],
            Self::Port => ["PORT", "port", "no port"],
            Self::Weakness => ["WEAKNESS", "weakness", "no class"],
        }
    }

    pub fn head(self) -> &'static str {
        self.words()[0]
    }

    pub fn word(self) -> &'static str {
        self.words()[1]
    }

    pub fn none(self) -> &'static str {
        self.words()[2]
    }
}
