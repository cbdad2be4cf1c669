//! Bytes of a terminal, in any splits and with any pauses, and the inputs that they are.

use super::*;
use crate::core::Msg;
use crate::testing::{Effect, TestDashboard};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::collection::vec;
use proptest::prelude::*;

/// A parser with a clock.
struct Line {
    parser: InputParser,
    now: Instant,
}

impl Line {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            parser: InputParser::new(now),
            now,
        }
    }

    fn read(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.parser.take(bytes.as_ref(), self.now);
        self
    }

    fn pause(&mut self, pause: Duration) -> &mut Self {
        self.now += pause;
        self.parser.release_late(self.now);
        self
    }

    fn inputs(&mut self) -> Vec<TerminalInput> {
        self.parser.inputs.drain(..).collect()
    }
}

/// The inputs of reads that follow each other without a pause.
fn inputs(reads: &[&str]) -> Vec<TerminalInput> {
    let mut line = Line::new();
    reads.iter().for_each(|read| {
        line.read(read);
    });
    line.inputs()
}

fn event(code: KeyCode, modifiers: KeyModifiers) -> TerminalInput {
    TerminalInput::Event(Event::Key(KeyEvent::new(code, modifiers)))
}

fn key(letter: char) -> TerminalInput {
    event(KeyCode::Char(letter), KeyModifiers::NONE)
}

fn escape() -> TerminalInput {
    event(KeyCode::Esc, KeyModifiers::NONE)
}

fn paste(text: &str) -> TerminalInput {
    TerminalInput::Event(Event::Paste(text.to_owned()))
}

#[test]
fn answer_for_background_is_read_whole_or_split_once() {
    for end in ["\x1b\\", "\x07"] {
        let bytes = format!("j\x1b]11;rgb:ffff/FFFF/8080{end}k");
        let expected = [
            key('j'),
            TerminalInput::Background([255, 255, 128]),
            key('k'),
        ];
        for cut in 0..=bytes.len() {
            let (first, rest) = bytes.split_at(cut);
            assert_eq!(inputs(&[first, rest]), expected, "{cut} {end:?}");
        }
        assert_eq!(
            inputs(&[&bytes, &bytes])[3..],
            [key('j'), key('k')],
            "there is one answer"
        );
    }
}

#[test]
fn keys_of_all_forms_are_events() {
    let arrow = |code| event(code, KeyModifiers::NONE);
    for (bytes, expected) in [
        (
            "é\x0e",
            vec![key('é'), event(KeyCode::Char('n'), KeyModifiers::CONTROL)],
        ),
        (
            "\x1bj\x1bé",
            vec![
                event(KeyCode::Char('j'), KeyModifiers::ALT),
                event(KeyCode::Char('é'), KeyModifiers::ALT),
            ],
        ),
        (
            "\x1b[A\x1bOB\x1b[H",
            vec![
                arrow(KeyCode::Up),
                arrow(KeyCode::Down),
                arrow(KeyCode::Home),
            ],
        ),
        (
            "\x1bOP\x1b[[A\x1b[15~",
            vec![
                arrow(KeyCode::F(1)),
                arrow(KeyCode::F(1)),
                arrow(KeyCode::F(5)),
            ],
        ),
        (
            "\x1b[1;5A\x1b[5A",
            [(); 2]
                .map(|()| event(KeyCode::Up, KeyModifiers::CONTROL))
                .into(),
        ),
        (
            "\x1b[27;2;13~\x1b[27;5;100~",
            vec![
                event(KeyCode::Enter, KeyModifiers::SHIFT),
                event(KeyCode::Char('d'), KeyModifiers::CONTROL),
            ],
        ),
        (
            "\x1b[Z\x1b[102u",
            vec![event(KeyCode::BackTab, KeyModifiers::SHIFT), key('f')],
        ),
    ] {
        assert_eq!(inputs(&[bytes]), expected, "{bytes:?}");
    }
    let mut line = Line::new();
    assert_eq!(
        line.read(b"\xe9j\xc3(\xff\xb5k").inputs(),
        [key('j'), key('('), key('k')]
    );
}

