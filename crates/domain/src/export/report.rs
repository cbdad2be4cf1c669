//! The report with decisions, by the writers that the service uses too.

use std::collections::BTreeMap;
use std::io;

use super::chains::chain_lines;
use super::{Export, ExportError, ExportFile, ExportRow};
use crate::chain::ChainData;
use crate::finding::FindingKey;
use crate::mask::Mask;
use crate::triage::compare::occurrences;
use crate::triage::explain::{ExplanationLine, PresenceExplanation, lines};
use crate::triage::{
    AbsenceProof, Assessment, Issue, ListedFinding, Presence, Reason, ScanSighting, TimelineEntry,
    Verdict, VerdictSource,
};
use scandeck_report::{
    Document, Earlier, Remark, ReportData, ReportDecision, ReportFinding, ReportOptions,
    ReportPreview, ReportRetest, ReportScan, ReportTemplate, ReportTraits, ReportVerdict, Standing,
    render,
};
use scandeck_wire::contract::{ReportFormat, Risk, Tool};
use scandeck_wire::text::io_cause;

/// Contents of a report beside its findings.
#[derive(Clone, Debug, Default)]
pub struct ReportFrame {
    pub options: ReportOptions,
    pub template: ReportTemplate,
    /// All targets in the scope, also those without findings.
    pub targets: Vec<String>,
    pub scans: Vec<ReportScan>,
    /// The targets, payloads and captures that the findings can be connected to.
    pub chains: ChainData,
}

/// Writes the report.
///
/// # Errors
/// When the format is unknown, no finding has one of the verdicts, or a writer fails.
pub fn write(export: &Export<'_>, format: &ReportFormat) -> Result<ExportFile, ExportError> {
    let data = data(export, format)?;
    let document = Document::new(&data)?;
    let excluded = document.excluded.values().sum();
    if document.is_empty() && excluded > 0 {
        let verdicts = data.options.verdicts.iter();
        let verdicts: Vec<&str> = verdicts.map(|verdict| verdict.as_str()).collect();
        return Err(ExportError::Nothing {
            verdicts: verdicts.join(", "),
            excluded,
        });
    }
    Ok(ExportFile {
        bytes: render(&document, format)?,
        findings: document.counts.iter().sum(),
        excluded,
    })
}

/// How the report would begin.
///
/// # Errors
/// When the texts of a finding cannot be read, or a text of the template is invalid.
pub fn preview(export: &Export<'_>, format: &ReportFormat) -> Result<ReportPreview, ExportError> {
    let data = data(export, format)?;
    Ok(scandeck_report::preview(&Document::new(&data)?)?)
}

/// The traits that a finding has in a report, without reading its texts.
pub fn traits(issue: &Issue, assessment: &Assessment) -> ReportTraits {
    let counted = standing(assessment, issue.absent_in().is_some());
    ReportTraits {
        verdict: ReportVerdict::of_standing(counted, &assessment.verdict.phrase()),
        is_info: issue.finding.risk_level == Risk::Info,
        is_verified: issue.finding.verified,
    }
}

fn data(export: &Export<'_>, format: &ReportFormat) -> Result<ReportData, ExportError> {
    let frame = export.frame.cloned().unwrap_or_else(|| ReportFrame {
        options: ReportOptions::of_format(format),
        ..ReportFrame::default()
    });
    let has_changes = frame.options.changes;
    let chains = match frame.options.chains {
        true => chain_lines(export.rows, frame.chains)?,
        false => BTreeMap::new(),
    };
    let data = ReportData {
        workspace: export.title.to_owned(),
        generated: export.made,
        selection: export.query.to_owned(),
        options: frame.options,
        template: frame.template,
        findings: export
            .rows
            .iter()
            .map(|row| finding(row, has_changes, &chains))
            .collect::<io::Result<_>>()?,
        with_decisions: true,
        targets: frame.targets,
        scans: frame.scans,
    };
    masked(data, export.mask)
}

/// The data with stand-ins for the names in it.
fn masked(data: ReportData, mask: Option<&Mask>) -> Result<ReportData, ExportError> {
    let Some(mask) = mask else { return Ok(data) };
    // The image of the client has no names that the mask knows.
    let image = data.template.image.clone();
    let options = data.options.clone();
    let mut value = serde_json::to_value(&data)?;
    mask.json(&mut value);
    let mut masked: ReportData = serde_json::from_value(value)?;
    masked.template.image = image;
    masked.options = options;
    Ok(masked)
}

fn finding(
    row: &ExportRow,
    has_changes: bool,
    chains: &BTreeMap<FindingKey, Vec<String>>,
) -> io::Result<ReportFinding> {
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
        decided: Some(ReportDecision {
            why: if has_changes { why(row) } else { Vec::new() },
            chain: chains.get(&issue.key()).cloned().unwrap_or_default(),
            ..decision(row)
        }),
    })
}

