//! An upstream's tools are published: what is new is pinned, what has changed is held.

use callgate_schema::json::{Digest, Document, ReadLimits, digest, write_string};
use callgate_wire::{Code, Event, EventKind};

use crate::JournalError;
use crate::journal::{
    Answer, ContractChange, Effect, Held, Pin, PublicationHead, PublishRequest, Published, PublishedTool,
    ReceiptRow, Rows,
};

/// Receipts that are kept for each upstream; an older publication id is taken for a new one.
pub const RECEIPTS_MAX: u32 = 16;

/// Publishes all of it or nothing: a request that comes again is answered as it was, one that was made for another
/// revision is refused.
pub(crate) fn publish(
    rows: &mut dyn Rows,
    request: &PublishRequest,
) -> Result<(Answer, Vec<Effect>), JournalError> {
    let content = content_digest(request)?;
    let last = rows.publication(&request.upstream)?;
    let pins = rows.pins(&request.upstream)?;
    if let Some(receipt) = rows.receipt(&request.upstream, &request.publication)? {
        if receipt.content != content {
            let message = format!("the publication `{}` was made with other tools", request.publication);
            return Err(JournalError::new(Code::CatalogConflict, message));
        }
        let head = match last {
            Some(last) if last.publication == receipt.publication => last,
            _ => PublicationHead {
                revision: receipt.revision,
                publication: receipt.publication,
                at: request.at,
            },
        };
        let mut published = compare(request, &pins, head, &mut Vec::new());
        let pinned_then = |pin: &&Pin| pin.accepted_by.is_none() && pin.pinned_at == published.head.at;
        published.first_seen = pins.iter().filter(pinned_then).map(|pin| pin.tool.clone()).collect();
        return Ok((Answer::Published(published), Vec::new()));
    }
    let revision = last.map_or(0, |head| head.revision);
    if let Some(expected) = request.expected.filter(|expected| *expected != revision) {
        let message = format!("expected the revision {expected} to be the last one, found {revision}");
        return Err(JournalError::new(Code::CatalogConflict, message));
    }
    if let Some(tool) = request.tools.iter().find(|tool| request.strict && tool.row.code.is_some()) {
        let message = format!("the tool `{}` is not admitted, and the upstream is strict", tool.row.tool);
        return Err(JournalError::new(Code::CatalogRefused, message));
    }
    let head = PublicationHead {
        revision: revision.saturating_add(1),
        publication: request.publication.clone(),
        at: request.at,
    };
    let mut effects = vec![
        Effect::SetPublication {
            upstream: request.upstream.clone(),
            head: head.clone(),
            receipt: ReceiptRow {
                publication: request.publication.clone(),
                content,
                revision: head.revision,
            },
            rows: request.tools.iter().map(|tool| tool.row.clone()).collect(),
        },
        Effect::ForgetReceipts { upstream: request.upstream.clone(), kept: RECEIPTS_MAX },
        Effect::Note(Event {
            at: request.at,
            kind: EventKind::CatalogPublished,
            intent: None,
            approval: None,
            by: request.by.clone(),
            detail: Some(format!("{} revision {}", request.upstream, head.revision)),
        }),
    ];
    let published = compare(request, &pins, head, &mut effects);
    Ok((Answer::Published(published), effects))
}

/// Compares what is listed with what is pinned. Of a name that several tools bear nobody can say.
fn compare(
    request: &PublishRequest,
    pins: &[Pin],
    head: PublicationHead,
    effects: &mut Vec<Effect>,
) -> Published {
    let mut published = Published { head, first_seen: Vec::new(), held: Vec::new(), missing: Vec::new() };
    for PublishedTool { row, definition } in &request.tools {
        let Some(now) = row.contract_digest.filter(|_| row.code != Some(Code::ToolNameRepeated)) else {
            continue;
        };
        let upstream = request.upstream.clone();
        match pins.iter().find(|pin| pin.tool == row.tool) {
            // What is not admitted is not pinned: nobody can call it.
            None if row.code.is_some() => {}
            None => {
                let pin = Pin {
                    tool: row.tool.clone(),
                    digest: now,
                    definition: definition.clone(),
                    pinned_at: request.at,
                    accepted_by: None,
                    held: None,
                };
                effects.push(Effect::SetPin { upstream, pin });
                published.first_seen.push(row.tool.clone());
            }
            Some(pin) if pin.digest == now => {
                if pin.held.is_some() {
                    effects.push(Effect::SetPin { upstream, pin: Pin { held: None, ..pin.clone() } });
                }
            }
            Some(pin) => {
                if pin.held.as_ref().is_none_or(|held| held.digest != now) {
                    let held = Some(Held { digest: now, definition: definition.clone(), at: request.at });
                    effects.push(Effect::SetPin { upstream, pin: Pin { held, ..pin.clone() } });
                }
                published.held.push(ContractChange { tool: row.tool.clone(), before: pin.digest, now });
            }
        }
    }
    let listed = |pin: &&Pin| request.tools.iter().any(|tool| tool.row.tool == pin.tool);
    published.missing = pins.iter().filter(|pin| !listed(pin)).map(|pin| pin.tool.clone()).collect();
    published
}

/// The digest of everything that is published, by which the same publication is known again.
fn content_digest(request: &PublishRequest) -> Result<Digest, JournalError> {
    let mut text = vec![b'['];
    for (i, PublishedTool { row, .. }) in request.tools.iter().enumerate() {
        text.extend_from_slice(if i == 0 { b"[" } else { b",[" });
        write_string(&mut text, &row.tool);
        for part in
            [row.contract_digest.map(|digest| digest.to_string()), row.code.map(|code| code.to_string())]
        {
            text.push(b',');
            write_string(&mut text, &part.unwrap_or_default());
        }
        text.push(b']');
    }
    text.push(b']');
    let limits = ReadLimits {
        subject: "catalog",
        bytes_max: 64 << 20,
        depth_max: 3,
        nodes_max: 4_000_000,
        number_digits_max: 1,
        number_exponent_max: 1,
    };
    let document = Document::read(text, &limits).map_err(|fault| {
        JournalError::new(
            Code::CatalogRefused,
            format!("the tools cannot be digested: {}", fault.finding().message),
        )
    })?;
    Ok(digest("catalog", document.root()))
}
