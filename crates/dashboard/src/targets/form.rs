//! The form of new targets: one per line, each line checked while it is typed.

use crate::base::{Call, FormTag, Job};
use crate::data::Data;
use crate::forms::{
    FieldId, FieldProblem, Form, FormField, FormKind, LineNote, UndoneJob, cause_of, message_of,
};
use crate::prompts::{Prompt, Then};
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::{NewTarget, TargetType, WorkspaceId};
use scandeck_wire::text::plural;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

static KIND: FormKind = FormKind {
    check,
    jobs,
    keep_refused,
    ..FormKind::new("add")
};

pub(crate) fn open(workspace: WorkspaceId, name: &str) -> Form {
    let fields = vec![
        FormField::lines(FieldId::Names, "Targets", "")
            .with_help("host name, IP address or URL; one per line"),
        FormField::line(FieldId::Description, "Description", "")
            .with_help("applied to every new target; optional"),
    ];
    let title = format!("New targets in {name}");
    Form::new(FormTag::NewTargets, &KIND, title, "Add", fields).in_workspace(Some(workspace))
}

/// Puts a note at each line. The form cannot be sent as long as no line can be a target.
fn check(form: &mut Form, data: &Data) -> Vec<FieldProblem> {
    let targets = data
        .targets
        .value()
        .map(|all| all.items())
        .unwrap_or_default();
    let existing: BTreeSet<String> = targets
        .iter()
        .map(|target| target.name.to_lowercase())
        .collect();
    let mut seen = existing.clone();
    let refused = std::mem::take(&mut form.refused_lines);
    let Some(field) = form.field_mut(FieldId::Names) else {
        return Vec::new();
    };
    let text = field.text();
    field.notes = text
        .lines()
        .map(|line| note(line.trim(), &refused, &existing, &mut seen))
        .collect();
    let good = field.notes.iter().filter(|note| can_be_sent(note)).count();
    let reasons: Vec<(String, String)> = text
        .lines()
        .zip(&field.notes)
        .filter_map(|(line, note)| match note {
            LineNote::Bad(why) => Some((line.trim().to_owned(), why.clone())),
            _ => None,
        })
        .collect();
    let bad = reasons.len();
    let all_exist = bad > 0 && reasons.iter().all(|(_, why)| why == EXISTS);
    let refusals: Vec<String> = field
        .notes
        .iter()
        .filter_map(|note| {
            if let LineNote::Refused(why) = note {
                Some(why.clone())
            } else {
                None
            }
        })
        .collect();
    form.refused_lines = refused;
    form.button = format!("Add {}", plural(good, "target"));
    form.summary = skipped(&reasons);
    form.summary.extend(not_added(&refusals));
    match (good, bad) {
        (0, 1..) if all_exist => vec![(FieldId::Names, "no new target yet".to_owned())],
        (0, 0) => vec![(FieldId::Names, "at least one target is required".to_owned())],
        (0, _) => vec![(FieldId::Names, "no valid target yet".to_owned())],
        _ => Vec::new(),
    }
}

/// The number of refused lines by cause, the most frequent cause first.
fn not_added(refusals: &[String]) -> Option<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for why in refusals {
        match counts.iter_mut().find(|(cause, _)| cause == why) {
            Some((_, count)) => *count += 1,
            None => counts.push((why, 1)),
        }
    }
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let causes: Vec<String> = match counts.as_slice() {
        [] => return None,
        [(only, _)] => vec![(*only).to_owned()],
        several => several
            .iter()
            .take(CAUSES)
            .map(|(why, count)| format!("{why} ({count})"))
            .collect(),
    };
    let others = if counts.len() > CAUSES {
        ", and other causes"
    } else {
        ""
    };
    Some(format!(
        "{} not added: {}{others}",
        plural(refusals.len(), "target"),
        causes.join(", ")
    ))
}

