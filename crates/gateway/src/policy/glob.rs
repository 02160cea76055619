//! Patterns of names: `*` is any text, everything else is itself.

/// Bytes of one pattern. The longest names of public tools have 64, and a URI some hundred.
pub const GLOB_BYTES_MAX: usize = 1_024;

/// A pattern of names. `*` stands for any text, `/` and the empty one included; `\*` and `\\` are the characters
/// themselves. A name matches as a whole, compared by bytes, so that case counts.
///
/// ```
/// use callgate_gateway::policy::Glob;
/// let glob = Glob::parse("local:*").unwrap();
/// assert!(glob.matches("local:ada") && glob.matches("local:") && !glob.matches("remote:ada"));
/// assert!(Glob::parse("").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Glob {
    text: String,
    /// The texts between the stars; one more than there are stars.
    parts: Vec<String>,
}

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What was expected and what was found: a pattern that is empty, over [`GLOB_BYTES_MAX`], or escapes what needs no
    /// escape.
    pub fn parse(text: &str) -> Result<Glob, String> {
        if text.is_empty() {
            return Err("expected a pattern of names, found an empty text".to_owned());
        }
        if text.len() > GLOB_BYTES_MAX {
            return Err(format!(
                "expected a pattern of at most {GLOB_BYTES_MAX} bytes, found {}",
                text.len()
            ));
        }
        let mut parts = Vec::new();
        let mut part = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '*' => parts.push(std::mem::take(&mut part)),
                '\\' => match chars.next() {
                    Some(escaped @ ('*' | '\\')) => part.push(escaped),
                    _ => return Err("expected `\\*` or `\\\\` where a pattern has a backslash".to_owned()),
                },
                c => part.push(c),
            }
        }
        parts.push(part);
        Ok(Glob { text: text.to_owned(), parts })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a name matches. At most as many steps as the pattern's length times that of the name.
    pub fn matches(&self, name: &str) -> bool {
        let Some((first, rest)) = self.parts.split_first() else { return false };
        let Some(mut left) = name.strip_prefix(first.as_str()) else { return false };
        let Some((last, middle)) = rest.split_last() else { return left.is_empty() };
        for part in middle {
            // The first place is as good as any: what comes later can still be anything.
            let Some(at) = left.find(part.as_str()) else { return false };
            left = left.get(at + part.len()..).unwrap_or_default();
        }
        left.ends_with(last.as_str())
    }
}

/// Whether any of the patterns matches.
pub(super) fn any_matches(globs: &[Glob], name: &str) -> bool {
    globs.iter().any(|glob| glob.matches(name))
}
