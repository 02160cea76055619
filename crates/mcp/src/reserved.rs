//! The members of a result's `_meta` that are the gate's alone. An upstream that sends them would speak in the gate's
//! name, so they are cut out of what it sends.

use std::ops::Range;

use callgate_schema::json::{Kind, Node};

/// What the names of the gate's own members begin with.
pub const PREFIX: &str = "dev.callgate/";

/// The member of a call's `_meta` that is the caller's key for it.
pub const KEY: &str = "dev.callgate/idempotencyKey";
/// The member of a call's `_meta` that names the run that it belongs to.
pub const RUN: &str = "dev.callgate/run";

/// The `_meta` of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// Where the value is.
    pub span: Range<usize>,
    /// Whether it is an object, as the protocol has it.
    pub object: bool,
    /// What has to be cut out so that no member is left whose name is the gate's, commas included.
    pub cuts: Vec<Range<usize>>,
    /// Whether members are left then.
    pub has_others: bool,
}

impl Meta {
    /// Looks at the value of `_meta`.
    pub(crate) fn of(meta: Node<'_>) -> Meta {
        let object = meta.kind() == Kind::Object;
        let mut members = Vec::new();
        if object {
            for member in meta.members() {
                let span = member.name_span().start..member.value().span().end;
                members.push((span, member.name().starts_with(PREFIX)));
            }
        }
        let has_others = members.iter().any(|(_, reserved)| !reserved);
        Meta { span: meta.span(), object, cuts: cuts(&members), has_others }
    }
}

/// What has to be cut out of an object so that no member is left whose name begins so.
pub(crate) fn cuts_of(object: Node<'_>, prefix: &str) -> Vec<Range<usize>> {
    cuts_where(object, |name| name.starts_with(prefix))
}

/// What has to be cut out of an object so that none of these members is left; nothing of another value.
pub(crate) fn cuts_where(object: Node<'_>, goes: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    if object.kind() != Kind::Object {
        return Vec::new();
    }
    let span = |member: callgate_schema::json::Member<'_>| {
        (member.name_span().start..member.value().span().end, goes(&member.name()))
    };
    cuts(&object.members().map(span).collect::<Vec<_>>())
}

fn cuts(members: &[(Range<usize>, bool)]) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let mut kept = None;
    let mut members = members.iter().peekable();
    while let Some((span, reserved)) = members.next() {
        if !reserved {
            kept = Some(span);
            continue;
        }
        // A run of reserved members: up to the name of the one that stays, or to the end.
        let (start, mut end) = (span.start, span.end);
        while let Some((next, _)) = members.next_if(|(_, reserved)| *reserved) {
            end = next.end;
        }
        cuts.push(match (members.peek(), kept) {
            (Some((next, _)), _) => start..next.start,
            (None, Some(kept)) => kept.end..end,
            (None, None) => start..end,
        });
    }
    cuts
}
