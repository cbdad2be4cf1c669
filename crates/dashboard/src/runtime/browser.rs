//! Opening a URL in the browser of this machine.

use scandeck_domain::problem::Problem;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// A program that fails does so within this time; another one may run as long as the browser.
const FAILS_WITHIN: Duration = Duration::from_secs(2);
const PROGRAM: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// Whether this machine has a browser that the user can see: over SSH and without a display it has
/// none.
pub fn is_visible(variable: impl Fn(&str) -> Option<String>) -> bool {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let is_remote = is_set("SSH_CONNECTION") || is_set("SSH_TTY");
    !is_remote && (cfg!(target_os = "macos") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"))
}

/// Opens an http or https URL, without a shell. Returns the URL.
///
/// # Errors
/// When the program is missing or fails.
pub async fn open(url: String) -> Result<String, Problem> {
    let failed = |why: String| {
        Problem::local(format!("URL not opened: {PROGRAM} {why}")).with_hint("copy the URL instead")
    };
    let mut command = Command::new(PROGRAM);
    command
        .arg(&url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // ctrl-c in the terminal must not end the browser.
    command.process_group(0);
    let mut child = command
        .spawn()
        .map_err(|error| failed(format!("cannot be started: {error}")))?;
    match timeout(FAILS_WITHIN, child.wait()).await {
        Ok(Ok(status)) if !status.success() => Err(failed(format!("ended with {status}"))),
        _ => Ok(url),
    }
}

#[cfg(test)]
mod tests {
    use super::is_visible;

    #[test]
    fn browser_is_visible_with_a_display_and_without_ssh() {
        let with =
            |names: &[&str]| is_visible(|name| names.contains(&name).then(|| "1".to_owned()));
        assert!(with(&["DISPLAY"]) && with(&["WAYLAND_DISPLAY", "TMUX"]));
        assert!(!with(&["DISPLAY", "SSH_CONNECTION"]) && !with(&["WAYLAND_DISPLAY", "SSH_TTY"]));
        assert_eq!(with(&[]), cfg!(target_os = "macos"));
    }
}
