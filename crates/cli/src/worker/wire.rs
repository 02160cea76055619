//! The operations on values of the wire: results and envelopes, entities, and their forms in the protocol.

use callgate_mcp::agent::{
    Form, read_resource, resource_contents, result_of_resource, result_of_tool, tool_result,
};
use callgate_mcp::rpc;
use callgate_schema::Limits;
use callgate_schema::json::{Kind, Node, Tape};
use callgate_wire::{
    AgentResult, Artifact, EntityRef, EntitySnapshot, EntityType, Envelope, FailureCode, Json, Object,
    ResourceEnvelope, Scheme, TEMPLATE_VARIABLES_DEFAULT, TEXT_PLAIN, UriTemplate, ValueError, ValueLimits,
    resource_input_schema, resource_uri, schema_of_registration, template_input_schema,
};

use super::answer::Answer;
use super::request::{Request, malformed};

impl From<ValueError> for Answer {
    fn from(error: ValueError) -> Self {
        Answer::Malformed(error)
    }
}

type Result<T> = std::result::Result<T, Answer>;

/// Makes a result, an envelope, a URI or a schema.
pub(super) fn wire(request: &Request<'_>, limits: &Limits) -> Result<Answer> {
    let (name, mut tape) = (named(request)?, Tape::new());
    let text = text_of(request, "input")?;
    let input = Input(read(&mut tape, &text, limits)?);
    if input.0.kind() != Kind::Object {
        return Err(wrong("an object as `input`", Some(input.0)));
    }
    let value: Json = match name.as_str() {
        "success" => success(input)?.to_json(),
        "failure" => {
            let code = FailureCode::new(input.text("code")?.unwrap_or_default())?;
            let message = input.text("message")?.unwrap_or_default();
            let details = input.object("details")?.unwrap_or_default();
            AgentResult::failure(code, message).with_details(details).to_json()
        }
        "envelope" => envelope(input)?.to_json(),
        "resource_envelope" => resource_envelope(input)?.to_json(),
        "resource_uri" => resource_uri(&scheme(input)?, &input.required("resource_name")?).into(),
        "resource_input_schema" => resource_input_schema().into(),
        "template_input_schema" => {
            let default = || TEMPLATE_VARIABLES_DEFAULT.iter().map(|name| (*name).to_owned()).collect();
            let variables = input.texts("variables")?.unwrap_or_else(default);
            template_input_schema(variables.iter().map(String::as_str))?.into()
        }
        "registration_input_schema" => {
            schema_of_registration(&input.object("registration")?.unwrap_or_default())?.into()
        }
        "template_variables" => UriTemplate::new(input.required("template")?)?.variables().collect(),
        "template_match" => {
            let template = UriTemplate::new(input.required("template")?)?;
            let captured = template.captures(&input.required("uri")?);
            captured.map(|captured| captured.into_iter().collect::<Object>()).into()
        }
        _ => return Err(unknown(&name, WIRE)),
    };
    Ok(fine(&value))
}

/// The names of [`wire`].
const WIRE: &[&str] = &[
    "success",
    "failure",
    "envelope",
    "resource_envelope",
    "resource_uri",
    "resource_input_schema",
    "template_input_schema",
    "registration_input_schema",
    "template_variables",
    "template_match",
];

fn success(input: Input<'_>) -> Result<AgentResult> {
    let mut result = AgentResult::success(input.object("data")?.unwrap_or_default());
    if let Some(message) = input.text("message")? {
        result = result.with_message(message);
    }
    for artifact in input.list("artifacts")?.into_iter().flatten().map(Input) {
        result = result.with_artifact(artifact_of(artifact)?);
    }
    Ok(result)
}

