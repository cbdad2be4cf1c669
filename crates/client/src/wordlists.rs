//! Wordlists: list, look up, delete, contents (`api-v2.md §4`).

use super::request::ApiRequest;
use super::{Client, ClientResult, Error, ErrorKind};
use scandeck_wire::contract::{Wordlist, WordlistId, envelope};

impl Client {
    /// `GET /wordlists`.
    ///
    /// # Errors
    /// Those of every call.
    pub async fn list_wordlists(&self) -> ClientResult<Vec<Wordlist>> {
        self.fetch_list(ApiRequest::get("/wordlists")).await
    }

    /// `GET /wordlists/{id}`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn get_wordlist(&self, id: WordlistId) -> ClientResult<Wordlist> {
        self.fetch(ApiRequest::get(format!("/wordlists/{id}")))
            .await
    }

    /// `DELETE /wordlists/{id}`.
    ///
    /// # Errors
    /// 403 the wordlist is predefined, 404 unknown.
    pub async fn delete_wordlist(&self, id: WordlistId) -> ClientResult<()> {
        self.delete(format!("/wordlists/{id}")).await
    }

    /// `GET /wordlists/{id}/contents`: the words, separated by line feeds. The response may be a
    /// JSON string, wrapped or bare, or plain text (`hosted-service.md`, Lists).
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn wordlist_contents(&self, id: WordlistId) -> ClientResult<String> {
        let request = ApiRequest::get(format!("/wordlists/{id}/contents"))
            .accepting("application/json, text/plain");
        let answer = self.send(request).await?;
        if answer.content_type() == "application/json" {
            return envelope::decode(&answer.body).map_err(|error| {
                Error::new(ErrorKind::Decode, format!("unreadable wordlist: {error}"))
            });
        }
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        Ok(envelope::decode(text.as_bytes()).unwrap_or(text))
    }
}
