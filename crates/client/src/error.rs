//! Errors between the dashboard and a service: kind, message and next step.
//!
//! An [`Error`] is data: it is cloned into the model, compared in tests and shown in one line. It
//! keeps the message of the service, so that a form can show the message at the field that it
//! names.

use std::error::Error as StdError;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::StatusCode;

use scandeck_domain::problem::Problem;
use scandeck_wire::contract::ErrorBody;
use scandeck_wire::input_files::{self, InputKind};

/// Limit of a message, in characters.
const MESSAGE_LIMIT: usize = 600;
/// The message of a request that was not sent because the rate budget is spent.
pub(super) const RATE_LIMIT_REACHED: &str = "rate limit reached";
const SERVICE_STOPPED: &str = "local service stopped";

/// The next step when the server is not this API.
pub const NOT_THIS_API_HINT: &str = "check host, port and path of the base URL";

/// The kind of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No service is configured, and none runs here.
    NotConfigured,
    /// No connection, or a broken one.
    Connect,
    /// No complete response before the timeout.
    Timeout,
    /// The TLS connection is not trusted.
    Tls,
    /// 401: the key is missing or wrong.
    Unauthorized,
    /// 403: plan, permission, or a target that is not in scope.
    Forbidden,
    /// 404 (and 410): unknown, or of another account.
    NotFound,
    /// 409: exists already, or is in use.
    Conflict,
    /// 400, 422 and other rejections of the input.
    Invalid,
    /// 406: not available in this format.
    NotAcceptable,
    /// 429.
    RateLimited {
        /// `Retry-After`, capped at one hour.
        retry_after: Option<Duration>,
    },
    /// 304: the service has nothing newer than the response whose tag was sent.
    NotModified,
    /// 5xx.
    Server,
    /// The server is not this API: a web page, a redirect, an unknown path.
    NotThisApi,
    /// 404 and 405: the service lacks an extension that scandeck has.
    NotOffered,
    /// The response exceeds the limit and was dropped.
    TooLarge,
    /// The response is not JSON of the expected shape.
    Decode,
    /// The user cancelled the request.
    Cancelled,
    /// Not sent: the rate budget is spent.
    BudgetSpent {
        /// When the budget is renewed.
        until: Timestamp,
    },
}

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of the failure.
    pub kind: ErrorKind,
    /// The HTTP status, if the service responded.
    pub status: Option<u16>,
    /// One line: the message of the service, or a description.
    pub message: String,
    /// Further details of the service.
    pub details: Option<String>,
    /// Whether nothing listens at the address.
    pub is_refused: bool,
    /// Whether the request left this machine, so that the service may have carried it out.
    pub is_sent: bool,
    /// Whether the request changes data of the service.
    pub is_change: bool,
    /// The origin of the rejected API key.
    pub key_source: Option<Arc<str>>,
}

/// The message of a request that the user cancelled.
pub(super) const CANCELLED: &str = "request cancelled";

impl Error {
    /// An error of the client itself, without status.
    pub fn new(kind: ErrorKind, message: impl AsRef<str>) -> Self {
        Self {
            kind,
            status: None,
            message: one_line(message.as_ref()),
            details: None,
            is_refused: false,
            is_sent: false,
            is_change: false,
            key_source: None,
        }
    }

    /// The error of a command that needs a service while none is configured.
    pub fn not_configured() -> Self {
        Self::new(
            ErrorKind::NotConfigured,
            "no service is configured, and no local service is running",
        )
    }

