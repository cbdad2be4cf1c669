//! XML with one element per line: only whitespace is added. No entity is resolved and nothing is
//! fetched.

/// Maximum indentation depth.
const INDENTED: usize = 24;

/// A document with one element per line, at most about `limit` bytes; `None` for HTML and for other
/// text.
pub fn laid_out(text: &str, limit: usize) -> Option<String> {
    let start = text.get(..14).unwrap_or(text).to_ascii_lowercase();
    let tag = text.strip_prefix('<')?.chars().next()?;
    let begins = tag.is_alphabetic() || matches!(tag, '?' | '!' | '_');
    if !begins
        || start.starts_with("<!doctype html")
        || start.starts_with("<html")
        || !text.ends_with('>')
    {
        return None;
    }
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut elements = 0_usize;
    let mut rest = text;
    while !rest.is_empty() && out.len() <= limit {
        let (node, behind) = next(rest)?;
        rest = behind;
        let closes = node.starts_with("</");
        depth = depth.saturating_sub(usize::from(closes));
        let node = node.trim();
        if !node.is_empty() {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&"  ".repeat(depth.min(INDENTED)));
            out.push_str(node);
        }
        let is_element =
            node.starts_with('<') && !closes && !node.starts_with("<!") && !node.starts_with("<?");
        elements += usize::from(is_element);
        depth += usize::from(is_element && !node.ends_with("/>"));
    }
    (elements > 0).then_some(out)
}

/// The next markup or text node and the rest. `None` if the markup is not closed.
fn next(text: &str) -> Option<(&str, &str)> {
    let end = match text {
        text if text.starts_with("<!--") => text.find("-->")? + 3,
        text if text.starts_with("<![CDATA[") => text.find("]]>")? + 3,
        text if text.starts_with("<?") => text.find("?>")? + 2,
        text if text.starts_with('<') => tag_end(text)?,
        text => text.find('<').unwrap_or(text.len()),
    };
    Some(text.split_at(end))
}

/// End of a tag or document type: a `>` outside quotes and brackets.
fn tag_end(text: &str) -> Option<usize> {
    let (mut quote, mut brackets) = (None, 0_usize);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => brackets += 1,
            (None, ']') => brackets = brackets.saturating_sub(1),
            (None, '>') if brackets == 0 => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn xml_entities_are_shown_unresolved() {
        let text = r#"<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd>">]><r a="<>"><b>&x;</b><c/><!-- > --></r>"#;
        let lines = [
            r#"<?xml version="1.0"?>"#,
            r#"<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd>">]>"#,
            r#"<r a="<>">"#,
            "  <b>",
            "    &x;",
            "  </b>",
            "  <c/>",
            "  <!-- > -->",
            "</r>",
        ];
        assert_eq!(laid_out(text, 10_000).unwrap(), lines.join("\n"));
    }

    #[test]
    fn non_xml_text_is_not_formatted() {
        for none in [
            "",
            "a < b",
            "<",
            "<1>",
            "<a",
            "<!doctype html><p>x</p>",
            "<a href='>",
            "<!-- only -->",
            "<3 you>",
        ] {
            assert_eq!(laid_out(none, 100), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn xml_formatting_changes_only_whitespace(text in "<[a-z]>([<>/a-z\"' !?\\[\\]&;-]|<[a-z]>|</[a-z]>){0,40}>") {
            let squeezed = |text: &str| text.split_whitespace().collect::<String>();
            if let Some(laid_out) = laid_out(&text, 1 << 20) {
                prop_assert_eq!(squeezed(&laid_out), squeezed(&text));
            }
        }
    }
}
