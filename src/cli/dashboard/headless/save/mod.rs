//! Files that commands write.

mod output_file;

use std::io::{ErrorKind, IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

pub use output_file::OutputFile;
use output_file::{name_new, not_written, part_of};

use super::Output;
use crate::cli::error::CliError;
use scandeck_dashboard::runtime::files::numbered;
use scandeck_wire::input_files::{InputKind, read};

/// The output of an export.
#[derive(Args, Clone, Debug)]
pub struct Destination {
    /// Write to this file; `-` for standard output [default: -]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    existing: ExistingFile,
}

/// Whether an existing file is replaced.
#[derive(Args, Clone, Copy, Debug)]
pub struct ExistingFile {
    /// Replace an existing file
    #[arg(long, requires = "output")]
    force: bool,
}

impl Destination {
    /// Whether the name of the file ends with `.csv`.
    pub fn names_csv(&self) -> bool {
        let extension = self.output.as_deref().and_then(Path::extension);
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
    }

    /// Writes the bytes; `content` describes them in the message about a file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, out: Output, bytes: &[u8], content: &str) -> anyhow::Result<()> {
        match &self.output {
            Some(path) if path.as_os_str() != "-" => {
                write(path, bytes, self.existing)?;
                note!("{content} written to {}", path.display());
            }
            None if stdout().is_terminal() && std::str::from_utf8(bytes).is_err() => {
                let problem = format!("{content} not written: standard output is a terminal");
                return Err(CliError::new(problem, "name a file with -o FILE, or use -o -").into());
            }
            _ => out.outside(bytes)?,
        }
        Ok(())
    }
}

/// Writes a file, also over an existing one.
///
/// # Errors
/// When the file cannot be written.
pub fn overwrite(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    write(path, bytes, ExistingFile { force: true })
}

/// Writes a file that a user named.
///
/// # Errors
/// When the file exists and is not to be replaced, or cannot be written.
pub fn write(path: &Path, bytes: &[u8], existing: ExistingFile) -> anyhow::Result<()> {
    let output = OutputFile::open(path, existing)?;
    match output.file().write_all(bytes) {
        // The reader of a pipe needs no more output.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(error).with_context(|| not_written(path)),
        Ok(()) => output.keep(),
    }
}

/// Writes a new file.
///
/// # Errors
/// When the file exists or cannot be written.
pub fn create(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut part = part_of(path)?;
    part.write_all(bytes)
        .and_then(|()| part.as_file().sync_all())
        .with_context(|| not_written(path))?;
    name_new(part, path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(path).into(),
        _ => anyhow::Error::new(error).context(not_written(path)),
    })
}

/// The error about an existing file.
pub fn exists(path: &Path) -> CliError {
    CliError::new(
        format!("{} already exists", path.display()),
        "choose another name, or move the file",
    )
}

/// Writes a file under the given or a numbered name. Reuses a file with the same content and never
/// overwrites another one. Returns the name.
///
/// # Errors
/// When the file cannot be written.
pub fn numbered_file(name: &str, bytes: &[u8]) -> anyhow::Result<String> {
    for number in 1..1000 {
        let name = numbered(name, number);
        let path = Path::new(&name);
        match read(path, InputKind::Bundle) {
            Ok(there) if there == bytes => return Ok(name),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return overwrite(path, bytes).map(|()| name);
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {name}")),
        }
    }
    anyhow::bail!("all numbered names of {name} exist already")
}

