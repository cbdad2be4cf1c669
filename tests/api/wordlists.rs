//! Wordlists.

use scandeck::client::ErrorKind;
use scandeck::contract::WordlistId;

use super::{assert_refused, client};
use crate::service::TestService;

#[tokio::test]
async fn predefined_wordlists_are_listed_read_and_not_deletable() {
    let service = TestService::new().await;
    let client = client(&service);
    let lists = client.list_wordlists().await.unwrap();
    assert_eq!(lists.iter().filter(|list| list.predefined).count(), 2);
    for list in lists {
        assert_eq!(client.get_wordlist(list.id).await.unwrap(), list);
        let words = client.wordlist_contents(list.id).await.unwrap();
        assert_eq!(words.lines().count() as i64, list.num_words);
        assert_refused(
            client.delete_wordlist(list.id).await,
            ErrorKind::Forbidden,
            403,
            "predefined",
        );
    }
    assert_refused(
        client.get_wordlist(WordlistId(99)).await,
        ErrorKind::NotFound,
        404,
        "word",
    );
    assert_refused(
        client.wordlist_contents(WordlistId(99)).await,
        ErrorKind::NotFound,
        404,
        "word",
    );
    assert_refused(
        client.delete_wordlist(WordlistId(99)).await,
        ErrorKind::NotFound,
        404,
        "word",
    );
    service.stop().await;
}
