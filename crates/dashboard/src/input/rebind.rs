//! Changes of the key map by the configuration (`[keys]`), which `config/file.rs` reads. Conflicts
//! are found by `Keymap::bind` in `keymap.rs`.
//!
//! ```text
//!   [keys.findings]            the keys of an action in a context are replaced, all at once, so that two actions
//!   retest = ["s", "space r"]  can exchange their keys; then every key must have one meaning per context
//! ```

use crate::config::file::{CommandSetting, KeySetting};
use crate::input::action::TerminalAction;
use crate::input::{
    Action, Context, CustomAction, Entry, KeyChord, KeySequence, Keymap, KeymapError,
};
use scandeck_domain::query::error::nearest;

/// An invalid line of `[keys]`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct RebindError {
    /// The line in the configuration file.
    pub line: usize,
    error: KeymapError,
}

impl RebindError {
    /// The next step for the user.
    pub fn hint(&self) -> String {
        match &self.error {
            KeymapError::Place(place) => {
                let near = nearest(place, Context::ALL.map(Context::name).into_iter());
                let near = near
                    .map(|name| format!("did you mean [keys.{name}]? · "))
                    .unwrap_or_default();
                format!("{near}`scandeck keys` lists the contexts")
            }
            KeymapError::Action { action, .. } => {
                let near = nearest(action, Action::ALL.iter().map(|action| action.name()));
                let near = near
                    .map(|name| format!("did you mean `{name}`? · "))
                    .unwrap_or_default();
                format!("{near}`scandeck keys` lists the actions")
            }
            KeymapError::Twice { place, first, .. } | KeymapError::Overlap { place, first, .. } => {
                match Action::named(first) {
                    Some(_) => format!(
                        "choose another key, or unbind {first}: [keys.{place}] {first} = []"
                    ),
                    None => {
                        format!("choose another key, or change the key of the command {first:?}")
                    }
                }
            }
            KeymapError::Command { hint, .. } => (*hint).to_owned(),
            KeymapError::Reserved { .. } => "choose another key".to_owned(),
            KeymapError::Single { place, action, key }
                if Context::named(place).is_some_and(|context| context.opened_by().is_some()) =>
            {
                let last = key.split(' ').next_back().unwrap_or(key);
                format!("write only the last key: {action} = \"{last}\"")
            }
            KeymapError::Single { .. } => {
                "use one key; sequences work in panes, lists and texts only".to_owned()
            }
            KeymapError::Typed { .. } => {
                "use a named key or one with ctrl-, because characters are typed here".to_owned()
            }
            KeymapError::Key { .. } | KeymapError::Toml(_) => {
                "use a key such as x or ctrl-s, or up to four keys such as \"g g\"".to_owned()
            }
        }
    }
}

impl Keymap {
    /// The key map with the settings of the configuration. An action without keys is unbound.
    ///
    /// # Errors
    /// When a context, action or key does not exist, or a key has two meanings in one context.
    pub fn rebound(&self, settings: &[KeySetting]) -> Result<Self, RebindError> {
        let mut entries: Vec<Entry> = self.all().to_vec();
        let mut changed = Vec::new();
        for setting in settings {
            let at = |error| RebindError {
                line: setting.line,
                error,
            };
            let context = Context::named(&setting.context)
                .ok_or_else(|| at(KeymapError::Place(setting.context.clone())))?;
            let action = Action::named(&setting.action).ok_or_else(|| {
                at(KeymapError::Action {
                    place: context.name(),
                    action: setting.action.clone(),
                })
            })?;
            match entries
                .iter_mut()
                .find(|entry| entry.context == context && entry.action == action)
            {
                Some(entry) => entry.keys.clear(),
                None => entries.push(Entry {
                    context,
                    action,
                    keys: Vec::new(),
                }),
            }
            changed.push((setting, context, action));
        }
        let mut keymap = Self::of(entries);
        for (setting, context, action) in changed {
            for key in &setting.keys {
                let error = |error| RebindError {
                    line: setting.line,
                    error,
                };
                let sequence = parse(context, action, key).map_err(error)?;
                keymap.bind(context, action, sequence).map_err(error)?;
            }
        }
        Ok(keymap)
    }
}

