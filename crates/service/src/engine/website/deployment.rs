//! Files that describe how an application is built and deployed, and the passwords in them.
//!
//! ```text
//!   text ──► Dockerfile: instructions ─┐
//!        ──► YAML: keys by indentation ┼──► Compose, CI pipeline, … ──► settings with the name of a secret ──► passwords
//!        ──► Jenkinsfile, Vagrantfile ─┘
//! ```
//!
//! The structure decides, not single words: a page that shows a Compose file, or a translation with
//! the same keys, is none.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::recognize::is_markup;
use super::secrets::{self, SecretMatch, masked};
use crate::engine::blocking::StopFlag;
use crate::engine::http::HttpPage;
use crate::engine::secret_digest::SecretHash;

/// Passwords of one file that the evidence shows.
const MOST_PASSWORDS: usize = 10;

/// A regular expression that is compiled once.
macro_rules! pattern {
    ($text:expr) => {{
        static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($text).ok());
        PATTERN.as_ref()
    }};
}

/// The kind of a file that describes build or deployment.
pub fn recognize(page: &HttpPage) -> Option<String> {
    if is_markup(page) {
        return None;
    }
    let text = page.text();
    let kind = if is_dockerfile(&text) {
        "Dockerfile"
    } else if is_jenkinsfile(&text) {
        "Jenkinsfile"
    } else if text.contains("Vagrant.configure(") {
        "Vagrantfile"
    } else {
        YamlOutline::of(&text)?.kind()?
    };
    Some(kind.to_owned())
}

/// Whether the path of a known page is that of such a file, so that a listing leads to files with
/// any name.
pub fn is_named(path: &str) -> bool {
    let name = path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let is_yaml = name.ends_with(".yml") || name.ends_with(".yaml");
    let has_start = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    let is_built =
        has_start(&["dockerfile", "containerfile", "jenkinsfile"]) || name.ends_with(".dockerfile");
    let in_folder = ["/.github/workflows/", "/.circleci/", "/.woodpecker/"]
        .iter()
        .any(|folder| path.contains(folder));
    let is_pipeline = has_start(&[
        "docker-compose",
        "compose",
        ".gitlab-ci",
        ".travis",
        ".drone",
        ".woodpecker",
        "bitbucket-pipelines",
        "azure-pipelines",
        "cloudbuild",
    ]);
    is_built || (is_yaml && (in_folder || is_pipeline))
}

/// Whether the text consists of instructions of a Dockerfile, the first of them `FROM`.
fn is_dockerfile(text: &str) -> bool {
    let (Some(from), Some(other)) = (
        pattern!(r"(?i)^from\s+(?:--platform=\S+\s+)?[\w./:@${}-]+(?:\s+as\s+\S+)?\s*$"),
        pattern!(
            r#"(?i)^\s*(?:(?:run|cmd|entrypoint|copy|add|env|workdir|expose|label|user|volume|arg|shell|healthcheck|onbuild|stopsignal|maintainer)\s|(?:cmd|entrypoint)\[)"#
        ),
    ) else {
        return false;
    };
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let before = |line: &&str| {
        line.get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case("arg "))
    };
    let first = lines.by_ref().find(|line| !before(line));
    first.is_some_and(|line| from.is_match(line)) && lines.any(|line| other.is_match(line))
}

fn is_jenkinsfile(text: &str) -> bool {
    let has = |pattern: Option<&Regex>| pattern.is_some_and(|pattern| pattern.is_match(text));
    let is_declared =
        has(pattern!(r"(?m)^\s*pipeline\s*\{")) && has(pattern!(r"(?m)^\s*(?:agent|stages)\b"));
    let is_scripted = has(pattern!(r"(?m)^\s*node\s*(?:\([^)\n]*\)\s*)?\{"))
        && has(pattern!(r"(?m)^\s*stage\s*\("));
    is_declared || is_scripted
}

/// A key of a YAML document.
#[derive(Debug)]
struct YamlKey<'t> {
    /// The columns before it, a dash of a list included.
    indent: usize,
    name: &'t str,
    value: &'t str,
    /// Whether it begins an item of a list.
    in_list: bool,
}

