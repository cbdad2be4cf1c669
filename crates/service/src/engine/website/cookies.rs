//! Cookies and their protective attributes: one finding per cookie of a session and missing
//! attribute, and one finding without risk for all cookies that identify nobody, such as `lang` and
//! `theme`.
//!
//! Some sites number their cookies, and hostile ones invent a new name for each response. More than
//! [`MAX_NAMES`] names of one pattern are therefore one finding, and so are the cookies beyond
//! [`MAX_COOKIES`] findings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use regex::Regex;

use super::site::Site;
use crate::engine::NewFinding;
use crate::engine::http::HttpPage;
use crate::engine::kinds::{FindingKind, web};
use scandeck_wire::contract::Risk;

/// Largest number of cookie names of one pattern that are findings of their own.
const MAX_NAMES: usize = 5;
/// Largest number of findings per missing attribute; one more contains all other cookies.
const MAX_COOKIES: usize = 50;
/// Cookie names of a pattern that are shown.
const SHOWN_NAMES: usize = 8;
/// The name of the finding with the cookies that identify nobody.
const SETTINGS: &str = "cookies without a session";
/// The name of the finding with all other cookies. No pattern is this text, and a cookie of this
/// name belongs to it.
const OTHERS: &str = "other cookies";

/// A cookie without its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cookie {
    name: String,
    secure: bool,
    http_only: bool,
    same_site: String,
    removed: bool,
    /// Whether it identifies a user or a session.
    is_session: bool,
}

/// The cookies of a response that identify a user or a session.
pub fn sessions(page: &HttpPage) -> Vec<Cookie> {
    let now = Timestamp::now();
    let cookies = page.all("set-cookie").filter_map(|line| parse(&line, now));
    cookies
        .filter(|cookie| cookie.is_session && !cookie.removed)
        .collect()
}

impl Cookie {
    /// Whether browsers send it with requests of scripts of other sites; without SameSite, some do.
    pub fn is_sent_by_other_sites(&self) -> bool {
        !matches!(self.same_site.as_str(), "lax" | "strict")
    }
}

/// Words in the names of cookies that identify a user or a session. Short ones are whole words of
/// the name.
const SESSION_WORDS: &[&str] = &[
    "session",
    "sess",
    "auth",
    "token",
    "login",
    "logged",
    "remember",
    "identity",
    "ticket",
    "passport",
    "credential",
    "password",
    "jwt",
];
const SHORT_SESSION_WORDS: &[&str] = &[
    "sid", "ssid", "jwt", "sso", "uid", "user", "userid", "cfid", "id",
];
/// Names of cookies that long values do not make sessions: of statistics, balancers, firewalls and
/// consent.
const NO_SESSIONS: &[&str] = &[
    "_ga",
    "_gid",
    "_gat",
    "_gcl",
    "_fbp",
    "_fbc",
    "_hj",
    "_pk_",
    "_clck",
    "_clsk",
    "_uet",
    "amp_",
    "ajs_",
    "mp_",
    "utm",
    "__utm",
    "optimizely",
    "intercom-id",
    "hubspot",
    "__hs",
    "__cf",
    "cf_",
    "awsalb",
    "awselb",
    "bigip",
    "incap_",
    "visid_",
    "nlbi_",
    "ak_bmsc",
    "bm_",
    "datadome",
    "arraffinity",
    "consent",
    "cookie",
    "gdpr",
    "optanon",
    "visitor",
    "locale",
    "lang",
    "theme",
    "currency",
    "timezone",
    "tz",
    "country",
    "csrf",
    "xsrf",
    "_csrf",
];
/// Letters of the shortest random value that identifies somebody.
const RANDOM_VALUE: usize = 16;

