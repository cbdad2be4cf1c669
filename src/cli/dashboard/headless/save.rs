//! Files that commands write.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write, stdout};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use tempfile::NamedTempFile;

use super::Output;
use crate::cli::error::CliError;
use scandeck_dashboard::runtime::files::numbered;
use scandeck_wire::input_files::{InputKind, read};

/// Longest chain of symbolic links, as Linux allows.
const LINKS: usize = 40;

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

/// The file that a user named. Pipes and devices are written directly; links are followed only if
/// existing files may be replaced, because someone else may have made the link. A regular file is
/// replaced when its new content is complete, and keeps its mode; a new one is readable only by its
/// owner, because findings are confidential.
#[derive(Debug)]
pub enum OutputFile {
    /// The complete content, to be renamed to the path.
    Replacing(NamedTempFile, PathBuf),
    /// The same for a path that did not exist: a file that appears there meanwhile is kept.
    New(NamedTempFile, PathBuf),
    /// A pipe or a device.
    Direct(File, PathBuf),
}

impl OutputFile {
    /// Opens the file for new content.
    ///
    /// # Errors
    /// When the file or its directory is not writable, or the file exists and is not to be
    /// replaced.
    pub fn open(path: &Path, existing: ExistingFile) -> anyhow::Result<Self> {
        let ExistingFile { force } = existing;
        let cannot = || not_written(path);
        let existing = match std::fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            found => Some(found.map_err(|error| unusable(path, &error))?),
        };
        let mut options = OpenOptions::new();
        options.write(true);
        if let Some(file) = own_descriptor(path) {
            return Ok(Self::Direct(
                file.map_err(|error| unusable(path, &error))?,
                path.to_owned(),
            ));
        }
        if existing.as_ref().is_some_and(|found| !found.is_file()) {
            let file = options.open(path).map_err(|error| unusable(path, &error))?;
            return Ok(Self::Direct(file, path.to_owned()));
        }
        if existing.is_some() && !force {
            return Err(already_exists(path));
        }
        if !force && path.is_symlink() {
            let message = format!(
                "{} is a link to {}",
                path.display(),
                link_target(path).display()
            );
            return Err(CliError::new(
                message,
                "name another file, or follow the link with --force",
            )
            .into());
        }
        let mut part = part_of(&link_target(path))?;
        if existing.is_none() && !force {
            return Ok(Self::New(part, link_target(path)));
        }
        if let Some(found) = existing {
            // Renaming needs no permission of the file itself, and root may write read-only files.
            if found.permissions().readonly() {
                let hint = "choose another file, or make it writable";
                return Err(CliError::new(format!("{}: file is read-only", cannot()), hint).into());
            }
            options.open(path).with_context(cannot)?;
            part.as_file_mut()
                .set_permissions(found.permissions())
                .with_context(cannot)?;
        }
        Ok(Self::Replacing(part, link_target(path)))
    }

    /// The file to write to.
    pub fn file(&self) -> &File {
        match self {
            Self::Replacing(part, _) | Self::New(part, _) => part.as_file(),
            Self::Direct(file, _) => file,
        }
    }

    /// Writes the content to disk and gives it its name.
    ///
    /// # Errors
    /// When the content cannot be written completely.
    pub fn keep(self) -> anyhow::Result<()> {
        match self {
            Self::Replacing(part, path) => {
                part.as_file()
                    .sync_all()
                    .with_context(|| not_written(&path))?;
                part.persist(&path)
                    .map(drop)
                    .with_context(|| not_written(&path))
            }
            Self::New(part, path) => {
                part.as_file()
                    .sync_all()
                    .with_context(|| not_written(&path))?;
                match name_new(part, &path) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                        Err(already_exists(&path))
                    }
                    kept => kept.with_context(|| not_written(&path)),
                }
            }
            Self::Direct(file, path) => match file.sync_all() {
                // Pipes and terminals have no disk.
                Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
                synced => synced.with_context(|| not_written(&path)),
            },
        }
    }
}

/// An open descriptor of this process, if the path names one. It may be a regular file that the
/// shell has open: new content then comes after the present one, as with `>>`.
fn own_descriptor(path: &Path) -> Option<io::Result<File>> {
    let by_number = || {
        ["/dev/fd", "/proc/self/fd"]
            .iter()
            .any(|parent| path.starts_with(parent))
    };
    match path.to_str() {
        Some("/dev/stdout") => Some(stdout().as_fd().try_clone_to_owned().map(File::from)),
        Some("/dev/stderr") => Some(io::stderr().as_fd().try_clone_to_owned().map(File::from)),
        _ => by_number().then(|| OpenOptions::new().append(true).open(path)),
    }
}

/// The path behind symbolic links, whether it exists or not.
fn link_target(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = std::fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
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

/// Gives a new file its name, if no file has the name.
fn name_new(part: NamedTempFile, path: &Path) -> io::Result<()> {
    match part.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(failed) if failed.error.kind() == ErrorKind::AlreadyExists => Err(failed.error),
        // File systems without hard links, such as shared folders of virtual machines: an empty
        // file takes the name first.
        Err(failed) => {
            File::create_new(path)?;
            failed.file.persist(path).map(drop).map_err(|failed| {
                let _ = std::fs::remove_file(path);
                failed.error
            })
        }
    }
}

/// The error about an existing file.
pub fn exists(path: &Path) -> CliError {
    CliError::new(
        format!("{} already exists", path.display()),
        "choose another name, or move the file",
    )
}

/// The error about a path that cannot be a file, or may not be one.
fn unusable(path: &Path, error: &io::Error) -> CliError {
    CliError::new(
        format!("{}: {error}", not_written(path)),
        "choose another file",
    )
}

fn not_written(path: &Path) -> String {
    format!("{} not written", path.display())
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

fn already_exists(path: &Path) -> anyhow::Error {
    let message = format!("{} already exists", path.display());
    CliError::new(
        message,
        "choose another name, or replace the file with --force",
    )
    .into()
}

/// A temporary file in the same directory, to be renamed when it is complete.
///
/// # Errors
/// When the directory is not writable.
fn part_of(path: &Path) -> anyhow::Result<NamedTempFile> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // The error of `tempfile` names the temporary file, which the user does not know.
    if matches!(std::fs::metadata(directory), Err(error) if error.kind() == ErrorKind::NotFound) {
        let message = format!(
            "{}: directory {} not found",
            not_written(path),
            directory.display()
        );
        return Err(CliError::new(message, "create the directory, or choose another file").into());
    }
    NamedTempFile::new_in(directory).map_err(|error| {
        let cause = error
            .raw_os_error()
            .map_or_else(|| error.kind().into(), io::Error::from_raw_os_error);
        unusable(path, &cause).into()
    })
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
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
