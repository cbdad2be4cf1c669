//! Applies the rules to a tree.

use std::collections::BTreeMap;

use super::cycles::cycles;
use super::paths::{FileNames, Use, declared_by_calls, find};
use super::rules::{Check, PART_OF, RULES, Rule};
use super::tree::{File, Names, Tree};

/// A place that breaks a rule.
#[derive(Debug, PartialEq)]
pub struct Violation {
    pub file: String,
    pub line: usize,
    pub message: String,
    /// Further lines, for example the edges of a cycle.
    pub details: Vec<String>,
}

/// A file with its layer and its names.
struct ScannedFile<'a> {
    file: &'a File,
    layer: String,
    names: FileNames,
}

/// Each rule with its violations, ordered by file and line.
pub fn check(tree: &Tree, rules: &'static [Rule]) -> Vec<(&'static Rule, Vec<Violation>)> {
    let files: Vec<ScannedFile<'_>> = tree
        .files
        .iter()
        .map(|file| ScannedFile {
            file,
            layer: layer(&file.path),
            names: find(tree, file),
        })
        .collect();
    rules
        .iter()
        .map(|rule| (rule, violations(tree, &files, rule)))
        .collect()
}

fn violations(tree: &Tree, files: &[ScannedFile<'_>], rule: &Rule) -> Vec<Violation> {
    let mut all = match &rule.check {
        Check::Names {
            of,
            except,
            not,
            but,
            through,
        } => {
            let is_checked = |scanned: &ScannedFile<'_>| {
                is_in(&scanned.layer, of) && !is_in(&scanned.layer, except)
            };
            forbidden(
                files.iter().filter(|scanned| is_checked(scanned)),
                rule.in_tests,
                |_, used| {
                    // An allowed re-export hides the name that it re-exports.
                    let end = used
                        .paths
                        .iter()
                        .position(|path| is_named(path, through))
                        .map_or(used.paths.len(), |at| at + 1);
                    used.paths[..end]
                        .iter()
                        .find(|path| is_named(path, not) && !is_named(path, but))
                },
            )
        }
        Check::Folders { of, not } => {
            let is_checked = |scanned: &ScannedFile<'_>| {
                folder(&scanned.layer).is_some_and(|own| of.contains(&own))
            };
            forbidden(
                files.iter().filter(|scanned| is_checked(scanned)),
                rule.in_tests,
                |scanned, used| {
                    let own = folder(&scanned.layer).map(feature);
                    used.paths.iter().find(|path| {
                        let other = folder_named(path).filter(|other| not.contains(other));
                        other.is_some() && other.map(feature) != own
                    })
                },
            )
        }
        Check::KnownFolders { folders } => unknown_folders(files, folders),
        Check::Cycles { module } => cycle_violations(tree, files, module, rule.in_tests),
        Check::Draw { except, mutable } => draws(files, except, mutable),
        Check::UniqueTypes { except } => shared_names(files, except),
        Check::Fields { of, most } => large_structs(files, of, *most),
        Check::NoBool { function } => bools(files, function),
        Check::FrontPage => {
            let has_no_header = |scanned: &&ScannedFile<'_>| !scanned.file.text.starts_with("//!");
            files
                .iter()
                .filter(has_no_header)
                .map(|scanned| at(scanned, 1, "does not begin with `//!`"))
                .collect()
        }
        Check::Declared => undeclared(tree),
        Check::Layers => stale_layers(files),
    };
    if let Check::Cycles { .. } = rule.check {
        return all; // short cycles come first
    }
    all.sort_by(|a, b| (&a.file, a.line, &a.message).cmp(&(&b.file, b.line, &b.message)));
    all
}

/// The first use of each forbidden name in each file.
fn forbidden<'a>(
    files: impl Iterator<Item = &'a ScannedFile<'a>>,
    in_tests: bool,
    find: impl for<'u> Fn(&ScannedFile<'_>, &'u Use) -> Option<&'u Names>,
) -> Vec<Violation> {
    let mut all = Vec::new();
    for scanned in files {
        let mut seen: Vec<&Names> = Vec::new();
        let mut uses: Vec<&Use> = scanned
            .names
            .uses
            .iter()
            .filter(|used| in_tests || !used.is_test)
            .collect();
        uses.sort_by_key(|used| used.line);
        for used in uses {
            let Some(path) = find(scanned, used) else {
                continue;
            };
            if !seen.iter().any(|before| path.starts_with(before)) {
                let name = path.join("::");
                let written = if used.written == name {
                    String::new()
                } else {
                    format!(" (as `{}`)", used.written)
                };
                all.push(at(scanned, used.line, &format!("names {name}{written}")));
                seen.push(path);
            }
        }
    }
    all
}

