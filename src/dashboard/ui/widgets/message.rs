//! HTTP messages inside a text: request line, status line and header names stand out, bodies do not.
//!
//! ```text
//!   GET /x HTTP/1.1      strong        HTTP/1.1 200 OK      by its class
//!   Host: a.test         name dim      (empty line)         the body begins
//! ```

use crate::dashboard::ui::Theme;
use ratatui::prelude::{Line, Span, Style};

/// The part of a message to which a line belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessagePart {
    /// A body, or text outside of messages.
    Body,
    /// Headers.
    Head,
}

/// Whether a text begins with a request line or a status line.
pub fn is_message(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    is_request(first) || status(first).is_some()
}

/// The lines of a text, already clean, with its messages coloured.
pub fn message_lines(theme: Theme, text: &str) -> Vec<Line<'static>> {
    let mut part = MessagePart::Body;
    text.split('\n').map(|line| coloured(theme, line.trim_end_matches('\r'), &mut part)).collect()
}

fn coloured(theme: Theme, line: &str, part: &mut MessagePart) -> Line<'static> {
    let whole = |style: Style| Line::from(Span::styled(line.to_owned(), style));
    if is_request(line) {
        *part = MessagePart::Head;
        return whole(theme.strong());
    }
    if let Some(class) = status(line) {
        *part = MessagePart::Head;
        return whole(class_style(theme, class).patch(theme.strong()));
    }
    match line.split_once(':').filter(|(name, _)| *part == MessagePart::Head && is_name(name)) {
        Some((name, value)) => {
            Line::from(vec![Span::styled(format!("{name}:"), theme.head()), Span::raw(value.to_owned())])
        }
        None => {
            *part = MessagePart::Body;
            whole(theme.text())
        }
    }
}

/// Whether a line is a request line: `GET /path HTTP/1.1`.
fn is_request(line: &str) -> bool {
    let mut words = line.trim().split(' ');
    let method = words.next().unwrap_or_default();
    let known = (3..=10).contains(&method.len()) && method.bytes().all(|byte| byte.is_ascii_uppercase());
    known && words.next().is_some_and(|target| !target.is_empty()) && words.next().is_some_and(is_version)
}

/// The status code of a status line.
fn status(line: &str) -> Option<u16> {
    let mut words = line.trim().split(' ');
    words.next().filter(|word| is_version(word))?;
    words.next()?.parse().ok().filter(|status| (100..600).contains(status))
}

fn is_version(word: &str) -> bool {
    word.strip_prefix("HTTP/").is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
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
        let lines =
            message_lines(theme, "GET /a HTTP/1.1\nHost: a.test\n\nHTTP/1.1 404 Not Found\nServer: x\n\nA: body");
        let style = |line: usize| lines[line].spans[0].style;
        assert_eq!(style(0), theme.strong());
        assert_eq!((style(1), lines[1].spans[0].content.as_ref()), (theme.head(), "Host:"));
        assert_eq!(style(3), theme.warn().patch(theme.strong()));
        assert_eq!(style(4), theme.head());
        assert_eq!(style(6), theme.text());
    }

    #[test]
    fn message_lines_keep_every_letter_and_ignore_prose() {
        let text = "GET /a HTTP/1.1\r\nX: 1\n\nPOST office: closed\nHTTP/2 is a version";
        let lines: Vec<String> = message_lines(Theme::default(), text).iter().map(Line::to_string).collect();
        assert_eq!(lines.join("\n"), text.replace('\r', ""));
        assert!(is_message("\nHTTP/2 200") && is_message("PUT /x HTTP/1.0"));
        assert!(!is_message("GET the keys HTTP") && !is_message("HTTP/2 is newer") && !is_message(""));
    }
}
