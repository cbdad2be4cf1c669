//! The rows of imported findings.

use serde::{Deserialize, Serialize};

use super::super::sql::{SqlValue, sql};
use super::super::{StoreResult, WriteTransaction, without_nul};
use scandeck_wire::contract::verdict::ProposedVerdict;
use scandeck_wire::contract::{
    Evidence, Finding, FindingId, Owasp, Risk, ScanId, Shared, TargetId, WorkspaceId,
};

/// A finding without its scan, as it is stored; without the body in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnscannedFinding {
    pub vuln_id: String,
    pub protocol: String,
    pub port: i64,
    pub place: String,
    pub risk: Risk,
    /// The other fields as JSON, which a file has beside this object instead of quoted in it.
    #[serde(skip)]
    pub body: String,
}

/// The fields of a finding that are stored as one JSON object.
#[derive(Serialize)]
struct ImportedBody<'a> {
    name: &'a Shared,
    test_description: &'a Shared,
    test_finished: bool,
    confirmed: bool,
    in_cisa_catalog: bool,
    cve: &'a [Shared],
    vuln_description: &'a Shared,
    vuln_evidence: &'a Evidence,
    risk_description: &'a Shared,
    risk_level: Risk,
    recommendation: &'a Shared,
    references: &'a [Shared],
    vuln_id: &'a Shared,
    owasp: &'a Owasp,
    cwe: &'a Shared,
    port: i64,
    protocol: &'a Shared,
    service: &'a Shared,
    #[serde(skip_serializing_if = "Option::is_none")]
    epss_score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epss_percentile: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cvss: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cvssv3: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposed: Option<&'a ProposedVerdict>,
}

impl<'a> ImportedBody<'a> {
    fn of(finding: &'a Finding) -> Self {
        Self {
            name: &finding.name,
            test_description: &finding.test_description,
            test_finished: true,
            confirmed: finding.confirmed,
            in_cisa_catalog: finding.in_cisa_catalog,
            cve: &finding.cve,
            vuln_description: &finding.vuln_description,
            vuln_evidence: &finding.vuln_evidence,
            risk_description: &finding.risk_description,
            risk_level: finding.risk_level,
            recommendation: &finding.recommendation,
            references: &finding.references,
            vuln_id: &finding.vuln_id,
            owasp: &finding.owasp,
            cwe: &finding.cwe,
            port: port_of(finding),
            protocol: &finding.protocol,
            service: &finding.service,
            epss_score: finding.epss_score,
            epss_percentile: finding.epss_percentile,
            cvss: finding.cvss,
            cvssv3: finding.cvssv3,
            proposed: finding.proposed.as_deref(),
        }
    }
}

impl UnscannedFinding {
    /// The row of a finding at a place.
    ///
    /// # Errors
    /// When its evidence is not JSON.
    pub fn of(finding: &Finding, place: &str) -> serde_json::Result<Self> {
        Ok(Self {
            vuln_id: without_nul(&finding.vuln_id).into_owned(),
            protocol: without_nul(&finding.protocol).into_owned(),
            port: port_of(finding),
            place: without_nul(place).into_owned(),
            risk: finding.risk_level,
            body: serde_json::to_string(&ImportedBody::of(finding))?,
        })
    }
}

fn port_of(finding: &Finding) -> i64 {
    finding.port.clamp(0, i64::from(u16::MAX))
}

/// Findings of one scan.
#[derive(Clone, Debug)]
pub struct FindingsToStore {
    pub scan: ScanId,
    pub target: TargetId,
    pub findings: Vec<UnscannedFinding>,
}

/// Findings of one statement. Statements with equal numbers of rows are prepared once.
const STATEMENT_ROWS: usize = 25;

const INSERT: &str = "INSERT INTO findings (scan_id, target_id, workspace_id, vuln_id, protocol, port, place, risk, body) ";

/// Writes findings that have different places.
pub(super) async fn insert_all(
    change: &mut WriteTransaction,
    workspace: WorkspaceId,
    findings: Vec<FindingsToStore>,
) -> StoreResult<()> {
    let mut left = rows(workspace, findings).into_iter();
    while !left.as_slice().is_empty() {
        sql(INSERT)
            .push_rows(left.by_ref().take(STATEMENT_ROWS))
            .execute(&mut *change)
            .await?;
    }
    Ok(())
}

/// Writes a finding; returns its id.
pub(super) async fn insert(
    change: &mut WriteTransaction,
    workspace: WorkspaceId,
    scan: ScanId,
    target: TargetId,
    finding: UnscannedFinding,
) -> StoreResult<FindingId> {
    let row = values(workspace, scan, target, finding);
    let id: i64 = sql(INSERT)
        .push_rows([row])
        .push(" RETURNING id")
        .one(change)
        .await?;
    Ok(FindingId(id))
}

fn rows(workspace: WorkspaceId, findings: Vec<FindingsToStore>) -> Vec<[SqlValue; 9]> {
    let all = findings.into_iter().flat_map(|of_scan| {
        let (scan, target) = (of_scan.scan, of_scan.target);
        let findings_of_scan = of_scan.findings.into_iter();
        findings_of_scan.map(move |finding| values(workspace, scan, target, finding))
    });
    all.collect()
}

fn values(
    workspace: WorkspaceId,
    scan: ScanId,
    target: TargetId,
    finding: UnscannedFinding,
) -> [SqlValue; 9] {
    [
        scan.0.into(),
        target.0.into(),
        workspace.0.into(),
        finding.vuln_id.into(),
        finding.protocol.into(),
        finding.port.into(),
        finding.place.into(),
        finding.risk.level().into(),
        finding.body.into(),
    ]
}
