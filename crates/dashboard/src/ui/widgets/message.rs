//! HTTP messages inside a text: request line, status line and header names stand out, bodies have
//! their own colours.
//!
//! ```text
//!   GET /x HTTP/1.1      method, path           HTTP/1.1 200 OK      by its class
//!   Host: a.test         name, value            (empty line)         the body begins
//! ```

use crate::ui::Theme;
use crate::ui::theme::Syntax;
use crate::ui::widgets::syntax::inner_lines;
use ratatui::prelude::{Line, Span, Style};

/// Whether a text begins with a request line or a status line.
pub fn is_message(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    is_request(first) || status(first).is_some()
}

/// The lines of a text, already clean, with its messages and their bodies coloured.
pub fn message_lines(theme: Theme, text: &str) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    // The lines since the last head: a body, or text outside of messages.
    let mut body: Vec<&str> = Vec::new();
    let mut is_head = false;
    for line in text.split('\n').map(|line| line.trim_end_matches('\r')) {
        let head = first_line(theme, line).or_else(|| header(theme, line).filter(|_| is_head));
        is_head = head.is_some();
        match head {
            Some(head) => {
                put_body(theme, &mut body, &mut lines);
                lines.push(head);
            }
            None => body.push(line),
        }
    }
    put_body(theme, &mut body, &mut lines);
    lines
}

fn put_body(theme: Theme, body: &mut Vec<&str>, lines: &mut Vec<Line<'static>>) {
    if !body.is_empty() {
        lines.extend(inner_lines(theme, &std::mem::take(body).join("\n")));
    }
}

/// A request line or a status line.
fn first_line(theme: Theme, line: &str) -> Option<Line<'static>> {
    if let Some(class) = status(line) {
        let style = class_style(theme, class).patch(theme.strong());
        return Some(Line::from(Span::styled(line.to_owned(), style)));
    }
    if !is_request(line) {
        return None;
    }
    let indent = line.len() - line.trim_start().len();
    let method = line[indent..]
        .find(' ')
        .map_or(line.len(), |end| indent + end);
    let (before, version) = line.rsplit_once("HTTP/")?;
    Some(Line::from(vec![
        Span::styled(
            line[..method].to_owned(),
            theme.active().patch(theme.strong()),
        ),
        Span::styled(before[method..].to_owned(), theme.strong()),
        Span::styled(format!("HTTP/{version}"), theme.dim()),
    ]))
}

fn header(theme: Theme, line: &str) -> Option<Line<'static>> {
    let (name, value) = line.split_once(':').filter(|(name, _)| is_name(name))?;
    let name = Span::styled(format!("{name}:"), theme.syntax(Syntax::Name));
    Some(Line::from(vec![name, Span::raw(value.to_owned())]))
}

/// Whether a line is a request line: `GET /path HTTP/1.1`.
fn is_request(line: &str) -> bool {
    let mut words = line.trim().split(' ');
    let method = words.next().unwrap_or_default();
    let known =
        (3..=10).contains(&method.len()) && method.bytes().all(|byte| byte.is_ascii_uppercase());
    known
        && words.next().is_some_and(|target| !target.is_empty())
        && words.next().is_some_and(is_version)
}

/// The status code of a status line.
fn status(line: &str) -> Option<u16> {
    let mut words = line.trim().split(' ');
    words.next().filter(|word| is_version(word))?;
    words
        .next()?
        .parse()
        .ok()
        .filter(|status| (100..600).contains(status))
}

fn is_version(word: &str) -> bool {
    word.strip_prefix("HTTP/")
        .is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

fn class_style(theme: Theme, status: u16) -> Style {
    match status {
        ..300 => theme.good(),
        300..400 => theme.active(),
        400..500 => theme.warn(),
        500.. => theme.bad(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_lines_style_first_lines_and_header_names() {
        let theme = Theme::default();
        let lines = message_lines(
            theme,
            "GET /a HTTP/1.1\nHost: a.test\n\nHTTP/1.1 404 Not Found\nServer: x\n\nA: body",
        );
        let style = |line: usize| lines[line].spans[0].style;
        let first: Vec<(&str, Style)> = lines[0]
            .spans
            .iter()
            .map(|span| (&*span.content, span.style))
            .collect();
        let method = theme.active().patch(theme.strong());
        assert_eq!(
            first,
            [
                ("GET", method),
                (" /a ", theme.strong()),
                ("HTTP/1.1", theme.dim())
            ]
        );
        assert_eq!(
            (style(1), lines[1].spans[0].content.as_ref()),
            (theme.syntax(Syntax::Name), "Host:")
        );
        assert_eq!(style(3), theme.warn().patch(theme.strong()));
        assert_eq!(style(4), theme.syntax(Syntax::Name));
        assert_eq!(style(6), theme.text());
    }

    #[test]
    fn body_of_a_message_has_its_own_colours() {
        let theme = Theme::default();
        let text = "POST /a HTTP/1.1\nA: b\n\n{\n \"n\": 1}\nHTTP/1.1 200 OK\n\n<p>x</p>";
        let lines = message_lines(theme, text);
        assert_eq!(
            lines
                .iter()
                .map(Line::to_string)
                .collect::<Vec<_>>()
                .join("\n"),
            text
        );
        assert_eq!(lines[4].spans[1].style, theme.syntax(Syntax::Name));
        assert_eq!(lines[7].spans[0].style, theme.syntax(Syntax::Tag));
    }

    #[test]
    fn message_lines_keep_every_letter_and_ignore_prose() {
        let text = "GET /a HTTP/1.1\r\nX: 1\n\nPOST office: closed\nHTTP/2 is a version";
        let lines: Vec<String> = message_lines(Theme::default(), text)
            .iter()
            .map(Line::to_string)
            .collect();
        assert_eq!(lines.join("\n"), text.replace('\r', ""));
        assert!(is_message("\nHTTP/2 200") && is_message("PUT /x HTTP/1.0"));
        assert!(
            !is_message("GET the keys HTTP") && !is_message("HTTP/2 is newer") && !is_message("")
        );
    }
}
