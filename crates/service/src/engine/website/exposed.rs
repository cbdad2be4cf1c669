//! Exposed files: requested by name, recognised by content.
//!
//! ```text
//!   folder × name ──► 200? ──► recognised by content? ──► does a random name beside it look the same? ──no──► evidence
//!                                                             └──yes──► the server returns this file for any name: nothing
//! ```
//!
//! The root and the folder of the start page are searched for all names. The other folders of the
//! site are searched for those that an editor, a backup or a careless upload leaves anywhere, and
//! by a deep scan for nearly all where an application may begin. Of folders that look alike, few
//! are searched (`folders`).

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::{StreamExt, stream};

use super::deployment;
use super::folders::SearchedFolder;
use super::recognize::{self, Recognizer};
use super::recognize_consoles as consoles;
use super::recognize_services as services;
use super::secrets::SecretMatch;
use super::site::{CrawledSite, Site};
use crate::engine::http::HttpPage;
use crate::engine::kinds::{FindingKind, cms, console, exposed, web};
use crate::engine::{NewFinding, blocking};
use scandeck_wire::contract::Risk;

/// The files of a kind of finding, with the function that recognises them. Paths are relative to a
/// base directory; `{host}` is replaced by the host name, `{folder}` by the name of the folder.
pub struct ExposedFiles {
    kind: FindingKind,
    places: SearchedFolders,
    files: &'static [(Recognizer, &'static [&'static str])],
}

impl ExposedFiles {
    /// The names that are requested.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.files
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
    }
}

/// Where files are searched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SearchedFolders {
    /// The root, and the folder of the start page.
    Base,
    /// In a deep scan every folder in which an application may begin, else `Base`.
    Deep,
    /// Every folder of the site.
    All,
}

use SearchedFolders::{All, Base, Deep};

macro_rules! files {
    ($($name:ident, $kind:expr, $places:expr, [$(($recognizer:expr, $paths:expr)),+ $(,)?];)+) => {
        $(pub const $name: ExposedFiles =
            ExposedFiles { kind: $kind, places: $places, files: &[$(($recognizer, &$paths)),+] };)+
    };
}

