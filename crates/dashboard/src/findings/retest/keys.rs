//! Keys of retest and compare: the plan of a retest, the comparison of scans, opening the retest
//! board.

use crate::base::{Batch, Call, CallAnswer, Effect, FindingUse, Job, JobState, Pane, Tone};
use crate::data::{BY_NOW, Board, ReadFinding};
use crate::findings::decide::keys::{prompt_or_execute, too_early};
use crate::findings::retest::selection::{RetestedTests, is_selected};
use crate::input::{Action, Context, EditAction, ItemAction};
use crate::model::board::RETEST_ENDED;
use crate::model::{Model, navigation};
use crate::prompts::{PendingDecision, Plan, Prompt, Then};
use scandeck_domain::triage::compare::{differences, occurrences};
use scandeck_domain::triage::{
    Draft, FindingTexts, Issue, IssueId, ListedFinding, Outcome, RETEST_SETTING, Retest,
    RetestFinding, RetestScan, RetestStatus, Verdict, compare,
};
use scandeck_wire::contract::import::ImportOrigin;
use scandeck_wire::contract::{NewScan, SCAN_MINUTES, Scan, ScanId, Stamp};
use scandeck_wire::text::plural;
use std::collections::HashSet;
use std::sync::Arc;

/// Most scans and most findings that a prompt names.
const NAMED: usize = 3;

/// Gives a verdict to the chosen rows. Several rows become fixed together only if the retest did
/// not see them.
pub(crate) fn decide(model: &mut Model, verdict: Verdict, effects: &mut Vec<Effect>) {
    if let Some(why) =
        too_early(model, Pane::Board).or_else(|| model.wait_notice().map(str::to_owned))
    {
        return model.notify(Tone::Plain, why);
    }
    let [mut ids, mut hidden] = model.chosen(Pane::Board).issues();
    let all = ids.len() + hidden.len();
    if all > 1 && verdict == Verdict::Fixed {
        let rows = model.data.board.value().cloned().unwrap_or_default();
        let is_absent = |&id: &IssueId| {
            rows.get(id)
                .is_some_and(|row| row.now == RetestStatus::Is(Outcome::Absent))
        };
        ids.retain(is_absent);
        hidden.retain(is_absent);
        let absent = ids.len() + hidden.len();
        if absent < all {
            model.notify(
                Tone::Plain,
                format!(
                    "{absent} of {} absent · only absent findings are marked as fixed",
                    plural(all, "finding")
                ),
            );
        }
    }
    if ids.is_empty() && hidden.is_empty() {
        if all == 0 {
            model.notify(Tone::Plain, "nothing selected");
        }
        return;
    }
    prompt_or_execute(
        model,
        PendingDecision {
            draft: Draft::of(verdict),
            ids,
            next: false,
        },
        hidden,
        effects,
    );
}

/// `s`: opens the prompt with the number of findings and scans, and the findings that cannot be
/// retested.
pub(crate) fn prompt(model: &mut Model) {
    if let Some(why) = model.header_wait_notice() {
        return model.notify(Tone::Plain, why);
    }
    let pane = model.navigation.focus.pane;
    let [shown, hidden] = model.chosen(pane).issues();
    if shown.is_empty() && hidden.is_empty() {
        return model.notify(Tone::Plain, "nothing selected");
    }
    let (plan, excluded) = plan(model, &shown);
    if plan.jobs.is_empty() && hidden.is_empty() {
        return model.notify(
            Tone::Plain,
            excluded
                .first()
                .cloned()
                .unwrap_or_else(|| "nothing to start".to_owned()),
        );
    }
    let mut prompt = question(plan, excluded);
    if !hidden.is_empty() {
        let (wider, excluded) = self::plan(model, &[&shown[..], &hidden[..]].concat());
        let include = model.key_label(Context::Prompt, Action::Edit(EditAction::IncludeHidden));
        prompt = prompt.with_line(format!(
            "{include} includes {}.",
            plural(hidden.len(), "hidden marked finding")
        ));
        prompt.wider = Some(Box::new(question(wider, excluded)));
    }
    model.open_prompt(prompt);
}

