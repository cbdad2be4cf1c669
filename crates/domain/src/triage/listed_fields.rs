//! The query fields of a finding of one scan. Those of an issue with its decisions are in
//! `issue_fields`.

use super::listed::{FindingTexts, ListedFinding};
use crate::query::{ColumnBuilder, Field, Flag, QueryKind};
use crate::table::row::{flags, put, shared, target_name, tool};
use crate::table::{Item, OtherLists, Row, SortOrder};
use scandeck_wire::contract::FindingId;
use scandeck_wire::contract::import::ImportOrigin;

impl Row for ListedFinding {
    const KIND: QueryKind = QueryKind::Findings;

    fn search_text(&self, to: &mut String) {
        put(
            to,
            &[
                &self.name,
                self.risk_level.as_str(),
                &self.vuln_id,
                &self.cwe,
                &self.service,
                &self.status,
            ],
        );
        for cve in &self.cve {
            put(to, &[cve]);
        }
        put(to, &[&self.port().to_string()]);
    }

    fn write_field(&self, field: Field, others: &dyn OtherLists, to: &mut ColumnBuilder) {
        let of_target = self
            .target_id()
            .and_then(|target| others.target_name(target));
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Name => to.shared(&self.name),
            Field::Risk | Field::ScannedRisk => to.whole(self.risk_level.level()),
            Field::Target => target_name(to, of_target.or(self.target_name().as_ref())),
            Field::TargetId => self.target_id().into_iter().for_each(|id| to.whole(id.0)),
            Field::Workspace => shared(
                to,
                self.target_id()
                    .and_then(|target| others.workspace_name(target)),
            ),
            Field::Scan => self.task_id().into_iter().for_each(|id| to.whole(id.0)),
            Field::Tool => self
                .task_id()
                .and_then(|scan| others.scan(scan))
                .into_iter()
                .for_each(|scan| tool(to, scan.tool_id, ImportOrigin::tool_of(scan))),
            Field::Scanner => to.text(if self.confirmed { "proven" } else { "unproven" }),
            Field::Class | Field::VulnId => to.shared(&self.vuln_id),
            Field::Cve => self.cve.iter().for_each(|cve| to.shared(cve)),
            Field::Cwe => cwes(&self.cwe, to),
            Field::Owasp => {
                let owasp = &self.owasp;
                [&owasp.owasp_2017, &owasp.owasp_2021, &owasp.owasp_2025]
                    .into_iter()
                    .for_each(|name| to.shared(name));
            }
            Field::Port if self.port() > 0 => to.whole(self.port()),
            Field::Protocol => to.shared(&self.protocol),
            Field::Service => to.shared(&self.service),
            Field::Epss => to.maybe(self.epss_score()),
            Field::Percentile => to.maybe(self.epss_percentile()),
            Field::Cvss => to.maybe(self.cvss()),
            Field::CvssV3 => to.maybe(self.cvssv3()),
            Field::Screenshots => to.maybe(self.screenshots().map(|count| count as f64)),
            Field::Is => flags(
                to,
                &[
                    (Flag::Kev, self.in_cisa_catalog),
                    (Flag::Proven, self.confirmed),
                    (Flag::Verified, self.verified),
                    (Flag::Nothing, self.vuln_id.starts_with("NONVULN-")),
                    (Flag::Proposed, self.proposed.is_some()),
                ],
            ),
            _ => self.write_text(field, to),
        }
    }
}

impl ListedFinding {
    fn write_text(&self, field: Field, to: &mut ColumnBuilder) {
        match field {
            Field::Status => to.shared(&self.status),
            Field::Test => to.shared(&self.test_description),
            field if is_long(field) => match self.texts() {
                Ok(texts) => texts.write_field(field, to),
                Err(error) => {
                    tracing::warn!(%error, id = %self.id, "texts of a finding cannot be read")
                }
            },
            _ => {}
        }
    }
}

/// Whether a field is one of the long texts.
pub fn is_long(field: Field) -> bool {
    matches!(
        field,
        Field::Description
            | Field::RiskDescription
            | Field::Evidence
            | Field::Recommendation
            | Field::Reference
    )
}

impl FindingTexts {
    fn write_field(&self, field: Field, to: &mut ColumnBuilder) {
        match field {
            Field::Description => to.shared(&self.vuln_description),
            Field::RiskDescription => to.shared(&self.risk_description),
            Field::Evidence => to.text(self.vuln_evidence.as_json()),
            Field::Recommendation => to.shared(&self.recommendation),
            Field::Reference => self
                .references
                .iter()
                .for_each(|reference| to.shared(reference)),
            _ => {}
        }
    }
}

/// `CWE-79`, `79`, or several of them.
fn cwes(text: &scandeck_wire::contract::Shared, to: &mut ColumnBuilder) {
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !text.contains([',', ';', ' ']) && !plain(text) {
        return to.shared(text);
    }
    for one in text.split([',', ';', ' ']).filter(|one| !one.is_empty()) {
        if plain(one) {
            to.text(&format!("CWE-{one}"))
        } else {
            to.text(one)
        }
    }
}

/// Occurrences are shown as part of an issue of `triage`, so no list searches or sorts them.
impl Item for ListedFinding {
    type Id = FindingId;
    const SEARCHED: bool = false;
    fn id(&self) -> FindingId {
        self.id
    }
    const SORTS: &'static [SortOrder<Self>] = &[];
}