    /// A request in flight that the user cancelled. The service may have carried it out.
    pub(super) fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, CANCELLED).sent()
    }

    /// A request to a local service that has stopped.
    pub(super) fn service_stopped() -> Self {
        Self {
            is_refused: true,
            ..Self::new(ErrorKind::Connect, SERVICE_STOPPED)
        }
    }

    pub(super) fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// A rejection with the message of the service.
    pub(super) fn rejected(kind: ErrorKind, status: u16, body: &ErrorBody) -> Self {
        Self {
            status: Some(status),
            message: one_line(&body.message),
            // The details of a rejected key say how to send it. The hint names the key to check.
            details: body
                .details
                .as_ref()
                .filter(|text| kind != ErrorKind::Unauthorized && !text.trim().is_empty())
                .map(|text| one_line(text)),
            kind,
            is_refused: false,
            is_sent: true,
            is_change: false,
            key_source: None,
        }
    }

    /// The same error, with the origin of the key if the key was rejected.
    pub(super) fn with_key_source(mut self, source: Option<Arc<str>>) -> Self {
        self.key_source = source.filter(|_| self.kind == ErrorKind::Unauthorized);
        self
    }

    /// The same error of a request that left this machine.
    pub(super) fn sent(mut self) -> Self {
        self.is_sent = true;
        self
    }

    /// The same error of a request that changes data.
    pub(super) fn of_change(mut self, is_change: bool) -> Self {
        self.is_change = is_change;
        self
    }

    /// Whether only a read can tell if the service carried out the request: no response came, or
    /// one that does not say.
    pub fn is_outcome_unknown(&self) -> bool {
        self.is_sent
            && self.is_change
            && matches!(self.status, None | Some(200..=299 | 408 | 500..))
    }

    /// State and cause in a few words, for a line with other content: `503 Service Unavailable`,
    /// `connection refused`.
    pub fn brief(&self) -> String {
        let rejection = self.status.filter(|status| *status >= 400);
        if let Some(status) = rejection {
            // A message of the service can be long, and the status says which kind of failure it
            // is.
            let reason = StatusCode::from_u16(status)
                .ok()
                .and_then(|status| status.canonical_reason());
            return format!("{status} {}", reason.unwrap_or("rejected"));
        }
        let (lead, cause) = self.message.split_once(": ").unwrap_or((&self.message, ""));
        match self.kind {
            ErrorKind::Connect if self.is_sent => "connection lost".to_owned(),
            ErrorKind::Connect if !cause.is_empty() => cause.to_lowercase(),
            ErrorKind::RateLimited { .. } | ErrorKind::BudgetSpent { .. } => {
                RATE_LIMIT_REACHED.to_owned()
            }
            _ => lead.to_owned(),
        }
    }

    /// Whether the same request may succeed later without any change.
    pub fn is_transient(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::Connect
                | ErrorKind::Timeout
                | ErrorKind::Server
                | ErrorKind::RateLimited { .. }
                | ErrorKind::BudgetSpent { .. }
        )
    }

    /// The next step, in a clause; empty where only the message of the service can name it.
    pub fn hint(&self) -> String {
        let text = match &self.kind {
            ErrorKind::NotConfigured => {
                "set --base-url and SCANDECK_API_KEY, choose a --profile, or run `scandeck serve`"
            }
            ErrorKind::Connect if self.message == SERVICE_STOPPED => {
                "start the service: refresh in the dashboard, or run `scandeck serve`"
            }
            ErrorKind::Connect => "check the base URL, and that the service runs",
            ErrorKind::Timeout => "service or network is slow; try again, or check the base URL",
            ErrorKind::Tls => tls_hint(&self.message),
            ErrorKind::Unauthorized => match &self.key_source {
                Some(source) => return format!("check the API key from {source}"),
                None => "check the API key: SCANDECK_API_KEY, api_key_command or the key file",
            },
            ErrorKind::Forbidden
            | ErrorKind::NotFound
            | ErrorKind::Conflict
            | ErrorKind::Invalid
            | ErrorKind::NotModified
            | ErrorKind::Cancelled => "",
            ErrorKind::NotAcceptable => "choose another format",
            ErrorKind::RateLimited {
                retry_after: Some(wait),
            } => return format!("wait {} s", wait.as_secs().max(1)),
            ErrorKind::RateLimited { retry_after: None } => "wait a minute",
            ErrorKind::Server => "the service failed; try again, and read its log",
            ErrorKind::NotThisApi => NOT_THIS_API_HINT,
            ErrorKind::NotOffered => {
                "use a service of scandeck of this version; `scandeck serve` starts one"
            }
            ErrorKind::TooLarge => "narrow the request to one workspace or one scan",
            ErrorKind::Decode => "check that the base URL serves version 2 of this API",
            ErrorKind::BudgetSpent { until } => {
                return format!("wait until {}", until.strftime("%H:%M:%S UTC"));
            }
        };
        text.to_owned()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(status) = self.status {
            write!(f, "{status} ")?;
        }
        f.write_str(&self.message)?;
        match &self.details {
            Some(details) => write!(f, " ({details})"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {}

impl From<reqwest::Error> for Error {
    fn from(error: reqwest::Error) -> Self {
        // The URL is known; repeated in every cause it only hides the cause.
        let error = error.without_url();
        let chain = causes(&error);
        let at_connect = error.is_connect();
        let is_refused = is_refused(&error);
        let kind = match () {
            () if is_tls_error(&chain) => ErrorKind::Tls,
            () if at_connect => ErrorKind::Connect,
            () if error.is_timeout() => ErrorKind::Timeout,
            () if error.is_decode() && is_corrupt(&chain) => ErrorKind::Decode,
            () => ErrorKind::Connect,
        };
        let lead = match kind {
            ErrorKind::Tls => "the TLS connection failed",
            ErrorKind::Timeout => {
                return Self::new(ErrorKind::Timeout, "no response before the timeout");
            }
            ErrorKind::Decode => "the response cannot be decompressed",
            _ if at_connect && error.is_timeout() => {
                return Self::new(ErrorKind::Connect, "no connection before the timeout");
            }
            _ if at_connect && chain.contains("dns error") => {
                return Self::new(ErrorKind::Connect, "cannot resolve the host name");
            }
            _ if at_connect => "cannot connect",
            // The texts of hyper for a response that is not HTTP, such as the alert of a TLS server
            // or a greeting.
            _ if ["invalid HTTP version", "unexpected message"]
                .iter()
                .any(|text| chain.contains(text)) =>
            {
                return Self::new(
                    ErrorKind::Connect,
                    "the port responds, but not with HTTP; use https:// if it uses TLS",
                );
            }
            _ => "the connection was lost",
        };
        let cause = chain.rsplit(": ").next().unwrap_or(&chain);
        if let (ErrorKind::Tls, Some(problem)) = (&kind, tls_problem(&chain)) {
            return Self::new(kind, problem);
        }
        let cause = cause.split(" (os error").next().unwrap_or(cause);
        // Causes of the system begin with a capital letter.
        let cause = if kind == ErrorKind::Connect {
            cause.to_lowercase()
        } else {
            cause.to_owned()
        };
        let message = format!("{lead}: {cause}");
        Self {
            is_refused,
            ..Self::new(kind, message)
        }
    }
}

/// Whether the machine at the address answered that nothing listens there.
fn is_refused(error: &(dyn StdError + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        let io = error.downcast_ref::<std::io::Error>();
        if io.is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionRefused) {
            return true;
        }
        next = error.source();
    }
    false
}

/// reqwest hides rustls in its sources. Its own types would make rustls a second direct dependency
/// of this wing.
fn is_tls_error(chain: &str) -> bool {
    let chain = chain.to_ascii_lowercase();
    [
        "certificate",
        "tls",
        "handshake",
        "corrupt message",
        "no ca certificates",
    ]
    .iter()
    .any(|word| chain.contains(word))
}

const PEM_BEGIN: &[u8] = b"-----BEGIN CERTIFICATE-----";

/// The variable with the path of a file of CA certificates.
pub(super) const CA_FILE: &str = "SSL_CERT_FILE";

const RENEW: &str = "renew or replace the certificate of the service";

/// For each error: a part of the text of rustls, our message, and the remedy. rustls prints Rust
/// values and Unix seconds.
const TLS_PROBLEMS: [(&str, &str, &str); 7] = [
    (
        "UnknownIssuer",
        "the certificate is from an unknown authority",
        "trust a private CA with SSL_CERT_FILE or in the system's trust store",
    ),
    (
        "InvalidContentType",
        "the port responds, but not with TLS; use http:// if it serves plain HTTP",
        "",
    ),
    (
        "CaUsedAsEndEntity",
        "the certificate of the server is a CA certificate",
        "create a server certificate with basicConstraints=CA:FALSE",
    ),
    ("certificate expired", "the certificate has expired", RENEW),
    (
        "not valid yet",
        "the certificate is not valid yet; check the clock",
        "",
    ),
    (
        "not valid for",
        "the certificate is for another name",
        RENEW,
    ),
    // Such as the signature of another authority with the same name.
    (
        "invalid peer certificate",
        "the certificate of the server cannot be verified",
        "check the certificate and its CA; SSL_CERT_FILE trusts a private CA",
    ),
];

/// Checks the file of the variable. Without this check, an unusable file makes every certificate
/// one of an unknown authority.
///
/// # Errors
/// When the file cannot be read or has no certificate.
pub(super) fn check_ca_file(path: Option<OsString>) -> Result<(), Error> {
    let Some(path) = path.filter(|path| !path.is_empty()).map(PathBuf::from) else {
        return Ok(());
    };
    let shown = path.display();
    let problem = match input_files::read(&path, InputKind::Certificates) {
        Ok(bytes) if bytes.windows(PEM_BEGIN.len()).any(|part| part == PEM_BEGIN) => return Ok(()),
        Ok(_) => format!("{shown} ({CA_FILE}) has no certificate in PEM format"),
        Err(error) => {
            let cause = error.to_string();
            format!(
                "cannot read {shown} ({CA_FILE}): {}",
                cause.split(" (os error").next().unwrap_or_default()
            )
        }
    };
    Err(Error::new(ErrorKind::Tls, problem))
}

fn tls_problem(causes: &str) -> Option<&'static str> {
    TLS_PROBLEMS
        .iter()
        .find(|(part, ..)| causes.contains(part))
        .map(|(_, problem, _)| *problem)
}

fn tls_hint(message: &str) -> &'static str {
    if message.contains(CA_FILE) {
        return "correct the path or unset SSL_CERT_FILE";
    }
    TLS_PROBLEMS
        .iter()
        .find(|(_, problem, _)| *problem == message)
        .map_or("check the TLS settings of the service", |(.., remedy)| {
            *remedy
        })
}

