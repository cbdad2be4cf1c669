//! The page that tells the query language to its users, made from the tables of fields and flags.

use std::fmt::Write;

use super::field::{self, FIELDS, Values};
use super::flag::FLAGS;
use super::{Field, Kind};

const HEAD: &str = r#"# The query language

One grammar for the filter of every list (`/`), saved queries, rules, bulk actions and the command line (`--query`).
This page is made from the program's own tables; `UPDATE_README=1 cargo test readme` writes it anew.

```
risk>=high verdict:open target:shop* cve:CVE-2024-* cwe:79 port:443 epss>0.5 is:kev is:new
is:undecided scanner:proven tool:170 tag:x "sql inj" changed<2d -name:~"^TLS" (a or b)
```

- Parts with a space between them must all hold; `and` may be written. `or` takes either, parentheses group, `-` or `not` before a part takes the opposite.
- A **bare word** must occur somewhere in the texts that the list shows, any case; quotes keep words together (`"sql inj"`) and search for `or`, `-` or `name:x` themselves. In quotes `\"` and `\\` stand for the letters.
- `field:value` compares, any case. `*` stands for any letters, `?` for one. *Short texts* are compared whole; for *long texts* without `*` and `?` it is enough that the value has the text somewhere.
- `field=value` asks for exactly the value, without signs. `field:~"…"` is found by a regular expression (any case; `(?-i)` makes case count).
- `field:a,b` takes either. `field:*` takes what has a value, `field:""` what has none. A field with several values holds when one of them does.
- Numbers, risks, lengths of time and points in time are compared by `:`, `!=`, `<`, `<=`, `>`, `>=`. What has no value is neither less nor more.
- Points in time: a day (`2026-10-01`, by UTC), a second (`"2026-10-01 12:00:00"`, with a zone where it is not UTC), or how long ago: `changed<2d` was less than two days ago. For what is to come (*deadlines*) it is how long is left. Units: `s` `m` `h` `d` `w` `y`, also `1h30m`.
- Risks: `info` `low` `medium` `high` `critical`, their beginnings, or 0 to 4.
- A query with an error changes nothing on the screen; the place and the reason are shown.
- `:sort risk,-age` orders by several fields: risks and numbers from the greatest, times from the newest, texts from A; `-` turns one round.
"#;

/// The page.
pub fn markdown() -> String {
    let mut page = HEAD.to_owned();
    for kind in Kind::ALL {
        let _ = write!(
            page,
            "\n## Fields of {}\n\n| field | values | what it is | for example |\n|---|---|---|---|\n",
            kind.word()
        );
        for spec in Field::of(kind) {
            let _ = writeln!(page, "{}", field_row(spec));
        }
        let flags: Vec<String> = FLAGS
            .iter()
            .filter(|spec| spec.lists.contains(&kind))
            .map(|spec| format!("`is:{}`{} {}", spec.name, also(spec.aliases), spec.words))
            .collect();
        let _ = write!(page, "\nFlags: {}.\n", flags.join("; "));
    }
    let _ = write!(
        page,
        "\n{} fields, {} flags.\n",
        FIELDS.iter().filter(|spec| !spec.lists.is_empty()).count(),
        FLAGS.len()
    );
    page
}

fn field_row(spec: &field::FieldSpec) -> String {
    let values = match spec.values {
        Values::Search => "words".to_owned(),
        Values::Flags => "flags".to_owned(),
        Values::Prose => "long text".to_owned(),
        Values::Word => "short text".to_owned(),
        Values::Choice(known) => known().iter().map(|names| format!("`{}`", names[0])).collect::<Vec<_>>().join(" "),
        Values::Number => "number".to_owned(),
        Values::Risk => "risk".to_owned(),
        Values::Span => "length of time".to_owned(),
        Values::Time => "time".to_owned(),
        Values::Deadline => "deadline".to_owned(),
    };
    format!("| `{}`{} | {values} | {} | `{}` |", spec.name, also(spec.aliases), spec.words, spec.example)
}

fn also(aliases: &[&str]) -> String {
    let names: Vec<String> = aliases.iter().map(|alias| format!("`{alias}`")).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}
