//! Copying out of a terminal, also over SSH.
//!
//! ```text
//!   in tmux     tmux load-buffer -w -     reaches the outer terminal with tmux's default settings
//!               tmux load-buffer -        older tmux: its own buffer only
//!   elsewhere   OSC 52                    the terminal decides; nothing answers
//!   otherwise   the text in a box
//! ```
//!
//! In tmux an application's OSC 52 is dropped by default, so it is not even tried.

use crate::dashboard::base::CopyFailed;
use base64::Engine as _;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

/// Longest that tmux may take.
const TMUX_LIMIT: Duration = Duration::from_secs(1);
/// Longest text that terminals take through OSC 52.
const OSC_52_LIMIT: usize = 74_000;

/// How this terminal takes copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyMethod {
    /// Through tmux.
    Tmux,
    /// Through OSC 52.
    Osc52,
    /// Not at all.
    None(&'static str),
}

impl CopyMethod {
    /// By the variables of the environment.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let terminal = variable("TERM").unwrap_or_default();
        if variable("TMUX").is_some_and(|socket| !socket.is_empty()) {
            CopyMethod::Tmux
        } else if variable("STY").is_some() {
            CopyMethod::None("GNU screen passes no copies on")
        } else if matches!(terminal.as_str(), "" | "dumb" | "linux") {
            CopyMethod::None("this terminal takes no copies")
        } else {
            CopyMethod::Osc52
        }
    }

    /// That of this process.
    pub fn of_process() -> Self {
        Self::of(|name| std::env::var(name).ok())
    }
}

/// The escape sequence that copies, or why there is none.
///
/// # Errors
/// When the text is longer than terminals take.
pub fn osc_52(text: String) -> Result<String, CopyFailed> {
    if text.len() > OSC_52_LIMIT {
        let why = format!("terminals take at most {} kB in a copy", OSC_52_LIMIT / 1000);
        return Err(CopyFailed { why, text });
    }
    Ok(format!("\x1b]52;c;{}\x07", base64::engine::general_purpose::STANDARD.encode(&text)))
}

/// Copies through tmux.
///
/// # Errors
/// When tmux fails or takes too long; the text comes back.
pub async fn through_tmux(what: &str, text: String) -> Result<String, CopyFailed> {
    match load_buffer(&["load-buffer", "-w", "-"], &text).await {
        Ok(()) => Ok(format!("{what} copied (tmux)")),
        // tmux before 3.2 does not know -w.
        Err(_) => match load_buffer(&["load-buffer", "-"], &text).await {
            Ok(()) => Ok(format!("{what} copied to tmux's own buffer: prefix ] pastes it")),
            Err(why) => Err(CopyFailed { why, text }),
        },
    }
}

async fn load_buffer(arguments: &[&str], text: &str) -> Result<(), String> {
    let work = async {
        let mut tmux = Command::new("tmux")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("tmux cannot be started: {error}"))?;
        if let Some(mut input) = tmux.stdin.take() {
            input.write_all(text.as_bytes()).await.map_err(|error| format!("tmux did not take it: {error}"))?;
        }
        match tmux.wait().await {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("tmux load-buffer failed ({status})")),
            Err(error) => Err(format!("tmux was lost: {error}")),
        }
    };
    timeout(TMUX_LIMIT, work).await.unwrap_or_else(|_| Err("tmux did not answer within a second".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(variables: &[(&str, &str)]) -> CopyMethod {
        CopyMethod::of(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn tmux_goes_before_osc_52_and_terminals_without_it_say_so() {
        assert_eq!(way(&[("TMUX", "/tmp/tmux,1,0"), ("TERM", "tmux-256color")]), CopyMethod::Tmux);
        assert_eq!(way(&[("TERM", "xterm-256color")]), CopyMethod::Osc52);
        assert!(matches!(way(&[("TERM", "linux")]), CopyMethod::None(_)));
        assert!(matches!(way(&[("TERM", "screen"), ("STY", "1.pts")]), CopyMethod::None(_)));
    }

    #[test]
    fn hostile_text_cannot_end_the_sequence_and_long_text_comes_back() {
        let sequence = osc_52("a\x07b\x1b]0;x\x07".to_owned()).unwrap();
        assert_eq!(sequence.matches('\x07').count(), 1);
        assert_eq!(sequence.matches('\x1b').count(), 1);
        let long = "x".repeat(OSC_52_LIMIT + 1);
        assert_eq!(osc_52(long.clone()).unwrap_err().text, long);
    }
}