/// Whether a cookie identifies a user or a session, by its name, or by a long random value.
fn is_session(name: &str, value: &str) -> bool {
    let lower = name
        .trim_start_matches("__Host-")
        .trim_start_matches("__Secure-")
        .to_ascii_lowercase();
    let is_other = NO_SESSIONS.iter().any(|start| lower.starts_with(start));
    if is_other || lower.contains("csrf") || lower.contains("xsrf") {
        return false;
    }
    let is_word = |word: &str| SHORT_SESSION_WORDS.contains(&word);
    let has_word = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(is_word)
        || SESSION_WORDS.iter().any(|word| lower.contains(word));
    has_word || is_random(value.trim_matches('"'))
}

/// Whether a value looks like a random number, and not like words, a date or a number.
fn is_random(value: &str) -> bool {
    let is_token =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/' | '=');
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let letters: BTreeSet<char> = value.chars().filter(char::is_ascii_alphabetic).collect();
    value.len() >= RANDOM_VALUE && value.chars().all(is_token) && digits >= 3 && letters.len() >= 4
}

/// Cookies of an HTTPS site that browsers would also send over HTTP.
pub fn secure(site: &Site) -> Vec<NewFinding> {
    if !site.is_https() {
        return Vec::new();
    }
    without(site, web::COOKIE_SECURE, "Secure", |cookie| cookie.secure)
}

/// Cookies that scripts can read, except CSRF tokens, which scripts must read.
pub fn http_only(site: &Site) -> Vec<NewFinding> {
    without(site, web::COOKIE_HTTP_ONLY, "HttpOnly", |cookie| {
        let name = cookie.name.to_ascii_lowercase();
        cookie.http_only || name.contains("csrf") || name.contains("xsrf")
    })
}

/// Cookies that browsers send with cross-site requests.
pub fn same_site(site: &Site) -> Vec<NewFinding> {
    without(site, web::COOKIE_SAME_SITE, "SameSite", |cookie| {
        matches!(cookie.same_site.as_str(), "lax" | "strict")
    })
}

fn without(
    site: &Site,
    kind: FindingKind,
    attribute: &str,
    has: impl Fn(&Cookie) -> bool,
) -> Vec<NewFinding> {
    let (mut sessions, mut settings) = (
        BTreeMap::<String, Vec<Vec<String>>>::new(),
        BTreeMap::<_, Vec<_>>::new(),
    );
    let now = Timestamp::now();
    for page in site.pages() {
        let cookies = page.all("set-cookie").filter_map(|line| parse(&line, now));
        for cookie in cookies.filter(|cookie| !cookie.removed && !has(cookie)) {
            let row = vec![
                page.url.to_string(),
                cookie.name.clone(),
                format!("no {attribute}"),
                shown(&cookie),
            ];
            let rows = if cookie.is_session {
                &mut sessions
            } else {
                &mut settings
            };
            rows.entry(cookie.name).or_default().push(row);
        }
    }
    let settings = (!settings.is_empty()).then(|| pattern_group(SETTINGS.to_owned(), settings));
    grouped(sessions)
        .into_iter()
        .chain(settings)
        .map(|group| group.finding(site, kind))
        .collect()
}

/// The cookies of one finding.
#[derive(Debug, PartialEq, Eq)]
struct CookieGroup {
    /// The name of the cookie, a pattern with `*`, or [`OTHERS`].
    name: String,
    is_pattern: bool,
    rows: Vec<Vec<String>>,
}

impl CookieGroup {
    fn finding(self, site: &Site, kind: FindingKind) -> NewFinding {
        let headers: &[&str] = match self.is_pattern {
            true => &["URL", "Cookie", "Missing", "Attributes", "Names"],
            false => &["URL", "Cookie", "Missing", "Attributes"],
        };
        let name = self.name;
        let mut finding = site.finding(kind, headers, self.rows);
        if name == SETTINGS {
            finding.risk = Risk::Info;
            finding.risk_description =
                "Neither the names nor the values of these cookies identify a user or a session. Check whether one \
                 of them does."
                    .to_owned();
        }
        NewFinding {
            place: format!("cookie {name}"),
            name: format!("{}: {name}", finding.name),
            ..finding
        }
    }
}

