//! Copying to the clipboard from a terminal, also over SSH.
//!
//! ```text
//!   in tmux     tmux load-buffer -w -     reaches the outer terminal with tmux's default settings
//!               tmux load-buffer -        older tmux: the buffer of tmux only
//!   elsewhere   OSC 52                    depends on the terminal, without confirmation
//!   otherwise   the text in a pop-up
//! ```
//!
//! tmux drops the OSC 52 of an application with its default settings, so it is not tried there.

use crate::base::CopyFailed;
use crate::runtime::process::run_with_input;
use base64::Engine as _;
use std::time::Duration;
use tokio::process::Command;

/// Limit for tmux.
const TMUX_LIMIT: Duration = Duration::from_secs(1);
/// Longest text that terminals accept by OSC 52.
const OSC_52_LIMIT: usize = 74_000;

/// How texts are copied in this terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyMethod {
    Tmux,
    Osc52,
    /// Not supported, with the reason.
    None(&'static str),
}

impl CopyMethod {
    /// Derives the method from environment variables.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let terminal = variable("TERM").unwrap_or_default();
        if variable("TMUX").is_some_and(|socket| !socket.is_empty()) {
            CopyMethod::Tmux
        } else if variable("STY").is_some() {
            CopyMethod::None("GNU screen does not support copies")
        } else if matches!(terminal.as_str(), "" | "dumb" | "linux") {
            CopyMethod::None("this terminal does not support copies")
        } else {
            CopyMethod::Osc52
        }
    }
}

/// The escape sequence that copies a text.
///
/// # Errors
/// When the text is longer than terminals accept.
pub fn osc_52(text: String) -> Result<String, CopyFailed> {
    if text.len() > OSC_52_LIMIT {
        let why = format!(
            "text too long: terminals accept at most {} kB",
            OSC_52_LIMIT / 1000
        );
        return Err(CopyFailed { why, text });
    }
    Ok(format!(
        "\x1b]52;c;{}\x07",
        base64::engine::general_purpose::STANDARD.encode(&text)
    ))
}

/// Copies through tmux.
///
/// # Errors
/// When tmux fails or takes too long; the error contains the text.
pub async fn through_tmux(what: &str, text: String) -> Result<String, CopyFailed> {
    match load_buffer(&["load-buffer", "-w", "-"], &text).await {
        Ok(()) => Ok(format!("{what} copied (tmux)")),
        // tmux before 3.2 does not know -w.
        Err(_) => match load_buffer(&["load-buffer", "-"], &text).await {
            Ok(()) => Ok(format!(
                "{what} copied to the tmux buffer (prefix ] pastes it)"
            )),
            Err(why) => Err(CopyFailed { why, text }),
        },
    }
}

async fn load_buffer(arguments: &[&str], text: &str) -> Result<(), String> {
    let mut tmux = Command::new("tmux");
    tmux.args(arguments);
    run_with_input(tmux, text.as_bytes(), TMUX_LIMIT)
        .await
        .map_err(|why| format!("tmux {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(variables: &[(&str, &str)]) -> CopyMethod {
        CopyMethod::of(|name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn copy_method_prefers_tmux_and_none_where_unsupported() {
        assert_eq!(
            method(&[("TMUX", "/tmp/tmux,1,0"), ("TERM", "tmux-256color")]),
            CopyMethod::Tmux
        );
        assert_eq!(method(&[("TERM", "xterm-256color")]), CopyMethod::Osc52);
        assert!(matches!(method(&[("TERM", "linux")]), CopyMethod::None(_)));
        assert!(matches!(
            method(&[("TERM", "screen"), ("STY", "1.pts")]),
            CopyMethod::None(_)
        ));
    }

    #[test]
    fn osc_52_encodes_hostile_text_and_returns_long_text() {
        let sequence = osc_52("a\x07b\x1b]0;x\x07".to_owned()).unwrap();
        assert_eq!(sequence.matches('\x07').count(), 1);
        assert_eq!(sequence.matches('\x1b').count(), 1);
        let long = "x".repeat(OSC_52_LIMIT + 1);
        assert_eq!(osc_52(long.clone()).unwrap_err().text, long);
    }
}
