//! The commands in the documents: the command line accepts those of the shell, the dashboard those
//! of its `:` line.

use clap::Parser;
use scandeck::cli::Cli;
use scandeck::dashboard::core::commands::{parse, table};
use scandeck::query::{Query, QueryKind};

use super::{documents, read};

#[test]
fn shell_examples_are_accepted_by_the_command_line() {
    let mut count = 0;
    for document in documents()
        .iter()
        .filter(|document| *document != "CHANGELOG.md")
    {
        let text = read(document);
        for block in text
            .split("\n```sh\n")
            .skip(1)
            .filter_map(|rest| rest.split("\n```").next())
        {
            for arguments in invocations(block) {
                count += 1;
                if let Err(error) = Cli::try_parse_from(&arguments) {
                    let is_help = !error.use_stderr();
                    assert!(is_help, "{document}: {}\n{error}", arguments.join(" "));
                }
            }
        }
    }
    assert!(count > 20, "only {count} examples found");
}

/// The user of the URL creates the tables, which PostgreSQL 15 permits only the owner.
#[test]
fn database_of_the_service_page_belongs_to_the_user_of_its_url() {
    let page = read("docs/service.md");
    let (_, rest) = page.split_once("postgres://").unwrap();
    let (user, _) = rest.split_once(':').unwrap();
    let create = page.lines().find(|line| line.starts_with("createdb "));
    let owner = format!(" --owner={user} ");
    assert!(
        create.is_some_and(|line| line.contains(&owner)),
        "{create:?}"
    );
}

#[test]
fn colon_commands_in_code_spans_exist() {
    for document in documents()
        .iter()
        .filter(|document| *document != "CHANGELOG.md")
    {
        let text = read(document);
        let spans = text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter_map(|span| span.strip_prefix(':'));
        for span in
            spans.filter(|span| span.starts_with(|letter: char| letter.is_ascii_lowercase()))
        {
            let is_known = parse::split(span).is_some()
                || table::all().iter().any(|one| one.name.starts_with(span));
            assert!(is_known, "{document}: no command :{span}");
        }
    }
}

#[test]
fn query_examples_can_be_parsed() {
    let page = read("docs/query.md");
    let examples = page
        .split("\n## Examples\n")
        .nth(1)
        .unwrap()
        .split("\n## ")
        .next()
        .unwrap();
    let queries: Vec<&str> = examples
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    assert!(queries.len() > 5);
    for query in queries {
        let is_query = [QueryKind::Findings, QueryKind::Captures]
            .iter()
            .any(|kind| Query::parse(query, *kind).is_ok());
        assert!(is_query, "{query}");
    }
}

/// The calls of scandeck in a script, each as a list of arguments.
fn invocations(script: &str) -> Vec<Vec<String>> {
    let script = script
        .replace("\\\n", " ")
        .replace("cargo run -- ", "scandeck ")
        .replace("target/debug/scandeck", "scandeck");
    let mut calls = Vec::new();
    for line in script.lines() {
        let mut call: Option<Vec<String>> = None;
        for word in words(line) {
            match word {
                Word::End => calls.extend(call.take()),
                Word::Text(text) if call.is_none() => {
                    call = (text == "scandeck").then(|| vec![text])
                }
                Word::Text(text) => call.iter_mut().for_each(|call| call.push(text.clone())),
            }
        }
        calls.extend(call);
    }
    calls
}

enum Word {
    Text(String),
    End,
}

/// The words of one line. Operators, redirections, substitutions and comments end a call.
fn words(line: &str) -> Vec<Word> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '|' | '&' | ';' | '>' | '<' | '(' | ')') => {
                words.extend(word.take().map(Word::Text));
                if letter != ' ' {
                    words.push(Word::End);
                }
            }
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word.map(Word::Text));
    words
}

#[test]
fn invocations_are_found_between_shell_operators() {
    let script = "id=$(scandeck loggers create 'a b') # x\nX=1 scandeck demo\ncat x | scandeck triage import - || exit 1";
    let found = invocations(script);
    assert_eq!(found[0], ["scandeck", "loggers", "create", "a b"]);
    assert_eq!(found[1], ["scandeck", "demo"]);
    assert_eq!(found[2], ["scandeck", "triage", "import", "-"]);
}
