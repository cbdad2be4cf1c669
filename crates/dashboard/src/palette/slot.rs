//! The arguments of commands: their names, and how they are parsed and looked up in the model.

use crate::model::modal::decide_menu::{self, until};
use crate::model::{Fault, Model};
use crate::palette::{Args, ArgumentValue, bulk_payloads, details, trimmed};
use jiff::civil::Date;
use scandeck_domain::oob::Token;
use scandeck_domain::query::error::{did_you_mean, nearest};
use scandeck_domain::query::{Query, QueryKind, SortKey, with_own_name};
use scandeck_domain::table::{Item, Table};
use scandeck_domain::triage::{Baseline, DraftValue, IssueId, Verdict};
use scandeck_wire::contract::{FindingId, ScanId, Shared};
use std::fmt;
use std::ops::Range;

/// One argument of a command.
#[derive(Clone, Copy, Debug)]
pub struct ArgumentSlot {
    /// A keyword before it: `to` of `to FILE`.
    pub lead: &'static str,
    pub shape: ArgumentShape,
    pub optional: bool,
}

/// The kind of an argument.
#[derive(Clone, Copy, Debug)]
pub enum ArgumentShape {
    /// A query for a list.
    Query(QueryKind),
    /// A query for the list with the focus.
    Here,
    /// Fields to order the list with the focus by.
    Order,
    /// A saved query of the findings.
    Tab,
    /// A command of the configuration.
    Custom,
    /// Any text, with its name in the usage.
    Text(&'static str),
    /// The path of a file that exists.
    Path,
    /// Name or id of a workspace.
    Workspace,
    /// Name or id of a target.
    Target,
    /// Label or id of a logger.
    Logger,
    /// Id of a scan.
    Scan,
    /// Id of a finding, or words of its name.
    Finding,
    /// The beginning of a token that only one payload has.
    Payload,
    /// A query for the payloads, or how many to write into a file: see `bulk_payloads`.
    PayloadBook,
    /// A query for the findings, as [`ArgumentShape::Query`].
    Findings,
    /// Options of a verdict.
    Details,
    /// Added and removed tags: `+x -y`.
    Tags,
    /// One of a few words, with its name in the usage.
    Choice(&'static [&'static str], &'static str),
    /// A colour theme.
    Theme,
    /// A day, ids of scans, or `none`.
    Baseline,
    /// The name of a member of the team, `me` or `nobody`.
    Assignee,
    /// A day or a period from today, or `none`.
    Due,
}

impl ArgumentSlot {
    /// An argument that must be there.
    pub const fn needed(shape: ArgumentShape) -> Self {
        Self {
            lead: "",
            shape,
            optional: false,
        }
    }

    /// An optional argument.
    pub const fn optional(shape: ArgumentShape) -> Self {
        Self {
            lead: "",
            shape,
            optional: true,
        }
    }

    /// An argument after a word.
    pub const fn lead(lead: &'static str, shape: ArgumentShape) -> Self {
        Self {
            lead,
            shape,
            optional: false,
        }
    }

    /// An optional argument after a word.
    pub const fn after(lead: &'static str, shape: ArgumentShape) -> Self {
        Self {
            lead,
            shape,
            optional: true,
        }
    }
}

impl fmt::Display for ArgumentSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lead = if self.lead.is_empty() {
            String::new()
        } else {
            format!("{} ", self.lead)
        };
        match self.optional {
            true => write!(f, "[{lead}{}]", self.shape),
            false => write!(f, "{lead}{}", self.shape),
        }
    }
}

impl fmt::Display for ArgumentShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(_) | Self::Here | Self::Findings => f.write_str("QUERY"),
            Self::Text(name) => f.write_str(name),
            Self::Order => f.write_str("FIELDS"),
            Self::Path => f.write_str("FILE"),
            Self::Workspace
            | Self::Target
            | Self::Logger
            | Self::Tab
            | Self::Theme
            | Self::Custom => f.write_str("NAME"),
            Self::Scan => f.write_str("ID"),
            Self::Payload => f.write_str("TOKEN"),
            Self::PayloadBook => f.write_str("QUERY|COUNT FILE [shape=SHAPE]"),
            Self::Finding => f.write_str("ID|WORDS"),
            Self::Details => f.write_str("KEY=VALUE…"),
            Self::Tags => f.write_str("+TAG… -TAG…"),
            Self::Choice(_, name) => f.write_str(name),
            Self::Baseline => f.write_str("DATE|SCANS|none"),
            Self::Assignee => f.write_str("NAME|me|nobody"),
            Self::Due => f.write_str("DATE|+DAYS|none"),
        }
    }
}