#[cfg(test)]
mod tests {
    use std::fs::{OpenOptions, Permissions};
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};

    use rustix::fs::{FileType, Mode};

    use super::*;

    #[test]
    fn missing_directory_is_named() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("lost/file");
        for error in [
            overwrite(&file, b"content").unwrap_err(),
            create(&file, b"content").unwrap_err(),
        ] {
            let message = format!("{error:#}");
            assert!(
                message.ends_with("lost not found") && !message.contains("lost/.tmp"),
                "{message}"
            );
        }
    }

    #[test]
    fn unusable_path_has_a_remedy() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("file"), "").unwrap();
        for (path, cause) in [
            (temp.path().join("file/x"), "Not a directory"),
            (temp.path().to_owned(), "Is a directory"),
        ] {
            let error = overwrite(&path, b"content").unwrap_err();
            assert!(
                error.to_string().contains(&format!("not written: {cause}")),
                "{error}"
            );
            assert_eq!(
                crate::cli::error::hint(&error).as_deref(),
                Some("choose another file")
            );
        }
    }

    #[test]
    fn overwrite_follows_links_and_keeps_the_mode() {
        let temp = tempfile::tempdir().unwrap();
        let (file, link, dangling) = (
            temp.path().join("file"),
            temp.path().join("link"),
            temp.path().join("dangling"),
        );
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        std::os::unix::fs::symlink("new", &dangling).unwrap();
        overwrite(&link, b"first").unwrap();
        overwrite(&dangling, b"second").unwrap();
        assert!(link.is_symlink() && dangling.is_symlink());
        assert_eq!(
            (
                std::fs::read(&file).unwrap(),
                std::fs::read(temp.path().join("new")).unwrap()
            ),
            (b"first".to_vec(), b"second".to_vec())
        );
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(&dangling)), (0o640, 0o600));
    }

    #[test]
    fn open_descriptor_keeps_its_content_and_memory_file_is_a_file() {
        use std::os::fd::AsRawFd;

        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("log");
        std::fs::write(&file, "first\n").unwrap();
        let opened = OpenOptions::new().append(true).open(&file).unwrap();
        let descriptor = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
        write(&descriptor, b"second\n", ExistingFile { force: false }).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"first\nsecond\n");
        let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
            return;
        };
        let in_memory = memory.path().join("file");
        write(
            &in_memory,
            b"a long first content",
            ExistingFile { force: false },
        )
        .unwrap();
        assert!(write(&in_memory, b"short", ExistingFile { force: false }).is_err());
        write(&in_memory, b"short", ExistingFile { force: true }).unwrap();
        assert_eq!(std::fs::read(&in_memory).unwrap(), b"short");
    }

    #[test]
    fn existing_file_is_replaced_and_link_followed_by_force_only() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("file");
        let save = |bytes: &[u8], force| write(&file, bytes, ExistingFile { force });
        save(b"old", false).unwrap();
        let refusal = save(b"new", false).unwrap_err().to_string();
        assert!(refusal.ends_with("file already exists"), "{refusal}");
        assert_eq!(std::fs::read(&file).unwrap(), b"old");
        save(b"new", true).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        let link = temp.path().join("link");
        std::os::unix::fs::symlink("elsewhere", &link).unwrap();
        let refusal = write(&link, b"content", ExistingFile { force: false }).unwrap_err();
        assert!(
            refusal.to_string().contains("link is a link to /"),
            "{refusal}"
        );
        assert!(!temp.path().join("elsewhere").exists());
        write(&link, b"content", ExistingFile { force: true }).unwrap();
        assert_eq!(
            std::fs::read(temp.path().join("elsewhere")).unwrap(),
            b"content"
        );
        write(
            Path::new("/dev/null"),
            b"content",
            ExistingFile { force: false },
        )
        .unwrap();
    }

    #[test]
    fn overwrite_refuses_read_only_file() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("file");
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
        assert!(
            overwrite(&file, b"new")
                .unwrap_err()
                .to_string()
                .contains("read-only")
        );
        assert_eq!(std::fs::read(&file).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 1);
    }

    #[test]
    fn overwrite_writes_into_pipes_and_devices() {
        let temp = tempfile::tempdir().unwrap();
        let pipe = temp.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).unwrap()
        });
        overwrite(&pipe, b"content").unwrap();
        assert_eq!(reader.join().unwrap(), b"content");
        assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
        overwrite(Path::new("/dev/null"), b"content").unwrap();
        assert!(
            overwrite(Path::new("/dev/full"), b"content")
                .unwrap_err()
                .to_string()
                .contains("/dev/full not written")
        );
        assert!(
            std::fs::metadata("/dev/full")
                .unwrap()
                .file_type()
                .is_char_device()
        );
    }

    #[test]
    fn numbered_file_never_overwrites_other_content() {
        let temp = tempfile::tempdir().unwrap();
        let name = temp.path().join("capture-7-body.bin").display().to_string();
        let save = |bytes: &[u8]| numbered_file(&name, bytes).unwrap();
        let second = temp
            .path()
            .join("capture-7-body-2.bin")
            .display()
            .to_string();
        assert_eq!((save(b"one"), save(b"two")), (name.clone(), second.clone()));
        assert_eq!((save(b"one"), save(b"two")), (name.clone(), second));
        assert_eq!(std::fs::read(&name).unwrap(), b"one");
    }
}