/// Groups cookies, with the rows of their evidence, by the pattern of their name if they are many.
fn grouped(cookies: BTreeMap<String, Vec<Vec<String>>>) -> Vec<CookieGroup> {
    let mut patterns: BTreeMap<String, BTreeMap<String, Vec<Vec<String>>>> = BTreeMap::new();
    for (name, rows) in cookies {
        patterns
            .entry(pattern(&name))
            .or_default()
            .insert(name, rows);
    }
    let (mut groups, mut others) = (Vec::new(), BTreeMap::new());
    for (pattern, cookies) in patterns {
        if cookies.len() > MAX_NAMES && groups.len() < MAX_COOKIES {
            groups.push(pattern_group(pattern, cookies));
            continue;
        }
        for (name, rows) in cookies {
            if groups.len() < MAX_COOKIES && ![OTHERS, SETTINGS].contains(&name.as_str()) {
                groups.push(CookieGroup {
                    name,
                    is_pattern: false,
                    rows,
                });
            } else {
                others.insert(name, rows);
            }
        }
    }
    if !others.is_empty() {
        groups.push(pattern_group(OTHERS.to_owned(), others));
    }
    groups
}

/// One row per page and set of attributes, with the names of the cookies.
fn pattern_group(name: String, cookies: BTreeMap<String, Vec<Vec<String>>>) -> CookieGroup {
    let mut names: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for (cookie, rows) in cookies {
        for mut row in rows {
            row[1].clone_from(&name);
            names.entry(row).or_default().push(cookie.clone());
        }
    }
    let rows = names.into_iter().map(|(mut row, names)| {
        let shown = names[..names.len().min(SHOWN_NAMES)].join(", ");
        let more = if names.len() > SHOWN_NAMES {
            ", …"
        } else {
            ""
        };
        row.push(format!("{}: {shown}{more}", names.len()));
        row
    });
    CookieGroup {
        rows: rows.collect(),
        name,
        is_pattern: true,
    }
}

/// The name with `*` for each number, and for each long hexadecimal number.
fn pattern(name: &str) -> String {
    static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"[0-9a-f]*[0-9][0-9a-f]{7,}|[0-9a-f]{7,}[0-9][0-9a-f]*|[0-9]+").ok()
    });
    NUMBER.as_ref().map_or_else(
        || name.to_owned(),
        |number| number.replace_all(name, "*").into_owned(),
    )
}

/// A line of `Set-Cookie` (RFC 6265 §5.2): of a repeated attribute, the last one counts.
fn parse(line: &str, now: Timestamp) -> Option<Cookie> {
    let mut parts = line.split(';').map(str::trim);
    let (name, value) = parts.next()?.split_once('=')?;
    let (name, is_session): (String, bool) = (
        name.trim().chars().take(80).collect(),
        is_session(name.trim(), value.trim()),
    );
    let mut cookie = Cookie {
        name,
        is_session,
        ..Cookie::default()
    };
    let (mut max_age, mut expires) = (None, None);
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key.trim().to_ascii_lowercase().as_str() {
            "secure" => cookie.secure = true,
            "httponly" => cookie.http_only = true,
            "samesite" => cookie.same_site = value.trim().to_ascii_lowercase(),
            "max-age" => max_age = lives(value.trim()).or(max_age),
            "expires" => expires = date(value).map(|date| date > now).or(expires),
            _ => {}
        }
    }
    // `Max-Age` wins over `Expires` (§5.3).
    cookie.removed = max_age.or(expires) == Some(false);
    (!cookie.name.is_empty()).then_some(cookie)
}

/// Whether a cookie with this `Max-Age` is kept; none if the value is no number (RFC 6265 §5.2.2).
fn lives(max_age: &str) -> Option<bool> {
    let digits = max_age.strip_prefix('-').unwrap_or(max_age);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.len() == max_age.len() && digits.bytes().any(|byte| byte != b'0'))
}

