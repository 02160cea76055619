//! Rows become records, and a row that is none says so.

use std::str::FromStr as _;

use callgate_gateway::JournalError;
use callgate_gateway::journal::{Counter, Held, Pin, PublicationHead, ReceiptRow};
use callgate_schema::json::Digest;
use callgate_wire::{
    Approval, ApprovalId, ApprovalState, Attempt, Charge, Code, Decision, Event, EventKind, INTENT_FORMAT,
    Incarnation, Intent, IntentId, IntentState, Pinned, Principal, Settlement, SideEffect, Timestamp,
};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::error::Failure;
use super::text::original;

/// `window_at` of a counter that never resets.
pub(super) const NO_WINDOW: i64 = i64::MIN;

/// An intent's columns, in the order in which [`intent`] reads them.
macro_rules! intent_columns {
    () => {
        "id, format, opened_at, principal, run, upstream, tool, contract_digest, arguments_digest, call_digest, \
         idempotency_key, approval, read_only, idempotent, attempt, fence, retry_permitted, state, side_effect, in_doubt, \
         code, result_bytes, is_error, settled_at"
    };
}

/// An approval's columns, in the order in which [`approval`] reads them.
macro_rules! approval_columns {
    () => {
        "id, asked_at, expires_at, principal, run, upstream, tool, contract_digest, arguments_digest, call_digest, \
         rules_digest, rules, state, decided_at, decided_by, reason, used_by"
    };
}

/// A counter's columns, in the order in which [`counter`] reads them.
macro_rules! counter_columns {
    () => {
        "budget, scope, window_at, resets_at, amount, amount_max, committed, reserved"
    };
}

/// A pin's columns, in the order in which [`pin`] reads them.
macro_rules! pin_columns {
    () => {
        "tool, digest, definition, pinned_at, accepted_by, held_digest, held_definition, held_at"
    };
}

pub(super) use {approval_columns, counter_columns, intent_columns, pin_columns};

pub(super) fn intent(row: &Row) -> Result<Intent, Failure> {
    let row = Fields { row, what: "an intent" };
    let format: i32 = row.get(1)?;
    if i64::from(format) != i64::from(INTENT_FORMAT) {
        let message = format!("expected intents of format {INTENT_FORMAT}, found {format}");
        return Err(Failure::Refused(JournalError::new(Code::StoreNewer, message)));
    }
    Ok(Intent {
        id: row.parsed(0, |text| IntentId::parse(text).ok())?,
        opened_at: Timestamp(row.get(2)?),
        principal: Principal::from_stored(row.text(3)?),
        run: row.text_if(4)?,
        upstream: row.text(5)?,
        tool: row.text(6)?,
        contract_digest: row.digest(7)?,
        arguments_digest: row.digest(8)?,
        call_digest: row.digest(9)?,
        key: row.text_if(10)?,
        approval: row.parsed_if(11, |text| ApprovalId::parse(text).ok())?,
        pinned: Pinned { read_only: row.get(12)?, idempotent: row.get(13)? },
        attempt: Attempt(row.number(14)?),
        fence: row.parsed(15, |text| Incarnation::parse(text).ok())?,
        retry_permitted: row.get(16)?,
        settlement: settlement(&row)?,
    })
}

fn settlement(row: &Fields<'_>) -> Result<Option<Settlement>, Failure> {
    let Some(at) = row.get::<Option<i64>>(23)? else { return Ok(None) };
    Ok(Some(Settlement {
        state: row.parsed(17, IntentState::parse)?,
        side_effect: row.parsed(18, SideEffect::parse)?,
        in_doubt: row.get(19)?,
        code: row.parsed_if(20, Code::parse)?,
        result_bytes: row.number_if(21)?,
        is_error: row.get(22)?,
        at: Timestamp(at),
    }))
}

pub(super) fn approval(row: &Row) -> Result<Approval, Failure> {
    let row = Fields { row, what: "an approval" };
    let decision = match row.get::<Option<i64>>(13)? {
        Some(at) => Some(Decision { at: Timestamp(at), by: row.text(14)?, reason: row.text_if(15)? }),
        None => None,
    };
    Ok(Approval {
        id: row.parsed(0, |text| ApprovalId::parse(text).ok())?,
        asked_at: Timestamp(row.get(1)?),
        expires_at: Timestamp(row.get(2)?),
        principal: Principal::from_stored(row.text(3)?),
        run: row.text_if(4)?,
        upstream: row.text(5)?,
        tool: row.text(6)?,
        contract_digest: row.digest(7)?,
        arguments_digest: row.digest(8)?,
        call_digest: row.digest(9)?,
        rules_digest: row.digest(10)?,
        rules: row.get::<Vec<String>>(11)?.into_iter().map(original).collect(),
        state: row.parsed(12, ApprovalState::parse)?,
        decision,
        used_by: row.parsed_if(16, |text| IntentId::parse(text).ok())?,
    })
}

pub(super) fn counter(row: &Row) -> Result<Counter, Failure> {
    counter_at(row, 0)
}

