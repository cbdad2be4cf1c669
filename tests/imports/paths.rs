//! The names in a file: every path (in `use`, types, patterns, expressions, attributes and macro
//! calls), method call, type and function signature.
//!
//! The tokens of a macro call are read without expansion: a sequence `a::b::c` is a path.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, Lit, Meta, ReturnType, Stmt, Type};

use super::resolve::PathContext;
use super::tree::{File, Leaf, Names, Scope, Tree, flatten, is_test_only, plain, segments};

/// A path, or a method call written as `.name`, in a file.
pub struct Use {
    pub line: usize,
    pub written: String,
    /// The absolute path, followed by the targets of its re-exports.
    pub paths: Vec<Names>,
    pub is_test: bool,
}

/// A struct, enum, union, trait or type alias.
pub struct TypeName {
    pub line: usize,
    pub name: String,
    /// Number of fields of a struct; 0 for other types.
    pub fields: usize,
    pub is_test: bool,
}

/// A function or method.
pub struct Function {
    pub line: usize,
    pub name: String,
    /// Types of the parameters taken by `&mut`; the name of its type for `self`.
    pub mutates: Vec<String>,
    pub returns_bool: bool,
    pub is_test: bool,
}

#[derive(Default)]
pub struct FileNames {
    pub uses: Vec<Use>,
    pub types: Vec<TypeName>,
    pub functions: Vec<Function>,
    /// Macros that declare a type with a name from the call.
    pub type_macros: Vec<String>,
    /// Macro calls by name, with the capitalised identifiers at the top level of their tokens.
    pub calls: Vec<(String, Vec<TypeName>)>,
}

pub fn find(tree: &Tree, file: &File) -> FileNames {
    let mut finder = Finder {
        tree,
        module: file.module.clone(),
        blocks: Vec::new(),
        self_type: None,
        is_test: file.is_test,
        names: FileNames::default(),
    };
    finder.visit_file(&file.syntax);
    finder.names
}

struct Finder<'a> {
    tree: &'a Tree,
    module: Names,
    blocks: Vec<Scope>,
    self_type: Option<String>,
    is_test: bool,
    names: FileNames,
}

