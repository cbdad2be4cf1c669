//! Notices, texts and prompts over the panes.

use crate::base::Tone;
use crate::input::{Action, Context, KeyChord, KeyEvent, KeyStep};
use crate::model::{CommandLine, Modal, Model, TextBox};
use crate::prompts::{Prompt, PromptAnswer};
use crate::text::TextInput;

/// The beginning of the notice while an export is written.
const SAVING: &str = "saving ";

impl Model {
    /// Opens the command line with a text. The core looks up the completions.
    pub(crate) fn open_command_line(&mut self, text: &str) {
        let line = CommandLine {
            input: TextInput::line(text),
            ..CommandLine::default()
        };
        self.overlay.modals.push(Modal::Command(Box::new(line)));
    }

    /// Shows a text over the panes.
    pub(crate) fn show_text(&mut self, title: impl Into<String>, body: impl Into<String>) {
        self.overlay.modals.push(Modal::Text(TextBox {
            title: title.into(),
            body: body.into(),
            scroll: 0,
        }));
    }

    /// The character that a key types into the open line of a filter or a search. Blanks are keys
    /// of their own, because pasted text loses those at its ends.
    pub(crate) fn line_letter(&self, event: KeyEvent) -> Option<char> {
        if !matches!(self.overlay.modals.last(), Some(Modal::Line(_))) {
            return None;
        }
        let key = KeyChord::from(event);
        let step = self.keyboard.keymap.step(&self.contexts(), &[], key);
        key.typed()
            .filter(|letter| !letter.is_whitespace() && matches!(step, KeyStep::Unknown))
    }

    /// Shows a notice.
    pub(crate) fn notify(&mut self, tone: Tone, text: impl Into<String>) {
        self.overlay.notices.notify(self.now.mono, tone, text);
    }

    /// Shows that an export is written, which may take seconds, until it is saved.
    pub(crate) fn notify_saving(&mut self, name: &str) {
        let text = format!("{SAVING}{name}");
        let notices = &mut self.overlay.notices;
        notices.notify_until_seen(self.now.mono, Tone::Plain, text);
    }

    /// Removes the notice of an export that ended.
    pub(crate) fn remove_saving(&mut self) {
        self.overlay.notices.remove_starting(&[SAVING]);
    }

    /// Notifies that an action has no effect in the focused pane.
    pub(crate) fn notify_no_effect(&mut self, action: Action) {
        self.notify(
            Tone::Plain,
            format!("`{}` has no effect here", action.command()),
        );
    }

    /// The key of an action, for notices.
    pub(crate) fn key_label(&self, context: Context, action: Action) -> String {
        self.keyboard.keymap.label(context, action)
    }

    pub(crate) fn open_prompt(&mut self, prompt: Prompt) {
        let mut prompt = prompt.opened_at(self.now.mono, self.keyboard.key);
        // The name to type is the one that is shown.
        if let (Some(mask), PromptAnswer::Type { word, .. }) = (self.mask(), &mut prompt.answer) {
            *word = mask.text(word).into_owned();
        }
        self.overlay.modals.push(Modal::Prompt(Box::new(prompt)));
    }
}
