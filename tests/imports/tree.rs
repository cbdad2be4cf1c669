//! The modules of the crate, read from `src/lib.rs` and `src/main.rs` by following `mod`
//! declarations.
//!
//! ```text
//!   sources (path -> text) ──mod──► files, parsed ──► scopes: what each module declares and imports
//!                          └──────► files that no module declares
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Item, Meta, Token, UseTree};

/// A path of the language, one entry a segment; a path of this crate begins with `crate`.
pub type Names = Vec<String>;

/// The Rust files of a package: path below the package (`src/lib.rs`) and text.
pub type Sources = BTreeMap<String, String>;

/// The names that a module or a block declares and imports.
#[derive(Default)]
pub struct Scope {
    /// Name and path of each `use`, and of each type alias, as written.
    pub imports: Vec<(String, Names)>,
    /// Paths of the `use …::*`, as written.
    pub globs: Vec<Names>,
    /// Declared names.
    pub items: BTreeSet<String>,
}

/// A parsed file.
pub struct File {
    pub path: String,
    pub module: Names,
    /// Declared by a module under `#[cfg(test)]`.
    pub is_test: bool,
    pub syntax: syn::File,
    pub text: String,
}

/// The crate.
#[derive(Default)]
pub struct Tree {
    pub files: Vec<File>,
    pub scopes: BTreeMap<Names, Scope>,
    /// Files that no module declares.
    pub undeclared: Vec<String>,
    /// Files that cannot be parsed and modules without a file: path, line, reason.
    pub unreadable: Vec<(String, usize, String)>,
}

/// Position of the reader: the file, the folder of its child modules and the module.
#[derive(Clone)]
struct Place {
    file: String,
    folder: String,
    module: Names,
    is_test: bool,
    is_inline: bool,
}

/// Crates whose root is one module of the tree. Those of `wire` and `domain` hold several, which
/// stand beside the modules of the program.
const ONE_MODULE: &[&str] = &["client", "dashboard", "report", "service"];

/// Reads every Rust file of the workspace as one tree, so that a rule names a module as
/// `ARCHITECTURE.md` does: `crates/dashboard/src/ui/mod.rs` is `src/dashboard/ui/mod.rs`, and
/// `scandeck_wire::text` is `crate::text`.
pub fn sources(package: &Path) -> Sources {
    let mut sources = Sources::new();
    let mut root = String::new();
    for (name, folder) in crates(package) {
        for (path, text) in files_below(&folder) {
            let text = with_one_root(&text, &name);
            match path.as_str() {
                "lib.rs" if ONE_MODULE.contains(&name.as_str()) => {
                    let without_config = text.replace("pub mod config;", "");
                    root.push_str(&format!("pub mod {name};\n"));
                    sources.insert(format!("src/{name}/mod.rs"), without_config);
                }
                "lib.rs" => {
                    // The program exports the crates again, for tests and benchmarks.
                    let modules = text.split("pub use").next().unwrap_or_default();
                    root.push_str(modules);
                }
                // The configuration is beside the dashboard, which may not read its files.
                path if path.starts_with("config") || !ONE_MODULE.contains(&name.as_str()) => {
                    sources.insert(format!("src/{path}"), text);
                }
                path => _ = sources.insert(format!("src/{name}/{path}"), text),
            }
        }
    }
    // One head for all roots: inner documentation stands before everything else.
    let is_code = |line: &&str| !line.starts_with("//!") && !line.starts_with("#![");
    let code: Vec<&str> = root.lines().filter(is_code).collect();
    let text = format!("//! Head.\npub mod config;\n{}", code.join("\n"));
    sources.insert("src/lib.rs".to_owned(), text);
    sources
}

/// The crates of the workspace with their source folders; the program has no name.
fn crates(package: &Path) -> Vec<(String, PathBuf)> {
    let mut crates = vec![(String::new(), package.join("src"))];
    for entry in fs::read_dir(package.join("crates")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        crates.push((name, entry.path().join("src")));
    }
    crates.sort();
    crates
}

