//! The tab `Request`: the place of the payload, the decoded path and query, and the sender.

use crate::base::CaptureRow;
use crate::captures::draw::detail::{header_line, known, steps, unknown_token};
use crate::input::{Action, Context, ItemAction, PayloadAction};
use crate::ui::{Cx, Theme, fact, format, key, words};
use ratatui::text::{Line, Span};
use scandeck_domain::oob::decode::{chain, percent};
use scandeck_domain::oob::{BodyHints, CaptureSource, Mention, MentionPlace, request};
use scandeck_wire::contract::Capture;
use scandeck_wire::text;

/// Headers that identify the sender.
const SENDER_HEADERS: &[&str] = &[
    "x-forwarded-for",
    "forwarded",
    "x-real-ip",
    "x-forwarded-host",
    "via",
    "referer",
    "origin",
    "authorization",
    "cookie",
    "metadata-flavor",
    "x-aws-ec2-metadata-token",
];
/// Times shown of other captures from the same address.
const ALSO: usize = 3;

/// `whole` is the capture with its body, if that was read.
pub(crate) fn lines(cx: &Cx<'_>, captured: &CaptureRow, whole: &Capture) -> Vec<Line<'static>> {
    let theme = cx.theme;
    let mut lines = planted(cx, captured);
    lines.push(match cx.model.proven_by(whole) {
        Some(name) => fact(theme, "Proves", text::clean(name).into_owned()),
        None => {
            let new = key(cx, Context::Captures, Action::Item(ItemAction::New));
            aside(
                theme,
                "Proves",
                format!("no finding yet   {new} creates a finding from this capture"),
            )
        }
    });
    lines.push(Line::default());
    target(theme, captured, &mut lines);
    problems(theme, &captured.capture, &mut lines);
    elsewhere(theme, captured, &mut lines);
    lines.push(Line::default());
    sender(cx, whole, &mut lines);
    if let Some(also) = also_from(cx, captured) {
        lines.push(Line::default());
        lines.push(words(also, theme.text()));
    }
    lines
}

/// The place of the payload.
fn planted(cx: &Cx<'_>, captured: &CaptureRow) -> Vec<Line<'static>> {
    let theme = cx.theme;
    let Some((_, payload)) = known(cx, captured) else {
        let added = captured.mentions.first().map(added).unwrap_or_default();
        let token = unknown_token(captured).unwrap_or_else(|| "no payload".to_owned());
        return vec![fact(theme, "Placement", format!("{token}{added}"))];
    };
    let clean = |outside: &str| text::clean(outside).into_owned();
    let mut parts: Vec<String> = [
        payload.place(),
        payload.technique.to_string(),
        payload.finding_name.to_string(),
    ]
    .iter()
    .filter(|part| !part.is_empty())
    .map(|part| clean(part))
    .collect();
    if parts.is_empty() && payload.note.is_empty() {
        parts.push("unknown".to_owned());
    }
    parts.push(format::stamp(theme, payload.at));
    let delay = payload.delay(
        captured.capture.request_date,
        cx.model.connection.clock_offset,
    );
    parts.extend(delay.map(|delay| format!("hit {delay}")));
    let mut lines = vec![fact(theme, "Placement", parts.join(", "))];
    if !payload.note.is_empty() {
        lines.push(fact(theme, "", format!("\"{}\"", clean(&payload.note))));
    }
    let edit = key(
        cx,
        Context::Captures,
        Action::Payload(PayloadAction::EditPlace),
    );
    lines.push(aside(theme, "", format!("{edit} edits note and placement")));
    lines
}

/// Path and query with their decoded values.
fn target(theme: Theme, captured: &CaptureRow, lines: &mut Vec<Line<'static>>) {
    let capture = &*captured.capture;
    match &capture.path {
        Some(path) => {
            lines.push(fact(theme, "Path", text::clean(path).into_owned()));
            let decoded = percent::decoded(path.as_bytes());
            if *decoded != *path.as_bytes() {
                lines.push(branch(
                    theme,
                    "url",
                    text::clean(&String::from_utf8_lossy(&decoded)).into_owned(),
                ));
            }
            mentioned(theme, captured, &MentionPlace::Path, lines);
        }
        None => lines.push(aside(
            theme,
            "Path",
            "not reported by the service".to_owned(),
        )),
    }
    if capture.url_params.is_empty() {
        return lines.push(aside(theme, "Query", "none".to_owned()));
    }
    lines.push(fact(
        theme,
        "Query",
        text::clean(&capture.url_params).into_owned(),
    ));
    for (name, value) in request::pairs(capture) {
        let shown = |text: &str| {
            let decoded = percent::decoded_value(text.as_bytes()).into_owned();
            text::clean(&String::from_utf8_lossy(&decoded)).into_owned()
        };
        let name = shown(name);
        let pair = value.map_or_else(
            || name.clone(),
            |value| format!("{name} = {}", shown(value)),
        );
        lines.push(branch(theme, "", pair));
        let place = if value.is_some() { name.as_str() } else { "" };
        mentioned(theme, captured, &MentionPlace::Query(place.into()), lines);
        let decoded = percent::decoded_value(value.unwrap_or_default().as_bytes());
        lines.extend(steps::lines(
            theme,
            &chain(&decoded, BodyHints::default()),
            4,
        ));
    }
}

/// What is wrong with the request, as the service reports it.
fn problems(theme: Theme, capture: &Capture, lines: &mut Vec<Line<'static>>) {
    for (index, problem) in capture.problems.iter().enumerate() {
        lines.push(fact(
            theme,
            if index == 0 { "Problems" } else { "" },
            text::clean(problem).into_owned(),
        ));
    }
}

fn mentioned(
    theme: Theme,
    captured: &CaptureRow,
    place: &MentionPlace,
    lines: &mut Vec<Line<'static>>,
) {
    for mention in captured
        .mentions
        .iter()
        .filter(|mention| mention.place == *place)
    {
        lines.push(token_line(theme, mention, ""));
    }
}

/// The tokens in headers and body.
fn elsewhere(theme: Theme, captured: &CaptureRow, lines: &mut Vec<Line<'static>>) {
    for mention in captured.mentions.iter() {
        match &mention.place {
            MentionPlace::Header(name) => lines.push(token_line(
                theme,
                mention,
                &format!("in the header {name}: "),
            )),
            MentionPlace::Body => lines.push(token_line(theme, mention, "in the body: ")),
            MentionPlace::Query(_) | MentionPlace::Path => {}
        }
    }
}

/// The sender, and the headers that identify it.
fn sender(cx: &Cx<'_>, capture: &Capture, lines: &mut Vec<Line<'static>>) {
    let theme = cx.theme;
    let source = CaptureSource::of(
        capture,
        cx.model.own_addresses(),
        &cx.model.captures.oob.hosts,
    );
    lines.push(from_line(theme, capture, &source));
    if !capture.user_agent.is_empty() {
        let mut agent = fact(theme, "User-Agent", cleaned(&capture.user_agent));
        if let Some(bot) = source.bot {
            let bot = format!("   {}: {}", bot.name, bot.does);
            agent.push_span(Span::styled(bot, theme.warn()));
        }
        lines.push(agent);
    }
    lines.extend(sender_headers(theme, capture, &source));
    for named in &source.targets {
        let place = match named.place {
            Some(MentionPlace::Body) => "the body",
            Some(MentionPlace::Query(_)) => "the query",
            _ => continue,
        };
        let target = cleaned(&named.target);
        let target = format!("{target}, a target of this workspace, in {place}");
        lines.push(fact(theme, "Mentions", target));
    }
    let version = capture.http_version.as_deref().unwrap_or_default();
    for (name, value) in [("OS", capture.os.as_str()), ("Version", version)] {
        if !value.is_empty() {
            lines.push(fact(theme, name, cleaned(value)));
        }
    }
    let time = format::stamp(theme, capture.request_date);
    lines.push(fact(theme, "Time", time));
}

fn cleaned(outside: &str) -> String {
    text::clean(outside).into_owned()
}

/// The address, and whose it is.
fn from_line(theme: Theme, capture: &Capture, source: &CaptureSource) -> Line<'static> {
    let port = capture
        .remote_port
        .map(|port| format!(" port {port}"))
        .unwrap_or_default();
    let address = format!("{}{port}", cleaned(&capture.ip_address));
    let mut from = fact(theme, "From", address);
    if source.own {
        from.push_span(Span::styled("   your own address", theme.warn()));
    }
    let senders: Vec<String> = source.senders().map(|target| cleaned(target)).collect();
    if let Some(words) = sender_targets_text(&senders) {
        from.push_span(Span::styled(words, theme.good()));
    }
    from
}

/// The headers that identify the sender or name a target.
fn sender_headers(theme: Theme, capture: &Capture, source: &CaptureSource) -> Vec<Line<'static>> {
    let line = |(name, value): (&str, &str)| {
        let place = MentionPlace::Header(cleaned(name).as_str().into());
        let named = named(source, &place);
        let is_known = SENDER_HEADERS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name));
        let mut line = header_line(theme, name, value);
        let is_shown = named.is_some() || is_known;
        line.extend(named.map(|words| Span::styled(words, theme.good())));
        is_shown.then_some(line)
    };
    request::headers(capture).filter_map(line).collect()
}

