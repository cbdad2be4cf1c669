//! The nodes of the service, with the places of scans. An extension of the service beside the API
//! v2, which a service with [`Client::has_team`] has.

use super::request::ApiRequest;
use super::{Client, ClientResult};
use scandeck_wire::contract::node::{NODES_ROOT, NodeList};

impl Client {
    /// `GET /nodes`: the processes that serve the database, and the places of scans.
    ///
    /// # Errors
    /// 404 a service of an earlier version.
    pub async fn list_nodes(&self) -> ClientResult<NodeList> {
        self.fetch(ApiRequest::get(NODES_ROOT)).await
    }
}
