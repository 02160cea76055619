//! What is to be checked: the text of a file, or the list of a live server as if it stood in one.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::Path;

use super::FILE_BYTES_MAX;
use crate::capture::write_tools;
use crate::exit_code::Failure;
use crate::live::{LiveArgs, url_name};
use crate::render::escape::one_line;
use crate::wrap::upstream_name;

/// A text to check.
#[derive(Debug)]
pub(super) struct Input {
    /// What stands before its lines and columns.
    pub(super) name: String,
    pub(super) text: Vec<u8>,
}

/// The text of a file; of standard input, if it is `-`.
pub(super) fn file(file: &Path) -> anyhow::Result<Input> {
    let name = one_line(&file.display().to_string());
    let unreadable = |error: std::io::Error| Failure::usage(format!("failed to read `{name}`: {error}"));
    let mut text = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(FILE_BYTES_MAX + 1).read_to_end(&mut text).map_err(unreadable)?;
    } else {
        let opened = std::fs::File::open(file).map_err(unreadable)?;
        opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut text).map_err(unreadable)?;
    }
    if text.len() as u64 > FILE_BYTES_MAX {
        let message = format!("expected at most {FILE_BYTES_MAX} bytes in `{name}`, found more");
        return Err(Failure::usage(message));
    }
    if text.trim_ascii().is_empty() {
        return Err(Failure::usage(format!("expected JSON text in `{name}`, found nothing")));
    }
    Ok(Input { name: file.display().to_string(), text })
}

/// The list of the server at a URL, one tool a line.
pub(super) fn url(live: &LiveArgs, url: &str) -> anyhow::Result<Input> {
    Ok(Input { name: url_name(url), text: list(&live.visit_url(url)?.tools) })
}

/// The list of the server that a command starts, one tool a line.
pub(super) fn command(live: &LiveArgs, command: &OsStr, words: &[OsString]) -> anyhow::Result<Input> {
    let visit = live.visit_command(command, words)?;
    Ok(Input { name: upstream_name(command, words), text: list(&visit.tools) })
}

fn list(tools: &[Box<[u8]>]) -> Vec<u8> {
    let mut text = b"{\"tools\":".to_vec();
    write_tools(&mut text, tools);
    text.extend_from_slice(b"}\n");
    text
}
