//! The event loop: wait for one event, drain the queues, update, and draw once if something
//! changed.
//!
//! ```text
//!   shutdown · signal · key · answer · update · timer
//!      └─► update ─► effects ─► plan to the poller ─► draw (after a pause)
//! ```
//!
//! There is no tick, so an idle screen costs nothing. Nothing in the loop waits for the network.

use crate::base::{Now, PollEvent, PollPlan, Session, Tone, Update};
use crate::config::{AlertPlan, KeySource};
use crate::core::{Msg, draw as view, update};
use crate::model::Model;
use crate::poller::{Beat, CHANNEL, FindingTextFiles, Poller};
use crate::runtime::alert_outbox::AlertOutbox;
use crate::runtime::browser;
use crate::runtime::settings_watch::watch as watch_settings;
use crate::runtime::terminal::shows_links;
use crate::runtime::{
    ArchiveHandle, Cache, Connected, ConnectionSource, Connector, CopyMethod, DashboardExit,
    DashboardSettings, DashboardStart, DecisionsHandle, DeferredDrop, FRAME, FramePace, Keyboard,
    LastBackground, LocalWrites, ProcessSignal, SignalStream, TeamContext, TeamHandle, Terminal,
    TerminalInput, activity, alert, bundled,
};
use crate::ui::ViewCache;
use crossterm::event::{Event, KeyEvent, KeyEventKind};
use jiff::Timestamp;
use scandeck_client::{CallChanges, Client};
use std::any::Any;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// The longest time by which a signal that was typed in the editor arrives after its end.
const LATE: Duration = Duration::from_millis(500);
/// Least time between two reports of calls to the activity view.
const CALLS: Duration = Duration::from_millis(100);
/// Events handled before a frame is drawn.
const DRAIN: usize = 512;
/// Limit for calls in progress when the dashboard ends.
const GOODBYE: Duration = Duration::from_secs(1);
/// Limit for files in progress when the dashboard ends.
const FILES: Duration = Duration::from_secs(30);

enum Inbound {
    Terminal(io::Result<TerminalInput>),
    Signal(ProcessSignal),
    Update(Update),
    Answer(TaskReport),
    Calls,
    Wake,
    FrameDue,
    Shutdown,
}

pub(crate) enum TaskReport {
    Msg(Box<Msg>),
    Connected(Box<Connected>),
}

/// The connected service and the tasks that belong to it.
pub(crate) struct Backend {
    /// None if a bundle replaces the service.
    pub client: Option<Client>,
    /// The source of the API key.
    pub key: Option<KeySource>,
    /// The data directory of the local service.
    pub service_dir: Option<PathBuf>,
    pub decisions: DecisionsHandle,
    pub archive: ArchiveHandle,
    /// None if a bundle replaces the service.
    pub team: Option<TeamHandle>,
    pub alerts: AlertOutbox,
    /// Awaited only while the activity view is open.
    calls: Option<CallChanges>,
    cache: Option<Cache>,
    keep_alive: Option<Box<dyn Any + Send>>,
    _poller: AbortOnDropHandle<()>,
}

/// The state of the event loop.
pub(crate) struct EventLoop {
    pub model: Model,
    pub cache: ViewCache,
    background: LastBackground,
    pub terminal: Terminal,
    /// The runtime of this thread. Keys and timers that are registered there wake this thread
    /// directly.
    screen: Handle,
    /// When the terminal was asked for its background.
    queried_at: Instant,
    /// None while another program has the terminal.
    pub keyboard: Option<Keyboard>,
    pub signals: SignalStream,
    pub editor_ended: Option<Instant>,
    pub shutdown: CancellationToken,
    pub plans: watch::Sender<PollPlan>,
    pub updates: (mpsc::Sender<Update>, mpsc::Receiver<Update>),
    pub answers: (
        mpsc::UnboundedSender<TaskReport>,
        mpsc::UnboundedReceiver<TaskReport>,
    ),
    pub queue: VecDeque<Msg>,
    pub tasks: JoinSet<()>,
    /// Files in progress.
    pub files: JoinSet<()>,
    /// The service of the start. Its tasks begin after the first frame, so that they do not slow it
    /// down.
    opening: Option<Box<Connected>>,
    pub backend: Option<Backend>,
    pub connect: Connector,
    pub copy_method: CopyMethod,
    pub notify_method: alert::NotifyMethod,
    pub alert_plan: Arc<AlertPlan>,
    pub started: Instant,
    pub pace: FramePace,
    pub woken: Option<Instant>,
    /// When calls were reported last.
    pub calls_read: Instant,
    pub left: Option<Option<i32>>,
    pub spent: DeferredDrop,
    /// Reads changed settings.
    _settings: Option<AbortOnDropHandle<()>>,
}

