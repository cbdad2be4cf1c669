//! The background that the terminal reported last: the first frame does not wait for the answer of
//! the terminal, but most terminals have the background that they had at the last start.

use crate::runtime::cached_lists::file::whole;
use crate::ui::{Scheme, Theme};
use scandeck_wire::input_files::{InputKind, read_text};
use std::io::Write;
use std::path::PathBuf;

/// The file of the last background.
pub(crate) struct LastBackground {
    path: Option<PathBuf>,
    scheme: Option<Scheme>,
}

impl LastBackground {
    pub fn read(path: Option<PathBuf>) -> Self {
        let text = path
            .as_ref()
            .and_then(|path| read_text(path, InputKind::Settings).ok());
        Self {
            path,
            scheme: text.and_then(|name| Scheme::named(name.trim())),
        }
    }

    /// The theme until the terminal has answered. A terminal that sets `COLORFGBG` knows better.
    pub fn theme(&self, variable: impl Fn(&str) -> Option<String>) -> Theme {
        let (theme, has_hint) = (Theme::from_env(&variable), variable("COLORFGBG").is_some());
        match self.scheme {
            Some(scheme @ (Scheme::Dark | Scheme::Light))
                if theme.scheme == Scheme::Dark && !has_hint =>
            {
                Theme { scheme, ..theme }
            }
            _ => theme,
        }
    }

    /// Returns the write to the file, if the background is another one. It blocks.
    pub fn update(&mut self, colour: [u8; 3]) -> Option<impl FnOnce() + Send + 'static> {
        let scheme = Theme::default().on_background(Some(colour)).scheme;
        if self.scheme.replace(scheme) == Some(scheme) {
            return None;
        }
        let path = self.path.clone()?;
        Some(move || {
            if let Err(error) = whole(&path, |file| writeln!(file, "{}", scheme.name())) {
                tracing::warn!(%error, "background not stored");
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheme(last: &LastBackground, vars: &[(&str, &str)]) -> Scheme {
        last.theme(|name| {
            vars.iter()
                .find(|var| var.0 == name)
                .map(|var| var.1.to_owned())
        })
        .scheme
    }

    #[test]
    fn last_background_selects_the_scheme_without_other_hints() {
        let home = tempfile::tempdir().unwrap();
        let file = Some(home.path().join("state/background"));
        let mut last = LastBackground::read(file.clone());
        assert_eq!(scheme(&last, &[]), Scheme::Dark);
        last.update([255; 3]).unwrap()();
        assert!(last.update([255; 3]).is_none());
        let last = LastBackground::read(file);
        assert_eq!(scheme(&last, &[]), Scheme::Light);
        assert_eq!(scheme(&last, &[("COLORFGBG", "15;0")]), Scheme::Dark);
        assert_eq!(scheme(&last, &[("NO_COLOR", "1")]), Scheme::Mono);
    }
}