/// Path below the folder and text of each Rust file.
fn files_below(root: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let below = path.strip_prefix(root).unwrap().display().to_string();
                files.push((below, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files
}

/// The text of a file of this crate, with every path of the workspace from one root.
fn with_one_root(text: &str, name: &str) -> String {
    let mut text = text.to_owned();
    if ONE_MODULE.contains(&name) {
        text = text.replace("crate::", &format!("crate::{name}::"));
        text = text.replace("crate::dashboard::config", "crate::config");
    }
    text = text.replace("scandeck_dashboard::config", "crate::config");
    for one in ONE_MODULE {
        text = text.replace(&format!("scandeck_{one}"), &format!("crate::{one}"));
    }
    text.replace("scandeck_wire", "crate")
        .replace("scandeck_domain", "crate")
}

impl Tree {
    pub fn read(sources: &Sources) -> Self {
        let mut tree = Self::default();
        for root in ["src/lib.rs", "src/main.rs"] {
            if sources.contains_key(root) {
                tree.read_file(
                    sources,
                    root.to_owned(),
                    "src".to_owned(),
                    vec!["crate".to_owned()],
                    false,
                );
            }
        }
        let read: BTreeSet<_> = tree.files.iter().map(|file| &file.path).collect();
        let failed: BTreeSet<_> = tree.unreadable.iter().map(|(path, ..)| path).collect();
        let undeclared = sources
            .keys()
            .filter(|path| !read.contains(path) && !failed.contains(path));
        tree.undeclared = undeclared.cloned().collect();
        tree
    }

    fn read_file(
        &mut self,
        sources: &Sources,
        path: String,
        folder: String,
        module: Names,
        is_test: bool,
    ) {
        if self.files.iter().any(|file| file.path == path) {
            return;
        }
        let text = sources[&path].clone();
        let syntax = match syn::parse_file(&text) {
            Ok(syntax) => syntax,
            Err(error) => {
                self.unreadable
                    .push((path, error.span().start().line, error.to_string()));
                return;
            }
        };
        let place = Place {
            file: path.clone(),
            folder,
            module: module.clone(),
            is_test,
            is_inline: false,
        };
        self.read_items(sources, &syntax.items, &place);
        self.files.push(File {
            path,
            module,
            is_test,
            syntax,
            text,
        });
    }

    fn read_items(&mut self, sources: &Sources, items: &[Item], place: &Place) {
        self.scopes
            .entry(place.module.clone())
            .or_default()
            .extend(items);
        for item in items {
            let Item::Mod(child) = item else { continue };
            let name = plain(&child.ident);
            let module = joined(&place.module, &name);
            let is_test = place.is_test || is_test_only(&child.attrs);
            if let Some((_, inside)) = &child.content {
                let folder = format!("{}/{name}", place.folder);
                let inner = Place {
                    folder,
                    module,
                    is_test,
                    is_inline: true,
                    ..place.clone()
                };
                self.read_items(sources, inside, &inner);
            } else {
                match child_file(sources, place, &name, &child.attrs) {
                    Some((path, folder)) => self.read_file(sources, path, folder, module, is_test),
                    None => {
                        let line = child.ident.span().start().line;
                        self.unreadable.push((
                            place.file.clone(),
                            line,
                            format!("module `{name}` has no file"),
                        ));
                    }
                }
            }
        }
    }
}

/// The file of `mod name;` and the folder of its own child modules.
fn child_file(
    sources: &Sources,
    place: &Place,
    name: &str,
    attributes: &[Attribute],
) -> Option<(String, String)> {
    let parent = |path: &str| {
        path.rsplit_once('/')
            .map_or(String::new(), |(folder, _)| folder.to_owned())
    };
    let named = attributes
        .iter()
        .find_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("path") => text_of(&pair.value),
            _ => None,
        });
    if let Some(named) = named {
        let folder = if place.is_inline {
            place.folder.clone()
        } else {
            parent(&place.file)
        };
        let path = format!("{folder}/{named}");
        return sources
            .contains_key(&path)
            .then(|| (path.clone(), parent(&path)));
    }
    let folder = format!("{}/{name}", place.folder);
    [format!("{folder}.rs"), format!("{folder}/mod.rs")]
        .into_iter()
        .find(|path| sources.contains_key(path))
        .map(|path| (path, folder))
}

