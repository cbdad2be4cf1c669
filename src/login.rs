//! Who works here: the name of the login and that of the machine, as decisions and scope files carry them.

use std::fs;

/// The users of this machine, a line each.
const USERS: &str = "/etc/passwd";

/// `anna@laptop`: the environment's word first, then the machine's list of users; where neither knows a name, the
/// number of the user.
pub fn login(variable: impl Fn(&str) -> Option<String>) -> String {
    let uid = rustix::process::getuid().as_raw();
    let users = || fs::read_to_string(USERS).unwrap_or_default();
    let user = ["USER", "LOGNAME"].iter().find_map(|name| told(variable(name)));
    let user = user.or_else(|| named(&users(), uid)).unwrap_or_else(|| uid.to_string());
    let host = ["/proc/sys/kernel/hostname", "/etc/hostname"]
        .iter()
        .find_map(|path| told(fs::read_to_string(path).ok()))
        .or_else(|| told(variable("HOSTNAME")));
    format!("{user}@{}", host.as_deref().unwrap_or("localhost"))
}

fn told(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The name of a user in such a list: `name:x:1000:…`.
fn named(users: &str, uid: u32) -> Option<String> {
    let name = |line: &str| {
        let mut fields = line.split(':');
        let (name, number) = (fields.next()?, fields.nth(1)?);
        (number.parse() == Ok(uid)).then(|| name.to_owned())
    };
    told(users.lines().find_map(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        "root:x:0:0:root:/root:/bin/bash\nbroken\n:x:7:7::/:\nanna:x:1000:1000:Anna:/home/anna:/bin/sh\n";

    #[test]
    fn the_environment_names_the_user_and_else_the_machines_list() {
        let of = |user: &'static str| login(move |name| (name == "USER" && !user.is_empty()).then(|| user.to_owned()));
        assert!(of("carla").starts_with("carla@"));
        assert!(!of("").starts_with('@') && !of("").ends_with('@'), "{}", of(""));
    }

    #[test]
    fn a_user_without_a_name_in_the_list_is_a_number() {
        assert_eq!([0, 1000].map(|uid| named(LIST, uid)), [Some("root".to_owned()), Some("anna".to_owned())]);
        assert_eq!([7, 42].map(|uid| named(LIST, uid)), [None, None]);
    }
}