/// Opens the prompt for one finding, whatever is marked.
pub(crate) fn prompt_for(model: &mut Model, id: IssueId) {
    let (plan, excluded) = plan(model, &[id]);
    if plan.jobs.is_empty() {
        let why = excluded.into_iter().next();
        return model.notify(
            Tone::Plain,
            why.unwrap_or_else(|| "nothing to start".to_owned()),
        );
    }
    model.open_prompt(question(plan, excluded));
}

/// Names a single finding and a single scan in the question, and a few of them below it.
fn question(plan: Plan, excluded: Vec<String>) -> Prompt {
    let (findings, scans) = (plan.retest.findings.len(), plan.jobs.len());
    let finding = match plan.retest.findings.as_slice() {
        [one] => format!("\"{}\"", one.name),
        all => plural(all.len(), "finding"),
    };
    let scan = match plan.jobs.as_slice() {
        [one] => one.about.clone(),
        all => plural(all.len(), "scan"),
    };
    let words = format!("Retest {finding}? Repeats {scan}.");
    let parameters = match plan.jobs.iter().any(is_selected) {
        true => "Only the tests of the retested findings run, if the service can select tests",
        false => "The parameters are unchanged",
    };
    let names: Vec<String> = plan
        .retest
        .findings
        .iter()
        .map(|finding| format!("\"{}\"", finding.name))
        .collect();
    if findings == 1 || scans == 1 {
        let mut prompt = Prompt::new(words, Then::Retest(Box::new(plan)));
        if (2..=NAMED).contains(&findings) {
            prompt = prompt.with_line(format!("{}.", names.join(", ")));
        }
        let prompt = prompt.with_line(format!("{parameters}."));
        return excluded.into_iter().fold(prompt, Prompt::with_line);
    }
    let mut named: Vec<String> = plan
        .jobs
        .iter()
        .take(NAMED)
        .map(|job| job.about.clone())
        .collect();
    if scans > NAMED {
        named.push(format!("{} more", scans - NAMED));
    }
    let mut prompt = Prompt::new(words, Then::Retest(Box::new(plan)));
    prompt = prompt.with_line(format!("{parameters}: {}.", named.join("; ")));
    excluded.into_iter().fold(prompt, Prompt::with_line)
}

/// The scans that reported some findings, each once, and the reasons why findings cannot be
/// retested.
fn plan(model: &Model, ids: &[IssueId]) -> (Plan, Vec<String>) {
    let mut retest = Retest::default();
    let mut jobs = Vec::new();
    let mut tests = RetestedTests::default();
    let [mut unknown, mut imported, mut secret] = [0, 0, 0];
    let newest = model
        .data
        .scans
        .value()
        .and_then(|all| all.items().iter().map(|scan| scan.id).max());
    for issue in ids
        .iter()
        .filter_map(|&id| model.data.findings.value()?.get(id))
    {
        let scan = issue
            .task_id()
            .and_then(|id| model.data.scans.value()?.get(id));
        let (Some(scan), Some(finding)) = (scan, retest_finding(model, issue)) else {
            unknown += 1;
            continue;
        };
        if ImportOrigin::is_of(scan) {
            imported += 1;
            continue;
        }
        let Some(call) = same_again(model, scan) else {
            secret += 1;
            continue;
        };
        if retest.again(scan.id).is_none() {
            let place = (scan.target_id, scan.tool_id);
            retest.scans.push(RetestScan {
                of: scan.id,
                newest: newest.unwrap_or_default(),
                place,
                ..RetestScan::default()
            });
            jobs.push(Job::new(model.scan_words(scan.id), Call::StartScan(call)));
        }
        tests.add(scan, issue);
        retest.findings.push(finding);
    }
    tests.select(&mut jobs, &retest.scans);
    let mut excluded = Vec::new();
    if unknown > 0 {
        excluded.push(format!(
            "{} excluded: scan unknown.",
            plural(unknown, "finding")
        ));
    }
    if imported > 0 {
        excluded.push(format!(
            "{} excluded: imported; a newer file retests them.",
            plural(imported, "finding")
        ));
    }
    if secret > 0 {
        excluded.push(format!(
            "{} excluded: the scan used credentials that are not stored.",
            plural(secret, "finding")
        ));
    }
    (Plan { retest, jobs }, excluded)
}