/// Why the presence of a finding is not unchanged, or its proof. A report has no keys and no
/// commands.
fn why(row: &ExportRow) -> Vec<String> {
    let is_shown = row.issue.presence != Presence::Unchanged || row.proof.is_some();
    let Some(known) = row.correlation.as_ref().filter(|_| is_shown) else {
        return Vec::new();
    };
    let read = |finding: &ListedFinding| finding.texts().map_err(|error| io_cause(&error));
    let explanation = PresenceExplanation {
        proof: row.proof.clone(),
        ..known.explain(&row.issue, &row.assessment, known.state(), &read)
    };
    let shown = lines(&explanation, |_| None);
    shown.iter().map(ExplanationLine::printed).collect()
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
        now: issue.presence_in(Presence::label).to_owned(),
        absent_in: issue.absent_in().map(absence).unwrap_or_default(),
        absences: absences(&row.timeline()),
        why: Vec::new(),
        chain: Vec::new(),
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
    use crate::export::{ExportFormat, json};
    use crate::proof::FindingProof;
    use crate::triage::TriageState;
    use crate::triage::explain::ExplainedProof;
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
            frame: Some(&ReportFrame {
                options: ReportOptions::everything(),
                ..ReportFrame::default()
            }),
        };
        let html = write(&export, &ReportFormat::Html).unwrap();
        assert_eq!(html.contents(), "1 finding");
        let html = String::from_utf8(html.bytes).unwrap();
        assert!(
            html.contains("Not found") && html.contains(&between),
            "{html}"
        );
        let with_changes = ReportFrame {
            options: ReportOptions {
                changes: true,
                ..ReportOptions::everything()
            },
            ..ReportFrame::default()
        };
        let explained = Export {
            frame: Some(&with_changes),
            ..export.clone()
        };
        let explained = write(&explained, &ReportFormat::Html).unwrap().bytes;
        let explained = String::from_utf8(explained).unwrap();
        let reason = "absent: a later scan ran its test and did not find it";
        assert!(
            explained.contains("Appendix: changes") && explained.contains(reason),
            "{explained}"
        );
        assert!(!html.contains("Appendix: changes"), "{html}");
        let proven = [ExportRow {
            proof: Some(ExplainedProof {
                proof: FindingProof::default(),
                who: "ann".into(),
                at: made,
            }),
            ..rows[0].clone()
        }];
        let with_proof = Export {
            rows: &proven,
            frame: Some(&with_changes),
            ..export.clone()
        };
        let with_proof = write(&with_proof, &ReportFormat::Html).unwrap().bytes;
        let with_proof = String::from_utf8(with_proof).unwrap();
        assert!(
            with_proof.contains("cannot tell: the evidence has no answer"),
            "{with_proof}"
        );
        assert_eq!(json::row(&proven[0])["proof"]["who"], "ann");
        let customer = Export {
            frame: None,
            ..export.clone()
        };
        let error = write(&customer, &ReportFormat::Html).unwrap_err();
        assert!(
            error.to_string().ends_with("1 finding excluded"),
            "an absent finding is not in the report of a customer"
        );
        let dismissed = [ExportRow {
            assessment: Assessment {
                verdict: Verdict::FalsePositive,
                ..Assessment::default()
            },
            ..rows[0].clone()
        }];
        let nothing = Export {
            rows: &dismissed,
            ..customer
        };
        let error = write(&nothing, &ReportFormat::Html).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no finding has a verdict of the report (confirmed, open); 1 finding excluded"
        );
        let both = [rows[0].clone(), dismissed[0].clone()];
        let one_of_two = Export {
            rows: &both,
            frame: Some(&ReportFrame {
                options: ReportOptions {
                    verdicts: [ReportVerdict::Absent].into(),
                    ..ReportOptions::default()
                },
                ..ReportFrame::default()
            }),
            ..export.clone()
        };
        let file = write(&one_of_two, &ReportFormat::Html).unwrap();
        assert_eq!(file.contents(), "1 finding (1 excluded)");
        let lines = super::super::write(ExportFormat::Jsonl, &export).unwrap();
        let line: serde_json::Value = serde_json::from_slice(&lines.bytes).unwrap();
        let outcomes: Vec<_> = line["history"]
            .as_array()
            .unwrap()
            .iter()
            .map(|scan| &scan["outcome"])
            .collect();
        assert_eq!(outcomes, ["absent", "seen", "absent", "absent", "seen"]);
    }

    #[test]
    fn traits_are_those_of_the_finding_in_the_report() {
        let mut fixture = TriageFixture::new();
        (1..=2).for_each(|number| _ = fixture.scan(number));
        fixture.found(1, "tls10", "").risk_level = Risk::Info;
        fixture.found(2, "csp", "").verified = true;
        let rows = fixture.rows();
        for issue in rows.issues.items() {
            for verdict in Verdict::ALL {
                let assessment = Assessment {
                    verdict,
                    ..Assessment::default()
                };
                let row = ExportRow::new(
                    issue.clone(),
                    assessment,
                    &TriageState::default(),
                    "shop".into(),
                    None,
                    "Acme".into(),
                );
                let found = finding(&row, false, &BTreeMap::new()).unwrap();
                assert_eq!(
                    traits(&row.issue, &row.assessment),
                    ReportTraits::of(&found),
                    "{verdict:?}"
                );
            }
        }
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
