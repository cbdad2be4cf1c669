//! The report with decisions, by the writers that the service uses too.

use std::io;

use super::{Export, ExportError, ExportRow};
use crate::mask::Mask;
use crate::triage::compare::occurrences;
use crate::triage::{
    AbsenceProof, Assessment, Presence, Reason, ScanSighting, TimelineEntry, Verdict, VerdictSource,
};
use scandeck_report::{
    Document, Earlier, Remark, ReportData, ReportDecision, ReportFinding, ReportRetest, Standing,
    render,
};
use scandeck_wire::contract::{GroupBy, ReportFilters, ReportFormat, Tool};

/// Writes the report, with one chapter per target.
///
/// # Errors
/// When the format is unknown, or a writer fails.
pub fn write(export: &Export<'_>, format: &ReportFormat) -> Result<Vec<u8>, ExportError> {
    // The rows are the selection already, so nothing is filtered.
    let filters = ReportFilters {
        include_finding_history: true,
        include_false_positives: true,
        include_ignored: true,
        ..ReportFilters::default()
    };
    let data = ReportData {
        workspace: export.title.to_owned(),
        generated: export.made,
        selection: export.query.to_owned(),
        group_by: GroupBy::Target,
        filters,
        findings: export.rows.iter().map(finding).collect::<io::Result<_>>()?,
        with_decisions: true,
        targets: Vec::new(),
        scans: Vec::new(),
    };
    let data = masked(data, export.mask)?;
    Ok(render(&Document::new(&data)?, format)?)
}

/// The data with stand-ins for the names in it.
fn masked(data: ReportData, mask: Option<&Mask>) -> Result<ReportData, ExportError> {
    let Some(mask) = mask else { return Ok(data) };
    let mut value = serde_json::to_value(&data)?;
    mask.json(&mut value);
    Ok(serde_json::from_value(value)?)
}

fn finding(row: &ExportRow) -> io::Result<ReportFinding> {
    let issue = &row.issue;
    let history = occurrences(issue).skip(1).zip(issue.earlier.iter().skip(1));
    Ok(ReportFinding {
        finding: issue.whole()?,
        target: row.target.to_string(),
        tool: Tool(row.tool.unwrap_or(0)),
        found_at: issue.last_seen.get(),
        history: history
            .map(|(old, seen)| Earlier {
                id: old.id,
                found_at: seen.at,
                risk: old.risk_level,
            })
            .collect(),
        decided: Some(decision(row)),
    })
}

fn decision(row: &ExportRow) -> ReportDecision {
    let (issue, assessment) = (&row.issue, &row.assessment);
    let notes = row.noted().map(|(text, event)| Remark {
        text: text.to_string(),
        who: event.who.to_string(),
        at: event.at.to_string(),
    });
    ReportDecision {
        verdict: assessment.verdict.phrase(),
        standing: standing(assessment, issue.absent_in().is_some()),
        again: assessment
            .reopened
            .map(|cause| cause.to_string())
            .unwrap_or_default(),
        reason: assessment.reason.map(Reason::phrase).unwrap_or_default(),
        until: assessment
            .until
            .map(|day| day.to_string())
            .unwrap_or_default(),
        who: assessment
            .who
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        by_rule: matches!(assessment.source, VerdictSource::Rule(_)),
        at: assessment.at.map(|at| at.to_string()).unwrap_or_default(),
        severity: assessment.severity,
        now: issue.presence_in(Presence::word).to_owned(),
        absent_in: issue.absent_in().map(absence).unwrap_or_default(),
        absences: absences(&row.timeline()),
        retest: row.retest.as_ref().map(|retest| ReportRetest {
            before: retest.before.to_string(),
            now: retest.now.word().to_owned(),
            at: retest.at.map(|at| at.to_string()).unwrap_or_default(),
        }),
        own: issue.manual().is_some(),
        tags: assessment.tags.iter().map(ToString::to_string).collect(),
        notes: notes.collect(),
        fingerprint: issue.key().to_string(),
    }
}

/// `scan #6 of 2026-11-23 13:40:10`.
fn absence(proof: AbsenceProof) -> String {
    let at = proof
        .at
        .get()
        .map(|at| format!(" of {at}"))
        .unwrap_or_default();
    format!("scan #{}{at}", proof.scan)
}