fn retest_finding(model: &Model, issue: &Issue) -> Option<RetestFinding> {
    let before = match model.assessment(issue.id) {
        Some(assessment) if assessment.reopened.is_some() => {
            format!("was {}", assessment.verdict.word())
        }
        Some(assessment) => assessment.verdict.word().to_owned(),
        None => "open".to_owned(),
    };
    let target = issue
        .target_id()
        .and_then(|id| model.target_name(id).cloned());
    RetestFinding::new(
        issue,
        &before,
        target.unwrap_or_else(|| issue.identity.asset.clone()),
    )
}

/// The call that starts a scan again; none if it signed in with a secret.
pub(crate) fn same_again(model: &Model, scan: &Scan) -> Option<NewScan> {
    let params = scan.tool_params.clone();
    let signed_in =
        |params: &serde_json::Value| params.get("authentication").is_some_and(|it| !it.is_null());
    if params.as_ref().is_some_and(signed_in) {
        return None;
    }
    Some(NewScan {
        tool_id: scan.tool_id,
        target_id: Some(scan.target_id),
        workspace_id: scan.workspace_id.or(model.navigation.scope.workspace),
        max_scan_time: scan
            .max_scan_time
            .filter(|minutes| SCAN_MINUTES.contains(minutes)),
        scan_original_url: scan.scan_original_url.then_some(true),
        tool_params: params,
        ..NewScan::default()
    })
}

/// `d` in the scans: compares two marked scans, or one with the previous one.
pub(crate) fn compare_scans(model: &mut Model) {
    let Some(scans) = model.data.scans.value().cloned() else {
        return;
    };
    let chosen = model.chosen(Pane::Scans);
    let chosen: Vec<_> = chosen
        .ids
        .iter()
        .filter_map(|&id| scans.get(ScanId(id)))
        .collect();
    match chosen.as_slice() {
        [after] => match compare::before(&scans, after) {
            Some(before) => model.open_compare(before.id, after.id),
            None => model.notify(
                Tone::Plain,
                "no earlier scan of this target with this tool: mark two scans",
            ),
        },
        [a, b] => {
            let (before, after) = compare::in_order(a, b);
            model.open_compare(before.id, after.id);
        }
        _ => model.notify(Tone::Plain, "mark two scans to compare them"),
    }
}

/// `d` on a finding: shows the differences between its last two scans. Of an absent finding these
/// are the last scan that found it, and the first one that did not.
pub(crate) fn show_difference(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(issue) = model.issue_at_hand().cloned() else {
        return model.notify(Tone::Plain, "nothing selected");
    };
    let count = if issue.is_present() { 2 } else { 1 };
    let compared: Vec<Arc<ListedFinding>> = occurrences(&issue).take(count).cloned().collect();
    if compared.len() < count {
        return model.notify(Tone::Plain, "seen in one scan: nothing to compare");
    }
    if !model.must_read_findings(FindingUse::Difference, &compared, effects) {
        let held = |finding: Arc<ListedFinding>| {
            let texts = finding.held_texts().cloned().unwrap_or_default();
            (finding, Ok(texts))
        };
        show_difference_of(model, &compared.into_iter().map(held).collect::<Vec<_>>());
    }
}

