//! The version of an installed guest. It also shows that this is no other program of the same name.

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use regex::Regex;
use tokio::sync::mpsc;

use super::Guest;
use super::process::{GuestEnd, GuestLimits, run_in};

/// testssl.sh first looks for a repository of itself, and starts many programs: it needs half a
/// minute on a busy machine.
const LIMITS: GuestLimits = GuestLimits {
    time: Duration::from_secs(60),
    output: 64 * 1024,
    memory: 8 << 30,
    file: 1 << 20,
};

static NUMBER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\d+\.\d+[0-9A-Za-z.\-]*").ok());
static ESCAPE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("\u{1b}\\[[0-9;]*[A-Za-z]").ok());

/// The first version of nikto with the option for its proxy. An earlier one ignores the option, and
/// attacks the target directly.
const NIKTO_WITH_PROXY: [u32; 3] = [2, 1, 6];

/// Asks a program for its version.
///
/// # Errors
/// When the program cannot be started, does not answer in time, or is not the guest, as a message
/// for the user.
pub async fn installed_version(guest: Guest, program: &Path) -> Result<String, String> {
    version_within(LIMITS, guest, program).await
}

async fn version_within(
    limits: GuestLimits,
    guest: Guest,
    program: &Path,
) -> Result<String, String> {
    let probe = &guest.row().version;
    let arguments: Vec<String> = probe.arguments.iter().map(|&one| one.to_owned()).collect();
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    // Nobody reads the lines one by one.
    let (lines, _) = mpsc::channel(1);
    let output = run_in(&Arc::new(directory), program, &arguments, limits, lines).await?;
    let printed = format!("{}\n{}", output.text, output.errors);
    parse(&printed, probe.mark).ok_or_else(|| {
        let (shown, name) = (program.display(), guest.program());
        match output.end {
            GuestEnd::TimeLimit => format!(
                "{shown} did not report its version within {} s; try again when the machine is less busy",
                limits.time.as_secs()
            ),
            _ => format!(
                "{shown} reports no version of {name}: it is damaged or another program; reinstall {name}"
            ),
        }
    })
}

/// Why a guest of this version may not scan; `None` if it may.
pub fn refusal(guest: Guest, version: &str) -> Option<String> {
    let numbers = version.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<u32> = numbers.map_while(|part| part.parse().ok()).collect();
    let is_old = guest == Guest::Nikto && numbers.as_slice() < NIKTO_WITH_PROXY.as_slice();
    is_old.then(|| {
        format!(
            "nikto {version} attacks the target without the proxy of its run; replace it with 2.1.6 or later: {}",
            guest.remedy()
        )
    })
}

/// The first version after the mark.
fn parse(output: &str, mark: &str) -> Option<String> {
    let plain = ESCAPE.as_ref()?.replace_all(output, "");
    let start = plain.to_ascii_lowercase().find(mark)? + mark.len();
    let found = NUMBER.as_ref()?.find(&plain[start..])?;
    Some(found.as_str().trim_end_matches(['.', '-']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::scan_tests::stand_in;
    use super::*;

    #[tokio::test]
    async fn program_that_reports_no_version_is_refused_with_the_cause() {
        let guest = Guest::Nmap;
        let right = stand_in("echo 'Nmap version 7.93 ( https://nmap.org )'");
        let version = installed_version(guest, &right.program).await;
        assert_eq!(version.as_deref(), Ok("7.93"));
        let other = stand_in("echo 'another program 7.93'");
        let why = installed_version(guest, &other.program).await.unwrap_err();
        assert!(why.contains("reports no version of nmap"), "{why}");
        let slow = stand_in("exec sleep 600");
        let limits = GuestLimits {
            time: Duration::from_millis(50),
            ..LIMITS
        };
        let why = version_within(limits, guest, &slow.program).await;
        let why = why.unwrap_err();
        assert!(
            why.contains("did not report its version within") && !why.contains("damaged"),
            "{why}"
        );
        let missing = installed_version(guest, Path::new("/nonexistent/nmap")).await;
        assert!(missing.unwrap_err().contains("/nonexistent/nmap: "));
    }

    #[test]
    fn version_follows_the_mark() {
        for (output, mark, expected) in [
            (
                "Nmap version 7.93 ( https://nmap.org )",
                "nmap version",
                "7.93",
            ),
            ("\u{1b}[0;32m2.0.7\u{1b}[0m\nOpenSSL 3.0.19", "", "2.0.7"),
            (
                "#####\n    testssl       3.0.8 from \u{1b}[1mhttps://testssl.sh/",
                "testssl",
                "3.0.8",
            ),
            ("[INF] Nuclei Engine Version: v3.3.0", "version:", "3.3.0"),
            ("Nikto main     2.1.5", "nikto", "2.1.5"),
            ("ffuf version: 2.1.0-dev", "ffuf version:", "2.1.0-dev"),
        ] {
            assert_eq!(parse(output, mark).as_deref(), Some(expected), "{output}");
        }
        // The HTTP client of Python has the same name.
        let other = "Usage: httpx [OPTIONS] URL\n\nError: No such option: -e";
        assert_eq!(parse(other, "version:"), None);
    }

    #[test]
    fn nikto_that_ignores_its_proxy_is_refused() {
        for old in ["2.1.5", "2.1", "1.36", "2.0.3"] {
            let why = refusal(Guest::Nikto, old).unwrap();
            assert!(
                why.contains(old) && why.contains("2.1.6 or later") && why.contains("install it"),
                "{why}"
            );
        }
        for new in ["2.1.6", "2.2", "2.5.0", "3.0.1-beta"] {
            assert_eq!(refusal(Guest::Nikto, new), None, "{new}");
        }
        assert_eq!(refusal(Guest::Ffuf, "2.1.0"), None);
    }
}
