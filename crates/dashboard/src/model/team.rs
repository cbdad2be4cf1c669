//! The team on the service: the own name, who looks at what, notes that mention the user, and the
//! question before private decisions are shared.
//!
//! ```text
//!   TeamNews ─► handle_team ─► Team ─► header, lists, detail, review
//!   workspace and finding on the screen ─► Effect::Team(Look)        at the end of each message
//!   question ─► prompt, once no other layer is open ─► Effect::Team(Join)
//!   the service responds again ─► Effect::Team(Resume)
//! ```
//!
//! Without a team nothing here changes the screen.

use crate::base::{Effect, FirstJoin, Pane, TeamRequest, Tone};
use crate::data::{LookedAt, Team, TeamNews};
use crate::model::{Modal, Model, SEEN_AFTER};
use crate::prompts::{Prompt, Then};
use scandeck_domain::triage::{Change, Event, FindingKey, IssueId, Subject};
use scandeck_wire::contract::team::{Purged, Viewer};
use scandeck_wire::contract::{Shared, WorkspaceId};
use scandeck_wire::sqlite::RefusedRows;
use scandeck_wire::text::{self, plural};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// The role of keys that read only.
const READ: &str = "read";

impl Model {
    /// Takes news of the sync task.
    pub(crate) fn handle_team(&mut self, news: TeamNews) {
        let team = &mut self.connection.team;
        match news {
            TeamNews::Member(me) => {
                team.has_extensions = !me.service.is_empty();
                team.me = Some(me).filter(|me| !me.name.is_empty());
                self.sign_as_member();
            }
            TeamNews::Question(question) if team.is_open(question.workspace) => {
                (team.question, team.is_asked) = (Some(question), false);
            }
            TeamNews::Private(workspace) if team.is_open(workspace) => {
                (team.question, team.is_private) = (None, true);
            }
            TeamNews::Exchanged {
                workspace,
                viewers,
                unsent,
                refused,
                problem,
            } if team.is_open(workspace) => {
                team.viewers = viewers;
                team.unsent = unsent;
                team.refused = refused;
                team.problem = problem;
            }
            TeamNews::Refused(problem) => {
                self.notify_problem("the service refused some decisions", &problem);
            }
            TeamNews::Purged {
                workspace,
                name,
                purged,
            } => self.take_purge(workspace, name, purged),
            // The user has opened another workspace in the meantime.
            TeamNews::Question(_) | TeamNews::Private(_) | TeamNews::Exchanged { .. } => {}
        }
    }

    /// Decisions have the name of the key as their author from now on; without a member, that of the
    /// user of this machine.
    pub(crate) fn sign_as_member(&mut self) {
        let team = &mut self.connection.team;
        let Some(writer) = &mut self.findings.triage.writer else {
            return;
        };
        match &team.me {
            Some(me) if writer.who != me.name => {
                let before = std::mem::replace(&mut writer.who, me.name.clone());
                // A member is replaced by another one after an earlier key was remembered.
                team.earlier_name.get_or_insert(before);
            }
            Some(_) => {}
            // The service has no team any more.
            None => {
                if let Some(before) = team.earlier_name.take() {
                    writer.who = before;
                }
            }
        }
    }

    fn take_purge(&mut self, workspace: WorkspaceId, name: Shared, purged: Purged) {
        let notice = purge_words(&name, &purged);
        let now = self.now.mono;
        let notices = &mut self.overlay.notices;
        notices.notify_until_seen(now, Tone::Bad, notice);
        let team = &mut self.connection.team;
        if team.is_open(workspace) {
            (team.is_private, team.purged) = (true, Some((name, purged)));
        }
    }

    /// Whether the service has a team and the key is a member's.
    pub fn has_team(&self) -> bool {
        self.connection.team.me.is_some()
    }

    /// Whether the service has schedules and tags: only one of scandeck has them.
    pub fn has_extensions(&self) -> bool {
        self.connection.team.has_extensions
    }

