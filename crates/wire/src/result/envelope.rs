//! Envelopes: results whose data is a versioned snapshot.

use callgate_schema::json::{Member, Tape};

use crate::resource::{Scheme, resource_uri};
use crate::{AgentResult, MESSAGE_OK, Object, Success, ValueCode, ValueError};

/// The version of an envelope that names none.
pub const ENVELOPE_VERSION: u64 = 1;
/// The media type of a resource envelope that names none.
pub const APPLICATION_JSON: &str = "application/json";
/// The members that every envelope has.
const FIXED: [&str; 5] = ["schema_version", "kind", "tool_name", "snapshot", "snapshot_json"];

/// A success whose data is a snapshot of something, with its kind and a version.
///
/// ```
/// use callgate_wire::{Envelope, Object};
/// let tree = Envelope::new("tree", Object::new().with("root", "App")).into_result();
/// assert_eq!(
///     tree.data().unwrap().as_str(),
///     r#"{"schema_version":1,"kind":"tree","tool_name":"tree","snapshot":{"root":"App"},"snapshot_json":"{\"root\":\"App\"}"}"#
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    message: String,
    data: Object,
}

impl Envelope {
    /// An envelope of version 1 with the message `ok`. The kind is any text and stands under `tool_name` too.
    pub fn new(kind: &str, snapshot: Object) -> Envelope {
        let text = snapshot.as_str().to_owned();
        let data = Object::new()
            .with("schema_version", ENVELOPE_VERSION)
            .with("kind", kind)
            .with("tool_name", kind)
            .with("snapshot", snapshot)
            .with("snapshot_json", text);
        Envelope { message: MESSAGE_OK.to_owned(), data }
    }

    /// The same with another message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Envelope {
        self.message = message.into();
        self
    }

    /// The same with another version.
    #[must_use]
    pub fn with_version(mut self, version: u64) -> Envelope {
        self.data.set("schema_version", version);
        self
    }

    /// The same with further members, none of which may be one that every envelope has.
    ///
    /// # Errors
    /// `result-malformed` with the first such member as the field.
    pub fn try_extra(mut self, extra: &Object) -> Result<Envelope, ValueError> {
        let mut tape = Tape::new();
        let mut names = extra.read(&mut tape).members().map(Member::name);
        if let Some(name) = names.find(|name| FIXED.contains(&&**name)) {
            let message = "expected members beside those of the envelope, found one of them";
            return Err(ValueError::new(ValueCode::ResultMalformed, message)
                .in_field(&name)
                .with_help("give it another name"));
        }
        self.data.extend(extra);
        Ok(self)
    }

    /// The same with further members, which win over the envelope's own: `extra` with a `kind` replaces the kind, and
    /// one with a `snapshot` leaves `snapshot_json` as it was.
    #[must_use]
    pub fn with_extra(mut self, extra: &Object) -> Envelope {
        self.data.extend(extra);
        self
    }

    /// The result.
    pub fn into_result(self) -> AgentResult {
        Success { message: self.message, data: self.data, artifacts: Vec::new() }.into()
    }
}

/// A success whose data is the snapshot of a resource: with its URI, as text, and in the form of a resource's contents.
///
/// ```
/// use callgate_wire::{Object, ResourceEnvelope, Scheme};
/// let snapshot = Object::new().with("phase", "playing");
/// let result = ResourceEnvelope::new(&Scheme::new("demoapp")?, "cool_runtime_snapshot", snapshot).into_result();
/// let uri = result.data().and_then(|data| data.get_text("resource_uri"));
/// assert_eq!(uri.as_deref(), Some("demoapp://resource/cool/runtime/snapshot"));
/// # Ok::<(), callgate_wire::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceEnvelope {
    name: String,
    uri: String,
    snapshot: Object,
    media_type: String,
    version: u64,
}

impl ResourceEnvelope {
    /// An envelope of version 1 and of the type `application/json`.
    pub fn new(scheme: &Scheme, name: &str, snapshot: Object) -> ResourceEnvelope {
        ResourceEnvelope {
            name: name.to_owned(),
            uri: resource_uri(scheme, name),
            snapshot,
            media_type: APPLICATION_JSON.to_owned(),
            version: ENVELOPE_VERSION,
        }
    }

    /// The same with another media type.
    #[must_use]
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> ResourceEnvelope {
        self.media_type = media_type.into();
        self
    }

    /// The same with another version.
    #[must_use]
    pub fn with_version(mut self, version: u64) -> ResourceEnvelope {
        self.version = version;
        self
    }

    /// The result.
    pub fn into_result(self) -> AgentResult {
        let text = self.snapshot.as_str();
        let resource = Object::new()
            .with("uri", self.uri.as_str())
            .with("mimeType", self.media_type.as_str())
            .with("text", text);
        let data = Object::new()
            .with("schema_version", self.version)
            .with("kind", self.name.as_str())
            .with("resource_name", self.name.as_str())
            .with("resource_uri", self.uri.as_str())
            .with("mimeType", self.media_type.as_str())
            .with("snapshot", self.snapshot.clone())
            .with("snapshot_json", text)
            .with("resource", resource.clone())
            .with("contents", vec![resource]);
        Success { message: format!("{} snapshot.", self.name), data, artifacts: Vec::new() }.into()
    }
}
