//! The colour schemes by name.

/// The background and the eyes for which the colours are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Light text on a dark background.
    #[default]
    Dark,
    /// Dark text on a light background.
    Light,
    /// Bright colours without dim text, on a dark background.
    HighContrast,
    /// No colours that differ in red and green only, on a dark background.
    Deuteranopia,
    /// No colours that differ in blue and yellow only, on a dark background.
    Tritanopia,
    /// No colours at all.
    Mono,
}

impl Scheme {
    pub const ALL: [Self; 6] = [
        Self::Dark,
        Self::Light,
        Self::HighContrast,
        Self::Deuteranopia,
        Self::Tritanopia,
        Self::Mono,
    ];
    /// Their names, in the same order.
    pub const NAMES: [&str; 6] = [
        "dark",
        "light",
        "high-contrast",
        "deuteranopia",
        "tritanopia",
        "mono",
    ];

    pub fn named(name: &str) -> Option<Self> {
        let at = Self::NAMES
            .iter()
            .position(|other| other.eq_ignore_ascii_case(name))?;
        Some(Self::ALL[at])
    }

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheme_has_a_name_that_finds_it() {
        for scheme in Scheme::ALL {
            assert_eq!(Scheme::named(scheme.name()), Some(scheme));
        }
        assert_eq!(Scheme::named("sepia"), None);
    }
}