    /// The name of the user: of the key, else the author of decisions on this machine.
    pub fn own_name(&self) -> Shared {
        let me = self.connection.team.me.as_ref().map(|me| &me.name);
        let writer = self.findings.triage.writer.as_ref();
        let name = me.or(writer.map(|writer| &writer.who));
        name.cloned().unwrap_or_default()
    }

    /// Whether the user has this name, or had it before the key was a member's.
    pub fn is_own_name(&self, name: &Shared) -> bool {
        *name == self.own_name() || self.connection.team.earlier_name.as_ref() == Some(name)
    }

    /// Whether decisions are refused because the key may only read those of the team.
    pub(crate) fn may_only_read(&self) -> bool {
        let team = &self.connection.team;
        let is_reader = team.me.as_ref().is_some_and(|me| me.role == *READ);
        is_reader && !team.is_private
    }

    /// The members who are known, as an assignee is typed: those who are here, and those who have
    /// findings.
    pub fn known_members(&self) -> Vec<String> {
        let assessments = &self.findings.triage.assessments;
        let assigned = assessments.iter().filter_map(|it| it.assignee.as_ref());
        let viewers = self.connection.team.viewers.iter().map(|it| &it.who);
        let known: BTreeSet<&Shared> = assigned.chain(viewers).collect();
        let words = ["me", "nobody"].map(str::to_owned).into_iter();
        words
            .chain(known.into_iter().map(Shared::to_string))
            .collect()
    }

    /// The other members who look at a finding.
    pub fn viewers_of(&self, key: FindingKey) -> Vec<&Viewer> {
        let looks_at = |viewer: &&Viewer| {
            let finding = viewer.finding.as_ref().map(|finding| finding.parse());
            finding == Some(Ok(key))
        };
        let viewers = &self.connection.team.viewers;
        viewers.iter().filter(looks_at).collect()
    }

    /// The finding that has been on the screen for a second, and when the next one will have been.
    fn looked_at(&self) -> (Option<FindingKey>, Option<Duration>) {
        let team = &self.connection.team;
        let Some((Pane::Findings | Pane::Board, id, since)) = self.findings.looking else {
            return (None, None);
        };
        let table = self.data.findings.value().filter(|_| team.me.is_some());
        let Some(issue) = table.and_then(|table| table.get(IssueId(id))) else {
            return (None, None);
        };
        let at = since + SEEN_AFTER;
        match at <= self.now.mono {
            true => (Some(issue.key()), None),
            // Until then the members see the finding before it.
            false => (team.looked.as_ref().and_then(|it| it.finding), Some(at)),
        }
    }

    /// When another finding will have been on the screen for a second.
    pub(crate) fn looks_at(&self) -> Option<Duration> {
        self.looked_at().1
    }

    /// Reports the workspace and the finding on the screen to the sync task when they changed.
    pub(crate) fn report_look(&mut self, effects: &mut Vec<Effect>) {
        let workspace = self.workspace().map(|open| (open.id, open.name.clone()));
        let look = LookedAt {
            finding: self.looked_at().0.filter(|_| workspace.is_some()),
            workspace,
        };
        let before = self.connection.team.looked.as_ref();
        if before == Some(&look) || (before.is_none() && look.workspace.is_none()) {
            return;
        }
        let id = |look: &LookedAt| look.workspace.as_ref().map(|(id, _)| *id);
        if before.is_some_and(|before| id(before) != id(&look)) {
            self.connection.team.leave_workspace();
            // Its question concerns the workspace before.
            let is_question = |modal: &Modal| matches!(modal, Modal::Prompt(prompt) if matches!(prompt.then, Then::Team(_)));
            self.overlay.modals.retain(|modal| !is_question(modal));
        }
        self.connection.team.looked = Some(look.clone());
        effects.push(Effect::Team(TeamRequest::Look {
            workspace: look.workspace,
            finding: look.finding,
        }));
    }

    /// Makes the sync task try at once when the service responds again: after an outage, its own
    /// next attempt can be half a minute away.
    pub(crate) fn resume_team(&self, was_disconnected: bool, effects: &mut Vec<Effect>) {
        if was_disconnected && !self.is_disconnected() && self.has_team() {
            effects.push(Effect::Team(TeamRequest::Resume));
        }
    }

