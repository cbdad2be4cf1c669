//! What the commands of the scope print.

use crate::cli::stdio;
use scandeck_service::scope::{Pattern, ReplacedEntry, ScanScope, ScopeEntry};
use scandeck_service::scope_check::is_metadata;
use scandeck_service::{RunningScans, ServiceScope};
use scandeck_wire::text;
use scandeck_wire::text::plural;

/// Columns of the verb of an entry, with its blanks.
const VERB: usize = 7;

pub fn joined(targets: &[Pattern]) -> String {
    targets
        .iter()
        .map(Pattern::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Prints what was added, and what became of earlier entries for the same targets.
pub fn added(
    verb: &str,
    scope: &ServiceScope<'_>,
    targets: &[Pattern],
    replaced: &[ReplacedEntry],
) {
    for entry in replaced {
        note!("{}", changed(verb, entry));
    }
    let new = new_targets(targets, replaced);
    let subject = match new[..] {
        [] => return,
        [target] => target.to_string(),
        _ => plural(new.len(), "target"),
    };
    note!("{subject} {verb} in {scope}");
}

/// The targets that had no entry.
fn new_targets<'a>(targets: &'a [Pattern], replaced: &[ReplacedEntry]) -> Vec<&'a Pattern> {
    let is_new = |target: &&Pattern| replaced.iter().all(|entry| entry.new.target != **target);
    targets.iter().filter(is_new).collect()
}

/// Prints that new entries allow active tools.
pub fn allowed_attacks(is_active: bool) {
    if is_active {
        note!("active tools, which send attacks, allowed; the service also needs `--allow-active`");
    }
}

/// Prints the removed entries.
pub fn removed(scope: &ServiceScope<'_>, removed: &ScanScope) {
    let named = |verb: &'static str| move |entry: &ScopeEntry| format!("{verb} {}", entry.target);
    let allowed = removed.allow.iter().map(named("allow"));
    let entries: Vec<String> = allowed
        .chain(removed.deny.iter().map(named("deny")))
        .collect();
    if !entries.is_empty() {
        note!("removed from {scope}: {}", entries.join(", "));
    }
}

/// Warns of addresses that give credentials to whoever reaches them.
pub fn warn_of_metadata(targets: &[Pattern]) {
    for target in targets.iter().filter(|target| is_metadata(target)) {
        note!(
            "warning: {target} is the metadata address of a cloud provider; its responses can contain credentials"
        );
    }
}

/// Warns of new allowances that have no effect, because a denial covers them.
pub fn warn_of_denials(denials: &[ScopeEntry], targets: &[Pattern]) {
    for target in targets {
        if let Some(denial) = denials.iter().find(|entry| entry.target.covers(target)) {
            let denied = &denial.target;
            note!(
                "{target} is still denied by the entry `deny {denied}`; `scandeck scope remove '{denied}'` removes it"
            );
        }
    }
}

/// The expiry date, the flag `active`, the place and the note of an entry that was added again.
fn changed(verb: &str, ReplacedEntry { old, new }: &ReplacedEntry) -> String {
    let until = match (old.until, new.until) {
        (None, None) => None,
        (old, Some(new)) if old == Some(new) => Some(format!("expiry date {new} unchanged")),
        (_, Some(new)) => Some(format!("now until {new}")),
        (Some(old), None) => Some(format!("--until {old} is over and was removed")),
    };
    let note = match new.note == old.note {
        true if new.note.is_empty() => None,
        true => Some(format!("note unchanged: {}", text::clean(&new.note))),
        false => Some("note replaced".to_owned()),
    };
    let active = match (old.active, new.active) {
        (false, true) => Some("active tools now allowed".to_owned()),
        (true, false) => Some("active tools no longer allowed; add --active".to_owned()),
        _ => None,
    };
    let place = new
        .place
        .as_ref()
        .filter(|place| old.place.as_ref() != Some(place))
        .map(|place| format!("now scanned from {place}"));
    let changes: Vec<String> = [until, active, place, note].into_iter().flatten().collect();
    let changes = if changes.is_empty() {
        "nothing changed".to_owned()
    } else {
        changes.join(", ")
    };
    format!("{} was already {verb}: {changes}", new.target)
}

pub async fn ended(running: Option<RunningScans>) {
    let Some(running) = running else { return };
    match running.ended_by_scope().await {
        Ok(ended) => {
            for scan in ended {
                note!("scan {} of {} ended", scan.id, text::clean(&scan.target));
            }
        }
        Err(error) => note!("running scans cannot be read: {error}"),
    }
}