/// The keys of a YAML document; texts over several lines are not understood, and may look like
/// keys.
#[derive(Debug)]
struct YamlOutline<'t> {
    keys: Vec<YamlKey<'t>>,
}

impl<'t> YamlOutline<'t> {
    /// `None` if a line at the margin is neither key, item, comment nor marker: then it is another
    /// kind of text.
    fn of(text: &'t str) -> Option<Self> {
        let key =
            pattern!(r#"^(\s*)((?:- +)*)["']?([\w.$/@-][\w.$/@ -]*?)["']?\s*:(?:\s+(.*))?$"#)?;
        let mut keys = Vec::new();
        for line in text.lines().map(str::trim_end) {
            let start = line.trim_start();
            if start.is_empty() || start.starts_with(['#', '%']) || ["---", "..."].contains(&start)
            {
                continue;
            }
            match key.captures(line) {
                Some(found) => {
                    let part = |number: usize| found.get(number).map_or("", |part| part.as_str());
                    let indent = part(1).len() + part(2).len();
                    keys.push(YamlKey {
                        indent,
                        name: part(3),
                        value: plain(part(4)),
                        in_list: !part(2).is_empty(),
                    });
                }
                None if line.len() == start.len()
                    && !start.starts_with("- ")
                    && !start.starts_with(['}', ']']) =>
                {
                    return None;
                }
                None => {}
            }
        }
        (!keys.is_empty()).then_some(Self { keys })
    }

    fn top(&self) -> BTreeSet<&str> {
        self.keys
            .iter()
            .filter(|key| key.indent == 0)
            .map(|key| key.name)
            .collect()
    }

    /// Whether a key with one of these names is anywhere.
    fn has(&self, names: &[&str]) -> bool {
        self.keys.iter().any(|key| names.contains(&key.name))
    }

    /// The keys below the key at this position.
    fn below(&self, position: usize) -> &[YamlKey<'t>] {
        let rest = &self.keys[position + 1..];
        let indent = self.keys[position].indent;
        &rest[..rest
            .iter()
            .position(|key| key.indent <= indent)
            .unwrap_or(rest.len())]
    }

    fn kind(&self) -> Option<&'static str> {
        let top = self.top();
        let any = |names: &[&str]| names.iter().any(|name| top.contains(name));
        let is_drone = self
            .keys
            .iter()
            .any(|key| key.indent == 0 && key.name == "kind" && key.value == "pipeline");
        let is_github = any(&["jobs"]) && any(&["on", "true"]) && self.has(&["runs-on", "uses"]);
        let is_circle = any(&["jobs"])
            && any(&["version", "workflows"])
            && self.has(&["docker", "machine", "executor", "macos"]);
        let is_azure = any(&["trigger", "pr", "pool"]) && any(&["steps", "jobs", "stages"]);
        let is_bitbucket = any(&["pipelines"]) && self.has(&["step"]) && self.has(&["script"]);
        let is_travis = any(&["language"])
            && any(&[
                "script",
                "install",
                "jobs",
                "matrix",
                "env",
                "before_install",
                "before_script",
                "deploy",
                "dist",
                "os",
            ]);
        let is_built_in_steps =
            any(&["steps", "pipeline"]) && self.has(&["commands", "entrypoint", "args"]);
        match () {
            () if self.is_compose(&top) => Some("Compose file: services"),
            () if is_drone
                || is_github
                || is_circle
                || is_azure
                || is_bitbucket
                || is_travis
                || is_built_in_steps =>
            {
                Some("CI pipeline")
            }
            () if self.is_gitlab(&top) => Some("CI pipeline"),
            () if self.is_playbook() => Some("Ansible playbook"),
            () => None,
        }
    }

    /// Services with an image or a build context; the first version of the format has them at the
    /// margin.
    fn is_compose(&self, top: &BTreeSet<&str>) -> bool {
        const KEYS: &[&str] = &[
            "version", "name", "services", "networks", "volumes", "secrets", "configs", "include",
            "models",
        ];
        let is_known = |name: &&str| KEYS.contains(name) || name.starts_with("x-");
        let services = self.services();
        let is_first_version = !top.contains("services")
            && services.iter().all(|at| self.is_service(*at))
            && self.has(&[
                "ports",
                "links",
                "volumes",
                "environment",
                "env_file",
                "command",
                "restart",
                "container_name",
            ]);
        let is_current = top.contains("services")
            && top.iter().all(is_known)
            && services.iter().any(|at| self.is_service(*at));
        // A pipeline of GitLab may consist of jobs with an image.
        (is_current || is_first_version) && !self.has(&["script", "commands", "stages"])
    }

