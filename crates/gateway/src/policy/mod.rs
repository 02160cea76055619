//! Who may call what: rules as data, and the decision that names the rules behind it.
//!
//! | file | holds |
//! |---|---|
//! | `rule_set` | all rules together: how they are compiled, and their digest |
//! | `rule` | one rule, as it is written and compiled |
//! | `judge` | the decision: forbid beats ask beats permit |
//! | `outlook` | whether any call of a tool could pass |
//! | `reason` | why a rule matched or did not, for people |
//! | `refusal` | what the caller of a call that is not permitted is told |
//! | `tool_settings` | what the operator says of tools: pinned annotations, approval, cost |
//! | `target` | what is asked for: a tool, a resource, a prompt, another method |
//! | `claims` | what is known of a principal |
//! | `glob` | patterns of names |
//!
//! ```
//! use callgate_gateway::policy::{Claims, Effect, Question, RuleSet, RuleSpec, Target};
//! use callgate_schema::{Limits, json::Document};
//! use callgate_wire::Principal;
//!
//! let limits = Limits::default();
//! let small = r#"{"properties": {"amount": {"maximum": 100}}, "required": ["amount"]}"#;
//! let rules = RuleSet::compile(
//!     vec![
//!         RuleSpec { when: Some(small.into()), ..RuleSpec::new("small-sums", Effect::Permit, "bank/pay") },
//!         RuleSpec::new("any-sum", Effect::Ask, "bank/pay"),
//!     ],
//!     Vec::new(),
//!     &limits,
//! )?;
//! let arguments = Document::read(*br#"{"amount": 250}"#, &limits.arguments_text()).unwrap();
//! let ada = Principal::local("ada");
//! let question = Question {
//!     principal: &ada,
//!     claims: &Claims::local(&ada),
//!     target: Target::tool("bank", "pay"),
//!     arguments: arguments.root(),
//! };
//! let decision = rules.judge(&question).decision;
//! assert_eq!((decision.effect, decision.determining), (Effect::Ask, vec!["any-sum".to_owned()]));
//! # Ok::<(), callgate_gateway::policy::RuleFaults>(())
//! ```

mod claims;
mod glob;
mod judge;
mod outlook;
mod reason;
mod refusal;
mod rule;
mod rule_set;
mod target;
mod tool_settings;

pub use claims::Claims;
pub use glob::{GLOB_BYTES_MAX, Glob};
pub use judge::{
    DEFAULT_DENY, DOT_SEGMENTS, Decision, Judgement, NO_PRINCIPAL, NO_RULES, Question, REQUIRES_APPROVAL,
};
pub use reason::RuleReason;
pub use rule::{Effect, EqualSpec, RuleFailure, RuleOutcome, RuleSpec};
pub use rule_set::{RULES_MAX, RuleFault, RuleFaults, RuleSet};
pub use target::{Target, TargetGlob, TargetKind};
pub use tool_settings::{PinnedAnnotations, ToolPins, ToolSpec};