fn unknown_folders(files: &[ScannedFile<'_>], folders: &[&[&str]]) -> Vec<Violation> {
    let is_known = |own: &str| folders.iter().any(|list| list.contains(&own));
    let mut unknown: BTreeMap<&str, Violation> = BTreeMap::new();
    for scanned in files {
        if let Some(own) = folder(&scanned.layer).filter(|own| !is_known(own)) {
            unknown
                .entry(own)
                .or_insert_with(|| at(scanned, 1, &format!("folder `{own}` is in no rule")));
        }
    }
    unknown.into_values().collect()
}

fn cycle_violations(
    tree: &Tree,
    files: &[ScannedFile<'_>],
    module: &[&str],
    in_tests: bool,
) -> Vec<Violation> {
    let mut edges: BTreeMap<(String, String), (String, usize, String)> = BTreeMap::new();
    for scanned in files {
        let Some(from) = node(tree, &scanned.file.module, module) else {
            continue;
        };
        for used in scanned
            .names
            .uses
            .iter()
            .filter(|used| in_tests || !used.is_test)
        {
            for to in used
                .paths
                .iter()
                .filter_map(|path| node(tree, path, module))
                .filter(|to| *to != from)
            {
                let example = (scanned.file.path.clone(), used.line, used.written.clone());
                let edge = edges
                    .entry((from.clone(), to))
                    .or_insert_with(|| example.clone());
                *edge = example.min(edge.clone());
            }
        }
    }
    let pairs: Vec<_> = edges
        .keys()
        .map(|(from, to)| (from.as_str(), to.as_str()))
        .collect();
    let closed = |cycle: &[&str]| {
        cycle
            .iter()
            .copied()
            .chain([cycle[0]])
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    cycles(&pairs)
        .iter()
        .map(|cycle| {
            let around = closed(cycle);
            let steps: Vec<_> = around
                .windows(2)
                .map(|pair| &edges[&(pair[0].clone(), pair[1].clone())])
                .collect();
            let details = around
                .windows(2)
                .zip(&steps)
                .map(|(pair, (file, line, written))| {
                    format!("{} -> {}: {file}:{line} names {written}", pair[0], pair[1])
                });
            let (file, line, _) = steps[0];
            let message = format!("cycle of {}: {}", cycle.len(), around.join(" -> "));
            Violation {
                file: file.clone(),
                line: *line,
                message,
                details: details.collect(),
            }
        })
        .collect()
}

/// The child of `module` that contains a path: `mod` for the module itself, none for the root of
/// the crate.
fn node(tree: &Tree, path: &[String], module: &[&str]) -> Option<String> {
    if !begins(path, module) {
        return None;
    }
    let child = path
        .get(..=module.len())
        .filter(|child| tree.scopes.contains_key(*child));
    match child {
        Some(child) => child.last().cloned(),
        None => (module.len() > 1).then(|| "mod".to_owned()),
    }
}

fn draws(files: &[ScannedFile<'_>], except: &[&str], mutable: &[&str]) -> Vec<Violation> {
    let mut all = Vec::new();
    for scanned in files
        .iter()
        .filter(|scanned| !is_in(&scanned.layer, except))
    {
        for function in scanned
            .names
            .functions
            .iter()
            .filter(|function| !function.is_test)
        {
            let is_drawing = function.name == "draw" || function.name.starts_with("draw_");
            for mutated in function
                .mutates
                .iter()
                .filter(|mutated| is_drawing && !mutable.contains(&mutated.as_str()))
            {
                all.push(at(
                    scanned,
                    function.line,
                    &format!("{} takes `&mut {mutated}`", function.name),
                ));
            }
        }
    }
    all
}

fn shared_names(files: &[ScannedFile<'_>], except: &[&str]) -> Vec<Violation> {
    let macros: Vec<String> = files
        .iter()
        .flat_map(|scanned| scanned.names.type_macros.iter().cloned())
        .collect();
    let mut named: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for scanned in files {
        let types = scanned
            .names
            .types
            .iter()
            .chain(declared_by_calls(&scanned.names, &macros));
        for declared in
            types.filter(|declared| !declared.is_test && !except.contains(&declared.name.as_str()))
        {
            named
                .entry(&declared.name)
                .or_default()
                .push((&scanned.file.path, declared.line));
        }
    }
    let shared = named.into_iter().filter(|(_, places)| places.len() > 1);
    shared
        .map(|(name, places)| Violation {
            file: places[0].0.to_owned(),
            line: places[0].1,
            message: format!("{} types are named {name}", places.len()),
            details: places[1..]
                .iter()
                .map(|(file, line)| format!("{file}:{line}"))
                .collect(),
        })
        .collect()
}

fn large_structs(files: &[ScannedFile<'_>], of: &str, most: usize) -> Vec<Violation> {
    let mut all = Vec::new();
    for scanned in files {
        for large in scanned
            .names
            .types
            .iter()
            .filter(|one| one.name == of && one.fields > most && !one.is_test)
        {
            all.push(at(
                scanned,
                large.line,
                &format!("{of} has {} fields; the limit is {most}", large.fields),
            ));
        }
    }
    all
}

fn bools(files: &[ScannedFile<'_>], name: &str) -> Vec<Violation> {
    let mut all = Vec::new();
    for scanned in files {
        let functions = scanned
            .names
            .functions
            .iter()
            .filter(|one| one.name == name && one.returns_bool && !one.is_test);
        all.extend(
            functions.map(|function| at(scanned, function.line, &format!("{name} returns bool"))),
        );
    }
    all
}

fn undeclared(tree: &Tree) -> Vec<Violation> {
    let unreadable = tree
        .unreadable
        .iter()
        .map(|(file, line, reason)| Violation {
            file: file.clone(),
            line: *line,
            message: reason.clone(),
            details: Vec::new(),
        });
    let undeclared = tree.undeclared.iter().map(|file| Violation {
        file: file.clone(),
        line: 1,
        message: "no module declares this file".to_owned(),
        details: Vec::new(),
    });
    unreadable.chain(undeclared).collect()
}

fn stale_layers(files: &[ScannedFile<'_>]) -> Vec<Violation> {
    let mut all = Vec::new();
    for rule in RULES {
        let layers = match &rule.check {
            Check::Names { of, except, .. } => [*of, *except],
            Check::Draw { except, .. } => [*except, &[]],
            _ => continue,
        };
        for layer in layers.concat() {
            if !files.iter().any(|scanned| is_in(&scanned.layer, &[layer])) {
                let message = format!("rule {}: layer `{layer}` has no file", rule.name);
                all.push(Violation {
                    file: "tests/imports/rules.rs".to_owned(),
                    line: 1,
                    message,
                    details: Vec::new(),
                });
            }
        }
    }
    all
}

fn at(scanned: &ScannedFile<'_>, line: usize, message: &str) -> Violation {
    Violation {
        file: scanned.file.path.clone(),
        line,
        message: message.to_owned(),
        details: Vec::new(),
    }
}

/// `src/dashboard/ui/mod.rs` is the layer `dashboard/ui`.
fn layer(path: &str) -> String {
    let path = path.strip_prefix("src/").unwrap_or(path);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    path.strip_suffix("/mod").unwrap_or(path).to_owned()
}

fn is_in(layer: &str, layers: &[&str]) -> bool {
    layers
        .iter()
        .any(|allowed| match allowed.strip_prefix("*/") {
            Some(name) => layer.split('/').any(|part| part == name),
            None if *allowed == "*" => true,
            None => layer
                .strip_prefix(allowed)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
        })
}

/// The folder of the dashboard that contains a layer.
fn folder(layer: &str) -> Option<&str> {
    layer.strip_prefix("dashboard/")?.split('/').next()
}

/// The folder of the dashboard that a path names.
fn folder_named(path: &Names) -> Option<&str> {
    begins(path, &["crate", "dashboard"])
        .then(|| path.get(2).map(String::as_str))
        .flatten()
}

fn feature(folder: &str) -> &str {
    PART_OF
        .iter()
        .find(|(part, _)| *part == folder)
        .map_or(folder, |(_, whole)| whole)
}

fn is_named(path: &[String], names: &[&str]) -> bool {
    names.iter().any(|name| match name.strip_prefix("*::") {
        Some(end) => {
            let end: Vec<&str> = end.split("::").collect();
            path.len() >= end.len() && begins(&path[path.len() - end.len()..], &end)
        }
        None => begins(path, &name.split("::").collect::<Vec<_>>()),
    })
}

fn begins(path: &[String], prefix: &[&str]) -> bool {
    path.len() >= prefix.len() && path.iter().zip(prefix).all(|(own, allowed)| own == allowed)
}
