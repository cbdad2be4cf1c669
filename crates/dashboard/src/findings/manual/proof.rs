//! The text of a manual finding made from captured requests: each payload once, with the place
//! where it was planted and its hits.

use scandeck_domain::oob::{CaptureRecord, Payload, PayloadBook, Token};
use scandeck_domain::triage::ManualFinding;
use scandeck_wire::contract::Risk;
use scandeck_wire::text::plural;
use std::collections::{HashMap, HashSet};

/// Up to this many requests of a payload have a line each; of more, only the first and the last.
const LINES: usize = 5;
/// Most parameters and addresses that are named.
const FEW: usize = 5;

/// Fills in name, risk, class, target and text of a finding from the payloads in its captures, if
/// there are any.
pub(crate) fn describe(
    manual: &mut ManualFinding,
    chosen: &[CaptureRecord],
    book: &PayloadBook,
    offset: Option<i64>,
) {
    let proofs = proofs(chosen, book);
    if proofs.is_empty() {
        return;
    }
    // The payload made the target send a request: an analyst lowers the risk rather than overlooks
    // it.
    manual.risk = Risk::High;
    let technique = proofs
        .iter()
        .map(|(payload, _)| &payload.technique)
        .find(|technique| !technique.is_empty());
    let what = technique.map_or("Out-of-band request", |technique| technique.as_str());
    let places = once(proofs.iter().map(|(payload, _)| payload.parameter.as_str()));
    let target = proofs
        .iter()
        .map(|(payload, _)| &payload.target)
        .find(|target| !target.is_empty());
    manual.name = match (places.is_empty(), target) {
        (false, _) => format!("{what} through {}", few(&places)).into(),
        (true, Some(target)) => format!("{what} from {target}").into(),
        (true, None) => what.into(),
    };
    manual.class = technique.cloned().unwrap_or_default();
    if let Some(target) = target {
        manual.target = target.clone();
    }
    let texts: Vec<String> = proofs
        .iter()
        .map(|(payload, proof)| proof_text(payload, proof, offset))
        .collect();
    manual.text = texts.join("\n\n").into();
}

/// The payloads in these captures, in the order of their first request, each with its requests.
fn proofs<'a>(
    chosen: &'a [CaptureRecord],
    book: &'a PayloadBook,
) -> Vec<(&'a Payload, Vec<&'a CaptureRecord>)> {
    let mut proofs: Vec<(&Payload, Vec<&CaptureRecord>)> = Vec::new();
    let mut places: HashMap<Token, usize> = HashMap::new();
    for sent in chosen {
        for payload in sent
            .mentions
            .iter()
            .filter_map(|mention| book.get(mention.token))
        {
            let place = *places.entry(payload.token).or_insert(proofs.len());
            match proofs.get_mut(place) {
                Some((_, requests))
                    if requests
                        .last()
                        .is_some_and(|last| std::ptr::eq(*last, sent)) => {}
                Some((_, requests)) => requests.push(sent),
                None => proofs.push((payload, vec![sent])),
            }
        }
    }
    proofs
}

fn proof_text(payload: &Payload, proof: &[&CaptureRecord], offset: Option<i64>) -> String {
    let made = payload
        .at
        .map(|at| format!(" at {at} UTC"))
        .unwrap_or_default();
    let mut text = match payload.number {
        // The file names the batch, not a place at the target.
        Some(number) if payload.parameter.is_empty() => {
            format!(
                "Payload {} (line {number} of {}) was created{made}: {}",
                payload.token, payload.batch, payload.url
            )
        }
        _ => {
            let place = payload.place();
            let place = if place.is_empty() {
                String::new()
            } else {
                format!(" in {place}")
            };
            format!(
                "Payload {} was planted{place}{made}: {}",
                payload.token, payload.url
            )
        }
    };
    let request = |sent: &CaptureRecord| {
        let capture = &sent.capture;
        let delay = payload
            .delay(capture.request_date, offset)
            .map(|delay| format!(" ({delay})"))
            .unwrap_or_default();
        let time = capture
            .request_date
            .map(|date| format!(" at {date} UTC"))
            .unwrap_or_default();
        format!(
            "{} from {}{time}{delay}",
            capture.request_method, capture.ip_address
        )
    };
    match proof {
        [first, .., last] if proof.len() > LINES => {
            let from = few(&once(
                proof.iter().map(|sent| sent.capture.ip_address.as_str()),
            ));
            text.push_str(&format!(
                "\n{} from {from}:",
                plural(proof.len(), "request")
            ));
            text.push_str(&format!(
                "\n{}, the first\n{}, the last",
                request(first),
                request(last)
            ));
        }
        [one] => text.push_str(&format!("\nHit: {}", request(one))),
        all => {
            text.push_str(&format!("\n{}:", plural(all.len(), "request")));
            all.iter()
                .for_each(|sent| text.push_str(&format!("\n{}", request(sent))));
        }
    }
    if !payload.note.is_empty() {
        text.push_str(&format!("\n{}", payload.note));
    }
    text
}

/// Each text once, in the given order, without empty ones.
fn once<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    texts
        .filter(|text| !text.is_empty() && seen.insert(*text))
        .collect()
}

/// `q, r and callback`; of many texts the first ones and the number of the others.
fn few(texts: &[&str]) -> String {
    match texts {
        [all @ .., last] if !all.is_empty() && all.len() < FEW => {
            format!("{} and {last}", all.join(", "))
        }
        [one] => (*one).to_owned(),
        all => {
            let shown = all.len().min(FEW);
            format!("{} and {} more", all[..shown].join(", "), all.len() - shown)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_of_more_than_five_texts_names_five_and_counts_others() {
        assert_eq!(
            [few(&["q"]), few(&["q", "r"]), few(&["q", "r", "s"])],
            ["q", "q and r", "q, r and s"]
        );
        assert_eq!(few(&["a", "b", "c", "d", "e"]), "a, b, c, d and e");
        assert_eq!(
            few(&["a", "b", "c", "d", "e", "f", "g"]),
            "a, b, c, d, e and 2 more"
        );
    }
}
