//! `callgate worker`: one request a line in, one answer a line out, in order.

mod answer;
mod coercion;
mod line;
mod operation;
mod request;
mod wire;

use std::io::Write as _;

use callgate_schema::json::{ReadFault, ReadFaultKind};

use crate::exit_code::ExitCode;
use crate::render::output::{Reader, written};

/// The longest request; a longer one is answered and skipped.
const LINE_BYTES_MAX: usize = 64 << 20;
/// A longer line's memory is given back once it is answered.
const LINE_BYTES_KEPT: usize = 1 << 20;

/// Answer requests for programs in other languages: JSON lines on standard input and output.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    echo '{\"op\":\"validate\",\"schema\":{\"type\":\"object\"},\"arguments\":{}}' | callgate worker")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> anyhow::Result<ExitCode> {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut line = Vec::new();
    loop {
        let answer = match line::read(&mut input, &mut line, LINE_BYTES_MAX)? {
            line::Line::End => break,
            line::Line::Whole => respond(&line),
            line::Line::TooLong(length) => too_long(length),
        };
        // Whoever asks waits for the answer, so it must not stay in the buffer.
        let result =
            output.write_all(&answer).and_then(|()| output.write_all(b"\n")).and_then(|()| output.flush());
        if written(result)? == Reader::Gone {
            break;
        }
        if line.capacity() > LINE_BYTES_KEPT {
            line = Vec::new();
        }
    }
    Ok(ExitCode::Success)
}

/// The answer to one line.
fn respond(line: &[u8]) -> Vec<u8> {
    match request::Request::read(line) {
        Ok(request) => answer::write(request.id, &operation::carry_out(&request)),
        Err(refused) => answer::write(refused.id, &answer::Answer::refused(vec![*refused.finding])),
    }
}

fn too_long(length: usize) -> Vec<u8> {
    let limit = ReadFaultKind::Limit { name: "request_bytes".into(), maximum: LINE_BYTES_MAX as u64 };
    let fault = ReadFault { kind: limit, offset: length, pointer: String::new() };
    answer::write(b"null", &answer::Answer::refused(vec![fault.finding()]))
}