    /// The positions of the keys that may be services: those below `services`, or all at the
    /// margin.
    fn services(&self) -> Vec<usize> {
        let section = self
            .keys
            .iter()
            .position(|key| key.indent == 0 && key.name == "services");
        let (indent, positions) = match section {
            Some(section) => {
                let below = self.below(section);
                let indent = below.first().map(|key| key.indent);
                (indent, section + 1..section + 1 + below.len())
            }
            None => (Some(0), 0..self.keys.len()),
        };
        positions
            .filter(|at| Some(self.keys[*at].indent) == indent)
            .collect()
    }

    fn is_service(&self, at: usize) -> bool {
        let is_reference = |key: &YamlKey| !key.value.is_empty() && !key.value.contains([' ', '(']);
        let has_image = |key: &YamlKey| match key.name {
            "image" => is_reference(key),
            "build" => !key.value.contains(' '),
            _ => false,
        };
        self.keys[at].value.is_empty() && self.below(at).iter().any(has_image)
    }

    /// Jobs with a script, or stages.
    fn is_gitlab(&self, top: &BTreeSet<&str>) -> bool {
        const JOB: &[&str] = &[
            "stage",
            "image",
            "tags",
            "only",
            "rules",
            "artifacts",
            "before_script",
            "needs",
            "variables",
            "when",
            "except",
        ];
        let is_setting = [
            "stages",
            "image",
            "include",
            "variables",
            "default",
            "before_script",
            "workflow",
        ]
        .iter()
        .any(|name| top.contains(name));
        let is_job = |at: usize| {
            let below = self.below(at);
            let first = below.first().map(|key| key.indent);
            let has = |names: &[&str]| {
                below
                    .iter()
                    .any(|key| Some(key.indent) == first && names.contains(&key.name))
            };
            self.keys[at].value.is_empty()
                && has(&["script", "extends"])
                && (is_setting || has(JOB))
        };
        let jobs = || (0..self.keys.len()).filter(|at| self.keys[*at].indent == 0);
        jobs().any(is_job) || (top.len() == 1 && top.contains("stages") && self.keys.len() == 1)
    }

    fn is_playbook(&self) -> bool {
        let is_play = |key: &YamlKey| key.in_list && ["hosts", "name"].contains(&key.name);
        self.keys.first().is_some_and(is_play)
            && self.has(&["hosts"])
            && self.has(&["tasks", "roles", "become"])
    }
}

/// A value without quotation marks and comment.
fn plain(value: &str) -> &str {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some((inner, _)) = value
            .strip_prefix(quote)
            .and_then(|rest| rest.split_once(quote))
        {
            return inner;
        }
    }
    value.split(" #").next().unwrap_or_default().trim()
}

/// The passwords in such a file, each with its masked value and line.
pub fn passwords(page: &HttpPage) -> Vec<SecretMatch> {
    let text = page.text();
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let settings = settings(line)
            .into_iter()
            .filter(|(name, value)| is_secret_name(name) && is_password(value));
        let arguments = arguments(line)
            .into_iter()
            .filter(|(_, value)| is_password(value));
        let all: Vec<(&str, &str)> = settings.chain(arguments).collect();
        found.extend(all.into_iter().map(|(name, value)| SecretMatch {
            name: name.to_owned(),
            shown: format!("{} (line {number})", masked(value)),
            is_public: false,
            hash: SecretHash::of(value),
        }));
    }
    let by_format = secrets::search(&text, false, &StopFlag::default())
        .into_iter()
        .filter(|secret| !secret.is_public);
    found.extend(by_format);
    found.truncate(MOST_PASSWORDS);
    found
}

