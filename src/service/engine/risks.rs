//! The one table in which risk is decided, a reason a row (`service.md`, Engine).
//!
//! A kind of finding ([`kinds`](super::kinds)) names its row and never a level of its own, so that two checks
//! that prove the same thing cannot disagree about how bad it is.

use crate::contract::Risk;

macro_rules! table {
    ($($name:ident = $risk:ident, $reason:literal;)+) => {
        $(#[doc = $reason] pub const $name: Risk = Risk::$risk;)+
    };
}

table! {
    READABLE_SECRET = Critical, "Whoever reads it acts as its owner at once: a private key, a password, a token.";
    READABLE_SOURCE = High, "Source control, environment and database files hold code, configuration and data of others.";
    UNTRUSTED_CERTIFICATE = Medium, "Visitors cannot tell the server from someone in between.";
    OLD_PROTOCOL = Medium, "TLS up to 1.1 has known breaks; a person on the path needs effort to use them.";
    WEAK_KEY = Medium, "A key or signature that can be broken with money and time.";
    LISTING_WITH_FILES = Medium, "Files nobody meant to publish become findable.";
    OPEN_CORS = Medium, "Any web site can read answers with the visitor's own rights.";
    COOKIE_FLAG = Low, "Needs a second weakness, on the path or in a page, before the cookie is lost.";
    WEAK_HEADER = Low, "A protection is there and does little.";
    PLAIN_HTTP = Low, "Someone on the path reads and changes everything, but must be on the path.";
    MIXED_CONTENT = Low, "One resource can be changed on the path, the page itself cannot.";
    RISKY_METHOD = Low, "The server says it would take the method; that it does was not tried.";
    VERBOSE_ERROR = Low, "Internals help an attacker to choose; they open nothing by themselves.";
    UNPROVED_VERSION = Low, "The version is known to have holes; packagers often mend them under the same number.";
    EXPIRES_SOON = Low, "Nothing is wrong yet, and there are days to mend it.";
    MISSING_HARDENING = Info, "A second line of defence is absent; the first may stand.";
    OPEN_PORT = Info, "A fact about the host, judged by whoever knows what should run there.";
    DISCLOSURE = Info, "A fact that saves an attacker a guess.";
    GOOD_TO_HAVE = Info, "Its absence harms nobody.";
}
