//! Paths and links in the documents, and the length of the two front pages.

use super::{documents, package, read};

const FOLDERS: [&str; 9] = [
    "src/",
    "crates/",
    "fuzz/",
    "tests/",
    "docs/",
    "assets/",
    "benches/",
    "examples/",
    ".ci/",
];

const MAX_LINES: usize = 150;

#[test]
fn code_spans_name_only_paths_that_exist() {
    for document in documents() {
        let text = read(&document);
        let missing: Vec<&str> = paths(&text)
            .into_iter()
            .filter(|path| !package().join(path).exists())
            .collect();
        assert!(
            missing.is_empty(),
            "{document} names paths that do not exist: {missing:?}"
        );
    }
}

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    for document in documents() {
        let text = read(&document);
        let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in links(&text) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = package().join(
                if path.is_empty() {
                    document.clone()
                } else {
                    format!("{folder}/{path}")
                }
                .trim_start_matches('/'),
            );
            assert!(
                target.exists(),
                "{document} links to {link}, which does not exist"
            );
            if !anchor.is_empty() {
                let headings = anchors(&std::fs::read_to_string(&target).unwrap());
                assert!(
                    headings.iter().any(|heading| heading == anchor),
                    "{document} links to {link}: no such heading"
                );
            }
        }
    }
}

#[test]
fn readme_links_every_page() {
    let readme = read("README.md");
    let linked = links(&readme);
    let pages: Vec<String> = documents()
        .into_iter()
        .filter(|page| page != "README.md")
        .collect();
    let missing: Vec<&String> = pages
        .iter()
        .filter(|page| !linked.contains(&page.as_str()))
        .collect();
    assert!(missing.is_empty(), "the README does not link {missing:?}");
}

#[test]
fn front_pages_have_at_most_150_lines() {
    for document in ["README.md", "ARCHITECTURE.md"] {
        let lines = read(document).lines().count();
        assert!(
            lines <= MAX_LINES,
            "{document} has {lines} lines: move details to docs/"
        );
    }
}

/// The paths in code spans, except those with a glob or an alternative.
fn paths(text: &str) -> Vec<&str> {
    let spans = text.split('`').skip(1).step_by(2);
    let is_path = |span: &&str| FOLDERS.iter().any(|folder| span.starts_with(folder));
    spans
        .filter(is_path)
        .filter(|path| !path.contains(['*', '{', ' ']))
        .collect()
}

/// The targets of links to files of the package and to headings.
fn links(text: &str) -> Vec<&str> {
    let lines = prose(text).flat_map(|line| line.split("](").skip(1));
    lines
        .filter_map(|rest| rest.split_once(')'))
        .map(|(link, _)| link)
        .filter(|link| !link.contains("://"))
        .collect()
}

/// The anchors of all headings, made as the usual Markdown viewers make them.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text)
        .filter_map(|line| line.strip_prefix('#'))
        .map(|line| line.trim_start_matches('#').trim());
    let slug = |heading: &str| {
        let letters = heading.to_lowercase().replace(' ', "-");
        letters
            .chars()
            .filter(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'))
            .collect()
    };
    headings.map(slug).collect()
}

/// The lines outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

#[test]
fn paths_are_found_in_code_spans_outside_of_code_blocks() {
    let text =
        "`src/lib.rs`, `src/*.rs`\n```\nsrc/none.rs\n```\nand `tests/{a,b}.rs`, `other`, `.ci/run`";
    assert_eq!(paths(text), ["src/lib.rs", ".ci/run"]);
}

#[test]
fn links_and_anchors_are_found_outside_of_code_blocks() {
    let text = "# One `b`-word?\n[a](x.md#one), [b](https://x.test)\n```sh\n# two\n[c](y.md)\n```\n## Three";
    assert_eq!(links(text), ["x.md#one"]);
    assert_eq!(anchors(text), ["one-b-word", "three"]);
}
