//! Audits of configurations: one plugin of Nessus reports every check, so the check is the place of
//! its result, and a passed one is no finding.

/// A check of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComplianceCheck<'a> {
    pub name: &'a str,
    /// `PASSED`, `FAILED`, `WARNING` or `ERROR`.
    pub result: &'a str,
}

impl<'a> ComplianceCheck<'a> {
    /// The check that a description begins with: `"1.1 Set a password" : [FAILED]`.
    pub fn of_description(description: &'a str) -> Option<Self> {
        let (name, rest) = description
            .trim_start()
            .strip_prefix('"')?
            .split_once("\" : [")?;
        let (result, _) = rest.split_once(']')?;
        Some(Self { name, result })
    }

    /// Why the check is no finding. One that ended with an error is one: it may fail as before.
    pub fn refusal(&self) -> Option<&'static str> {
        let has_passed = self.result.eq_ignore_ascii_case("passed");
        has_passed.then_some("compliance check passed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_is_read_from_the_start_of_a_description() {
        let description = "\"1.1 [L1] Set a password\" : [FAILED]\n\nPasswords: [\"a\" : [b]]";
        let check = ComplianceCheck::of_description(description).unwrap();
        assert_eq!(
            (check.name, check.result),
            ("1.1 [L1] Set a password", "FAILED")
        );
        assert_eq!(check.refusal(), None);
        for text in [
            "",
            "The server is old.",
            "\"quoted\" text",
            "\"a\" : [FAILED",
        ] {
            assert_eq!(ComplianceCheck::of_description(text), None, "{text}");
        }
        for (result, is_refused) in [("PASSED", true), ("passed", true), ("ERROR", false)] {
            let check = ComplianceCheck { name: "a", result };
            assert_eq!(check.refusal().is_some(), is_refused, "{result}");
        }
    }
}
