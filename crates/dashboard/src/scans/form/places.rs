//! The places from which a scan can run, with their state; at another service its VPN profiles.
//!
//! ```text
//!   by scope │ the service itself │ office: 2 workers connected │ lab: no worker connected │ another place
//! ```

use crate::forms::{FieldId, FieldProblem, Form, FormField};
use scandeck_wire::contract::node::{NodeList, PlaceState};
use scandeck_wire::text::{clean, plural};

/// The option of a scan that uses no VPN: the service itself runs it.
pub(super) const NO_VPN: usize = 1;
/// The options before the places.
const BEFORE_PLACES: usize = 2;

/// The fields of the place.
pub(super) fn fields(has_extensions: bool) -> [FormField; 2] {
    if has_extensions {
        return [
            FormField::choice(FieldId::Vpn, "Place", options_among(&[]), 0)
                .with_help("where the scan runs"),
            FormField::line(FieldId::VpnUuid, "Place name", "").with_help("or its id"),
        ];
    }
    let options = ["workspace default", "none", "profile"];
    [
        FormField::choice(FieldId::Vpn, "VPN", options, 0).with_help("if the service has a VPN"),
        FormField::line(FieldId::VpnUuid, "VPN profile", "").with_help("UUID"),
    ]
}

/// The options, with the places that the service has named.
fn options_among(places: &[PlaceState]) -> Vec<String> {
    let state = |place: &PlaceState| {
        let workers = match place.workers {
            0 => "no worker".to_owned(),
            number => plural(number, "worker"),
        };
        format!("{}: {workers} connected", clean(&place.name))
    };
    let before = ["by scope", "the service itself"].map(str::to_owned);
    let places = places.iter().map(state);
    before
        .into_iter()
        .chain(places)
        .chain(["another place".to_owned()])
        .collect()
}

/// Takes the places of the service. One that it no longer names keeps its option, so that no other
/// place becomes the chosen one.
pub(super) fn offer(form: &mut Form, named: Option<&NodeList>) {
    if !form.subject.has_extensions {
        return;
    }
    let known = &mut form.subject.places;
    if let Some(named) = named {
        for place in known.iter_mut() {
            let now = named.places.iter().find(|one| one.name == place.name);
            place.workers = now.map_or(0, |one| one.workers);
        }
        for place in &named.places {
            if !known.iter().any(|one| one.name == place.name) {
                known.push(place.clone());
            }
        }
    }
    let options = options_among(known);
    if let Some(field) = form.field_mut(FieldId::Vpn) {
        field.offer(options);
    }
}

/// The chosen place, if it is one of the options.
fn chosen(form: &Form) -> Option<&PlaceState> {
    let at = form.choice(FieldId::Vpn).checked_sub(BEFORE_PLACES)?;
    form.subject.places.get(at)
}

/// Whether the name or the id is typed.
pub(super) fn is_typed(form: &Form) -> bool {
    form.choice(FieldId::Vpn) == BEFORE_PLACES + form.subject.places.len()
}

/// A typed name that is missing.
pub(super) fn problem(form: &Form) -> Option<FieldProblem> {
    let noun = match form.subject.has_extensions {
        true => "place",
        false => "VPN profile",
    };
    let is_missing = is_typed(form) && form.text(FieldId::VpnUuid).is_empty();
    is_missing.then(|| (FieldId::VpnUuid, format!("{noun} is required")))
}

/// The warning before a scan from a place without workers, which would fail.
pub(super) fn warning(form: &Form) -> Option<String> {
    let place = chosen(form).filter(|place| place.workers == 0)?;
    let name = &place.name;
    Some(format!(
        "No worker of {name} is connected: start one there, or the scan fails"
    ))
}

/// The `vpn_profile_uuid` of a new scan: none for the default, and `Some(None)` for null.
pub(super) fn profile_of_scan(form: &Form) -> Option<Option<String>> {
    if let Some(place) = chosen(form) {
        return Some(Some(place.vpn_profile_uuid.to_string()));
    }
    match form.choice(FieldId::Vpn) {
        NO_VPN => Some(None),
        _ if is_typed(form) => Some(form.filled(FieldId::VpnUuid)),
        _ => None,
    }
}
