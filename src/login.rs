//! The login and host name of the user, as recorded in decisions and scope files, and the home directory of the user
//! database.

use std::fs;
use std::path::PathBuf;

const USERS: &str = "/etc/passwd";

/// `anna@laptop`: the login from the environment, else from the password file, else the numeric user id.
pub fn login(variable: impl Fn(&str) -> Option<String>) -> String {
    let uid = rustix::process::getuid().as_raw();
    let users = || fs::read_to_string(USERS).unwrap_or_default();
    let user = ["USER", "LOGNAME"].iter().find_map(|name| non_empty(variable(name)));
    let user = user.or_else(|| user_name(&users(), uid)).unwrap_or_else(|| uid.to_string());
    let host = ["/proc/sys/kernel/hostname", "/etc/hostname"]
        .iter()
        .find_map(|path| non_empty(fs::read_to_string(path).ok()))
        .or_else(|| non_empty(variable("HOSTNAME")));
    format!("{user}@{}", host.as_deref().unwrap_or("localhost"))
}

fn non_empty(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The home directory of the user in the password file.
pub fn home_in_password_file() -> Option<PathBuf> {
    let uid = rustix::process::getuid().as_raw();
    home_directory(&fs::read_to_string(USERS).ok()?, uid).map(PathBuf::from)
}

/// The name of a user in a password file: `name:x:1000:…`.
fn user_name(users: &str, uid: u32) -> Option<String> {
    field(users, uid, 0)
}

/// The home directory of a user in a password file: `name:x:1000:1000:comment:home:shell`.
fn home_directory(users: &str, uid: u32) -> Option<String> {
    field(users, uid, 5)
}

/// A field of the line of a user.
fn field(users: &str, uid: u32, at: usize) -> Option<String> {
    let of_user = |line: &&str| line.split(':').nth(2).is_some_and(|number| number.parse() == Ok(uid));
    let line = users.lines().find(of_user)?;
    non_empty(line.split(':').nth(at).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        "root:x:0:0:root:/root:/bin/bash\nbroken\n:x:7:7::/:\nanna:x:1000:1000:Anna:/home/anna:/bin/sh\n";

    #[test]
    fn login_without_variable_uses_password_file() {
        let of = |user: &'static str| login(move |name| (name == "USER" && !user.is_empty()).then(|| user.to_owned()));
        assert!(of("carla").starts_with("carla@"));
        assert!(!of("").starts_with('@') && !of("").ends_with('@'), "{}", of(""));
    }

    #[test]
    fn user_name_of_unknown_or_unnamed_user_is_none() {
        assert_eq!([0, 1000].map(|uid| user_name(LIST, uid)), [Some("root".to_owned()), Some("anna".to_owned())]);
        assert_eq!([7, 42].map(|uid| user_name(LIST, uid)), [None, None]);
    }

    #[test]
    fn home_directory_of_unknown_user_is_none() {
        assert_eq!(home_directory(LIST, 1000).as_deref(), Some("/home/anna"));
        assert_eq!(home_directory(LIST, 42), None);
    }
}