impl EventLoop {
    /// Takes over the terminal; nothing is requested or drawn yet. `screen` is the runtime of this
    /// thread alone.
    pub fn open(
        screen: Handle,
        opening: DashboardStart,
        connect: Connector,
        settings: DashboardSettings,
        shutdown: CancellationToken,
    ) -> io::Result<Self> {
        let signals = SignalStream::listen()?;
        let mut terminal = Terminal::enter()?;
        let variable = |name: &str| std::env::var(name).ok();
        let background = LastBackground::read(settings.background_file);
        terminal.ask_for_background()?;
        let started = settings.started.unwrap_or_else(Instant::now);
        let mut this = Self {
            model: Model::new(Session::default(), Terminal::size()),
            cache: ViewCache {
                links: shows_links(variable),
                ..ViewCache::new(background.theme(variable))
            },
            background,
            terminal,
            screen,
            queried_at: Instant::now(),
            keyboard: None,
            signals,
            editor_ended: None,
            shutdown,
            plans: watch::Sender::new(PollPlan::default()),
            updates: mpsc::channel(CHANNEL),
            answers: mpsc::unbounded_channel(),
            queue: VecDeque::new(),
            tasks: JoinSet::new(),
            files: JoinSet::new(),
            opening: None,
            backend: None,
            connect,
            copy_method: CopyMethod::of(variable),
            notify_method: alert::NotifyMethod::of(variable),
            alert_plan: Arc::clone(&settings.live.alerts),
            started,
            pace: FramePace::default(),
            woken: None,
            calls_read: Instant::now(),
            left: None,
            spent: DeferredDrop::default(),
            _settings: None,
        };
        this.open_keyboard()?;
        match opening {
            DashboardStart::On(mut connected) => {
                this.use_session(&mut connected);
                this.opening = Some(connected);
            }
            DashboardStart::Prompt(problem) => {
                this.model = Model::new(Session::default(), Terminal::size()).with_setup(problem);
            }
        }
        this.terminal.report_mouse(settings.live.mouse)?;
        this.model.use_settings(settings.live);
        if let Some(source) = settings.source {
            this._settings = Some(AbortOnDropHandle::new(tokio::spawn(watch_settings(
                source,
                this.answers.0.clone(),
            ))));
        }
        Ok(this)
    }

    /// Runs until the dashboard ends.
    pub async fn run(mut self) -> io::Result<DashboardExit> {
        while self.left.is_none() {
            let drawn = self.draw();
            // Also after an error: the end returns what lives as long as the dashboard, and the
            // session.
            if let Some(connected) = self.opening.take() {
                self.take_service(*connected);
            }
            // A terminal that cannot be written is gone, like after a hang-up.
            if drawn.is_err() {
                self.left = Some(Some(1));
                break;
            }
            self.send_plan();
            self.spent.sort_out(
                &self.model.data,
                self.model.findings.triage.earlier.as_ref(),
            );
            let inbound = self.wait().await;
            self.take(inbound).await;
            self.drain().await;
        }
        Ok(self.end().await)
    }

    fn draw(&mut self) -> io::Result<()> {
        if !self.model.screen.dirty || self.pace.due(Instant::now()).is_some() {
            return Ok(());
        }
        self.draw_now()
    }

    /// Draws a frame, due or not.
    pub(super) fn draw_now(&mut self) -> io::Result<()> {
        self.model.screen.dirty = false;
        let begun = Instant::now();
        let (model, cache) = (&self.model, &mut self.cache);
        self.terminal
            .draw(|buf| view::draw_into(model, buf, buf.area, cache))?;
        self.model
            .drawn(self.started.elapsed(), self.cache.measures());
        self.pace.drew(begun, Instant::now());
        Ok(())
    }

