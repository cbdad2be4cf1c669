//! The configuration changes while the dashboard runs.

use std::fs;

use super::Session;

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn changed_files_apply_in_the_running_dashboard() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config/scandeck");
    fs::create_dir_all(&config).unwrap();
    let mut session = Session::start(home.path(), &[], &[]);
    session.until("Where do your scans run?").await;

    fs::write(config.join("config.toml"), "user = \"ann\"\nmouse = true\n").unwrap();
    session.until("restart scandeck to use user").await;
    fs::write(
        config.join("config.toml"),
        "user = \"ann\"\ntheme = \"dusk\"\n",
    )
    .unwrap();
    session.until("config.toml:2: theme `dusk` not found").await;

    fs::create_dir(config.join("themes")).unwrap();
    fs::write(config.join("themes/dusk.toml"), "high = \"red\"\n").unwrap();
    session
        .until("dusk.toml:1: invalid colour \"red\" for high")
        .await;
    fs::write(config.join("themes/dusk.toml"), "high = \"#800000\"\n").unwrap();
    session
        .until("contrast below 4.5:1 on black: high (1.9:1)")
        .await;
    session.keys("\x03\x03");
    session.ended().await;
}