pub fn list(scope: &ScanScope) -> anyhow::Result<()> {
    let allowed = scope.allow.iter().map(|entry| line("allow", entry));
    let text: String = allowed
        .chain(scope.deny.iter().map(|entry| line("deny ", entry)))
        .collect();
    if text.is_empty() {
        note!("the scope is empty: only loopback and this host are allowed");
    }
    stdio::print_lines(&text, VERB)
}

fn line(verb: &str, entry: &ScopeEntry) -> String {
    let mut line = format!("{verb}  {}", entry.target);
    if let Some(until) = entry.until {
        line.push_str(&format!("  until {until}"));
    }
    if entry.active {
        line.push_str("  active");
    }
    if let Some(place) = &entry.place {
        line.push_str(&format!("  from {place}"));
    }
    if !entry.note.is_empty() {
        // People edit the file, so it may contain control characters.
        line.push_str(&format!("  {}", text::clean(&entry.note)));
    }
    let added = entry.added.map(|added| format!("  added {added}"));
    line.push_str(&added.unwrap_or_else(|| {
        if entry.who.is_empty() {
            String::new()
        } else {
            "  added".to_owned()
        }
    }));
    if !entry.who.is_empty() {
        line.push_str(&format!(" by {}", text::clean(&entry.who)));
    }
    line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_an_entry_cannot_control_the_terminal() {
        let entry: ScopeEntry =
            toml::from_str("target = \"10.0.4.0/24\"\nnote = \"SOW\\u001b[2J \\u202egpj\"")
                .unwrap();
        assert_eq!(
            line("allow", &entry),
            "allow  10.0.4.0/24  SOW␛[2J <U+202E>gpj\n"
        );
    }

    #[test]
    fn line_of_an_entry_names_its_dates_and_active() {
        let entry: ScopeEntry = toml::from_str(
            "target = \"b.test\"\nuntil = \"2026-12-31\"\nactive = true\nwho = \"ana@box\"\nadded = \"2026-11-23 01:53:56\"",
        )
        .unwrap();
        let expected =
            "allow  b.test  until 2026-12-31  active  added 2026-11-23 01:53:56 by ana@box\n";
        assert_eq!(line("allow", &entry), expected);
    }

    #[test]
    fn target_that_had_an_entry_is_not_added() {
        let [old, new] = ["b.test", "c.test"].map(|target| target.parse::<Pattern>().unwrap());
        let entry: ScopeEntry = toml::from_str("target = \"b.test\"").unwrap();
        let replaced = [ReplacedEntry {
            old: entry.clone(),
            new: entry,
        }];
        let both = [old.clone(), new.clone()];
        assert_eq!(new_targets(&both, &replaced), [&new]);
        assert_eq!(new_targets(&both, &[]), [&old, &new]);
        assert!(new_targets(&both[..1], &replaced).is_empty());
    }

    #[test]
    fn changed_entry_names_kept_and_lost_values() {
        let old: ScopeEntry =
            toml::from_str("target = \"b.test\"\nuntil = \"2026-12-31\"\nnote = \"SOW 1\"")
                .unwrap();
        let changed = |new: ScopeEntry| {
            changed(
                "allowed",
                &ReplacedEntry {
                    old: old.clone(),
                    new,
                },
            )
        };
        assert_eq!(
            changed(old.clone()),
            "b.test was already allowed: expiry date 2026-12-31 unchanged, note unchanged: SOW 1"
        );
        let later = ScopeEntry {
            until: Some("2027-01-31".parse().unwrap()),
            note: "SOW 2".into(),
            ..old.clone()
        };
        assert_eq!(
            changed(later),
            "b.test was already allowed: now until 2027-01-31, note replaced"
        );
        let moved = changed(ScopeEntry {
            place: Some("office".parse().unwrap()),
            ..old.clone()
        });
        assert!(moved.contains("now scanned from office"), "{moved}");
        let active = changed(ScopeEntry {
            active: true,
            ..old.clone()
        });
        assert!(active.contains("active tools now allowed"), "{active}");
        let over = changed(ScopeEntry {
            until: None,
            ..old.clone()
        });
        assert!(
            over.contains("--until 2026-12-31 is over and was removed"),
            "{over}"
        );
    }
}
