//! The checks of the connection: key, service, workspace, clock, rate limit and team.

use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use super::Diagnosis;
use crate::cli::dashboard::headless::session::{ServiceArgs, local, memory};
use scandeck_client::{BaseUrl, Client, ClientSettings, Error, Lane, RawRequest, RequestBody};
use scandeck_dashboard::config::{Config, Connection, Environment};
use scandeck_wire::contract::team::Member;
use scandeck_wire::contract::workspace::is_same_name;
use scandeck_wire::sqlite::RefusedRows;
use scandeck_wire::text::plural;

const CONNECTION: &str = "connection";
/// A clock that is further off makes ages and deadlines wrong.
const CLOCK_LIMIT: i64 = 60;

/// Checks the service; returns also the owner of the key in a team.
pub async fn check(
    args: &ServiceArgs,
    environment: &Environment,
    config: &Config,
) -> (Vec<Diagnosis>, Option<Member>) {
    let without_member = |checks: Vec<Diagnosis>| (checks, None);
    let service = |value: String| Diagnosis::ok(CONNECTION, "service", value);
    let settings = match &config.connection {
        Connection::Remote { base, key } => match key.read().await {
            Ok(secret) => {
                ClientSettings::new(base.clone(), secret).with_key_source(&key.to_string())
            }
            // The error names the source of the key.
            Err(error) => {
                let unread = Diagnosis::ok(CONNECTION, "key", "");
                return without_member(vec![unread.with_error(&error.into())]);
            }
        },
        Connection::Local | Connection::Prompt => match local(environment, false).await {
            Ok(Some(settings)) => settings,
            Ok(None) if matches!(config.connection, Connection::Local) => {
                return without_member(vec![
                    service("local service, not running".to_owned())
                        .warning("`scandeck` starts it"),
                ]);
            }
            Ok(None) => {
                let remedy = "set --base-url or a profile, or run `scandeck` to choose a service";
                return without_member(vec![
                    service("none configured, and no local service is running".to_owned())
                        .warning(remedy),
                ]);
            }
            Err(error) => {
                return without_member(vec![
                    service("local service".to_owned()).with_error(&error),
                ]);
            }
        },
    };
    let key = settings.key_source.as_deref().unwrap_or("none").to_owned();
    let mut all = vec![Diagnosis::ok(CONNECTION, "key", format!("from {key}"))];
    let client = match Client::new(settings) {
        Ok(client) => client,
        Err(error) => {
            all.push(service("not usable".to_owned()).with_error(&error.into()));
            return without_member(all);
        }
    };
    let workspace = args.workspace.as_deref().or(config.workspace.as_deref());
    all.extend(answers(&client, workspace).await);
    if !client.has_team() {
        return without_member(all);
    }
    let member = client.team_member().await;
    let stores = memory(environment, config, &config.service()).directory;
    all.push(match &member {
        Ok(member) => team(member, &refused_rows(&stores).await),
        Err(error) => Diagnosis::ok(CONNECTION, "team", "").with_error(&error.clone().into()),
    });
    (all, member.ok().filter(|member| !member.name.is_empty()))
}

/// The member of the team, and decisions that the service refused.
fn team(member: &Member, refused: &[RefusedRows]) -> Diagnosis {
    let of = |value: String| Diagnosis::ok(CONNECTION, "team", value);
    let Member { name, role, .. } = member;
    if name.is_empty() {
        return of("the key has no name: decisions remain on this machine".to_owned());
    }
    let group = |RefusedRows { reason, rows }: &RefusedRows| {
        format!("{} refused: {reason}", plural(*rows, "decision"))
    };
    let groups: Vec<String> = refused.iter().map(group).collect();
    let member = format!("{name}, role {role}");
    match groups.is_empty() {
        true => of(format!("{member}; no refused decisions")),
        false => of(format!("{member}; {}", groups.join("; ")))
            .warning("remove the cause; then `scandeck triage sync` sends them again"),
    }
}

