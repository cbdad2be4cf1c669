//! `POST /findings/import`: findings of other tools in the form of the hosted service
//! (`hosted-service.md`, Findings). Each target receives a finished scan.

use std::collections::HashMap;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::super::targets::target_limit_reached;
use super::super::{RouteResult, data, workspace_or_current};
use crate::api::request::Fields;
use crate::errors::ApiError;
use crate::guards::keys::KeyIdentity;
use crate::net::address::Address;
use crate::state::App;
use crate::store::imports::{FoundScan, ImportRefusal, ScanToImport, UnscannedFinding};
use scandeck_wire::contract::import::{
    FindingToImport, ImportOrigin, ImportedFinding, ImportedFindings, MOST_IMPORTED_FINDINGS,
};
use scandeck_wire::contract::{Evidence, Finding, Stamp, Tool};

/// The beginning of the classes of these findings; their name follows.
const CLASS: &str = "imported:";
/// Most characters of a name.
const LONGEST_NAME: usize = 500;

/// Where a finding of the request is in the scans.
struct FoundPlace {
    scan: usize,
    finding: usize,
}

/// The scans of a request.
struct FoundScans {
    scans: Vec<FoundScan>,
    by_target: HashMap<String, usize>,
    /// The place of each finding of the request.
    places: Vec<FoundPlace>,
}

pub async fn add(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    fields: Fields,
) -> RouteResult<impl IntoResponse> {
    let fields = fields.with_unprocessable();
    let workspace = workspace_or_current(&app, fields.integer_or_text("workspace_id")?).await?;
    let now = app.now();
    let origin = ImportOrigin {
        tool: Tool::FINDINGS_IMPORT.name().unwrap_or_default().into(),
        imported_by: identity.member().unwrap_or_default().into(),
        imported_at: Some(Stamp(now)),
        ..ImportOrigin::default()
    };
    let found = read_findings(&fields, &origin, now)?;
    let limit = app.settings.max_targets;
    let stored = app.store.add_found(workspace, &found.scans, limit, now);
    let ids = stored.await?.map_err(|refusal| match refusal {
        ImportRefusal::NoWorkspace => ApiError::not_found("workspace", workspace),
        ImportRefusal::TargetLimit(_) => target_limit_reached(&app),
        ImportRefusal::TargetDeleted(_) => ApiError::conflict(refusal.to_string()),
    })?;
    let result = |place: &FoundPlace| {
        let id = *ids.get(place.scan)?.get(place.finding)?;
        Some(ImportedFinding { id })
    };
    let results = found.places.iter().filter_map(result).collect();
    Ok((StatusCode::CREATED, data(ImportedFindings { results })))
}

fn read_findings(
    fields: &Fields,
    origin: &ImportOrigin,
    now: Timestamp,
) -> RouteResult<FoundScans> {
    let items = fields.value("findings").and_then(Value::as_array);
    let items = items.ok_or_else(|| ApiError::unprocessable("findings must be a list"))?;
    if !(1..=MOST_IMPORTED_FINDINGS).contains(&items.len()) {
        return Err(ApiError::unprocessable(format!(
            "findings: 1 to {MOST_IMPORTED_FINDINGS} are allowed"
        )));
    }
    let mut found = FoundScans {
        scans: Vec::new(),
        by_target: HashMap::new(),
        places: Vec::new(),
    };
    for (number, item) in items.iter().enumerate() {
        let added = found.add(item, origin, now);
        added
            .map_err(|message| ApiError::unprocessable(format!("findings[{number}]: {message}")))?;
    }
    Ok(found)
}

impl FoundScans {
    fn add(&mut self, item: &Value, origin: &ImportOrigin, now: Timestamp) -> Result<(), String> {
        let sent: FindingToImport =
            serde_json::from_value(item.clone()).map_err(|_| "use an object".to_owned())?;
        let name = sent.name.trim();
        if name.is_empty() || name.chars().count() > LONGEST_NAME {
            return Err(format!("name: 1 to {LONGEST_NAME} characters are allowed"));
        }
        let address =
            Address::parse(&sent.target_name).map_err(|error| format!("target_name: {error}"))?;
        let finding = finding_of(&sent, name);
        let row = UnscannedFinding::of(&finding, "").map_err(|error| error.to_string())?;
        // Findings of one name that differ are different findings.
        let place = short_digest(&row.body);
        let row = UnscannedFinding { place, ..row };
        let scan = self.scan_of(&address, origin, now);
        let of_scan = &mut self.scans[scan];
        let known = of_scan.findings.iter().position(|known| *known == row);
        let position = known.unwrap_or(of_scan.findings.len());
        if known.is_none() {
            of_scan.scan.by_risk[row.risk as usize] += 1;
            of_scan.findings.push(row);
        }
        self.places.push(FoundPlace {
            scan,
            finding: position,
        });
        Ok(())
    }

    /// The position of the scan of a target, which may be new.
    fn scan_of(&mut self, address: &Address, origin: &ImportOrigin, now: Timestamp) -> usize {
        if let Some(known) = self.by_target.get(address.canonical()) {
            return *known;
        }
        let scan = self.scans.len();
        self.by_target.insert(address.canonical().to_owned(), scan);
        self.scans.push(FoundScan {
            scan: ScanToImport {
                target: address.canonical().to_owned(),
                kind: address.kind(),
                tool: Tool::FINDINGS_IMPORT,
                started: now,
                ended: now,
                origin: origin.clone(),
                by_risk: [0; 5],
            },
            findings: Vec::new(),
        });
        scan
    }
}

fn finding_of(sent: &FindingToImport, name: &str) -> Finding {
    let evidence = match sent.vuln_evidence.is_empty() {
        true => Evidence::default(),
        false => Evidence::from_value(
            &serde_json::json!({"type": "text", "data": sent.vuln_evidence.as_str()}),
        ),
    };
    Finding {
        name: name.into(),
        test_description: sent.test_description.clone(),
        vuln_description: sent.vuln_description.clone(),
        vuln_evidence: evidence,
        risk_level: sent.vuln_risk_level,
        recommendation: sent.vuln_recommendation.clone(),
        vuln_id: format!("{CLASS}{}", name.to_lowercase()).into(),
        cvssv3: sent.cvss_v3.filter(|score| (0.0..=10.0).contains(score)),
        ..Finding::default()
    }
}

/// 64 bits of the SHA-256 of a text, as hexadecimal digits.
fn short_digest(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text).into();
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
