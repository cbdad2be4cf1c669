//! What a file names, read from its tokens. Code for tests is left out.
//!
//! ```text
//!   text ─► tokens ─┬─ use a::{b, c as d} ─► imports: b is a::b, d is a::c
//!                   └─ b::e, crate::f, .await ─► names: a::b::e, dashboard::f, .await
//! ```

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A line and the name on it.
pub struct Named {
    pub line: usize,
    pub name: String,
}

/// A file.
#[derive(Default)]
pub struct Source {
    /// The path below the crates: `dashboard/ui` is the file or folder `ui` of the dashboard.
    pub layer: String,
    pub text: String,
    /// Paths from the root of their crate (`std::fs::read`), and methods (`.await`).
    pub names: Vec<Named>,
    /// Structs, enums and traits.
    pub types: Vec<Named>,
    /// Types that draw functions take by `&mut`.
    pub drawn: Vec<Named>,
    /// Layers of the modules that are declared for tests only.
    tests: Vec<String>,
}

/// Reads files, given by layer and text; those that are compiled for tests only are left out.
pub fn read(files: Vec<(String, String)>) -> Vec<Source> {
    let mut sources: Vec<Source> = files.into_iter().map(Source::new).collect();
    let tests: Vec<String> = sources.iter().flat_map(|one| one.tests.clone()).collect();
    let is_in = |layer: &str, test: &String| {
        let rest = layer.strip_prefix(test.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    sources.retain(|source| !tests.iter().any(|test| is_in(&source.layer, test)));
    sources
}

impl Source {
    fn new((layer, text): (String, String)) -> Self {
        let tokens = text.parse().unwrap_or_else(|_| panic!("{layer}: no Rust"));
        let mut reader = Reader {
            module: layer.split('/').map(str::to_owned).collect(),
            ..Reader::default()
        };
        reader.read(tokens);
        let mut source = reader.source;
        for Named { name, .. } in &mut source.names {
            let (first, rest) = name.split_once("::").unwrap_or((name, ""));
            if let Some(import) = reader.imports.get(first) {
                *name = format!("{import}::{rest}");
            }
        }
        (source.layer, source.text) = (layer, text);
        source
    }
}

#[derive(Default)]
struct Reader {
    module: Vec<String>,
    /// Imported names with their paths.
    imports: BTreeMap<String, String>,
    source: Source,
}

impl Reader {
    fn read(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = self.read_one(&tokens, at);
        }
    }

    /// Reads what begins at a token, and returns the position after it.
    fn read_one(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let named = |name: String| Named {
            line: tokens[at].span().start().line,
            name,
        };
        match &tokens[at..] {
            [hash, TokenTree::Group(attribute), ..]
                if is_sign(hash, '#') && is_test_only(&attribute.stream()) =>
            {
                return self.skip_item(tokens, at + 2);
            }
            [dot, TokenTree::Ident(name), rest @ ..] if is_sign(dot, '.') => {
                if *name == "await" || matches!(rest.first(), Some(TokenTree::Group(_))) {
                    self.source.names.push(named(format!(".{name}")));
                }
                return at + 2;
            }
            [TokenTree::Group(group), ..] => self.read(group.stream()),
            [TokenTree::Ident(word), rest @ ..] => match (word.to_string().as_str(), rest) {
                ("use", _) => {
                    let tree = rest.split(|token| is_sign(token, ';')).next();
                    let tree = tree.unwrap_or_default();
                    self.read_use(tree, &[]);
                    return at + 1 + tree.len();
                }
                ("mod", [name, TokenTree::Group(content), ..]) => {
                    self.module.push(name.to_string());
                    self.read(content.stream());
                    self.module.pop();
                    return at + 3;
                }
                ("struct" | "enum" | "trait", [TokenTree::Ident(name), ..]) => {
                    self.source.types.push(named(name.to_string()));
                }
                ("fn", [TokenTree::Ident(name), ..])
                    if *name == "draw" || name.to_string().starts_with("draw_") =>
                {
                    let mutated = mutated(rest).into_iter();
                    self.source.drawn.extend(mutated.map(named));
                }
                _ => {
                    let (path, end) = path_at(tokens, at);
                    if path.len() > 1 {
                        self.source.names.push(named(self.absolute(&path)));
                    }
                    return end;
                }
            },
            _ => {}
        }
        at + 1
    }

    /// Skips an item for tests: it ends with its braces or a semicolon.
    fn skip_item(&mut self, tokens: &[TokenTree], begin: usize) -> usize {
        let is_end = |token: &TokenTree| match token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            other => is_sign(other, ';'),
        };
        let item = tokens[begin..].split(is_end).next().unwrap_or_default();
        for pair in item.windows(2).filter(|pair| pair[0].to_string() == "mod") {
            let layer = format!("{}/{}", self.module.join("/"), pair[1]);
            self.source.tests.push(layer);
        }
        begin + item.len() + 1
    }

    /// Reads the tree of a `use`, without the word.
    fn read_use(&mut self, tree: &[TokenTree], before: &[String]) {
        for leaf in tree.split(|token| is_sign(token, ',')) {
            let Some(first) = leaf.iter().position(|token| !is_sign(token, ':')) else {
                continue;
            };
            let (path, end) = match &leaf[first] {
                TokenTree::Ident(_) => path_at(leaf, first),
                _ => (Vec::new(), first),
            };
            let mut path = [before, &path].concat();
            if let Some(TokenTree::Group(group)) = leaf[end..].last() {
                self.read_use(&group.stream().into_iter().collect::<Vec<_>>(), &path);
                continue;
            }
            // `use a::b::{self}` names `a::b`.
            path.pop_if(|last| last == "self");
            if path.is_empty() {
                continue; // `impl Trait + use<'a>`
            }
            let alias = leaf[end..].last().map(ToString::to_string);
            let name = alias.or_else(|| path.last().cloned()).unwrap_or_default();
            let path = self.absolute(&path);
            self.imports.insert(name, path.clone());
            let line = leaf[first].span().start().line;
            self.source.names.push(Named { line, name: path });
        }
    }

    /// The path from the root of its crate.
    fn absolute(&self, path: &[String]) -> String {
        let supers = path.iter().take_while(|part| *part == "super").count();
        let base = match path[0].as_str() {
            "crate" => &self.module[..1],
            "self" => &self.module[..],
            "super" => &self.module[..self.module.len().saturating_sub(supers)],
            other => {
                let first = other.strip_prefix("scandeck_").unwrap_or(other);
                return [&[first.to_owned()], &path[1..]].concat().join("::");
            }
        };
        [base, &path[supers.max(1)..]].concat().join("::")
    }
}

