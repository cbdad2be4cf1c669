//! The login and host name of the user, as recorded in decisions and scope files, and the home
//! directory of the user database.

use std::fs;
use std::path::PathBuf;

const USERS: &str = "/etc/passwd";
const GROUPS: &str = "/etc/group";

/// `anna@laptop`: the login from the environment, else from the password file, else the numeric
/// user id.
pub fn login(variable: impl Fn(&str) -> Option<String>) -> String {
    let uid = rustix::process::getuid().as_raw();
    let users = || fs::read_to_string(USERS).unwrap_or_default();
    let user = ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| non_empty(variable(name)));
    let user = user
        .or_else(|| user_name(&users(), uid))
        .unwrap_or_else(|| uid.to_string());
    let host = ["/proc/sys/kernel/hostname", "/etc/hostname"]
        .iter()
        .find_map(|path| non_empty(fs::read_to_string(path).ok()))
        .or_else(|| non_empty(variable("HOSTNAME")));
    format!("{user}@{}", host.as_deref().unwrap_or("localhost"))
}

fn non_empty(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

/// The home directory of the user in the password file.
pub fn home_in_password_file() -> Option<PathBuf> {
    let uid = rustix::process::getuid().as_raw();
    home_directory(&fs::read_to_string(USERS).ok()?, uid).map(PathBuf::from)
}

/// The name of the user in the password file.
pub fn name_in_password_file() -> Option<String> {
    let uid = rustix::process::getuid().as_raw();
    user_name(&fs::read_to_string(USERS).ok()?, uid)
}

/// Whether a group consists of this user alone, as on systems that create a group with each user.
pub fn is_private_group(group: u32) -> bool {
    let uid = rustix::process::getuid().as_raw();
    let files = (fs::read_to_string(USERS), fs::read_to_string(GROUPS));
    matches!(files, (Ok(users), Ok(groups)) if is_group_of_one(&users, &groups, uid, group))
}

/// A group file has lines such as `name:x:1000:member,member`. The first group of a user is in the
/// password file alone.
fn is_group_of_one(users: &str, groups: &str, uid: u32, group: u32) -> bool {
    let Some(name) = user_name(users, uid) else {
        return false;
    };
    let is_group = |field: Option<&str>| field.is_some_and(|number| number.parse() == Ok(group));
    let mut others = users
        .lines()
        .filter(|line| is_group(line.split(':').nth(3)) && line.split(':').next() != Some(&name));
    let mut lines = groups
        .lines()
        .filter(|line| is_group(line.split(':').nth(2)));
    let has_other_members = |line: &str| {
        line.split(':').nth(3).is_some_and(|members| {
            members
                .split(',')
                .any(|one| !["", &name].contains(&one.trim()))
        })
    };
    field(users, uid, 3).is_some_and(|first| first.parse() == Ok(group))
        && others.next().is_none()
        && lines.next().is_some_and(|line| !has_other_members(line))
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
    let of_user = |line: &&str| {
        line.split(':')
            .nth(2)
            .is_some_and(|number| number.parse() == Ok(uid))
    };
    let line = users.lines().find(of_user)?;
    non_empty(line.split(':').nth(at).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "root:x:0:0:root:/root:/bin/bash\nbroken\n:x:7:7::/:\nanna:x:1000:1000:Anna:/home/anna:/bin/sh\n";

    #[test]
    fn group_with_another_member_is_not_private() {
        let is_private = |uid, gid, members: &str| {
            let users = format!("{LIST}bob:x:1001:1001::/:/bin/sh\ncarl:x:1002:1001::/:/bin/sh\n");
            is_group_of_one(
                &users,
                &format!("staff:x:50:\nanna:x:1000:{members}\nbob:x:1001:\n"),
                uid,
                gid,
            )
        };
        assert!(is_private(1000, 1000, "") && is_private(1000, 1000, "anna"));
        assert!(!is_private(1000, 1000, "anna,bob"), "another member");
        assert!(
            !is_private(1001, 1001, ""),
            "the first group of another user"
        );
        assert!(!is_private(1000, 50, "") && !is_private(7, 1000, ""));
    }

    #[test]
    fn login_without_variable_uses_password_file() {
        let of = |user: &'static str| {
            login(move |name| (name == "USER" && !user.is_empty()).then(|| user.to_owned()))
        };
        assert!(of("carla").starts_with("carla@"));
        assert!(
            !of("").starts_with('@') && !of("").ends_with('@'),
            "{}",
            of("")
        );
    }

    #[test]
    fn user_name_of_unknown_or_unnamed_user_is_none() {
        assert_eq!(
            [0, 1000].map(|uid| user_name(LIST, uid)),
            [Some("root".to_owned()), Some("anna".to_owned())]
        );
        assert_eq!([7, 42].map(|uid| user_name(LIST, uid)), [None, None]);
    }

    #[test]
    fn home_directory_of_unknown_user_is_none() {
        assert_eq!(home_directory(LIST, 1000).as_deref(), Some("/home/anna"));
        assert_eq!(home_directory(LIST, 42), None);
    }
}
