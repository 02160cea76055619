//! The catalog: an immutable snapshot of what came of one listing of an upstream's tools.

use std::collections::HashMap;
use std::sync::Arc;

use callgate_schema::json::Digest;
use callgate_schema::{Code as SchemaCode, Detail, Finding};
use callgate_wire::{Code, Timestamp};

use super::{Admission, AdmittedTool, QuarantinedTool};
use crate::journal::{ContractChange, PublishRequest, PublishedTool};

/// An immutable snapshot of one upstream's tools. A later listing makes another one; calls that hold this one are not
/// affected.
#[derive(Debug, Clone)]
pub struct Catalog {
    revision: u64,
    upstream: String,
    admitted: Vec<Arc<AdmittedTool>>,
    quarantined: Vec<QuarantinedTool>,
    by_name: HashMap<String, Entry>,
    /// The tools that could be called if their definitions were the pinned ones, each with its place among those that
    /// can be enforced.
    held: Vec<(usize, Arc<AdmittedTool>)>,
}

#[derive(Debug, Clone, Copy)]
enum Entry {
    Admitted(usize),
    Quarantined(usize),
}

/// What a catalog says of a name.
#[derive(Debug)]
pub enum Lookup<'a> {
    /// The tool can be called.
    Admitted(&'a Arc<AdmittedTool>),
    /// The upstream lists it, but it was not admitted.
    Quarantined(&'a QuarantinedTool),
    /// The upstream does not list it.
    Unknown,
}

impl Catalog {
    /// Makes the snapshot of one whole listing. A name that stands twice quarantines all its bearers: nobody could say
    /// which of them a call means.
    pub fn publish(revision: u64, upstream: &str, admissions: Vec<Admission>) -> Catalog {
        let mut bearers: HashMap<String, u64> = HashMap::new();
        for admission in &admissions {
            let name = match admission {
                Admission::Admitted(tool) => Some(&tool.name),
                Admission::Quarantined(tool) => tool.name.as_ref(),
            };
            if let Some(name) = name {
                *bearers.entry(name.clone()).or_default() += 1;
            }
        }
        let mut catalog = Catalog {
            revision,
            upstream: upstream.to_owned(),
            admitted: Vec::new(),
            quarantined: Vec::new(),
            by_name: HashMap::new(),
            held: Vec::new(),
        };
        for (index, admission) in admissions.into_iter().enumerate() {
            match refuse_repeated(index, admission, &bearers) {
                Admission::Admitted(tool) => catalog.admit(tool),
                Admission::Quarantined(tool) => catalog.quarantine(tool),
            }
        }
        catalog
    }

    fn admit(&mut self, tool: AdmittedTool) {
        let entry = Entry::Admitted(self.admitted.len());
        let before = self.by_name.insert(tool.name.clone(), entry);
        assert!(before.is_none(), "a name in a catalog stands for one tool");
        self.admitted.push(Arc::new(tool));
    }

    fn quarantine(&mut self, tool: QuarantinedTool) {
        if let Some(name) = &tool.name {
            self.by_name.entry(name.clone()).or_insert(Entry::Quarantined(self.quarantined.len()));
        }
        self.quarantined.push(tool);
    }

    /// What is known under this name, compared exactly.
    pub fn tool(&self, name: &str) -> Lookup<'_> {
        let found = match self.by_name.get(name) {
            Some(Entry::Admitted(at)) => self.admitted.get(*at).map(Lookup::Admitted),
            Some(Entry::Quarantined(at)) => self.quarantined.get(*at).map(Lookup::Quarantined),
            None => None,
        };
        found.unwrap_or(Lookup::Unknown)
    }

    /// The number of this snapshot; a later one of the same upstream has a higher number.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The upstream whose tools these are.
    pub fn upstream(&self) -> &str {
        &self.upstream
    }

    /// The tools that can be called, in the upstream's order.
    pub fn admitted(&self) -> &[Arc<AdmittedTool>] {
        &self.admitted
    }

    /// The tools that were not admitted, in the upstream's order.
    pub fn quarantined(&self) -> &[QuarantinedTool] {
        &self.quarantined
    }

    /// What the store is asked to publish, admitted tools first.
    pub fn publication(&self, publication: String, by: String, at: Timestamp) -> PublishRequest {
        let admitted = self
            .admitted
            .iter()
            .map(|tool| PublishedTool { row: tool.admission_row(), definition: tool.definition.clone() });
        let quarantined = self
            .quarantined
            .iter()
            .map(|tool| PublishedTool { row: tool.admission_row(), definition: tool.definition.clone() });
        PublishRequest {
            upstream: self.upstream.clone(),
            publication,
            expected: None,
            strict: false,
            tools: admitted.chain(quarantined).collect(),
            by,
            at,
        }
    }

    /// Holds the tools whose definitions are not the pinned ones: nobody calls them before an operator accepts the
    /// change.
    pub fn hold(&mut self, changes: &[ContractChange]) {
        if changes.is_empty() {
            return;
        }
        let changed = |tool: &AdmittedTool| changes.iter().any(|change| change.tool == tool.name);
        for (at, tool) in self.enforced() {
            if changed(&tool) {
                self.quarantined.push(held(&tool, at));
                self.held.push((at, tool));
            }
        }
        self.admitted.retain(|tool| !changed(tool));
        self.index();
    }

    /// The definition of the tool that is held under this name, as it is listed.
    pub fn held(&self, name: &str) -> Option<Digest> {
        let (_, tool) = self.held.iter().find(|(_, tool)| tool.name == name)?;
        Some(tool.contract_digest)
    }

    /// The snapshot in which the tool that was held under this name can be called, if `pinned` is its definition as it is
    /// listed; nothing if it is another one, or if no tool of that name is held.
    #[must_use]
    pub fn release(&self, name: &str, pinned: Digest) -> Option<Catalog> {
        if self.held(name) != Some(pinned) {
            return None;
        }
        let mut catalog = self.clone();
        let mut enforced = catalog.enforced();
        catalog.held.retain(|(_, tool)| tool.name != name);
        catalog
            .quarantined
            .retain(|tool| tool.code != Code::ToolContractChanged || tool.name.as_deref() != Some(name));
        enforced.retain(|(at, _)| !catalog.held.iter().any(|(held, _)| held == at));
        catalog.admitted = enforced.into_iter().map(|(_, tool)| tool).collect();
        catalog.index();
        Some(catalog)
    }

    /// The tools whose schemas are enforced, held or not, in the upstream's order, each with its place among them.
    fn enforced(&self) -> Vec<(usize, Arc<AdmittedTool>)> {
        let mut admitted = self.admitted.iter();
        let place = |at: usize| match self.held.iter().find(|(held, _)| *held == at) {
            Some((_, tool)) => Some((at, Arc::clone(tool))),
            None => admitted.next().map(|tool| (at, Arc::clone(tool))),
        };
        (0..self.admitted.len() + self.held.len()).filter_map(place).collect()
    }

    /// Makes the index of names anew.
    fn index(&mut self) {
        self.by_name.clear();
        for (at, tool) in self.quarantined.iter().enumerate() {
            if let Some(name) = &tool.name {
                self.by_name.entry(name.clone()).or_insert(Entry::Quarantined(at));
            }
        }
        for (at, tool) in self.admitted.iter().enumerate() {
            self.by_name.insert(tool.name.clone(), Entry::Admitted(at));
        }
    }
}