/// A date of `Expires`, by the tolerant rules of RFC 6265 §5.1.1: the parts may come in any order.
fn date(text: &str) -> Option<Timestamp> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_delimiter = |c: char| matches!(c, '\t' | ' '..='/' | ';'..='@' | '['..='`' | '{'..='~');
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        let number = token.bytes().take_while(u8::is_ascii_digit).count();
        match (token.contains(':'), number) {
            (true, _) if time.is_none() => time = time_of_day(token),
            (false, 1..=2) if day.is_none() => day = token[..number].parse::<i8>().ok(),
            (false, 0) if month.is_none() => month = month_of(token),
            (false, 2 | 4) if year.is_none() => year = token[..number].parse::<i16>().ok(),
            _ => {}
        }
    }
    let year = match year? {
        year @ 70..=99 => year + 1900,
        year @ 0..=69 => year + 2000,
        year => year,
    };
    let is_dated = year >= 1601;
    let date = is_dated
        .then(|| Date::new(year, month?, day?).ok())
        .flatten()?;
    date.to_datetime(time?)
        .to_zoned(jiff::tz::TimeZone::UTC)
        .ok()
        .map(|zoned| zoned.timestamp())
}

fn time_of_day(token: &str) -> Option<Time> {
    let mut numbers = token.split(':').map(|part| {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        part[..digits].parse::<i8>().ok()
    });
    Time::new(numbers.next()??, numbers.next()??, numbers.next()??, 0).ok()
}

fn month_of(token: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let name = token.get(..3)?.to_ascii_lowercase();
    (1..)
        .zip(MONTHS)
        .find_map(|(number, month)| (month == name).then_some(number))
}