files! {
    GIT, exposed::GIT, All, [
        (recognize::git_head, [".git/HEAD"]),
        (recognize::git_config, [".git/config"]),
        (recognize::git_index, [".git/index"]),
    ];
    SVN, exposed::SVN, All, [(recognize::svn, [".svn/entries", ".svn/wc.db"])];
    MERCURIAL, exposed::MERCURIAL, All, [(recognize::mercurial, [".hg/requires"])];
    CVS, exposed::CVS, All, [(services::cvs, ["CVS/Entries"])];
    BAZAAR, exposed::BAZAAR, All, [(services::bazaar, [".bzr/branch-format", ".bzr/README"])];
    ENVIRONMENT, exposed::ENVIRONMENT, All, [(recognize::environment, [
        ".env", ".env.local", ".env.production", ".env.bak", ".env.old", ".env.dev", ".env.development", ".env.staging",
        ".env.prod", ".env.test", ".env~", ".env.save", ".env.backup",
    ])];
    CREDENTIALS, exposed::CREDENTIALS, Deep, [(recognize::credentials, [
        ".htpasswd", ".aws/credentials", ".npmrc", ".git-credentials", "htpasswd", ".netrc", "admin/.htpasswd",
    ])];
    SETTINGS, exposed::SETTINGS, Deep, [(services::settings_with_secret, [
        "config.json", "config.yml", "config.yaml", "config.ini", "settings.ini", "settings.py", "local_settings.py",
        "config/database.yml", "config/secrets.yml", "secrets.yml", "secrets.json", "credentials.json", "appsettings.json",
        "application.yml", "application.properties", "parameters.yml", "app/config/parameters.yml", "auth.json",
        "sftp-config.json", ".vscode/sftp.json", ".ftpconfig", ".pypirc", ".s3cfg", ".my.cnf", "config.inc", "db.inc",
        "config.xml", "wp-config.txt", "config.txt",
    ])];
    BACKUP, exposed::BACKUP, All, [(recognize::backup, [
        "backup.zip", "backup.tar.gz", "backup.tar", "site.zip", "www.zip", "{host}.zip", "{host}.tar.gz",
        "index.php.bak", "config.php.bak", "config.php~", "wp-config.php.bak", "web.config.bak", "{folder}.zip",
        "{folder}.tar.gz", "{host}.tgz", "backup.tgz", "backup.7z", "backup.sql.gz", "dump.sql.gz", "db.sql.gz",
        "html.zip", "htdocs.zip", "public.zip", "public_html.zip", "app.zip", "src.zip", "old.zip", "archive.zip",
        "index.php~", "index.php.old", "config.php.old", "config.php.save", "config.bak", "wp-config.php~",
        "wp-config.php.old", "wp-config.php.save", "settings.php.bak", "configuration.php.bak",
    ])];
    DATABASE, exposed::DATABASE, All, [(recognize::database, [
        "dump.sql", "backup.sql", "database.sql", "db.sql", "{host}.sql", "db.sqlite", "database.sqlite3",
        "db.sqlite3", "database.sqlite", "data.sqlite", "app.db", "data.db", "database.db", "users.sql", "mysql.sql",
        "{folder}.sql", "export.sql", "schema.sql", "site.sql",
    ])];
    PRIVATE_KEY, exposed::PRIVATE_KEY, Deep, [(recognize::private_key, [
        "server.key", "private.key", "privkey.pem", "key.pem", "{host}.key", "id_rsa", ".ssh/id_rsa", "ssl/server.key",
        "id_ed25519", "id_ecdsa", ".ssh/id_ed25519", ".ssh/id_ecdsa", "private.pem", "server.pem", "ssl.key", "tls.key",
        "host.key", "certs/server.key", "cert/server.key", "keys/private.pem", "deploy_key", "{host}.pem",
    ])];
    PHPINFO, exposed::PHPINFO, Deep, [(services::phpinfo, [
        "phpinfo.php", "info.php", "test.php", "php_info.php", "i.php", "pi.php", "phpinfo", "php.php",
    ])];
    SERVER_STATUS, exposed::SERVER_STATUS, Deep, [(services::server_status, [
        "server-status", "server-info", "nginx_status", "nginx-status", "stub_status", "basic_status", "status",
        "server-status?auto", "fpm-status", "php-fpm-status", "haproxy?stats", "haproxy_stats",
    ])];
    ACTUATOR, exposed::ACTUATOR, Deep, [(services::actuator, [
        "actuator", "actuator/env", "manage", "manage/env", "management/env", "env", "api/actuator",
    ])];
    METRICS, exposed::METRICS, Deep, [(services::metrics, ["metrics", "actuator/prometheus", "prometheus", "api/metrics"])];
    HEAP_DUMP, exposed::HEAP_DUMP, Base, [(consoles::heap_dump, [
        "actuator/heapdump", "heapdump", "manage/heapdump", "management/heapdump", "api/actuator/heapdump",
    ])];
    NODE_RED, console::NODE_RED, Base, [(consoles::node_red, [
        "settings", "node-red/settings", "nodered/settings", "red/settings", "admin/settings",
    ])];
    JUPYTER, console::JUPYTER, Base, [(consoles::jupyter, ["api/kernelspecs", "jupyter/api/kernelspecs"])];
    JENKINS, console::JENKINS, Base, [(consoles::jenkins, ["script", "jenkins/script"])];
    KIBANA, console::KIBANA, Base, [(consoles::kibana, [
        "api/saved_objects/_find?type=index-pattern&per_page=1", "kibana/api/saved_objects/_find?type=index-pattern&per_page=1",
    ])];
    GRAFANA, console::GRAFANA, Base, [(consoles::grafana, [
        "api/org", "grafana/api/org", "api/search?limit=1", "grafana/api/search?limit=1",
    ])];
    PHPMYADMIN, console::PHPMYADMIN, Base, [(consoles::phpmyadmin, [
        "", "phpmyadmin/", "phpMyAdmin/", "pma/", "mysql/", "db/",
    ])];
    WORDPRESS_USERS, cms::USERS, Base, [(consoles::wordpress_users, [
        "wp-json/wp/v2/users", "index.php/wp-json/wp/v2/users",
    ])];
    DEBUG, exposed::DEBUG, Deep, [(services::debug, [
        "debug/pprof/", "debug/vars", "trace.axd", "elmah.axd", "_profiler/", "app_dev.php/_profiler/", "console",
        "rails/info/properties", "telescope",
    ])];
    API_DESCRIPTION, exposed::API_DESCRIPTION, Deep, [(services::api_description, [
        "openapi.json", "swagger.json", "openapi.yaml", "openapi.yml", "swagger.yaml", "api-docs", "v2/api-docs",
        "v3/api-docs", "api/openapi.json", "api/swagger.json", "api/v1/openapi.json", "api/docs", "docs/openapi.json",
        "swagger/v1/swagger.json", "swagger-ui.html", "swagger-ui/", "swagger/", "api/swagger-ui/",
    ])];
    GRAPHQL, exposed::GRAPHQL, Deep, [(services::graphql, [
        "graphql?query=%7B__schema%7BqueryType%7Bname%7D%7D%7D", "api/graphql?query=%7B__schema%7BqueryType%7Bname%7D%7D%7D",
        "query?query=%7B__schema%7BqueryType%7Bname%7D%7D%7D", "v1/graphql?query=%7B__schema%7BqueryType%7Bname%7D%7D%7D",
    ])];
    DS_STORE, exposed::DS_STORE, All, [(services::ds_store, [".DS_Store"])];
    DEPLOYMENT, exposed::DEPLOYMENT, Deep, [(deployment::recognize, [
        "docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml", "docker-compose.prod.yml", "Dockerfile",
        ".gitlab-ci.yml", ".travis.yml", ".circleci/config.yml", "Jenkinsfile", "azure-pipelines.yml", ".drone.yml",
        "bitbucket-pipelines.yml", ".github/workflows/ci.yml", ".github/workflows/main.yml", ".github/workflows/deploy.yml",
        "Vagrantfile", "playbook.yml", "cloudbuild.yaml", "Containerfile", "docker-compose.override.yml",
        ".github/workflows/build.yml",
    ])];
    MANIFEST, exposed::MANIFEST, Deep, [(services::manifest, [
        "package.json", "package-lock.json", "yarn.lock", "composer.json", "composer.lock", "requirements.txt",
        "Gemfile.lock", "Pipfile.lock", "poetry.lock", "Cargo.lock",
    ])];
    LOG, exposed::LOG, Deep, [(services::log, [
        "error.log", "access.log", "debug.log", "error_log", "access_log", "app.log", "server.log", "logs/error.log",
        "logs/access.log", "logs/app.log", "log/production.log", "log/development.log", "storage/logs/laravel.log",
        "npm-debug.log", "wp-content/debug.log", "var/log/prod.log",
    ])];
    EDITOR, exposed::EDITOR, Deep, [(services::editor, [
        ".idea/workspace.xml", ".idea/modules.xml", ".vscode/settings.json", ".vscode/launch.json", ".project",
    ])];
    WEB_INF, exposed::WEB_INF, Base, [(services::web_inf, ["WEB-INF/web.xml"])];
    CROSS_DOMAIN, web::CROSS_DOMAIN, Base, [(services::cross_domain, ["crossdomain.xml", "clientaccesspolicy.xml"])];
    ADMIN, exposed::ADMIN, Deep, [(services::admin, [
        "admin", "admin/", "admin/login", "administrator/", "phpmyadmin/", "pma/", "adminer.php", "adminer", "wp-login.php",
        "wp-admin/", "manager/", "backend/", "cms/", "dashboard/", "jenkins/login", "grafana/login", "login/admin",
    ])];
}

