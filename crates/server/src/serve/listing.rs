//! The tools of one server: all pages are asked for, each tool is judged, and the store compares them with their pins.

use std::sync::Arc;
use std::time::Duration;

use callgate_gateway::Journal;
use callgate_gateway::catalog::{Admission as Judged, Catalog, admit_tools};
use callgate_mcp::FrameLimits;
use callgate_mcp::list::{Page, PageFault};
use callgate_mcp::relay::{Era, Subject, own_request};
use callgate_schema::{Code as SchemaCode, Finding};
use callgate_wire::Code;

use super::connect::own_client;
use super::link::{Link, Outgoing, Reply};
use super::upstream::Upstream;
use crate::clock::now;
use crate::config::Admission;
use crate::session::{chain, report};

/// How long a server may take to list all its tools.
const LIST: Duration = Duration::from_mins(1);

/// Tools that are judged and recorded.
pub(super) struct Listed {
    pub(super) catalog: Catalog,
}

/// Lists and judges the tools of a server.
pub(super) async fn list(upstream: &Upstream, link: &Arc<Link>) -> Result<Listed, String> {
    if link.hello().is_some_and(|hello| !hello.has("tools")) {
        return judge(upstream, Vec::new(), Vec::new()).await;
    }
    let definitions = tokio::time::timeout(LIST.min(upstream.settings.call_timeout), pages(upstream, link))
        .await
        .map_err(|_| "it did not list its tools in time".to_owned())??;
    let misplaced = match link.hello().map(|hello| hello.era) {
        // Only over HTTP, and only in the newer era, are there headers that repeat arguments.
        Some(Era::Modern) if link.is_http() => misplaced(&definitions, &upstream.settings.frames),
        _ => Vec::new(),
    };
    judge(upstream, definitions, misplaced).await
}

/// The tools whose marks for headers cannot be followed, with the places of these marks.
fn misplaced(definitions: &[Box<[u8]>], limits: &FrameLimits) -> Vec<(usize, Vec<String>)> {
    let faulty = definitions.iter().map(|raw| Subject::misplaced(raw, limits)).enumerate();
    faulty.filter(|(_, places)| !places.is_empty()).collect()
}

async fn pages(upstream: &Upstream, link: &Arc<Link>) -> Result<Vec<Box<[u8]>>, String> {
    let limits = &upstream.settings.frames;
    let Some(hello) = link.hello() else { return Err("it has not been greeted".to_owned()) };
    let (mut definitions, mut bytes, mut cursor) = (Vec::new(), 0, None::<Box<str>>);
    for _ in 0..limits.list_pages_max {
        let id = link.fresh_id();
        let members = cursor.as_ref().map(|cursor| format!("\"cursor\":{cursor}")).unwrap_or_default();
        let frame = own_request(&id.to_string(), "tools/list", hello.era, &own_client(), &members);
        let outgoing = Outgoing { frame, method: "tools/list".to_owned(), ..Outgoing::default() };
        let mut ticket = link.request(id, outgoing, None);
        let page = match ticket.reply().await {
            // A fault in one tool's definition is that tool's alone, so the page is taken apart all the same.
            Reply::Answer(_, line) | Reply::Unreadable(_, Some(line)) => {
                bytes += line.bytes().len();
                Page::read(line.bytes(), limits)
            }
            Reply::Unreadable(fault, None) => return Err(format!("its list cannot be read: {fault}")),
            Reply::Oversize(_) => return Err("its list is over the maximum of a frame".to_owned()),
            Reply::Gone(reason) | Reply::NotSent(reason) => return Err(reason),
        };
        let page = page.map_err(|fault| match fault {
            PageFault::Refused(error) => {
                format!(
                    "it answers `tools/list` with an error: {}",
                    error.chars().take(200).collect::<String>()
                )
            }
            PageFault::Malformed(expected) => {
                format!("expected {expected} in its list, found something else")
            }
        })?;
        definitions.extend(page.tools);
        for (what, found, most) in
            [("bytes", bytes, limits.list_bytes_max), ("tools", definitions.len(), limits.list_tools_max)]
        {
            if found > most {
                return Err(format!("expected at most {most} {what} in its list, found more"));
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(definitions);
        }
    }
    Err(format!("expected at most {} pages in its list, found more", limits.list_pages_max))
}

/// Judges the tools on a thread that may block, and records what came of them.
async fn judge(
    upstream: &Upstream,
    definitions: Vec<Box<[u8]>>,
    misplaced: Vec<(usize, Vec<String>)>,
) -> Result<Listed, String> {
    let (admission, journal) = (upstream.settings.admission.clone(), Arc::clone(&upstream.journal));
    let (name, revision) = (upstream.config.name.clone(), upstream.next_revision());
    let strict = upstream.config.admission == Admission::Strict;
    let judged = tokio::task::spawn_blocking(move || {
        let mut admissions = admit_tools(definitions.iter().map(|raw| &**raw), &admission);
        for (index, places) in misplaced {
            if let Some(judged) = admissions.get_mut(index) {
                hold_back(judged, index, &places);
            }
        }
        let mut catalog = Catalog::publish(revision, &name, admissions);
        report(&catalog);
        record(&*journal, &mut catalog, strict)?;
        Ok(Listed { catalog })
    });
    judged.await.unwrap_or_else(|_| Err("a defect of the gate ended the judging of its tools".to_owned()))
}

/// Quarantines a tool that was admitted, for its marks.
///
/// SPEC: 2026-07-28, server/tools, "x-mcp-header": a client over HTTP excludes such a tool, and only that one.
fn hold_back(judged: &mut Judged, index: usize, places: &[String]) {
    if let Judged::Admitted(tool) = judged {
        let finding = |place: &String| {
            let expected = "expected `x-mcp-header` to name a header that no other property has, on a string, an \
                            integer or a boolean that is reached by `properties` alone";
            Finding::new(
                SchemaCode::SchemaMalformedKeyword,
                format!("{expected}, found another use at `{place}`"),
            )
            .with_help("take the mark away, or use another name")
        };
        let findings = places.iter().map(finding).collect();
        let held = tool.clone().quarantined(index, Code::ToolInputSchemaRefused, findings);
        *judged = Judged::Quarantined(held);
    }
}

/// Records what became of the tools, and holds those whose definitions are not the pinned ones.
fn record(journal: &dyn Journal, catalog: &mut Catalog, strict: bool) -> Result<(), String> {
    let by = journal.incarnation().to_string();
    let publication = format!("{by}/{}/{}", catalog.upstream(), catalog.revision());
    let mut request = catalog.publication(publication, by, now());
    request.strict = strict;
    let published = journal.publish(request).map_err(|error| {
        let code = error.code();
        format!("what became of its tools cannot be recorded: {} ({code})", chain(&error))
    })?;
    catalog.hold(&published.held);
    for change in &published.held {
        tracing::warn!(tool = change.tool, code = %Code::ToolContractChanged, "it is held until an operator accepts its change");
    }
    Ok(())
}
