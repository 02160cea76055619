//! The schema engine of Callgate: reads JSON text, admits a JSON Schema only if every constraint of it can be
//! enforced, and checks values against it with bounded work.
//!
//! ```text
//! bytes ── json::Tape::read ──▶ Node ───────────┐
//! schema ─ json::Tape::read ─ Program::compile ─┴─▶ Program::check ──▶ Verdict
//!
//! Node ── Coercion::coerce ──▶ bytes + edits       a stage before, for arguments that come as texts
//! ```
//!
//! [`Validator`] has both in one; the parts are there for who wants the view of a value that was checked, its digest, or
//! the scratch.
//!
//! What this crate does not do: it opens no file and no socket, reads no clock and no environment, fetches no
//! reference, changes no value in a check, and has no unsafe code.
#![deny(missing_docs)]

pub mod json;
pub mod pattern;
pub mod text_map;

mod check;
mod code;
mod coerce;
mod compile;
mod dialect;
mod fast;
mod finding;
mod format;
mod keywords;
mod limits;
mod location;
mod preflight;
mod program;
mod resolve;
mod types;
mod validator;
mod work;

pub use check::{Verdict, Violations, WireForm};
pub use code::{Class, Code};
pub use coerce::{Coerced, Coercion, Edit, Edits, Scratch};
pub use compile::{CompileError, Options, Root, UnknownKeywords};
pub use dialect::{Dialect, Profile};
pub use finding::{Detail, Finding};
pub use limits::Limits;
pub use location::{Location, Step};
pub use preflight::open_root;
pub use program::Program;
pub use resolve::Resource;
pub use validator::{ProgramCache, ValidationError, Validator};
pub use work::{Exhausted, Work};