impl Scope {
    pub fn extend<'a>(&mut self, items: impl IntoIterator<Item = &'a Item>) {
        for item in items {
            match item {
                Item::Use(import) => {
                    let mut leaves = Vec::new();
                    flatten(&import.tree, &[], &mut leaves);
                    for leaf in leaves {
                        match leaf.name {
                            Some(name) => self.imports.push((name, leaf.path)),
                            None => self.globs.push(leaf.path),
                        }
                    }
                }
                Item::Type(alias) => {
                    self.items.insert(plain(&alias.ident));
                    if let syn::Type::Path(target) = &*alias.ty {
                        self.imports
                            .push((plain(&alias.ident), segments(&target.path)));
                    }
                }
                Item::Const(item) => self.declare(&item.ident),
                Item::Enum(item) => self.declare(&item.ident),
                Item::Fn(item) => self.declare(&item.sig.ident),
                Item::Mod(item) => self.declare(&item.ident),
                Item::Static(item) => self.declare(&item.ident),
                Item::Struct(item) => self.declare(&item.ident),
                Item::Trait(item) => self.declare(&item.ident),
                Item::Union(item) => self.declare(&item.ident),
                _ => {}
            }
        }
    }

    fn declare(&mut self, name: &syn::Ident) {
        self.items.insert(plain(name));
    }
}

/// One path of a `use` tree; a glob has no name.
pub struct Leaf {
    pub path: Names,
    pub name: Option<String>,
    pub line: usize,
}

/// The paths of a `use` tree.
pub fn flatten(tree: &UseTree, before: &[String], leaves: &mut Vec<Leaf>) {
    let leaf = |ident: &syn::Ident, name: &syn::Ident| {
        // `use a::b::{self}` names `a::b`.
        let path = if ident == "self" && !before.is_empty() {
            before.to_vec()
        } else {
            joined(before, &plain(ident))
        };
        let name = if name == "self" {
            path.last().cloned()
        } else {
            Some(plain(name))
        };
        Leaf {
            path,
            name,
            line: ident.span().start().line,
        }
    };
    match tree {
        UseTree::Path(part) => flatten(&part.tree, &joined(before, &plain(&part.ident)), leaves),
        UseTree::Name(last) => leaves.push(leaf(&last.ident, &last.ident)),
        UseTree::Rename(last) => leaves.push(leaf(&last.ident, &last.rename)),
        UseTree::Glob(star) => {
            leaves.push(Leaf {
                path: before.to_vec(),
                name: None,
                line: star.star_token.spans[0].start().line,
            });
        }
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|inner| flatten(inner, before, leaves)),
    }
}

/// Whether an item with these attributes is compiled for tests only.
pub fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_test = attribute
            .path()
            .segments
            .last()
            .is_some_and(|last| last.ident == "test");
        let is_cfg = attribute.path().is_ident("cfg");
        is_test
            || is_cfg
                && attribute
                    .parse_args::<Meta>()
                    .is_ok_and(|condition| needs_test(&condition))
    })
}

fn needs_test(condition: &Meta) -> bool {
    let Meta::List(list) = condition else {
        return condition.path().is_ident("test");
    };
    let parts =
        list.parse_args_with(syn::punctuated::Punctuated::<Meta, Token![,]>::parse_terminated);
    let Ok(parts) = parts else { return false };
    if list.path.is_ident("all") {
        parts.iter().any(needs_test)
    } else {
        list.path.is_ident("any") && parts.iter().all(needs_test)
    }
}

/// An identifier without `r#`.
pub fn plain(ident: &impl ToString) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}

pub fn segments(path: &syn::Path) -> Names {
    path.segments
        .iter()
        .map(|segment| plain(&segment.ident))
        .collect()
}

pub fn joined(before: &[String], name: &str) -> Names {
    before.iter().cloned().chain([name.to_owned()]).collect()
}

fn text_of(value: &syn::Expr) -> Option<String> {
    match value {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}
