//! The one way to the standard streams. The macros of the standard library panic when nobody reads or the disk is full;
//! here the first is no failure and the second is an error like any other.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use anyhow::Context as _;

use super::escape::one_line;
use crate::exit_code::Failure;

/// Whether anybody reads what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    Listening,
    /// It stopped before the end, as `head` does.
    Gone,
}

/// What came of writing to standard output.
///
/// # Errors
/// Whatever kept the text from being written, but not that the reader has gone.
pub(crate) fn written(result: io::Result<()>) -> anyhow::Result<Reader> {
    match result {
        Ok(()) => Ok(Reader::Listening),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(error).context("failed to write to standard output"),
    }
}

/// Prints for people: colours stay only if standard output is a terminal.
///
/// # Errors
/// Those of [`written`].
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush())).map(drop)
}

/// Prints for programs: these bytes and no others.
///
/// # Errors
/// Those of [`written`].
pub(crate) fn print_exact(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush())).map(drop)
}

/// Writes a file that is not there yet.
///
/// # Errors
/// That it is there, or cannot be written.
pub(crate) fn write_new(file: &Path, text: &[u8]) -> anyhow::Result<()> {
    let name = one_line(&file.display().to_string());
    let opened = File::options().write(true).create_new(true).open(file);
    opened.and_then(|mut opened| opened.write_all(text)).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::usage(format!("expected no file `{name}`, found one; it is not overwritten"))
        }
        _ => Failure::usage(format!("failed to write `{name}`: {error}")),
    })
}

/// Says on standard error why something did not work. If that cannot be written, the exit code alone says it.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "callgate: {text}");
}

/// Tells people on standard error what does not belong into the output. If that cannot be written, nothing is lost.
pub(crate) fn remark(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Replaces a file whole or not at all; it keeps its permissions.
pub(crate) fn replace_file(file: &Path, text: &[u8]) -> anyhow::Result<()> {
    let written = || {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut beside = tempfile::NamedTempFile::new_in(folder)?;
        beside.write_all(text)?;
        match File::open(file).and_then(|old| old.metadata()) {
            Ok(old) => beside.as_file().set_permissions(old.permissions())?,
            Err(_) => readable(beside.as_file())?,
        }
        beside.persist(file).map(drop).map_err(|error| error.error)
    };
    let name = one_line(&file.display().to_string());
    written().map_err(|error| Failure::usage(format!("failed to write `{name}`: {error}")))
}

/// A new file can be read by others, as a catalog is nothing to hide. What is made beside it cannot.
#[cfg(unix)]
fn readable(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_file: &File) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_went_is_no_failure_and_a_full_disk_is_one() {
        assert_eq!(written(Ok(())).unwrap(), Reader::Listening);
        assert_eq!(written(Err(ErrorKind::BrokenPipe.into())).unwrap(), Reader::Gone);
        let error = written(Err(ErrorKind::StorageFull.into())).unwrap_err();
        assert_eq!(format!("{error:#}"), "failed to write to standard output: no storage space");
    }
}
