//! What a request of an operator says beside its path: a JSON object with few members, read as strictly as calls are.

use axum::body::{Body, to_bytes};
use callgate_schema::Limits;
use callgate_schema::json::{Document, Kind, Node};

use super::fault::Fault;

/// Bytes of a body.
const BODY_BYTES_MAX: usize = 64 << 10;
/// Characters of a text that is recorded.
const TEXT_CHARS_MAX: usize = 4_096;
/// Characters of an operator's name.
const NAME_CHARS_MAX: usize = 64;
/// Who an operator is in the records that does not say it.
const NOBODY: &str = "http";

/// A body; one that is empty is an object without members.
pub(super) struct Said(Document);

impl Said {
    /// Reads it.
    ///
    /// # Errors
    /// No JSON, no object, or a member that is none of these.
    pub(super) async fn read(body: Body, members: &[&str]) -> Result<Said, Fault> {
        let too_large = |_| Fault::malformed(format!("expected a body of at most {BODY_BYTES_MAX} bytes"));
        let bytes = to_bytes(body, BODY_BYTES_MAX).await.map_err(too_large)?;
        let text = if bytes.is_empty() { &b"{}"[..] } else { &bytes };
        let document = Document::read(text, &Limits::default().arguments_text())
            .map_err(|error| Fault::malformed(format!("in the body: {}", error.finding().message)))?;
        if document.root().kind() != Kind::Object {
            return Err(Fault::malformed("expected a JSON object, found another value"));
        }
        for member in document.root().members() {
            if !members.contains(&&*member.name()) {
                let known = members.join("`, `");
                return Err(Fault::malformed(format!("expected the members `{known}`, found another one")));
            }
        }
        Ok(Said(document))
    }

    fn member(&self, name: &str) -> Option<Node<'_>> {
        self.0.root().member(name).filter(|value| !value.is_null())
    }

    /// A text that may be there.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Fault> {
        let Some(value) = self.member(name) else { return Ok(None) };
        let text = value.as_str().map(std::borrow::Cow::into_owned);
        text.filter(|text| !text.trim().is_empty() && text.chars().count() <= TEXT_CHARS_MAX)
            .map(Some)
            .ok_or_else(|| {
                Fault::malformed(format!(
                    "expected `{name}` to be a text of 1 to {TEXT_CHARS_MAX} characters"
                ))
            })
    }

    /// A text that has to be there.
    pub(super) fn needed(&self, name: &str) -> Result<String, Fault> {
        self.text(name)?.ok_or_else(|| Fault::malformed(format!("expected `{name}`, found none")))
    }

    /// A whole number from 1 to this, that may be there.
    pub(super) fn number(&self, name: &str, most: u64) -> Result<Option<u64>, Fault> {
        let Some(value) = self.member(name) else { return Ok(None) };
        let number = if value.kind() == Kind::Number { value.raw_str().parse().ok() } else { None };
        number.filter(|number| (1..=most).contains(number)).map(Some).ok_or_else(|| {
            Fault::malformed(format!("expected `{name}` to be a whole number from 1 to {most}"))
        })
    }

    /// Who the operator is in the records.
    pub(super) fn by(&self) -> Result<String, Fault> {
        let name = self.text("by")?.unwrap_or_else(|| NOBODY.to_owned());
        if name.chars().count() > NAME_CHARS_MAX || name.chars().any(char::is_control) {
            return Err(Fault::malformed(format!(
                "expected `by` to be a name of 1 to {NAME_CHARS_MAX} characters that can be printed"
            )));
        }
        Ok(format!("operator:{name}"))
    }
}
