//! Equal letters are found in every form: `ü` as one character, and as `u` with a combining mark.

use crate::headless::findings::scanned;

/// Source, note, and queries that find it.
const CASES: [(&str, &str, [&str; 3]); 3] = [
    (
        "yazi 3622, name of macOS",
        "Bu\u{308}ro",
        ["note:büro", "note:*B\u{fc}RO*", "note:b?ro"],
    ),
    (
        "yazi 4046, a letter in an expression",
        "tata\u{301}rja\u{301}ra\u{301}s",
        ["note:~tat.r", "note:tatár", "note:JÁR"],
    ),
    (
        "fd 1535, typed with a mark",
        "Bestätigung",
        [
            "note:besta\u{308}tigung",
            "note:~a\u{308}t",
            "note:*A\u{308}TIG*",
        ],
    ),
];

#[tokio::test]
async fn queries_find_letters_however_they_are_composed() {
    let cli = scanned(1).await;
    for (source, note, queries) in CASES {
        cli.does(&["findings", "decide", "--query", "risk:*", "--note", note])
            .await;
        for query in queries {
            let found = cli.json(&["findings", "list", "--query", query]).await;
            assert_eq!(
                found.as_array().unwrap().len(),
                2,
                "{source}: {query}: {found}"
            );
        }
    }
    cli.service.stop().await;
}
