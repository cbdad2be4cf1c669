//! The page of a case: the timeline for a browser without a network. It has no scripts, and its
//! policy forbids to load anything.

use std::fmt::Write;

use super::CaseEntry;
use scandeck_wire::text::clean;

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #ccc; padding: .3rem .6rem; text-align: left; vertical-align: top; }
td:first-child, td:nth-child(2) { white-space: nowrap; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
code { overflow-wrap: anywhere; }
</style>
"#;

/// The page of these entries; `last` is the digest of the last one.
pub(super) fn html(title: &str, entries: &[CaseEntry], last: &str) -> String {
    let mut page = HEAD.to_owned();
    let title = escape(&clean(title));
    // Writing to a String cannot fail.
    let _ = write!(
        page,
        "<title>{title}</title>\n</head>\n<body>\n<h1>{title}</h1>\n<p>{} entries. Digest of entry {}: <code>{last}</code>. \
         <code>scandeck case verify</code> compares every entry with its digest.</p>\n<table>\n<thead><tr><th>Entry</th>\
         <th>Time (UTC)</th><th>Author</th><th>Kind</th><th>What</th></tr></thead>\n<tbody>\n",
        entries.len(),
        entries.len()
    );
    for entry in entries {
        write_row(&mut page, entry);
    }
    page += "</tbody>\n</table>\n</body>\n</html>\n";
    page
}

fn write_row(page: &mut String, entry: &CaseEntry) {
    let at = entry.at.map(|at| at.to_string()).unwrap_or_default();
    let data = serde_json::to_string_pretty(&entry.data).unwrap_or_default();
    let _ = writeln!(
        page,
        "<tr id=\"entry-{}\"><td>{}</td><td>{at}</td><td>{}</td><td>{}</td><td>{}<details><summary>data</summary><pre>{}</pre>\
         </details></td></tr>",
        entry.number,
        entry.number,
        escape(&clean(&entry.author)),
        entry.kind,
        escape(&clean(&entry.text)),
        escape(&data)
    );
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
