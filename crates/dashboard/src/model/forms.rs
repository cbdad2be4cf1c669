//! Opening and checking forms.

use crate::base::Tone;
use crate::forms::Form;
use crate::model::{Modal, Model};

impl Model {
    /// Opens a form with the input of its draft. A draft of a report is of the rows that its form
    /// was opened for.
    pub(crate) fn open_form(&mut self, mut form: Form) {
        let is_of_these_rows = |draft: &Form| draft.subject.sets == form.subject.sets;
        if self
            .overlay
            .drafts
            .get(&form.tag)
            .is_some_and(is_of_these_rows)
            && let Some(draft) = self.overlay.drafts.remove(&form.tag)
        {
            if draft.is_touched() {
                self.notify(Tone::Plain, "draft restored");
            }
            form.restore(draft);
        }
        form.subject.refused_formats = self.calls.refused_formats.clone();
        self.overlay.modals.push(Modal::Form(Box::new(form)));
        self.check_form();
    }

    /// Passes the refused report formats on to the open forms.
    pub(crate) fn pass_on_refused_formats(&mut self) {
        let modals = self.overlay.modals.iter_mut();
        for form in modals.filter_map(Modal::try_as_form_mut) {
            form.subject
                .refused_formats
                .clone_from(&self.calls.refused_formats);
        }
    }

    /// Checks the form that has the keys and marks its invalid fields. Returns whether it can be
    /// sent.
    pub(crate) fn check_form(&mut self) -> bool {
        match self.overlay.modals.last_mut() {
            Some(Modal::Form(form)) => form.check(&self.data),
            _ => false,
        }
    }
}