/// The settings of a line: `KEY: value`, `- KEY=value`, `ENV KEY=value OTHER=value`,
/// `ENV KEY value`, `KEY = 'value'`.
fn settings(line: &str) -> Vec<(&str, &str)> {
    let line = line.trim();
    if line.starts_with(['#', '/']) {
        return Vec::new();
    }
    let (Some(instruction), Some(assigned), Some(yaml)) = (
        pattern!(r"(?i)^(?:env|arg)\s+(\w+)\s+(\S+)$"),
        pattern!(r#"(?:^|[\s"'\[,{])([A-Za-z_][\w.-]*)\s?=\s?("[^"]*"|'[^']*'|[^\s"',\]}]+)"#),
        pattern!(r#"^(?:- +)*["']?([A-Za-z_][\w.-]*)["']?\s*:\s+(.+)$"#),
    ) else {
        return Vec::new();
    };
    let pair = |found: regex::Captures<'_>| {
        let [name, value] = [1, 2].map(|number| found.get(number).map(|part| part.range()));
        Some((&line[name?], plain(&line[value?])))
    };
    if let Some(found) = instruction.captures(line) {
        return pair(found).into_iter().collect();
    }
    let of_yaml = yaml.captures(line).and_then(pair);
    of_yaml
        .into_iter()
        .chain(assigned.captures_iter(line).filter_map(pair))
        .collect()
}

/// Passwords in commands: `--requirepass value`, `echo "user:value" | chpasswd`.
fn arguments(line: &str) -> Vec<(&str, &str)> {
    let (Some(option), Some(changed)) = (
        pattern!(r#"(--(?:requirepass|password|pass))(?:[ =]|["'],\s*["'])["']?([^\s"',\]]+)"#),
        pattern!(
            r#"echo\s+["']?(\w+):([^\s"'|]+)["']?\s*\|\s*(?:sudo\s+)?(?:/usr/sbin/)?chpasswd"#
        ),
    ) else {
        return Vec::new();
    };
    let pair = |found: regex::Captures<'_>| {
        let [name, value] = [1, 2].map(|number| found.get(number).map(|part| part.range()));
        Some((&line[name?], &line[value?]))
    };
    if line.trim_start().starts_with('#') {
        return Vec::new();
    }
    option
        .captures_iter(line)
        .chain(changed.captures_iter(line))
        .filter_map(pair)
        .collect()
}

/// Whether a setting with this name holds a secret itself, and not its file or its rules.
fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['-', '.'], "_");
    #[rustfmt::skip]
    const OTHERS: &[&str] = &[
        "_file", "_path", "_name", "_id", "_url", "_length", "_policy", "_type", "_ttl", "_expiry", "_expires", "_method",
        "_min", "_max", "_hash", "_key_path", "_enabled", "_required", "_store", "_reset", "_validity", "_header", "_field",
    ];
    let is_other = OTHERS.iter().any(|end| name.ends_with(end))
        || name.contains("public")
        || name.contains("allow_empty");
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let is_secret = has(&[
        "password",
        "passwd",
        "passphrase",
        "secret",
        "apikey",
        "api_key",
        "access_key",
        "private_key",
        "secret_key",
    ]) || name.ends_with("token")
        || ["_pass", "_pwd"].iter().any(|end| name.ends_with(end))
        || ["pass", "pwd"].contains(&name.as_str());
    is_secret && !is_other && !["secrets", "id_token"].contains(&name.as_str())
}

