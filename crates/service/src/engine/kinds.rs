//! The kinds of finding. `assets/engine/findings.toml` has the texts, classification and risk of
//! each.
//!
//! ```text
//!   check ──► FindingKind::finding() ──► NewFinding with all texts ──► the check adds place and evidence
//! ```

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::NewFinding;
use scandeck_wire::contract::{Evidence, Owasp, Risk, Shared};

/// A kind of finding by its `vuln_id`, which never changes: decisions depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingKind(&'static str);

/// Declares the kinds by module, and a list of them for tests.
macro_rules! kinds {
    ($($module:ident { $($name:ident = $id:literal;)+ })+) => {
        $(pub mod $module {
            use super::FindingKind;
            $(pub const $name: FindingKind = FindingKind($id);)+
        })+
        #[cfg(test)]
        const ALL: &[FindingKind] = &[$($($module::$name),+),+];
    };
}

kinds! {
    web {
        CSP_MISSING = "web.header.csp_missing";
        CSP_WEAK = "web.header.csp_weak";
        HSTS_MISSING = "web.header.hsts_missing";
        HSTS_WEAK = "web.header.hsts_weak";
        NOSNIFF_MISSING = "web.header.nosniff_missing";
        REFERRER_MISSING = "web.header.referrer_missing";
        FRAMES_OPEN = "web.header.frames_open";
        COOKIE_SECURE = "web.cookie.secure";
        COOKIE_HTTP_ONLY = "web.cookie.http_only";
        COOKIE_SAME_SITE = "web.cookie.same_site";
        CORS_CREDENTIALS = "web.cors.credentials";
        CORS_REFLECTED = "web.cors.reflected";
        METHOD_TRACE = "web.method.trace";
        METHOD_WRITE = "web.method.write";
        MIXED_CONTENT = "web.mixed_content";
        PLAIN_HTTP = "web.plain_http";
        ERROR_PAGE = "web.error_page";
        SERVER_VERSION = "web.server.version";
        SERVER_OUTDATED = "web.server.outdated";
        ROBOTS_PATHS = "web.robots";
        SECURITY_TXT = "web.security_txt";
        LIBRARY_OUTDATED = "web.javascript.outdated";
        SECRET = "web.secret";
        PUBLIC_TOKEN = "web.secret.public_token";
        PASSWORD_PLAIN = "web.form.password_plain";
        FORM_CSRF = "web.form.csrf";
        INTEGRITY_MISSING = "web.sri";
        CORS_NULL = "web.cors.null";
        CORS_SUFFIX = "web.cors.suffix";
        CROSS_DOMAIN = "web.cross_domain";
        CACHE = "web.cache";
        HTTPS_REDIRECT = "web.https_redirect";
        PATH = "web.path";
        VIRTUAL_HOST = "web.virtual_host";
        DEFAULT_PAGE = "web.default_page";
    }
    exposed {
        GIT = "web.exposed.git";
        SVN = "web.exposed.svn";
        MERCURIAL = "web.exposed.hg";
        ENVIRONMENT = "web.exposed.env";
        CREDENTIALS = "web.exposed.credentials";
        BACKUP = "web.exposed.backup";
        DATABASE = "web.exposed.database";
        PRIVATE_KEY = "web.exposed.private_key";
        CVS = "web.exposed.cvs";
        BAZAAR = "web.exposed.bzr";
        SETTINGS = "web.exposed.settings";
        COPY = "web.exposed.copy";
        PHPINFO = "web.exposed.phpinfo";
        SERVER_STATUS = "web.exposed.server_status";
        ACTUATOR = "web.exposed.actuator";
        HEAP_DUMP = "web.exposed.heap_dump";
        METRICS = "web.exposed.metrics";
        DEBUG = "web.exposed.debug";
        API_DESCRIPTION = "web.exposed.api";
        GRAPHQL = "web.exposed.graphql";
        DS_STORE = "web.exposed.ds_store";
        DEPLOYMENT = "web.exposed.deployment";
        MANIFEST = "web.exposed.manifest";
        LOG = "web.exposed.log";
        EDITOR = "web.exposed.editor";
        WEB_INF = "web.exposed.web_inf";
        ADMIN = "web.exposed.admin";
        SOURCE_MAP = "web.exposed.source_map";
        LISTING = "web.listing";
    }
    cms {
        VERSION = "web.cms.version";
        UNSUPPORTED = "web.cms.version.unsupported";
        USERS = "web.cms.users";
        XMLRPC = "web.cms.xmlrpc";
    }
    console {
        NODE_RED = "web.console.node_red";
        JUPYTER = "web.console.jupyter";
        JENKINS = "web.console.jenkins";
        KIBANA = "web.console.kibana";
        GRAFANA = "web.console.grafana";
        PHPMYADMIN = "web.console.phpmyadmin";
    }
    tls {
        SSL2 = "tls.protocol.ssl2";
        SSL3 = "tls.protocol.ssl3";
        TLS10 = "tls.protocol.tls10";
        TLS11 = "tls.protocol.tls11";
        NO_TLS13 = "tls.protocol.no_tls13";
        EXPIRED = "tls.certificate.expired";
        NOT_YET_VALID = "tls.certificate.not_yet_valid";
        EXPIRES_SOON = "tls.certificate.expires_soon";
        WRONG_NAME = "tls.certificate.wrong_name";
        SELF_SIGNED = "tls.certificate.self_signed";
        UNTRUSTED = "tls.certificate.untrusted";
        WEAK_KEY = "tls.certificate.weak_key";
        WEAK_SIGNATURE = "tls.certificate.weak_signature";
        NO_NAMES = "tls.certificate.no_san";
        CHAIN_ORDER = "tls.certificate.chain_order";
        LONG_LIFE = "tls.certificate.long_life";
        CIPHER_NULL = "tls.cipher.null";
        CIPHER_ANON = "tls.cipher.anon";
        CIPHER_EXPORT = "tls.cipher.export";
        CIPHER_DES = "tls.cipher.des";
        CIPHER_RC4 = "tls.cipher.rc4";
        CIPHER_3DES = "tls.cipher.3des";
        NO_FORWARD_SECRECY = "tls.cipher.no_forward_secrecy";
        DH_WEAK = "tls.dh.weak";
        COMPRESSION = "tls.compression";
        INSECURE_RENEGOTIATION = "tls.renegotiation.insecure";
        CLIENT_RENEGOTIATION = "tls.renegotiation.client";
        CLIENT_CERTIFICATE = "tls.client_certificate";
        OLD_ONLY = "tls.protocol.old_only";
        CBC_ONLY = "tls.cipher.cbc_only";
        CIPHER_MD5 = "tls.cipher.md5";
        CIPHER_RC2 = "tls.cipher.rc2";
        CIPHER_IDEA = "tls.cipher.idea";
        RSA_EXCHANGE = "tls.cipher.rsa_exchange";
        MUST_STAPLE = "tls.certificate.must_staple";
    }
    recon {
        TECHNOLOGY = "recon.technology";
        FIREWALL = "recon.firewall";
    }
    domain {
        SUBDOMAIN = "domain.subdomain";
    }
    host {
        UP = "host.up";
    }
    coverage {
        BLOCKED = "coverage.blocked";
        ERRORS = "coverage.errors";
        LOGIN_WALL = "coverage.login_wall";
        LIMITS = "coverage.limits";
    }
    ports {
        OPEN = "port.open";
    }
    unauthenticated {
        REDIS = "port.unauthenticated.redis";
        MEMCACHED = "port.unauthenticated.memcached";
        DOCKER = "port.unauthenticated.docker";
        ELASTICSEARCH = "port.unauthenticated.elasticsearch";
        MONGODB = "port.unauthenticated.mongodb";
        RSYNC = "port.unauthenticated.rsync";
        FTP = "port.unauthenticated.ftp";
        NODE_INSPECTOR = "port.unauthenticated.node_inspector";
        ETCD = "port.unauthenticated.etcd";
        KUBERNETES = "port.unauthenticated.kubernetes";
        POSTGRES = "port.unauthenticated.postgresql";
        MEMCACHED_UDP = "port.unauthenticated.memcached_udp";
        VNC = "port.unauthenticated.vnc";
        X11 = "port.unauthenticated.x11";
        AJP = "port.unauthenticated.ajp";
        FASTCGI = "port.unauthenticated.fastcgi";
        ZOOKEEPER = "port.unauthenticated.zookeeper";
        NFS = "port.unauthenticated.nfs";
        SMB = "port.unauthenticated.smb";
    }
    smb {
        SMB1 = "port.smb.smb1";
        SIGNING = "port.smb.signing";
    }
    network {
        SCRIPT = "network.script";
    }
}

