//! `pattern` (2020-12 validation, section 6.3.3): a search, not a match of the whole text.

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::dialect::Profile;
use crate::json::Node;
use crate::pattern::{Language, Pattern};
use crate::program::{Op, PatternId};
use crate::{Code, Detail, Finding};

/// Bytes of a pattern in a message; a longer one is not repeated.
const PATTERN_BYTES_MAX: usize = 100;

pub(crate) fn compile(compiler: &mut Compiler<'_>, draft: &mut Draft, entry: &Entry<'_, '_>) {
    let Some(text) = entry.value.as_str() else {
        compiler.malformed(entry, "a pattern as text");
        return;
    };
    if let Some(pattern) = compiler.pattern(entry, &text, entry.location(), entry.value.span().start) {
        draft.push("pattern", Op::Pattern { pattern });
    }
}

impl Compiler<'_> {
    /// Compiles a pattern, once for each text.
    pub(crate) fn pattern(
        &mut self,
        entry: &Entry<'_, '_>,
        text: &str,
        location: String,
        offset: usize,
    ) -> Option<PatternId> {
        if let Some(id) = self.known_pattern(text) {
            return Some(id);
        }
        let language = match self.options.profile {
            Profile::Portable => Language::Portable,
            Profile::Standard | Profile::Wire => Language::Standard,
        };
        match Pattern::compile(text, language, &self.options.limits) {
            Ok(pattern) => {
                let maximum = self.options.limits.patterns_compiled_bytes_max;
                if self.patterns_bytes + pattern.compiled_bytes() <= maximum {
                    return Some(self.add_pattern(text, pattern));
                }
                let message =
                    format!("expected patterns of at most {maximum} bytes together, compiled, found more");
                self.fault(
                    Finding::new(Code::PatternLimit, message)
                        .with("limit", Detail::Text("patterns_compiled_bytes".into()))
                        .with("maximum", Detail::Count(maximum))
                        .at_schema(entry.keyword, location)
                        .at_offset(offset),
                );
                None
            }
            Err(fault) => {
                let mut finding = Finding::new(fault.code, fault.message)
                    .with("pattern_offset", Detail::Count(fault.offset as u64));
                if let Some(help) = fault.help {
                    finding = finding.with_help(help);
                }
                if let Some((limit, maximum)) = fault.limit {
                    finding = finding
                        .with("limit", Detail::Text(limit.to_owned()))
                        .with("maximum", Detail::Count(maximum));
                }
                self.fault(finding.at_schema(entry.keyword, location).at_offset(offset));
                None
            }
        }
    }
}

pub(crate) fn holds<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    pattern: PatternId,
) -> Result<bool, Stop> {
    let (Some(text), Some(pattern)) = (value.as_str(), run.parts.pattern(pattern)) else { return Ok(true) };
    if pattern.is_match(&text, run.work())? {
        return Ok(true);
    }
    run.refuse::<COLLECT>(at, value, || {
        let message = match pattern.text() {
            short if short.len() <= PATTERN_BYTES_MAX => {
                ["expected a text that matches `", short, "`, found another"].concat()
            }
            _ => String::from("expected a text that matches the pattern, found another"),
        };
        Finding::new(Code::PatternMismatch, message)
    })
}
