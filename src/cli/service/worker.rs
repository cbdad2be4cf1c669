//! `scandeck worker`: runs the scans of a place for a service elsewhere, until a signal.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::DataDirArg;
use super::limits::ScanLimitArgs;
use super::serve::{Hangup, LogFormat, log_to_stderr, stop_on_signal, web_url};
use super::value::{at_least_one, name_server};
use crate::cli::error::CliError;
use scandeck_service::{WorkerPlace, WorkerSettings, is_loopback_url, run_worker};
use scandeck_wire::input_files::{InputKind, read_text};

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck worker --service https://scans.example.net --api-key-file office.key --place office")]
pub struct WorkerArgs {
    #[command(flatten)]
    directory: DataDirArg,
    /// URL of the service
    #[arg(long, value_name = "URL", value_parser = web_url)]
    service: Url,
    /// File with an API key of the role `worker`
    #[arg(long, value_name = "FILE")]
    api_key_file: PathBuf,
    /// The place of the key, whose scans this worker runs
    #[arg(long, value_name = "NAME")]
    place: WorkerPlace,
    /// Targets that this worker may contact; the scope of the service must allow them too
    /// [default: DIR/scope.toml]
    #[arg(long, value_name = "FILE")]
    scope_file: Option<PathBuf>,
    /// Allow scans of private and link-local addresses
    #[arg(long)]
    allow_private: bool,
    /// Allow active tools, which send attacks, against targets whose scope entry has `active`
    #[arg(long)]
    allow_active: bool,
    /// Maximum number of concurrent scans
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = at_least_one::<usize>)]
    scans_at_once: usize,
    /// Name server for scans, instead of the system resolver
    #[arg(long, value_name = "IP:PORT", value_parser = name_server)]
    dns_server: Option<SocketAddr>,
    /// Allow plain HTTP to another machine, which shows the key and the credentials of scans to the
    /// network
    #[arg(long)]
    insecure_http: bool,
    /// Format of the log on standard error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
    #[command(flatten)]
    scan_limits: ScanLimitArgs,
}

impl WorkerArgs {
    fn settings(self) -> anyhow::Result<WorkerSettings> {
        if self.service.scheme() == "http" && !self.insecure_http && !is_loopback_url(&self.service)
        {
            let problem = "--service: plain http would show the API key to the network";
            let hint = "use https://, or --insecure-http";
            return Err(CliError::usage(problem, hint).into());
        }
        Ok(WorkerSettings {
            scope_file: match self.scope_file {
                Some(file) => file,
                None => self.directory.open()?.scope_file(),
            },
            service: self.service,
            place: self.place,
            allow_private: self.allow_private,
            allow_active: self.allow_active,
            scans_at_once: self.scans_at_once,
            scan_limits: self.scan_limits.into(),
            dns_server: self.dns_server,
        })
    }
}

/// Runs the worker until a signal stops it.
///
/// # Errors
/// When the key file or the scope file cannot be used, or the service refuses the worker.
pub async fn run(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    log_to_stderr(args.log_format);
    let stop = CancellationToken::new();
    let signals = tokio::spawn(stop_on_signal(Hangup::Stop, stop.clone()));
    let key = read_key(&args.api_key_file)?;
    let settings = args.settings()?;
    note!(
        "scanning from {} for {}; targets in {}",
        settings.place,
        settings.service,
        settings.scope_file.display()
    );
    let ended = run_worker(settings, &key, None, stop).await;
    signals.abort();
    ended.map(|()| ExitCode::SUCCESS)
}

fn read_key(file: &Path) -> anyhow::Result<String> {
    let hint = "on the machine of the service, `scandeck keys add NAME --role worker --place PLACE` prints one";
    let text = read_text(file, InputKind::Secret);
    let text = text.map_err(|error| {
        let problem = format!("--api-key-file {}: {error}", file.display());
        CliError::new(problem, hint)
    })?;
    match text.trim() {
        "" => {
            let problem = format!("--api-key-file {}: the file is empty", file.display());
            Err(CliError::new(problem, hint).into())
        }
        key => Ok(key.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        worker: WorkerArgs,
    }

    fn settings(service: &str, flags: &[&str]) -> anyhow::Result<WorkerSettings> {
        let args = ["worker", "--service", service, "--api-key-file", "k"];
        let place = ["--place", "office", "--scope-file", "/x/scope.toml"];
        let all = args.iter().chain(&place).chain(flags);
        Command::try_parse_from(all).unwrap().worker.settings()
    }

    #[test]
    fn plain_http_to_another_machine_needs_a_flag() {
        let refused = settings("http://10.0.0.5:8765", &[]).unwrap_err();
        assert!(refused.to_string().contains("plain http"), "{refused}");
        for (service, flags) in [
            ("http://10.0.0.5:8765", vec!["--insecure-http"]),
            ("http://127.0.0.1:8765", vec![]),
            ("https://scans.example.net", vec![]),
        ] {
            let accepted = settings(service, &flags).unwrap();
            assert_eq!(accepted.scope_file, Path::new("/x/scope.toml"));
        }
    }
}
