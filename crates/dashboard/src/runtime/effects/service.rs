//! Work at the service besides the calls of keys: report formats, its key, its start, its scope.

use crate::core::Msg;
use crate::runtime::event_loop::EventLoop;
use scandeck_client::Problem;

impl EventLoop {
    /// Reads the report formats of the service. A service without an OpenAPI document accepts or
    /// refuses each report itself.
    pub(super) fn read_report_formats(&mut self) {
        let Some(client) = self
            .backend
            .as_ref()
            .and_then(|backend| backend.client.clone())
        else {
            return;
        };
        self.spawn(async move {
            match client.without_retries().report_formats().await {
                Ok(Some(formats)) => Msg::ReportFormats(formats),
                Ok(None) | Err(_) => Msg::Wake,
            }
        });
    }

    /// Reads the API key again and uses it.
    pub(super) fn read_key(&mut self) {
        let backend = self.backend.as_ref();
        let Some((client, key)) =
            backend.and_then(|it| Some((it.client.clone()?, it.key.clone()?)))
        else {
            return;
        };
        self.spawn(async move {
            let read = async {
                let secret = key.read_again().await?;
                client.replace_key(&secret).map_err(Problem::from)
            };
            Msg::KeyRead {
                source: key.to_string(),
                result: read.await,
            }
        });
    }

    /// Starts the local service again, and uses its key.
    pub(super) fn start_service(&mut self) {
        let backend = self.backend.as_ref();
        let Some((client, directory)) =
            backend.and_then(|it| Some((it.client.clone()?, it.service_dir.clone()?)))
        else {
            return;
        };
        self.spawn(async move {
            let start = async {
                let service = crate::runtime::local::find_or_start(&directory)
                    .await
                    .map_err(|error| Problem::local(error.to_string()).with_hint(error.hint()))?;
                if !client.can_move_to(&service.base) {
                    let moved = format!("the service now listens on {}", service.base);
                    return Err(
                        Problem::local(moved).with_hint("restart scandeck to connect to it")
                    );
                }
                client.replace_key(&service.key).map_err(Problem::from)?;
                Ok(service.note)
            };
            Msg::ServiceStarted(start.await)
        });
    }

    /// Adds targets to the scope of the local service.
    pub(super) fn add_to_scope(&mut self, names: Vec<String>) {
        let Some(directory) = self.backend.as_ref().and_then(|it| it.service_dir.clone()) else {
            return;
        };
        self.spawn(async move {
            let added = crate::runtime::local::add_to_scope(&directory, &names).await;
            Msg::ScopeExtended(
                added.map_err(|error| Problem::local(error.to_string()).with_hint(error.hint())),
            )
        });
    }
}
