//! Gathers the data of a report: a batch of findings at a time goes from the database into a file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

use super::blocking;
use super::spool::{Spool, SpooledFindings};
use crate::state::App;
use crate::store::StoreResult;
use crate::store::findings::{BATCH, FindingFilter};
use scandeck_report::{
    Document, Earlier, FindingSource, ReportData, ReportFinding, ReportOptions, ReportScan,
};
use scandeck_wire::contract::{
    Finding, GroupBy, NewReport, ReportFilters, ReportSource, Scan, ScanId, Stamp, TargetId, Tool,
    WorkspaceId,
};

/// The data of a report, its findings apart.
pub struct Gathered {
    data: ReportData,
    /// None for the data of an earlier version, which contains them.
    findings: Option<SpooledFindings>,
}

impl Gathered {
    pub fn document(&self) -> anyhow::Result<Document<'_>> {
        let source: &dyn FindingSource = match &self.findings {
            Some(spooled) => spooled,
            None => &self.data.findings,
        };
        Ok(Document::of(&self.data, source)?)
    }
}

impl From<ReportData> for Gathered {
    fn from(data: ReportData) -> Self {
        Self {
            data,
            findings: None,
        }
    }
}

/// Gathers the data of a requested report from the resources that still exist.
pub async fn gather(app: &App, new: &NewReport) -> anyhow::Result<Gathered> {
    let mut gathering = Gathering::new(app, new.filters.unwrap_or_default())?;
    let ids: Vec<i64> = new
        .resources
        .iter()
        .copied()
        .collect::<BTreeSet<i64>>()
        .into_iter()
        .collect();
    match new.source {
        ReportSource::Findings => gathering.findings(ids).await?,
        _ => gathering.scans(&ids).await?,
    }
    let options = ReportOptions::of_service(&new.group_by, &gathering.filters);
    gathering.finish(options).await
}

/// The data of a report about one scan, with its target even if nothing was found. With `of_pages`
/// it has the options of the template.
pub async fn gather_scan(app: &App, scan: ScanId, of_pages: bool) -> anyhow::Result<Gathered> {
    let filters = ReportFilters {
        include_all_targets: true,
        ..ReportFilters::default()
    };
    let mut gathering = Gathering::new(app, filters)?;
    gathering.scans(&[scan.0]).await?;
    let options = ReportOptions::of_service(&GroupBy::Target, &gathering.filters);
    let options = match &app.settings.report_template.options {
        // The service has no decisions, so verdicts are those of its statuses.
        Some(of_template) if of_pages => ReportOptions {
            verdicts: options.verdicts,
            ..of_template.clone()
        },
        _ => options,
    };
    gathering.finish(options).await
}

/// The name of a workspace; of several, the first name and "and others".
pub async fn workspace_name(app: &App, ids: &BTreeSet<WorkspaceId>) -> StoreResult<String> {
    let Some(first) = ids.first() else {
        return Ok(String::new());
    };
    let name = app
        .store
        .workspace(*first)
        .await?
        .map(|workspace| workspace.name.to_string())
        .unwrap_or_default();
    Ok(if ids.len() > 1 {
        format!("{name} and others")
    } else {
        name
    })
}

struct Gathering<'a> {
    app: &'a App,
    filters: ReportFilters,
    scans: BTreeMap<ScanId, Scan>,
    targets: HashMap<TargetId, String>,
    spool: Spool,
}

impl<'a> Gathering<'a> {
    fn new(app: &'a App, filters: ReportFilters) -> io::Result<Self> {
        let spool = Spool::new(&app.settings.data_dir)?;
        Ok(Self {
            app,
            filters,
            scans: BTreeMap::new(),
            targets: HashMap::new(),
            spool,
        })
    }

    /// Adds scans with their findings.
    async fn scans(&mut self, ids: &[i64]) -> anyhow::Result<()> {
        for batch in ids.chunks(BATCH) {
            self.add_scans(batch).await?;
        }
        for scan in self.scans.keys().copied().collect::<Vec<_>>() {
            let filter = FindingFilter {
                scan: Some(scan),
                ..FindingFilter::default()
            };
            self.findings(self.app.store.finding_ids(&filter).await?)
                .await?;
        }
        Ok(())
    }

    /// Adds findings, and the scans that found them.
    async fn findings(&mut self, ids: Vec<i64>) -> anyhow::Result<()> {
        for batch in ids.chunks(BATCH) {
            let json = self.app.store.findings(batch).await?;
            let parsed = blocking(move || {
                Ok(json
                    .iter()
                    .filter_map(|json| serde_json::from_str(json).ok())
                    .collect())
            });
            let findings: Vec<Finding> = parsed.await?;
            let scans: BTreeSet<i64> = findings
                .iter()
                .filter_map(|finding| finding.task_id)
                .filter(|id| !self.scans.contains_key(id))
                .map(|id| id.0)
                .collect();
            self.add_scans(&scans.into_iter().collect::<Vec<_>>())
                .await?;
            let mut histories = match self.filters.include_finding_history {
                true => self.app.store.histories(batch).await?,
                false => HashMap::new(),
            };
            for finding in findings {
                let history = histories.remove(&finding.id).unwrap_or_default();
                self.spool.push(&self.found(finding, history))?;
            }
        }
        Ok(())
    }

    fn found(&self, finding: Finding, history: Vec<Earlier>) -> ReportFinding {
        let scan = finding.task_id.and_then(|id| self.scans.get(&id));
        ReportFinding {
            target: finding
                .target_id
                .map(|id| self.target(id))
                .unwrap_or_default(),
            tool: Tool(scan.map_or(0, |scan| scan.tool_id)),
            found_at: scan.and_then(|scan| scan.start_time),
            history,
            finding,
            decided: None,
        }
    }

    fn target(&self, id: TargetId) -> String {
        self.targets.get(&id).cloned().unwrap_or_default()
    }

    async fn add_scans(&mut self, ids: &[i64]) -> StoreResult<()> {
        if ids.is_empty() {
            return Ok(());
        }
        for scan in self.app.store.scans_by_id(ids, self.app.now()).await? {
            if !self.targets.contains_key(&scan.target_id)
                && let Some(target) = self.app.store.target(scan.target_id).await?
            {
                self.targets.insert(scan.target_id, target.name.to_string());
            }
            self.scans.insert(scan.id, scan);
        }
        Ok(())
    }

    async fn finish(self, options: ReportOptions) -> anyhow::Result<Gathered> {
        let workspaces = self
            .scans
            .values()
            .filter_map(|scan| scan.workspace_id)
            .collect();
        let workspace = workspace_name(self.app, &workspaces).await?;
        let mut targets: Vec<String> = self.targets.values().cloned().collect();
        targets.sort();
        targets.dedup();
        let scans = self.scans.values().cloned();
        let data = ReportData {
            with_decisions: false,
            workspace,
            generated: Stamp(self.app.now()),
            selection: String::new(),
            options,
            template: self.app.settings.report_template.clone(),
            findings: Vec::new(),
            targets,
            scans: scans
                .map(|scan| ReportScan {
                    target: self.target(scan.target_id),
                    scan,
                })
                .collect(),
        };
        Ok(Gathered {
            data,
            findings: Some(self.spool.finish()?),
        })
    }
}