#[test]
fn escape_is_a_key_after_a_pause_or_before_another_key() {
    let mut line = Line::new();
    assert!(line.read("\x1b").inputs().is_empty());
    assert_eq!(line.parser.held_until(), Some(line.now + ESCAPE_PAUSE));
    assert_eq!(line.pause(ESCAPE_PAUSE).inputs(), [escape()]);
    assert_eq!(line.parser.held_until(), None);
    assert_eq!(
        inputs(&["\x1b", "j"]),
        [escape(), key('j')],
        "two reads are two keys"
    );
    let mut twice = Line::new();
    assert_eq!(
        twice.read("\x1b\x1b").pause(ESCAPE_PAUSE).inputs(),
        [escape(), escape()]
    );
    // The next key comes after the pause, but before anybody has waited for its end.
    twice.read("\x1b").now += ESCAPE_PAUSE;
    assert_eq!(twice.read("j").inputs(), [escape(), key('j')]);
    assert_eq!(
        inputs(&["\x1b", "[A"]),
        [event(KeyCode::Up, KeyModifiers::NONE)]
    );
}

#[test]
fn brackets_after_escape_are_keys() {
    for letters in ["]", "[", "P", "_", "]j", "[[", "Pf"] {
        let mut line = Line::new();
        line.read("\x1b").pause(ESCAPE_PAUSE).inputs();
        let expected: Vec<TerminalInput> = letters
            .chars()
            .map(|letter| event(KeyCode::Char(letter), shift(letter)))
            .collect();
        assert_eq!(
            line.read(letters).pause(LATE_PAUSE).inputs(),
            expected,
            "{letters}"
        );
    }
}

#[test]
fn sequence_after_late_escape_and_introducer_is_no_letter() {
    for (introducer, rest, code) in [
        ("[", "A", KeyCode::Up),
        ("O", "B", KeyCode::Down),
        ("[", "5~", KeyCode::PageUp),
    ] {
        let mut line = Line::new();
        line.read("\x1b").pause(ESCAPE_PAUSE).inputs();
        assert_eq!(
            line.read(introducer)
                .pause(LATE_PAUSE - Duration::from_millis(1))
                .inputs(),
            []
        );
        assert_eq!(
            line.read(rest).inputs(),
            [event(code, KeyModifiers::NONE)],
            "{introducer}{rest}"
        );
    }
    // Reports of the focus, and keys of a person.
    for (rest, expected) in [("I", vec![]), ("j", vec![key('['), key('j')])] {
        let mut line = Line::new();
        line.read("\x1b").pause(ESCAPE_PAUSE).inputs();
        let inputs = line.read("[").pause(ESCAPE_PAUSE).read(rest).inputs();
        let keys: Vec<_> = inputs
            .into_iter()
            .filter(|input| matches!(input, TerminalInput::Event(Event::Key(_))))
            .collect();
        assert_eq!(keys, expected, "{rest}");
    }
}

fn shift(letter: char) -> KeyModifiers {
    if letter.is_uppercase() {
        KeyModifiers::SHIFT
    } else {
        KeyModifiers::NONE
    }
}

#[test]
fn answers_that_look_like_keys_are_dropped() {
    for answer in [
        "\x1b[?62;4c",
        "\x1b[>41;354;0c",
        "\x1b[24;80R",
        "\x1b[1;3R",
        "\x1b[?1;1R",
        "\x1b[0n",
        "\x1b[8;24;80t",
        "\x1b[?2026;2$y",
        "\x1b[?1u",
        "\x1b[200;1H",
        "\x1b[201~",
        "\x1b\\",
        "\x1b[5;3f",
        "\x1b[1;2x",
        "\x1bO5j",
        // The mouse at a place that does not exist.
        "\x1b[<0;0;5M\x1b[<0;5;00m\x1b[32;0;0M",
        // More bytes than an event has.
        "\x1b[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;5A",
        // A sequence that a control character interrupts, another one, or CAN.
        "\x1b[1\r;5n",
        "\x1b[1\x1b[0n",
        "\x1bP>|tm\x18",
        "\x1b[12\x1a",
        // Control strings within another one, as for tmux with allow-passthrough.
        "\x1bPtmux;\x1b\x1b]11;rgb:0\x07\x1b\\",
        "\x1bPtmux;\x1b\x1b]4;0\x1b\x1b\\\x1b\\",
    ] {
        assert_eq!(inputs(&[answer, "f"]), [key('f')], "{answer:?}");
    }
}

