//! `/wordlists`.

use scandeck::service::wordlists::{ImportedWordlist, import_wordlist};
use serde_json::{Value, json};

use super::TestService;

#[tokio::test]
async fn predefined_wordlists_cannot_be_deleted() {
    let service = TestService::new().await;
    let listed = service.get("/wordlists").await.data().clone();
    let lists = listed.as_array().unwrap();
    assert_eq!(lists.len(), 2);
    for list in lists {
        let path = format!("/wordlists/{}", list["id"]);
        assert_eq!(list["predefined"], true);
        assert_eq!(service.get(&path).await.data(), list);
        let words = service.get(&format!("{path}/contents")).await;
        assert_eq!(words.content_type, "application/json");
        let words: Vec<&str> = words.body.as_str().unwrap().split('\n').collect();
        assert_eq!(json!(words.len()), list["num_words"]);
        assert!(
            words
                .iter()
                .all(|word| !word.is_empty() && !word.starts_with('#'))
        );
        service
            .delete(&path)
            .await
            .assert_refused(403, "predefined");
    }
    service.stop().await;
}

#[tokio::test]
async fn wordlist_contents_with_accept_text_are_plain_text() {
    let service = TestService::new().await;
    let request = service
        .request(reqwest::Method::GET, "/wordlists/1/contents")
        .header("accept", "text/plain");
    let response = request.send().await.unwrap();
    assert_eq!(
        response.headers()["content-type"],
        "text/plain; charset=utf-8"
    );
    assert!(response.text().await.unwrap().contains("\nadmin"));
    for path in ["/wordlists/99", "/wordlists/99/contents"] {
        service
            .get(path)
            .await
            .assert_refused(404, "wordlist 99 not found");
    }
    service
        .delete("/wordlists/99")
        .await
        .assert_refused(404, "wordlist 99 not found");
    service.stop().await;
}

#[tokio::test]
async fn wordlist_imported_while_service_runs_is_listed_and_deletable() {
    let temp = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(temp.path()).await;
    let before = service
        .request(reqwest::Method::GET, "/wordlists")
        .send()
        .await
        .unwrap();
    let tag = before.headers()["etag"].clone();

    let dir = super::database::data_dir(temp.path());
    let import = async |text: &str| {
        import_wordlist(&dir, "mine", "from a file", text)
            .await
            .unwrap()
    };
    assert_eq!(import("# nothing\n\n").await, ImportedWordlist::Empty);
    let ImportedWordlist::Done { id, words } = import("one\ntwo\n# three\n\none\r\n").await else {
        panic!("not imported")
    };
    assert_eq!(words, 2);
    assert_eq!(import("other").await, ImportedWordlist::NameTaken);

    let after = service
        .request(reqwest::Method::GET, "/wordlists")
        .header("if-none-match", tag)
        .send()
        .await
        .unwrap();
    assert_eq!(
        after.status(),
        200,
        "the ETag changes with a wordlist that another process wrote"
    );
    let shown = service.get(&format!("/wordlists/{id}")).await;
    assert_eq!(
        (&shown.data()["predefined"], &shown.data()["num_words"]),
        (&Value::Bool(false), &json!(2))
    );
    assert_eq!(
        service.get(&format!("/wordlists/{id}/contents")).await.body,
        json!("one\ntwo")
    );
    service
        .delete(&format!("/wordlists/{id}"))
        .await
        .assert_no_content();
    service.stop().await;

    assert!(
        matches!(
            import("three").await,
            ImportedWordlist::Done { words: 1, .. }
        ),
        "the import works without a service too"
    );
}