/// Whether a value is a password, and not a reference, a place for one or a switch.
fn is_password(value: &str) -> bool {
    let value = plain(value);
    let lower = value.to_ascii_lowercase();
    #[rustfmt::skip]
    const SWITCHES: &[&str] =
        &["true", "false", "yes", "no", "null", "none", "read", "write", "inherit", "required", "optional", "always", "random", "on", "off"];
    #[rustfmt::skip]
    const PLACES: &[&str] =
        &["changeme", "change-me", "change_me", "change_this", "replaceme", "replace-me", "replace_me", "replace_with", "placeholder", "your-", "your_", "yourpass", "yoursecret", "xxxx", "todo", "redacted", "****", "....", "secrets.", "not-a-real", "credentials("];
    let is_reference = value.contains(['$', '{', '}', '<', '>', '(', '`', ' '])
        || value.starts_with(['/', '.', '!', '|', '&', '*', '%', '@', '['])
        || value.starts_with("ENC[")
        || value.starts_with("file:");
    value.len() >= 3
        && !is_reference
        && !SWITCHES.contains(&lower.as_str())
        && !PLACES.iter().any(|place| lower.contains(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(body: &str) -> HttpPage {
        HttpPage::for_tests("http://a.test/x", body)
    }

    const COMPOSE: &str = "services:\n  db:\n    image: postgres:16\n    environment:\n      POSTGRES_PASSWORD: hunter22\n";

    #[test]
    fn files_are_recognized_as_people_write_them() {
        let windows =
            format!("\u{feff}# shop\n\nversion: '3.8' # old\n\n{COMPOSE}").replace('\n', "\r\n");
        let cases: &[(&str, &str)] = &[
            (COMPOSE, "Compose file: services"),
            (&windows, "Compose file: services"),
            (
                "---\nname: shop\nx-common: &common\n  restart: always\nservices: # all\n    web:\n        <<: *common\n        build: .\n        ports: ['80:80']\nvolumes:\n  data:\n",
                "Compose file: services",
            ),
            (
                "\"services\":\n  \"web\":\n    \"image\": \"nginx\"\n",
                "Compose file: services",
            ),
            (
                "web:\n  image: nginx\n  links:\n   - db\ndb:\n  image: postgres\n",
                "Compose file: services",
            ),
            ("FROM debian\nRUN apt-get update\n", "Dockerfile"),
            (
                "# syntax=docker/dockerfile:1\r\nARG V=1\r\nfrom --platform=linux/amd64 node:${V} as build\r\nworkdir /srv\r\nCMD[\"node\"]\r\n",
                "Dockerfile",
            ),
            ("stages:\n  - test\n", "CI pipeline"),
            (
                "image: node:20\n\nvariables:\n  A: b\n\ntest:\n  script:\n    - npm test\n",
                "CI pipeline",
            ),
            ("build:\n  stage: build\n  script: make\n", "CI pipeline"),
            (
                "name: ci\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: |\n          make\n",
                "CI pipeline",
            ),
            (
                "language: python\npython:\n  - '3.12'\nscript: pytest\n",
                "CI pipeline",
            ),
            (
                "version: 2.1\njobs:\n  build:\n    docker:\n      - image: cimg/node:20.1\n    steps:\n      - checkout\n",
                "CI pipeline",
            ),
            (
                "kind: pipeline\ntype: docker\nname: default\nsteps:\n- name: test\n  image: golang\n  commands:\n  - go test\n",
                "CI pipeline",
            ),
            (
                "image: atlassian/default-image:4\npipelines:\n  default:\n    - step:\n        script:\n          - make\n",
                "CI pipeline",
            ),
            (
                "trigger:\n- main\n\npool:\n  vmImage: ubuntu-latest\n\nsteps:\n- script: echo hello\n",
                "CI pipeline",
            ),
            (
                "// build\n@Library('shared') _\npipeline {\n  agent any\n  stages { stage('x') { steps { sh 'make' } } }\n}\n",
                "Jenkinsfile",
            ),
            (
                "node('linux') {\n  stage('Build') {\n    sh 'make'\n  }\n}\n",
                "Jenkinsfile",
            ),
            (
                "- hosts: all\n  become: yes\n  tasks:\n    - name: x\n",
                "Ansible playbook",
            ),
            ("Vagrant.configure(\"2\") do |config|\nend\n", "Vagrantfile"),
        ];
        for (body, kind) in cases {
            assert_eq!(recognize(&page(body)).as_deref(), Some(*kind), "{body}");
        }
    }

    #[test]
    fn texts_with_the_same_words_are_not_recognized() {
        let article =
            format!("# How to run the shop\n\nWrite this file:\n\n```yaml\n{COMPOSE}```\n");
        let html = format!("<!doctype html><title>Compose</title><pre>{COMPOSE}</pre>");
        for text in [
            article.as_str(),
            html.as_str(),
            "en:\n  services:\n    title: Our services\n    image: Image of the service\n  jobs:\n    - one\n    - two\n",
            "services:\n  title: Our services\n  image: Our image\nsteps:\n  - Choose\n",
            "en:\n  steps:\n    script: Script\n    list:\n      - a\n",
            "language: English\ntitle: Manual\n",
            "From today on we run.\nRUN to the shop.\n",
            "FROM the sea\nRUN away\n",
            "openapi: 3.0.0\npaths:\n  /jobs:\n    get:\n      tags:\n        - jobs\n",
            "{\"services\":{\"db\":{\"image\":\"postgres\"}}}",
            "const pipeline = { stages: [] }; node.stage();",
            "title: Post\njobs:\n  - a\non: today\n",
        ] {
            assert_eq!(recognize(&page(text)), None, "{text}");
        }
    }

    #[test]
    fn passwords_have_name_line_and_no_value() {
        let cases: &[(&str, &[&str])] = &[
            (COMPOSE, &["POSTGRES_PASSWORD: hu…2 (line 5)"]),
            (
                "    environment:\r\n      - \"MYSQL_ROOT_PASSWORD=root\"\r\n",
                &["MYSQL_ROOT_PASSWORD: r… (line 2)"],
            ),
            (
                "password: postgres # default\n",
                &["password: po…s (line 1)"],
            ),
            (
                "ENV APP_ENV=prod DB_PASSWORD='hunter22' TOKEN=abc123def456\n",
                &["DB_PASSWORD: hu…2 (line 1)", "TOKEN: abc1…56 (line 1)"],
            ),
            (
                "ENV DB_PASS hunter22\nARG API_KEY=9kQ2mZx7Lw3R\n",
                &["DB_PASS: hu…2 (line 1)", "API_KEY: 9kQ2…3R (line 2)"],
            ),
            (
                "RUN echo 'root:hunter22' | chpasswd\n",
                &["root: hu…2 (line 1)"],
            ),
            (
                "command: redis-server --requirepass hunter22\n",
                &["--requirepass: hu…2 (line 1)"],
            ),
            (
                "command: [\"redis-server\", \"--requirepass\", \"hunter22\"]\n",
                &["--requirepass: hu…2 (line 1)"],
            ),
            (
                "    environment { DB_PASSWORD = 'hunter22' }\n",
                &["DB_PASSWORD: hu…2 (line 1)"],
            ),
            (
                "  DATABASE_URL: postgres://app:8d1fQ0c2@db/shop\n",
                &["URL with password: postgres…2@db (1:17)"],
            ),
        ];
        for (text, expected) in cases {
            let found = passwords(&page(text)).into_iter();
            let shown: Vec<String> = found
                .map(|secret| format!("{}: {}", secret.name, secret.shown))
                .collect();
            assert_eq!(shown, *expected, "{text}");
        }
        for text in [
            "POSTGRES_PASSWORD: ${DB_PASSWORD}\n",
            "POSTGRES_PASSWORD: ${DB_PASSWORD:-postgres}\n",
            "POSTGRES_PASSWORD_FILE: /run/secrets/db_password\n",
            "password: /run/secrets/db_password\n",
            "password: ${{ secrets.DB_PASSWORD }}\n",
            "password: secrets.DB_PASSWORD\n",
            "MYSQL_ROOT_PASSWORD: changeme\n- DB_PASSWORD=change-me-please\n",
            "API_TOKEN: <your token>\nAPI_TOKEN: your-token\n",
            "MYSQL_RANDOM_ROOT_PASSWORD: 'yes'\nALLOW_EMPTY_PASSWORD: yes\n",
            "permissions:\n  id-token: write\n",
            "secrets:\n  - db_password\n",
            "DB_PASSWORD = credentials('db')\n",
            "# POSTGRES_PASSWORD: hunter22\n",
            "password: !vault |\n",
            "JWT_SECRET:\n",
            "PASSWORD_MIN_LENGTH: 12\nRESET_TOKEN_TTL=3600\n",
        ] {
            assert!(
                passwords(&page(text)).is_empty(),
                "{text}: {:?}",
                passwords(&page(text))
            );
        }
    }

    #[test]
    fn names_in_listings_lead_to_files() {
        for (path, is_it) in [
            ("/.github/workflows/release-please.yml", true),
            ("/ops/docker-compose.shop.yaml", true),
            ("/ops/Dockerfile.prod", true),
            ("/ops/web.dockerfile", true),
            ("/compose.yaml", true),
            ("/composer.json", false),
            ("/locales/en.yml", false),
            ("/blog/dockerfile-tips/", false),
        ] {
            assert_eq!(is_named(path), is_it, "{path}");
        }
    }
}
