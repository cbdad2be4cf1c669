//! Draws the picture of the README from the running program: `cargo run --example picture`.
//!
//! Starts `scandeck demo` in a pseudo-terminal of 180×46, waits until its panes have rows, selects the second finding,
//! and writes the screen to `assets/picture.svg`.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};

const COLUMNS: u16 = 180;
const ROWS: u16 = 46;
const PATIENCE: Duration = Duration::from_secs(40);
/// Pixels of one cell.
const CELL: (f32, f32) = (8.4, 18.0);

fn main() -> Result<()> {
    let program = std::env::current_exe()?
        .parent()
        .and_then(|examples| examples.parent())
        .context("the example is not in a build directory")?
        .join("scandeck");
    if !program.exists() {
        bail!("{} is missing: run `cargo build` first", program.display());
    }
    let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
    let pty = native_pty_system().openpty(size)?;
    let mut command = CommandBuilder::new(program);
    command.arg("demo");
    command.env("TERM", "xterm-256color");
    command.env_remove("TMUX");
    let mut child = pty.slave.spawn_command(command)?;
    let mut keys = pty.master.take_writer()?;
    let mut output = pty.master.try_clone_reader()?;

    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut block = [0; 8192];
        while let Ok(count @ 1..) = output.read(&mut block) {
            if send.send(block[..count].to_vec()).is_err() {
                break;
            }
        }
    });

    let mut screen = vt100::Parser::new(positive(ROWS)?, positive(COLUMNS)?, 0);
    let wait_for = |screen: &mut vt100::Parser, words: &[&str]| -> Result<()> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Ok(bytes) = receive.recv_timeout(Duration::from_millis(200)) {
                screen.process(&bytes);
            }
            let text = screen.screen().contents();
            if words.iter().all(|word| text.contains(word)) {
                return Ok(());
            }
            if Instant::now() > until {
                bail!("the screen did not show {words:?} in time:\n{text}");
            }
        }
    };
    wait_for(&mut screen, &["Workspaces", "Targets", "Findings", "Scans", "Captures", "CRIT", "GET"])?;
    keys.write_all(b"j")?;
    keys.flush()?;
    // The frame after the key, and the updates of the running scans within a second.
    let until = Instant::now() + Duration::from_secs(1);
    while Instant::now() < until {
        if let Ok(bytes) = receive.recv_timeout(Duration::from_millis(100)) {
            screen.process(&bytes);
        }
    }
    let picture = svg(screen.screen())?;
    keys.write_all(b"qy")?;
    keys.flush()?;
    let _ = child.kill();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/picture.svg");
    std::fs::write(path, picture)?;
    println!("wrote {path}");
    Ok(())
}

fn positive(number: u16) -> Result<NonZeroU16> {
    NonZeroU16::new(number).context("a size is not zero")
}

/// The screen as an SVG: one text element for each run of cells with the same style, one rectangle for its background.
fn svg(screen: &vt100::Screen) -> Result<String> {
    let (width, height) = (f32::from(COLUMNS) * CELL.0 + 24.0, f32::from(ROWS) * CELL.1 + 24.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n"
    );
    for row in 0..ROWS {
        let mut column = 0;
        while column < COLUMNS {
            let Some(first) = screen.cell(row, column) else { break };
            let style = style_of(first);
            let start = column;
            let mut text = String::new();
            while column < COLUMNS {
                let Some(cell) = screen.cell(row, column).filter(|cell| style_of(cell) == style) else { break };
                text.push_str(if cell.has_contents() { cell.contents() } else { " " });
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

fn style_of(cell: &vt100::Cell) -> CellStyle {
    let foreground = colour(cell.fgcolor()).unwrap_or_else(|| "#d7dae0".to_owned());
    let background = colour(cell.bgcolor());
    let (foreground, background) = if cell.inverse() {
        (background.unwrap_or_else(|| "#16181d".to_owned()), Some(foreground))
    } else {
        (foreground, background)
    };
    CellStyle { foreground, background, bold: cell.bold(), dim: cell.dim() }
}

fn draw_run(out: &mut String, row: u16, start: u16, end: u16, style: &CellStyle, text: &str) -> Result<()> {
    let (x, y) = (12.0 + f32::from(start) * CELL.0, 12.0 + f32::from(row) * CELL.1);
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
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let weight = if style.bold { " font-weight=\"bold\"" } else { "" };
    let faint = if style.dim { " opacity=\"0.6\"" } else { "" };
    writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" fill=\"{}\"{weight}{faint}>{escaped}</text>",
        y + 13.5,
        style.foreground
    )?;
    Ok(())
}

/// The sixteen colours of a dark terminal theme; other colours by their value.
fn colour(colour: vt100::Color) -> Option<String> {
    const SIXTEEN: [&str; 16] = [
        "#1e2127", "#e06c75", "#98c379", "#d19a66", "#61afef", "#c678dd", "#56b6c2", "#abb2bf", "#6b7280", "#ff7b86",
        "#b5e890", "#e5c07b", "#7cc3ff", "#de8ef0", "#6fd3de", "#ffffff",
    ];
    match colour {
        vt100::Color::Default => None,
        vt100::Color::Idx(index @ 0..16) => Some(SIXTEEN[usize::from(index)].to_owned()),
        vt100::Color::Idx(index @ 232..) => {
            let grey = 8 + (u16::from(index) - 232) * 10;
            Some(format!("#{grey:02x}{grey:02x}{grey:02x}"))
        }
        vt100::Color::Idx(index) => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * u16::from(step) };
            let index = index - 16;
            Some(format!("#{:02x}{:02x}{:02x}", level(index / 36), level(index / 6 % 6), level(index % 6)))
        }
        vt100::Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}