/// The decisions and payloads on this machine that the service refused. Stores of a version
/// without teams have none.
async fn refused_rows(directory: &Path) -> Vec<RefusedRows> {
    let mut refused = Vec::new();
    for (table, file) in [("events", "decisions.db"), ("payloads", "captures.db")] {
        let file = directory.join(file);
        if file.exists() {
            refused.extend(RefusedRows::of_file(table, &file).await.unwrap_or_default());
        }
    }
    RefusedRows::merged(refused)
}

/// Calls the service: a small list and its OpenAPI document.
async fn answers(client: &Client, workspace: Option<&str>) -> Vec<Diagnosis> {
    let check = Diagnosis::ok(CONNECTION, "service", client.base().to_string());
    let begun = Instant::now();
    let workspaces = match client.list_workspaces().await {
        Ok(workspaces) => workspaces,
        Err(error) => return vec![refused(&client.base(), &error)],
    };
    let took = begun.elapsed().as_millis();
    let count = plural(workspaces.len(), "workspace");
    let mut all = vec![Diagnosis {
        value: format!("{} responds in {took} ms, {count}", check.value),
        ..check
    }];
    if let Some(name) = workspace {
        let is_found = workspaces
            .iter()
            .any(|one| name.parse() == Ok(one.id) || is_same_name(&one.name, name));
        let check = Diagnosis::ok(CONNECTION, "workspace", name);
        all.push(if is_found {
            check
        } else {
            check.failed("`scandeck workspaces list` lists workspaces")
        });
    }
    all.push(version(client).await);
    all.push(clock(client.clock_offset().map(|offset| offset.as_secs())));
    all.push(limit(client));
    all
}

fn refused(base: &BaseUrl, error: &Error) -> Diagnosis {
    Diagnosis::ok(CONNECTION, "service", base.to_string()).with_error(&error.clone().into())
}

/// The version in the OpenAPI document, which a service need not publish.
async fn version(client: &Client) -> Diagnosis {
    let path = "/openapi.json".to_owned();
    let request = RawRequest {
        method: "GET".to_owned(),
        path,
        query: Vec::new(),
        body: RequestBody::Empty,
    };
    let document = client
        .send_raw(request)
        .await
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let version = document
        .as_ref()
        .and_then(|document| document["info"]["version"].as_str());
    Diagnosis::ok(
        CONNECTION,
        "service version",
        version.unwrap_or("not published by the service"),
    )
}

fn clock(offset: Option<i64>) -> Diagnosis {
    let of = |value: String| Diagnosis::ok(CONNECTION, "clock", value);
    match offset {
        None => of("the service does not send its time".to_owned()),
        Some(offset) if offset.abs() > CLOCK_LIMIT => {
            let direction = if offset > 0 { "ahead of" } else { "behind" };
            of(format!(
                "the clock of the service is {} s {direction} this machine",
                offset.abs()
            ))
            .warning("synchronise the clocks (NTP); ages follow the clock of the service")
        }
        Some(0) => of("same as on this machine".to_owned()),
        Some(offset) => of(format!("differs by {} s", offset.abs())),
    }
}

fn limit(client: &Client) -> Diagnosis {
    let budget = client.budget(Lane::Read);
    let value = match (budget.limit, budget.remaining) {
        (Some(limit), Some(left)) => format!("{limit} requests/min, {left} left"),
        (Some(limit), None) => format!("{limit} requests/min"),
        _ => "none announced".to_owned(),
    };
    let check = Diagnosis::ok(CONNECTION, "rate limit", value);
    match budget.share_left() {
        Some(share) if share < 0.1 => {
            check.warning("wait a minute, or end other programs that use this key")
        }
        _ => check,
    }
}

#[cfg(test)]
mod tests {
    use super::super::DiagnosisState;
    use super::*;

    #[test]
    fn clock_that_differs_by_more_than_a_minute_is_a_warning() {
        assert_eq!(clock(Some(-2)).state, DiagnosisState::Ok);
        let late = clock(Some(-120));
        assert!(
            late.state == DiagnosisState::Warning && late.value.contains("120 s behind"),
            "{late:?}"
        );
    }
}