    /// The time of the next timer of the model, never twice within a frame.
    fn wake_at(&self) -> Option<Instant> {
        let at = self.model.wake_at()?;
        let at = self.started.checked_add(at)?;
        Some(self.woken.map_or(at, |woken| at.max(woken + FRAME)))
    }

    async fn wait(&mut self) -> Inbound {
        let wake = self.wake_at();
        // A frame that became due meanwhile is drawn at once.
        let frame = self.pace.due(Instant::now()).unwrap_or_else(Instant::now);
        let is_dirty = self.model.screen.dirty;
        let behind = self.is_behind();
        let (frame_due, woken) = {
            let _screen = self.screen.enter();
            (sleep_until(frame), sleep_until(wake.unwrap_or(frame)))
        };
        let terminal = async {
            match &mut self.keyboard {
                Some(keyboard) => keyboard.next().await,
                None => std::future::pending().await,
            }
        };
        let (shows_calls, calls_due) = (self.model.shows_activity(), self.calls_read + CALLS);
        let calls = async {
            match self
                .backend
                .as_mut()
                .and_then(|backend| backend.calls.as_mut())
                .filter(|_| shows_calls)
            {
                Some(changes) => {
                    sleep_until(calls_due).await;
                    changes.changed().await.is_ok()
                }
                None => std::future::pending().await,
            }
        };
        // In this order: the end of the dashboard, input, answers, and last the news of the
        // service.
        tokio::select! {
            biased;
            () = self.shutdown.cancelled() => Inbound::Shutdown,
            signal = self.signals.next() => Inbound::Signal(signal),
            input = terminal => Inbound::Terminal(input),
            Some(answer) = self.answers.1.recv() => Inbound::Answer(answer),
            Some(update) = self.updates.1.recv(), if !behind => Inbound::Update(update),
            true = calls => Inbound::Calls,
            () = frame_due, if is_dirty => Inbound::FrameDue,
            () = woken, if wake.is_some() => Inbound::Wake,
        }
    }

    /// Reads keys, if they are not read yet.
    pub fn open_keyboard(&mut self) -> io::Result<()> {
        if self.keyboard.is_none() {
            let _screen = self.screen.enter();
            self.keyboard = Some(Keyboard::open(self.queried_at)?);
        }
        Ok(())
    }

    fn has_just_edited(&self) -> bool {
        self.editor_ended
            .is_some_and(|ended| ended.elapsed() < LATE)
    }

    async fn take(&mut self, inbound: Inbound) {
        match inbound {
            Inbound::Terminal(Ok(TerminalInput::Event(event))) => self.take_event(event),
            Inbound::Terminal(Ok(TerminalInput::Background(colour))) => {
                self.take_background(colour)
            }
            // The terminal is gone.
            Inbound::Terminal(Err(_)) => self.left = Some(Some(1)),
            // The key that ended the editor, which the kernel reports separately.
            Inbound::Signal(signal) if signal.is_typed() && self.has_just_edited() => {}
            Inbound::Signal(ProcessSignal::End(signal)) => self.left = Some(Some(signal)),
            Inbound::Signal(ProcessSignal::Continued) => self.resume_terminal(),
            Inbound::Signal(ProcessSignal::Resized) => self.take_resize(),
            Inbound::Update(Update {
                generation,
                at,
                event: PollEvent::Captures { logger, new },
            }) => {
                // Captures of another workspace are dropped; they are read again when it is opened.
                if let Some(backend) = self
                    .backend
                    .as_ref()
                    .filter(|_| generation == self.model.connection.generation)
                {
                    backend.archive.take(logger, at, new);
                }
            }
            Inbound::Update(update) => self.take_update(update),
            Inbound::Answer(TaskReport::Msg(msg)) => self.queue.push_back(*msg),
            Inbound::Answer(TaskReport::Connected(mut connected)) => {
                self.use_session(&mut connected);
                self.queue
                    .push_back(Msg::Connected(Ok(connected.session.clone())));
                self.take_service(*connected);
            }
            Inbound::Calls => self.take_calls(),
            Inbound::Wake => {
                self.woken = Some(Instant::now());
                let reason = self.model.next_wake().map(|(_, reason)| reason);
                tracing::trace!(reason, "woken");
                self.queue.push_back(Msg::Wake);
            }
            Inbound::FrameDue => {}
            Inbound::Shutdown => self.left = Some(None),
        }
        self.work_off().await;
    }