/// The file with the texts of all kinds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    /// By risk level: the names of risks, each with its reason.
    risks: BTreeMap<String, BTreeMap<String, String>>,
    /// OWASP Top Ten categories of 2017, 2021 and 2025.
    owasp: BTreeMap<String, [Shared; 3]>,
    kinds: BTreeMap<String, KindTexts>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KindTexts {
    name: String,
    risk: String,
    cwe: String,
    owasp: String,
    description: String,
    risk_description: String,
    recommendation: String,
    references: Vec<String>,
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    toml::from_str(include_str!("../../assets/engine/findings.toml")).unwrap_or_default()
});

impl Catalogue {
    fn risk(&self, name: &str) -> Option<Risk> {
        Risk::DOWN.into_iter().find(|risk| {
            self.risks
                .get(risk.as_str())
                .is_some_and(|all| all.contains_key(name))
        })
    }
}

/// Headers of the evidence of the kinds `coverage`. The dashboard reads the third column.
pub const COVERAGE_HEADERS: &[&str] = &["Cause", "Requests", "Incomplete tests"];

/// The ids of all kinds.
pub fn ids() -> impl Iterator<Item = &'static str> {
    CATALOGUE.kinds.keys().map(String::as_str)
}

impl FindingKind {
    pub fn id(self) -> &'static str {
        self.0
    }

    /// A finding of this kind with all texts; the check adds place and evidence.
    pub fn finding(self) -> NewFinding {
        let finding = NewFinding {
            vuln_id: self.0.to_owned(),
            protocol: "tcp".to_owned(),
            ..NewFinding::default()
        };
        let Some(texts) = CATALOGUE.kinds.get(self.0) else {
            return finding;
        };
        let [owasp_2017, owasp_2021, owasp_2025] = CATALOGUE
            .owasp
            .get(&texts.owasp)
            .cloned()
            .unwrap_or_default();
        NewFinding {
            name: texts.name.clone(),
            risk: CATALOGUE.risk(&texts.risk).unwrap_or_default(),
            vuln_description: texts.description.clone(),
            risk_description: texts.risk_description.clone(),
            recommendation: texts.recommendation.clone(),
            references: texts.references.clone(),
            owasp: Owasp {
                owasp_2017,
                owasp_2021,
                owasp_2025,
            },
            cwe: texts.cwe.clone(),
            ..finding
        }
    }
}

