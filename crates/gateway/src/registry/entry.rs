//! An entry in the registry: its schemas compiled, its contract digested, as a tool of a server's is.

use std::sync::OnceLock;

use callgate_schema::{Coercion, Finding, Limits, Options, Profile, Program};
use callgate_wire::{Json, Object, UriTemplate};

use super::{CoercionMode, Descriptor, Registration, RegistryError, Settings};
use crate::catalog::{Admission, AdmissionSettings, AdmittedTool, Catalog, admit_tool};

/// An entry in the registry.
#[derive(Debug)]
pub struct Entry {
    key: String,
    registration: Registration,
    /// A catalog of this tool alone, so that a call passes the gate's own stages.
    catalog: Catalog,
    schema: Box<[u8]>,
    limits: Limits,
    wire: OnceLock<Option<Coercion>>,
    standard: OnceLock<Option<Coercion>>,
}

impl Entry {
    pub(super) fn compile(registration: Registration, settings: &Settings) -> Result<Entry, RegistryError> {
        let key = registration.key();
        if key.is_empty() {
            return Err(RegistryError::EmptyKey);
        }
        if let Some(uri) =
            registration.descriptor.uri.as_deref().filter(|_| registration.descriptor.is_template())
        {
            let template = UriTemplate::new(uri)?;
            if template.variables().any(|name| name == "uri") {
                let reason = "other than `uri`, under which the whole URI is passed";
                return Err(RegistryError::Name { field: "variable", found: "uri".to_owned(), reason });
            }
        }
        let mut admission = AdmissionSettings::new(settings.profile);
        admission.limits = settings.limits.clone();
        let definition = definition(&key, &registration.descriptor);
        let mut tool = match admit_tool(definition.as_str().as_bytes(), 0, &admission) {
            Admission::Admitted(tool) => tool,
            Admission::Quarantined(tool) => {
                return Err(RegistryError::Schema { key, findings: tool.findings });
            }
        };
        if registration.validator.is_some() {
            // The entry's own check stands in place of the schema's, which is published all the same.
            let open = Options { limits: settings.limits.clone(), ..Options::tool(Profile::Standard) };
            tool.input = Program::compile(br#"{"type":"object"}"#, &open)
                .map_err(|error| RegistryError::Schema { key: key.clone(), findings: error.findings })?;
        }
        let schema = registration.descriptor.input_schema.as_str().as_bytes().into();
        let catalog = Catalog::publish(1, &settings.app, vec![Admission::Admitted(tool)]);
        let limits = settings.limits.clone();
        let (wire, standard) = (OnceLock::new(), OnceLock::new());
        Ok(Entry { key, registration, catalog, schema, limits, wire, standard })
    }

    /// The key under which it is called.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What it says of itself.
    pub fn descriptor(&self) -> &Descriptor {
        &self.registration.descriptor
    }

    /// The tool as it was admitted: its definition as it is listed, its contract's digest, its compiled schemas.
    pub fn tool(&self) -> Option<&AdmittedTool> {
        self.catalog.admitted().first().map(AsRef::as_ref)
    }

    /// Doubts about its schemas.
    pub fn warnings(&self) -> &[Finding] {
        self.tool().map(|tool| tool.warnings.as_slice()).unwrap_or_default()
    }

    pub(super) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub(super) fn registration(&self) -> &Registration {
        &self.registration
    }

    /// The coercion of that mode, compiled when it is first asked for.
    pub(super) fn coercion(&self, mode: CoercionMode) -> Option<&Coercion> {
        let (slot, profile) = match mode {
            CoercionMode::Off => return None,
            CoercionMode::Wire => (&self.wire, Profile::Wire),
            CoercionMode::Standard => (&self.standard, Profile::Standard),
        };
        let compile = || {
            let options = Options { limits: self.limits.clone(), ..Options::tool(profile) };
            Coercion::compile(&self.schema, &options).ok()
        };
        slot.get_or_init(compile).as_ref()
    }
}

/// The definition as it is listed.
fn definition(key: &str, descriptor: &Descriptor) -> Json {
    let mut definition = Object::new()
        .with("name", key)
        .with("description", descriptor.description.as_str())
        .with("inputSchema", descriptor.input_schema.clone());
    if let Some(schema) = &descriptor.output_schema {
        definition.set("outputSchema", schema.clone());
    }
    definition.into()
}
