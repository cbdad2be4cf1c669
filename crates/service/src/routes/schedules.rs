//! `/scandeck/v1/schedules`: scans that start again and again (`contract/schedule.rs`,
//! `docs/service.md`). The endpoints are beside the API v2, and not in its document.
//!
//! ```text
//!   POST ─► interval, first start, window ─┬─► scope and tools, as for POST /scans ─► store ─► runs/schedules
//!           scans, without a target ───────┘
//! ```

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::new_scan::{check_target, read_scan};
use super::target_tags::read_tag;
use super::{RouteResult, no_content, workspace_or_current};
use crate::api::request::{Fields, Id, QueryParams};
use crate::errors::{ApiError, shown};
use crate::guards::keys::KeyIdentity;
use crate::net::address::Address;
use crate::runs::words::add_words;
use crate::state::App;
use crate::store::scans::ScanToAdd;
use crate::store::schedules::{MOST_SCHEDULES, ScheduleRefusal, ScheduleToAdd, StoredSchedule};
use scandeck_wire::contract::schedule::{
    DEFAULT_WINDOW, MOST_SCHEDULED_SCANS, MOST_SCHEDULED_TARGETS, SCHEDULES_ROOT, ScanSchedule,
    ScheduleList,
};
use scandeck_wire::contract::{NewScan, ScheduleId, Shared, Stamp, TargetId};
use scandeck_wire::recurrence::{
    Recurrence, StartRule, StartTimes, parse_day, parse_time, parse_window, window_text,
};

/// Most characters of a name.
const LONGEST_NAME: usize = 200;

pub fn router() -> Router<App> {
    let of_one = |rest: &str| format!("{SCHEDULES_ROOT}/{{id}}{rest}");
    Router::new()
        .route(SCHEDULES_ROOT, get(list).post(add))
        .route(&of_one(""), get(show).delete(delete))
        .route(&of_one("/pause"), post(pause))
        .route(&of_one("/resume"), post(resume))
}

async fn list(State(app): State<App>, query: QueryParams) -> RouteResult<Json<ScheduleList>> {
    let schedules = app.store.schedules(query.integer("workspace_id")?).await?;
    let zone = TimeZone::system();
    let schedules = schedules.iter().map(|one| shown_schedule(one, &zone));
    Ok(Json(ScheduleList {
        schedules: schedules.collect(),
    }))
}

async fn show(State(app): State<App>, Id(id): Id<ScheduleId>) -> RouteResult<Json<ScanSchedule>> {
    let schedule = find(&app, id).await?;
    Ok(Json(shown_schedule(&schedule, &TimeZone::system())))
}

async fn find(app: &App, id: ScheduleId) -> RouteResult<StoredSchedule> {
    let schedule = app.store.schedule(id).await?;
    schedule.ok_or_else(|| ApiError::not_found("schedule", id))
}

async fn add(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    fields: Fields,
) -> RouteResult<impl IntoResponse> {
    let fields = fields.with_unprocessable();
    let (now, zone) = (app.now(), TimeZone::system());
    let recurrence = read_recurrence(&fields, &now.to_zoned(zone.clone()))?;
    let (_, times) = recurrence.due(now, now, &zone);
    if times.next == Timestamp::MAX {
        let error = ApiError::bad_request("first: the first start would be after the year 9999");
        return Err(error.with_details("use an earlier day"));
    }
    let new = ScheduleToAdd {
        workspace: workspace_or_current(&app, fields.integer("workspace_id")?).await?,
        name: read_name(&fields)?,
        recurrence,
        times,
        targets: read_targets(&fields)?,
        tag: read_schedule_tag(&fields)?,
        scans: read_scans(&app, &fields).await?,
        created_by: identity.name.clone(),
    };
    check_targets(&app, &new).await?;
    let added = app.store.add_schedule(&new, now).await?;
    let id = added.map_err(|refusal| match refusal {
        ScheduleRefusal::NoWorkspace => ApiError::not_found("workspace", new.workspace),
        ScheduleRefusal::NoTarget(target) => ApiError::bad_request(format!(
            "target_ids: target {target} is not in workspace {}",
            new.workspace
        )),
        ScheduleRefusal::LimitReached => ApiError::forbidden(format!(
            "the limit of {MOST_SCHEDULES} schedules is reached"
        ))
        .with_details("delete schedules that are not needed"),
    })?;
    app.schedules.notify_one();
    let schedule = find(&app, id).await?;
    let created = Json(shown_schedule(&schedule, &zone));
    Ok((StatusCode::CREATED, created))
}

