//! The checks of configuration and connection: file, profile, key, service, workspace, clock and
//! rate limit.

use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use super::Diagnosis;
use crate::cli::dashboard::headless::session::{ServiceArgs, load_config, local, memory};
use crate::cli::dashboard::key_table;
use crate::cli::dashboard::live_settings::{CheckedThemes, checked_themes};
use crate::cli::error::{hint, with_causes};
use scandeck_client::{BaseUrl, Client, ClientSettings, Error, Lane, RawRequest, RequestBody};
use scandeck_dashboard::base::{OwnTheme, Scheme};
use scandeck_dashboard::config::{Config, Connection, Environment, ScreenSettings};
use scandeck_wire::contract::team::Member;
use scandeck_wire::contract::workspace::is_same_name;
use scandeck_wire::sqlite::RefusedRows;
use scandeck_wire::text::plural;

const CONFIGURATION: &str = "configuration";
const CONNECTION: &str = "connection";
/// A clock that is further off makes ages and deadlines wrong.
const CLOCK_LIMIT: i64 = 60;

/// Checks the configuration, and the service that it names. `background` is the scheme for the
/// background that the terminal reports.
pub async fn check(
    args: &ServiceArgs,
    environment: &Environment,
    background: Option<Scheme>,
) -> Vec<Diagnosis> {
    let file = args
        .config
        .clone()
        .unwrap_or_else(|| environment.config_file());
    let of = |value: String| Diagnosis::ok(CONFIGURATION, "file", value);
    let found = match file.exists() {
        true => of(file.display().to_string()),
        false => of(format!("none ({}); defaults apply", file.display())),
    };
    let config = match load_config(args) {
        Ok((_, config)) => config,
        // The file itself is valid; a profile or key is missing.
        Err(error) if Config::screen_of(args.config.as_deref(), environment).is_ok() => {
            return vec![
                found,
                failed(Diagnosis::ok(CONFIGURATION, "profile", ""), &error),
            ];
        }
        Err(error) => return vec![failed(of(String::new()), &error)],
    };
    let (answers, member) = service(args, environment, &config).await;
    let author = member.as_ref().map_or(config.user.as_str(), |it| &it.name);
    let mut all = vec![
        found,
        profile(args, &config, author),
        keys(&config),
        theme(&config.screen, background),
    ];
    all.extend(answers);
    all
}

fn profile(args: &ServiceArgs, config: &Config, author: &str) -> Diagnosis {
    // A local profile is not the owner of a base URL; its name is then that of the service.
    let is_local = matches!(config.connection, Connection::Local) && config.name != "local";
    let of_config = config
        .profile
        .as_deref()
        .or(is_local.then_some(config.name.as_str()));
    let profile = args.profile.as_deref().or(of_config).unwrap_or("none");
    let mode = if config.read_only { ", read-only" } else { "" };
    Diagnosis::ok(
        CONFIGURATION,
        "profile",
        format!("{profile}{mode}; decisions are recorded as {author}"),
    )
}

fn keys(config: &Config) -> Diagnosis {
    let changed = config.screen.keys.all.len();
    let value = match changed {
        0 => "defaults".to_owned(),
        changed => format!("{} changed", plural(changed, "action")),
    };
    let check = Diagnosis::ok(CONFIGURATION, "keys", value);
    match key_table::effective(&config.screen.keys) {
        Ok(_) => check,
        Err(error) => failed(
            Diagnosis {
                value: String::new(),
                ..check
            },
            &error.into(),
        ),
    }
}

fn theme(settings: &ScreenSettings, background: Option<Scheme>) -> Diagnosis {
    let check = |value: String| Diagnosis::ok(CONFIGURATION, "theme", value);
    let CheckedThemes { name, own, invalid } = match checked_themes(settings) {
        Ok(checked) => checked,
        Err(problem) => return failed(check(String::new()), &problem.into()),
    };
    let (mut values, mut remedies) = (Vec::new(), Vec::new());
    let in_use = own.iter().find(|theme| theme.name == name);
    if let Some(low) = in_use.and_then(OwnTheme::contrast_warning) {
        values.push(low);
        remedies.push("change the colours of these roles in the file".to_owned());
    }
    let scheme = Scheme::named(&name).or(in_use.map(|theme| theme.base));
    if let Some((of_theme, of_terminal)) = scheme
        .zip(background)
        .and_then(|(scheme, background)| differs(scheme, background))
    {
        values.push(format!(
            "for a {of_theme} background, but the terminal reports a {of_terminal} one"
        ));
        remedies.push(format!(
            "set theme = \"auto\", or a theme for a {of_terminal} background"
        ));
    }
    for (_, problem) in &invalid {
        values.push(format!("not usable: {problem}"));
        remedies.extend(problem.hint.clone());
    }
    let all = format!(
        "{name}; {}",
        plural(own.len() + invalid.len(), "theme file")
    );
    let value = [&[all], values.as_slice()].concat().join("; ");
    if remedies.is_empty() {
        check(value)
    } else {
        check(value).warning(remedies.join("; "))
    }
}