fn held(tool: &AdmittedTool, index: usize) -> QuarantinedTool {
    QuarantinedTool {
        name: Some(tool.name.clone()),
        index,
        code: Code::ToolContractChanged,
        contract_digest: Some(tool.contract_digest),
        definition: tool.definition.clone(),
        findings: Vec::new(),
    }
}

fn refuse_repeated(index: usize, admission: Admission, bearers: &HashMap<String, u64>) -> Admission {
    let (name, contract_digest, definition) = match &admission {
        Admission::Admitted(tool) => (&tool.name, Some(tool.contract_digest), &tool.definition),
        Admission::Quarantined(QuarantinedTool { name: Some(name), contract_digest, definition, .. }) => {
            (name, *contract_digest, definition)
        }
        Admission::Quarantined(_) => return admission,
    };
    let count = bearers.get(name).copied().unwrap_or_default();
    if count < 2 {
        return admission;
    }
    let message = format!("expected one tool named `{name}`, found {count}");
    let finding = Finding::new(SchemaCode::JsonDuplicateName, message)
        .with_help("give each tool of an upstream a name of its own")
        .with("tool", Detail::Text(name.clone()));
    Admission::Quarantined(QuarantinedTool {
        name: Some(name.clone()),
        index,
        code: Code::ToolNameRepeated,
        contract_digest,
        definition: definition.clone(),
        findings: vec![finding],
    })
}