/// Evidence as a table; `super::limits` shortens it. Cells contain HTML entities
/// (`hosted-service.md`, Findings): clients decode them, which would damage a bare `&copy=1` in a
/// URL.
pub fn table(headers: &[&str], rows: Vec<Vec<String>>) -> Evidence {
    Evidence::table(
        headers,
        rows.into_iter()
            .map(|row| row.into_iter().map(encoded).collect()),
    )
}

/// The text of a cell with HTML entities.
pub fn encoded(cell: String) -> String {
    cell.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn kinds_are_complete_and_have_unique_ids() {
        let file: Catalogue =
            toml::from_str(include_str!("../../assets/engine/findings.toml")).unwrap();
        let ids: BTreeSet<&str> = ALL.iter().map(|kind| kind.0).collect();
        assert!(ids.len() == ALL.len() && ids.len() > 30);
        assert!(
            file.kinds.keys().map(String::as_str).eq(ids),
            "each kind of the file has a name in the code"
        );
        for (id, kind) in &file.kinds {
            assert!(file.risk(&kind.risk).is_some(), "{id}");
            let is_weakness = !id.starts_with("coverage.");
            assert!(file.owasp.contains_key(&kind.owasp) == is_weakness, "{id}");
            assert!(kind.cwe.starts_with("CWE-") == is_weakness, "{id}");
            assert!(
                kind.references
                    .iter()
                    .all(|url| url.starts_with("https://"))
                    && !kind.references.is_empty()
            );
            for text in [
                &kind.name,
                &kind.description,
                &kind.risk_description,
                &kind.recommendation,
            ] {
                assert!(text.len() > 3 && text.trim() == text, "{id}: {text:?}");
            }
        }
        let levels: BTreeSet<&str> = Risk::DOWN.iter().map(|risk| risk.as_str()).collect();
        assert!(file.risks.keys().map(String::as_str).eq(levels));
    }
}