/// Shows the differences between a finding and an earlier one.
pub(crate) fn show_difference_of(model: &mut Model, read: &[ReadFinding]) {
    let scan =
        |id: Option<ScanId>| id.map_or_else(|| "a scan".to_owned(), |id| model.scan_words(id));
    let ((name, scans), differs, evidence) = match read {
        [(after, Ok(later)), (before, Ok(earlier))] => {
            let differs = differences(before, after);
            let differs = if differs.is_empty() {
                "no differences".to_owned()
            } else {
                differs.join("\n")
            };
            let evidence = changed_lines(&evidence_text(earlier), &evidence_text(later));
            (
                (&after.name, [before.task_id(), after.task_id()]),
                differs,
                evidence,
            )
        }
        [(last, Ok(texts))] => {
            let scans = [last.task_id(), first_without(model, last)];
            (
                (&last.name, scans),
                "absent".to_owned(),
                changed_lines(&evidence_text(texts), ""),
            )
        }
        _ => return,
    };
    let mut lines = vec![
        format!("- {}", scan(scans[0])),
        format!("+ {}", scan(scans[1])),
        String::new(),
        differs,
    ];
    lines.extend(evidence);
    let title = format!("Differences: {name}");
    model.show_text(title, lines.join("\n"));
}

/// The first scan that proved the absence of a finding.
fn first_without(model: &Model, last: &ListedFinding) -> Option<ScanId> {
    let issues = model.data.findings.value()?;
    let proof = issues
        .items()
        .iter()
        .find(|issue| issue.finding.id == last.id)?
        .absent_in()?;
    let scans = model.data.scans.value()?;
    let proved = scans.get(proof.scan)?;
    let is_first = |scan: &&Arc<Scan>| {
        (scan.target_id, scan.tool_id) == (proved.target_id, proved.tool_id)
            && scan.start_time == proof.since.get()
    };
    Some(
        scans
            .items()
            .iter()
            .find(is_first)
            .map_or(proof.scan, |first| first.id),
    )
}

/// Evidence as text for a line diff.
fn evidence_text(texts: &FindingTexts) -> String {
    use scandeck_wire::contract::EvidenceView;
    match texts.vuln_evidence.view().without_exchange() {
        EvidenceView::Nothing => String::new(),
        EvidenceView::Text(text) => text,
        EvidenceView::Table { rows, .. } => rows
            .iter()
            .map(|row| row.join("  "))
            .collect::<Vec<_>>()
            .join("\n"),
        EvidenceView::Tree(value) => serde_json::to_string_pretty(&value).unwrap_or_default(),
    }
}

/// Lines that only one of two texts has: `-` for the first, `+` for the second.
fn changed_lines(before: &str, after: &str) -> Vec<String> {
    let only = |of: &str, other: &str, sign: char| -> Vec<String> {
        let other: HashSet<&str> = other.lines().collect();
        of.lines()
            .filter(|line| !other.contains(line))
            .map(|line| format!("{sign} {line}"))
            .collect()
    };
    let all = [only(before, after, '-'), only(after, before, '+')].concat();
    if all.is_empty() {
        all
    } else {
        [vec![String::new(), "evidence".to_owned()], all].concat()
    }
}

/// Records the result of a start.
fn note(again: &mut RetestScan, state: &JobState) {
    match state {
        JobState::Done(answer) => {
            again.started = true;
            again.scan = match answer {
                CallAnswer::Scan(scan) => scan.created_id,
                _ => None,
            };
        }
        JobState::Refused(problem) => again.refused = Some(problem.to_string()),
        JobState::Cancelled => again.refused = Some("not sent".to_owned()),
        JobState::Waiting | JobState::InFlight(_) => {}
    }
}

impl Model {
    /// Starts the scans of a retest.
    pub(crate) fn begin_retest(&mut self, plan: Plan, effects: &mut Vec<Effect>) {
        let Plan { mut retest, jobs } = plan;
        // The question may have waited for an answer.
        retest.at = Some(Stamp(self.service_now()));
        let requested = self.findings.requested_retest.get_or_insert_default();
        requested.extend(retest.findings.iter().map(|finding| finding.key));
        let of: Vec<ScanId> = retest.scans.iter().map(|again| again.of).collect();
        let workspace = self.workspace_name();
        let scans = self.data.scans.value().cloned().unwrap_or_default();
        let on_board = self.navigation.focus.pane == Pane::Board
            && matches!(self.findings.board, Some(Board::Retest(_)));
        // A retest from the board, or while one is running, is added to it. Otherwise it replaces
        // the ended one.
        let retest = match self
            .retest_of(&workspace)
            .filter(|present| on_board || present.runs(&scans))
        {
            Some(mut present) => {
                present.take(retest);
                present
            }
            None => retest,
        };
        self.remember(RETEST_SETTING, &workspace, &retest, effects);
        self.set_board(Board::Retest(retest));
        self.begin(
            Batch {
                retest: of,
                workspace,
                ..Batch::new("retest", None, jobs)
            },
            effects,
        );
    }

