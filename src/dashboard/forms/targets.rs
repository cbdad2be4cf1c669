//! Targets, one or many: a line each, checked as it is typed.

use crate::client::Problem;
use crate::contract::{NewTarget, TargetType};
use crate::dashboard::base::{Call, FormTag, Job};
use crate::dashboard::forms::{FieldId, Form, FormData, FormField, LineNote};
use crate::text::plural;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// New targets.
pub(crate) fn open(workspace: &str) -> Form {
    let fields = vec![
        FormField::lines(FieldId::Names, "Targets", "").with_help("a host name, an IP address or a URL; one a line"),
        FormField::line(FieldId::Description, "Description", "").with_help("for all of them; may be empty"),
    ];
    Form::new(FormTag::NewTargets, format!("New targets in {workspace}"), "Make them", fields)
}

/// Notes what is to be said of each line; problems when no line can go, or a line cannot.
pub(crate) fn check(form: &mut Form, known: &FormData<'_>) -> Vec<(FieldId, String)> {
    let mut taken: BTreeSet<String> = known
        .data
        .targets
        .value()
        .map(|all| all.items().iter().map(|target| target.name.to_lowercase()).collect())
        .unwrap_or_default();
    let existing = taken.clone();
    let refused = std::mem::take(&mut form.refused_lines);
    let Some(field) = form.field_mut(FieldId::Names) else { return Vec::new() };
    let text = field.text();
    field.notes = text.lines().map(|line| note(line.trim(), &refused, &existing, &mut taken)).collect();
    let good = field.notes.iter().filter(|note| matches!(note, LineNote::Good(_) | LineNote::Refused(_))).count();
    let bad = field.notes.iter().filter(|note| matches!(note, LineNote::Bad(_))).count();
    form.refused_lines = refused;
    form.button = format!("Make {}", plural(good, "target"));
    form.summary = match bad {
        0 => Vec::new(),
        1 => vec!["1 line cannot be a target and stays here.".to_owned()],
        _ => vec![format!("{bad} lines cannot be targets and stay here.")],
    };
    match (good, bad) {
        (0, 0) => vec![(FieldId::Names, "name is required: at least one line".to_owned())],
        (0, _) => vec![(FieldId::Names, "no line can be a target yet".to_owned())],
        _ => Vec::new(),
    }
}

fn note(
    line: &str,
    refused: &std::collections::BTreeMap<String, String>,
    existing: &BTreeSet<String>,
    taken: &mut BTreeSet<String>,
) -> LineNote {
    if line.is_empty() {
        return LineNote::Empty;
    }
    let name = canonical(line);
    if existing.contains(&name) {
        return LineNote::Bad("target already exists".to_owned());
    }
    match kind(line) {
        Err(why) => LineNote::Bad(why),
        Ok(_) if !taken.insert(name) => LineNote::Bad("twice in this list".to_owned()),
        Ok(kind) => match refused.get(line) {
            Some(words) => LineNote::Refused(words.clone()),
            None => LineNote::Good(kind.as_str().replace('_', " ")),
        },
    }
}

/// Equal for lines that the service would take for the same target; the service decides in the end.
fn canonical(line: &str) -> String {
    let text = line.trim().to_lowercase();
    match url::Url::parse(&text) {
        Ok(url) if url.has_host() => url.to_string(),
        _ => text.trim_matches(['[', ']']).trim_end_matches('.').to_owned(),
    }
}

/// Which of the three forms a line is, or what to write instead (`service.md`, Workspaces and targets).
fn kind(line: &str) -> Result<TargetType, String> {
    let lower = line.to_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return match url::Url::parse(line) {
            Ok(url) if !url.username().is_empty() || url.password().is_some() => {
                Err("a URL without user name and password".to_owned())
            }
            Ok(url) if url.fragment().is_some() => Err("a URL without a # part".to_owned()),
            Ok(_) => Ok(TargetType::Url),
            Err(error) => Err(format!("not a URL: {error}")),
        };
    }
    if line.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
        return Ok(TargetType::IpAddress);
    }
    if line.split_once('/').is_some_and(|(host, bits)| host.parse::<IpAddr>().is_ok() && bits.parse::<u8>().is_ok()) {
        return Err("one address a target, not a network".to_owned());
    }
    if let Some((host, port)) = line.rsplit_once(':')
        && port.parse::<u16>().is_ok()
        && !host.is_empty()
    {
        return Err(format!("write http://{line}/ for a port"));
    }
    if is_name(&lower) {
        return Ok(TargetType::Hostname);
    }
    Err("a host name, an IP address or an http(s) URL".to_owned())
}

fn is_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let label = |label: &str| {
        let inside = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
        !label.is_empty() && label.chars().all(inside) && !label.starts_with('-') && !label.ends_with('-')
    };
    // The last label of a name is never a number: that would be a broken address.
    let number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    name.len() <= 253
        && (name == "localhost" || name.contains('.'))
        && name.split('.').all(label)
        && !name.rsplit('.').next().is_some_and(number)
}

/// A call for each line that can go.
pub(crate) fn jobs(form: &Form) -> Vec<Job> {
    let Some(field) = form.field(FieldId::Names) else { return Vec::new() };
    let description = Some(form.text(FieldId::Description)).filter(|text| !text.is_empty());
    let text = field.text();
    let lines = text.lines().zip(&field.notes);
    lines
        .filter(|(_, note)| matches!(note, LineNote::Good(_) | LineNote::Refused(_)))
        .map(|(line, _)| {
            let name = line.trim().to_owned();
            let (description, workspace_id) = (description.clone(), form.subject.workspace);
            Job::new(name.clone(), Call::CreateTarget(NewTarget { name, description, workspace_id }))
        })
        .collect()
}

/// Keeps the lines that could not go or were refused, these with the server's words.
pub(crate) fn keep_only(form: &mut Form, left: &[(Job, Option<Problem>)]) {
    let Some(field) = form.field_mut(FieldId::Names) else { return };
    let text = field.text();
    let stays = |line: &str, note: &LineNote| {
        matches!(note, LineNote::Bad(_)) || left.iter().any(|(job, _)| job.about == line.trim())
    };
    let kept: Vec<&str> =
        text.lines().zip(&field.notes).filter(|(line, note)| stays(line, note)).map(|(line, _)| line).collect();
    field.set_text(&kept.join("\n"));
    form.refused_lines = left
        .iter()
        .filter_map(|(job, problem)| {
            let problem = problem.as_ref()?;
            let details = problem.details.as_deref().map(|more| format!(": {more}")).unwrap_or_default();
            Some((job.about.clone(), format!("{}{details}", problem.message)))
        })
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_told_what_it_is_or_what_to_write() {
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
            ("shop.acme.test:8080", "write http://shop.acme.test:8080/"),
            ("10.0.0.0/24", "one address"),
            ("http://a:b@shop.test/", "without user name"),
            ("http://shop.test/#top", "#"),
            ("ftp://shop.test/", "host name"),
            ("two words", "host name"),
            ("127.0.0.256", "host name"),
            ("-a.test", "host name"),
        ] {
            assert!(kind(line).unwrap_err().contains(word), "{line}: {:?}", kind(line));
        }
    }

    #[test]
    fn one_target_under_two_spellings_is_one() {
        assert_eq!(canonical("HTTP://Shop.test:80"), canonical("http://shop.test/"));
        assert_eq!(canonical("Shop.Test."), canonical("shop.test"));
    }
}
