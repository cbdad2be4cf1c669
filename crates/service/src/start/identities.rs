//! The certificates of the listeners.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;

use crate::errors::StartError;
use crate::net::tls::{ServerIdentity, TlsFiles};
use crate::settings::Settings;

/// The certificates of the listeners.
pub(super) struct ListenerIdentities {
    pub api: Option<Arc<ServerIdentity>>,
    pub loggers: Option<Arc<ServerIdentity>>,
}

/// TLS of each listener; one without speaks plain HTTP.
pub(super) struct TlsAcceptors {
    pub api: Option<TlsAcceptor>,
    pub loggers: Option<TlsAcceptor>,
}

impl ListenerIdentities {
    pub fn load(settings: &Settings) -> Result<Self, StartError> {
        let load = |files: &Option<TlsFiles>| {
            let identity = files.clone().map(ServerIdentity::load);
            identity.transpose().map_err(tls_failed)
        };
        Ok(Self {
            api: load(&settings.tls)?,
            loggers: load(&settings.logger_tls)?,
        })
    }

    pub fn acceptors(&self) -> Result<TlsAcceptors, StartError> {
        let accept = |identity: &Option<Arc<ServerIdentity>>| {
            let acceptor = identity.as_ref().map(ServerIdentity::acceptor);
            acceptor.transpose().map_err(tls_failed)
        };
        Ok(TlsAcceptors {
            api: accept(&self.api)?,
            loggers: accept(&self.loggers)?,
        })
    }
}

fn tls_failed(error: anyhow::Error) -> StartError {
    StartError::Settings(format!("{error:#}"))
}
