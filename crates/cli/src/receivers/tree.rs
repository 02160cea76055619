//! JSON that is changed: members keep their order and numbers their spelling.

use std::ops::Range;

use callgate_schema::json::{Kind, Node, write_string};

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tree {
    /// `null`, a boolean or a number, as it is spelled.
    Raw(String),
    Text(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// The value of a node. Recursion ends with the nesting that the reader allows.
    pub(crate) fn of(node: Node<'_>) -> Tree {
        match node.kind() {
            Kind::Null | Kind::Bool | Kind::Number => Tree::Raw(node.raw_str().to_owned()),
            Kind::String => Tree::Text(node.as_str().unwrap_or_default().into_owned()),
            Kind::Array => Tree::Array(node.items().map(Tree::of).collect()),
            Kind::Object => Tree::Object(
                node.members().map(|member| (member.name().into_owned(), Tree::of(member.value()))).collect(),
            ),
        }
    }

    pub(crate) fn text(text: impl Into<String>) -> Tree {
        Tree::Text(text.into())
    }

    pub(crate) fn object<const N: usize>(members: [(&str, Tree); N]) -> Tree {
        Tree::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    pub(crate) fn members(&self) -> &[(String, Tree)] {
        if let Tree::Object(members) = self { members } else { &[] }
    }

    pub(crate) fn items(&self) -> &[Tree] {
        if let Tree::Array(items) = self { items } else { &[] }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Tree::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Tree::Object(_))
    }

    pub(crate) fn is_raw(&self, spelling: &str) -> bool {
        matches!(self, Tree::Raw(raw) if raw == spelling)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Tree> {
        self.members().iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Tree> {
        let Tree::Object(members) = self else { return None };
        members.iter_mut().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Sets a member, where it stands if it is there already.
    pub(crate) fn set(&mut self, name: &str, value: Tree) {
        if let Some(old) = self.get_mut(name) {
            *old = value;
        } else if let Tree::Object(members) = self {
            members.push((name.to_owned(), value));
        }
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<Tree> {
        let Tree::Object(members) = self else { return None };
        let at = members.iter().position(|(known, _)| known == name)?;
        Some(members.remove(at).1)
    }

    /// Keeps the members whose names are good.
    pub(crate) fn retain(&mut self, mut good: impl FnMut(&str) -> bool) {
        if let Tree::Object(members) = self {
            members.retain(|(name, _)| good(name));
        }
    }

    /// The value at a JSON Pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Tree> {
        let mut here = self;
        for token in pointer.split('/').skip(1) {
            let name = token.replace("~1", "/").replace("~0", "~");
            here = match here {
                Tree::Object(_) => here.get(&name)?,
                Tree::Array(items) => items.get(name.parse::<usize>().ok()?)?,
                Tree::Raw(_) | Tree::Text(_) => return None,
            };
        }
        Some(here)
    }

    /// Values in it, itself among them.
    pub(crate) fn size(&self) -> usize {
        1 + match self {
            Tree::Raw(_) | Tree::Text(_) => 0,
            Tree::Array(items) => items.iter().map(Tree::size).sum(),
            Tree::Object(members) => members.iter().map(|(_, value)| value.size()).sum(),
        }
    }

    /// As text, on one line.
    pub(crate) fn written(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out, None);
        String::from_utf8(out).unwrap_or_default()
    }

    /// As text, two blanks a level.
    pub(crate) fn spread(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out, Some(0));
        String::from_utf8(out).unwrap_or_default()
    }

    fn write(&self, out: &mut Vec<u8>, level: Option<usize>) {
        match self {
            Tree::Raw(raw) => out.extend_from_slice(raw.as_bytes()),
            Tree::Text(text) => write_string(out, text),
            Tree::Array(items) => bracketed(out, *b"[]", level, 0..items.len(), |out, at, level| {
                if let Some(item) = items.get(at) {
                    item.write(out, level);
                }
            }),
            Tree::Object(members) => {
                bracketed(out, *b"{}", level, 0..members.len(), |out, at, level| {
                    if let Some((name, value)) = members.get(at) {
                        write_string(out, name);
                        out.extend_from_slice(if level.is_some() { b": " } else { b":" });
                        value.write(out, level);
                    }
                });
            }
        }
    }
}

fn bracketed(
    out: &mut Vec<u8>,
    [open, close]: [u8; 2],
    level: Option<usize>,
    parts: Range<usize>,
    mut part: impl FnMut(&mut Vec<u8>, usize, Option<usize>),
) {
    let line = |out: &mut Vec<u8>, level: Option<usize>| {
        if let Some(level) = level {
            out.push(b'\n');
            out.resize(out.len() + 2 * level, b' ');
        }
    };
    let is_empty = parts.is_empty();
    out.push(open);
    for at in parts {
        if at > 0 {
            out.push(b',');
        }
        line(out, level.map(|level| level + 1));
        part(out, at, level.map(|level| level + 1));
    }
    if !is_empty {
        line(out, level);
    }
    out.push(close);
}

/// `pointer` and one more step.
pub(super) fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_schema::Limits;
    use callgate_schema::json::Tape;

    #[test]
    fn what_was_read_is_written_as_it_was() {
        let text = r#"{"b":[1.50,-0,1e400,null,true],"a":{},"c~/":[[]],"é":"\u0001"}"#;
        let mut tape = Tape::new();
        let tree = Tree::of(tape.read(text.as_bytes(), &Limits::default().schema_text()).unwrap());
        assert_eq!(tree.written(), text);
        assert_eq!(tree.at("/b/2"), Some(&Tree::Raw("1e400".into())));
        assert_eq!(tree.at(&below("", "c~/")).map(Tree::size), Some(2));
        insta::assert_snapshot!(tree.spread(), @r#"
        {
          "b": [
            1.50,
            -0,
            1e400,
            null,
            true
          ],
          "a": {},
          "c~/": [
            []
          ],
          "é": "\u0001"
        }
        "#);
    }
}
