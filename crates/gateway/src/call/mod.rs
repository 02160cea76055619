//! START HERE. The way of one call through the gate: one file a stage, in this order.
//!
//! | file | stage | takes | gives |
//! |---|---|---|---|
//! | `resolve` | which tool is meant | [`Call`], a [`Catalog`](crate::catalog::Catalog) | [`Resolved`] or a refusal |
//! | `bind` | the arguments are checked and digested | [`Resolved`] | [`Bound`] or a refusal |
//! | `authorize` | the rules decide | [`Bound`], a [`RuleSet`](crate::policy::RuleSet), [`Claims`](crate::policy::Claims) | [`Authorized`] or a refusal |
//! | `open` | the intent is written | [`Authorized`], [`Terms`] | [`Opening`] |
//! | `dispatch` | the call may leave | [`Opening`], [`Committed`](crate::Committed) | [`Dispatch`] or a refusal |
//! | `output` | the result is checked | [`Dispatch`], the result | [`OutputCheck`] |
//!
//! How it ends is a table: [`outcome`](crate::intent::outcome). No stage can be left out or moved: each type is made
//! only by the stage before it.
//!
//! ```
//! use callgate_gateway::call::{Call, resolve};
//! use callgate_gateway::catalog::{AdmissionSettings, Catalog, admit_tool};
//! use callgate_gateway::policy::{Claims, RuleSet};
//! use callgate_schema::{Limits, Profile};
//! use callgate_wire::{Code, Principal};
//!
//! let settings = AdmissionSettings::new(Profile::Standard);
//! let tool = br#"{"name": "add", "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}}}"#;
//! let catalog = Catalog::publish(1, "calculator", vec![admit_tool(tool, 0, &settings)]);
//! let principal = Principal::local("ada");
//! let call = |arguments| Call { principal: &principal, run: None, tool: "add", arguments };
//!
//! let bound = resolve(&catalog, call(br#"{"a": 1e2}"#))?.bind(&settings.limits)?;
//! let authorized = bound.authorize(&RuleSet::none(), &Claims::local(&principal))?;
//! assert_eq!(authorized.decision().determining, ["no-rules"]);
//!
//! let refusal = resolve(&catalog, call(br#"{"a": "1"}"#))?.bind(&settings.limits).unwrap_err();
//! assert_eq!(refusal.code, Code::CallArgumentsInvalid);
//! # Ok::<(), callgate_gateway::Refusal>(())
//! ```
//!
//! A call whose arguments were not checked cannot be authorized:
//!
//! ```compile_fail,E0599
//! # use callgate_gateway::{call::{Call, resolve}, catalog::Catalog, policy::{Claims, RuleSet}};
//! # fn wrong(catalog: &Catalog, call: Call<'_>) -> Result<(), callgate_gateway::Refusal> {
//! resolve(catalog, call)?.authorize(&RuleSet::none(), &Claims::none());
//! # Ok(()) }
//! ```
//!
//! Nor one that was not authorized be opened:
//!
//! ```compile_fail,E0599
//! # use callgate_gateway::call::{Bound, Terms};
//! # fn wrong(bound: Bound<'_>, terms: Terms) {
//! bound.open(terms);
//! # }
//! ```
//!
//! Nor one whose intent is not durable be dispatched, since only a journal gives the proof:
//!
//! ```compile_fail,E0451
//! # use callgate_gateway::{Committed, call::{Dispatch, Opening}};
//! # fn wrong(opening: Opening) -> Dispatch {
//! let intent = opening.record().intent.clone();
//! opening.durable(Committed { intent })
//! # }
//! ```
//!
//! And a stage cannot be passed twice, since each consumes the one before:
//!
//! ```compile_fail,E0382
//! # use callgate_gateway::call::{Authorized, Terms};
//! # fn wrong(authorized: Authorized<'_>, terms: Terms) {
//! authorized.open(terms.clone());
//! authorized.open(terms);
//! # }
//! ```

mod authorize;
mod bind;
mod dispatch;
mod open;
mod output;
mod resolve;

pub use authorize::Authorized;
pub use bind::Bound;
pub use dispatch::{Dispatch, Rejection};
pub use open::{Departure, Opening, Terms, held, repeated};
pub use output::OutputCheck;
pub use resolve::{Call, Resolved, resolve};