#[test]
fn paste_is_one_text_and_ends_without_its_end() {
    assert_eq!(
        inputs(&["\x1b[200~a\nb\x1b", "[A\x1b[201", "~j"]),
        [paste("a\nb\x1b[A"), key('j')]
    );
    let mut line = Line::new();
    line.read("\x1b[200~f1")
        .pause(PASTE_PAUSE - Duration::from_millis(1))
        .read("f2");
    assert!(line.inputs().is_empty());
    assert_eq!(
        line.pause(PASTE_PAUSE).read("j").inputs(),
        [paste("f1f2"), key('j')]
    );
    // The end that is late is no key.
    assert_eq!(line.read("\x1b[201~").inputs(), []);
    // Who waits for nothing presses ctrl-c.
    line.read("\x1b[200~f\x03").read("\x03");
    assert!(line.inputs().is_empty(), "a control character of the text");
    line.now += SEQUENCE_PAUSE;
    assert_eq!(
        line.read("\x03").read("q").inputs(),
        [paste("f\x03\x03"), key('q')]
    );
}

#[test]
fn long_paste_arrives_in_parts() {
    let text = "f".repeat(LONGEST_PASTE - 3);
    let all = inputs(&["\x1b[200~", &text, "\x1b[201~", "j"]);
    let [
        TerminalInput::Event(Event::Paste(first)),
        TerminalInput::Event(Event::Paste(rest)),
        last,
    ] = &all[..]
    else {
        panic!("{} inputs", all.len());
    };
    assert_eq!((first.len() + rest.len(), last), (text.len(), &key('j')));
}

#[test]
fn held_key_ends_a_sequence_after_its_longest_time() {
    let mut line = Line::new();
    line.read("\x1b]");
    for _ in 0..200 {
        line.pause(Duration::from_millis(51)).read("j");
    }
    let keys = line.inputs().len();
    assert!((1..10).contains(&keys), "{keys} keys after 10 seconds");
}

/// Control characters of one byte and in UTF-8, or ESC and a letter.
fn introducer(letter: u8) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => Just(vec![ESC, letter]),
        1 => Just(vec![letter + 0x40]),
        1 => Just(vec![0xc2, letter + 0x40]),
    ]
}

/// The text of a control string: letters that decide, characters of several bytes, and control
/// characters.
fn content(letter: u8) -> BoxedStrategy<Vec<u8>> {
    let text = prop_oneof![
        4 => "[ -~]{0,30}",
        2 => "[fxaRDyq\r\n\t]{0,30}",
        1 => "[✓中é⛔]{0,10}",
    ];
    let any = vec(prop_oneof![0..CAN, 0x19..SUB, 0x1c..=0x7eu8], 0..40);
    if letter == b'X' {
        any.boxed()
    } else {
        text.prop_map(String::into_bytes).boxed()
    }
}

/// A control string without its end.
fn string_start() -> impl Strategy<Value = Vec<u8>> {
    proptest::sample::select(b"]PX^_".to_vec()).prop_flat_map(|letter| {
        (introducer(letter), content(letter)).prop_map(|(start, text)| [start, text].concat())
    })
}

/// A control string, or a control sequence that is no key.
fn control() -> impl Strategy<Value = Vec<u8>> {
    let string = string_start().prop_map(|start| [start, b"\x1b\\".to_vec()].concat());
    let bell = (introducer(b']'), content(b']'))
        .prop_map(|(start, text)| [start, text, vec![BEL]].concat());
    let private = (introducer(b'['), "[<=>?][0-9;:]{0,12}[ -/]{0,2}[@-LN-ln-~]");
    let unknown = (
        introducer(b'['),
        "[0-9]{1,3};[0-9]{1,3}[ -/][@-~]|[0-9]{1,2}[cntxyg]|[2-9];[0-9]{1,2}[ABCDFHPQRS]",
    );
    prop_oneof![
        3 => string,
        1 => bell,
        2 => private.prop_map(|(start, rest)| [start, rest.into_bytes()].concat()),
        2 => unknown.prop_map(|(start, rest)| [start, rest.into_bytes()].concat()),
        1 => Just(b"\x1bP>|tmux 3.3a\x1b\\".to_vec()),
        1 => Just(b"\x1b[?1;2c".to_vec()),
    ]
}

/// Applies the inputs to a dashboard as the event loop does.
fn apply(app: &mut TestDashboard, inputs: Vec<TerminalInput>) -> Vec<Effect> {
    let messages = inputs.into_iter().filter_map(|input| match input {
        TerminalInput::Event(Event::Key(key)) => Some(Msg::Key(key)),
        TerminalInput::Event(Event::Mouse(event)) => Some(Msg::Mouse(event)),
        TerminalInput::Event(Event::Paste(text)) => Some(Msg::Paste(text)),
        _ => None,
    });
    messages.flat_map(|message| app.send(message)).collect()
}