impl Finder<'_> {
    fn add(&mut self, span: Span, written: &[String]) {
        let context = PathContext {
            module: &self.module,
            blocks: &self.blocks,
        };
        let paths = self.tree.resolve(&context, written);
        self.push(span, written.join("::"), paths);
    }

    /// A path that begins with `::`, or an import of a crate: no local name can shadow it.
    fn add_external(&mut self, span: Span, written: &[String]) {
        self.push(span, written.join("::"), vec![written.to_vec()]);
    }

    fn add_method(&mut self, name: &impl ToString, span: Span) {
        let name = format!(".{}", name.to_string());
        self.push(span, name.clone(), vec![vec![name]]);
    }

    fn push(&mut self, span: Span, written: String, paths: Vec<Names>) {
        if !paths.is_empty() {
            let line = span.start().line;
            self.names.uses.push(Use {
                line,
                written,
                paths,
                is_test: self.is_test,
            });
        }
    }

    fn add_type(&mut self, name: &syn::Ident, fields: usize) {
        let line = name.span().start().line;
        self.names.types.push(TypeName {
            line,
            name: plain(name),
            fields,
            is_test: self.is_test,
        });
    }

    fn within_test(&mut self, is_test: bool, inner: impl FnOnce(&mut Self)) {
        let before = self.is_test;
        self.is_test |= is_test;
        inner(self);
        self.is_test = before;
    }

    fn add_function(&mut self, signature: &syn::Signature) {
        let mut mutates = MutableTypes {
            self_type: self.self_type.as_deref(),
            types: Vec::new(),
        };
        signature
            .inputs
            .iter()
            .for_each(|input| mutates.visit_fn_arg(input));
        let returns_bool = matches!(&signature.output, ReturnType::Type(_, result)
            if matches!(&**result, Type::Path(path) if path.path.is_ident("bool")));
        self.names.functions.push(Function {
            line: signature.ident.span().start().line,
            name: plain(&signature.ident),
            mutates: mutates.types,
            returns_bool,
            is_test: self.is_test,
        });
    }

    /// Strings of attributes may be paths: `#[serde(with = "crate::contract::time")]`.
    fn add_text(&mut self, text: &str, span: Span) {
        if let Ok(path) = syn::parse_str::<syn::Path>(text)
            && path.segments.len() > 1
        {
            self.add(span, &segments(&path));
        }
    }

    fn walk(&mut self, tokens: &TokenStream, of_attribute: bool) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.walk(&group.stream(), of_attribute),
                TokenTree::Ident(_) => {
                    at = self.walk_path(&tokens, at);
                    continue;
                }
                TokenTree::Literal(literal) if of_attribute => {
                    if let Lit::Str(text) = Lit::new(literal.clone()) {
                        self.add_text(&text.value(), literal.span());
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Adds the path that begins at an identifier and returns the position after it.
    fn walk_path(&mut self, tokens: &[TokenTree], begin: usize) -> usize {
        let span = tokens[begin].span();
        let mut path = vec![plain(&tokens[begin])];
        let mut end = begin + 1;
        while is_double_colon(tokens, end)
            && let Some(TokenTree::Ident(next)) = tokens.get(end + 2)
        {
            path.push(plain(next));
            end += 3;
        }
        let before = |back: usize| begin.checked_sub(back).map(|place| &tokens[place]);
        let is_before =
            |back: usize, sign: char| before(back).is_some_and(|token| is_sign(token, sign));
        if is_before(1, '.') && !is_before(2, '.') {
            self.add_method(&path[0], span);
        } else if is_before(1, '\'') || is_before(1, '$') && path[0] != "crate" {
            // A lifetime or a variable of a macro is not a path.
        } else if begin > 1 && is_double_colon(tokens, begin - 2) {
            // After `Vec::<T>` and `<T as Trait>` the path continues; otherwise the path begins
            // with `::`.
            if !is_before(3, '>') {
                self.add_external(span, &path);
            }
        } else if is_double_colon(tokens, end)
            && let Some(TokenTree::Group(group)) = tokens.get(end + 2)
            && group.delimiter() == Delimiter::Brace
        {
            self.walk_group(&group.stream(), &path);
            end += 3;
        } else {
            self.add(span, &path);
            self.note_type(tokens, begin);
        }
        end
    }

    /// The braces of a `use a::{b, c::d}` in a macro.
    fn walk_group(&mut self, tokens: &TokenStream, before: &[String]) {
        let braced = syn::parse::Parser::parse2(
            syn::punctuated::Punctuated::<syn::UseTree, syn::Token![,]>::parse_terminated,
            tokens.clone(),
        );
        let mut leaves = Vec::new();
        for tree in braced.into_iter().flatten() {
            flatten(&tree, before, &mut leaves);
        }
        for leaf in leaves {
            self.add_leaf(tokens.span(), &leaf);
        }
    }

    fn add_leaf(&mut self, span: Span, leaf: &Leaf) {
        let context = PathContext {
            module: &self.module,
            blocks: &self.blocks,
        };
        let mut paths = self.tree.resolve(&context, &leaf.path);
        if paths.is_empty() {
            paths.push(leaf.path.clone());
        }
        let glob = if leaf.name.is_none() { "::*" } else { "" };
        self.push(span, format!("{}{glob}", leaf.path.join("::")), paths);
    }

    /// Adds a type that a macro declares: `struct Name` in its tokens.
    fn note_type(&mut self, tokens: &[TokenTree], at: usize) {
        let is_keyword = ["struct", "enum", "union", "trait"]
            .iter()
            .any(|word| tokens[at].to_string() == *word);
        if let (true, Some(TokenTree::Ident(name))) = (is_keyword, tokens.get(at + 1)) {
            self.add_type(name, 0);
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        self.within_test(is_test_only(attributes(item)), |finder| {
            visit::visit_item(finder, item)
        });
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Fn(function) => &function.attrs[..],
            ImplItem::Const(constant) => &constant.attrs[..],
            _ => &[],
        };
        self.within_test(is_test_only(attributes), |finder| {
            visit::visit_impl_item(finder, item)
        });
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.content.is_some() {
            let blocks = std::mem::take(&mut self.blocks);
            self.module.push(plain(&module.ident));
            visit::visit_item_mod(self, module);
            self.module.pop();
            self.blocks = blocks;
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let before = self.self_type.replace(type_name(&item.self_ty));
        visit::visit_item_impl(self, item);
        self.self_type = before;
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let mut scope = Scope::default();
        scope.extend(block.stmts.iter().filter_map(|statement| match statement {
            Stmt::Item(item) => Some(item),
            _ => None,
        }));
        self.blocks.push(scope);
        visit::visit_block(self, block);
        self.blocks.pop();
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        let mut leaves = Vec::new();
        flatten(&import.tree, &[], &mut leaves);
        for leaf in leaves {
            let first_line = import.span().start().line;
            let at = self.names.uses.len();
            if import.leading_colon.is_some() {
                self.add_external(import.span(), &leaf.path);
            } else {
                self.add_leaf(import.span(), &leaf);
            }
            // A leaf of a group has its own line.
            for added in &mut self.names.uses[at..] {
                added.line = leaf.line.max(first_line);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_some() {
            self.add_external(path.span(), &segments(path));
        } else {
            self.add(path.span(), &segments(path));
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_path(&mut self, expression: &'ast syn::ExprPath) {
        // `<Instant>::now`
        if let Some(qualified) = &expression.qself
            && let (0, Type::Path(subject)) = (qualified.position, &*qualified.ty)
        {
            let mut path = segments(&subject.path);
            path.extend(segments(&expression.path));
            self.add(expression.span(), &path);
        }
        visit::visit_expr_path(self, expression);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if !attribute.path().is_ident("doc") {
            visit::visit_attribute(self, attribute);
        }
    }

    fn visit_meta(&mut self, meta: &'ast Meta) {
        if let Meta::List(list) = meta {
            self.walk(&list.tokens, true);
        }
        visit::visit_meta(self, meta);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.walk(&call.tokens, false);
        let names = call
            .tokens
            .clone()
            .into_iter()
            .filter_map(|token| match token {
                TokenTree::Ident(name) if name.to_string().starts_with(char::is_uppercase) => {
                    Some(TypeName {
                        line: name.span().start().line,
                        name: plain(&name),
                        fields: 0,
                        is_test: self.is_test,
                    })
                }
                _ => None,
            });
        if let Some(name) = call.path.segments.last() {
            self.names.calls.push((plain(&name.ident), names.collect()));
        }
        visit::visit_macro(self, call);
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if let Some(name) = &item.ident
            && declares_given_type(&item.mac.tokens)
        {
            self.names.type_macros.push(plain(name));
        }
        visit::visit_item_macro(self, item);
    }

    fn visit_expr_await(&mut self, expression: &'ast syn::ExprAwait) {
        self.add_method(&"await", expression.await_token.span);
        visit::visit_expr_await(self, expression);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.add_method(&call.method, call.method.span());
        visit::visit_expr_method_call(self, call);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add_type(&item.ident, item.fields.len());
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add_type(&item.ident, 0);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.add_type(&item.ident, 0);
        visit::visit_item_union(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add_type(&item.ident, 0);
        let before = self.self_type.replace(plain(&item.ident));
        visit::visit_item_trait(self, item);
        self.self_type = before;
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add_type(&item.ident, 0);
        visit::visit_item_type(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.add_function(signature);
        visit::visit_signature(self, signature);
    }
}

/// Collects the types that a parameter takes by `&mut`.
struct MutableTypes<'a> {
    self_type: Option<&'a str>,
    types: Vec<String>,
}

impl<'ast> Visit<'ast> for MutableTypes<'_> {
    fn visit_receiver(&mut self, receiver: &'ast syn::Receiver) {
        if receiver.reference.is_some() && receiver.mutability.is_some() {
            self.types.push(self.self_type.unwrap_or("Self").to_owned());
        }
    }

    fn visit_type_reference(&mut self, reference: &'ast syn::TypeReference) {
        if reference.mutability.is_some() {
            self.types.push(type_name(&reference.elem));
        }
        visit::visit_type_reference(self, reference);
    }
}

/// The last name of a type; `_` for what has none (slices, tuples, functions).
fn type_name(of: &Type) -> String {
    match of {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .map_or_else(|| "_".to_owned(), |last| plain(&last.ident)),
        _ => "_".to_owned(),
    }
}

fn declares_given_type(tokens: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_given = |pair: &[TokenTree]| {
        ["struct", "enum", "union"]
            .iter()
            .any(|word| pair[0].to_string() == *word)
            && is_sign(&pair[1], '$')
    };
    tokens.windows(2).any(is_given)
        || tokens.iter().any(|token| matches!(token, TokenTree::Group(group) if declares_given_type(&group.stream())))
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn is_double_colon(tokens: &[TokenTree], at: usize) -> bool {
    at + 1 < tokens.len() && is_sign(&tokens[at], ':') && is_sign(&tokens[at + 1], ':')
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Types declared by calls of macros that declare types.
pub fn declared_by_calls<'a>(
    names: &'a FileNames,
    type_macros: &[String],
) -> impl Iterator<Item = &'a TypeName> {
    let calls: Vec<_> = names
        .calls
        .iter()
        .filter(|(name, _)| type_macros.contains(name))
        .collect();
    calls.into_iter().flat_map(|(_, names)| names)
}