impl Keymap {
    /// The key map with the commands of the configuration.
    ///
    /// # Errors
    /// When a command has no program, an unknown context, or the name or key of another action.
    pub fn with_commands(self, settings: &[CommandSetting]) -> Result<Self, RebindError> {
        let mut keymap = self;
        for setting in settings {
            let at = |error| RebindError {
                line: setting.line,
                error,
            };
            let action = CustomAction::new(setting);
            let name = &*action.command().name;
            let wrong = |why, hint| {
                at(KeymapError::Command {
                    name: name.to_owned(),
                    why,
                    hint,
                })
            };
            if setting.words.is_empty() {
                let why = "`command` is missing or empty".to_owned();
                return Err(wrong(why, "add command = [\"program\", \"argument\"]"));
            }
            let of_commands = "use a pane such as findings, or lists, text or everywhere";
            let context = Context::named(&setting.context).ok_or_else(|| {
                wrong(
                    format!("unknown context {:?}", setting.context),
                    of_commands,
                )
            })?;
            if !context.takes_sequences() {
                return Err(wrong(
                    format!("no commands in the context {:?}", setting.context),
                    of_commands,
                ));
            }
            if Action::named(name).is_some() {
                return Err(wrong(
                    "the name is taken by an action".to_owned(),
                    "choose another name",
                ));
            }
            if keymap.custom(name).is_some() {
                return Err(wrong(
                    "the name is taken by another command".to_owned(),
                    "choose another name",
                ));
            }
            let action = Action::Custom(action);
            keymap.push(Entry {
                context,
                action,
                keys: Vec::new(),
            });
            for key in &setting.keys {
                let sequence = parse(context, action, key).map_err(at)?;
                keymap.bind(context, action, sequence).map_err(at)?;
            }
        }
        Ok(keymap)
    }
}