/// Sends bytes in reads that end after these lengths, each followed by a pause. A pause after the
/// ESC that begins the bytes is short.
fn send_split(line: &mut Line, bytes: &[u8], cuts: &[(usize, u64)]) {
    let mut rest = bytes;
    for &(length, pause) in cuts {
        let (read, after) = rest.split_at(length.min(rest.len()));
        let is_escape = read == [ESC] && rest.len() == bytes.len();
        line.read(read).pause(Duration::from_millis(if is_escape {
            pause % 50
        } else {
            pause
        }));
        rest = after;
    }
    line.read(rest);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn control_sequences_change_nothing(
        controls in vec((control(), vec((1..12usize, 0..999u64), 0..9)), 1..6),
        pane in "[1-8]",
    ) {
        let mut app = TestDashboard::new();
        app.keys(&pane);
        let before = format!("{:?}", app.model);
        let mut line = Line::new();
        for (bytes, cuts) in &controls {
            send_split(&mut line, bytes, cuts);
        }
        line.parser.inputs.retain(|input| !matches!(input, TerminalInput::Background(_)));
        let inputs = line.inputs();
        let shown = format!("{inputs:?}");
        prop_assert_eq!(apply(&mut app, inputs), vec![]);
        prop_assert!(format!("{:?}", app.model) == before, "the model changed: {}", shown);
        prop_assert_eq!(line.read("f").inputs(), [key('f')], "the next key counts");
    }

    #[test]
    fn control_string_without_end_changes_nothing(bytes in string_start(), cuts in vec((1..12usize, 0..999u64), 0..9)) {
        let mut line = Line::new();
        send_split(&mut line, &bytes, &cuts);
        prop_assert_eq!(line.pause(SEQUENCE_PAUSE).inputs(), []);
        prop_assert_eq!(line.read("f").inputs(), [key('f')]);
    }

    #[test]
    fn rest_of_sequence_after_late_escape_is_no_key(
        rest in "\\]1[01];[ -~]{0,30}\x07|P[>1]\\|[ -\\[\\]-~]{0,30}\x1b\\\\|\\[[?>][0-9;]{0,9}[cuyn]",
        late in 50..999u64,
        later in 0..500u64,
        cuts in vec((1..12usize, 0..999u64), 0..6),
    ) {
        let mut line = Line::new();
        line.read("\x1b").pause(Duration::from_millis(late));
        prop_assert_eq!(line.inputs(), [escape()]);
        let (introducer, rest) = rest.as_bytes().split_at(1);
        line.read(introducer).pause(Duration::from_millis(later));
        send_split(&mut line, rest, &cuts);
        line.parser.inputs.retain(|input| !matches!(input, TerminalInput::Background(_)));
        prop_assert_eq!(line.read("f").inputs(), [key('f')]);
    }

    #[test]
    fn paste_decides_nothing_in_any_split(
        text in "[fxaRDy\x1b\\[\n -~]{0,60}",
        cuts in vec((1..12usize, 0..9_999u64), 0..9),
        is_whole in any::<bool>(),
    ) {
        let mut app = TestDashboard::new();
        app.keys("3");
        let decided = |app: &TestDashboard| format!("{:?}", app.model.findings.triage);
        let before = decided(&app);
        let end = if is_whole { "\x1b[201~" } else { "" };
        let mut line = Line::new();
        line.read("\x1b[200~");
        send_split(&mut line, format!("{text}{end}").as_bytes(), &cuts);
        let inputs = line.pause(PASTE_PAUSE).inputs();
        prop_assert!(inputs.iter().all(|input| matches!(input, TerminalInput::Event(Event::Paste(_)))), "{:?}", inputs);
        prop_assert_eq!(apply(&mut app, inputs), vec![]);
        prop_assert_eq!(decided(&app), before);
    }

    #[test]
    fn any_bytes_leave_a_parser_that_reads_keys(bytes in vec(any::<u8>(), 0..200), cuts in vec((0..40usize, 0..2_000u64), 0..9)) {
        let mut line = Line::new();
        send_split(&mut line, &bytes, &cuts);
        line.pause(PASTE_PAUSE).inputs();
        prop_assert_eq!(line.parser.held_until(), None);
        prop_assert_eq!(line.read("f").inputs(), [key('f')]);
    }
}