/// The targets that are named at a place.
fn named(source: &CaptureSource, place: &MentionPlace) -> Option<String> {
    let targets = source
        .targets
        .iter()
        .filter(|named| named.place.as_ref() == Some(place));
    let names: Vec<String> = targets
        .map(|named| text::clean(&named.target).into_owned())
        .collect();
    sender_targets_text(&names)
}

/// `a target of this workspace: …`. Of several targets with one address, none is named as the only
/// one.
fn sender_targets_text(names: &[String]) -> Option<String> {
    match names {
        [] => None,
        [name] => Some(format!("   a target of this workspace: {name}")),
        all => Some(format!(
            "   {} of this workspace: {}",
            format::plural(all.len(), "target"),
            all.join(", ")
        )),
    }
}

/// The other loaded captures from the same address.
fn also_from(cx: &Cx<'_>, captured: &CaptureRow) -> Option<String> {
    let (stream, from) = (&cx.model.data.captures, &captured.capture.ip_address);
    let others = stream.count_from(from).saturating_sub(1);
    let same =
        |other: &&CaptureRow| other.capture.ip_address == *from && other.id() != captured.id();
    let newest = stream.rows.iter().rev().filter(same).take(others.min(ALSO));
    let mut times: Vec<String> = newest
        .map(|other| format::clock(cx.theme, other.capture.request_date))
        .collect();
    times.reverse();
    times.dedup();
    let last = if others > ALSO { " last" } else { "" };
    let more = format::plural(others, "more capture");
    (others > 0).then(|| {
        format!(
            "Also from {}: {more},{last} {}",
            text::clean(from),
            times.join(", ")
        )
    })
}