    /// Opens the question before private decisions are shared, over no other layer.
    pub(crate) fn ask_to_join(&mut self) {
        let team = &mut self.connection.team;
        if team.is_asked || !self.overlay.modals.is_empty() {
            return;
        }
        let Some(question) = team.question.clone() else {
            return;
        };
        team.is_asked = true;
        self.open_prompt(join_prompt(&question));
    }

    /// Shares the decisions of a workspace with the team, or keeps them private.
    pub(crate) fn join_team(&mut self, request: TeamRequest, effects: &mut Vec<Effect>) {
        if let TeamRequest::Join {
            workspace,
            is_shared,
        } = &request
        {
            let team = &mut self.connection.team;
            if !team.is_open(*workspace) {
                return self.notify(Tone::Plain, "another workspace is open; nothing is sent");
            }
            (team.question, team.is_private) = (None, !is_shared);
            if *is_shared {
                team.purged = None;
            }
            let name = self.workspace_name();
            match is_shared {
                true => self.notify(Tone::Good, format!("decisions of {name} are shared")),
                false => self.notify(Tone::Plain, format!("decisions of {name} remain private")),
            }
        }
        effects.push(Effect::Team(request));
    }

    /// Notifies about new notes of others that mention the user.
    pub(crate) fn notify_mentions(&mut self, events: &[Arc<Event>]) {
        if !self.has_team() {
            return;
        }
        let new = events
            .iter()
            .filter(|event| !self.findings.triage.state.knows(event.id) && self.mentions_me(event));
        let new: Vec<&Arc<Event>> = new.collect();
        let notice = match new.as_slice() {
            [] => return,
            [one] => {
                let (who, name) = (&one.who, subject_name(one));
                format!("{who} mentions you on {name} · :mentions shows it")
            }
            several => {
                let notes = plural(several.len(), "note");
                format!("{notes} mention you · :mentions shows them")
            }
        };
        let now = self.now.mono;
        let notices = &mut self.overlay.notices;
        notices.notify_until_seen(now, Tone::Good, notice);
    }

    /// Whether an event is a note of somebody else that names the user.
    fn mentions_me(&self, event: &Event) -> bool {
        match &event.change {
            Change::Note(text) => mentions(text, &self.own_name()) && !self.is_own_name(&event.who),
            _ => false,
        }
    }

    /// The notes in this workspace that mention the user, newest first.
    pub(crate) fn notes_to_me(&self) -> Vec<&Arc<Event>> {
        let here = self.workspace_name();
        let all = self.findings.triage.state.notes();
        let is_shown = |event: &&Arc<Event>| event.workspace == here && self.mentions_me(event);
        let mut notes: Vec<&Arc<Event>> = all.filter(is_shown).collect();
        notes.sort_by_key(|event| std::cmp::Reverse((event.clock, event.id)));
        notes
    }
}

impl Team {
    /// Whether this workspace is on the screen.
    fn is_open(&self, workspace: WorkspaceId) -> bool {
        let looked = self.looked.as_ref();
        let open = looked.and_then(|looked| looked.workspace.as_ref());
        open.is_some_and(|(id, _)| *id == workspace)
    }

    /// Members here, including the user.
    pub fn members(&self) -> usize {
        self.viewers.len() + 1
    }

    /// Decisions and payloads that the service refused.
    pub fn refused_rows(&self) -> usize {
        RefusedRows::count(&self.refused)
    }

    /// Whether the decisions of the workspace are not shared: the user has not answered yet, or
    /// keeps them private.
    pub fn is_unshared(&self) -> bool {
        self.is_private || self.question.is_some()
    }

    /// Another workspace is open: the state belongs to the previous workspace.
    fn leave_workspace(&mut self) {
        (self.question, self.is_asked, self.is_private) = (None, false, false);
        (self.viewers, self.unsent, self.problem) = (Arc::default(), 0, None);
        self.refused = Arc::default();
        self.purged = None;
    }
}

