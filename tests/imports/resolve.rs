//! From a path as written to the paths it stands for.
//!
//! A path is followed through imports, type aliases and re-exports, so that a forbidden name cannot be reached under
//! another one. A first segment that nothing declares is an outside crate.

use super::tree::{Names, Scope, Tree};

/// This crate as `src/main.rs` names it.
const CRATE: &str = "scandeck";

/// More steps than any real chain of imports has; ends circles of imports.
const STEPS: usize = 12;

/// Where a path is written: the module, and the blocks around it with imports of their own, innermost last.
pub struct Here<'a> {
    pub module: &'a [String],
    pub blocks: &'a [Scope],
}

impl Tree {
    /// What a path names: first the path itself from the root of its crate, then what each re-export on it leads to.
    /// Empty for a single name that was not imported: a variable, a generic, a type of the prelude.
    pub fn resolve(&self, here: &Here<'_>, written: &[String]) -> Vec<Names> {
        let Some(first) = self.absolute(here, written, STEPS) else { return Vec::new() };
        let mut all = vec![first];
        while all.len() < STEPS {
            match self.re_exported(&all[all.len() - 1]) {
                Some(next) if !all.contains(&next) => all.push(next),
                _ => break,
            }
        }
        all
    }

    fn absolute(&self, here: &Here<'_>, written: &[String], steps: usize) -> Option<Names> {
        let (first, rest) = written.split_first()?;
        let mut path = match first.as_str() {
            "crate" | CRATE => vec!["crate".to_owned()],
            "self" => here.module.to_vec(),
            "super" => here.module[..here.module.len().saturating_sub(1)].to_vec(),
            name => match self.named(here, name, steps) {
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

    /// What one name stands for, if anything declares or imports it.
    fn named(&self, here: &Here<'_>, name: &str, steps: usize) -> Option<Names> {
        let steps = steps.checked_sub(1)?;
        for (depth, block) in here.blocks.iter().enumerate().rev() {
            if let Some((_, path)) = block.imports.iter().find(|(imported, _)| imported == name) {
                // `use serde;` is resolved outside of its block, or it would find itself.
                let seen = if path[0] == name { depth } else { depth + 1 };
                let around = Here { module: here.module, blocks: &here.blocks[..seen] };
                return self.absolute(&around, path, steps).or_else(|| Some(path.clone()));
            }
        }
        self.declared(here.module, name, steps)
    }

    fn declared(&self, module: &[String], name: &str, steps: usize) -> Option<Names> {
        let steps = steps.checked_sub(1)?;
        let scope = self.scopes.get(module)?;
        let here = Here { module, blocks: &[] };
        let own = || scope.items.contains(name).then(|| module.iter().cloned().chain([name.to_owned()]).collect());
        if let Some((_, path)) = scope.imports.iter().find(|(imported, _)| imported == name) {
            if path[0] == name {
                // `use serde;` and `use store::store;`: the first segment is a child module or an outside crate.
                return own().filter(|_| self.scopes.contains_key(path)).or_else(|| Some(path.clone()));
            }
            return self.absolute(&here, path, steps).or_else(|| Some(path.clone()));
        }
        own().or_else(|| {
            scope.globs.iter().filter(|path| path.first().is_some_and(|first| first != name)).find_map(|path| {
                let target = self.absolute(&here, path, steps)?;
                self.declared(&target, name, steps)
            })
        })
    }

    /// The path with its first re-exported name replaced by what that name stands for.
    fn re_exported(&self, path: &[String]) -> Option<Names> {
        let deepest = (1..path.len()).take_while(|&end| self.scopes.contains_key(&path[..end])).last()?;
        let (module, rest) = path.split_at(deepest);
        let mut target = self.declared(module, &rest[0], STEPS)?;
        target.extend_from_slice(&rest[1..]);
        (target != path).then_some(target)
    }
}