/// Parses a key that is possible in this context.
fn parse(context: Context, action: Action, key: &str) -> Result<KeySequence, KeymapError> {
    let (place, name) = (context.name(), action.name());
    let sequence = KeySequence::parse(key).ok_or_else(|| KeymapError::Key {
        place,
        action: name,
        key: key.to_owned(),
    })?;
    if sequence.keys().contains(&KeyChord::ctrl('c'))
        && action != Action::Terminal(TerminalAction::Cancel)
    {
        return Err(KeymapError::Reserved {
            place,
            action: name,
        });
    }
    if sequence.keys().len() > 1 && !context.takes_sequences() {
        return Err(KeymapError::Single {
            place,
            action: name,
            key: key.to_owned(),
        });
    }
    let is_typed = sequence
        .keys()
        .iter()
        .any(|key| key.typed().is_some_and(|letter| letter != ' '));
    if is_typed && matches!(context, Context::Line | Context::Form) {
        return Err(KeymapError::Typed {
            place,
            action: name,
            key: key.to_owned(),
        });
    }
    Ok(sequence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::keymap::KeyStep;
    use crate::input::{AppAction, ItemAction, ListAction, VerdictAction, ViewAction};

    fn setting(line: usize, context: &str, action: &str, keys: &[&str]) -> KeySetting {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        KeySetting {
            line,
            context: context.to_owned(),
            action: action.to_owned(),
            keys,
        }
    }

    fn rebound(settings: &[KeySetting]) -> Keymap {
        Keymap::builtin().rebound(settings).unwrap()
    }

    const FINDINGS: [Context; 3] = [Context::Findings, Context::Lists, Context::Everywhere];

    #[test]
    fn keys_of_an_action_are_replaced_in_one_context() {
        let keymap = rebound(&[
            setting(1, "findings", "retest", &["S", "f5"]),
            setting(2, "findings", "confirm", &["s"]),
            setting(3, "lists", "zoom", &["ctrl-w"]),
        ]);
        let action = |key: &str| keymap.action(&FINDINGS, KeyChord::parse(key).unwrap());
        let retest = Some(Action::Item(ItemAction::Retest));
        assert_eq!(
            (action("S"), action("f5"), action("c")),
            (retest, retest, None)
        );
        assert_eq!(
            action("s"),
            Some(Action::Verdict(VerdictAction::Confirm)),
            "the key of the other one"
        );
        assert_eq!(
            action("ctrl-w"),
            Some(Action::View(ViewAction::Zoom)),
            "an action in a further context"
        );
        assert_eq!(
            keymap.action(&[Context::Scans], KeyChord::char('s')),
            Some(Action::Item(ItemAction::ScanAgain))
        );
        let hints = keymap.hints(Context::Findings);
        assert!(
            hints
                .iter()
                .any(|hint| hint.key == "S" && hint.label == "retest"),
            "{hints:?}"
        );
    }

    #[test]
    fn action_without_keys_is_unbound_and_named_by_its_command() {
        let keymap = rebound(&[
            setting(1, "lists", "filter", &[]),
            setting(2, "everywhere", "go", &[]),
        ]);
        assert_eq!(keymap.action(&FINDINGS, KeyChord::char('/')), None);
        assert_eq!(
            keymap.label(Context::Lists, Action::List(ListAction::Filter)),
            ":filter"
        );
        let target = Action::named("go_target").unwrap();
        assert_eq!(
            keymap.label(Context::Go, target),
            ":go target",
            "no key leads to the second key"
        );
    }

    #[test]
    fn printed_sequences_follow_their_first_key() {
        let keymap = rebound(&[
            setting(1, "everywhere", "go", &["space"]),
            setting(2, "lists", "mark", &["m"]),
        ]);
        assert_eq!(keymap.title(Context::Go), "space, then");
        let target = Action::named("go_target").unwrap();
        assert_eq!(keymap.label(Context::Go, target), "space t");
        assert_eq!(Keymap::builtin().label(Context::Go, target), "gt");
        assert_eq!(
            Keymap::builtin().title(Context::Shape),
            "yp, then the payload shape"
        );
        assert_eq!(
            keymap.action(&FINDINGS, KeyChord::char(' ')),
            Some(Action::App(AppAction::GoPrefix))
        );
    }

    #[test]
    fn sequence_waits_for_its_last_key() {
        let keymap = rebound(&[
            setting(1, "findings", "retest", &["Z r"]),
            setting(2, "findings", "report", &["Z p"]),
        ]);
        let (first, second) = (KeyChord::char('Z'), KeyChord::char('r'));
        assert_eq!(keymap.step(&FINDINGS, &[], first), KeyStep::Partial);
        assert_eq!(
            keymap.step(&FINDINGS, &[first], second),
            KeyStep::Action(Action::Item(ItemAction::Retest))
        );
        assert_eq!(
            keymap.step(&FINDINGS, &[first], KeyChord::char('x')),
            KeyStep::Unknown
        );
        let next: Vec<String> = keymap
            .continuations(&FINDINGS, &[first])
            .into_iter()
            .map(|hint| hint.key)
            .collect();
        assert_eq!(next, ["r", "p"]);
    }

    fn command(line: usize, name: &str, context: &str, key: &str) -> CommandSetting {
        let (words, keys) = (
            vec!["tracker".to_owned(), "add".to_owned()],
            vec![key.to_owned()],
        );
        let (name, context) = (name.to_owned(), context.to_owned());
        CommandSetting {
            line,
            name,
            context,
            keys,
            words,
            changes: true,
            ..CommandSetting::default()
        }
    }

    #[test]
    fn command_of_the_configuration_has_a_key_and_a_line_of_the_help() {
        let keymap = rebound(&[])
            .with_commands(&[command(1, "ticket", "findings", "Z t")])
            .unwrap();
        let (first, second) = (KeyChord::char('Z'), KeyChord::char('t'));
        let KeyStep::Action(action) = keymap.step(&FINDINGS, &[first], second) else {
            panic!("no action")
        };
        assert_eq!((action.name(), action.changes()), ("ticket", true));
        let help = keymap.help();
        let section = help
            .iter()
            .find(|section| section.context == Context::Findings)
            .unwrap();
        let line = (action, vec!["Zt".to_owned()], "ticket: run `tracker add`");
        assert!(section.lines.contains(&line), "{:?}", section.lines);
    }

    #[test]
    fn invalid_command_is_refused_with_line_and_remedy() {
        let empty = CommandSetting {
            words: Vec::new(),
            ..command(2, "x", "lists", "Z")
        };
        for (settings, line, words) in [
            (
                vec![command(3, "ticket", "findings", "c")],
                3,
                "c is assigned to both confirm and ticket",
            ),
            (
                vec![command(1, "a", "lists", "Z"), command(4, "b", "lists", "Z")],
                4,
                "both a and b",
            ),
            (
                vec![command(1, "a", "lists", "Z"), command(5, "a", "lists", "W")],
                5,
                "the name is taken by another command",
            ),
            (
                vec![command(6, "zoom", "lists", "Z")],
                6,
                "\"zoom\": the name is taken by an action",
            ),
            (
                vec![command(7, "a", "prompts", "Z")],
                7,
                "no commands in the context \"prompts\"",
            ),
            (
                vec![command(8, "a", "moon", "Z")],
                8,
                "[[commands]] \"a\": unknown context \"moon\"",
            ),
            (vec![empty], 2, "`command` is missing or empty"),
        ] {
            let error = rebound(&[]).with_commands(&settings).unwrap_err();
            assert!(
                error.line == line && error.to_string().contains(words),
                "{error}"
            );
            assert!(!error.hint().is_empty());
        }
    }

    /// The remedy of an invalid setting, as printed.
    fn remedy(error: Result<Keymap, RebindError>) -> String {
        error.unwrap_err().hint()
    }

    #[test]
    fn remedy_of_a_used_key_is_accepted() {
        let taken = setting(1, "findings", "retest", &["c"]);
        let hint = "choose another key, or unbind confirm: [keys.findings] confirm = []";
        assert_eq!(
            remedy(Keymap::builtin().rebound(std::slice::from_ref(&taken))),
            hint
        );
        assert_eq!(
            remedy(rebound(&[]).with_commands(&[command(1, "ticket", "findings", "c")])),
            hint
        );
        rebound(&[taken, setting(2, "findings", "confirm", &[])]);
        let twice = [command(1, "a", "lists", "Z"), command(2, "b", "lists", "Z")];
        let hint = "choose another key, or change the key of the command \"a\"";
        assert_eq!(remedy(rebound(&[]).with_commands(&twice)), hint);
    }

    #[test]
    fn context_in_the_remedy_of_a_command_is_accepted() {
        let hint = remedy(rebound(&[]).with_commands(&[command(1, "a", "texts", "Z")]));
        assert_eq!(
            hint,
            "use a pane such as findings, or lists, text or everywhere"
        );
        for context in ["findings", "lists", "text", "everywhere"] {
            rebound(&[])
                .with_commands(&[command(1, "a", context, "Z x")])
                .unwrap();
        }
    }

    #[test]
    fn invalid_setting_is_refused_with_line_and_remedy() {
        for (settings, line, words) in [
            (
                vec![setting(4, "findings", "retest", &["c"])],
                4,
                "c is assigned to both confirm and retest",
            ),
            (
                vec![
                    setting(2, "findings", "retest", &["Z"]),
                    setting(3, "findings", "report", &["Z p"]),
                ],
                3,
                "\"Z p\" of report and \"Z\" of retest",
            ),
            (
                vec![setting(5, "findings", "retest", &["hyper-x"])],
                5,
                "invalid key \"hyper-x\"",
            ),
            (
                vec![setting(6, "moon", "retest", &["s"])],
                6,
                "unknown context [keys.moon]",
            ),
            (
                vec![setting(7, "findings", "fly", &["s"])],
                7,
                "unknown action \"fly\"",
            ),
            (vec![setting(8, "prompts", "yes", &["y y"])], 8, "y y"),
            (vec![setting(9, "line", "accept", &["x"])], 9, "x"),
            (
                vec![setting(10, "findings", "retest", &["ctrl-c"])],
                10,
                "retest: ctrl-c always cancels",
            ),
        ] {
            let error = Keymap::builtin().rebound(&settings).unwrap_err();
            assert!(
                error.line == line && error.to_string().contains(words),
                "{error}"
            );
            assert!(!error.hint().is_empty());
        }
    }
}