/// Suffixes and prefixes of copies that editors and people leave beside a file.
const COPIES: &[&str] = &[
    "{}~", "{}.old", "{}.bak", ".{}.swp", "{}.orig", "{}.save", "{}.copy", "{}.1", "{}.txt",
    "{}.swp",
];
/// Files of which copies are searched.
const MAX_COPIED: usize = 12;
pub const HEADERS: &[&str] = &["Request", "Status", "What it holds"];
/// Concurrent requests of one check; the limits of the host apply to all checks together.
const CONCURRENCY: usize = 4;

/// Requests the files in the directories; those that exist are the evidence.
pub async fn check(site: &Site<'_>, exposed: &ExposedFiles) -> Vec<NewFinding> {
    let kind = exposed.kind;
    let file = |(path, recognizer): (String, Recognizer)| async move {
        file(site, &path, (recognizer, kind)).await
    };
    let found: Vec<Option<ExposedFile>> = stream::iter(paths(site, exposed))
        .map(file)
        .buffered(CONCURRENCY)
        .collect()
        .await;
    findings(site, kind, found.into_iter().flatten().collect())
}

/// A file that the site serves.
struct ExposedFile {
    /// The first one is about the file, the others are about the passwords in it.
    rows: Vec<Vec<String>>,
    /// The risk of its content, if that differs from the risk of its kind.
    risk: Option<Risk>,
    page: Arc<HttpPage>,
}

