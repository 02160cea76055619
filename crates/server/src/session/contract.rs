//! Tools that are held since their definition has changed: an operator accepts the change in a process of their own, and
//! the gate finds out at the next call.

use std::sync::Arc;

use callgate_gateway::call::{Call, Resolved, resolve};
use callgate_gateway::catalog::Catalog;
use callgate_gateway::{Journal, Refusal};
use callgate_schema::json::Digest;
use callgate_wire::Code;

use super::calls::chain;
use super::state::Session;

/// A tool whose listed definition is the pinned one by now.
#[derive(Debug)]
pub(crate) struct Released {
    pub(crate) tool: String,
    pub(crate) digest: Digest,
}

/// Looks a tool up, and where it is held looks at its pin as it is now; blocks on the journal then. A store that cannot
/// be read keeps it held.
pub(crate) fn resolve_now<'a>(
    catalog: &Catalog,
    journal: &dyn Journal,
    call: Call<'a>,
    released: &mut Option<Released>,
) -> Result<Resolved<'a>, Refusal> {
    let refusal = match resolve(catalog, call) {
        Err(refusal) if refusal.code == Code::ToolContractChanged => refusal,
        other => return other,
    };
    let pins = match journal.pinned(Some(catalog.upstream())) {
        Ok(pins) => pins,
        Err(error) => {
            tracing::error!(tool = call.tool, error = %chain(&error), "the pins cannot be read");
            return Err(refusal);
        }
    };
    let pin = pins.into_iter().map(|record| record.pin).find(|pin| pin.tool == call.tool);
    let now = pin.and_then(|pin| Some((pin.digest, catalog.release(call.tool, pin.digest)?)));
    let Some((digest, catalog)) = now else { return Err(refusal) };
    *released = Some(Released { tool: call.tool.to_owned(), digest });
    resolve(&catalog, call)
}

impl Session {
    /// Takes up an acceptance. The catalog may be a later one than the call had: it holds its own tools.
    pub(super) fn on_released(&mut self, released: &Released) {
        let Released { tool, digest } = released;
        let catalog = self.catalog.as_ref().and_then(|catalog| catalog.release(tool, *digest));
        if let Some(catalog) = catalog {
            tracing::info!(tool, %digest, "an operator has accepted its change; it can be called");
            self.catalog = Some(Arc::new(catalog));
        }
    }
}
