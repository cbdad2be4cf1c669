//! The reports of the workspace of a case. Their files are read for their digests, and not stored.

use tokio_util::io::InspectWriter;

use crate::cli::dashboard::headless::{HeadlessSession, ServiceArgs};
use scandeck_client::{Client, ClientResult, Download};
use scandeck_domain::case::{CaseReport, CaseReports, FileDigest, MissingReports, ReportDigest};
use scandeck_wire::contract::{Report, ReportId, ReportStatus};
use scandeck_wire::text;

/// The reports of the workspace that the arguments name. A case is made without them too, and says
/// so.
pub async fn fetch(args: &ServiceArgs) -> CaseReports {
    match listed(args).await {
        Ok(reports) => reports,
        Err(error) => {
            note!(
                "scandeck: reports not included: {}",
                text::clean(&format!("{error:#}"))
            );
            CaseReports::without(MissingReports::NotListed)
        }
    }
}

async fn listed(args: &ServiceArgs) -> anyhow::Result<CaseReports> {
    let session = HeadlessSession::open(args).await?;
    let client = session.client()?;
    let workspace = session.workspace_id().await?;
    let all = client.list_reports().await?;
    let unknown = all.iter().filter(|one| one.workspace_id.is_none()).count();
    let mut reports = Vec::new();
    for report in all {
        if report.workspace_id.is_some() && report.workspace_id == workspace {
            reports.push(with_file(client, report).await);
        }
    }
    Ok(CaseReports {
        reports,
        missing: (unknown > 0).then_some(MissingReports::WorkspaceUnknown(unknown)),
    })
}

/// The report with the digest of its file. The service may delete the file at any time.
async fn with_file(client: &Client, report: Report) -> CaseReport {
    let file = match report.status == ReportStatus::Finished {
        true => digest_of(client, report.id).await,
        false => Ok(None),
    };
    let file = file.unwrap_or_else(|error| {
        note!(
            "scandeck: file of report {} not read: {}",
            report.id,
            text::clean(&error.to_string())
        );
        None
    });
    CaseReport { report, file }
}

async fn digest_of(client: &Client, id: ReportId) -> ClientResult<Option<ReportDigest>> {
    let Download::Ready(file) = client.download_report(id).await? else {
        return Ok(None);
    };
    let mut digest = FileDigest::default();
    let to = InspectWriter::new(tokio::io::sink(), |part: &[u8]| digest.add(part));
    file.save_to(to).await?;
    Ok(Some(digest.finish()))
}