fn token_line(theme: Theme, mention: &Mention, place: &str) -> Line<'static> {
    let wrapped = if mention.wrapped.is_empty() {
        String::new()
    } else {
        format!(" in {}", mention.wrapped.join(" in "))
    };
    let unknown = if mention.known { "" } else { "unknown " };
    let text = format!(
        "{place}{unknown}token {}{wrapped}{}",
        mention.token,
        added(mention)
    );
    let style = if mention.known {
        theme.good()
    } else {
        theme.warn()
    };
    Line::from(vec![
        Span::styled("      ", theme.dim()),
        Span::styled(text, style),
    ])
}

/// The text that the target added after the token.
fn added(mention: &Mention) -> String {
    match mention.added.as_str() {
        "" => String::new(),
        added => format!("; added by the target: {added}"),
    }
}

/// A line that belongs to the fact above.
fn branch(theme: Theme, name: &str, value: String) -> Line<'static> {
    let name = if name.is_empty() {
        String::new()
    } else {
        format!("{name}  ")
    };
    Line::from(vec![
        Span::styled(format!("  {} {name}", theme.glyphs.branch), theme.dim()),
        Span::raw(value),
    ])
}

/// A dim fact, for what is not part of the request.
fn aside(theme: Theme, name: &'static str, value: String) -> Line<'static> {
    Line::from(vec![
        Span::styled(format!("{name:<14}"), theme.dim()),
        Span::styled(value, theme.dim()),
    ])
}