/// The number of skipped lines by reason, and the first reason in full: beside its line, a narrow
/// screen truncates it.
fn skipped(reasons: &[(String, String)]) -> Vec<String> {
    let count =
        |is_meant: fn(&str) -> bool| reasons.iter().filter(|(_, why)| is_meant(why)).count();
    let is_other = |why: &str| why != EXISTS && why != DUPLICATE;
    let first = reasons
        .iter()
        .find(|(_, why)| is_other(why))
        .or(reasons.first());
    let whole = first.map(|(line, why)| format!("`{line}`: {why}"));
    if reasons.len() < 2 {
        return whole
            .map(|whole| format!("1 line skipped: {whole}"))
            .into_iter()
            .collect();
    }
    let (existing, duplicates, others) = (
        count(|why| why == EXISTS),
        count(|why| why == DUPLICATE),
        count(is_other),
    );
    let counts = [
        (duplicates > 0).then(|| plural(duplicates, "duplicate")),
        (existing > 0).then(|| plural(existing, "existing target")),
        (others > 0).then(|| plural(others, "invalid target")),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let counted = format!(
        "{} skipped: {}",
        plural(reasons.len(), "line"),
        counts.join(", ")
    );
    [Some(counted), whole.filter(|_| others > 0)]
        .into_iter()
        .flatten()
        .collect()
}

/// Most causes of refusals that are named.
const CAUSES: usize = 3;
/// The note at a line that was refused because too many were sent.
const TOO_MANY: &str = "rate limit reached, send again in a minute";
/// The note at a line whose target exists.
const EXISTS: &str = "target already exists";
/// The note at a line that equals an earlier line.
const DUPLICATE: &str = "duplicate line";

fn can_be_sent(note: &LineNote) -> bool {
    matches!(note, LineNote::Good(_) | LineNote::Refused(_))
}

fn note(
    line: &str,
    refused: &BTreeMap<String, String>,
    existing: &BTreeSet<String>,
    seen: &mut BTreeSet<String>,
) -> LineNote {
    if line.is_empty() {
        return LineNote::Empty;
    }
    let name = canonical(line);
    if existing.contains(&name) {
        return LineNote::Bad(EXISTS.to_owned());
    }
    match kind(line) {
        Err(reason) => LineNote::Bad(reason),
        Ok(_) if !seen.insert(name) => LineNote::Bad(DUPLICATE.to_owned()),
        Ok(kind) => match refused.get(line) {
            Some(message) => LineNote::Refused(message.clone()),
            None => LineNote::Good(kind.as_str().replace('_', " ")),
        },
    }
}

/// Equal for lines that the service probably treats as the same target.
fn canonical(line: &str) -> String {
    let text = line.trim().to_lowercase();
    match url::Url::parse(&text) {
        Ok(url) if url.has_host() => url.to_string(),
        _ => text
            .trim_matches(['[', ']'])
            .trim_end_matches('.')
            .to_owned(),
    }
}

/// The type of target that a line is, or what to write instead.
fn kind(line: &str) -> Result<TargetType, String> {
    let lower = line.to_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return match url::Url::parse(line) {
            Ok(url) if !url.username().is_empty() || url.password().is_some() => {
                Err("use a URL without user name and password".to_owned())
            }
            Ok(url) if url.fragment().is_some() => Err("use a URL without a # part".to_owned()),
            Ok(_) => Ok(TargetType::Url),
            Err(error) => Err(format!("not a URL: {error}")),
        };
    }
    if line.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
        return Ok(TargetType::IpAddress);
    }
    if line
        .split_once('/')
        .is_some_and(|(host, bits)| host.parse::<IpAddr>().is_ok() && bits.parse::<u8>().is_ok())
    {
        return Err("a network: use one address per target".to_owned());
    }
    if let Some((host, port)) = line.rsplit_once(':')
        && port.parse::<u16>().is_ok()
        && (is_name(&host.to_ascii_lowercase())
            || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok())
    {
        return Err(format!("a port needs a URL: use http://{line}/"));
    }
    if is_name(&lower) {
        return Ok(TargetType::Hostname);
    }
    Err("not a host name, IP address or URL".to_owned())
}

fn is_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let label = |label: &str| {
        let inside = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
        !label.is_empty()
            && label.chars().all(inside)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // The last label of a name is never a number: such a text is a malformed address.
    let number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    name.len() <= 253
        && (name == "localhost" || name.contains('.'))
        && name.split('.').all(label)
        && !name.rsplit('.').next().is_some_and(number)
}

/// One call for each line that can be sent.
fn jobs(form: &Form) -> Vec<Job> {
    let Some(field) = form.field(FieldId::Names) else {
        return Vec::new();
    };
    let (description, workspace_id) = (form.filled(FieldId::Description), form.subject.workspace);
    let text = field.text();
    let lines = text
        .lines()
        .zip(&field.notes)
        .filter(|(_, note)| can_be_sent(note));
    let job = |(line, _): (&str, &LineNote)| {
        let name = line.trim().to_owned();
        let target = NewTarget {
            name: name.clone(),
            description: description.clone(),
            workspace_id,
        };
        Job::new(format!("target {name}"), Call::CreateTarget(target))
    };
    lines.map(job).collect()
}

/// Keeps the lines that could not be sent or were refused, with the messages of the service.
fn keep_refused(form: &mut Form, left: &[UndoneJob]) -> bool {
    let name_of = |job: &Job| match &job.call {
        Call::CreateTarget(target) => target.name.clone(),
        _ => String::new(),
    };
    let Some(field) = form.field_mut(FieldId::Names) else {
        return true;
    };
    let text = field.text();
    // A duplicate is dropped: the line that it repeats was either added or is still in the form.
    let is_left = |line: &str, note: &LineNote| match note {
        LineNote::Bad(why) => why != DUPLICATE,
        _ => left.iter().any(|(job, _)| name_of(job) == line.trim()),
    };
    let lines = text
        .lines()
        .zip(&field.notes)
        .filter(|(line, note)| is_left(line, note));
    let lines: Vec<&str> = lines.map(|(line, _)| line).collect();
    field.set_text(&lines.join("\n"));
    let refused = left
        .iter()
        .filter_map(|(job, problem)| Some((job, problem.as_ref()?)));
    form.refused_lines = refused
        .map(|(job, problem)| (name_of(job), reason(&name_of(job), problem)))
        .collect();
    true
}