/// The name of the finding of an event.
pub(crate) fn subject_name(event: &Event) -> Shared {
    match &event.subject {
        Subject::Finding(identity) => identity.name.clone(),
        _ => "a finding".into(),
    }
}

/// `2026-11-29 09:12:44  bob on Open redirect: @anna please check`.
pub(crate) fn note_line(note: &Event) -> String {
    let words = match &note.change {
        Change::Note(words) => words.trim().lines().next().unwrap_or_default(),
        _ => "",
    };
    let (at, who, name) = (note.at, text::clean(&note.who), subject_name(note));
    format!(
        "{at}  {who} on {}: {}",
        text::clean(&name),
        text::clean(words)
    )
}

/// `anna deleted the shared decisions of Acme at 14:02; yours remain on this machine`.
pub(crate) fn purge_words(workspace: &str, purged: &Purged) -> String {
    let who = &purged.who;
    let at = purged
        .at
        .map(|at| format!(" at {}", at.0.strftime("%H:%M")));
    let at = at.unwrap_or_default();
    format!("{who} deleted the shared decisions of {workspace}{at}; yours remain on this machine")
}

/// The places of `@name` in a text, in any case.
pub(crate) fn mentioned_at(text: &str, name: &str) -> Vec<std::ops::Range<usize>> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    let mut places = Vec::new();
    for (at, _) in text.match_indices('@') {
        let from = at + 1;
        let end = from + name.len();
        let is_same = text
            .get(from..end)
            .is_some_and(|word| word.eq_ignore_ascii_case(name));
        let before = text[..at].chars().next_back();
        let rest = text.get(end..).unwrap_or_default();
        // A dot belongs to a name, unless it ends the sentence.
        let after = rest.trim_start_matches('.').chars().next();
        let is_whole = !before.is_some_and(is_of_name) && !after.is_some_and(is_of_name);
        if is_same && is_whole && !name.is_empty() {
            places.push(at..end);
        }
    }
    places
}

fn mentions(text: &str, name: &str) -> bool {
    !mentioned_at(text, name).is_empty()
}

fn join_prompt(question: &FirstJoin) -> Prompt {
    let answer = |is_shared| {
        Then::Team(TeamRequest::Join {
            workspace: question.workspace,
            is_shared,
        })
    };
    let both = match (question.findings, question.conflicts) {
        (0, _) => "No finding has decisions of both.".to_owned(),
        (findings, conflicts) => format!(
            "{} with decisions of both, {conflicts} in conflict.",
            plural(findings, "finding")
        ),
    };
    let own = format!(
        "Sends {} and {} of this machine.",
        plural(question.own, "decision"),
        plural(question.payloads, "payload")
    );
    let others = plural(question.others, "decision");
    Prompt::new(
        format!("Share your decisions in {} with the team?", question.name),
        answer(true),
    )
    .with_line(own)
    .with_line(format!("Adds {others} of the team here. {both}"))
    .with_line("Until you answer, nothing is sent. Later, :team join asks again.")
    .with_other("keep private", Prompt::new("", answer(false)).with_enter())
}

/// The question before decisions are shared again that a member has deleted at the service.
pub(crate) fn rejoin_prompt(workspace: &str, purged: &Purged, join: TeamRequest) -> Prompt {
    let question = format!("Share the decisions in {workspace} again?");
    Prompt::new(question, Then::Team(join))
        .with_line(purge_words(workspace, purged))
        .with_line("Sends all decisions of this workspace on this machine, also those of others.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mention_is_a_whole_name_in_any_case() {
        let is = |text: &str| mentions(text, "anna");
        assert!(is("@anna") && is("ask @Anna.") && is("(@anna, @bob)"));
        assert!(!is("anna") && !is("@annabel") && !is("@anna-lab") && !is("x@anna"));
        assert!(!mentions("@", "") && !is("@ännä"));
        assert!(!is("@anna.k") && is("ask @anna. Then") && is("@anna..."));
        assert!(mentions("@Anna.K.", "anna.k") && !mentions("@annaxk", "anna.k"));
    }
}
