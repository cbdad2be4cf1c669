//! The bodies of alerts: the JSON of the program, and the forms that chat and notification services
//! take.
//!
//! Texts from outside stay texts: they are escaped for JSON, and neither mention people nor become
//! links in a chat.

use crate::base::Alert;
use crate::config::WebhookFormat;
use scandeck_client::WebhookMessage;
use scandeck_domain::alerts::AlertKind;
use serde_json::{Map, Value, json};

/// The JSON object of an alert (`docs/alerts.md`).
pub fn json_of(alert: &Alert) -> Value {
    let own = [("title", &alert.title), ("body", &alert.body)];
    let fields = alert.fields.iter().map(|(name, text)| (*name, text));
    let mut all = object(own.into_iter().chain(fields));
    if !alert.events.is_empty() {
        let event = |fields: &Vec<(&'static str, String)>| {
            Value::from(object(fields.iter().map(|(name, text)| (*name, text))))
        };
        let events: Vec<Value> = alert.events.iter().map(event).collect();
        all.insert("events".to_owned(), events.into());
    }
    all.into()
}

fn object<'a>(fields: impl Iterator<Item = (&'static str, &'a String)>) -> Map<String, Value> {
    let pair = |(name, text): (&'static str, &String)| (name.to_owned(), text.as_str().into());
    fields.map(pair).collect()
}

/// The message of an alert to a webhook.
pub fn message(alert: &Alert, format: WebhookFormat) -> WebhookMessage {
    let (title, body) = (&alert.title, &alert.body);
    let json = |body: Value| WebhookMessage {
        content_type: "application/json",
        headers: Vec::new(),
        body: body.to_string(),
    };
    match format {
        WebhookFormat::Json => json(json_of(alert)),
        WebhookFormat::Slack => {
            let (title, body) = (escaped_for_slack(title), escaped_for_slack(body));
            json(json!({"text": format!("*scandeck: {title}*\n{body}")}))
        }
        WebhookFormat::Mattermost => {
            let (title, body) = (escaped_for_markdown(title), escaped_for_markdown(body));
            json(json!({"text": format!("**scandeck: {title}**\n{body}")}))
        }
        WebhookFormat::Ntfy => ntfy(alert),
    }
}

/// ntfy takes the title as a header, which is ASCII.
fn ntfy(alert: &Alert) -> WebhookMessage {
    let title = format!("scandeck: {}", alert.title);
    let priority = if is_urgent(alert) { "high" } else { "default" };
    let mut headers = vec![("priority", priority.to_owned())];
    let body = match title.is_ascii() {
        true => alert.body.clone(),
        false => format!("{title}\n{}", alert.body),
    };
    if title.is_ascii() {
        headers.push(("title", title));
    }
    WebhookMessage {
        content_type: "text/plain; charset=utf-8",
        headers,
        body,
    }
}

/// Captures and bad news.
fn is_urgent(alert: &Alert) -> bool {
    let event = alert.fields.iter().find(|(name, _)| *name == "event");
    let kind = event.and_then(|(_, name)| AlertKind::named(name));
    kind.is_none_or(AlertKind::is_alarm)
}

/// Slack reads mentions and links between `<` and `>`.
fn escaped_for_slack(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Escapes the punctuation of Markdown, and parts `@` from the name of a person or channel.
fn escaped_for_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if "\\`*_{}[]()<>#+-.!|~".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
        if letter == '@' {
            escaped.push('\u{200b}');
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "<!channel> @all [x](http://evil.test) \"}, $(id) `id`";

    fn hostile() -> Alert {
        Alert {
            title: "new critical finding".to_owned(),
            body: HOSTILE.to_owned(),
            fields: vec![
                ("event", "finding".to_owned()),
                ("name", HOSTILE.to_owned()),
            ],
            events: vec![vec![("name", HOSTILE.to_owned())]],
            ..Alert::default()
        }
    }

    #[test]
    fn hostile_texts_remain_texts_in_every_format() {
        let parsed =
            |format| -> Value { serde_json::from_str(&message(&hostile(), format).body).unwrap() };
        let json = parsed(WebhookFormat::Json);
        assert_eq!(
            (&json["name"], &json["events"][0]["name"]),
            (&HOSTILE.into(), &HOSTILE.into())
        );
        let slack = parsed(WebhookFormat::Slack);
        let slack = slack["text"].as_str().unwrap();
        assert!(
            slack.starts_with("*scandeck: new critical finding*\n&lt;!channel&gt;"),
            "{slack}"
        );
        assert!(!slack.contains(['<', '>']));
        let mattermost = parsed(WebhookFormat::Mattermost);
        let mattermost = mattermost["text"].as_str().unwrap();
        assert!(
            !mattermost.contains("@all") && mattermost.contains("\\[x\\]\\("),
            "{mattermost}"
        );
        assert_eq!(message(&hostile(), WebhookFormat::Ntfy).body, HOSTILE);
    }

    #[test]
    fn ntfy_has_title_and_priority_in_headers() {
        let mut alert = hostile();
        let ntfy = message(&alert, WebhookFormat::Ntfy);
        let headers = [
            ("priority", "high".to_owned()),
            ("title", "scandeck: new critical finding".to_owned()),
        ];
        assert_eq!(ntfy.headers, headers);
        alert.title = "alert rule `ü`".to_owned();
        alert.fields[0].1 = "scan_ended".to_owned();
        let ntfy = message(&alert, WebhookFormat::Ntfy);
        assert_eq!(ntfy.headers, [("priority", "default".to_owned())]);
        assert!(
            ntfy.body.starts_with("scandeck: alert rule `ü`\n"),
            "{}",
            ntfy.body
        );
    }
}
