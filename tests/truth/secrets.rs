//! Secrets in what a site serves to everybody, by class, and twins that only look like it.

use super::Answer;
use super::server::{HARDENED, not_found, page, response};

/// Planted secrets: the class, and the name and the place that the evidence shows.
#[rustfmt::skip]
pub const PLANTED: &[(&str, &str, &str)] = &[
    ("HTML comment", "Slack webhook", "(1:"),
    ("inline script", "Stripe secret key", "(1:"),
    ("bundle of one line", "AWS access key", "(1:400019)"),
    ("bundle of one line", "AWS secret access key", "(1:"),
    ("bundle of one line", "OpenAI key", "(1:"),
    ("bundle of one line", "GitHub token", "(1:"),
    ("bundle of one line", "private key", "(1:"),
    ("bundle of one line", "URL with password", "(1:"),
    ("bundle of one line", "Azure storage key", "(1:"),
    ("source map", "SendGrid key", "(src/mail.ts:3:14)"),
    ("JSON response", "client secret", "(1:"),
    ("JSON response", "Google service account key", "(1:"),
    ("JSON Web Token", "Supabase service_role key", "(1:"),
];

const START: &str = "<title>Shop</title><!-- hook: https://hooks.slack.com/services/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 -->\
    <script>const pay = 'sk_live_9fQ2mZx7Lw3Rk8Tb1Vn4Yc6H'</script><script src=/js/app.js></script>";

/// Parts of the bundle. They are joined here, so that scanners of repositories do not take them for
/// leaked secrets.
#[rustfmt::skip]
const BUNDLE: &[&str] = &[
    "aws={accessKeyId:'AKIA", "Q3EGRMTWZXCVBNM7',secretAccessKey:'kJ8+Qz1/rT5yWv0aXn3cL7mPb9sDf2gHe4uYi6Ro'};",
    "ai='sk-", "9kQ2mZx7Lw3Rk8Tb1Vn4T3BlbkFJ6Hs5Jd0Fgq7PouIe8XaV';",
    "gh='ghp_", "9kQ2mZx7Lw3Rk8Tb1Vn4Yc6Hs5Jd0Fgq7Pou';",
    "pem='-----BEGIN PRIVATE KEY-----\\n", "MC4CAQAwBQYDK2VwBCIEIJ9kQ2mZx7Lw3Rk8Tb1Vn4Yc6Hs5Jd0Fgq7PouIe8XaV\\n-----END PRIVATE KEY-----';",
    "db='postgres://shop:", "8d1fQ0c2@db.shop.test/shop';",
    "az='AccountName=shop;AccountKey=", "q7Zt0Lw9Xc3Vb5Nm1As2Df4Gh6Jk8Qw0Er2Ty4Ui6Op8Zx1Cv3Bn5Mq7We9Rt1Yu3Io5Pa7Sd9Fg2Hj4KlPo8Z==';",
    "fetch('/config.json');fetch('/account.json');",
    "supa='eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.", "eyJpc3MiOiJzdXBhYmFzZSIsInJlZiI6Imtxdm16eGx3cmsiLCJyb2xlIjoic2VydmljZV9yb2xlIn0.9kQ2mZx7Lw3Rk8Tb1Vn4Yc6Hs5Jd0Fgq7PouIe8XaVY';",
];

const MAP: &[&str] = &[
    r#"{"version":3,"sources":["webpack://shop/./src/mail.ts"],"sourcesContent":["// mail\n\nconst key = 'SG."#,
    r#"9kQ2mZx7Lw3Rk8Tb1Vn4Yc.6Hs5Jd0Fgq7PouIe8XaVb5Nm1As2Df4Gh6Jk8Qw0Er2'\n"],"mappings":"AAAA"}"#,
];

