//! `scandeck findings prove`: sends the requests in the evidence of findings again, and judges the
//! answers.
//!
//! ```text
//!   finding ─► ProofRequest ─► scope file ─► target ─► FindingProof ─► decisions, standard output
//!                  └─► refused: the reason and a curl command
//! ```

use std::collections::HashSet;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::findings::named;
use super::rows::FindingRows;
use super::{HeadlessSession, decisions, exit, explain};
use crate::cli::error::CliError;
use crate::cli::stdio;
use scandeck_client::{Error, ErrorKind, ProofScope, check_proof, send_proof};
use scandeck_dashboard::config::Environment;
use scandeck_dashboard::runtime::local::proof_scope;
use scandeck_domain::export::ExportRow;
use scandeck_domain::finding_request::FindingRequest;
use scandeck_domain::proof::{
    ExpectedAnswer, FindingProof, ProofOutcome, ProofRefusal, ProofRequest,
};
use scandeck_domain::triage::{Change, Subject};
use scandeck_wire::contract::{Evidence, Shared, Tool};
use scandeck_wire::text::{self, io_cause};

#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck findings prove 4711
  scandeck findings prove 4711 4712 --json")]
pub struct ProveArgs {
    /// Ids of any occurrence, or fingerprints
    #[arg(
        value_name = "ID|FINGERPRINT",
        required = true,
        allow_negative_numbers = true
    )]
    ids: Vec<String>,
    /// Send this header or URL parameter of the evidence although it has credentials, such as
    /// Cookie; repeatable
    #[arg(long, value_name = "HEADER")]
    send: Vec<String>,
    /// Also send requests that may carry a payload, to targets whose scope entry has `active`
    #[arg(long)]
    allow_active: bool,
}

/// What became of a request.
struct ProofAttempt<'a> {
    row: &'a ExportRow,
    result: Result<MadeProof, UnsentProof>,
}

struct MadeProof {
    proof: FindingProof,
    /// Whether the target may have received the request.
    was_sent: bool,
    /// Names of headers with credentials that were not sent.
    left_out: Vec<String>,
}

/// Why a request was not sent.
struct UnsentProof {
    /// For programs.
    code: &'static str,
    because: String,
    /// The command that sends it by hand.
    curl: Option<String>,
}

/// Proves the findings one after the other. Each proof is saved and printed before the next one, so
/// that a later failure loses none.
///
/// # Errors
/// Those of the service, when a finding does not exist, and when a proof cannot be saved.
pub async fn run(session: &HeadlessSession, args: ProveArgs) -> anyhow::Result<ExitCode> {
    session.require_writable()?;
    let rows = FindingRows::load(session).await?;
    let selected = select(&rows, &args.ids)?;
    let scope = scope(args.allow_active)?;
    // A proof without an author could not be saved.
    let who = session.author().await?;
    let (mut attempts, mut saved) = (Vec::new(), Ok(()));
    for row in selected {
        let result = prove(row, &args.send, &scope).await;
        let attempt = ProofAttempt { row, result };
        if let Some(proven) = change(&attempt) {
            let changes = vec![proven];
            saved = decisions::write(&session.memory, who.clone(), rows.state(), changes).await;
        }
        if !session.out.json {
            let blank = if attempts.is_empty() { "" } else { "\n" };
            stdio::print(format!("{blank}{}", attempt.printed()).as_bytes())?;
        }
        attempts.push(attempt);
        if saved.is_err() {
            break;
        }
    }
    if session.out.json {
        let values: Vec<Value> = attempts.iter().map(ProofAttempt::json).collect();
        session.out.value(&values)?;
    }
    saved?;
    Ok(exit_code(&attempts))
}

/// The named rows, each finding once.
fn select<'a>(rows: &'a FindingRows, ids: &[String]) -> anyhow::Result<Vec<&'a ExportRow>> {
    let mut selected = named(&rows.all, ids)?;
    // A finding of two workspaces has one key.
    let mut keys = HashSet::new();
    selected.retain(|row| keys.insert(row.issue.key()));
    Ok(selected)
}

/// The scope file of this machine, whatever service has the findings.
fn scope(allow_active: bool) -> anyhow::Result<ProofScope> {
    let directory = Environment::of_process()?.state_dir().service_dir();
    let scope = proof_scope(&directory, allow_active);
    Ok(scope.map_err(|error| CliError::new(&error, error.hint()))?)
}

/// Whether the scope allows the target, but no payload.
fn is_of_payload(error: &Error, request: &ProofRequest, scope: &ProofScope) -> bool {
    let without = ProofRequest {
        has_payload: false,
        ..request.clone()
    };
    let is_forbidden = request.has_payload && error.kind == ErrorKind::Forbidden;
    is_forbidden && check_proof(&without, scope).is_ok()
}