async fn pause(State(app): State<App>, Id(id): Id<ScheduleId>) -> RouteResult<StatusCode> {
    no_content(app.store.pause_schedule(id).await?, "schedule", id)
}

/// A pause makes up for no start: the next one is in the future.
async fn resume(State(app): State<App>, Id(id): Id<ScheduleId>) -> RouteResult<StatusCode> {
    let schedule = find(&app, id).await?;
    let now = app.now();
    let (_, times) = schedule.recurrence.due(now, now, &TimeZone::system());
    app.store.resume_schedule(id, times).await?;
    app.schedules.notify_one();
    Ok(StatusCode::NO_CONTENT)
}

async fn delete(State(app): State<App>, Id(id): Id<ScheduleId>) -> RouteResult<StatusCode> {
    no_content(app.store.delete_schedule(id).await?, "schedule", id)
}

fn shown_schedule(schedule: &StoredSchedule, zone: &TimeZone) -> ScanSchedule {
    let StoredSchedule {
        recurrence, times, ..
    } = schedule;
    let StartTimes { next, .. } = times;
    // The end of time is no start.
    let has_next = !schedule.is_paused && *next < Timestamp::MAX;
    ScanSchedule {
        id: schedule.id,
        workspace_id: schedule.workspace,
        name: schedule.name.as_str().into(),
        every: recurrence.every.to_string().into(),
        first_start: recurrence
            .first
            .strftime("%Y-%m-%d %H:%M")
            .to_string()
            .into(),
        window: window_text(recurrence.window).into(),
        time_zone: zone.iana_name().unwrap_or_default().into(),
        target_ids: schedule.targets.clone(),
        tag: schedule.tag.clone(),
        scans: schedule.scans.iter().map(shown_scan).collect(),
        is_paused: schedule.is_paused,
        next_start: has_next.then_some(Stamp(*next)),
        last_start: schedule.last_start.map(Stamp),
        last_result: schedule.last_result.as_str().into(),
        starts: schedule.starts,
        created_by: schedule.created_by.as_str().into(),
    }
}

fn shown_scan(scan: &ScanToAdd) -> NewScan {
    NewScan {
        tool_id: scan.tool,
        max_scan_time: Some(scan.max_minutes),
        scan_original_url: Some(scan.scan_original_url),
        redirect_level: Some(scan.redirect_level.clone()),
        tool_params: Some(scan.shown_params.clone()),
        ..NewScan::default()
    }
}

fn read_name(fields: &Fields) -> RouteResult<String> {
    let name = fields.text("name")?.unwrap_or_default().trim();
    match name.chars().count() {
        0 => Err(ApiError::bad_request("name is required")),
        1..=LONGEST_NAME => Ok(name.to_owned()),
        _ => Err(ApiError::bad_request(format!(
            "name: at most {LONGEST_NAME} characters are allowed"
        ))),
    }
}

