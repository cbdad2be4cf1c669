//! The scans that sending the form starts, and those that are left after a refusal.

use crate::base::{Call, Job};
use crate::forms::{FieldId, FieldValue, Form, FormField, RefusedScans, UndoneJob};
use crate::scans::form::tools::tool;
use crate::scans::form::{chosen_targets, names_target, places, profile};
use crate::scans::tool_params::params;
use scandeck_wire::contract::{
    NewScan, RedirectLevel, ReportCallback, ReportFormat, Shared, TargetId, Tool,
};
use scandeck_wire::text::plural;

/// One call for each scan.
pub(super) fn jobs(form: &Form) -> Vec<Job> {
    let of = |TargetScan { name, scan }: TargetScan| {
        let about = match profile(form) {
            Some(_) => format!("{} of {name}", Tool(scan.tool_id).scan()),
            None => format!("scan of {name}"),
        };
        Job::new(about, Call::StartScan(scan))
    };
    scans_to_start(form).into_iter().map(of).collect()
}

/// A scan with the name of its target.
pub(super) struct TargetScan {
    name: String,
    scan: NewScan,
}

/// The scans of each target.
pub(super) fn scans_to_start(form: &Form) -> Vec<TargetScan> {
    let scans = scans_of_a_target(form);
    let mut all: Vec<TargetScan> = if names_target(form) {
        let name = form.text(FieldId::TargetName);
        let named = |scan: NewScan| TargetScan {
            name: name.clone(),
            scan: NewScan {
                target_name: form.filled(FieldId::TargetName),
                ..scan
            },
        };
        scans.into_iter().map(named).collect()
    } else {
        let of_target = |(id, name): &(TargetId, Shared)| {
            let scan = |scan: &NewScan| TargetScan {
                name: name.to_string(),
                scan: NewScan {
                    target_id: Some(*id),
                    ..scan.clone()
                },
            };
            scans.iter().map(scan).collect::<Vec<_>>()
        };
        chosen_targets(form).iter().flat_map(of_target).collect()
    };
    let refused = form.subject.refused_scans.as_ref();
    let profile = form.choice(FieldId::ScanProfile);
    if let Some(refused) = refused.filter(|refused| refused.profile == profile) {
        all.retain(|one| !was_started(&one.scan, &refused.scans));
    }
    all
}

/// Whether the service refused other scans of this target only.
fn was_started(scan: &NewScan, refused: &[NewScan]) -> bool {
    let mut of_target = refused.iter().filter(|one| has_same_target(one, scan));
    let first = of_target.next();
    let is_same =
        |one: &NewScan| one.tool_id == scan.tool_id && one.tool_params == scan.tool_params;
    first.is_some_and(|first| !is_same(first) && !of_target.any(is_same))
}

fn has_same_target(one: &NewScan, other: &NewScan) -> bool {
    one.target_id == other.target_id && one.target_name == other.target_name
}

/// The scans that each target gets: one, or those of the profile.
fn scans_of_a_target(form: &Form) -> Vec<NewScan> {
    let common = scan_of_fields(form);
    let Some(profile) = profile(form) else {
        return vec![common];
    };
    let of_profile = |scan: &NewScan| NewScan {
        workspace_id: common.workspace_id,
        vpn_profile_uuid: common.vpn_profile_uuid.clone(),
        report_callback: common.report_callback.clone(),
        ..scan.clone()
    };
    profile.scans.iter().map(of_profile).collect()
}

fn scan_of_fields(form: &Form) -> NewScan {
    let level = RedirectLevel::KNOWN
        .get(form.choice(FieldId::RedirectLevel))
        .cloned();
    NewScan {
        tool_id: tool(form).map_or(0, |chosen| chosen.0),
        workspace_id: form.subject.workspace,
        vpn_profile_uuid: places::profile_of_scan(form),
        max_scan_time: form
            .filled(FieldId::MaxScanTime)
            .and_then(|minutes| minutes.parse().ok()),
        report_callback: form.filled(FieldId::CallbackUrl).map(|url| {
            let format = ReportFormat::KNOWN.get(form.choice(FieldId::CallbackFormat));
            ReportCallback {
                url,
                format: format.map(|format| format.as_str().to_owned()),
            }
        }),
        scan_original_url: (form.is_shown(FieldId::OriginalUrl)
            && form.choice(FieldId::OriginalUrl) == 1)
            .then_some(true),
        redirect_level: level.filter(|_| form.is_shown(FieldId::RedirectLevel)),
        tool_params: params(form).ok().flatten(),
        ..NewScan::default()
    }
}

/// Reduces the chosen targets to those whose scan was not started.
pub(super) fn keep_refused(form: &mut Form, left: &[UndoneJob]) -> bool {
    if profile(form).is_some() {
        let scan = |(job, _): &UndoneJob| match &job.call {
            Call::StartScan(scan) => Some(scan.clone()),
            _ => None,
        };
        form.subject.refused_scans = Some(RefusedScans {
            profile: form.choice(FieldId::ScanProfile),
            scans: left.iter().filter_map(scan).collect(),
        });
    }
    let at = form.choice(FieldId::Targets);
    let is_left = |id: TargetId| {
        left.iter().any(
            |(job, _)| matches!(&job.call, Call::StartScan(scan) if scan.target_id == Some(id)),
        )
    };
    if let Some(set) = form.subject.target_sets.get_mut(at) {
        set.retain(|(id, _)| is_left(*id));
        let count = set.len();
        if let Some(FormField {
            value: FieldValue::Choice { options, .. },
            ..
        }) = form.field_mut(FieldId::Targets)
            && let Some(option) = options.get_mut(at)
        {
            *option = format!("{} whose scan was refused", plural(count, "target"));
        }
    }
    false
}
