//! The login and host name of the user, as recorded in decisions and scope files.

use std::fs;

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

/// The name of a user in a password file: `name:x:1000:…`.
fn user_name(users: &str, uid: u32) -> Option<String> {
    let name = |line: &str| {
        let mut fields = line.split(':');
        let (name, number) = (fields.next()?, fields.nth(1)?);
        (number.parse() == Ok(uid)).then(|| name.to_owned())
    };
    non_empty(users.lines().find_map(name))
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
}
