//! The directories of the user: the variables of the XDG base directory specification, else below
//! the home directory. A path is never relative, because it would depend on the current directory.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::login::home_in_password_file;

/// Neither the environment nor the user database has a home directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no home directory: HOME is not an absolute path, and the user database has none")]
pub struct NoHomeError;

impl NoHomeError {
    /// The next step.
    pub const HINT: &str = "set HOME to an absolute path";
}

/// `HOME`, else the home directory of the user database.
///
/// # Errors
/// When none of them is an absolute path.
pub fn home() -> Result<PathBuf, NoHomeError> {
    // The standard library asks the user database only if HOME is not set at all.
    absolute(std::env::home_dir())
        .or_else(|| absolute(home_in_password_file()))
        .ok_or(NoHomeError)
}

/// `XDG_CONFIG_HOME`, or `~/.config`.
///
/// # Errors
/// When the variable is not an absolute path, and there is no home directory.
pub fn config_home() -> Result<PathBuf, NoHomeError> {
    directory(std::env::var_os("XDG_CONFIG_HOME"), ".config", home)
}

/// `XDG_STATE_HOME`, or `~/.local/state`.
///
/// # Errors
/// When the variable is not an absolute path, and there is no home directory.
pub fn state_home() -> Result<PathBuf, NoHomeError> {
    directory(std::env::var_os("XDG_STATE_HOME"), ".local/state", home)
}

/// The specification requires that relative paths in these variables are ignored.
fn directory(
    variable: Option<OsString>,
    below_home: &str,
    home: impl FnOnce() -> Result<PathBuf, NoHomeError>,
) -> Result<PathBuf, NoHomeError> {
    match absolute(variable.map(PathBuf::from)) {
        Some(path) => Ok(path),
        None => home().map(|home| home.join(below_home)),
    }
}

fn absolute(path: Option<PathBuf>) -> Option<PathBuf> {
    path.filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_or_empty_variable_is_ignored() {
        let of = |variable: Option<&str>| {
            directory(variable.map(OsString::from), ".config", || {
                Ok("/home/anna".into())
            })
        };
        for variable in [
            None,
            Some(""),
            Some("config"),
            Some("./config"),
            Some("~/config"),
        ] {
            assert_eq!(
                of(variable),
                Ok("/home/anna/.config".into()),
                "{variable:?}"
            );
        }
        assert_eq!(of(Some("/etc/xdg")), Ok("/etc/xdg".into()));
    }

    #[test]
    fn missing_home_is_an_error_unless_the_variable_is_absolute() {
        let of = |variable: &str| directory(Some(variable.into()), ".config", || Err(NoHomeError));
        assert_eq!(
            (of("config"), of("/etc/xdg")),
            (Err(NoHomeError), Ok("/etc/xdg".into()))
        );
    }
}
