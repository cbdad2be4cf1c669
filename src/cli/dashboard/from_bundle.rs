//! `scandeck --from-bundle NAME`: the dashboard on an imported bundle, without a service.
//!
//! `scandeck unbundle` has imported the decisions of the bundle; new decisions are added to them.
//! Nothing is sent to a service.

use super::headless::bundles;
use super::headless::session::memory;
use crate::cli::error::CliError;
use scandeck_dashboard::base::Session;
use scandeck_dashboard::config::{Config, Environment};
use scandeck_dashboard::runtime::{Connected, ConnectionSource};
use scandeck_wire::contract::workspace::is_same_name;
use scandeck_wire::text;

/// Opens a bundle by the name of its workspace, in any case.
///
/// # Errors
/// When no bundle of this workspace was imported for the configured service.
pub fn open(config: &Config, environment: &Environment, name: &str) -> Result<Connected, CliError> {
    let memory = memory(environment, config, &config.service());
    let mut all = bundles::all(&memory);
    let Some(at) = all
        .iter()
        .position(|bundle| is_same_name(&bundle.manifest.workspace, name))
    else {
        let names: Vec<_> = all
            .iter()
            .map(|bundle| text::clean(&bundle.manifest.workspace).into_owned())
            .collect();
        let others = if names.is_empty() {
            String::new()
        } else {
            format!("; bundles: {}", names.join(", "))
        };
        let message = format!("bundle of workspace {name:?} not found");
        return Err(CliError::new(
            message,
            format!("`scandeck unbundle FILE` imports a bundle{others}"),
        ));
    };
    let bundle = all.swap_remove(at);
    let session = Session {
        name: "bundle".to_owned(),
        read_only: true,
        bundled: true,
        // The decisions find their findings only with the alias of the bundle.
        alias: bundle.manifest.alias.clone(),
        ..Session::default()
    };
    let source = ConnectionSource::Bundle(Box::new(bundle));
    Ok(Connected {
        source,
        session,
        memory,
        key: None,
        service_dir: None,
        note: None,
        keep_alive: None,
    })
}
