//! The requests of the API listener.

use std::net::SocketAddr;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use tower::ServiceExt;

use crate::api::router;
use crate::api::router::NormalizingRouter;
use crate::errors::ApiError;
use crate::monitor::observe::observe;
use crate::net::connections::{ClientAddress, ConnectionHandler};
use crate::state::App;

/// Answers the requests of the API listener.
#[derive(Clone)]
pub(super) struct ApiHandler {
    router: NormalizingRouter,
    app: App,
}

impl ApiHandler {
    pub fn new(app: &App) -> Self {
        Self {
            router: router::router(app.clone()),
            app: app.clone(),
        }
    }

    /// Plain HTTP is for this machine and for the proxy that adds TLS.
    fn is_behind_proxy_only(&self) -> bool {
        let settings = &self.app.settings;
        settings.tls.is_none() && !settings.insecure_http && !settings.behind_proxy.is_empty()
    }
}

impl ConnectionHandler for ApiHandler {
    fn respond(&self, client: SocketAddr, mut request: Request) -> BoxFuture<'static, Response> {
        let is_allowed =
            client.ip().to_canonical().is_loopback() || self.app.proxies.contains(client.ip());
        if self.is_behind_proxy_only() && !is_allowed {
            let error = ApiError::forbidden("direct connections are refused")
                .with_details("connect to the proxy");
            return Box::pin(std::future::ready(error.into_response()));
        }
        let is_forwarded = self.app.proxies.contains(client.ip());
        let client = self.app.proxies.client(client, request.headers());
        request.extensions_mut().insert(ClientAddress(client));
        let (router, app) = (self.router.clone(), self.app.clone());
        Box::pin(async move {
            let respond = |request| async move {
                router
                    .oneshot(request)
                    .await
                    .unwrap_or_else(|never| match never {})
            };
            observe(&app, client, is_forwarded, request, respond).await
        })
    }
}