/// The backgrounds that a theme needs and that the terminal has, if they differ.
fn differs(scheme: Scheme, background: Scheme) -> Option<(&'static str, &'static str)> {
    match (scheme, background) {
        (Scheme::Mono, _) => None,
        (Scheme::Light, Scheme::Dark) => Some(("light", "dark")),
        (Scheme::Light, _) => None,
        (_, Scheme::Light) => Some(("dark", "light")),
        _ => None,
    }
}

/// The checks of the service, and the owner of the key in a team.
async fn service(
    args: &ServiceArgs,
    environment: &Environment,
    config: &Config,
) -> (Vec<Diagnosis>, Option<Member>) {
    let without_member = |checks: Vec<Diagnosis>| (checks, None);
    let check = |value: String| Diagnosis::ok(CONNECTION, "service", value);
    let settings = match &config.connection {
        Connection::Remote { base, key } => match key.read().await {
            Ok(secret) => {
                ClientSettings::new(base.clone(), secret).with_key_source(&key.to_string())
            }
            // The error names the source of the key.
            Err(error) => {
                let check = Diagnosis::ok(CONNECTION, "key", "");
                return without_member(vec![failed(check, &error.into())]);
            }
        },
        Connection::Local | Connection::Prompt => match local(environment, false).await {
            Ok(Some(settings)) => settings,
            Ok(None) if matches!(config.connection, Connection::Local) => {
                return without_member(vec![
                    check("local service, not running".to_owned()).warning("`scandeck` starts it"),
                ]);
            }
            Ok(None) => {
                let remedy = "set --base-url or a profile, or run `scandeck` to choose a service";
                return without_member(vec![
                    check("none configured, and no local service is running".to_owned())
                        .warning(remedy),
                ]);
            }
            Err(error) => {
                return without_member(vec![failed(check("local service".to_owned()), &error)]);
            }
        },
    };
    let key = settings.key_source.as_deref().unwrap_or("none").to_owned();
    let mut all = vec![Diagnosis::ok(CONNECTION, "key", format!("from {key}"))];
    let client = match Client::new(settings) {
        Ok(client) => client,
        Err(error) => {
            all.push(failed(check("not usable".to_owned()), &error.into()));
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
        Err(error) => failed(Diagnosis::ok(CONNECTION, "team", ""), &error.clone().into()),
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
    failed(
        Diagnosis::ok(CONNECTION, "service", base.to_string()),
        &error.clone().into(),
    )
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

/// The check with its error and the hint of the error.
fn failed(check: Diagnosis, error: &anyhow::Error) -> Diagnosis {
    let value = match check.value.is_empty() {
        true => with_causes(error),
        false => format!("{}: {}", check.value, with_causes(error)),
    };
    let remedy = hint(error).unwrap_or_else(|| "see the error".to_owned());
    Diagnosis { value, ..check }.failed(remedy)
}

#[cfg(test)]
mod tests {
    use super::super::DiagnosisState;
    use super::*;
    use scandeck_dashboard::config::ThemeFile;

    #[test]
    fn theme_for_another_background_or_with_an_error_is_a_warning() {
        let settings = |name: &str, text: &str| ScreenSettings {
            theme: Some((1, name.to_owned())),
            themes: vec![ThemeFile {
                name: "dusk".into(),
                path: "dusk.toml".into(),
                text: text.into(),
                unreadable: None,
            }],
            ..ScreenSettings::default()
        };
        let [on_dark, on_light] = [Some(Scheme::Dark), Some(Scheme::Light)];
        for (name, text, background, part) in [
            ("auto", "", on_light, ""),
            ("mono", "", on_light, ""),
            ("light", "", on_light, ""),
            ("light", "", None, ""),
            (
                "light",
                "",
                on_dark,
                "for a light background, but the terminal reports a dark one",
            ),
            (
                "tritanopia",
                "",
                on_light,
                "for a dark background, but the terminal reports a light one",
            ),
            (
                "dusk",
                "base = \"light\"",
                on_dark,
                "for a light background",
            ),
            (
                "dark",
                "low = 7",
                on_dark,
                "not usable: dusk.toml:1: invalid colour 7 for low",
            ),
        ] {
            let diagnosis = theme(&settings(name, text), background);
            let expected = if part.is_empty() {
                DiagnosisState::Ok
            } else {
                DiagnosisState::Warning
            };
            assert_eq!(
                (diagnosis.state, diagnosis.remedy.is_some()),
                (expected, !part.is_empty()),
                "{diagnosis:?}"
            );
            assert!(
                diagnosis
                    .value
                    .starts_with(&format!("{name}; 1 theme file"))
                    && diagnosis.value.contains(part)
            );
        }
        assert_eq!(
            theme(&settings("dusk", "low = 7"), None).state,
            DiagnosisState::Failed
        );
    }

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
