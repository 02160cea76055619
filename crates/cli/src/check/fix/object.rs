//! One schema object that is mended: its members, and the splices that rename, replace, add and remove them.

use std::ops::Range;

use callgate_schema::json::{Kind, Member, Node, write_string};

use super::{Fix, Splice};

/// A schema object.
pub(super) struct Object<'a> {
    members: Vec<Member<'a>>,
}

impl<'a> Object<'a> {
    /// The object that a place is in, and the name of its member there.
    pub(super) fn of(root: Node<'a>, pointer: &str) -> Option<(Object<'a>, String)> {
        let (parent, name) = pointer.rsplit_once('/')?;
        let object = root.pointer(parent).filter(|object| object.kind() == Kind::Object)?;
        let name = name.replace("~1", "/").replace("~0", "~");
        Some((Object { members: object.members().collect() }, name))
    }

    pub(super) fn get(&self, name: &str) -> Option<Node<'a>> {
        self.member(name).map(|(_, member)| member.value())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.member(name).is_some()
    }

    pub(super) fn rename(&self, name: &str, new: &str) -> Option<Splice> {
        self.member(name).map(|(_, member)| Splice::new(member.name_span(), text(new)))
    }

    pub(super) fn replace(&self, name: &str, value: impl Into<Vec<u8>>) -> Option<Splice> {
        self.get(name).map(|old| Splice::new(old.span(), value))
    }

    /// Takes a member out with the comma and the white space that belong to it.
    pub(super) fn remove(&self, name: &str) -> Option<Splice> {
        let (at, member) = self.member(name)?;
        let own = member.name_span().start..member.value().span().end;
        let before = at.checked_sub(1).and_then(|at| self.members.get(at));
        let span: Range<usize> = match (before, self.members.get(at + 1)) {
            (Some(before), _) => before.value().span().end..own.end,
            (None, Some(next)) => own.start..next.name_span().start,
            (None, None) => own,
        };
        Some(Splice::new(span, ""))
    }

    fn member(&self, name: &str) -> Option<(usize, Member<'a>)> {
        self.members.iter().copied().enumerate().find(|(_, member)| member.name_is(name))
    }
}

/// Closes an object schema: a member more, in the form of the last one.
pub(super) fn close(root: Node<'_>) -> Option<Fix> {
    let added = b"\"additionalProperties\": false";
    let members: Vec<Member<'_>> = root.members().collect();
    let splice = match members.as_slice() {
        [] if root.kind() == Kind::Object => {
            Splice::new(root.span().start + 1..root.span().start + 1, *added)
        }
        [] => return None,
        [.., last] => {
            let end = last.value().span().end;
            // What stands between the bracket and the first name also goes before the new name.
            let first = members.first().map_or(end, |first| first.name_span().start);
            let blank = root.raw().get(1..first - root.span().start).unwrap_or_default();
            let comma: &[u8] = if blank.is_empty() { b", " } else { b"," };
            Splice::new(end..end, [comma, blank, added].concat())
        }
    };
    Some(Fix { what: "closed the object".to_owned(), splices: vec![splice] })
}

/// A text as JSON.
pub(super) fn text(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    write_string(&mut out, text);
    out
}

/// Adds an item to an array.
pub(super) fn push(array: Node<'_>, item: &str) -> Option<Splice> {
    let last = array.items().last()?;
    let end = last.span().end;
    Some(Splice::new(end..end, format!(", {item}")))
}
