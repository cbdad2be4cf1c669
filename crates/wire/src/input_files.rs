//! Files that users write or name: regular files up to a size for each kind, and texts in UTF-8 or
//! UTF-16.
//!
//! ```text
//!   path ─► regular, or a pipe of the shell ─► most bytes of its kind ─► UTF-16 and byte order mark ─► UTF-8 text
//! ```
//!
//! Opening a named pipe waits for its other end, and opening a device can act on it. So every file
//! of the program, also its locks and logs, is opened by [`open_regular`]. Only a pipe that the
//! shell has opened for this process (`<(command)`, `/dev/stdin`) is read. The errors contain the
//! remedy, because every reader has the same ones.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

/// How long a pipe waits for its next bytes.
const PIPE_PAUSE: Duration = Duration::from_secs(30);

const UTF8_MARK: &[u8] = &[0xef, 0xbb, 0xbf];
const UTF16_LE_MARK: &[u8] = &[0xff, 0xfe];
const UTF16_BE_MARK: &[u8] = &[0xfe, 0xff];
const UTF32_MARKS: [&[u8]; 2] = [&[0xff, 0xfe, 0, 0], &[0, 0, 0xfe, 0xff]];

/// The kinds of files, each with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// An API key or another secret.
    Secret,
    /// Configuration and themes.
    Settings,
    /// Certificates and private keys.
    Certificates,
    /// JSON for one request.
    Parameters,
    /// Patterns of targets.
    Scope,
    Wordlist,
    /// A font of this machine, often a collection.
    Font,
    Decisions,
    Bundle,
}

impl InputKind {
    const fn mebibytes(self) -> u64 {
        match self {
            Self::Secret | Self::Settings | Self::Certificates => 1,
            Self::Parameters | Self::Scope => 16,
            Self::Font => 64,
            Self::Wordlist | Self::Decisions => 256,
            Self::Bundle => 1024,
        }
    }
}

/// Why a file is not read, and the next step.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {remedy}")]
pub struct InputError {
    pub problem: String,
    pub remedy: String,
}

impl InputError {
    fn of_kind(
        kind: io::ErrorKind,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> io::Error {
        io::Error::new(
            kind,
            Self {
                problem: problem.into(),
                remedy: remedy.into(),
            },
        )
    }

    /// The error in an error of this module, if it is not one of the operating system.
    pub fn in_error(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

/// Reads a text.
///
/// # Errors
/// As [`read`], and when it is neither UTF-8 nor UTF-16 with a byte order mark.
pub fn read_text(path: &Path, kind: InputKind) -> io::Result<String> {
    text(read(path, kind)?)
}

/// Reads a file, or to its end a pipe that the shell has opened for this process.
///
/// # Errors
/// When it is no regular file, is larger than the limit of its kind, or cannot be read.
pub fn read(path: &Path, kind: InputKind) -> io::Result<Vec<u8>> {
    let file = open_checked(path, OpenOptions::new().read(true), is_descriptor(path))?;
    read_limited(
        PatientReader {
            file,
            pause: PIPE_PAUSE,
        },
        kind,
    )
}

/// Opens a regular file, or creates it as the options say. Does not wait, and has no effect on a
/// device.
///
/// # Errors
/// When there is anything but a regular file, or it cannot be opened.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    open_checked(path, options, false)
}

/// Owner and mode of a file with a secret, before it is read. The mode of a folder is not the
/// problem of a path that names one.
///
/// # Errors
/// When there is nothing that [`read`] would read.
pub fn secret_metadata(path: &Path) -> io::Result<Metadata> {
    let found = fs::metadata(path)?;
    check_type(&found, is_descriptor(path))?;
    Ok(found)
}

fn open_checked(path: &Path, options: &mut OpenOptions, may_be_pipe: bool) -> io::Result<File> {
    if let Ok(found) = fs::metadata(path) {
        check_type(&found, may_be_pipe)?;
    }
    let file = options
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    // Another file may have taken its place in between.
    check_type(&file.metadata()?, may_be_pipe)?;
    Ok(file)
}

/// Whether a path names an open file of this process.
fn is_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stdin")
        || ["/dev/fd", "/proc/self/fd"]
            .iter()
            .any(|folder| path.starts_with(folder))
}

/// Reads a pipe that does not block; after a pause without bytes, that is an error.
struct PatientReader {
    file: File,
    pause: Duration,
}

impl Read for PatientReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
            let pause = Timespec::try_from(self.pause).map_err(io::Error::other)?;
            if poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&pause))? == 0 {
                let problem = format!("the pipe sent nothing for {} s", self.pause.as_secs());
                return Err(InputError::of_kind(
                    io::ErrorKind::TimedOut,
                    problem,
                    "write a file first",
                ));
            }
        }
    }
}