/// The runs of scans that would have found it and did not, latest first: the start of a run is the
/// date of a fix.
fn absences(timeline: &[TimelineEntry]) -> Vec<String> {
    let is_absent = |entry: &TimelineEntry| entry.outcome == ScanSighting::Absent;
    let tested: Vec<_> = timeline
        .iter()
        .filter(|entry| !matches!(entry.outcome, ScanSighting::NotRetested(_)))
        .collect();
    let runs = tested
        .chunk_by(|one, other| is_absent(one) == is_absent(other))
        .filter(|run| is_absent(run[0]));
    let of_run = |run: &[&TimelineEntry]| match run {
        [latest, .., first] => format!("{} to {}", scan_of(first), scan_of(latest)),
        one => one.iter().map(|entry| scan_of(entry)).collect(),
    };
    runs.map(of_run).collect()
}

fn scan_of(entry: &TimelineEntry) -> String {
    let scan = entry
        .scan
        .map_or_else(|| "a scan".to_owned(), |id| format!("scan #{id}"));
    let at = entry.at.map(|at| format!(" of {at}")).unwrap_or_default();
    format!("{scan}{at}")
}

fn standing(assessment: &Assessment, is_absent: bool) -> Standing {
    let open = if is_absent {
        Standing::Absent
    } else {
        Standing::Open
    };
    match assessment.verdict {
        _ if assessment.reopened.is_some() => open,
        Verdict::Confirmed if !is_absent => Standing::Confirmed,
        Verdict::Confirmed | Verdict::Open | Verdict::InReview => open,
        Verdict::Fixed => Standing::Fixed,
        Verdict::FalsePositive
        | Verdict::RiskAccepted
        | Verdict::NotApplicable
        | Verdict::Duplicate => Standing::Dismissed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::ExportFormat;
    use crate::triage::TriageState;
    use crate::triage::testing::TriageFixture;
    use scandeck_wire::contract::Stamp;

    #[test]
    fn reports_and_json_lines_name_scans_without_the_finding() {
        let mut fixture = TriageFixture::new();
        (1..=5).for_each(|number| _ = fixture.scan(number));
        let [_, last] = [1, 4].map(|scan| fixture.found(scan, "tls10", "").id);
        let rows = fixture.rows();
        let issue = rows
            .issues
            .items()
            .iter()
            .find(|issue| issue.finding_ids().any(|id| id == last))
            .unwrap();
        let row = ExportRow {
            correlation: Some(rows.earlier.clone()),
            ..ExportRow::new(
                issue.clone(),
                Assessment::default(),
                &TriageState::default(),
                "shop".into(),
                None,
                "Acme".into(),
            )
        };
        let [after, between] = <[String; 2]>::try_from(decision(&row).absences).unwrap();
        assert!(
            after.starts_with("scan #5 of 20") && !after.contains(" to "),
            "{after}"
        );
        assert!(
            between.starts_with("scan #2 of 20") && between.contains(" to scan #3 of 20"),
            "{between}"
        );
        let rows = [row];
        let made = Stamp::parse("2026-11-28 07:00:00").unwrap();
        let export = Export {
            rows: &rows,
            title: "Acme",
            made,
            query: "",
            mask: None,
        };
        let html = String::from_utf8(write(&export, &ReportFormat::Html).unwrap()).unwrap();
        assert!(
            html.contains("Not found") && html.contains(&between),
            "{html}"
        );
        let line: serde_json::Value =
            serde_json::from_slice(&super::super::write(ExportFormat::Jsonl, &export).unwrap())
                .unwrap();
        let outcomes: Vec<_> = line["history"]
            .as_array()
            .unwrap()
            .iter()
            .map(|scan| &scan["outcome"])
            .collect();
        assert_eq!(outcomes, ["absent", "seen", "absent", "absent", "seen"]);
    }

    #[test]
    fn absent_finding_is_neither_open_nor_confirmed() {
        let standing_of = |verdict, is_absent| {
            standing(
                &Assessment {
                    verdict,
                    ..Assessment::default()
                },
                is_absent,
            )
        };
        for (verdict, present, absent) in [
            (Verdict::Open, Standing::Open, Standing::Absent),
            (Verdict::InReview, Standing::Open, Standing::Absent),
            (Verdict::Confirmed, Standing::Confirmed, Standing::Absent),
            (Verdict::Fixed, Standing::Fixed, Standing::Fixed),
            (Verdict::Duplicate, Standing::Dismissed, Standing::Dismissed),
        ] {
            assert_eq!(
                [standing_of(verdict, false), standing_of(verdict, true)],
                [present, absent],
                "{verdict:?}"
            );
        }
    }
}