impl ArgumentShape {
    /// Its name in an error.
    fn noun(self) -> String {
        match self {
            Self::Finding => "id or name".to_owned(),
            Self::PayloadBook => "query or count".to_owned(),
            Self::Text("URL") => "URL".to_owned(),
            Self::Choice(_, "on|off") => "mode".to_owned(),
            Self::Choice(_, "query|path") => "part of the URL".to_owned(),
            Self::Choice(_, "NAME") => "plot".to_owned(),
            Self::Choice(_, "join|retry") => "action".to_owned(),
            Self::Choice(_, "service|scandeck") => "author".to_owned(),
            Self::Order => "field".to_owned(),
            Self::Assignee => "name".to_owned(),
            Self::Due => "date".to_owned(),
            shape => shape.to_string().to_lowercase(),
        }
    }

    /// Whether it is one word; the others take the rest of the line.
    fn is_word(self) -> bool {
        matches!(self, Self::Choice(..) | Self::Scan)
    }
}

/// The parts of a line with their slots, in the order of the line. A part may be empty.
pub fn parts(slots: &[ArgumentSlot], text: &str, from: usize) -> Vec<(usize, Range<usize>)> {
    let mut leads: Vec<(usize, Range<usize>)> = Vec::new();
    for (nth, slot) in slots
        .iter()
        .enumerate()
        .filter(|(_, slot)| !slot.lead.is_empty())
    {
        let after = leads.last().map_or(from, |(_, lead)| lead.end);
        if let Some(lead) = words(text, after)
            .into_iter()
            .find(|word| text[word.clone()] == *slot.lead)
        {
            leads.push((nth, lead));
        }
    }
    let end = leads.first().map_or(text.len(), |(_, lead)| lead.start);
    let plain: Vec<usize> = (0..slots.len())
        .filter(|&nth| slots[nth].lead.is_empty())
        .collect();
    let mut parts = plain_parts(slots, &plain, text, from..end);
    for (nth, (slot, lead)) in leads.iter().enumerate() {
        let end = leads
            .get(nth + 1)
            .map_or(text.len(), |(_, next)| next.start);
        parts.push((*slot, lead.end..end));
    }
    parts
}

/// One word for each slot that is one, the rest for the last one.
fn plain_parts(
    slots: &[ArgumentSlot],
    plain: &[usize],
    text: &str,
    within: Range<usize>,
) -> Vec<(usize, Range<usize>)> {
    let mut parts = Vec::new();
    let mut at = within.start;
    for (nth, &slot) in plain.iter().enumerate() {
        let last = nth + 1 == plain.len();
        let word = words(&text[..within.end], at).into_iter().next();
        match word.filter(|word| !last && slots[slot].shape.is_word() && word.end < within.end) {
            Some(word) => {
                parts.push((slot, at..word.end));
                at = word.end;
            }
            None => {
                parts.push((slot, at..within.end));
                break;
            }
        }
    }
    parts
}

