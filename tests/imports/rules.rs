//! The rules of `ARCHITECTURE.md`, as tables.
//!
//! A layer is a path below the crates: `dashboard/ui` is the file or folder `ui` of the dashboard, and
//! all below it; `*/draw` is every file and folder of that name. A name is a path from the root of its
//! crate: `wire::text` and all below it, `*::Instant::now` wherever it comes from, `.await` a method
//! or `await` itself. In a list a `-` takes away what an entry before it includes.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Named, Source};

/// Files in the layers `of` name none of `not`.
struct Rule {
    name: &'static str,
    of: &'static str,
    not: &'static str,
    remedy: &'static str,
}

/// The folders of a crate: each names only folders before the last `<`, and none beside it.
const ORDERS: [(&str, &str); 3] = [
    (
        "dashboard",
        "config < input < base < data < text < list forms prompts < model < ui < palette < activity \
         captures chains findings payloads plots reports scans schedules settings targets \
         wordlists workspaces < core < poller < runtime",
    ),
    (
        "domain",
        "finding_request finding mask problem text_files < proof oob query < chain table < triage < alerts case export < formats",
    ),
    (
        "wire",
        "body_text contract data_format text login input_files recurrence < base_dirs secret_names sqlite < font_files",
    ),
];

const RULES: &[Rule] = &[
    Rule {
        name: "pure",
        of: "* -client -dashboard/config -dashboard/poller -dashboard/runtime -domain/alerts/store \
             -domain/oob/store -domain/text_files -domain/triage/store -program -service -wire/base_dirs \
             -wire/font_files -wire/input_files -wire/login -wire/sqlite",
        not: "tokio reqwest std::fs std::process std::thread std::env std::net::TcpListener \
              std::net::TcpStream std::net::UdpSocket std::net::ToSocketAddrs std::os::unix::net \
              std::io::stdin std::io::stdout std::io::stderr *::Instant::now *::SystemTime::now \
              *::Timestamp::now *::Zoned::now .await .elapsed .exists .is_file .is_dir .metadata \
              .canonicalize .read_dir .to_socket_addrs",
        remedy: "return an `Effect`, or take the value (`Now`, the bytes, the id) as an argument",
    },
    Rule {
        name: "effects",
        of: "dashboard -dashboard/config -dashboard/poller -dashboard/runtime",
        not: "client -client::Problem -client::calls",
        remedy: "return an `Effect`; only the error and the record of a call come from the client",
    },
    Rule {
        name: "terminal-types",
        of: "* -*/draw -dashboard/ui -dashboard/text/input -dashboard/runtime/terminal",
        not: "ratatui tui_textarea",
        remedy: "keep the state as data, and turn it into cells in `draw.rs`",
    },
    Rule {
        name: "terminal-events",
        of: "* -dashboard/runtime -dashboard/input -dashboard/core/msg -dashboard/text/input \
             -program/cli/dashboard/headless/print -program/cli/dashboard/headless/watch",
        not: "crossterm",
        remedy: "take a `Key`, or the event under the name that `dashboard/input` gives it",
    },
    Rule {
        name: "state-draws-nothing",
        of: "dashboard -*/draw -dashboard/ui -dashboard/runtime",
        not: "dashboard::ui",
        remedy: "move drawing code into `draw.rs`, and other code out of `ui`",
    },
    Rule {
        name: "sql",
        of: "* -domain/alerts/store -domain/oob/store -domain/triage/store -service/store \
             -wire/sqlite",
        not: "sqlx",
        remedy: "add a function to the store",
    },
    Rule {
        name: "http-client",
        of: "* -client -program/demo/practice -service/runs/callbacks -service/runs/remote -service/engine",
        not: "reqwest",
        remedy: "call a function of `client`, or of the engine's `http`",
    },
    Rule {
        name: "engine",
        of: "service/engine",
        not: "axum service::store service::routes",
        remedy: "return the finding; the worker stores it",
    },
    Rule {
        name: "store",
        of: "service/store",
        not: "axum service::routes",
        remedy: "return data; the route builds the response",
    },
];

/// Types that a draw function may change: cells, and its cache.
const DRAWN: [&str; 5] = ["Buffer", "Frame", "ViewCache", "Anchor", "StreamAnchor"];
/// Layers whose draw functions are methods of the cache, or write to the terminal.
const NOT_DRAWING: &str = "dashboard/ui/cache dashboard/runtime";

