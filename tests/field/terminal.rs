//! Answers of the terminal and pastes are no keys, whenever and however split they arrive.

use std::time::Duration;

use crate::pty::answers::on_findings;
use crate::triage::generated::Generated;

/// Source, and the reads with the milliseconds after each.
const ANSWERS: [(&str, &[(&str, u64)]); 10] = [
    (
        "yazi 4285, version from the multiplexer",
        &[("\x1bP>|tmux 3.7c\x1b\\", 0)],
    ),
    (
        "yazi 4285, split within the version",
        &[("\x1bP>|tm", 300), ("ux 3.3a fxr\x1b", 200), ("\\", 0)],
    ),
    (
        "tmux 5128, attributes byte by byte",
        &[("\x1b[", 500), ("?", 5), ("61;4;6;7;14;2", 300), ("c", 0)],
    ),
    (
        "tmux 5540, attributes and foreground at once",
        &[(
            "\x1b[?61;4;6;52c\x1b[>0;10;1c\x1b]10;rgb:cccc/cccc/cccc\x1b\\",
            0,
        )],
    ),
    (
        "tmux 5616, version of the terminal late",
        &[
            ("\x1bP>|", 600),
            ("Konsole 26.04.0 fix", 600),
            ("\x1b\\", 0),
        ],
    ),
    (
        "tmux 3429, colours that end with BEL",
        &[
            ("\x1b]10;rgb:f54f/f54f/f54f\x07\x1b]11;rgb:0000/", 400),
            ("0000/ffff\x07", 0),
        ],
    ),
    (
        "terminal 18004, ESC released after escape-time",
        &[("\x1b", 120), ("]11;rgb:0000/0000/0000\x1b\\", 0)],
    ),
    (
        "tmux 4846, attributes after a released ESC",
        &[("\x1b", 120), ("[?61;4;6;7;14;21;22c", 0)],
    ),
    ("neighbour, position of the cursor", &[("\x1b[24;80R", 0)]),
    (
        "neighbour, answer of the graphics protocol",
        &[("\x1b_Gi=31;OK", 200), ("\x1b\\", 0)],
    ),
];

/// Source, and the reads of a paste with the milliseconds after each.
const PASTES: [(&str, &[(&str, u64)]); 3] = [
    (
        "neighbour, paste in two reads",
        &[("\x1b[200~fx", 300), ("ca\x1b[201~", 0)],
    ),
    (
        "neighbour, end in two reads",
        &[("\x1b[200~f\x1b[2", 300), ("01~", 0)],
    ),
    (
        "neighbour, pause of seconds",
        &[("\x1b[200~f", 3_000), ("x\x1b[201~", 0)],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn answers_and_pastes_of_field_decide_nothing() {
    let (generated, home) = (Generated::new().await, tempfile::tempdir().unwrap());
    let mut session = on_findings(&generated, home.path()).await;
    for (source, reads) in ANSWERS.into_iter().chain(PASTES) {
        for &(read, pause) in reads {
            session.keys(read);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        // A key that acts shows that the bytes before it were read.
        session.keys("?");
        session.until("filter:").await;
        session.keys("\x1b");
        session
            .until_true("the help is closed", |text| !text.contains("filter:"))
            .await;
        assert!(
            !session.text().contains("u undo"),
            "{source}\n{}",
            session.text()
        );
    }
    session.keys("q");
    assert_eq!(session.ended().await, 0);
}
