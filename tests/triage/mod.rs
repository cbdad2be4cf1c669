//! Triage as a person does it, in the real binary at 80×24 on a generated workspace of 400
//! findings: a script that presses keys and reads the screen.

pub mod busy_logger;
pub mod generated;
mod retest;
mod team;

use std::path::Path;

use crate::pty::Session;
use generated::{CLASSES, FINDINGS, Generated};

/// A person at the dashboard: counts the keys.
struct Person {
    session: Session,
    pressed: usize,
}

impl Person {
    /// Opens the dashboard at 80×24, and waits until the list holds these words.
    async fn open(generated: &Generated, home: &Path, words: &str) -> Self {
        let variables = [
            ("SCANDECK_BASE_URL", &*generated.base),
            ("SCANDECK_API_KEY", "k"),
        ];
        let session = Session::start(home, &[], &variables);
        session.resize(24, 80);
        session.until(words).await;
        Self {
            session,
            pressed: 0,
        }
    }

    fn press(&mut self, keys: &str) {
        self.pressed += keys.chars().count();
        self.session.keys(keys);
    }

    /// The line of the cursor.
    fn cursor(&self) -> String {
        cursor(&self.session.text()).to_owned()
    }

    async fn leave(mut self) {
        self.session.keys("q");
        assert_eq!(self.session.ended().await, 0);
    }
}

fn cursor(text: &str) -> &str {
    text.lines()
        .find(|line| line.starts_with('▌'))
        .unwrap_or_default()
}

/// The selected row shows a verdict.
fn is_decided(text: &str) -> bool {
    ["confirmed", "fixed", "accepted", "false pos"]
        .iter()
        .any(|word| cursor(text).contains(word))
}

/// Verdict of the test analyst by risk.
fn verdict_of(line: &str) -> char {
    match line {
        line if line.contains("CRIT") || line.contains("HIGH") => 'c',
        line if line.contains("MED") => 'x',
        line if line.contains("LOW") => 'a',
        _ => 'f',
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bulk_triage_of_400_findings_survives_restart_and_rescan() {
    let (generated, home) = (Generated::new().await, tempfile::tempdir().unwrap());
    let mut person = Person::open(&generated, home.path(), &format!("of {FINDINGS}")).await;
    person.press("bcgg");
    person
        .session
        .until(&format!("{FINDINGS} findings in {CLASSES} classes"))
        .await;
    for class in 1..=CLASSES {
        let line = person.cursor();
        person.press(&verdict_of(&line).to_string());
        person
            .session
            .until_true("a decision or a question", |text| {
                is_decided(text) || text.contains("enter yes")
            })
            .await;
        if !is_decided(&person.session.text()) {
            // A question takes no answer in its first 200 ms.
            tokio::time::sleep(std::time::Duration::from_millis(250)).await;
            person.press("\r");
            person.session.until_true("the decision", is_decided).await;
        }
        if class < CLASSES {
            person.press("j");
            person
                .session
                .until_true("the next class", |text| !is_decided(text))
                .await;
        }
    }
    assert!(person.pressed < 350, "{} keys", person.pressed);
    println!(
        "{} keys for {FINDINGS} findings in {CLASSES} classes",
        person.pressed
    );
    person.press("r");
    person
        .session
        .until(&format!("{FINDINGS} rows hidden"))
        .await;
    person.leave().await;

    // A restart keeps every decision; a scan with other ids, dates and request ids shows only what
    // is new. What was marked fixed is seen again: a regression.
    generated.scan(1, FINDINGS);
    generated.find_new(1, 7);
    let mut person = Person::open(&generated, home.path(), "Backup archive readable").await;
    let fixed = 30 + 28 + 24 + 12 + 9 + 7 + 3 + 2;
    // The groups are restored too.
    person.session.until("in 9 classes").await;
    person.press("bb");
    person.session.until(&format!("1 of {}", fixed + 1)).await;
    assert!(
        person.session.text().contains("regression"),
        "{}",
        person.session.text()
    );

    // Undo goes back over the restart, a class at a time, until nothing is left to undo.
    for _ in 0..CLASSES {
        person.press("u");
        person.session.until("undone").await;
    }
    person.press("r");
    person.session.until(&format!("of {}", FINDINGS + 1)).await;
    person.leave().await;
}