/// reqwest reports every failure of a body as a decoding error, including broken connections.
fn is_corrupt(chain: &str) -> bool {
    let chain = chain.to_ascii_lowercase();
    ["gzip", "deflate", "corrupt"]
        .iter()
        .any(|word| chain.contains(word))
}

fn causes(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// Outside text as one line of limited length without control characters.
fn one_line(text: &str) -> String {
    let words = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MESSAGE_LIMIT) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let hint = Some(error.hint()).filter(|hint| !hint.is_empty());
        let (brief, is_outcome_unknown) = (error.brief().into(), error.is_outcome_unknown());
        let Error {
            status,
            message,
            details,
            is_refused,
            ..
        } = error;
        Self {
            status,
            message,
            details,
            hint,
            brief,
            retry_at: None,
            is_refused,
            is_outcome_unknown,
        }
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        Self::from(error.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_message_becomes_one_short_line() {
        let body = ErrorBody {
            status: 409,
            message: format!("taken\x1b]52;c;x\x07\r\n{}", "a".repeat(5000))
                .as_str()
                .into(),
            details: Some("by\tscan 4".into()),
        };
        let text = Error::rejected(ErrorKind::Conflict, 409, &body).to_string();
        assert!(
            text.starts_with("409 taken ]52;c;x aaa") && text.ends_with("… (by scan 4)"),
            "{text}"
        );
        assert!(!text.contains(char::is_control) && text.chars().count() < 700);
    }

    #[test]
    fn rejected_key_is_named_by_its_source() {
        let rejected = |kind| {
            Error::new(kind, "invalid key")
                .with_key_source(Some("/home/ann/key".into()))
                .hint()
        };
        assert_eq!(
            rejected(ErrorKind::Unauthorized),
            "check the API key from /home/ann/key"
        );
        assert!(!rejected(ErrorKind::Forbidden).contains("/home/ann/key"));
    }

    #[test]
    fn certificate_errors_of_private_services_are_sentences() {
        let expired =
            "invalid peer certificate: certificate expired: verification time 1795474060 (UNIX)";
        for (causes, problem, remedy) in [
            (
                "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))",
                "the certificate of the server is a CA certificate",
                "CA:FALSE",
            ),
            (expired, "the certificate has expired", "renew"),
            (
                "invalid peer certificate: UnknownIssuer",
                "the certificate is from an unknown authority",
                "SSL_CERT_FILE",
            ),
            (
                "invalid peer certificate: UnsupportedSignatureAlgorithmContext { algorithm_id: [6, 9, 42] }",
                "the certificate of the server cannot be verified",
                "SSL_CERT_FILE",
            ),
        ] {
            let found = tls_problem(causes).unwrap();
            assert_eq!(found, problem);
            assert!(Error::new(ErrorKind::Tls, found).hint().contains(remedy));
        }
        assert_eq!(tls_problem("received fatal alert: HandshakeFailure"), None);
    }

    #[test]
    fn unusable_ca_file_is_named_with_its_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        let error = check_ca_file(Some(path.as_os_str().to_owned())).unwrap_err();
        assert!(
            error.message.contains("ca.pem") && error.message.contains("No such file"),
            "{error}"
        );
        assert_eq!(error.hint(), "correct the path or unset SSL_CERT_FILE");
        std::fs::write(&path, "-----BEGIN PRIVATE KEY-----\n").unwrap();
        let error = check_ca_file(Some(path.as_os_str().to_owned())).unwrap_err();
        assert!(error.message.contains("no certificate"), "{error}");
        std::fs::write(&path, "-----BEGIN CERTIFICATE-----\n").unwrap();
        assert_eq!(check_ca_file(Some(path.into_os_string())), Ok(()));
        assert_eq!(check_ca_file(None), Ok(()));
    }

    #[test]
    fn rate_limit_hint_names_the_wait() {
        let limited = Error::new(
            ErrorKind::RateLimited {
                retry_after: Some(Duration::from_secs(7)),
            },
            "slow down",
        );
        assert_eq!(limited.hint(), "wait 7 s");
        assert!(
            limited.is_transient() && !Error::new(ErrorKind::Unauthorized, "no").is_transient()
        );
    }
}