/// The finding about these files, with the risk of the worst.
fn findings(site: &Site, kind: FindingKind, files: Vec<ExposedFile>) -> Vec<NewFinding> {
    let worst = |usual: Risk| files.iter().map(|file| file.risk.unwrap_or(usual)).max();
    let risk = worst(kind.finding().risk);
    let proof = files.first().map(|file| Arc::clone(&file.page));
    let rows = files.into_iter().flat_map(|file| file.rows).collect();
    let findings = site.finding_of_page(kind, HEADERS, rows, proof.as_deref());
    findings
        .into_iter()
        .map(|finding| NewFinding {
            risk: risk.unwrap_or(finding.risk),
            ..finding
        })
        .collect()
}

/// The risk of the content of a file: a password at once gives rights that its hash gives only
/// after it was guessed, and a console without PIN runs code.
fn content_risk(kind: FindingKind, page: &HttpPage) -> Option<Risk> {
    match kind {
        exposed::ENVIRONMENT => recognize::has_secret_setting(page).then_some(Risk::Critical),
        exposed::CREDENTIALS => recognize::has_slow_hashes_only(page).then_some(Risk::High),
        exposed::ACTUATOR => services::shows_values(page).then_some(Risk::High),
        exposed::DEBUG => consoles::runs_python(page).then_some(Risk::Critical),
        console::NODE_RED => consoles::is_read_only(page).then_some(Risk::High),
        _ => None,
    }
}

/// The masked passwords in a file of a kind that need not have any.
fn passwords(kind: FindingKind, page: &HttpPage) -> Vec<SecretMatch> {
    if kind == exposed::DEPLOYMENT {
        deployment::passwords(page)
    } else {
        Vec::new()
    }
}

/// The paths to request, each once.
pub fn paths(site: &CrawledSite, exposed: &ExposedFiles) -> Vec<(String, Recognizer)> {
    let host = site
        .start
        .url
        .host_str()
        .unwrap_or_default()
        .trim_start_matches("www.");
    let mut folders = site.base_folders();
    let is_searched = |folder: &SearchedFolder| match exposed.places {
        Base => false,
        Deep => site.is_deep && folder.may_begin_application,
        All => true,
    };
    let others = site.searched_folders().into_iter().filter(is_searched);
    folders.extend(others.map(|folder| folder.path));
    let (mut paths, mut seen) = (Vec::new(), BTreeSet::new());
    for folder in folders {
        let label = folder
            .trim_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or_default();
        for (recognizer, names) in exposed.files {
            for name in names
                .iter()
                .filter(|name| !label.is_empty() || !name.contains("{folder}"))
            {
                let path = format!(
                    "{folder}{}",
                    name.replace("{host}", host).replace("{folder}", label)
                );
                if seen.insert(path.clone()) {
                    paths.push((path, *recognizer));
                }
            }
        }
    }
    if exposed.kind == exposed::DEPLOYMENT {
        // A listing or a link led to them.
        let known = site
            .pages()
            .map(|page| page.url.path())
            .filter(|path| deployment::is_named(path));
        let new = known.filter(|path| seen.insert((*path).to_owned()));
        paths.extend(new.map(|path| (path.to_owned(), deployment::recognize as Recognizer)));
    }
    paths
}

