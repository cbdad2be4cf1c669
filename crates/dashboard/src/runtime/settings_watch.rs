//! Reads the settings again when the configuration file or a theme file changes.
//!
//! The kernel wakes this task (inotify), so nothing runs while no file changes. A system without
//! inotify needs a restart.

use crate::base::LiveSettings;
use crate::core::Msg;
use crate::runtime::TaskReport;
use scandeck_domain::problem::Problem;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// The configuration file and its reader.
#[derive(Clone)]
pub struct SettingsSource {
    pub file: PathBuf,
    pub read: Arc<dyn Fn() -> Result<LiveSettings, Problem> + Send + Sync>,
}

#[cfg(not(target_os = "linux"))]
pub(crate) async fn watch(_: SettingsSource, _: UnboundedSender<TaskReport>) {}

/// Sends the settings after each change, until the dashboard ends. The changes count from the call
/// on.
#[cfg(target_os = "linux")]
pub(crate) fn watch(
    source: SettingsSource,
    answers: UnboundedSender<TaskReport>,
) -> impl Future<Output = ()> + Send {
    let changes = linux::FileChanges::of(&source.file);
    async move {
        let Some(mut changes) = changes else { return };
        while changes.next().await.is_some() {
            let read = Arc::clone(&source.read);
            let Ok(result) = tokio::task::spawn_blocking(move || read()).await else {
                return;
            };
            let msg = Msg::SettingsRead(result.map(Box::new));
            if answers.send(TaskReport::Msg(Box::new(msg))).is_err() {
                return;
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use std::fs;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::{Path, PathBuf};
    use std::time::Duration;
    use tokio::io::unix::AsyncFd;
    use tokio::time::sleep;

    /// Editors write a file in several steps.
    const SETTLED: Duration = Duration::from_millis(100);

    /// The directories of the configuration and of the themes. Directories, because editors replace
    /// files.
    pub(super) struct FileChanges {
        events: AsyncFd<OwnedFd>,
        file: PathBuf,
        /// The watch on the directory of the themes.
        themes: Option<i32>,
    }

    impl FileChanges {
        // `AsyncFd::new` is unsound for types that give away another descriptor each time. An
        // `OwnedFd` never does.
        #[allow(deprecated)]
        pub fn of(file: &Path) -> Option<Self> {
            let flags = CreateFlags::NONBLOCK | CreateFlags::CLOEXEC;
            let events = init(flags).map_err(Into::into).and_then(AsyncFd::new);
            let mut changes = Self {
                events: events.ok()?,
                file: file.to_owned(),
                themes: None,
            };
            changes.follow().then_some(changes)
        }

        /// Watches the directories that exist now: a theme directory may be made later, a link may
        /// lead elsewhere. Whether there is one.
        fn follow(&mut self) -> bool {
            let flags = WatchFlags::CLOSE_WRITE
                | WatchFlags::MOVE
                | WatchFlags::CREATE
                | WatchFlags::DELETE;
            let target = fs::canonicalize(&self.file).ok();
            self.themes = add_watch(&self.events, self.file.with_file_name("themes"), flags).ok();
            let own = self.file.parent().map(Path::to_owned);
            let directories = [
                own,
                target.as_deref().and_then(Path::parent).map(Path::to_owned),
            ];
            let watched = directories
                .iter()
                .flatten()
                .filter(|path| add_watch(&self.events, *path, flags).is_ok());
            watched.count() > 0
        }

        /// Waits for a change of the configuration file or of a theme file.
        pub async fn next(&mut self) -> Option<()> {
            loop {
                let mut ready = self.events.readable().await.ok()?;
                let is_ours = self.read_events();
                ready.clear_ready();
                if is_ours {
                    sleep(SETTLED).await;
                    self.read_events();
                    self.follow();
                    return Some(());
                }
            }
        }

        /// Takes the events at hand. Whether one names a file of the settings.
        fn read_events(&self) -> bool {
            let names = [
                self.file.file_name().map(Path::new),
                Some(Path::new("themes")),
            ];
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = Reader::new(self.events.get_ref(), &mut buffer);
            let mut is_ours = false;
            while let Ok(event) = reader.next() {
                let name = event
                    .file_name()
                    .and_then(|name| name.to_str().ok())
                    .map(Path::new);
                let is_theme = self.themes == Some(event.wd())
                    && name
                        .and_then(Path::extension)
                        .is_some_and(|end| end == "toml");
                is_ours |= is_theme || names.contains(&name);
            }
            is_ours
        }
    }
}
