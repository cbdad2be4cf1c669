//! The targets of a command that starts or plans scans: by name or id, by tag, or all of a
//! workspace.

use clap::Args;

use super::{HeadlessSession, listed, targets};
use crate::cli::error::CliError;
use scandeck_client::TargetQuery;
use scandeck_wire::contract::target_tags::parse_tag;
use scandeck_wire::contract::{NewScan, Shared, Target, TargetId, WorkspaceId};

/// The targets of a command.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub struct TargetChoice {
    /// Target by name or id, repeatable; the service adds a new name
    #[arg(long, value_name = "NAME|ID")]
    target: Vec<String>,
    /// All targets with this tag; `scandeck targets tag` adds it to a target
    #[arg(long, value_name = "TAG", value_parser = parse_tag)]
    tag: Option<Shared>,
    /// All targets of the workspace that --workspace names
    #[arg(long)]
    all_targets: bool,
}

/// A target that exists, or a name that the service adds.
#[derive(Clone, Debug)]
pub struct ChosenTarget {
    pub name: String,
    pub id: Option<TargetId>,
    pub workspace: Option<WorkspaceId>,
}

impl ChosenTarget {
    pub fn of(target: Target, workspace: Option<WorkspaceId>) -> Self {
        Self {
            name: target.name.to_string(),
            id: Some(target.id),
            workspace: workspace.or(Some(target.workspace_id)),
        }
    }

    /// The scan of this target.
    pub fn scan(&self, new: &NewScan) -> NewScan {
        NewScan {
            target_id: self.id,
            target_name: self.id.is_none().then(|| self.name.clone()),
            workspace_id: self.workspace,
            ..new.clone()
        }
    }
}

impl TargetChoice {
    /// The chosen targets, each once.
    ///
    /// # Errors
    /// When `--all-targets` has no workspace or no targets, no target has the tag, a target does
    /// not exist, and those of the service.
    pub async fn resolve(&self, session: &HeadlessSession) -> anyhow::Result<Vec<ChosenTarget>> {
        let workspace = session.workspace_id().await?;
        if self.all_targets {
            return all_targets(session, workspace).await;
        }
        if let Some(tag) = &self.tag {
            return tagged_targets(session, workspace, tag).await;
        }
        let mut chosen: Vec<ChosenTarget> = Vec::new();
        for text in &self.target {
            let existing = match text.parse::<TargetId>() {
                Ok(id) => {
                    let target = session.client()?.get_target(id).await;
                    Some(listed("targets", target.map_err(Into::into))?)
                }
                Err(_) => targets::find(session, text).await?,
            };
            let one = match existing {
                Some(target) => ChosenTarget::of(target, workspace),
                None => ChosenTarget {
                    name: text.clone(),
                    id: None,
                    workspace,
                },
            };
            let is_same = |other: &ChosenTarget| other.id == one.id && other.name == one.name;
            if !chosen.iter().any(is_same) {
                chosen.push(one);
            }
        }
        Ok(chosen)
    }

    /// Whether it means other targets when targets or their tags change.
    pub fn is_open(&self) -> bool {
        self.all_targets || self.tag.is_some()
    }

    pub fn tag(&self) -> Option<&Shared> {
        self.tag.as_ref()
    }
}

async fn tagged_targets(
    session: &HeadlessSession,
    workspace_id: Option<WorkspaceId>,
    tag: &Shared,
) -> anyhow::Result<Vec<ChosenTarget>> {
    let query = TargetQuery {
        workspace_id,
        ..TargetQuery::default()
    };
    let mut all = session.client()?.list_all_targets(&query).await?;
    all.retain(|target| target.tags.contains(tag));
    if all.is_empty() {
        let hint = format!(
            "`scandeck targets tag NAME +{tag}` adds it; only a service of scandeck has tags"
        );
        return Err(CliError::new(format!("no target has the tag #{tag}"), hint).into());
    }
    let chosen = all
        .into_iter()
        .map(|target| ChosenTarget::of(target, workspace_id));
    Ok(chosen.collect())
}

async fn all_targets(
    session: &HeadlessSession,
    workspace: Option<WorkspaceId>,
) -> anyhow::Result<Vec<ChosenTarget>> {
    let Some(workspace) = workspace else {
        let hint = "add --workspace NAME";
        return Err(CliError::usage("--all-targets needs a workspace", hint).into());
    };
    let query = TargetQuery {
        workspace_id: Some(workspace),
        ..TargetQuery::default()
    };
    let all = session.client()?.list_all_targets(&query).await?;
    if all.is_empty() {
        let hint = "`scandeck targets add NAME` adds a target";
        return Err(CliError::new("the workspace has no targets", hint).into());
    }
    let chosen = all
        .into_iter()
        .map(|target| ChosenTarget::of(target, Some(workspace)));
    Ok(chosen.collect())
}
