//! Which links the crawler may follow: those that only show something.
//!
//! A link that changes something by GET is a mistake of the site, but the scan must not trigger it.
//! Whole segments of the path and names of the query decide: `/cart/add/7` acts, `/dropdown-demo`
//! does not.

use url::Url;

/// Words that act, as a segment of the path, as the name of a query parameter, or as the value of a
/// [`SELECTORS`].
#[rustfmt::skip]
const ACTIONS: &[&str] = &[
    "accept", "activate", "add", "approve", "assign", "ban", "block", "buy", "cancel", "checkout", "clear",
    "close", "confirm", "copy", "deactivate", "delete", "demote", "deny", "destroy", "disable", "dislike",
    "dismiss", "do", "downvote", "drop", "duplicate", "empty", "enable", "erase", "execute", "exec", "favorite",
    "flag", "flush", "follow", "insert", "install", "invite", "join", "kick", "kill", "leave", "like", "lock",
    "logoff", "logout", "mute", "pay", "pin", "promote", "publish", "purchase", "purge", "reboot",
    "reject", "remove", "rename", "reset", "restart", "restore", "revoke", "rotate", "run", "save", "send",
    "share", "shutdown", "signoff", "signout", "spam", "start", "stop", "submit", "subscribe", "suspend", "sync",
    "toggle", "transfer", "trash", "truncate", "unban", "unblock", "undo", "unfollow", "uninstall", "unlike", "unlock",
    "unpublish", "unsubscribe", "update", "upgrade", "upvote", "vote", "wipe", ];

/// Words that act as the first or last word of a longer segment too: `/delete-account`,
/// `/user_remove`.
#[rustfmt::skip]
const STRONG: &[&str] = &[
    "cancel", "deactivate", "delete", "destroy", "disable", "logout", "logoff", "purge", "remove", "reset", "revoke",
    "signout", "truncate", "unsubscribe", "wipe",
];

/// Query parameters whose value selects an action.
const SELECTORS: &[&str] = &[
    "a",
    "act",
    "action",
    "cmd",
    "command",
    "do",
    "method",
    "mode",
    "op",
    "operation",
    "task",
];

/// Segments that are plain pages although they are words of [`ACTIONS`], at the end of a short
/// path: `/checkout`.
const PAGES: &[&str] = &[
    "buy",
    "checkout",
    "install",
    "join",
    "like",
    "send",
    "share",
    "start",
    "submit",
    "subscribe",
    "vote",
];

/// Files that are not pages.
#[rustfmt::skip]
const FILES: &[&str] = &[
    "css", "js", "mjs", "map", "png", "jpg", "jpeg", "gif", "svg", "ico", "webp", "avif", "woff", "woff2", "ttf", "pdf",
    "zip", "gz", "mp3", "mp4", "webm",
];

/// Whether the link shows a page and changes nothing.
pub fn is_harmless(url: &Url) -> bool {
    !is_file(url) && !acts(url)
}

/// Whether a request for the link may change something. Paths below its folders may act too:
/// `/cart/add/{id}`.
pub fn acts(url: &Url) -> bool {
    acts_by_path(url) || acts_by_query(url)
}

/// Whether a path names no action, for tools that request paths of a wordlist.
pub fn is_safe_path(url: &Url) -> bool {
    !acts_by_path(url)
}

fn is_file(url: &Url) -> bool {
    let extension = url
        .path()
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| FILES.contains(&extension.as_str()))
}

fn acts_by_path(url: &Url) -> bool {
    let segments: Vec<&str> = url
        .path_segments()
        .map(Iterator::collect)
        .unwrap_or_default();
    let last = segments.len().saturating_sub(1);
    segments.iter().enumerate().any(|(at, segment)| {
        let name = segment.split('.').next().unwrap_or_default();
        let words = words(name);
        let joined = words.concat();
        let is_page = segments.len() <= 2 && at == last && PAGES.contains(&joined.as_str());
        let ends = [words.first(), words.last()];
        (ACTIONS.contains(&joined.as_str()) && !is_page)
            || ends
                .into_iter()
                .flatten()
                .any(|word| STRONG.contains(&word.as_str()) && words.len() <= 3)
    })
}

fn acts_by_query(url: &Url) -> bool {
    url.query_pairs().any(|(name, value)| {
        let (name, value) = (words(&name).concat(), words(&value));
        let acts = |word: &str| ACTIONS.contains(&word);
        // Positions and filters of lists.
        let is_position = matches!(name.as_str(), "start" | "like" | "share" | "flag");
        (acts(&name) && !is_position && !SELECTORS.contains(&name.as_str()))
            || (SELECTORS.contains(&name.as_str())
                && (value.iter().any(|word| acts(word)) || acts(&value.concat())))
    })
}

/// The words of `deleteUser`, `delete-user` or `delete_user`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        let is_start =
            !letter.is_ascii_alphanumeric() || (was_lower && letter.is_ascii_uppercase());
        if is_start && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if letter.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(letter.to_ascii_lowercase());
        }
        was_lower = letter.is_ascii_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_act_and_files_are_not_followed() {
        for path in [
            "/logout",
            "/log-out",
            "/account/sign_out.php",
            "/cart/add/7",
            "/admin/approve/3",
            "/posts/4/delete",
            "/deleteUser?id=3",
            "/delete-account",
            "/item?do=delete",
            "/item?action=remove_item",
            "/post/1?vote=up",
            "/newsletter/unsubscribe",
            "/poll?vote=1",
            "/x?logout=1",
            "/logo.PNG",
            "/app.min.js",
            "/jobs/3/run",
        ] {
            assert!(
                !is_harmless(&Url::parse("http://a.test").unwrap().join(path).unwrap()),
                "{path}"
            );
        }
    }

    #[test]
    fn pages_are_followed() {
        for path in [
            "/",
            "/shop?id=1",
            "/dropdown-demo",
            "/address",
            "/docs/how-to-delete-a-user-account",
            "/order/",
            "/votes",
            "/products?order=price",
            "/list?start=20",
            "/updates",
            "/play",
            "/resettlement",
            "/about?mode=dark",
            "/docs/removed-features-of-2.0",
            "/search?q=delete",
        ] {
            assert!(
                is_harmless(&Url::parse("http://a.test").unwrap().join(path).unwrap()),
                "{path}"
            );
        }
    }
}