/// An artifact: a `text`, or its bytes as numbers under `bytes` or in base64.
fn artifact_of(input: Input<'_>) -> Result<Artifact> {
    let media_type = input.text("mimeType")?;
    let given = ["text", "base64", "bytes"].into_iter().filter(|name| input.member(name).is_some());
    if given.count() > 1 {
        return Err(malformed("expected one of `text`, `base64` and `bytes`, found several").into());
    }
    if let Some(text) = input.text("text")? {
        return Ok(Artifact::text_as(media_type.unwrap_or_else(|| TEXT_PLAIN.to_owned()), text));
    }
    let media_type = media_type.ok_or_else(|| wrong("a media type beside bytes as `mimeType`", None))?;
    if let Some(text) = input.text("base64")? {
        let artifact = Artifact::base64(media_type, &text);
        return artifact.ok_or_else(|| wrong("base64 with padding as `base64`", None));
    }
    let bytes = input.list("bytes")?.ok_or_else(|| wrong("`text`, `bytes` or `base64`", None))?;
    let byte = |node: Node<'_>| {
        let byte = node.as_number().and_then(|number| u8::try_from(number.as_u64()?).ok());
        byte.ok_or_else(|| wrong("whole numbers up to 255 as `bytes`", Some(node)))
    };
    Ok(Artifact::bytes(media_type, bytes.map(byte).collect::<Result<Vec<u8>>>()?))
}

fn envelope(input: Input<'_>) -> Result<AgentResult> {
    let snapshot = input.object("snapshot")?.ok_or_else(|| wrong("an object as `snapshot`", None))?;
    let mut envelope = Envelope::new(&input.required("kind")?, snapshot);
    if let Some(message) = input.text("message")? {
        envelope = envelope.with_message(message);
    }
    if let Some(version) = input.version()? {
        envelope = envelope.with_version(version);
    }
    let extra = input.object("extra")?.unwrap_or_default();
    if input.0.member("extra_wins").and_then(Node::as_bool) == Some(false) {
        return Ok(envelope.try_extra(&extra)?.into_result());
    }
    Ok(envelope.with_extra(&extra).into_result())
}

fn resource_envelope(input: Input<'_>) -> Result<AgentResult> {
    let snapshot = input.object("snapshot")?.ok_or_else(|| wrong("an object as `snapshot`", None))?;
    let mut envelope = ResourceEnvelope::new(&scheme(input)?, &input.required("resource_name")?, snapshot);
    if let Some(media_type) = input.text("mime_type")? {
        envelope = envelope.with_media_type(media_type);
    }
    if let Some(version) = input.version()? {
        envelope = envelope.with_version(version);
    }
    Ok(envelope.into_result())
}

fn scheme(input: Input<'_>) -> Result<Scheme> {
    Ok(Scheme::new(input.required("protocol_scheme")?)?)
}

/// Reads, compares and projects entities.
pub(super) fn entity(request: &Request<'_>, limits: &Limits) -> Result<Answer> {
    let (name, mut tape) = (named(request)?, Tape::new());
    let text = text_of(request, "input")?;
    let input = read(&mut tape, &text, limits)?;
    match name.as_str() {
        "ref" => Ok(fine(&EntityRef::of(input)?.to_object().into())),
        "snapshot" => {
            let snapshot = EntitySnapshot::of(input)?;
            let title = Json::from(snapshot.effective_title()).into_string();
            let value = snapshot.to_json().into_string();
            Ok(Answer::Fine { warnings: None, members: vec![("value", value), ("effective_title", title)] })
        }
        "equal" => {
            let two = input.items().map(EntitySnapshot::of).collect::<std::result::Result<Vec<_>, _>>()?;
            let [a, b] = two.as_slice() else {
                return Err(wrong("a list of two snapshots as `input`", Some(input)));
            };
            Ok(fine(&Json::from(a == b)))
        }
        "project" => {
            let (mut tape, text) = (Tape::new(), text_of(request, "descriptor")?);
            let entity_type = EntityType::of(read(&mut tape, &text, limits)?)?;
            Ok(fine(&EntitySnapshot::of(input)?.project(&entity_type).into()))
        }
        _ => Err(unknown(&name, &["ref", "snapshot", "equal", "project"])),
    }
}