/// Old copies of the pages of the site and of its usual files.
pub async fn copies(site: &Site<'_>) -> Vec<NewFinding> {
    let file = |path: String| async move {
        file(site, &path, (recognize::source_copy, exposed::COPY)).await
    };
    let found: Vec<Option<ExposedFile>> = stream::iter(copied_paths(site))
        .map(file)
        .buffered(CONCURRENCY)
        .collect()
        .await;
    findings(site, exposed::COPY, found.into_iter().flatten().collect())
}

/// The paths of old copies.
pub fn copied_paths(site: &CrawledSite) -> Vec<String> {
    let pages = site
        .pages()
        .map(|page| page.url.path())
        .chain(site.scripts.iter().map(|script| script.url.path()));
    let is_file = |path: &&str| {
        path.rsplit('/')
            .next()
            .is_some_and(|name| name.contains('.') && !name.starts_with('.'))
    };
    let files: BTreeSet<&str> = pages
        .filter(is_file)
        .chain(["/index.html", "/index.php", "/login.php"])
        .collect();
    // The check of backups reports these.
    let backups: BTreeSet<String> = paths(site, &BACKUP)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    let mut copies = Vec::new();
    for file in files.into_iter().take(MAX_COPIED) {
        let (folder, name) = file.rsplit_once('/').unwrap_or_default();
        let all = COPIES
            .iter()
            .map(|copy| format!("{folder}/{}", copy.replace("{}", name)));
        copies.extend(all.filter(|path| !backups.contains(path)));
    }
    copies
}

async fn file(
    site: &Site<'_>,
    path: &str,
    (recognizer, kind): (Recognizer, FindingKind),
) -> Option<ExposedFile> {
    let url = site.at(path)?;
    let answer = match says_everybody(kind) {
        true => site.web.probe_without_login(&url).await,
        false => site.web.probe(&url).await,
    };
    let page = Arc::new(answer.ok().filter(HttpPage::is_success)?);
    let judge = move |page: &HttpPage| {
        let proof = recognizer(page)?;
        Some((proof, content_risk(kind, page), passwords(kind, page)))
    };
    let judged = Arc::clone(&page);
    let (proof, risk, passwords) = blocking::run(move |_| judge(&judged)).await?;
    // The start page proves itself, also where the server answers every unknown name with it.
    let is_start = url == site.start.url;
    if !is_start && is_returned_for_any_name(site, path, recognizer).await {
        return None;
    }
    let risk = if passwords.is_empty() {
        risk
    } else {
        Some(Risk::Critical)
    };
    let row = |holds: String| vec![format!("GET {url}"), "200".to_owned(), holds];
    let digests = site.web.secret_digests();
    let of_passwords = passwords.into_iter().map(|password| {
        let shown = digests.marked(&password.shown, &password.hash);
        row(format!("password {}: {shown}", password.name))
    });
    Some(ExposedFile {
        rows: [row(proof)].into_iter().chain(of_passwords).collect(),
        risk,
        page,
    })
}

/// Whether findings of a kind say that the answer needs no log-in.
fn says_everybody(kind: FindingKind) -> bool {
    kind == exposed::HEAP_DUMP
        || ["web.console.", "web.cms."]
            .iter()
            .any(|start| kind.id().starts_with(start))
}

