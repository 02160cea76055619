//! A visit to a server that is started for it and speaks on its standard streams.

use std::ffi::{OsStr, OsString};

use callgate_mcp::frame::{UpstreamFrame, UpstreamReader};
use callgate_mcp::{RequestId, answer, list, rpc, visit};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStdin, ChildStdout};

use super::{Collector, INITIALIZE, TOOLS_LIST, Visit, VisitError, VisitSettings, own_id, welcome};
use crate::Child;
use crate::line::{LineReader, NextLine};

/// Starts a command, lists its tools, and ends it.
///
/// # Errors
/// [`VisitError`]. The process has ended then too.
pub async fn visit_command(
    command: &OsStr,
    args: &[OsString],
    settings: &VisitSettings,
) -> Result<Visit, VisitError> {
    let (child, output, input) = Child::start(command, args)?;
    let mut talk = Talk {
        lines: LineReader::new(output, &settings.limits),
        reader: UpstreamReader::new(&settings.limits),
        input,
    };
    let visit = tokio::time::timeout(settings.timeout, talk.visit(settings)).await;
    drop(talk);
    child.stop().await;
    visit.unwrap_or(Err(VisitError::Timeout(settings.timeout)))
}

struct Talk {
    lines: LineReader<ChildStdout>,
    reader: UpstreamReader,
    input: ChildStdin,
}

impl Talk {
    async fn visit(&mut self, settings: &VisitSettings) -> Result<Visit, VisitError> {
        let (text, id) = own_id(0);
        let welcome_frame = self.ask(&visit::initialize(&text, settings.version), &id, INITIALIZE).await?;
        let welcome = welcome(&welcome_frame, &settings.limits)?;
        self.say(visit::INITIALIZED).await?;
        let mut collector = Collector::new(&settings.limits);
        let mut cursor = None;
        loop {
            let (text, id) = own_id(1 + collector.pages);
            let page = self.ask(&list::request(&text, cursor.as_deref()), &id, TOOLS_LIST).await?;
            cursor = collector.take(&page)?;
            if cursor.is_none() {
                return Ok(Visit {
                    revision: welcome.revision,
                    server: welcome.server,
                    tools: collector.tools,
                });
            }
        }
    }

    async fn say(&mut self, frame: &[u8]) -> Result<(), VisitError> {
        let line = [frame, b"\n"].concat();
        let written = match self.input.write_all(&line).await {
            Ok(()) => self.input.flush().await,
            failed @ Err(_) => failed,
        };
        // A server that reads no more has ended or is about to, which says more than a broken pipe.
        written.map_err(|error| match error.kind() {
            std::io::ErrorKind::BrokenPipe => VisitError::Gone,
            _ => VisitError::Io(error),
        })
    }

    /// Sends a request and waits for its answer. What the server asks meanwhile is answered: a ping with nothing,
    /// anything else with the error that it is not done here.
    async fn ask(
        &mut self,
        request: &[u8],
        own: &RequestId,
        method: &'static str,
    ) -> Result<Vec<u8>, VisitError> {
        self.say(request).await?;
        loop {
            let line = match self.lines.next().await.map_err(VisitError::Io)? {
                NextLine::Line(line) => line,
                NextLine::Oversize(scan) if scan.id.as_ref() == Some(own) => {
                    return Err(VisitError::Malformed { method, expected: "a frame within the maximum" });
                }
                NextLine::Oversize(_) => continue,
                NextLine::End => return Err(VisitError::Gone),
            };
            match self.reader.read(&line) {
                UpstreamFrame::Answer(answer) if answer.id == *own => return Ok(line),
                // A list with a faulty tool cannot be read as a whole; its tools are read one by one.
                UpstreamFrame::Unreadable { scan, .. } if scan.id.as_ref() == Some(own) => return Ok(line),
                UpstreamFrame::Request { id, method } if method == "ping" => {
                    self.say(&answer::result(&id, b"{}")).await?;
                }
                UpstreamFrame::Request { id, .. } => {
                    let refusal =
                        answer::plain_error(&id, rpc::METHOD_NOT_FOUND, "expected no requests of the server");
                    self.say(&refusal).await?;
                }
                UpstreamFrame::Answer(_)
                | UpstreamFrame::Unreadable { .. }
                | UpstreamFrame::Notification { .. }
                | UpstreamFrame::Blank => {}
            }
        }
    }
}
