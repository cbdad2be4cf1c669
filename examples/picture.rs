//! Draws the pictures of the documents and records a walk-through, all from the running demo:
//! `cargo run --example picture`.
//!
//! ```text
//!   scandeck demo in a pseudo-terminal ─► screen ─► assets/pictures/{dark,light}-{200x60,80x24}.svg
//!                                     └─► output with its times ─► assets/walk-through.cast (asciicast v2)
//! ```
//!
//! The demo runs with empty directories of its own, so that no setting of this machine is in a
//! picture.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};

/// Wide enough for all panes, and the size of a classic terminal.
const SIZES: [(u16, u16); 2] = [(200, 60), (80, 24)];
/// The size of the walk-through: a list beside its detail.
const WALK: (u16, u16) = (120, 34);
/// The end of a replay: the terminal shows its cursor again.
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const PATIENCE: Duration = Duration::from_secs(60);
/// Time for the frames after a key.
const MOMENT: Duration = Duration::from_secs(1);
/// Pixels of one cell.
const CELL: (f32, f32) = (8.4, 18.0);

fn main() -> Result<()> {
    let assets = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets"));
    std::fs::create_dir_all(assets.join("pictures"))?;
    for (columns, rows) in SIZES {
        let mut demo = Demo::start(columns, rows)?;
        demo.wait_for_findings()?;
        demo.press("jj")?;
        for (theme, colours) in [("dark", &DARK), ("light", &LIGHT)] {
            demo.press(&format!(":theme {theme}\r"))?;
            // The notice about the theme leaves the screen.
            demo.watch(Duration::from_secs(5))?;
            let path = assets.join(format!("pictures/{theme}-{columns}x{rows}.svg"));
            write(&path, &svg(demo.screen.screen(), colours)?)?;
        }
        demo.end()?;
    }
    let mut demo = Demo::start(WALK.0, WALK.1)?;
    demo.wait_for_findings()?;
    for keys in STEPS {
        demo.watch(Duration::from_millis(1_500))?;
        demo.type_slowly(keys)?;
    }
    demo.watch(Duration::from_secs(2))?;
    write(&assets.join("walk-through.cast"), &demo.cast()?)?;
    demo.end()
}

/// The steps of the walk-through, as in `docs/getting-started.md`.
const STEPS: [&str; 14] = [
    "3",
    "jj",
    "\r",
    ">",
    ">",
    "\x1b",
    "c",
    "u",
    "/risk>=high\r",
    "\x7f",
    "bc",
    "bb",
    ":plot heatmap\r",
    "\x1b",
];

fn write(path: &Path, content: &str) -> Result<()> {
    std::fs::write(path, content)?;
    println!("wrote {}", path.display());
    Ok(())
}

/// The demo in a pseudo-terminal.
struct Demo {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn std::io::Write + Send>,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    size: (u16, u16),
    began: Instant,
    /// The output so far, with the seconds since the start.
    recorded: Vec<(f64, Vec<u8>)>,
    _home: tempfile::TempDir,
}