    /// Saves the results of a batch in its retest, even if another workspace is open now.
    pub(crate) fn keep_retested(&mut self, batch: &Batch, effects: &mut Vec<Effect>) {
        if batch.retest.is_empty() {
            return;
        }
        let Some(mut retest) = self.retest_of(&batch.workspace) else {
            return;
        };
        for (of, (_, state)) in batch.retest.iter().zip(&batch.jobs) {
            if let Some(again) = retest.scans.iter_mut().find(|again| again.of == *of) {
                note(again, state);
            }
        }
        self.remember(RETEST_SETTING, &batch.workspace, &retest, effects);
        let is_here = self
            .workspace()
            .is_none_or(|here| here.name == batch.workspace);
        if is_here && let Some(requested) = &mut self.findings.requested_retest {
            // The batch reports refused scans: the notice about the end of a retest does not count
            // their findings.
            let is_refused = |scan: ScanId| {
                retest
                    .again(scan)
                    .is_some_and(|again| again.refused.is_some())
            };
            let refused = retest
                .findings
                .iter()
                .filter(|finding| is_refused(finding.scan));
            refused.for_each(|finding| _ = requested.remove(&finding.key));
        }
        if is_here && matches!(self.findings.board, Some(Board::Retest(_))) {
            self.set_board(Board::Retest(retest));
        }
    }

    fn set_board(&mut self, board: Board) {
        self.findings.board = Some(board);
        self.findings.board_revision += 1;
    }

    /// Shows the board. Its first row accepts a verdict only after it was seen.
    fn open_board(&mut self) {
        navigation::go(self, Pane::Board);
        self.overlay.notices.remove_starting(&[RETEST_ENDED]);
        // The guard has to know the first row before the next key.
        self.make_board();
        self.arm_guard(Pane::Board);
    }

    /// `:retest`: the board of the last retest in this workspace.
    pub fn open_retest(&mut self) {
        if !matches!(self.findings.board, Some(Board::Retest(_))) {
            let workspace = self.workspace_name();
            let Some(retest) = self.retest_of(&workspace) else {
                let retest = self.key_label(Context::Findings, Action::Item(ItemAction::Retest));
                return self.notify(
                    Tone::Plain,
                    format!("no retest yet · {retest} in findings starts one"),
                );
            };
            self.set_board(Board::Retest(retest));
        }
        self.open_board();
    }

    /// `d`, `:compare A B`: compares two scans, the earlier one first.
    pub fn open_compare(&mut self, before: ScanId, after: ScanId) {
        self.set_board(Board::Compare(before, after));
        self.lists.board = Default::default();
        self.lists.board.sort = BY_NOW;
        self.open_board();
    }

    /// The scans of a retest as a phrase: `5 scans: 2 done, 3 running`. The list counts the
    /// findings.
    pub fn board_words(&self) -> String {
        let scans = self.data.scans.value();
        match (&self.findings.board, scans) {
            (Some(Board::Retest(retest)), Some(scans)) => {
                let [done, running, failed] = retest.progress(scans);
                let counts = [(done, "done"), (running, "running"), (failed, "failed")];
                let counts = counts.iter().filter(|(count, _)| *count > 0);
                let counts = counts
                    .map(|(count, word)| format!("{count} {word}"))
                    .collect::<Vec<_>>()
                    .join(", ");
                format!("{}: {counts}", plural(retest.scans.len(), "scan"))
            }
            _ => String::new(),
        }
    }
}
