//! Violations as text: grouped by rule, each with its place, then a table of counts.

use std::fmt::Write;

use super::check::Violation;
use super::rules::Rule;

/// Empty when every rule holds.
pub fn report(results: &[(&Rule, Vec<Violation>)]) -> String {
    let mut text = String::new();
    let broken = || {
        results
            .iter()
            .filter(|(_, violations)| !violations.is_empty())
    };
    for (rule, violations) in broken() {
        let _ = writeln!(
            text,
            "== {}: {}\n   {}\n   Remedy: {}",
            rule.name,
            violations.len(),
            rule.reason,
            rule.remedy
        );
        for violation in violations {
            let _ = writeln!(
                text,
                "{}:{}: {}",
                violation.file, violation.line, violation.message
            );
            for line in &violation.details {
                let _ = writeln!(text, "      {line}");
            }
        }
        text.push('\n');
    }
    for (rule, violations) in broken() {
        let _ = writeln!(text, "{:5}  {}", violations.len(), rule.name);
    }
    text
}