/// Reads a counter whose columns begin at `first`.
pub(super) fn counter_at(row: &Row, first: usize) -> Result<Counter, Failure> {
    let row = Fields { row, what: "a counter" };
    let charge = Charge {
        budget: row.text(first)?,
        scope: row.text(first + 1)?,
        window: Some(row.get::<i64>(first + 2)?).filter(|at| *at != NO_WINDOW).map(Timestamp),
        resets_at: row.get::<Option<i64>>(first + 3)?.map(Timestamp),
        amount: row.number(first + 4)?,
        limit: row.number(first + 5)?,
    };
    Ok(Counter { charge, committed: row.number(first + 6)?, reserved: row.number(first + 7)? })
}

pub(super) fn pin(row: &Row) -> Result<Pin, Failure> {
    let row = Fields { row, what: "a pin" };
    let held = match row.get::<Option<i64>>(7)? {
        Some(at) => Some(Held { digest: row.digest(5)?, definition: row.bytes(6)?, at: Timestamp(at) }),
        None => None,
    };
    Ok(Pin {
        tool: row.text(0)?,
        digest: row.digest(1)?,
        definition: row.bytes(2)?,
        pinned_at: Timestamp(row.get(3)?),
        accepted_by: row.text_if(4)?,
        held,
    })
}

/// Reads `revision, publication, published_at`.
pub(super) fn publication(row: &Row) -> Result<PublicationHead, Failure> {
    let row = Fields { row, what: "a publication" };
    Ok(PublicationHead { revision: row.number(0)?, publication: row.text(1)?, at: Timestamp(row.get(2)?) })
}

/// Reads `publication, content, revision`.
pub(super) fn receipt(row: &Row) -> Result<ReceiptRow, Failure> {
    let row = Fields { row, what: "a receipt" };
    Ok(ReceiptRow { publication: row.text(0)?, content: row.digest(1)?, revision: row.number(2)? })
}

/// Reads `at, kind, intent, approval, by_whom, detail`.
pub(super) fn event(row: &Row) -> Result<Event, Failure> {
    let row = Fields { row, what: "a line of the history" };
    Ok(Event {
        at: Timestamp(row.get(0)?),
        kind: row.parsed(1, EventKind::parse)?,
        intent: row.parsed_if(2, |text| IntentId::parse(text).ok())?,
        approval: row.parsed_if(3, |text| ApprovalId::parse(text).ok())?,
        by: row.text(4)?,
        detail: row.text_if(5)?,
    })
}

/// Reads a column of whatever row.
pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, column: usize, what: &str) -> Result<T, Failure> {
    row.try_get(column).map_err(|_| Failure::damaged(what))
}

/// Reads a text column of whatever row.
pub(super) fn text(row: &Row, at: usize, what: &str) -> Result<String, Failure> {
    Ok(original(column(row, at, what)?))
}

/// Reads the first column of an incarnation's row.
pub(super) fn incarnation(row: &Row) -> Result<Incarnation, Failure> {
    Fields { row, what: "an incarnation" }.parsed(0, |text| Incarnation::parse(text).ok())
}

/// A number that is stored in fewer values than it has.
pub(super) fn clamped(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

struct Fields<'a> {
    row: &'a Row,
    what: &'static str,
}

impl<'a> Fields<'a> {
    fn get<T: FromSql<'a>>(&self, column: usize) -> Result<T, Failure> {
        self.row.try_get(column).map_err(|_| self.damaged(column))
    }

    fn text(&self, column: usize) -> Result<String, Failure> {
        Ok(original(self.get(column)?))
    }

    fn text_if(&self, column: usize) -> Result<Option<String>, Failure> {
        Ok(self.get::<Option<String>>(column)?.map(original))
    }

    fn bytes(&self, column: usize) -> Result<Box<[u8]>, Failure> {
        Ok(self.get::<Vec<u8>>(column)?.into())
    }

    fn number<T: TryFrom<i64>>(&self, column: usize) -> Result<T, Failure> {
        T::try_from(self.get(column)?).map_err(|_| self.damaged(column))
    }

    fn number_if<T: TryFrom<i64>>(&self, column: usize) -> Result<Option<T>, Failure> {
        let number = self.get::<Option<i64>>(column)?;
        number.map(|number| T::try_from(number).map_err(|_| self.damaged(column))).transpose()
    }

    fn digest(&self, column: usize) -> Result<Digest, Failure> {
        self.parsed(column, |text| Digest::from_str(text).ok())
    }

    fn parsed<T>(&self, column: usize, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, Failure> {
        parse(self.get(column)?).ok_or_else(|| self.damaged(column))
    }

    fn parsed_if<T>(
        &self,
        column: usize,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let text = self.get::<Option<&str>>(column)?;
        text.map(|text| parse(text).ok_or_else(|| self.damaged(column))).transpose()
    }

    #[cold]
    fn damaged(&self, column: usize) -> Failure {
        let name = self.row.columns().get(column).map_or("column", |column| column.name());
        Failure::damaged(&format!("{}'s `{name}`", self.what))
    }
}
