//! One weakness that several tools report, each under a name of its own.
//!
//! ```text
//!   nuclei:CVE-2021-44228 at https://shop.test:443/ ─┐
//!   nessus:155999, CVE-2021-44228 at shop.test      ─┴─► CVE-2021-44228 on shop.test
//! ```

use super::Issue;
use super::identity::host;
use scandeck_wire::contract::Shared;

/// What a finding is about, whichever tool found it: its only CVE on its host, else its class at
/// its place. Findings with an equal key are shown as one group, and remain findings with their own
/// decisions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WeaknessKey {
    /// The CVE, else the class.
    pub name: Shared,
    /// The host, else the fingerprint of target, class, port and place.
    pub place: Shared,
}

impl WeaknessKey {
    /// The key of a finding.
    pub fn of(issue: &Issue) -> Self {
        let identity = &issue.identity;
        match &*issue.cve {
            [cve] => Self {
                name: cve.to_ascii_uppercase().into(),
                place: host(&identity.asset).into(),
            },
            // A list of CVEs is of an update that fixes many weaknesses.
            _ => Self {
                name: identity.class.clone(),
                place: identity.f2.to_string().into(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::FindingKey;
    use crate::table::IntoRow;
    use crate::triage::event::Identity;
    use scandeck_wire::contract::Finding;

    fn weakness(asset: &str, class: &str, f2: u128, cves: &[&str]) -> WeaknessKey {
        let finding = Finding {
            cve: cves.iter().map(|cve| Shared::from(*cve)).collect(),
            ..Finding::default()
        };
        WeaknessKey::of(&Issue {
            identity: Identity {
                asset: asset.into(),
                class: class.into(),
                f2: FindingKey(f2),
                ..Identity::default()
            },
            finding: finding.into_row(),
            ..Issue::default()
        })
    }

    #[test]
    fn only_cve_of_a_host_is_one_weakness_of_all_tools() {
        let nuclei = weakness("https://shop.test:443/", "nuclei:a", 1, &["CVE-2021-1"]);
        let nessus = weakness("shop.test", "nessus:7", 2, &["cve-2021-1"]);
        assert_eq!(nuclei, nessus);
        let other = weakness("pay.test", "nessus:7", 3, &["CVE-2021-1"]);
        assert_ne!(nuclei, other);
        let many = weakness("shop.test", "nessus:8", 4, &["CVE-2021-1", "CVE-2021-2"]);
        assert_ne!(nuclei, many);
    }

    #[test]
    fn findings_without_a_cve_are_one_weakness_at_one_place() {
        let first = weakness("shop.test", "generic:a", 1, &[]);
        assert_eq!(first, weakness("shop.test", "generic:a", 1, &[]));
        assert_ne!(first, weakness("shop.test", "generic:a", 2, &[]));
    }
}
