//! `tools/list`: the gate asks for all pages itself, judges each tool on its own, and answers with those that it admits.

use std::sync::Arc;

use callgate_gateway::catalog::{Catalog, OutputContract, admit_tools};
use callgate_gateway::{Journal, Refusal};
use callgate_mcp::list::{self, Page, PageFault};
use callgate_mcp::{RequestId, answer, rpc};
use callgate_wire::{Code, Stage};
use tokio::time::Instant;

use super::calls::chain;
use super::state::{Done, Kind, Session, UpstreamState, Work};
use crate::clock::now;
use crate::lane::Line;

/// How often calls wait for yet another list of an upstream whose tools change while they are listed.
const RESTARTS_MAX: u32 = 3;

/// A list that is being read.
#[derive(Debug)]
pub(super) struct Listing {
    /// The id of the request for the page that comes next.
    pub(super) id: RequestId,
    /// When the whole list has to be there.
    pub(super) due: Instant,
    definitions: Vec<Box<[u8]>>,
    /// The other members of the first page's result.
    others: Option<Vec<(Box<str>, Box<str>)>>,
    pages: usize,
    bytes: usize,
    /// The upstream said meanwhile that its tools are others now.
    outdated: bool,
    /// How often that has happened in a row.
    restarts: u32,
    /// The number of the catalog that is being made: all pages are there.
    judging: Option<u64>,
}

/// A list whose tools are judged.
#[derive(Debug)]
pub(super) struct Listed {
    catalog: Catalog,
    others: Vec<(Box<str>, Box<str>)>,
    /// The store has compared the tools with their pins.
    compared: bool,
}

impl Session {
    /// Takes the client's `tools/list`.
    pub(super) fn on_list(&mut self, id: RequestId, cursor: bool) {
        if cursor {
            let text = "expected no cursor: all tools are on the first page";
            self.to_client.push(Line::own(answer::plain_error(&id, rpc::INVALID_PARAMS, text)));
            return;
        }
        if self.upstream != UpstreamState::Up {
            self.answer_error(&id, Code::UpstreamGone, "the upstream has ended; its tools are not known");
            return;
        }
        if self.open.len() - self.calls >= self.settings.requests_in_flight_max {
            self.answer_error(&id, Code::CallsInFlight, "more requests are open than are taken at once");
            return;
        }
        self.keep(id, Kind::List);
        self.list_tools();
    }

    /// Asks the upstream for its tools, unless that is under way.
    pub(super) fn list_tools(&mut self) {
        self.list_tools_again(0);
    }

    fn list_tools_again(&mut self, restarts: u32) {
        if self.listing.is_some() {
            return;
        }
        let due = Instant::now() + self.settings.call_timeout;
        if let Some(id) = self.ask_for_page(None) {
            self.listing = Some(Listing {
                id,
                due,
                definitions: Vec::new(),
                others: None,
                pages: 0,
                bytes: 0,
                outdated: false,
                restarts,
                judging: None,
            });
        }
    }

    fn ask_for_page(&mut self, cursor: Option<&str>) -> Option<RequestId> {
        self.lists += 1;
        let (text, id) = list::own_id(&self.own_prefix, self.lists)?;
        self.tell_upstream(Line::own(list::request(&text, cursor)));
        Some(id)
    }

    /// The upstream's tools are others now.
    pub(super) fn on_list_changed(&mut self) {
        tracing::info!("the upstream's tools have changed");
        self.catalog = None;
        if let Some(listing) = &mut self.listing {
            listing.outdated = true;
        }
    }

    /// Takes the answer to the gate's own request.
    pub(super) fn on_page(&mut self, frame: &[u8]) {
        let limits = &self.settings.frames;
        let page = match Page::read(frame, limits) {
            Ok(page) => page,
            Err(PageFault::Refused(error)) => {
                let message = "the upstream answered `tools/list` with an error";
                self.end_listing(Code::UpstreamListFailed, message, Some(&error));
                return;
            }
            Err(PageFault::Malformed(expected)) => {
                self.fail_listing(&format!("expected {expected}, found something else"));
                return;
            }
        };
        if page.forged {
            self.log_forged();
        }
        let limits = &self.settings.frames;
        let Some(listing) = &mut self.listing else { return };
        if listing.judging.is_some() {
            self.stray("it answers a request that is answered");
            return;
        }
        listing.pages += 1;
        listing.bytes += frame.len();
        listing.definitions.extend(page.tools);
        listing.others.get_or_insert(page.others);
        for (what, found, most) in [
            ("pages", listing.pages, limits.list_pages_max),
            ("bytes", listing.bytes, limits.list_bytes_max),
            ("tools", listing.definitions.len(), limits.list_tools_max),
        ] {
            if found > most || (what == "pages" && found == most && page.next.is_some()) {
                self.fail_listing(&format!("expected at most {most} {what}, found more"));
                return;
            }
        }
        match page.next {
            Some(cursor) => {
                let id = self.ask_for_page(Some(&cursor));
                if let (Some(listing), Some(id)) = (&mut self.listing, id) {
                    listing.id = id;
                }
            }
            None => self.judge_tools(),
        }
    }

