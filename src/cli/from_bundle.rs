//! `scandeck --from-bundle NAME`: the dashboard on what a bundle told, where there is no service to be reached.
//!
//! The bundle must have been taken up (`scandeck unbundle`): its decisions are in the store then, and those made here
//! join them. Nothing is asked and nothing at a service changed.

use super::advised::Advised;
use super::headless::bundles;
use crate::config::{Config, Environment};
use crate::contract::workspace::is_same_name;
use crate::dashboard::base::Session;
use crate::dashboard::runtime::{Connected, ConnectionSource, Memory};
use crate::text;

/// The dashboard's view of a bundle, by the name of its workspace in any case.
///
/// # Errors
/// When no such bundle was taken up for the service in question.
pub fn open(config: &Config, environment: &Environment, name: &str) -> Result<Connected, Advised> {
    let directory = environment.state_dir().of_service(&config.service());
    let memory = Memory { directory, cache: None, who: config.user.clone(), keep_days: config.keep_days };
    let mut all = bundles::all(&memory);
    let Some(at) = all.iter().position(|bundle| is_same_name(&bundle.manifest.workspace, name)) else {
        let names: Vec<_> = all.iter().map(|bundle| text::clean(&bundle.manifest.workspace)).collect();
        let there = if names.is_empty() { String::new() } else { format!("; there are: {}", names.join(", ")) };
        let what = format!("no bundle of a workspace {name:?} was taken up here");
        return Err(Advised::new(what, format!("`scandeck unbundle FILE` takes one up{there}")));
    };
    let bundle = all.swap_remove(at);
    let session = Session {
        name: "bundle".to_owned(),
        read_only: true,
        bundled: true,
        // Its decisions find their findings only under what they were made with.
        alias: bundle.manifest.alias.clone(),
        ..Session::default()
    };
    Ok(Connected { source: ConnectionSource::Bundle(Box::new(bundle)), session, memory, note: None, keep_alive: None })
}
