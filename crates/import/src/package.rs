//! References to packages that a bill of materials has no component for: package URLs, and links to
//! a component of another bill (BOM-Link).

/// Characters that are encoded in the names of packages, and in links that name a package URL.
const ENCODED: [(&str, &str); 5] = [
    ("%40", "@"),
    ("%3A", ":"),
    ("%3a", ":"),
    ("%2F", "/"),
    ("%2f", "/"),
];

/// The package of a reference, named as a component is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedPackage {
    pub name: String,
    /// May be empty.
    pub version: String,
    /// The package URL; may be empty.
    pub purl: String,
}

impl NamedPackage {
    /// The package of `pkg:maven/org.acme/shop@1.2?type=jar`; other references are its name.
    pub fn of_reference(reference: &str) -> Self {
        let bare = reference.split(['?', '#']).next().unwrap_or_default();
        let purl = bare.strip_prefix("pkg:");
        let Some((_, path)) = purl.and_then(|purl| purl.split_once('/')) else {
            return Self {
                name: reference.to_owned(),
                ..Self::default()
            };
        };
        let (name, version) = path.rsplit_once('@').unwrap_or((path, ""));
        Self {
            name: decoded(name),
            version: version.to_owned(),
            purl: reference.to_owned(),
        }
    }
}

/// The reference of a component in `urn:cdx:SERIAL/VERSION#REFERENCE`, whose serial number is
/// another one in each bill; other references remain as they are.
pub fn linked_reference(reference: &str) -> String {
    let link = reference.strip_prefix("urn:cdx:");
    match link.and_then(|link| link.split_once('#')) {
        Some((_, element)) if element.starts_with("pkg:") => element.to_owned(),
        Some((_, element)) => decoded(element),
        None => reference.to_owned(),
    }
}

fn decoded(text: &str) -> String {
    let replaced = |text: String, (code, plain): &(&str, &str)| text.replace(code, plain);
    ENCODED.iter().fold(text.to_owned(), replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_is_named_without_its_version() {
        for (reference, name, version) in [
            (
                "pkg:maven/org.acme/shop@1.2?type=jar",
                "org.acme/shop",
                "1.2",
            ),
            ("pkg:npm/%40acme/shop@1.2#lib", "@acme/shop", "1.2"),
            ("pkg:pypi/shop", "shop", ""),
            ("013325a7-027a", "013325a7-027a", ""),
            ("pkg:shop", "pkg:shop", ""),
            ("a@1", "a@1", ""),
        ] {
            let package = NamedPackage::of_reference(reference);
            assert_eq!(
                (package.name.as_str(), package.version.as_str()),
                (name, version),
                "{reference}"
            );
        }
    }

    #[test]
    fn link_to_another_bill_names_its_component() {
        let serial = "urn:cdx:3e671687-395b-41f5-a30f-a58921a69b79/1";
        for (element, reference) in [
            ("013325a7-027a", "013325a7-027a"),
            ("pkg:npm/%40acme/shop@1.2", "pkg:npm/%40acme/shop@1.2"),
            ("pkg%3Anpm%2Fshop%401.2", "pkg:npm/shop@1.2"),
        ] {
            assert_eq!(linked_reference(&format!("{serial}#{element}")), reference);
        }
        for other in [serial, "pkg:npm/shop@1.2#lib", "a#b"] {
            assert_eq!(linked_reference(other), other);
        }
    }
}