fn shown(cookie: &Cookie) -> String {
    let same_site = format!("SameSite={}", cookie.same_site);
    let all = [
        (cookie.secure, "Secure"),
        (cookie.http_only, "HttpOnly"),
        (!cookie.same_site.is_empty(), &same_site),
    ];
    let set: Vec<&str> = all
        .into_iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, name)| name)
        .collect();
    if set.is_empty() {
        "none".to_owned()
    } else {
        set.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Cookie> {
        parse(line, "2026-11-28T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn parse_reads_attributes_in_any_case_and_drops_the_value() {
        let cookie = read("sid=s3cret; Path=/; SECURE; httponly; samesite=Lax").unwrap();
        assert!(cookie.secure && cookie.http_only && cookie.same_site == "lax" && !cookie.removed);
        assert!(!format!("{cookie:?}{}", shown(&cookie)).contains("s3cret"));
        assert_eq!(read("no cookie at all"), None);
    }

    #[test]
    fn cookie_is_removed_by_its_age_or_date() {
        for (attributes, removed) in [
            ("Max-Age=0", true),
            ("max-age=-3", true),
            ("Max-Age=00", true),
            ("Max-Age=60", false),
            ("Max-Age=99999999999999999999999999", false),
            ("Max-Age=soon", false),
            ("Max-Age=0; Max-Age=60", false),
            ("expires=Thu, 01 Jan 1970 00:00:00 GMT", true),
            ("expires=Mon, 11-Oct-1999 22:00:00 GMT", true),
            ("expires=Monday, 11-Oct-99 22:00:00 GMT", true),
            ("expires=Mon Oct 11 22:00:00 1999", true),
            ("expires=11 Oct 1999 22:00:00 +0200", true),
            ("expires=Fri, 27 Nov 2026 23:59:59 GMT", true),
            ("expires=Sat, 28 Nov 2026 00:00:01 GMT", false),
            ("expires=Tue, 19 Jan 2038 03:14:07 GMT", false),
            ("expires=Fri, 31 Dec 69 23:59:59 GMT", false),
            ("expires=never", false),
            ("expires=Thu, 01 Jan 1600 00:00:00 GMT", false),
            ("expires=Thu, 31 Feb 1999 00:00:00 GMT", false),
            ("expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60", false),
            ("Max-Age=0; expires=Tue, 19 Jan 2038 03:14:07 GMT", true),
        ] {
            assert_eq!(
                read(&format!("sid=; {attributes}")).unwrap().removed,
                removed,
                "{attributes}"
            );
        }
    }

    #[test]
    fn session_is_recognized_by_name_or_by_random_value() {
        for line in [
            "sid=1",
            "PHPSESSID=abc",
            "JSESSIONID=1",
            "connect.sid=s%3Aabc",
            "ASP.NET_SessionId=x",
            "__Host-auth=1",
            "wordpress_logged_in_1f=ana",
            "remember_me=1",
            "access_token=x",
            "shop=9f86d081884c7d659a2feaa0c55ad015",
            "k=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0",
        ] {
            assert!(read(line).unwrap().is_session, "{line}");
        }
        for line in [
            "lang=en",
            "theme=dark",
            "currency=EUR",
            "tz=Europe%2FBerlin",
            "seen=2026-11-28T10:00:00Z",
            "cookie_consent=9f86d081884c7d659a2feaa0c55ad015",
            "_ga=GA1.2.1234567890.1234567890",
            "__cf_bm=9f86d081884c7d659a2feaa0c55ad015",
            "XSRF-TOKEN=9f86d081884c7d659a2feaa0c55ad015",
            "wordpress_test_cookie=WP%20Cookie%20check",
            "cart=empty",
            "considered=1",
            "layout=two-columns-with-sidebar",
        ] {
            assert!(!read(line).unwrap().is_session, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_read(line in "\\PC*", attribute in "[ -~]*") {
            read(&line);
            read(&format!("a=b; expires={attribute}; max-age={attribute}"));
        }
    }

    fn cookies(names: impl Iterator<Item = String>) -> BTreeMap<String, Vec<Vec<String>>> {
        let row = |name: &String| {
            vec![
                "http://a.test/".into(),
                name.clone(),
                "no Secure".into(),
                "none".into(),
            ]
        };
        names.map(|name| (name.clone(), vec![row(&name)])).collect()
    }

    #[test]
    fn pattern_replaces_numbers_and_keeps_words() {
        for (name, expected) in [
            ("sid", "sid"),
            ("cart_12", "cart_*"),
            ("ab1c2d3e4f5a_session", "*_session"),
            ("deadbeef", "deadbeef"),
            ("wp-settings-time-1", "wp-settings-time-*"),
        ] {
            assert_eq!(pattern(name), expected);
        }
    }

    #[test]
    fn many_names_of_one_pattern_are_one_finding() {
        let few = grouped(cookies(
            (0..MAX_NAMES)
                .map(|n| format!("cart{n}"))
                .chain(["sid".into()]),
        ));
        assert!(few.len() == MAX_NAMES + 1 && few.iter().all(|group| !group.is_pattern));
        let many = grouped(cookies(
            (0..18_007)
                .map(|n| format!("cart{n}"))
                .chain(["sid".into()]),
        ));
        let names: Vec<&str> = many.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["cart*", "sid"]);
        assert!(
            many[0].rows.len() == 1 && many[0].rows[0][4].starts_with("18007: cart0, cart1, "),
            "{:?}",
            many[0]
        );
    }

    #[test]
    fn cookies_beyond_the_limit_are_one_finding() {
        let letters = |n: u32| {
            [n / 26, n % 26]
                .map(|n| char::from_u32(97 + n).unwrap())
                .iter()
                .collect::<String>()
        };
        let groups = grouped(cookies((0..300).map(letters)));
        assert_eq!((groups.len(), groups[50].name.as_str()), (51, OTHERS));
        assert!(
            groups[50].rows[0][4].starts_with("250: "),
            "{:?}",
            groups[50]
        );
        // Numeric names are the pattern `*`, and a cookie can have the name of the last finding.
        let hostile = (0..300)
            .map(letters)
            .chain((0..10).map(|n| n.to_string()))
            .chain([OTHERS.to_owned()]);
        let groups = grouped(cookies(hostile));
        let names: BTreeSet<&str> = groups.iter().map(|group| group.name.as_str()).collect();
        assert!(
            names.len() == 51
                && groups.len() == 51
                && names.contains("*")
                && names.contains(OTHERS),
            "{names:?}"
        );
    }
}