/// The path that begins at an identifier, and the position after it.
fn path_at(tokens: &[TokenTree], begin: usize) -> (Vec<String>, usize) {
    let mut path = vec![tokens[begin].to_string()];
    let mut end = begin + 1;
    while let [one, two, TokenTree::Ident(part), ..] = &tokens[end..]
        && is_sign(one, ':')
        && is_sign(two, ':')
    {
        path.push(part.to_string());
        end += 3;
    }
    (path, end)
}

/// The types that a function takes by `&mut`, from its name on.
fn mutated(function: &[TokenTree]) -> Vec<String> {
    let is_parameters = |token: &&TokenTree| matches!(token, TokenTree::Group(_));
    let parameters = function.iter().find(is_parameters);
    let text = parameters.map(ToString::to_string).unwrap_or_default();
    let last_name = |of: &str| {
        let path = of.split([',', ')', '<', '>']).next().unwrap_or_default();
        let last = path.rsplit("::").next().unwrap_or_default();
        last.trim().to_owned()
    };
    let mutated = text.split("mut ").skip(1).map(last_name);
    // `mut name: T` is a variable.
    mutated.filter(|of| !of.contains(':')).collect()
}

/// Whether `cfg(test)`, alone or with other conditions, is the content of an attribute.
fn is_test_only(attribute: &TokenStream) -> bool {
    let text = attribute.to_string();
    text.starts_with("cfg") && text.contains("test") && !text.contains("not")
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}