/// One line for each place that breaks a rule.
pub fn violations(sources: &[Source]) -> Vec<String> {
    let mut all = shared_types(sources);
    let forbidden = forbidden_names(sources);
    for source in sources {
        let Source { layer, text, .. } = source;
        let mut report = |line: usize, what: String| all.push(format!("{layer}:{line}: {what}"));
        let rules = RULES.iter().zip(&forbidden);
        for (rule, names) in rules.filter(|(rule, _)| is_in(layer, rule.of, "/")) {
            let is_forbidden = |used: &&Named| names.contains(used.name.as_str());
            for used in source.names.iter().filter(is_forbidden) {
                let why = format!("(rule {}: {})", rule.name, rule.remedy);
                report(used.line, format!("names {} {why}", used.name));
            }
        }
        for used in out_of_order(source) {
            let why = "which is not below its folder";
            report(used.line, format!("names {}, {why}", used.name));
        }
        for drawn in &source.drawn {
            let is_allowed = DRAWN.contains(&drawn.name.as_str());
            if !is_allowed && !is_in(layer, NOT_DRAWING, "/") {
                report(
                    drawn.line,
                    format!("a draw function takes `&mut {}`", drawn.name),
                );
            }
        }
        if !text.starts_with("//!") {
            report(1, "does not begin with `//!`".to_owned());
        }
        if !is_declared(layer, sources) {
            report(1, "no module declares this file".to_owned());
        }
    }
    all
}

/// The names that each rule forbids. Files have the same names again and again.
fn forbidden_names(sources: &[Source]) -> Vec<BTreeSet<&str>> {
    let names = sources.iter().flat_map(|source| &source.names);
    let names: BTreeSet<&str> = names.map(|used| used.name.as_str()).collect();
    let of_rule = |rule: &Rule| {
        let all = names.iter().copied();
        all.filter(|name| is_in(name, rule.not, "::"))
            .collect::<BTreeSet<&str>>()
    };
    RULES.iter().map(of_rule).collect()
}

fn out_of_order(source: &Source) -> Vec<&Named> {
    let layer: Vec<&str> = source.layer.split('/').collect();
    let order = ORDERS.iter().find(|(name, _)| *name == layer[0]);
    let (Some((krate, order)), Some(own)) = (order, layer.get(1)) else {
        return Vec::new();
    };
    let row = |folder: &str| {
        let mut rows = order.split(" < ");
        rows.position(|row| row.split(' ').any(|one| one == folder))
    };
    let own_row = row(own).unwrap_or_else(|| panic!("{krate}/{own} has no place in ORDERS"));
    let is_above = |used: &&Named| {
        let mut path = used.name.split("::");
        let is_own_crate = path.next() == Some(krate);
        let other = path.next().filter(|other| is_own_crate && other != own);
        other.and_then(row).is_some_and(|row| row >= own_row)
    };
    source.names.iter().filter(is_above).collect()
}

/// Whether the parent names the module, or the file by its path.
fn is_declared(layer: &str, sources: &[Source]) -> bool {
    let Some((folder, name)) = layer.rsplit_once('/').filter(|(_, name)| *name != "main") else {
        return true;
    };
    let declarations = [format!("mod {name};"), format!("\"{name}.rs\"")];
    let mut parents = sources.iter().filter(|other| other.layer == folder);
    parents.any(|parent| declarations.iter().any(|one| parent.text.contains(one)))
}

/// Types that share a name. `Error` and `Store` are always named with their module; a module
/// `no_…` replaces another one.
fn shared_types(sources: &[Source]) -> Vec<String> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut shared = Vec::new();
    for source in sources.iter().filter(|one| !one.layer.contains("/no_")) {
        for Named { line, name } in &source.types {
            let layer = source.layer.as_str();
            let other = first.insert(name, layer);
            if let Some(other) = other.filter(|_| !["Error", "Store"].contains(&name.as_str())) {
                shared.push(format!("{layer}:{line}: {other} has a type {name} too"));
            }
        }
    }
    shared
}

/// The layers that the rules name.
pub fn layers() -> impl Iterator<Item = &'static str> {
    let lists = RULES.iter().map(|rule| rule.of).chain([NOT_DRAWING]);
    let layers = lists.flat_map(str::split_whitespace);
    let layers = layers.map(|layer| layer.trim_start_matches('-'));
    layers.filter(|layer| *layer != "*")
}

/// Whether a list includes a path.
pub fn is_in(path: &str, list: &str, separator: &str) -> bool {
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with(separator);
    let is_below = |one: &str| match one.strip_prefix('*') {
        Some(end) => path.ends_with(end) || path.contains(&format!("{end}{separator}")),
        None => path.strip_prefix(one).is_some_and(is_end),
    };
    let mut is_included = false;
    for one in list.split_whitespace() {
        match one.strip_prefix('-') {
            Some(left_out) => is_included &= !is_below(left_out),
            None => is_included |= one == "*" || is_below(one),
        }
    }
    is_included
}
