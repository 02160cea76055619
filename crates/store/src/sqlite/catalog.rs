//! The rows of publications, receipts, admissions and pins.

use std::path::Path;

use callgate_gateway::AdmissionRow;
use callgate_gateway::journal::{Held, Pin, PinRecord, PublicationHead, ReceiptRow};
use callgate_wire::{Code, Timestamp};
use rusqlite::{Connection, Row, named_params};

use super::columns::{Columns, all, change, one};
use crate::StoreError;

macro_rules! pin_columns {
    () => {
        "upstream, tool, digest, pinned_at, accepted_by, held_digest, held_at, held_definition, definition"
    };
}

const PINS: &str = concat!("SELECT ", pin_columns!(), " FROM pins ORDER BY upstream, tool");
const PINS_OF: &str = concat!("SELECT ", pin_columns!(), " FROM pins WHERE upstream = ?1 ORDER BY tool");

/// What is published of an upstream.
pub(super) fn publication(
    connection: &Connection,
    path: &Path,
    upstream: &str,
) -> Result<Option<PublicationHead>, StoreError> {
    let sql = "SELECT revision, publication, published_at FROM publications WHERE upstream = ?1";
    one(connection, path, sql, (upstream,), |row| {
        let names = "revision, publication, published_at";
        let columns = Columns { row, path, what: "a publication", names };
        Ok(PublicationHead {
            revision: columns.amount(0)?,
            publication: columns.get(1)?,
            at: columns.time(2)?,
        })
    })
}

/// What the publisher was told, where that is still kept.
pub(super) fn receipt(
    connection: &Connection,
    path: &Path,
    upstream: &str,
    publication: &str,
) -> Result<Option<ReceiptRow>, StoreError> {
    let sql = "SELECT publication, content, revision FROM receipts WHERE upstream = ?1 AND publication = ?2";
    one(connection, path, sql, (upstream, publication), |row| {
        let columns = Columns { row, path, what: "a receipt", names: "publication, content, revision" };
        Ok(ReceiptRow {
            publication: columns.get(0)?,
            content: columns.digest(1)?,
            revision: columns.amount(2)?,
        })
    })
}

/// A publication takes the place of the one before.
pub(super) fn publish(
    connection: &Connection,
    path: &Path,
    upstream: &str,
    head: &PublicationHead,
    receipt: &ReceiptRow,
    rows: &[AdmissionRow],
) -> Result<(), StoreError> {
    let revision = |number: u64| {
        i64::try_from(number).map_err(|_| {
            let message = format!("expected a revision of at most {}, found {number}", i64::MAX);
            StoreError::new(Code::StoreUnavailable, path, message)
        })
    };
    change(
        connection,
        path,
        "INSERT INTO publications (upstream, revision, publication, published_at) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT DO UPDATE SET revision = ?2, publication = ?3, published_at = ?4",
        (upstream, revision(head.revision)?, &head.publication, head.at.0),
    )?;
    change(
        connection,
        path,
        "INSERT INTO receipts (upstream, publication, content, revision) VALUES (?1, ?2, ?3, ?4)",
        (upstream, &receipt.publication, receipt.content.to_string(), revision(receipt.revision)?),
    )?;
    admit(connection, path, upstream, rows, head.at)
}

/// Forgets the receipts beyond the last `kept`.
pub(super) fn forget_receipts(
    connection: &Connection,
    path: &Path,
    upstream: &str,
    kept: u32,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM receipts WHERE upstream = ?1 AND revision <= \
         (SELECT revision FROM receipts WHERE upstream = ?1 ORDER BY revision DESC LIMIT 1 OFFSET ?2)";
    change(connection, path, sql, (upstream, kept))?;
    Ok(())
}

const ADMIT: &str = "INSERT INTO admissions (upstream, tool, contract_digest, code, detail, first_seen_at, \
     last_seen_at, listing) VALUES (:upstream, :tool, :contract_digest, :code, :detail, :at, :at, :listing) \
     ON CONFLICT DO UPDATE SET detail = :detail, last_seen_at = :at, listing = :listing";

/// What became of each tool of a listing.
fn admit(
    connection: &Connection,
    path: &Path,
    upstream: &str,
    rows: &[AdmissionRow],
    at: Timestamp,
) -> Result<(), StoreError> {
    let last = "SELECT coalesce(max(listing), 0) + 1 FROM admissions";
    let read = |row: &Row<'_>| Columns { row, path, what: "an admission", names: "listing" }.get(0);
    let listing: i64 = one(connection, path, last, (), read)?.unwrap_or(1);
    for row in rows {
        let params = named_params! {
            ":upstream": upstream,
            ":tool": row.tool,
            ":contract_digest": row.contract_digest.map(|digest| digest.to_string()).unwrap_or_default(),
            ":code": row.code.map_or("", Code::as_str),
            ":detail": row.detail,
            ":at": at.0,
            ":listing": listing,
        };
        change(connection, path, ADMIT, params)?;
    }
    Ok(())
}

/// The pins of an upstream or, of nobody in particular, of all.
pub(super) fn pins(
    connection: &Connection,
    path: &Path,
    upstream: Option<&str>,
) -> Result<Vec<PinRecord>, StoreError> {
    match upstream {
        Some(upstream) => all(connection, path, PINS_OF, (upstream,), |row| pin(row, path)),
        None => all(connection, path, PINS, (), |row| pin(row, path)),
    }
}

/// A tool's pin.
pub(super) fn set_pin(
    connection: &Connection,
    path: &Path,
    upstream: &str,
    pin: &Pin,
) -> Result<(), StoreError> {
    let held = pin.held.as_ref();
    let params = named_params! {
        ":upstream": upstream,
        ":tool": pin.tool,
        ":digest": pin.digest.to_string(),
        ":pinned_at": pin.pinned_at.0,
        ":accepted_by": pin.accepted_by,
        ":held_digest": held.map(|held| held.digest.to_string()),
        ":held_at": held.map(|held| held.at.0),
        ":held_definition": held.map(|held| &held.definition[..]),
        ":definition": &pin.definition[..],
    };
    let sql = "INSERT OR REPLACE INTO pins (upstream, tool, digest, pinned_at, accepted_by, held_digest, held_at, \
         held_definition, definition) VALUES (:upstream, :tool, :digest, :pinned_at, :accepted_by, :held_digest, \
         :held_at, :held_definition, :definition)";
    change(connection, path, sql, params)?;
    Ok(())
}

fn pin(row: &Row<'_>, path: &Path) -> Result<PinRecord, StoreError> {
    let columns = Columns { row, path, what: "a pin", names: pin_columns!() };
    let held = match columns.get::<Option<i64>>(6)? {
        Some(at) => {
            Some(Held { digest: columns.digest(5)?, definition: columns.bytes(7)?, at: Timestamp(at) })
        }
        None => None,
    };
    let pin = Pin {
        tool: columns.get(1)?,
        digest: columns.digest(2)?,
        definition: columns.bytes(8)?,
        pinned_at: columns.time(3)?,
        accepted_by: columns.get(4)?,
        held,
    };
    Ok(PinRecord { upstream: columns.get(0)?, pin })
}
