//! Resolves a written path to absolute paths.
//!
//! A path is followed through imports, type aliases and re-exports, so that no alias hides a
//! forbidden name. A first segment without a declaration is an external crate.

use super::tree::{Names, Scope, Tree};

/// Name of this crate in `src/main.rs`.
const CRATE: &str = "scandeck";

/// Limit on steps, which ends cycles of imports. No real chain of imports is as long.
const STEPS: usize = 12;

/// The context of a path: its module, and the enclosing blocks with their imports, innermost last.
pub struct PathContext<'a> {
    pub module: &'a [String],
    pub blocks: &'a [Scope],
}

impl Tree {
    /// The absolute path, followed by the target of each re-export on it. Empty for a single name
    /// that was not imported: a variable, a generic, a type of the prelude.
    pub fn resolve(&self, context: &PathContext<'_>, written: &[String]) -> Vec<Names> {
        let Some(first) = self.absolute(context, written, STEPS) else {
            return Vec::new();
        };
        let mut all = vec![first];
        while all.len() < STEPS {
            match self.re_exported(&all[all.len() - 1]) {
                Some(next) if !all.contains(&next) => all.push(next),
                _ => break,
            }
        }
        all
    }

    fn absolute(
        &self,
        context: &PathContext<'_>,
        written: &[String],
        steps: usize,
    ) -> Option<Names> {
        let (first, rest) = written.split_first()?;
        let mut path = match first.as_str() {
            "crate" | CRATE => vec!["crate".to_owned()],
            "self" => context.module.to_vec(),
            "super" => context.module[..context.module.len().saturating_sub(1)].to_vec(),
            name => match self.named(context, name, steps) {
                Some(path) => path,
                None if rest.is_empty() => return None,
                None => vec![name.to_owned()],
            },
        };
        for segment in rest {
            match segment.as_str() {
                "super" => drop(path.pop()),
                "self" => {}
                name => path.push(name.to_owned()),
            }
        }
        Some(path)
    }

    /// The absolute path of a name that is declared or imported.
    fn named(&self, context: &PathContext<'_>, name: &str, steps: usize) -> Option<Names> {
        let steps = steps.checked_sub(1)?;
        for (depth, block) in context.blocks.iter().enumerate().rev() {
            if let Some((_, path)) = block.imports.iter().find(|(imported, _)| imported == name) {
                // `use serde;` is resolved outside of its block; inside, it would resolve to
                // itself.
                let visible = if path[0] == name { depth } else { depth + 1 };
                let around = PathContext {
                    module: context.module,
                    blocks: &context.blocks[..visible],
                };
                return self
                    .absolute(&around, path, steps)
                    .or_else(|| Some(path.clone()));
            }
        }
        self.declared(context.module, name, steps)
    }

    fn declared(&self, module: &[String], name: &str, steps: usize) -> Option<Names> {
        let steps = steps.checked_sub(1)?;
        let scope = self.scopes.get(module)?;
        let context = PathContext {
            module,
            blocks: &[],
        };
        let own = || {
            scope
                .items
                .contains(name)
                .then(|| module.iter().cloned().chain([name.to_owned()]).collect())
        };
        if let Some((_, path)) = scope.imports.iter().find(|(imported, _)| imported == name) {
            if path[0] == name {
                // `use serde;` and `use store::store;`: the first segment is a child module or an
                // external crate.
                return own()
                    .filter(|_| self.scopes.contains_key(path))
                    .or_else(|| Some(path.clone()));
            }
            return self
                .absolute(&context, path, steps)
                .or_else(|| Some(path.clone()));
        }
        own().or_else(|| {
            scope
                .globs
                .iter()
                .filter(|path| path.first().is_some_and(|first| first != name))
                .find_map(|path| {
                    let target = self.absolute(&context, path, steps)?;
                    self.declared(&target, name, steps)
                })
        })
    }

    /// The path with its first re-exported name replaced by the target of the re-export.
    fn re_exported(&self, path: &[String]) -> Option<Names> {
        let deepest = (1..path.len())
            .take_while(|&end| self.scopes.contains_key(&path[..end]))
            .last()?;
        let (module, rest) = path.split_at(deepest);
        let mut target = self.declared(module, &rest[0], STEPS)?;
        target.extend_from_slice(&rest[1..]);
        (target != path).then_some(target)
    }
}
