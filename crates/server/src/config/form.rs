//! The sections and keys of the file. The JSON Schema of the file is made of these types, their comments included, so a key
//! that is added here is known everywhere.

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::auth_form::AuthForm;
use super::secret::TextOrSecret;

/// The configuration of a gate.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "The configuration of Callgate")]
pub(super) struct FileForm {
    pub(super) gate: GateForm,
    #[serde(skip_serializing_if = "ServeForm::is_empty")]
    pub(super) serve: ServeForm,
    #[serde(skip_serializing_if = "AuthForm::is_empty")]
    pub(super) auth: AuthForm,
    /// What is known of principals beside their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) principals: Vec<PrincipalForm>,
    /// What you say of tools; what a later entry says wins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<ToolForm>,
    /// Who may call what. Without any rule every admitted tool is permitted; with one, what no rule permits is refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) rules: Vec<RuleForm>,
    /// How much may be called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) budgets: Vec<BudgetForm>,
    pub(super) approvals: ApprovalsForm,
    /// The tool servers behind the gate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) upstreams: Vec<UpstreamForm>,
}

/// The gate itself.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Gate")]
pub(super) struct GateForm {
    /// Where the records are kept: the path of a file, relative to this one; or a `postgres://` address; or a reference
    /// to a secret that holds one of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) store: Option<TextOrSecret>,
    /// How much of JSON Schema is admitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) profile: Option<ProfileForm>,
    /// How long a tool server may take to answer a request, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 3_600_000))]
    pub(super) call_timeout_ms: Option<u64>,
    /// How long to wait for calls that are out when the client is gone or the gate is asked to stop, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 3_600_000))]
    pub(super) drain_ms: Option<u64>,
    /// Calls at once to one tool server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_536))]
    pub(super) calls_in_flight_max: Option<u64>,
    /// Bytes of one frame of the protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1_024, max = 1_073_741_823))]
    pub(super) frame_bytes_max: Option<u64>,
    /// Bytes of one result that is passed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1_073_741_823))]
    pub(super) result_bytes_max: Option<u64>,
}

/// Clients over HTTP.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Serve")]
pub(super) struct ServeForm {
    /// The address that is listened at, as `HOST:PORT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) listen: Option<String>,
    /// Names by which clients may call the gate besides those of the machine itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) hosts: Vec<String>,
    /// Origins of pages that may call the gate, as `https://HOST`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) origins: Vec<String>,
}

impl ServeForm {
    fn is_empty(&self) -> bool {
        *self == ServeForm::default()
    }
}

/// How much of JSON Schema is admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum ProfileForm {
    Standard,
    Portable,
    Wire,
}

/// What is known of principals.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Principal")]
pub(super) struct PrincipalForm {
    /// Patterns of principals; `*` is any text.
    #[schemars(length(min = 1))]
    pub(super) names: Vec<String>,
    /// Claims for the `equal` of rules, in place of `sub`, the name of a local principal: a table, or its JSON text.
    #[serde(with = "raw_text")]
    #[schemars(schema_with = "table_or_text")]
    pub(super) claims: Box<RawValue>,
}

/// What you say of tools.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Tool")]
pub(super) struct ToolForm {
    /// A pattern of qualified names, UPSTREAM/TOOL; `*` is any text.
    pub(super) name: String,
    /// The tool changes nothing: `readOnlyHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) read_only: Option<bool>,
    /// What the tool changes may be lost: `destructiveHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) destructive: Option<bool>,
    /// A second call with the same arguments changes nothing more: `idempotentHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) idempotent: Option<bool>,
    /// The tool deals with things outside: `openWorldHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) open_world: Option<bool>,
    /// Each call needs a person's approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) requires_approval: Option<bool>,
    /// What a call costs, in the budgets that count cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cost: Option<CostForm>,
}

/// What a call costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CostForm {
    /// Always this.
    Fixed(u64),
    /// What the arguments say at a pointer, or this where they do not.
    Argument(String, Option<u64>),
}

impl Serialize for CostForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            CostForm::Fixed(amount) => serializer.serialize_u64(*amount),
            CostForm::Argument(argument, ceiling) => {
                ArgumentForm { argument: argument.clone(), ceiling: *ceiling }.serialize(serializer)
            }
        }
    }
}

/// What a call costs that says so itself.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ArgumentForm {
    argument: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ceiling: Option<u64>,
}

impl<'de> Deserialize<'de> for CostForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CostVisitor)
    }
}

struct CostVisitor;

impl<'de> Visitor<'de> for CostVisitor {
    type Value = CostForm;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a table with `argument`")
    }

    fn visit_u64<E: serde::de::Error>(self, amount: u64) -> Result<CostForm, E> {
        Ok(CostForm::Fixed(amount))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CostForm, A::Error> {
        let form = ArgumentForm::deserialize(MapAccessDeserializer::new(map))?;
        Ok(CostForm::Argument(form.argument, form.ceiling))
    }
}

impl JsonSchema for CostForm {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Cost".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What a call costs: a whole number, or { argument = POINTER, ceiling = N }.",
            "type": ["integer", "object"],
            "minimum": 0,
            "properties": {
                "argument": {
                    "type": "string",
                    "description": "A JSON Pointer into the arguments, to a whole number."
                },
                "ceiling": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "The cost of a call whose arguments have no such number; without it such a call is refused."
                }
            },
            "required": ["argument"],
            "additionalProperties": false
        })
    }
}

