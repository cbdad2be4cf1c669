//! The URL of a row: its own, that of its target, or that of the API.

use super::{copy, noun};
use crate::activity::keys as activity;
use crate::base::{Effect, Pane, Tone};
use crate::forms::is_web_url;
use crate::model::Model;
use crate::prompts::{Prompt, Then};
use scandeck_client::calls::ApiCall;
use scandeck_wire::text;
use std::net::Ipv6Addr;

/// The URL, with percent-encoding instead of characters that a terminal would not show.
pub(super) fn visible_url(url: &str) -> String {
    if *text::clean(url) == *url {
        return url.to_owned();
    }
    let byte = |byte: u8| {
        if byte.is_ascii_graphic() {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    url.bytes().map(byte).collect()
}

/// Whether the URL of the selected row records requests, as the URL of a logger or payload does.
pub(super) fn has_recording_url(model: &Model) -> bool {
    match model.navigation.focus.pane {
        Pane::Loggers | Pane::Payloads => true,
        Pane::Captures => model.lists.captures.current(&model.data.captures).is_none(),
        _ => false,
    }
}

/// The URL of the selected row: its own, for a finding that of its target, else that of the API.
pub(super) fn url(model: &Model) -> Option<String> {
    match model.navigation.focus.pane {
        Pane::Findings | Pane::Board => affected_url(model),
        Pane::Loggers => {
            let logger = model
                .data
                .loggers
                .value()?
                .get(model.lists.loggers.selected?)?;
            Some(logger.handler_url.to_string())
        }
        Pane::Payloads => model
            .payload_at_hand()
            .map(|payload| payload.url.to_string()),
        Pane::Activity => model
            .selected_item::<ApiCall>()
            .map(|call| activity::url(model, call)),
        Pane::Captures => match model.lists.captures.current(&model.data.captures) {
            Some(captured) => Some(model.record_of(captured).request_url().url),
            // Without captures, the URL to send requests to is useful.
            None => {
                let loggers = model.data.loggers.value()?;
                let logger = model.navigation.scope.logger.and_then(|id| loggers.get(id));
                let logger =
                    logger.or_else(|| loggers.items().first().filter(|_| loggers.len() == 1))?;
                Some(logger.handler_url.to_string())
            }
        },
        _ => api_path(model)
            .map(|path| format!("{}{path}", model.session.base_url.trim_end_matches('/'))),
    }
}

/// Opens the URL of the selected row after a confirmation; where there is no browser to see, copies
/// it.
pub(super) fn open_in_browser(model: &mut Model, effects: &mut Vec<Effect>) {
    let named = match model.navigation.focus.pane {
        Pane::Targets => model
            .lists
            .targets
            .selected
            .and_then(|id| model.target_name(id))
            .map(ToString::to_string),
        Pane::Findings | Pane::Board | Pane::Loggers | Pane::Payloads | Pane::Captures => {
            url(model)
        }
        // The others have URLs of the API only, which needs a key.
        _ => None,
    };
    let Some(url) = named.filter(|url| is_web_url(url)) else {
        return model.notify(
            Tone::Plain,
            "nothing to open: this row has no http or https URL",
        );
    };
    if model.mask().is_some_and(|mask| mask.text(&url) != url) {
        return model.notify(
            Tone::Bad,
            "URL not opened: names are masked · `:mask off` first",
        );
    }
    match model.session.has_browser {
        false => effects.push(copy(
            format!("no browser here: {}", text::clean(&url)),
            &url,
        )),
        true => {
            let prompt = Prompt::new(format!("Open {url} in the browser?"), Then::OpenUrl(url));
            model.open_prompt(prompt.with_line("The browser sends a request to this address."));
        }
    }
}

/// The URL that the selected finding affects: its target if that is a URL, or the web service at
/// its port.
fn affected_url(model: &Model) -> Option<String> {
    let issue = model.issue_at_hand()?;
    let name = issue
        .target_id()
        .and_then(|id| model.target_name(id))
        .or(issue.target_name().as_ref())?
        .trim();
    if name.starts_with("http://") || name.starts_with("https://") {
        return Some(name.to_owned());
    }
    let service = issue.service.to_lowercase();
    let scheme = match &*service {
        service if service.contains("https") || service.contains("ssl/http") => "https",
        service if service.contains("http") => "http",
        _ => return None,
    };
    let host = if name.parse::<Ipv6Addr>().is_ok() {
        format!("[{name}]")
    } else {
        name.to_owned()
    };
    let is_usual = matches!(
        (scheme, issue.port()),
        ("https", 443) | ("http", 80) | (_, ..=0)
    );
    let port = if is_usual {
        String::new()
    } else {
        format!(":{}", issue.port())
    };
    Some(format!("{scheme}://{host}{port}/"))
}

/// The path of the selected row in the API. The service does not have manual findings.
pub(super) fn api_path(model: &Model) -> Option<String> {
    let pane = model.navigation.focus.pane;
    if model
        .issue_at_hand()
        .is_some_and(|issue| issue.manual().is_some())
    {
        return None;
    }
    let noun = match pane {
        Pane::Captures => {
            return Some(format!(
                "/http_loggers/{}/data",
                model.lists.captures.selected?.logger
            ));
        }
        Pane::Payloads => return None,
        Pane::Loggers => "http_loggers".to_owned(),
        _ => noun(pane),
    };
    Some(format!(
        "/{noun}/{}",
        model.service_id(pane, model.selected_id(pane)?)
    ))
}
