//! What is known of a principal beside its name.

use std::sync::Arc;

use callgate_schema::Finding;
use callgate_schema::json::{Document, Kind, Node, ReadLimits, write_string};
use callgate_schema::{Code as SchemaCode, Limits};
use callgate_wire::Principal;

/// Bytes of the claims of one principal. A token has some kilobytes at most, since it travels in a header.
const CLAIMS_BYTES_MAX: u64 = 64 << 10;

/// What is known of a principal: a JSON object that whoever vouches for the principal gave, never the caller.
///
/// ```
/// use callgate_gateway::policy::Claims;
/// let claims = Claims::read(br#"{"tenant": "acme", "org": {"unit": 7}}"#).unwrap();
/// assert_eq!(claims.claim("tenant").unwrap().as_str().unwrap(), "acme");
/// assert_eq!(claims.claim("/org/unit").unwrap().raw_str(), "7");
/// assert!(claims.claim("unit").is_none());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Claims {
    document: Option<Arc<Document>>,
}

impl Claims {
    /// Nothing is known.
    pub fn none() -> Claims {
        Claims::default()
    }

    /// What the operating system says of a principal `local:NAME`: the claim `sub`, which is the name. Nothing of others.
    pub fn local(principal: &Principal) -> Claims {
        let Some(name) = principal.as_str().strip_prefix("local:") else { return Claims::none() };
        let mut text = br#"{"sub":"#.to_vec();
        write_string(&mut text, name);
        text.push(b'}');
        // A name of the operating system is short; one that is not says nothing.
        Claims::read(&text).unwrap_or_default()
    }

    /// Reads the claims from the text of a JSON object of at most 64 KiB.
    ///
    /// # Errors
    /// Why it cannot be read, or that it is no object.
    pub fn read(text: &[u8]) -> Result<Claims, Box<Finding>> {
        let limits = ReadLimits {
            subject: "claims",
            bytes_max: CLAIMS_BYTES_MAX,
            ..Limits::default().arguments_text()
        };
        let document = Document::read(text, &limits).map_err(|fault| Box::new(fault.finding()))?;
        let kind = document.root().kind();
        if kind != Kind::Object {
            let message = format!("expected the claims to be an object, found {}", kind.name());
            return Err(Box::new(Finding::new(SchemaCode::TypeMismatch, message)));
        }
        Ok(Claims { document: Some(Arc::new(document)) })
    }

    /// The claim of this name; a name that begins with `/` is a JSON Pointer into the claims.
    pub fn claim(&self, name: &str) -> Option<Node<'_>> {
        let root = self.document.as_ref()?.root();
        if name.starts_with('/') { root.pointer(name) } else { root.member(name) }
    }
}