/// Why a line was refused. Causes that many lines can share are without the name and the remedy of
/// the line.
fn reason(name: &str, problem: &Problem) -> String {
    if is_unlisted(problem) {
        return cause_of(name, problem);
    }
    let message = message_of(problem);
    // The message of a service says when to send again, which is another time in each line.
    if message.to_lowercase().contains("rate limit") {
        return TOO_MANY.to_owned();
    }
    let name = canonical(name);
    message
        .split(' ')
        .filter(|word| canonical(word) != name)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether the scope file of the service lacks a valid entry for a target.
fn is_unlisted(problem: &Problem) -> bool {
    let why = message_of(problem);
    why.contains("is out of scope") || why.contains("was in scope until")
}

/// Most targets that the prompt names. A small screen shows fewer and counts the hidden lines.
const NAMED: usize = 300;

/// The question whether refused targets should be added to the scope file of the local service.
pub(crate) fn scope_prompt<'a>(
    refused: impl Iterator<Item = (&'a Job, &'a Problem)>,
) -> Option<Prompt> {
    let names: Vec<String> = refused
        .filter(|(_, problem)| is_unlisted(problem))
        .filter_map(|(job, _)| match &job.call {
            Call::CreateTarget(target) => Some(target.name.clone()),
            _ => None,
        })
        .collect();
    let count = names.len();
    let mut named = names
        .iter()
        .take(NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if count > NAMED {
        named.push_str(&format!(" and {} more", count - NAMED));
    }
    let question = match names.as_slice() {
        [] => return None,
        all => format!("Add {} to the scope file?", plural(all.len(), "target")),
    };
    let prompt = Prompt::new(question, Then::AddToScope(names));
    let prompt = prompt
        .with_line("Scan only systems for which you have permission.")
        .with_line(named);
    Some(prompt.with_word(count.to_string(), "the number of targets"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_targets_are_counted_by_cause() {
        let refusal = |status, message: &str| {
            let problem = Problem {
                status: Some(status),
                ..Problem::local(message)
            };
            reason(
                if status == 409 {
                    "http://a.test"
                } else {
                    "a.test"
                },
                &problem,
            )
        };
        let out_of_scope = refusal(
            403,
            "a.test is out of scope; add it with `scandeck scope add a.test`",
        );
        let exists = refusal(409, "the target http://A.test/ already exists");
        assert_eq!(not_added(&[]), None);
        assert_eq!(
            not_added(std::slice::from_ref(&exists)).unwrap(),
            "1 target not added: the target already exists"
        );
        assert_eq!(
            not_added(&[exists, out_of_scope.clone(), out_of_scope]).unwrap(),
            "3 targets not added: out of scope (2), the target already exists (1)"
        );
        let limited = [
            refusal(429, "rate limit exceeded: retry in 59 s"),
            reason("a.test", &Problem::local("rate limit reached")),
        ];
        assert_eq!(
            not_added(&limited).unwrap(),
            "2 targets not added: rate limit reached, send again in a minute"
        );
        let four = ["a", "b", "c", "d"].map(str::to_owned);
        assert_eq!(
            not_added(&four).unwrap(),
            "4 targets not added: a (1), b (1), c (1), and other causes"
        );
    }

    #[test]
    fn target_line_shows_type_or_correction() {
        for (line, expected) in [
            ("shop.acme.test", "hostname"),
            ("localhost", "hostname"),
            ("127.0.0.1", "ip_address"),
            ("[::1]", "ip_address"),
            ("https://shop.acme.test:8443/a?b=c", "url"),
        ] {
            assert_eq!(kind(line).unwrap().as_str(), expected, "{line}");
        }
        for (line, word) in [
            ("shop.acme.test:8080", "use http://shop.acme.test:8080/"),
            ("127.0.0.1:8080", "use http://127.0.0.1:8080/"),
            ("foo_bar!127.0.0.1:8080", "not a host name"),
            ("10.0.0.0/24", "one address"),
            ("http://a:b@shop.test/", "without user name"),
            ("http://shop.test/#top", "#"),
            ("ftp://shop.test/", "host name"),
            ("two words", "host name"),
            ("127.0.0.256", "host name"),
            ("-a.test", "host name"),
        ] {
            assert!(
                kind(line).unwrap_err().contains(word),
                "{line}: {:?}",
                kind(line)
            );
        }
    }

    #[test]
    fn target_spellings_are_canonicalized() {
        assert_eq!(
            canonical("HTTP://Shop.test:80"),
            canonical("http://shop.test/")
        );
        assert_eq!(canonical("Shop.Test."), canonical("shop.test"));
    }
}