fn read_recurrence(fields: &Fields, now: &Zoned) -> RouteResult<Recurrence> {
    let invalid = |name: &str, text: &str, remedy: &str| {
        ApiError::bad_request(format!("{name}: `{}` is not valid; {remedy}", shown(text)))
    };
    let every = fields
        .text("every")?
        .ok_or_else(|| ApiError::bad_request("every is required, such as 1w"))?;
    let window = fields.text("window")?.unwrap_or(DEFAULT_WINDOW);
    let at = fields
        .text("at")?
        .map(|text| parse_time(text).map_err(|remedy| invalid("at", text, remedy)));
    let first = fields
        .text("first")?
        .map(|text| parse_day(text).map_err(|remedy| invalid("first", text, remedy)));
    if first.is_some() && at.is_none() {
        return Err(ApiError::bad_request("first needs at, such as 02:00"));
    }
    let rule = StartRule {
        every: every
            .parse()
            .map_err(|remedy| invalid("every", every, remedy))?,
        at: at.transpose()?,
        first: first.transpose()?,
        window: parse_window(window).map_err(|remedy| invalid("window", window, remedy))?,
    };
    Ok(rule.counted_from(now))
}

fn read_targets(fields: &Fields) -> RouteResult<Option<Vec<TargetId>>> {
    let Some(ids) = fields.integers("target_ids")? else {
        return Ok(None);
    };
    let mut ids: Vec<TargetId> = ids.into_iter().map(TargetId).collect();
    ids.sort_unstable();
    ids.dedup();
    match ids.len() {
        0 => Err(ApiError::bad_request(
            "target_ids: at least one is required",
        )),
        1..=MOST_SCHEDULED_TARGETS => Ok(Some(ids)),
        _ => Err(ApiError::bad_request(format!(
            "target_ids: at most {MOST_SCHEDULED_TARGETS} are allowed"
        ))),
    }
}

/// Reads the tag of the targets, which excludes a list of targets.
fn read_schedule_tag(fields: &Fields) -> RouteResult<Option<Shared>> {
    let Some(text) = fields.text("tag")? else {
        return Ok(None);
    };
    if fields.value("target_ids").is_some() {
        let message = "tag: use either tag or target_ids";
        return Err(ApiError::bad_request(message));
    }
    read_tag("tag", text).map(Some)
}

/// Reads the scans that each target gets, as `POST /scans` reads them.
async fn read_scans(app: &App, fields: &Fields) -> RouteResult<Vec<ScanToAdd>> {
    let given = fields.objects("scans")?.unwrap_or_default();
    if !(1..=MOST_SCHEDULED_SCANS).contains(&given.len()) {
        return Err(ApiError::bad_request(format!(
            "scans: 1 to {MOST_SCHEDULED_SCANS} are allowed"
        )));
    }
    let mut scans = Vec::new();
    for (number, fields) in given.iter().enumerate() {
        let scan = read_target_free_scan(app, fields).await;
        scans.push(scan.map_err(|error| ApiError {
            message: format!("scans[{number}]: {}", error.message),
            ..error
        })?);
    }
    Ok(scans)
}

async fn read_target_free_scan(app: &App, fields: &Fields) -> RouteResult<ScanToAdd> {
    let without = [
        "target_id",
        "target_name",
        "vpn_profile_uuid",
        "report_callback",
    ];
    if let Some(name) = without.iter().find(|name| fields.value(name).is_some()) {
        let message = format!("{name} is not possible in a schedule");
        return Err(ApiError::bad_request(message));
    }
    let scan = read_scan(app, fields)?;
    // Only to refuse a list that does not exist: each start reads the words again.
    let mut with_words = scan.clone();
    add_words(&app.store, &mut with_words)
        .await?
        .map_err(ApiError::bad_request)?;
    Ok(scan)
}

/// Refuses named targets that cannot be scanned now.
async fn check_targets(app: &App, new: &ScheduleToAdd) -> RouteResult<()> {
    for id in new.targets.iter().flatten() {
        let target = app.store.target(*id).await?;
        let target = target.ok_or_else(|| ApiError::not_found("target", id))?;
        let address = Address::parse(&target.name)
            .map_err(|error| ApiError::bad_request(error.to_string()))?;
        app.scope_check
            .check_name(&address)
            .map_err(|refusal| ApiError::forbidden(refusal.to_string()))?;
        for scan in &new.scans {
            check_target(app, scan, &address)?;
        }
    }
    Ok(())
}