/// The words of a text from a position on; a quoted text is one word.
pub(crate) fn words(text: &str, from: usize) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let (mut start, mut quoted) = (None, false);
    for (at, letter) in text[from..]
        .char_indices()
        .map(|(at, letter)| (from + at, letter))
    {
        quoted ^= letter == '"';
        match (letter.is_whitespace() && !quoted, start) {
            (true, Some(begin)) => {
                words.push(begin..at);
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    words.extend(start.map(|begin| begin..text.len()));
    words
}

/// Parses the arguments of a line.
pub(crate) fn read_all(
    model: &Model,
    slots: &[ArgumentSlot],
    text: &str,
    from: usize,
) -> Result<Args, Fault> {
    let mut args = Args::default();
    let parts = parts(slots, text, from);
    for (index, part) in &parts {
        let (index, place) = (*index, trimmed(text, part.clone()));
        let slot = &slots[index];
        match place.is_empty() {
            true if slot.optional && slot.lead.is_empty() => {}
            true => return Err(missing(text, slots, index)),
            false => {
                let value = read_one(model, &args, slot.shape, text, place.clone())?;
                args.values.push((place, value));
            }
        }
    }
    if slots.is_empty() && !text[from..].trim().is_empty() {
        return Err(Fault::new(
            trimmed(text, from..text.len()),
            "too many arguments",
        ));
    }
    let given = |nth: &usize| parts.iter().any(|(slot, _)| slot == nth);
    match (0..slots.len()).find(|nth| !slots[*nth].optional && !given(nth)) {
        Some(nth) => Err(missing(text, slots, nth)),
        None => Ok(args),
    }
}

fn missing(text: &str, slots: &[ArgumentSlot], nth: usize) -> Fault {
    let slot = &slots[nth];
    let is_second = slots[..nth]
        .iter()
        .any(|other| other.shape.to_string() == slot.shape.to_string());
    let what = match slot.shape {
        ArgumentShape::Tags => "tag is missing: +TAG adds, -TAG removes".to_owned(),
        ArgumentShape::Baseline => "baseline is missing: a date, scan ids or none".to_owned(),
        ArgumentShape::Theme => "theme is missing".to_owned(),
        ArgumentShape::Query(_) if !slot.lead.is_empty() => {
            format!("query is missing: {} QUERY", slot.lead)
        }
        ArgumentShape::Scan if is_second => "id of the second scan is missing".to_owned(),
        shape if slot.lead.is_empty() => format!("{} is missing", shape.noun()),
        shape => format!("add `{} {shape}`", slot.lead),
    };
    Fault::new(text.len()..text.len(), what)
}

/// Reads one argument; `before` are those to its left, on which the details of a verdict depend.
fn read_one(
    model: &Model,
    before: &Args,
    shape: ArgumentShape,
    text: &str,
    place: Range<usize>,
) -> Result<ArgumentValue, Fault> {
    let typed = &text[place.clone()];
    let focused = model.navigation.focus.pane.kind();
    let data = &model.data;
    match shape {
        ArgumentShape::Query(kind) => query(model, kind, typed, &place),
        ArgumentShape::Findings => query(model, QueryKind::Findings, typed, &place),
        ArgumentShape::Here => query(model, focused, typed, &place),
        ArgumentShape::Details => {
            let verdict = before.choice().and_then(Verdict::named);
            details::read(verdict, text, place, model.today())
                .map(|draft| ArgumentValue::Details(Box::new(draft)))
        }
        ArgumentShape::Tags => tags(typed, place),
        ArgumentShape::Order => SortKey::parse_all(typed, focused)
            .map(|_| ArgumentValue::Text(typed.to_owned()))
            .map_err(|fault| moved(fault, place.start)),
        ArgumentShape::Tab => tab(model, typed, place),
        ArgumentShape::Custom => custom(model, typed, place),
        ArgumentShape::Text(_) | ArgumentShape::Path => Ok(ArgumentValue::Text(typed.to_owned())),
        ArgumentShape::Choice(words, _) => choice(shape, words, typed, place),
        ArgumentShape::Theme => theme(model, typed, place),
        ArgumentShape::Workspace => {
            let table = data.workspaces.value();
            named("workspace", table, |item| &item.name, typed, place).map(ArgumentValue::Workspace)
        }
        ArgumentShape::Target => {
            let table = data.targets.value();
            named("target", table, |item| &item.name, typed, place).map(ArgumentValue::Target)
        }
        ArgumentShape::Logger => {
            let table = data.loggers.value();
            named("logger", table, |item| &item.label, typed, place).map(ArgumentValue::Logger)
        }
        ArgumentShape::Scan => scan(model, typed, place),
        ArgumentShape::Finding => finding(model, typed)
            .map(ArgumentValue::Finding)
            .ok_or_else(|| Fault::new(place, format!("finding `{typed}` not found"))),
        ArgumentShape::Payload => payload(model, typed, place).map(ArgumentValue::Payload),
        ArgumentShape::PayloadBook => match bulk_payloads::read(typed, &place) {
            Some(many) => many.map(ArgumentValue::BulkPayloads),
            None => query(model, QueryKind::Payloads, typed, &place),
        },
        ArgumentShape::Baseline => baseline(model, typed, place).map(ArgumentValue::Baseline),
        ArgumentShape::Assignee => assignee(model, typed, place).map(ArgumentValue::Assignee),
        ArgumentShape::Due => due(model, typed, place).map(ArgumentValue::Due),
    }
}

/// A saved tab of filters.
fn tab(model: &Model, typed: &str, place: Range<usize>) -> Result<ArgumentValue, Fault> {
    let tabs = &model.settings.tabs.saved;
    let names: Vec<&str> = tabs.iter().map(|saved| saved.name.as_str()).collect();
    if names.iter().any(|name| name.eq_ignore_ascii_case(typed)) {
        return Ok(ArgumentValue::Text(typed.to_owned()));
    }
    let fault = Fault::new(place, format!("tab `{typed}` not found"));
    Err(with_names(fault, typed, &names))
}

/// A command of the user's own configuration.
fn custom(model: &Model, typed: &str, place: Range<usize>) -> Result<ArgumentValue, Fault> {
    let names = model.keyboard.keymap.custom_names();
    if names.contains(&typed) {
        return Ok(ArgumentValue::Text(typed.to_owned()));
    }
    let message = format!("no command `{typed}` in [[commands]] of the configuration");
    Err(with_names(Fault::new(place, message), typed, &names))
}

fn choice(
    shape: ArgumentShape,
    words: &'static [&'static str],
    typed: &str,
    place: Range<usize>,
) -> Result<ArgumentValue, Fault> {
    if let Some(word) = words.iter().find(|word| word.eq_ignore_ascii_case(typed)) {
        return Ok(ArgumentValue::Choice(word));
    }
    let names = match words {
        [one, other] => format!("{one} or {other}"),
        words => format!("one of {}", words.join(", ")),
    };
    let message = format!("unknown {} `{typed}`; use {names}", shape.noun());
    Err(with_nearest(Fault::new(place, message), typed, words))
}

fn theme(model: &Model, typed: &str, place: Range<usize>) -> Result<ArgumentValue, Fault> {
    let names = model.theme_names();
    if let Some(name) = names.iter().find(|name| name.eq_ignore_ascii_case(typed)) {
        return Ok(ArgumentValue::Text((*name).to_owned()));
    }
    Err(match model.settings.live.invalid_theme(typed) {
        Some(problem) => Fault::new(place, problem.to_string()),
        None => {
            let fault = Fault::new(place, format!("theme `{typed}` not found"));
            with_names(fault, typed, &names)
        }
    })
}

/// A scan of the workspace by its id, with or without `#`.
fn scan(model: &Model, typed: &str, place: Range<usize>) -> Result<ArgumentValue, Fault> {
    let id = typed.trim_start_matches('#').parse().ok().map(ScanId);
    let scans = model.data.scans.value();
    let is_known = |id: &ScanId| scans.is_some_and(|scans| scans.get(*id).is_some());
    id.filter(is_known)
        .map(ArgumentValue::Scan)
        .ok_or_else(|| Fault::new(place, format!("scan `{typed}` not found in this workspace")))
}

/// A query, in which the own name replaces `me`.
fn query(
    model: &Model,
    kind: QueryKind,
    typed: &str,
    place: &Range<usize>,
) -> Result<ArgumentValue, Fault> {
    let own_name = model.own_name();
    Query::parse_as(typed, kind, &own_name)
        .map(|_| ArgumentValue::Query(with_own_name(typed, kind, &own_name)))
        .map_err(|fault| moved(fault, place.start))
}

/// The fault of a part of the line, moved to the start of that part.
fn moved(mut fault: Fault, start: usize) -> Fault {
    fault.at = (start + fault.at.start)..(start + fault.at.end);
    fault
}

fn with_nearest(fault: Fault, typed: &str, names: &[&str]) -> Fault {
    match nearest(typed, names.iter().copied()) {
        Some(name) => fault.with_hint(did_you_mean(name)),
        None => fault,
    }
}

/// A fault with the nearest name, or else with all names.
fn with_names(fault: Fault, typed: &str, names: &[&str]) -> Fault {
    let fault = with_nearest(fault, typed, names);
    match fault.hint {
        None if !names.is_empty() => fault.with_hint(format!("use one of {}", names.join(", "))),
        _ => fault,
    }
}

/// An item by its whole name, its id, or a part of the name that only it has.
fn named<T: Item>(
    what: &str,
    table: Option<&std::sync::Arc<Table<T>>>,
    name: impl Fn(&T) -> &str,
    typed: &str,
    place: Range<usize>,
) -> Result<T::Id, Fault>
where
    T::Id: Into<i64>,
{
    let items = table.map(|table| table.items()).unwrap_or_default();
    let needle = typed.to_lowercase();
    let by = |fits: &dyn Fn(&T) -> bool| {
        let mut all = items.iter().filter(|item| fits(item));
        all.next()
            .filter(|_| all.next().is_none())
            .map(|item| item.id())
    };
    let found = by(&|item| name(item) == typed)
        .or_else(|| by(&|item| name(item).to_lowercase() == needle))
        .or_else(|| by(&|item| Ok(item.id().into()) == typed.parse::<i64>()))
        .or_else(|| by(&|item| name(item).to_lowercase().contains(&needle)));
    found.ok_or_else(|| {
        let several = items
            .iter()
            .filter(|item| name(item).to_lowercase().contains(&needle))
            .count();
        match several {
            0 => with_nearest(
                Fault::new(place, format!("{what} `{typed}` not found")),
                typed,
                &items.iter().map(|item| name(item)).collect::<Vec<_>>(),
            ),
            _ => Fault::new(
                place,
                format!("{several} {what}s match `{typed}`; use the full name or the id"),
            ),
        }
    })
}

/// A finding by an id of the service, else the first one in the list that has the words in its
/// name.
fn finding(model: &Model, typed: &str) -> Option<IssueId> {
    let table = model.data.findings.value()?;
    if let Ok(id) = typed.trim_start_matches('#').parse() {
        let with_id = table
            .items()
            .iter()
            .find(|issue| issue.finding_ids().any(|other| other == FindingId(id)));
        if let Some(issue) = with_id {
            return Some(issue.id);
        }
    }
    let needle = typed.to_lowercase();
    let has = |id: &IssueId| {
        table
            .get(*id)
            .is_some_and(|issue| issue.name.to_lowercase().contains(&needle))
    };
    let shown = model.lists.findings.shown(table).find(has);
    shown.or_else(|| table.items().iter().map(|issue| issue.id).find(has))
}

/// A payload of the workspace by the beginning of its token, which only it has.
fn payload(model: &Model, typed: &str, place: Range<usize>) -> Result<Token, Fault> {
    let all = model
        .data
        .payloads
        .value()
        .map(|table| table.items())
        .unwrap_or_default();
    let needle = typed.to_lowercase();
    let mut fits = all
        .iter()
        .map(|payload| payload.token)
        .filter(|token| token.to_string().starts_with(&needle));
    match (fits.next(), fits.next()) {
        (Some(token), None) => Ok(token),
        (None, _) => Err(Fault::new(
            place,
            format!("no payload token begins with `{typed}`"),
        )),
        (Some(_), Some(_)) => Err(Fault::new(
            place,
            format!("{} payload tokens begin with `{typed}`", fits.count() + 2),
        )),
    }
}

fn tags(typed: &str, place: Range<usize>) -> Result<ArgumentValue, Fault> {
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for word in typed.split([' ', ',']).filter(|word| !word.is_empty()) {
        match (
            word.strip_prefix('-'),
            word.strip_prefix('+').unwrap_or(word),
        ) {
            (Some(""), _) | (_, "") => {
                return Err(Fault::new(place, "tag is missing after + or -"));
            }
            (Some(tag), _) => remove.push(Shared::from(tag)),
            (None, tag) => add.push(Shared::from(tag)),
        }
    }
    Ok(ArgumentValue::Tags((add, remove)))
}

/// The member of a name, with or without `@`.
fn assignee(model: &Model, typed: &str, place: Range<usize>) -> Result<Option<Shared>, Fault> {
    match decide_menu::assignee(typed, &model.own_name()) {
        Ok(DraftValue::Set(name)) => Ok(Some(name)),
        Ok(DraftValue::Default | DraftValue::Empty) => Ok(None),
        Err(why) => Err(Fault::new(place, why)),
    }
}

fn due(model: &Model, typed: &str, place: Range<usize>) -> Result<Option<Date>, Fault> {
    match until(typed.trim_start_matches('+'), model.today()) {
        Ok(DraftValue::Set(day)) => Ok(Some(day)),
        Ok(DraftValue::Default | DraftValue::Empty) => Ok(None),
        Err(why) => Err(Fault::new(place, why)),
    }
}

fn baseline(model: &Model, typed: &str, place: Range<usize>) -> Result<Option<Baseline>, Fault> {
    if typed.eq_ignore_ascii_case("none") {
        return Ok(None);
    }
    if let Ok(day) = Date::strptime("%Y-%m-%d", typed) {
        return match day > model.today() {
            true => Err(Fault::new(
                place,
                format!("{day} is in the future; use an earlier date"),
            )),
            false => Ok(Some(Baseline::Day(day))),
        };
    }
    let ids = typed.split([' ', ',']).filter(|id| !id.is_empty());
    let scans: Result<Vec<ScanId>, _> = ids
        .map(|id| id.trim_start_matches('#').parse().map(ScanId))
        .collect();
    let reason = "use a date such as 2026-10-01, scan ids, or none";
    let scans = scans.map_err(|_| Fault::new(place.clone(), reason))?;
    let all = model.data.scans.value();
    match scans
        .iter()
        .find(|&&id| all.is_some_and(|all| all.get(id).is_none()))
    {
        Some(unknown) => Err(Fault::new(
            place,
            format!("scan {unknown} not found in this workspace"),
        )),
        None => Ok(Some(Baseline::Scans(scans))),
    }
}
