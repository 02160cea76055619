//! Whether a tool is worth showing to somebody: whether any call of it could pass the rules.

use callgate_wire::Principal;

use super::glob::any_matches;
use super::rule::Rule;
use super::{Effect, RuleSet, Target};

impl RuleSet {
    /// Whether some arguments could be permitted or asked about for this principal. `false` is certain: no call of the
    /// target passes. `true` is not: its arguments decide.
    ///
    /// ```
    /// use callgate_gateway::policy::{Effect, RuleSet, RuleSpec, Target, TargetKind};
    /// use callgate_wire::Principal;
    ///
    /// let rules = vec![RuleSpec::new("look", Effect::Permit, "*/read_*")];
    /// let rules = RuleSet::compile(rules, Vec::new(), &callgate_schema::Limits::default())?;
    /// let target = |name| Target { kind: TargetKind::Tool, upstream: "notes", name };
    /// let ada = Principal::local("ada");
    /// assert!(rules.may_permit(&ada, &target("read_note")));
    /// assert!(!rules.may_permit(&ada, &target("delete_note")));
    /// # Ok::<(), callgate_gateway::policy::RuleFaults>(())
    /// ```
    pub fn may_permit(&self, principal: &Principal, target: &Target<'_>) -> bool {
        if self.is_empty() {
            return true;
        }
        let path = target.path();
        let pinned = self.tools.pins(target.kind, &path).annotations;
        let concerns = |rule: &&Rule| {
            any_matches(&rule.principals, principal.as_str())
                && rule.targets.iter().any(|glob| glob.matches_path(target.kind, &path))
                && pinned.lacks(rule.spec.annotations).is_none()
        };
        let mut offered = false;
        for rule in self.rules.iter().filter(concerns) {
            match rule.spec.effect {
                Effect::Forbid if rule.is_unconditional() => return false,
                Effect::Forbid => {}
                Effect::Permit | Effect::Ask => offered = true,
            }
        }
        offered
    }
}

impl Rule {
    /// Whether the arguments do not matter to it.
    fn is_unconditional(&self) -> bool {
        self.when.is_none() && self.unless.is_none() && self.spec.equal.is_empty()
    }
}
