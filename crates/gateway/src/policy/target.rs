//! What is asked for, under one kind of name for all of it.

use std::fmt;

use super::Glob;

/// What kind of thing is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TargetKind {
    /// A tool is called.
    Tool,
    /// A resource is read or followed.
    Resource,
    /// A prompt is asked for.
    Prompt,
    /// Any other method.
    Method,
}

impl TargetKind {
    /// Every kind.
    pub const ALL: &[TargetKind] =
        &[TargetKind::Tool, TargetKind::Resource, TargetKind::Prompt, TargetKind::Method];

    /// What stands before the colon in patterns. A tool needs none.
    pub const fn as_str(self) -> &'static str {
        match self {
            TargetKind::Tool => "tool",
            TargetKind::Resource => "resource",
            TargetKind::Prompt => "prompt",
            TargetKind::Method => "method",
        }
    }
}

/// What is asked for. Its qualified name is the upstream's name, a slash, and the name or URI there; all but tools have
/// their kind and a colon before it.
///
/// ```
/// use callgate_gateway::policy::{Target, TargetGlob, TargetKind};
/// let tool = Target::tool("notes", "delete_note");
/// let resource = Target { kind: TargetKind::Resource, upstream: "notes", name: "note://7" };
/// assert_eq!((tool.to_string(), resource.to_string()), ("notes/delete_note".into(), "resource:notes/note://7".into()));
///
/// assert!(TargetGlob::parse("*/delete_*")?.matches(&tool));
/// assert!(!TargetGlob::parse("*")?.matches(&resource), "a pattern of tools is about tools alone");
/// assert_eq!(Target::parse("resource:notes/note://7"), Some(resource));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target<'a> {
    /// Its kind.
    pub kind: TargetKind,
    /// The upstream that has it.
    pub upstream: &'a str,
    /// Its name there; of a resource the URI.
    pub name: &'a str,
}

impl<'a> Target<'a> {
    /// A tool.
    pub const fn tool(upstream: &'a str, name: &'a str) -> Target<'a> {
        Target { kind: TargetKind::Tool, upstream, name }
    }

    /// Its qualified name without the kind.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.upstream, self.name)
    }

    /// The target with this qualified name; `None` if there is no slash in it.
    pub fn parse(text: &'a str) -> Option<Target<'a>> {
        let (kind, rest) = kind_of(text);
        let (upstream, name) = rest.split_once('/')?;
        Some(Target { kind, upstream, name })
    }
}

impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind != TargetKind::Tool {
            write!(f, "{}:", self.kind.as_str())?;
        }
        write!(f, "{}/{}", self.upstream, self.name)
    }
}

/// A pattern of qualified names, of one kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TargetGlob {
    text: String,
    kind: TargetKind,
    glob: Glob,
}

impl TargetGlob {
    /// Reads a pattern: `UPSTREAM/NAME` for tools, `KIND:UPSTREAM/NAME` for others; `*` alone is everything of the kind.
    ///
    /// # Errors
    /// What was expected and what was found: a pattern that is none, or one without an upstream, which nothing could
    /// match.
    pub fn parse(text: &str) -> Result<TargetGlob, String> {
        let (kind, rest) = kind_of(text);
        let glob = Glob::parse(rest)?;
        if rest != "*" && !rest.contains('/') {
            let prefix = text.strip_suffix(rest).unwrap_or_default();
            return Err(format!(
                "expected an upstream and a slash before the name, as in `{prefix}*/{rest}`, found `{text}`"
            ));
        }
        Ok(TargetGlob { text: text.to_owned(), kind, glob })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The kind of its targets.
    pub fn kind(&self) -> TargetKind {
        self.kind
    }

    /// Whether a target matches.
    pub fn matches(&self, target: &Target<'_>) -> bool {
        self.matches_path(target.kind, &target.path())
    }

    /// The same of a target whose kind and path are these: who asks many patterns makes the path once.
    pub(super) fn matches_path(&self, kind: TargetKind, path: &str) -> bool {
        self.kind == kind && self.glob.matches(path)
    }
}

/// The kind that stands before the colon, and what is after it. A colon elsewhere belongs to a name.
fn kind_of(text: &str) -> (TargetKind, &str) {
    for &kind in TargetKind::ALL {
        if let Some(rest) = text.strip_prefix(kind.as_str()).and_then(|rest| rest.strip_prefix(':')) {
            return (kind, rest);
        }
    }
    (TargetKind::Tool, text)
}