/// Reads a stream, such as standard input, to its end.
///
/// # Errors
/// When it is larger than the limit of its kind, or cannot be read.
pub fn read_limited(from: impl Read, kind: InputKind) -> io::Result<Vec<u8>> {
    let (mut bytes, mebibytes) = (Vec::new(), kind.mebibytes());
    from.take((mebibytes << 20) + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > mebibytes << 20 {
        let problem = format!("file is larger than {mebibytes} MiB");
        return Err(InputError::of_kind(
            io::ErrorKind::FileTooLarge,
            problem,
            "choose a smaller file, or split it",
        ));
    }
    Ok(bytes)
}

/// The null device is the usual name of an empty file.
fn check_type(file: &Metadata, may_be_pipe: bool) -> io::Result<()> {
    let (found, null) = (file.file_type(), || {
        fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == file.rdev())
    });
    let found = match () {
        () if found.is_file() || (found.is_char_device() && null()) => return Ok(()),
        () if found.is_fifo() && may_be_pipe => return Ok(()),
        () if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        () if found.is_fifo() => "a named pipe",
        () if found.is_socket() => "a socket",
        () => "a device",
    };
    Err(InputError::of_kind(
        io::ErrorKind::InvalidInput,
        format!("{found}, not a file"),
        "use a regular file",
    ))
}

/// The text of a file.
///
/// # Errors
/// When it is neither UTF-8 nor UTF-16 with a byte order mark.
pub fn text(bytes: Vec<u8>) -> io::Result<String> {
    let bytes = without_mark(bytes)?;
    if bytes.contains(&0) {
        let problem = "file is binary, or UTF-16 text without a byte order mark";
        return Err(not_text(problem.to_owned(), "UTF-16LE"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..valid]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        not_text(
            format!("line {line} is not UTF-8 text, perhaps latin-1"),
            "LATIN1",
        )
    })
}

fn not_text(problem: String, encoding: &str) -> io::Error {
    let remedy = format!("convert the file with `iconv -f {encoding} -t UTF-8`");
    InputError::of_kind(io::ErrorKind::InvalidData, problem, remedy)
}

/// The bytes as UTF-8 without a byte order mark, which need not be valid. Line ends of old Macs
/// become newlines.
///
/// # Errors
/// When a mark is followed by text in another encoding.
pub fn without_mark(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if UTF32_MARKS.iter().any(|mark| bytes.starts_with(mark)) {
        return Err(not_text("file is UTF-32 text".to_owned(), "UTF-32"));
    }
    let mut bytes = match () {
        () if bytes.starts_with(UTF8_MARK) => bytes[UTF8_MARK.len()..].to_vec(),
        () if bytes.starts_with(UTF16_LE_MARK) => utf16(&bytes, u16::from_le_bytes)?,
        () if bytes.starts_with(UTF16_BE_MARK) => utf16(&bytes, u16::from_be_bytes)?,
        () => bytes,
    };
    if bytes.contains(&b'\r') && !bytes.contains(&b'\n') {
        bytes
            .iter_mut()
            .filter(|byte| **byte == b'\r')
            .for_each(|byte| *byte = b'\n');
    }
    Ok(bytes)
}