    fn take_update(&mut self, update: Update) {
        let backend = self.backend.as_ref();
        if let Some(cache) = backend.and_then(|backend| backend.cache.as_ref()) {
            cache.keep(&update, &self.model);
        }
        self.note_address();
        self.queue.push_back(Msg::Update(update));
    }

    fn take_calls(&mut self) {
        self.calls_read = Instant::now();
        let backend = self.backend.as_ref();
        if let Some(client) = backend.and_then(|backend| backend.client.as_ref()) {
            let recorded = activity::recorded(client);
            self.queue.push_back(Msg::Calls(Box::new(recorded)));
        }
    }

    /// Notes the address of a local service that has started elsewhere, as shown in copies.
    fn note_address(&mut self) {
        let Some(client) = self
            .backend
            .as_ref()
            .and_then(|backend| backend.client.as_ref())
        else {
            return;
        };
        if self.model.session.starts_service {
            let base_url = client.base().to_string();
            if base_url != self.model.session.base_url {
                self.queue.push_back(Msg::ServiceMoved(base_url));
            }
        }
    }

    fn take_event(&mut self, event: Event) {
        self.pace.follow_key();
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.take_key(key),
            Event::Mouse(event) => self.queue.push_back(Msg::Mouse(event)),
            Event::Paste(text) => self.queue.push_back(Msg::Paste(text)),
            _ => {}
        }
    }

    fn take_resize(&mut self) {
        self.pace.follow_key();
        // After two resizes before the next frame, the terminal can have its old size but other
        // content.
        self.terminal.clear();
        self.queue.push_back(Msg::Resize(Terminal::size()));
    }

    /// Several characters for a line that have arrived are one text: the query of every one of them
    /// need not be shown.
    fn take_key(&mut self, key: KeyEvent) {
        let (model, keyboard) = (&self.model, &mut self.keyboard);
        let mut text: String = model.line_letter(key).into_iter().collect();
        while !text.is_empty()
            && let Some(letter) = keyboard
                .as_mut()
                .and_then(|keyboard| keyboard.take_key(|key| model.line_letter(key)))
        {
            text.push(letter);
        }
        self.queue.push_back(if text.chars().nth(1).is_some() {
            Msg::Paste(text)
        } else {
            Msg::Key(key)
        });
    }

    /// Draws again if the terminal has another background than expected.
    fn take_background(&mut self, colour: [u8; 3]) {
        let theme = self.cache.theme.on_background(Some(colour));
        self.model.screen.dirty |= self.cache.set_theme(theme);
        if let Some(write) = self.background.update(colour) {
            self.files.spawn_blocking(write);
        }
    }

    /// Handles the queued events, so that a burst of keys costs one frame. Messages do not delay
    /// the frame of a key for long.
    async fn drain(&mut self) {
        let begun = Instant::now();
        for _ in 0..DRAIN {
            if self.left.is_some() || begun.elapsed() > FRAME {
                return;
            }
            let inbound = match self.keyboard.as_mut().and_then(Keyboard::at_hand) {
                Some(input) => Inbound::Terminal(input),
                None if begun.elapsed() > self.pace.message_time() => return,
                None => match self.answers.1.try_recv() {
                    Ok(answer) => Inbound::Answer(answer),
                    Err(_) if self.is_behind() => return,
                    Err(_) => match self.updates.1.try_recv() {
                        Ok(update) => Inbound::Update(update),
                        Err(_) => return,
                    },
                },
            };
            self.take(inbound).await;
        }
    }

    /// Whether the archive has so many captures to write that updates of the poller must wait.
    fn is_behind(&self) -> bool {
        self.backend
            .as_ref()
            .is_some_and(|backend| backend.archive.is_behind())
    }

    async fn work_off(&mut self) {
        while let Some(msg) = self.queue.pop_front() {
            let now = Now {
                mono: self.started.elapsed(),
                wall: Timestamp::now(),
            };
            for effect in update(&mut self.model, now, msg) {
                self.execute(effect).await;
            }
        }
    }

    fn send_plan(&mut self) {
        if let Some(backend) = &mut self.backend {
            backend.archive.recall(&self.model);
            if let Some(cache) = &mut backend.cache {
                cache.recall(&self.model);
            }
        }
        let plan = self.model.plan();
        self.plans.send_if_modified(|old| {
            let differs = *old != plan;
            *old = plan;
            differs
        });
    }

    /// Puts the session of a service into the model, before its tasks begin.
    fn use_session(&mut self, connected: &mut Connected) {
        connected.session.has_browser = browser::is_visible(|name| std::env::var(name).ok());
        self.model.session = connected.session.clone();
        if let Some(note) = connected.note.take() {
            self.model
                .overlay
                .notices
                .notify(self.started.elapsed(), Tone::Bad, note);
        }
    }

    /// Starts the tasks of a service or bundle.
    fn take_service(&mut self, connected: Connected) {
        let cache_directory = connected.memory.cache.clone();
        let files = FindingTextFiles::new(connected.memory.text_directory());
        let start = |directory| Cache::start(directory, files.clone(), self.answers.0.clone());
        let (cache, begun) = cache_directory.map(start).unzip();
        let beat = Beat::since(self.started);
        let (plans, updates, answers) = (
            self.plans.subscribe(),
            self.updates.0.clone(),
            self.answers.0.clone(),
        );
        let (client, task) = match connected.source {
            ConnectionSource::Service(client) => {
                let poller = Poller::new(client.clone(), plans, updates)
                    .with_texts(files)
                    .with_beat(beat);
                // Cached lists are shown first, and with them the workspace to poll.
                let polling = async move {
                    if let Some(begun) = begun {
                        let _ = begun.await;
                    }
                    poller.run().await;
                };
                (Some(client), tokio::spawn(polling))
            }
            ConnectionSource::Bundle(bundle) => (
                None,
                tokio::spawn(bundled::serve(*bundle, plans, updates, answers)),
            ),
        };
        let (decided, planted) = (LocalWrites::default(), LocalWrites::default());
        let answers = &self.answers.0;
        let memory = connected.memory;
        let archive = ArchiveHandle::start(&memory, beat, answers.clone(), planted.clone());
        let directory = memory.directory.clone();
        let alerts = AlertOutbox::new(directory.clone());
        let decisions = DecisionsHandle::start(memory, beat, answers.clone(), decided.clone());
        let team = client.clone().map(|client| TeamContext {
            client,
            directory,
            is_read_only: connected.session.read_only,
            decisions: decisions.sender(),
            archive: archive.sender(),
            decided,
            planted,
            answers: answers.clone(),
        });
        self.backend = Some(Backend {
            calls: client.as_ref().map(Client::call_changes),
            client,
            key: connected.key,
            service_dir: connected.service_dir,
            cache,
            archive,
            decisions,
            alerts,
            team: team.map(|context| TeamHandle::start(context, beat)),
            keep_alive: connected.keep_alive,
            _poller: AbortOnDropHandle::new(task),
        });
    }

    /// Restores the terminal, waits for calls and files in progress, and summarises the session.
    async fn end(mut self) -> DashboardExit {
        self.release_terminal().await;
        drop(self.terminal);
        // Requested files are written completely, or the log has an error.
        if timeout(FILES, async {
            while self.files.join_next().await.is_some() {}
        })
        .await
        .is_err()
        {
            tracing::error!("ended before all files were written");
        }
        let unfinished = timeout(GOODBYE, async {
            while self.tasks.join_next().await.is_some() {}
        })
        .await
        .is_err();
        if unfinished {
            tracing::warn!("ended before all calls were answered");
        }
        let (mut keep_alive, mut is_saved) = (None, true);
        let connected = self.backend.is_some();
        if let Some(backend) = self.backend {
            backend.archive.end().await;
            is_saved = backend.decisions.end().await;
            if let Some(team) = backend.team {
                team.end().await;
            }
            if let Some(cache) = backend.cache {
                cache.end(&self.model).await;
            }
            keep_alive = backend.keep_alive;
        }
        let scans = self.model.data.scans.value();
        DashboardExit {
            signal: self.left.flatten(),
            session: connected.then(|| self.model.shown_session()),
            active_scans: scans.map_or(0, |scans| {
                scans.items().iter().filter(|scan| scan.is_active()).count()
            }),
            loggers: self
                .model
                .data
                .loggers
                .value()
                .map_or(0, |loggers| loggers.len()),
            is_saved,
            keep_alive,
        }
    }
}