const ACCOUNT: &[&str] = &[
    r#"{"type":"service_account","project_id":"shop","private_key":"-----BEGIN PRIVATE KEY-----\n"#,
    r#"MC4CAQAwBQYDK2VwBCIEIJ9kQ2mZx7Lw3Rk8Tb1Vn4Yc6Hs5Jd0Fgq7PouIe8XaX\n-----END PRIVATE KEY-----\n"}"#,
];

fn file(kind: &str, body: &str) -> Answer {
    response("200 OK", HARDENED, kind, body.as_bytes())
}

pub fn weak(path: &str) -> Answer {
    match path {
        "/" => page(START),
        "/js/app.js" => file(
            "text/javascript",
            &format!(
                "{}{}//# sourceMappingURL=app.js.map",
                "a=1;".repeat(100_000),
                BUNDLE.concat()
            ),
        ),
        "/js/app.js.map" => file("application/json", &MAP.concat()),
        "/config.json" => file(
            "application/json",
            &[
                "{\"client_id\":\"shop\",\"client_secret\":\"9kQ2mZx7",
                "Lw3Rk8Tb1Vn4Yc6H\"}",
            ]
            .concat(),
        ),
        "/account.json" => file("application/json", &ACCOUNT.concat()),
        _ => not_found(),
    }
}

/// What browsers need, samples of documentation, references and random texts.
const TWIN: &str = "firebase.initializeApp({apiKey:'AIzaSyB3kQ2mZx7Lw9Rk8Tb1Vn4Yc6Hs5Jd0FgP',authDomain:'shop.firebaseapp.com'});\
    stripe('pk_live_51HqLyXk3Vn8RtQ2mZx7Lw5Jd0FgHs9Yc1B');Sentry.init({dsn:'https://3b9f0c7e1a5d82469c0e7f3b1d58a642@o1.ingest.sentry.io/7'});\
    grecaptcha.execute('6LdkQ2mZAAAAAJx7Lw3Rk8Tb1Vn4Yc6Hs5Jd0Fgq');supabase('sb_publishable_9kQ2mZx7Lw3Rk8Tb1Vn4Yc_6Hs5Jd0F');\
    mapbox='pk.eyJ1Ijoic2hvcCIsImEiOiJjazlrUTJtWng3THczUms4VGIxIn0.6Hs5Jd0Fgq7PouIe8XaVb5';\
    id='AKIAIOSFODNN7EXAMPLE';t='ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx';u='postgres://user:password@localhost:5432/app';\
    k='-----BEGIN PRIVATE KEY-----\\n'+e+'\\n-----END PRIVATE KEY-----';h='https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX';\
    j='eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c';\
    l='https://files.shop.test/a.pdf?X-Amz-Credential=AKIAQ3EGRMTWZXCVBNM7%2F20261128';secretAccessKey:e.secretAccessKey;\
    cs='pi_3MtwBwLkdIwHu7ix28a3tqPa_secret_YrKJUKribcBjcG8HVhfZluoGH';o={clientSecret:'client_secret_basic'};";

pub fn twin(path: &str) -> Answer {
    match path {
        "/" => page(
            "<title>Shop</title><!-- AKIAIOSFODNN7EXAMPLE --><pre>sk_live_9fQ2mZx7Lw3Rk8Tb1Vn4Yc6H</pre><script src=/js/app.js></script>",
        ),
        "/js/app.js" => file("text/javascript", TWIN),
        _ => not_found(),
    }
}

/// A file that describes a deployment: its path, a text with a password, the row about it, and a
/// text without.
pub struct Deployment {
    pub path: &'static str,
    weak: &'static str,
    pub row: &'static str,
    hardened: &'static str,
}

impl Deployment {
    pub fn answer(&self, path: &str, is_weak: bool) -> Answer {
        match path {
            "/" => page("<title>Home</title>"),
            path if path == self.path => file(
                "text/plain",
                if is_weak { self.weak } else { self.hardened },
            ),
            _ => not_found(),
        }
    }
}

