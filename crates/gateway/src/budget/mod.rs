//! What calls take from budgets: which counters, in which window, how much. Taking it is the journal's.
//!
//! | file | holds |
//! |---|---|
//! | `set` | all budgets, and the charges of one call |
//! | `cost` | what one call costs |
//! | `window` | when a counter begins anew |
//!
//! ```
//! use callgate_gateway::budget::{BudgetSet, BudgetSpec, CallFacts, Per, Unit, Window};
//! use callgate_schema::{Limits, json::Document};
//! use callgate_wire::{Principal, Timestamp};
//!
//! let daily = BudgetSpec {
//!     per: vec![Per::Principal],
//!     window: Window::parse("day at 06:00", |_| None)?,
//!     ..BudgetSpec::new("calls-a-day", Unit::Calls, 100)
//! };
//! let budgets = BudgetSet::compile(vec![daily]).unwrap();
//! let arguments = Document::read(*b"{}", &Limits::default().arguments_text()).unwrap();
//! let facts = CallFacts {
//!     principal: &Principal::local("ada"),
//!     run: None,
//!     upstream: "notes",
//!     tool: "add",
//!     cost: None,
//!     arguments: arguments.root(),
//! };
//! let charges = budgets.charges(&facts, Timestamp(1_764_590_400_000)).unwrap(); // 2025-12-01T12:00Z
//! assert_eq!((charges[0].scope.as_str(), charges[0].amount, charges[0].limit), ("principal=local:ada", 1, 100));
//! assert_eq!(charges[0].window, Some(Timestamp(1_764_568_800_000))); // 06:00 of that day
//! # Ok::<(), String>(())
//! ```

mod cost;
mod set;
mod window;

pub use cost::Cost;
pub use set::{BUDGETS_MAX, BudgetFault, BudgetSet, BudgetSpec, CallFacts, Per, Unit};
pub use window::{Span, Window};