/// UTF-16 with its mark, as UTF-8 without it.
fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> io::Result<Vec<u8>> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let decoded = char::decode_utf16(pairs.iter().skip(1).map(|pair| unit(*pair)))
        .collect::<Result<String, _>>();
    match decoded {
        Ok(text) if rest.is_empty() => Ok(text.into_bytes()),
        _ => Err(InputError::of_kind(
            io::ErrorKind::InvalidData,
            "UTF-16 text is damaged",
            "save the file as UTF-8",
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn utf16_of(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        format!("\u{feff}{text}")
            .encode_utf16()
            .flat_map(bytes)
            .collect()
    }

    #[test]
    fn text_in_every_marked_encoding_is_read() {
        let expected = "grün\nüber 🦀\n";
        let marked = [UTF8_MARK, expected.as_bytes()].concat();
        for bytes in [
            expected.as_bytes().to_vec(),
            marked,
            utf16_of(expected, u16::to_le_bytes),
            utf16_of(expected, u16::to_be_bytes),
            utf16_of(&expected.replace('\n', "\r"), u16::to_le_bytes),
            expected.replace('\n', "\r").into_bytes(),
        ] {
            assert_eq!(text(bytes.clone()).unwrap(), expected, "{bytes:x?}");
        }
        assert_eq!(text(b"a\r\nb\r\n".to_vec()).unwrap(), "a\r\nb\r\n");
    }

    #[test]
    fn text_in_other_encoding_is_refused_with_remedy() {
        let cases: [(&[u8], &str); 5] = [
            (
                b"one\ntw\xf6\n",
                "line 2 is not UTF-8 text, perhaps latin-1; convert the file with `iconv -f LATIN1",
            ),
            (
                b"a\0b\0",
                "UTF-16 text without a byte order mark; convert the file with `iconv -f UTF-16LE",
            ),
            (b"\xff\xfe\0\0a\0\0\0", "UTF-32"),
            (b"\xff\xfea", "UTF-16 text is damaged"),
            (b"\xff\xfe\0\xd8", "UTF-16 text is damaged"),
        ];
        for (bytes, words) in cases {
            let error = text(bytes.to_vec()).unwrap_err();
            assert!(
                error.to_string().contains(words) && error.kind() == io::ErrorKind::InvalidData,
                "{error}"
            );
        }
    }

    #[test]
    fn devices_sockets_and_named_pipes_are_refused_at_once() {
        let temp = tempfile::tempdir().unwrap();
        let socket = temp.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        let pipe = temp.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
        for (path, words) in [
            (Path::new("/dev/zero"), "a device"),
            (&*socket, "a socket"),
            (&*pipe, "a named pipe"),
        ] {
            let error = read(path, InputKind::Wordlist).unwrap_err();
            assert_eq!(
                open_regular(path, OpenOptions::new().append(true))
                    .unwrap_err()
                    .to_string(),
                error.to_string()
            );
            assert_eq!(
                error.to_string(),
                format!("{words}, not a file; use a regular file")
            );
        }
        assert_eq!(
            read(temp.path(), InputKind::Wordlist).unwrap_err().kind(),
            io::ErrorKind::IsADirectory
        );
        assert_eq!(
            read(Path::new("/dev/null"), InputKind::Settings).unwrap(),
            b""
        );
    }

    #[test]
    fn metadata_of_a_secret_is_that_of_a_file_and_not_of_a_folder() {
        let temp = tempfile::tempdir().unwrap();
        let key = temp.path().join("key");
        fs::write(&key, "k").unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(secret_metadata(&key).unwrap().mode() & 0o7777, 0o640);
        let error = secret_metadata(temp.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        let error = secret_metadata(&temp.path().join("none")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn pipe_of_the_shell_is_read_until_its_end_or_a_long_pause() {
        let (reader, mut writer) = io::pipe().unwrap();
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        let written = std::thread::spawn(move || writer.write_all(&[b'x'; 100_000]));
        assert_eq!(read(&path, InputKind::Settings).unwrap().len(), 100_000);
        written.join().unwrap().unwrap();

        let (reader, _writer) = io::pipe().unwrap();
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        let file = open_checked(&path, OpenOptions::new().read(true), true).unwrap();
        let silent = PatientReader {
            file,
            pause: Duration::from_millis(10),
        };
        let error = read_limited(silent, InputKind::Settings).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("the pipe sent nothing for 0 s; "),
            "{error}"
        );
    }

    #[test]
    fn file_over_the_limit_of_its_kind_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("file");
        let file = File::create(&path).unwrap();
        file.set_len(1 << 20).unwrap();
        assert_eq!(read(&path, InputKind::Settings).unwrap().len(), 1 << 20);
        file.set_len((1 << 20) + 1).unwrap();
        let error = read(&path, InputKind::Settings).unwrap_err();
        assert!(
            error.to_string().starts_with("file is larger than 1 MiB; "),
            "{error}"
        );
        assert!(read(&path, InputKind::Scope).is_ok());
        assert!(read_limited(io::repeat(b'x'), InputKind::Secret).is_err());
    }
}