pub const DEPLOYMENTS: &[Deployment] = &[
    Deployment {
        path: "/docker-compose.yml",
        weak: "\u{feff}# shop\r\nversion: '3'\r\nservices:\r\n  db:\r\n    image: postgres:16\r\n    environment:\r\n      POSTGRES_PASSWORD: hunter22\r\n",
        row: "password POSTGRES_PASSWORD: hu…2 (line 7)",
        hardened: "services:\n  db:\n    image: postgres:16\n    environment:\n      POSTGRES_PASSWORD: ${DB_PASSWORD}\n      OTHER_PASSWORD_FILE: /run/secrets/db\n",
    },
    Deployment {
        path: "/compose.yaml",
        weak: "services:\n  db:\n    image: mariadb\n    environment:\n      - MYSQL_ROOT_PASSWORD=root\n",
        row: "password MYSQL_ROOT_PASSWORD: r… (line 5)",
        hardened: "services:\n  db:\n    image: mariadb\n    environment:\n      - MYSQL_ROOT_PASSWORD=changeme\n",
    },
    Deployment {
        path: "/Dockerfile",
        weak: "# syntax=docker/dockerfile:1\nFROM node:20\nENV DB_PASSWORD=hunter22\nCMD [\"node\"]\n",
        row: "password DB_PASSWORD: hu…2 (line 3)",
        hardened: "ARG V=20\nFROM node:${V}\nARG NPM_TOKEN\nENV NODE_ENV=production\nCMD [\"node\"]\n",
    },
    Deployment {
        path: "/.gitlab-ci.yml",
        weak: "image: node:20\nvariables:\n  DEPLOY_PASSWORD: hunter22\ntest:\n  script:\n    - npm test\n",
        row: "password DEPLOY_PASSWORD: hu…2 (line 3)",
        hardened: "image: node:20\ntest:\n  script:\n    - deploy --password $DEPLOY_PASSWORD\n",
    },
    Deployment {
        path: "/.github/workflows/ci.yml",
        weak: "name: ci\non: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    env:\n      API_TOKEN: 9kQ2mZx7Lw3R\n    steps:\n      - uses: actions/checkout@v4\n",
        row: "password API_TOKEN: 9kQ2…3R (line 7)",
        hardened: "name: ci\non: push\npermissions:\n  id-token: write\njobs:\n  a:\n    runs-on: ubuntu-latest\n    env:\n      API_TOKEN: ${{ secrets.API_TOKEN }}\n    steps:\n      - uses: actions/checkout@v4\n",
    },
    Deployment {
        path: "/Jenkinsfile",
        weak: "pipeline {\n  agent any\n  environment { DB_PASSWORD = 'hunter22' }\n  stages { stage('a') { steps { sh 'make' } } }\n}\n",
        row: "password DB_PASSWORD: hu…2 (line 3)",
        hardened: "pipeline {\n  agent any\n  environment { DB_PASSWORD = credentials('db') }\n  stages { stage('a') { steps { sh 'make' } } }\n}\n",
    },
];

/// Sites that show such files, or have others with the same words.
pub fn neighbour(path: &str) -> Answer {
    const SHOWN: &str = "services:\n  db:\n    image: postgres\n    environment:\n      POSTGRES_PASSWORD: hunter22\n";
    match path {
        "/" => page(&format!(
            "<title>How to run the shop</title><pre>{SHOWN}</pre>"
        )),
        "/docker-compose.yml" => page(&format!("<title>Compose</title><pre>{SHOWN}</pre>")),
        "/compose.yml" => file(
            "text/yaml",
            "en:\n  services:\n    image: Image\n  password: hunter22\n",
        ),
        "/.gitlab-ci.yml" => file(
            "text/markdown",
            &format!("# How to\n\n```yaml\n{SHOWN}```\n"),
        ),
        "/Dockerfile" => file(
            "text/plain",
            "From today on we are open.\nRun to the shop.\n",
        ),
        "/.travis.yml" => file("text/yaml", "language: English\npassword: Passwort\n"),
        _ => not_found(),
    }
}