/// One rule.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Rule")]
pub(super) struct RuleForm {
    /// Its name, which decisions tell: letters, digits, `-`, `_` and `.`.
    pub(super) id: String,
    /// What it says where it matches. Forbid beats ask, and ask beats permit.
    pub(super) effect: EffectForm,
    /// Patterns of principals; `*` is any text. Absent: everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub(super) principals: Option<Vec<String>>,
    /// Patterns of qualified names: UPSTREAM/TOOL, or `resource:`, `prompt:` or `method:` and UPSTREAM/NAME.
    #[schemars(length(min = 1))]
    pub(super) tools: Vec<String>,
    /// What you must have pinned of the tool under `[[tools]]`. What its server says does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) annotations: Option<AnnotationsForm>,
    /// A JSON Schema that the arguments have to keep: a table, or its JSON text.
    #[serde(default, with = "raw_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "table_or_text")]
    pub(super) when: Option<Box<RawValue>>,
    /// A JSON Schema that the arguments must not keep: a table, or its JSON text.
    #[serde(default, with = "raw_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "table_or_text")]
    pub(super) unless: Option<Box<RawValue>>,
    /// What in the arguments has to be what the principal claims.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) equal: Vec<EqualForm>,
    /// What the caller is told of a call that this rule forbids or asks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 280))]
    pub(super) reason: Option<String>,
}

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum EffectForm {
    Permit,
    Ask,
    Forbid,
}

/// Annotations by their names in the protocol.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Annotations")]
pub(super) struct AnnotationsForm {
    #[serde(rename = "readOnlyHint", default, skip_serializing_if = "Option::is_none")]
    pub(super) read_only: Option<bool>,
    #[serde(rename = "destructiveHint", default, skip_serializing_if = "Option::is_none")]
    pub(super) destructive: Option<bool>,
    #[serde(rename = "idempotentHint", default, skip_serializing_if = "Option::is_none")]
    pub(super) idempotent: Option<bool>,
    #[serde(rename = "openWorldHint", default, skip_serializing_if = "Option::is_none")]
    pub(super) open_world: Option<bool>,
}

/// A part of the arguments and a claim that have to be equal, compared as JSON values.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Equal")]
pub(super) struct EqualForm {
    /// A JSON Pointer into the arguments.
    pub(super) argument: String,
    /// A claim's name, or a JSON Pointer into the claims.
    pub(super) claim: String,
}

/// One budget.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Budget")]
pub(super) struct BudgetForm {
    /// Its name.
    pub(super) name: String,
    /// Patterns of principals whose calls count. Absent: everybody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub(super) principals: Option<Vec<String>>,
    /// Patterns of qualified names of tools whose calls count. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub(super) tools: Option<Vec<String>>,
    /// What has a counter of its own. Absent: one counter for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) per: Vec<PerForm>,
    /// The most that a counter may reach.
    pub(super) limit: LimitForm,
    /// What a call costs, where that is not what is said of its tool under `[[tools]]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cost: Option<CostForm>,
    /// When the counters begin anew: `none`, `hour`, or `day`, `week` or `month`, with `at HH:MM` and `in ZONE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) window: Option<String>,
}

/// The most that a counter may reach: `{ calls = N }` or `{ cost = N }`.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Limit", extend("minProperties" = 1, "maxProperties" = 1))]
pub(super) struct LimitForm {
    /// So many calls. None at all is what a rule that forbids is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub(super) calls: Option<u64>,
    /// So much cost of all calls together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub(super) cost: Option<u64>,
}

/// What a budget counts apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum PerForm {
    Principal,
    Run,
    Tool,
}

/// Approvals of calls that a rule asks about.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Approvals")]
pub(super) struct ApprovalsForm {
    /// How long a request waits for an answer, and an approval for its call, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1_000, max = 604_800_000))]
    pub(super) expiry_ms: Option<u64>,
    /// Whether the client's own user may be asked, who then answers for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) in_band: Option<bool>,
}

/// One tool server.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Upstream")]
pub(super) struct UpstreamForm {
    /// Its name in rules and records: letters, digits, `-`, `_` and `.`.
    #[schemars(regex(pattern = r"^[A-Za-z0-9._-]{1,64}$"))]
    pub(super) name: String,
    /// The program that is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<String>,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) args: Vec<String>,
    /// Further variables of its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) env: BTreeMap<String, TextOrSecret>,
    /// The folder it is started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cwd: Option<String>,
    /// Its address, of a server over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    /// Further headers of requests to it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) headers: BTreeMap<String, TextOrSecret>,
    /// What stands before the names of its tools in the list of the gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) prefix: Option<String>,
    /// Whether one bad tool leaves out that tool or refuses the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) admission: Option<AdmissionForm>,
    /// How much of JSON Schema is admitted of this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) profile: Option<ProfileForm>,
    /// What of its definitions is pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pin: Option<PinForm>,
}

/// Whether one bad tool refuses them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum AdmissionForm {
    Quarantine,
    Strict,
}

/// What of a definition is pinned: all of it, but for what is ignored.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Pin")]
pub(super) struct PinForm {
    /// JSON Pointers into a definition.
    pub(super) ignore: Vec<String>,
}

fn table_or_text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["object", "string"] })
}

/// JSON that is read as it stands, and written as a text that holds it.
mod raw_text {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::RawValue;

    pub(super) fn serialize<S: Serializer>(raw: &RawValue, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::super::load::json_text(raw))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<RawValue>, D::Error> {
        Box::deserialize(deserializer)
    }
}

/// The same of what may be absent.
mod raw_text_option {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::RawValue;

    #[expect(clippy::ref_option, reason = "the signature is that of serde")]
    pub(super) fn serialize<S: Serializer>(
        raw: &Option<Box<RawValue>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match raw {
            Some(raw) => serializer.serialize_some(&super::super::load::json_text(raw)),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Box<RawValue>>, D::Error> {
        Box::deserialize(deserializer).map(Some)
    }
}