    /// Gives the tools to a thread that judges each of them and records what came of it.
    fn judge_tools(&mut self) {
        let Some(listing) = &mut self.listing else { return };
        self.catalog_revision += 1;
        let revision = self.catalog_revision;
        listing.judging = Some(revision);
        let definitions = std::mem::take(&mut listing.definitions);
        let others = listing.others.take().unwrap_or_default();
        let (settings, journal) = (Arc::clone(&self.settings), Arc::clone(&self.journal));
        self.spawn(Work::Listing, move || {
            let admissions = admit_tools(definitions.iter().map(|raw| &**raw), &settings.admission);
            let mut catalog = Catalog::publish(revision, &settings.upstream, admissions);
            let compared = record(&*journal, &mut catalog);
            Done::Listed(Box::new(Listed { catalog, others, compared }))
        });
    }

    /// The tools are judged: the clients that asked are answered, and the calls that waited go on.
    pub(super) fn on_listed(&mut self, listed: Listed) {
        let Listed { catalog, others, compared } = listed;
        let made = Some(catalog.revision());
        // A list that took too long was given up, and another one may be under way.
        let Some(listing) = self.listing.take_if(|listing| listing.judging == made) else { return };
        report(&catalog);
        let definitions = catalog.admitted().iter().map(|tool| &*tool.definition);
        let result = list::result(&others, definitions);
        for id in self.waiting_lists() {
            self.forget(&id);
            self.to_client.push(Line::own(answer::result(&id, &result)));
        }
        if !compared {
            let message =
                "the tools cannot be compared with their pins, since the store cannot be read or written";
            let refusal = Refusal::new(Code::StoreUnavailable, message)
                .in_stage(Stage::Resolve)
                .with_help("the operator of the gate has to look at its store");
            self.refuse_waiting_calls(&refusal);
            return;
        }
        let catalog = Arc::new(catalog);
        if listing.outdated && listing.restarts < RESTARTS_MAX {
            if !self.waiting_calls().is_empty() {
                self.list_tools_again(listing.restarts + 1);
            }
            return;
        }
        if !listing.outdated {
            self.catalog = Some(Arc::clone(&catalog));
        }
        self.open_waiting_calls(&catalog);
    }

    /// The upstream's list cannot be used.
    pub(super) fn fail_listing(&mut self, fault: &str) {
        let message = format!("the upstream's list of tools cannot be used: {fault}");
        self.end_listing(Code::UpstreamListFailed, &message, None);
    }

    /// Ends the list without tools: whoever waits for it is told, by the upstream's own error where there is one.
    pub(super) fn end_listing(&mut self, code: Code, message: &str, error: Option<&str>) {
        tracing::error!(%code, "{message}");
        let Some(listing) = self.listing.take() else { return };
        self.late.push(listing.id, None);
        for id in self.waiting_lists() {
            self.forget(&id);
            match error {
                Some(error) => self.to_client.push(Line::own(answer::relayed_error(&id, error))),
                None => self.answer_error(&id, code, message),
            }
        }
        let refusal = Refusal::new(code, message)
            .in_stage(Stage::Resolve)
            .with_help("the operator of the gate has to look at the tool server");
        self.refuse_waiting_calls(&refusal);
    }

    /// Answers the calls that wait for the tools.
    fn refuse_waiting_calls(&mut self, refusal: &Refusal) {
        for id in self.waiting_calls() {
            let tool = self.call_mut(&id).map(|call| call.tool.clone()).unwrap_or_default();
            self.forget(&id);
            self.answer_refusal(&id, &tool, refusal);
        }
    }

    fn waiting_lists(&self) -> Vec<RequestId> {
        let lists = self.open.values().filter(|open| matches!(open.kind, Kind::List));
        lists.map(|open| open.id.clone()).collect()
    }
}

/// Records what became of the tools, and holds those whose definitions are not the pinned ones. Says whether the store did:
/// where not, any of them may have changed, and the next call lists them anew.
fn record(journal: &dyn Journal, catalog: &mut Catalog) -> bool {
    let by = journal.incarnation().to_string();
    let publication = format!("{by}/{}", catalog.revision());
    match journal.publish(catalog.publication(publication, by, now())) {
        Ok(published) => {
            catalog.hold(&published.held);
            true
        }
        Err(error) => {
            tracing::error!(error = %chain(&error), "what became of the tools cannot be recorded");
            false
        }
    }
}

/// Says what became of the tools.
pub(crate) fn report(catalog: &Catalog) {
    let (admitted, quarantined) = (catalog.admitted().len(), catalog.quarantined().len());
    let upstream = catalog.upstream();
    tracing::info!(upstream, admitted, quarantined, "the upstream's tools are judged");
    for tool in catalog.quarantined() {
        tracing::warn!(upstream, tool = tool.label(), code = %tool.code, reason = tool.reason(), "quarantined");
    }
    for tool in catalog.admitted() {
        if let OutputContract::Unchecked(findings) = &tool.output {
            let reason = findings.first().map(|finding| finding.message.as_str()).unwrap_or_default();
            let code = Code::ToolOutputSchemaUnchecked;
            tracing::warn!(upstream, tool = tool.name, %code, reason, "its results go unchecked");
        }
        for warning in &tool.warnings {
            tracing::debug!(tool = tool.name, code = %warning.code, "{}", warning.message);
        }
    }
}
