//! The engine of this process: its scope, its resolver and its lanes.

use std::sync::Arc;

use super::SCAN_DESCRIPTORS;
use super::sockets::Sockets;
use crate::data::data_dir::DataDir;
use crate::engine::pace::Lanes;
use crate::engine::{Engine, EngineSettings, ServicePorts};
use crate::errors::StartError;
use crate::net::descriptors::DescriptorShares;
use crate::net::dns::DnsClient;
use crate::net::resolver::Resolver;
use crate::runs::lanes::JOIN;
use crate::runs::worker::Runner;
use crate::scope::Pattern;
use crate::scope_check::{ActiveUse, ScopeCheck, ScopeCheckSettings};
use crate::settings::Settings;

pub(super) fn engine(
    settings: &Settings,
    scope_check: ScopeCheck,
    system_resolver: &Arc<dyn Resolver>,
    sockets: &Sockets,
    lanes: Arc<Lanes>,
) -> Arc<dyn Runner> {
    let resolver: Arc<dyn Resolver> = match settings.dns_server {
        Some(server) => Arc::new(DnsClient::new(server)),
        None => Arc::clone(system_resolver),
    };
    let service_ports = ServicePorts::default();
    service_ports.add(sockets.api_address);
    if sockets.loggers.is_some() {
        service_ports.add(sockets.logger_address);
    }
    Arc::new(Engine::new(EngineSettings {
        scope_check: Arc::new(scope_check),
        resolver,
        trust_anchors: settings.trust_anchors.clone(),
        service_ports,
        limits: settings.scan_limits,
        lanes,
    }))
}

/// The lanes of the scans of this process. With PostgreSQL, other nodes may scan the same hosts.
pub(super) fn scan_lanes(settings: &Settings, shares: DescriptorShares) -> Arc<Lanes> {
    let probes = shares
        .scans
        .saturating_sub(settings.scans_at_once * SCAN_DESCRIPTORS);
    Arc::new(match settings.database {
        Some(_) => Lanes::waiting(probes, JOIN),
        None => Lanes::new(probes),
    })
}

pub(super) fn scope_check_settings(
    settings: &Settings,
    dir: &DataDir,
) -> Result<ScopeCheckSettings, StartError> {
    let pattern = |text: &String| {
        Pattern::allowance(text)
            .map_err(|error| StartError::Settings(format!("--allow-target {text}: {error}")))
    };
    let command_suffix = if dir.command_suffix().is_empty() {
        ""
    } else {
        " --data-dir DIR"
    };
    Ok(ScopeCheckSettings {
        scope_file: dir.scope_file(),
        allow_private: settings.allow_private,
        allow_active: settings.allow_active,
        active_use: ActiveUse::Scans,
        allow_targets: settings
            .allow_targets
            .iter()
            .map(pattern)
            .collect::<Result<_, _>>()?,
        only_here: false,
        only_listed: false,
        command_suffix,
    })
}

/// The scope of the scans of this process: those of a place run at its workers.
pub(super) fn engine_scope(settings: &Settings, dir: &DataDir) -> Result<ScopeCheck, StartError> {
    Ok(ScopeCheck::new(ScopeCheckSettings {
        only_here: true,
        ..scope_check_settings(settings, dir)?
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_do_not_name_the_data_directory() {
        let temp = tempfile::tempdir().unwrap();
        let dir = DataDir::open(temp.path()).unwrap();
        assert_eq!(
            scope_check_settings(&Settings::new(temp.path()), &dir)
                .unwrap()
                .command_suffix,
            " --data-dir DIR"
        );
    }
}