/// Turns results into answers of the protocol, and back.
pub(super) fn mcp(request: &Request<'_>, limits: &Limits) -> Result<Answer> {
    let (name, mut tape) = (named(request)?, Tape::new());
    let form = match request.text("form")?.as_deref() {
        None | Some("plain") => Form::Plain,
        Some("faithful") => Form::Faithful,
        Some(other) => return Err(unknown(other, &["plain", "faithful"])),
    };
    let text = text_of(request, "input")?;
    let input = read(&mut tape, &text, limits)?;
    let value = match name.as_str() {
        "agent_to_tool" => {
            let has_output_schema = request.field("output_schema") == Some(b"true");
            tool_result(&AgentResult::of(input)?, form, has_output_schema)
        }
        "tool_to_agent" => result_of_tool(input, form)?.to_json(),
        "resource_to_agent" => result_of_resource(input, form)?.to_json(),
        "agent_to_resource" => {
            let uri = request.text("uri")?.ok_or_else(|| wrong("a text as `uri`", None))?;
            let result = AgentResult::of(input)?;
            if form == Form::Plain {
                resource_contents(&result, &uri)
            } else {
                let media_type = request.text("mime_type")?;
                let read = read_resource(&result, &uri, media_type.as_deref(), rpc::RESOURCE_NOT_FOUND);
                read.unwrap_or_else(|error| {
                    let error = Object::new()
                        .with("code", error.rpc)
                        .with("message", error.message)
                        .with("data", error.data);
                    Object::new().with("error", error).into()
                })
            }
        }
        _ => {
            let names = ["agent_to_tool", "tool_to_agent", "agent_to_resource", "resource_to_agent"];
            return Err(unknown(&name, &names));
        }
    };
    Ok(fine(&value))
}

fn named(request: &Request<'_>) -> Result<String> {
    Ok(request.text("name")?.ok_or_else(|| malformed("expected what to make as `name`, found none"))?)
}

fn text_of(request: &Request<'_>, field: &str) -> Result<Vec<u8>> {
    let text = request.json(field)?;
    Ok(text.ok_or_else(|| malformed(format!("expected `{field}`, found none")))?.into_owned())
}

fn read<'t>(tape: &'t mut Tape, text: &'t [u8], limits: &Limits) -> Result<Node<'t>> {
    let read = tape.read(text, &ValueLimits::from(limits).text());
    read.map_err(|fault| Answer::refused(vec![fault.finding()]))
}

fn unknown(found: &str, names: &[&str]) -> Answer {
    malformed(format!("expected one of {}, found `{found}`", names.join(", "))).into()
}

fn wrong(expected: &str, found: Option<Node<'_>>) -> Answer {
    let found = found.map_or("none", |node| node.kind().name());
    malformed(format!("expected {expected}, found {found}")).into()
}

fn fine(value: &Json) -> Answer {
    Answer::Fine { warnings: None, members: vec![("value", value.to_string())] }
}

/// What is read of an operation's input. Null is none.
#[derive(Clone, Copy)]
struct Input<'a>(Node<'a>);

impl<'a> Input<'a> {
    fn member(self, name: &str) -> Option<Node<'a>> {
        self.0.member(name).filter(|value| !value.is_null())
    }

    fn text(self, name: &str) -> Result<Option<String>> {
        let Some(value) = self.member(name) else { return Ok(None) };
        let text = value.as_str().ok_or_else(|| wrong(&format!("a text as `{name}`"), Some(value)))?;
        Ok(Some(text.into_owned()))
    }

    fn required(self, name: &str) -> Result<String> {
        self.text(name)?.ok_or_else(|| wrong(&format!("a text as `{name}`"), None))
    }

    fn object(self, name: &str) -> Result<Option<Object>> {
        let Some(value) = self.member(name) else { return Ok(None) };
        let object =
            Object::of(value).ok_or_else(|| wrong(&format!("an object as `{name}`"), Some(value)))?;
        Ok(Some(object))
    }

    fn list(self, name: &str) -> Result<Option<impl Iterator<Item = Node<'a>>>> {
        match self.member(name) {
            None => Ok(None),
            Some(value) if value.kind() == Kind::Array => Ok(Some(value.items())),
            Some(value) => Err(wrong(&format!("a list as `{name}`"), Some(value))),
        }
    }

    fn texts(self, name: &str) -> Result<Option<Vec<String>>> {
        let Some(list) = self.list(name)? else { return Ok(None) };
        let text = |item: Node<'_>| {
            let text = item.as_str().ok_or_else(|| wrong(&format!("texts as `{name}`"), Some(item)))?;
            Ok(text.into_owned())
        };
        list.map(text).collect::<Result<_>>().map(Some)
    }

    fn version(self) -> Result<Option<u64>> {
        let Some(value) = self.member("schema_version") else { return Ok(None) };
        let version = value.as_number().and_then(callgate_schema::json::Number::as_u64);
        version.map(Some).ok_or_else(|| wrong("a whole number as `schema_version`", Some(value)))
    }
}
