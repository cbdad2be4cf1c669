//! Triage as a person does it, in the real binary at 80×24 on a generated workspace of 400 findings: a script that
//! presses keys and reads the screen.

mod generated;
mod retest;

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
        let variables = [("SCANDECK_BASE_URL", &*generated.base), ("SCANDECK_API_KEY", "k")];
        let session = Session::start(home, &[], &variables);
        session.resize(24, 80);
        session.until(words).await;
        Self { session, pressed: 0 }
    }

    fn press(&mut self, keys: &str) {
        self.pressed += keys.chars().count();
        self.session.keys(keys);
    }

    /// The line of the cursor.
    fn cursor(&self) -> String {
        self.session.text().lines().find(|line| line.starts_with('▌')).unwrap_or_default().to_owned()
    }

    async fn leave(mut self) {
        self.session.keys("q");
        assert_eq!(self.session.ended().await, 0);
    }
}

/// What this person thinks of a class, by its risk.
fn verdict_of(line: &str) -> char {
    match line {
        line if line.contains("CRIT") || line.contains("HIGH") => 'c',
        line if line.contains("MED") => 'x',
        line if line.contains("LOW") => 'a',
        _ => 'f',
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn four_hundred_findings_are_triaged_class_by_class_kept_over_a_restart_and_a_scan_and_undone() {
    let (generated, home) = (Generated::new().await, tempfile::tempdir().unwrap());
    let mut person = Person::open(&generated, home.path(), &format!("of {FINDINGS}")).await;
    person.press("bc");
    person.session.until(&format!("{FINDINGS} in {CLASSES} classes")).await;
    for _ in 0..CLASSES {
        let line = person.cursor();
        let class = line.split_whitespace().skip_while(|word| *word != "kind").nth(1).unwrap().to_owned();
        person.press(&verdict_of(&line).to_string());
        let decided = format!("kind {class});");
        person
            .session
            .until_true("a decision or a question", |text| text.contains(&decided) || text.contains("enter"))
            .await;
        if !person.session.text().contains(&decided) {
            person.press("\r");
            person.session.until(&decided).await;
        }
        person.press("j");
        person.session.until_true("the next class", |text| !text.contains(&format!("▌{}", &line[3..]))).await;
    }
    assert!(person.pressed < 350, "{} keys", person.pressed);
    println!("{} keys for {FINDINGS} findings in {CLASSES} classes", person.pressed);
    person.press("r");
    person.session.until(&format!("{FINDINGS} hidden")).await;
    person.leave().await;

    // A restart keeps every decision; a scan with other ids, dates and request ids shows only what is new. What was
    // marked fixed is seen again: a regression.
    generated.scan(1, FINDINGS);
    generated.find_new(1, 7);
    let mut person = Person::open(&generated, home.path(), "Backup archive readable").await;
    let fixed = 30 + 28 + 24 + 12 + 9 + 7 + 3 + 2;
    person.session.until(&format!("1 of {}", fixed + 1)).await;
    assert!(person.session.text().contains("was fixed"), "{}", person.session.text());
    person.leave().await;
}