async fn prove(
    row: &ExportRow,
    send: &[String],
    scope: &ProofScope,
) -> Result<MadeProof, UnsentProof> {
    let texts = row.issue.texts();
    let texts = texts.map_err(|error| UnsentProof::new("no_evidence", &io_cause(&error)))?;
    let evidence = &texts.vuln_evidence;
    let request = ProofRequest::plan(evidence, row.tool.map(Tool), send)
        .map_err(|refusal| UnsentProof::with_curl(refusal.as_str(), &refusal.reason(), evidence))?;
    let received = send_proof(&request, scope).await;
    let received = received.map_err(|error| match is_of_payload(&error, &request, scope) {
        true => UnsentProof::with_curl(ProofRefusal::Payload.as_str(), &error, evidence),
        false => UnsentProof::new("not_sent", &error),
    })?;
    let was_sent = match &received {
        Ok(_) => true,
        Err(missing) => missing.was_sent,
    };
    let expected = ExpectedAnswer::of(evidence);
    let answer = received.map_err(|missing| missing.problem);
    Ok(MadeProof {
        proof: FindingProof::new(&request, &expected, answer),
        was_sent,
        left_out: request.left_out,
    })
}

fn change(attempt: &ProofAttempt<'_>) -> Option<(Shared, Subject, Change)> {
    let proof = &attempt.result.as_ref().ok()?.proof;
    let row = attempt.row;
    Some((
        row.workspace.clone(),
        Subject::Finding(row.issue.identity.clone()),
        Change::Proof(Box::new(proof.clone())),
    ))
}

/// One that is still there decides, then one without an outcome.
fn exit_code(attempts: &[ProofAttempt<'_>]) -> ExitCode {
    let outcomes: Vec<ProofOutcome> = attempts.iter().map(ProofAttempt::outcome).collect();
    if outcomes.contains(&ProofOutcome::StillThere) {
        ExitCode::from(exit::STILL_THERE)
    } else if outcomes.contains(&ProofOutcome::CannotTell) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

impl MadeProof {
    fn json(&self) -> Value {
        let mut value = self.proof.json();
        value["left_out"] = json!(self.left_out);
        value
    }
}

impl UnsentProof {
    fn new(code: &'static str, because: &dyn std::fmt::Display) -> Self {
        Self {
            code,
            because: because.to_string(),
            curl: None,
        }
    }

    fn with_curl(code: &'static str, because: &dyn std::fmt::Display, evidence: &Evidence) -> Self {
        Self {
            curl: FindingRequest::of(evidence).map(|request| request.curl()),
            ..Self::new(code, because)
        }
    }
}

impl ProofAttempt<'_> {
    fn outcome(&self) -> ProofOutcome {
        match &self.result {
            Ok(made) => made.proof.outcome(),
            Err(_) => ProofOutcome::CannotTell,
        }
    }

    fn json(&self) -> Value {
        let issue = &self.row.issue;
        let mut value = match &self.result {
            Ok(made) => made.json(),
            Err(unsent) => json!({
                "refused": unsent.code,
                "because": unsent.because,
                "curl": unsent.curl,
            }),
        };
        value["id"] = json!(issue.finding.id);
        value["fingerprint"] = json!(issue.key());
        value["name"] = json!(issue.name);
        value["sent"] = json!(self.result.as_ref().is_ok_and(|made| made.was_sent));
        value
    }

    /// The lines for people. A command is printed as it is, because it is copied.
    fn printed(&self) -> String {
        let issue = &self.row.issue;
        let mut lines = vec![labelled(
            "Finding",
            &format!("{} {}", issue.finding.id, issue.name),
        )];
        match &self.result {
            Ok(made) => lines.extend(self.proof_lines(made)),
            Err(unsent) => {
                lines.push(labelled("Not sent", &unsent.because));
                lines.extend(unsent.curl.iter().map(|curl| format!("By hand   {curl}\n")));
            }
        }
        lines.concat()
    }

    fn proof_lines(&self, made: &MadeProof) -> Vec<String> {
        let proof = &made.proof;
        let mut lines = vec![labelled(
            "Request",
            &format!("{} {}", proof.method, proof.url),
        )];
        lines.extend(proof.headers.iter().map(|header| labelled("", header)));
        if !made.left_out.is_empty() {
            lines.push(labelled("Without", &made.left_out.join(", ")));
        }
        lines.push(labelled("Then", &proof.then.summary()));
        lines.push(labelled("Now", &proof.summary()));
        lines.push(labelled("Proof", &proof.phrase()));
        let decide = |verdict| labelled("Next", &explain::decide(self.row, verdict));
        lines.extend(proof.verdict().map(decide));
        lines
    }
}

fn labelled(label: &str, words: &str) -> String {
    format!("{label:10}{}\n", text::clean(words))
}
