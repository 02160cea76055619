//! Which tool a call means.

use std::sync::Arc;

use callgate_wire::{Code, Principal, Stage};

use crate::Refusal;
use crate::catalog::{AdmittedTool, Catalog, Lookup, QuarantinedTool};

/// A likeness below this is no help: `search` is not what `delete` was meant to be.
const LIKENESS_MIN: f64 = 0.7;

/// What is asked, by whom, for which tool. The upstream is the catalog's.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// On whose behalf.
    pub principal: &'a Principal,
    /// The run that the call belongs to, if it names one.
    pub run: Option<&'a str>,
    /// The tool's name.
    pub tool: &'a str,
    /// The exact bytes of the arguments; `{}` where the call has none.
    pub arguments: &'a [u8],
}

/// A call of a tool that is admitted.
#[derive(Debug)]
pub struct Resolved<'a> {
    pub(super) call: Call<'a>,
    pub(super) upstream: String,
    pub(super) tool: Arc<AdmittedTool>,
}

/// Looks the tool up.
///
/// # Errors
///
/// `call-unknown-tool`, `call-tool-quarantined`, `tool-contract-changed`.
pub fn resolve<'a>(catalog: &Catalog, call: Call<'a>) -> Result<Resolved<'a>, Refusal> {
    match catalog.tool(call.tool) {
        Lookup::Admitted(tool) => {
            Ok(Resolved { call, upstream: catalog.upstream().to_owned(), tool: Arc::clone(tool) })
        }
        Lookup::Quarantined(tool) => Err(quarantined(tool)),
        Lookup::Unknown => Err(unknown(catalog, call.tool)),
    }
}

fn quarantined(tool: &QuarantinedTool) -> Refusal {
    if tool.code == Code::ToolContractChanged {
        let message = format!("the definition of `{}` has changed since it was pinned", tool.label());
        return Refusal::new(Code::ToolContractChanged, message).in_stage(Stage::Resolve).with_help(
            "an operator has to accept the change (`callgate catalog diff`, `callgate catalog accept`); until then use another tool",
        );
    }
    let message = format!("the tool `{}` is not admitted ({})", tool.label(), tool.code);
    Refusal::new(Code::CallToolQuarantined, message)
        .with_help("use another tool; only the author of this one can mend it")
        .with_findings(tool.findings.clone(), false)
}

fn unknown(catalog: &Catalog, name: &str) -> Refusal {
    let message = format!("expected the name of a tool that is listed, found `{name}`");
    let refusal = Refusal::new(Code::CallUnknownTool, message);
    let likeness = |tool: &Arc<AdmittedTool>| (strsim::jaro_winkler(&tool.name, name), tool.name.clone());
    let nearest = catalog.admitted().iter().map(likeness).max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((likeness, nearest)) if likeness >= LIKENESS_MIN => {
            refusal.with_help(format!("did you mean `{nearest}`?"))
        }
        _ => refusal.with_help("list the tools and take one of those"),
    }
}
