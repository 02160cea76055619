//! References: what a `$ref` points to. Nothing is ever fetched.

use crate::compile::{Compiler, Entry};
use crate::json::{Kind, Node};
use crate::program::BlockId;
use crate::{Code, Detail, Finding};

/// Something that is pointed to.
pub(crate) struct Target {
    schema: crate::json::NodeId,
    location: String,
}

/// A reference, for the search of loops.
pub(crate) struct Reference {
    pub(crate) from: BlockId,
    pub(crate) to: BlockId,
    pub(crate) location: String,
    pub(crate) offset: usize,
}

impl<'a> Compiler<'a> {
    /// The block that a reference points to.
    pub(crate) fn resolve(&mut self, entry: &Entry<'a, '_>) -> Option<BlockId> {
        let Some(reference) = entry.value.as_str() else {
            self.malformed(entry, "a reference as text");
            return None;
        };
        if self.references.len() as u64 >= self.options.limits.references_max {
            self.too_many(entry);
            return None;
        }
        let pointer = reference.strip_prefix('#').and_then(percent_decoded);
        let target = pointer.as_deref().and_then(|pointer| self.document.root().pointer(pointer));
        let Some(target) = target else {
            self.unresolved(entry, &reference);
            return None;
        };
        if !matches!(target.kind(), Kind::Object | Kind::Bool) {
            let found = crate::types::found(target);
            self.dangling(entry, format!("expected `{reference}` to point to a schema, found {found} there"));
            return None;
        }
        let to = self.block_of(target);
        let location = pointer.unwrap_or_default();
        self.pointed_to.push(Target { schema: target.id(), location });
        self.references.push(Reference {
            from: entry.block,
            to,
            location: entry.location(),
            offset: entry.value.span().start,
        });
        Some(to)
    }

    /// Compiles what is pointed to and stands at no place where schemas stand.
    pub(crate) fn referenced(&mut self) {
        let mut done = 0;
        while let Some(Target { schema, location }) = self.pointed_to.get(done) {
            let (schema, location) = (*schema, location.clone());
            done += 1;
            let node: Node<'a> = self.document.node(schema);
            let id = self.block_of(node);
            let compiled = id == BlockId(0)
                || self.blocks.get(id.0 as usize).is_some_and(|block| !block.location.is_empty());
            if !compiled {
                self.subschema_at(node, location, "$ref");
            }
        }
    }

    fn unresolved(&mut self, entry: &Entry<'_, '_>, reference: &str) {
        let message = if reference.starts_with('#') {
            format!("expected `{reference}` to point into this schema, found nothing there")
        } else {
            format!("expected a reference within this schema, found `{reference}`; nothing is fetched")
        };
        self.dangling(entry, message);
    }

    fn dangling(&mut self, entry: &Entry<'_, '_>, message: String) {
        self.fault(
            Finding::new(Code::SchemaReference, message)
                .with_help("put the schema under `$defs` and point to it with `#/$defs/name`")
                .at_schema(entry.keyword, entry.location())
                .at_offset(entry.value.span().start),
        );
    }

    fn too_many(&mut self, entry: &Entry<'_, '_>) {
        let maximum = self.options.limits.references_max;
        self.fault(
            Finding::new(Code::LimitExceeded, format!("expected at most {maximum} references, found more"))
                .with("limit", Detail::Text("references".into()))
                .with("maximum", Detail::Count(maximum))
                .at_schema(entry.keyword, entry.location())
                .at_offset(entry.value.span().start),
        );
    }
}

/// A fragment without its percent signs (RFC 3986, section 2.1); `None` if they are malformed or no UTF-8.
fn percent_decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::percent_decoded;

    #[test]
    fn a_fragment_is_decoded_once_and_malformed_signs_are_refused() {
        assert_eq!(percent_decoded("/$defs/a%25b").as_deref(), Some("/$defs/a%b"));
        assert_eq!(percent_decoded("/%C3%A9").as_deref(), Some("/é"));
        assert_eq!(percent_decoded("/%"), None);
        assert_eq!(percent_decoded("/%+1"), None);
        assert_eq!(percent_decoded("/%FF"), None);
    }
}
