//! The references of the README are made from the code: the key table, the commands and the configuration sample.
//!
//! `UPDATE_README=1 cargo test readme` writes them anew.

use std::fs;
use std::path::Path;

use scandeck::dashboard::core::commands::docs;
use scandeck::dashboard::input::Keymap;

fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// What stands between `<!-- NAME: begin …-->` and `<!-- NAME: end -->` must be `wanted`.
fn hold(name: &str, wanted: &str) {
    let readme = file("README.md");
    let begin = readme.find(&format!("<!-- {name}: begin")).unwrap();
    let start = begin + readme[begin..].find("-->\n").unwrap() + 4;
    let end = readme.find(&format!("<!-- {name}: end")).unwrap();
    let wanted = format!("\n{}\n\n", wanted.trim());
    if std::env::var_os("UPDATE_README").is_some() {
        let text = format!("{}{wanted}{}", &readme[..start], &readme[end..]);
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"), text).unwrap();
    } else {
        assert_eq!(&readme[start..end], wanted, "run `UPDATE_README=1 cargo test readme` and look at the change");
    }
}

/// A page that is nothing but generated.
fn hold_page(name: &str, wanted: &str) {
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(name), wanted).unwrap();
    } else {
        assert_eq!(file(name), wanted, "run `UPDATE_README=1 cargo test readme` and look at the change");
    }
}

#[test]
fn the_page_of_the_commands_is_made_of_their_table() {
    hold_page("docs/commands.md", &docs::page());
}

/// All parts stand in one file, so one test writes them one after the other.
#[test]
fn the_readme_tells_the_keys_the_commands_and_the_configuration_as_they_are() {
    hold("keys", &Keymap::builtin().markdown());
    hold("commands", &docs::table());
    hold("config", &format!("```toml\n{}```", file("assets/config.toml")));
}

#[test]
fn the_configuration_sample_is_valid_and_names_every_setting() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("config.toml");
    fs::write(&path, file("assets/config.toml")).unwrap();
    scandeck::config::file::ConfigFile::read(&path, true).unwrap();

    // The complaint about an unknown setting lists the known ones.
    fs::write(&path, "[profiles.x]\nno_such_setting = 1\n").unwrap();
    let complaint = scandeck::config::file::ConfigFile::read(&path, true).unwrap_err().to_string();
    let known: Vec<&str> = complaint.split('`').skip(3).step_by(2).collect();
    assert!(known.contains(&"base_url"), "{complaint}");
    let sample = file("assets/config.toml");
    for setting in known {
        assert!(sample.contains(&format!("\n{setting} = ")), "the sample says nothing of {setting}");
    }
}

#[test]
fn the_readmes_page_of_the_query_language_is_made_from_its_tables() {
    let wanted = scandeck::query::docs::markdown();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/query.md");
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(path, wanted).unwrap();
    } else {
        assert!(file("docs/query.md") == wanted, "run `UPDATE_README=1 cargo test readme` and look at the change");
    }
}
