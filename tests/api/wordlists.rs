//! Word lists.

use scandeck::client::ErrorKind;
use scandeck::contract::WordlistId;

use super::{client, refused};
use crate::service::World;

#[tokio::test]
async fn the_shipped_lists_are_listed_read_and_kept() {
    let world = World::new().await;
    let client = client(&world);
    let lists = client.list_wordlists().await.unwrap();
    assert_eq!(lists.iter().filter(|list| list.predefined).count(), 2);
    for list in lists {
        assert_eq!(client.get_wordlist(list.id).await.unwrap(), list);
        let words = client.wordlist_contents(list.id).await.unwrap();
        assert_eq!(words.lines().count() as i64, list.num_words);
        refused(client.delete_wordlist(list.id).await, ErrorKind::Forbidden, 403, "ships");
    }
    refused(client.get_wordlist(WordlistId(99)).await, ErrorKind::NotFound, 404, "word");
    refused(client.wordlist_contents(WordlistId(99)).await, ErrorKind::NotFound, 404, "word");
    refused(client.delete_wordlist(WordlistId(99)).await, ErrorKind::NotFound, 404, "word");
    world.stop().await;
}