impl Demo {
    fn start(columns: u16, rows: u16) -> Result<Self> {
        let home = tempfile::tempdir()?;
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pty = native_pty_system().openpty(size)?;
        let mut command = CommandBuilder::new(program()?);
        command.arg("demo");
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        // The login is recorded with decisions.
        command.env("USER", "user");
        command.env("LOGNAME", "user");
        command.env_remove("TMUX");
        for name in ["CONFIG", "STATE", "CACHE", "DATA"] {
            command.env(format!("XDG_{name}_HOME"), home.path().join(name));
        }
        let child = pty.slave.spawn_command(command)?;
        let keys = pty.master.take_writer()?;
        let mut reader = pty.master.try_clone_reader()?;
        let (send, output) = channel();
        std::thread::spawn(move || {
            // Closing the terminal would end the demo.
            let _terminal = pty.master;
            let mut block = [0; 8192];
            while let Ok(count @ 1..) = reader.read(&mut block) {
                if send.send(block[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let screen = vt100::Parser::new(positive(rows)?, positive(columns)?, 0);
        let (began, recorded) = (Instant::now(), Vec::new());
        Ok(Self {
            child,
            keys,
            output,
            screen,
            size: (columns, rows),
            began,
            recorded,
            _home: home,
        })
    }

    /// Shows and records the output until the time is over.
    fn watch(&mut self, time: Duration) -> Result<()> {
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            if let Ok(bytes) = self.output.recv_timeout(left) {
                self.screen.process(&bytes);
                self.recorded
                    .push((self.began.elapsed().as_secs_f64(), bytes));
            }
        }
        Ok(())
    }

    fn press(&mut self, keys: &str) -> Result<()> {
        self.keys.write_all(keys.as_bytes())?;
        self.keys.flush()?;
        self.watch(MOMENT)
    }

    /// One key after the other, as a person types.
    fn type_slowly(&mut self, keys: &str) -> Result<()> {
        for key in keys.chars() {
            self.keys.write_all(key.to_string().as_bytes())?;
            self.keys.flush()?;
            self.watch(Duration::from_millis(120))?;
        }
        Ok(())
    }

    /// Shows the findings and waits until the first scans have ended. The walk-through begins here.
    fn wait_for_findings(&mut self) -> Result<()> {
        self.wait_for("CRIT")?;
        self.press("3")?;
        self.watch(Duration::from_secs(20))?;
        let first = self.screen.screen().contents_formatted();
        self.began = Instant::now();
        self.recorded = vec![(0.0, first.into())];
        Ok(())
    }

    fn wait_for(&mut self, words: &str) -> Result<()> {
        let until = Instant::now() + PATIENCE;
        while !self.screen.screen().contents().contains(words) {
            if Instant::now() > until {
                bail!(
                    "the screen did not show {words:?} in time:\n{}",
                    self.screen.screen().contents()
                );
            }
            self.watch(Duration::from_millis(200))?;
        }
        Ok(())
    }

    /// The recording in asciinema's format, version 2. Requests to the terminal (OSC), such as a
    /// copy, are excluded: a replay would repeat them.
    fn cast(&self) -> Result<String> {
        let (width, height) = self.size;
        let header = serde_json::json!({"version": 2, "width": width, "height": height, "title": "scandeck demo"});
        let request = regex::Regex::new("\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)")?;
        let mut out = format!("{header}\n");
        let mut bytes: Vec<u8> = Vec::new();
        for (at, (time, block)) in self.recorded.iter().enumerate() {
            bytes.extend(block);
            // A frame can arrive in several blocks.
            if self
                .recorded
                .get(at + 1)
                .is_some_and(|(next, _)| next - time < 0.01)
            {
                continue;
            }
            let end = match std::str::from_utf8(&bytes) {
                Ok(whole) => whole.len(),
                Err(error) => error.valid_up_to(),
            };
            let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let event = serde_json::json!([
                (time * 1000.0).round() / 1000.0,
                "o",
                request.replace_all(&text, "")
            ]);
            writeln!(out, "{event}")?;
            bytes.drain(..end);
        }
        let end = self.recorded.last().map_or(0.0, |(time, _)| *time);
        writeln!(
            out,
            "{}",
            serde_json::json!([(end * 1000.0).round() / 1000.0, "o", SHOW_CURSOR])
        )?;
        Ok(out)
    }

    fn end(mut self) -> Result<()> {
        self.press("\x1b\x1b")?;
        self.press("q")?;
        self.press("y")?;
        let until = Instant::now() + PATIENCE;
        while self.child.try_wait()?.is_none() && Instant::now() < until {
            self.watch(Duration::from_millis(100))?;
        }
        let _ = self.child.kill();
        Ok(())
    }
}

/// The binary beside this example.
fn program() -> Result<PathBuf> {
    let examples = std::env::current_exe()?;
    let build = examples
        .parent()
        .and_then(Path::parent)
        .context("the example is not in a build directory")?;
    let program = build.join("scandeck");
    if !program.exists() {
        bail!("{} is missing: run `cargo build` first", program.display());
    }
    Ok(program)
}

fn positive(number: u16) -> Result<NonZeroU16> {
    NonZeroU16::new(number).context("a size is not zero")
}

/// The colours of a terminal: background, text, and the sixteen colours with a number.
struct Colours {
    background: &'static str,
    text: &'static str,
    sixteen: [&'static str; 16],
}

const DARK: Colours = Colours {
    background: "#16181d",
    text: "#d7dae0",
    sixteen: [
        "#1e2127", "#e06c75", "#98c379", "#d19a66", "#61afef", "#c678dd", "#56b6c2", "#abb2bf",
        "#6b7280", "#ff7b86", "#b5e890", "#e5c07b", "#7cc3ff", "#de8ef0", "#6fd3de", "#ffffff",
    ],
};

const LIGHT: Colours = Colours {
    background: "#fafafa",
    text: "#24292e",
    sixteen: [
        "#24292e", "#b31d28", "#22863a", "#8a5a00", "#005cc5", "#6f42c1", "#0a6b7c", "#57606a",
        "#6a737d", "#cb2431", "#28a745", "#9a6700", "#0366d6", "#8a63d2", "#1b7c83", "#000000",
    ],
};

/// The screen as an SVG: one text element for each run of cells with the same style, one rectangle
/// for its background.
fn svg(screen: &vt100::Screen, colours: &Colours) -> Result<String> {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let (width, height) = (
        f32::from(columns) * CELL.0 + 24.0,
        f32::from(rows) * CELL.1 + 24.0,
    );
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n",
        colours.background
    );
    for row in 0..rows {
        let mut column = 0;
        while column < columns {
            let Some(first) = screen.cell(row, column) else {
                break;
            };
            let style = style_of(first, colours);
            let start = column;
            let mut text = String::new();
            while column < columns {
                let Some(cell) = screen
                    .cell(row, column)
                    .filter(|cell| style_of(cell, colours) == style)
                else {
                    break;
                };
                text.push_str(if cell.has_contents() {
                    cell.contents()
                } else {
                    " "
                });
                column += 1;
            }
            draw_run(&mut out, row, start, column, &style, &text)?;
        }
    }
    out.push_str("</svg>\n");
    Ok(out)
}

#[derive(PartialEq)]
struct CellStyle {
    foreground: String,
    background: Option<String>,
    bold: bool,
    dim: bool,
}

fn style_of(cell: &vt100::Cell, colours: &Colours) -> CellStyle {
    let foreground = colour(cell.fgcolor(), colours).unwrap_or_else(|| colours.text.to_owned());
    let background = colour(cell.bgcolor(), colours);
    let (foreground, background) = if cell.inverse() {
        (
            background.unwrap_or_else(|| colours.background.to_owned()),
            Some(foreground),
        )
    } else {
        (foreground, background)
    };
    CellStyle {
        foreground,
        background,
        bold: cell.bold(),
        dim: cell.dim(),
    }
}

fn draw_run(
    out: &mut String,
    row: u16,
    start: u16,
    end: u16,
    style: &CellStyle,
    text: &str,
) -> Result<()> {
    let (x, y) = (
        12.0 + f32::from(start) * CELL.0,
        12.0 + f32::from(row) * CELL.1,
    );
    let width = f32::from(end - start) * CELL.0;
    if let Some(background) = &style.background {
        writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{}\" fill=\"{background}\"/>",
            CELL.1
        )?;
    }
    if text.trim().is_empty() {
        return Ok(());
    }
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let weight = if style.bold {
        " font-weight=\"bold\""
    } else {
        ""
    };
    let faint = if style.dim { " opacity=\"0.6\"" } else { "" };
    writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" fill=\"{}\"{weight}{faint}>{escaped}</text>",
        y + 13.5,
        style.foreground
    )?;
    Ok(())
}

/// A colour by its value; none for the colours of the terminal.
fn colour(colour: vt100::Color, colours: &Colours) -> Option<String> {
    match colour {
        vt100::Color::Default => None,
        vt100::Color::Idx(index @ 0..16) => Some(colours.sixteen[usize::from(index)].to_owned()),
        vt100::Color::Idx(index @ 232..) => {
            let grey = 8 + (u16::from(index) - 232) * 10;
            Some(format!("#{grey:02x}{grey:02x}{grey:02x}"))
        }
        vt100::Color::Idx(index) => {
            let level = |step: u8| {
                if step == 0 {
                    0
                } else {
                    55 + 40 * u16::from(step)
                }
            };
            let index = index - 16;
            Some(format!(
                "#{:02x}{:02x}{:02x}",
                level(index / 36),
                level(index / 6 % 6),
                level(index % 6)
            ))
        }
        vt100::Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}