async fn is_recognized(site: &Site<'_>, path: &str, recognizer: Recognizer) -> bool {
    let Some(url) = site.at(path) else {
        return false;
    };
    match site.web.probe(&url).await {
        Ok(page) if page.is_success() => blocking::run(move |_| recognizer(&page).is_some()).await,
        _ => false,
    }
}

/// Some servers return the same file for every name: requests a random name in the same directory,
/// with the same extension, query and final slash.
pub async fn is_returned_for_any_name(site: &Site<'_>, path: &str, recognizer: Recognizer) -> bool {
    let (path, query) = path
        .split_once('?')
        .map_or((path, String::new()), |(path, query)| {
            (path, format!("?{query}"))
        });
    let (path, slash) = path
        .strip_suffix('/')
        .map_or((path, ""), |path| (path, "/"));
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let extension = file
        .rfind('.')
        .filter(|at| *at > 0)
        .map_or("", |at| &file[at..]);
    let mut neighbours = vec![format!(
        "{folder}/{}{extension}{slash}{query}",
        site.nonsense
    )];
    if file.ends_with('~') && extension.is_empty() {
        neighbours.push(format!("{folder}/{}~", site.nonsense));
    }
    if file.starts_with('.') {
        neighbours.push(format!(
            "{folder}/.{}{extension}{slash}{query}",
            site.nonsense
        ));
    }
    for neighbour in neighbours {
        if is_recognized(site, &neighbour, recognizer).await {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::crawl::Crawl;
    use super::*;
    use crate::engine::hostile_tests::{ok, web, website};

    #[tokio::test]
    async fn answer_that_needs_the_login_of_the_scan_is_no_open_console() {
        const SETTINGS: &str =
            r#"{"httpNodeRoot":"/","version":"4.1.0","context":{"stores":["memory"]}}"#;
        for (is_open, count) in [(true, 1), (false, 0)] {
            let port = web(move |path, head| match path {
                "/" => ok("text/html", "<title>Node-RED</title>"),
                "/settings" if is_open || head.contains("sid=1") => {
                    ok("application/json", SETTINGS)
                }
                "/settings" => {
                    "HTTP/1.1 401 x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned()
                }
                _ => "HTTP/1.1 404 x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
            })
            .await;
            let result = website(
                port,
                serde_json::json!({"authentication": {"cookies": "sid=1"}}),
            )
            .run()
            .await;
            result.check();
            assert_eq!(
                result.of("web.console.node_red").len(),
                count,
                "open: {is_open}"
            );
        }
    }

    #[test]
    fn folders_of_the_site_are_searched_by_kind_and_scan_type() {
        let start = HttpPage::for_tests("http://shop.test/", "");
        let mut site = CrawledSite::new(start, Crawl::default());
        site.folders = ["/", "/api/", "/old/"].map(str::to_owned).into();
        let searched = |site: &CrawledSite, files: &ExposedFiles, path: &str| {
            paths(site, files)
                .iter()
                .any(|(searched, _)| searched == path)
        };
        for (files, name) in [
            (&PRIVATE_KEY, "id_rsa"),
            (&PHPINFO, "phpinfo.php"),
            (&DEPLOYMENT, "docker-compose.yml"),
            (&API_DESCRIPTION, "openapi.json"),
            (&METRICS, "metrics"),
        ] {
            let places = ["/", "/old/"].map(|folder| format!("{folder}{name}"));
            site.is_deep = false;
            assert_eq!(
                places.each_ref().map(|path| searched(&site, files, path)),
                [true, false],
                "{name}"
            );
            site.is_deep = true;
            assert_eq!(
                places.each_ref().map(|path| searched(&site, files, path)),
                [true, true],
                "{name}"
            );
        }
        assert!(!searched(&site, &CROSS_DOMAIN, "/old/crossdomain.xml"));
        site.is_deep = false;
        assert!(
            searched(&site, &GIT, "/old/.git/HEAD") && searched(&site, &BACKUP, "/old/old.tar.gz")
        );
    }
}
