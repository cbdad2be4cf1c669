//! The database of a test: a file in its directory, or with `SCANDECK_TEST_DATABASE`, which has the
//! URL of a server (`.ci/postgres`), a PostgreSQL database for each directory. Tests of files call
//! [`use_file`] first.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use reqwest::Url;
use scandeck::service::keys::list_keys;
use scandeck::service::{DataDir, DatabaseAddress};
use tokio::runtime::Runtime;

const FILE: &str = "scandeck.db";

/// What is random in a new database.
const RANDOM: &str = "UPDATE settings SET value = replace(CAST(gen_random_uuid() AS TEXT), '-', '')
        WHERE name = 'service_id';
    UPDATE versions SET version = CAST(floor(random() * 17592186044416) AS BIGINT) - 8796093022208";

/// The name of a new database, whose migrations run once: they take longer than most tests.
static NEW: OnceLock<String> = OnceLock::new();

/// Makes the services of a directory use a file.
pub fn use_file(dir: &Path) {
    std::fs::create_dir_all(dir).unwrap();
    let file = std::fs::File::options()
        .create(true)
        .append(true)
        .open(dir.join(FILE));
    file.unwrap();
}

/// The server and the database of a directory; `None` when the database is a file.
fn names(dir: &Path) -> Option<(String, String)> {
    let server = std::env::var("SCANDECK_TEST_DATABASE").ok()?;
    if dir.join(FILE).exists() {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    dir.canonicalize().unwrap().hash(&mut hasher);
    Some((server, format!("scandeck_test_{:016x}", hasher.finish())))
}

/// The URL of the database of a directory, which has one after [`database_of`].
pub fn database_url(dir: &Path) -> Option<String> {
    let (server, name) = names(dir)?;
    let mut url = Url::parse(&server).unwrap();
    url.set_path(&name);
    Some(url.to_string())
}

/// The address of the database of a directory, which is created if necessary.
pub fn database_of(dir: &Path) -> Option<DatabaseAddress> {
    std::env::var_os("SCANDECK_TEST_DATABASE")?;
    // A test of a directory that cannot be made needs no database.
    std::fs::create_dir_all(dir).ok()?;
    let (server, name) = names(dir)?;
    // It exists when a service starts again in its directory.
    is_done(&server, &format!("CREATE DATABASE {name}"));
    address_of(dir)
}

/// The same, with the tables of a new database.
pub fn new_database_of(dir: &Path) -> Option<DatabaseAddress> {
    std::env::var_os("SCANDECK_TEST_DATABASE")?;
    std::fs::create_dir_all(dir).ok()?;
    let (server, name) = names(dir)?;
    let new = NEW.get_or_init(migrated);
    if !is_done(&server, &format!("CREATE DATABASE {name} TEMPLATE {new}")) {
        return database_of(dir);
    }
    assert!(is_done(&database_url(dir)?, RANDOM), "{name}");
    address_of(dir)
}

/// The name of a database that a command has created, in a thread without the runtime of a test.
fn migrated() -> String {
    let create = || {
        let dir = tempfile::tempdir().unwrap();
        let opened = data_dir(dir.path());
        let listed = Runtime::new().unwrap().block_on(list_keys(&opened));
        listed.unwrap();
        names(dir.path()).unwrap().1
    };
    std::thread::spawn(create).join().unwrap()
}

fn address_of(dir: &Path) -> Option<DatabaseAddress> {
    let url = database_url(dir)?;
    Some(DatabaseAddress::parse(&url, "the test".to_owned()).unwrap())
}

/// Runs statements; false if the server refuses them.
fn is_done(url: &str, statements: &str) -> bool {
    let psql = Command::new("psql").args([url, "-qc", statements]).output();
    psql.expect("psql is installed").status.success()
}

/// The answer of a query with one column, a row on each line.
pub async fn rows(dir: &Path, query: &'static str) -> Vec<String> {
    match database_url(dir) {
        Some(url) => {
            let psql = Command::new("psql").args([&url, "-Atqc", query]).output();
            let answer = String::from_utf8(psql.unwrap().stdout).unwrap();
            answer.lines().map(str::to_owned).collect()
        }
        None => {
            let options = sqlx::sqlite::SqliteConnectOptions::new()
                .filename(dir.join(FILE))
                .read_only(true);
            let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
            let rows: Vec<i64> = sqlx::query_scalar(query).fetch_all(&pool).await.unwrap();
            pool.close().await;
            rows.iter().map(i64::to_string).collect()
        }
    }
}

/// The data directory, with its database, for commands beside a service.
pub fn data_dir(dir: &Path) -> DataDir {
    let opened = DataDir::open(dir).unwrap();
    opened.with_database(database_of(dir)).unwrap()
}
