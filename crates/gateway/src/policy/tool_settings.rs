//! What the operator says of tools. A tool server says such things of itself, too; that is for people to read, and nothing
//! here looks at it.

use callgate_wire::Pinned;

use super::{TargetGlob, TargetKind};
use crate::budget::Cost;

/// The annotations that an operator pinned; `None` where nothing was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PinnedAnnotations {
    /// `readOnlyHint`: the tool changes nothing.
    pub read_only: Option<bool>,
    /// `destructiveHint`: what the tool changes may be lost.
    pub destructive: Option<bool>,
    /// `idempotentHint`: a second call with the same arguments changes nothing more.
    pub idempotent: Option<bool>,
    /// `openWorldHint`: the tool deals with things outside.
    pub open_world: Option<bool>,
}

impl PinnedAnnotations {
    /// Each annotation with its name in the protocol, in a fixed order.
    pub fn entries(self) -> [(&'static str, Option<bool>); 4] {
        [
            ("readOnlyHint", self.read_only),
            ("destructiveHint", self.destructive),
            ("idempotentHint", self.idempotent),
            ("openWorldHint", self.open_world),
        ]
    }

    /// The first annotation that `wanted` has and that was not pinned so.
    pub(super) fn lacks(self, wanted: PinnedAnnotations) -> Option<(&'static str, bool)> {
        let pairs = self.entries().into_iter().zip(wanted.entries());
        let mut lacking = pairs.filter_map(|((name, pinned), (_, wanted))| match wanted {
            Some(wanted) if pinned != Some(wanted) => Some((name, wanted)),
            _ => None,
        });
        lacking.next()
    }

    /// These, where `later` says nothing else.
    fn overridden(self, later: PinnedAnnotations) -> PinnedAnnotations {
        PinnedAnnotations {
            read_only: later.read_only.or(self.read_only),
            destructive: later.destructive.or(self.destructive),
            idempotent: later.idempotent.or(self.idempotent),
            open_world: later.open_world.or(self.open_world),
        }
    }
}

/// What the operator says of the tools that a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolSpec {
    /// A pattern of qualified names of tools.
    pub name: String,
    /// What is pinned.
    pub annotations: PinnedAnnotations,
    /// Whether each call needs a person's approval.
    pub requires_approval: Option<bool>,
    /// What a call costs, in the budgets that count cost.
    pub cost: Option<Cost>,
}

/// What the operator says of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolPins {
    /// What is pinned.
    pub annotations: PinnedAnnotations,
    /// Whether each call needs a person's approval.
    pub requires_approval: bool,
    /// What a call costs.
    pub cost: Option<Cost>,
}

impl ToolPins {
    /// What the operator vouches for, as records have it: what a call's end means, and whether it may be made again.
    pub fn pinned(&self) -> Pinned {
        Pinned {
            read_only: self.annotations.read_only == Some(true),
            idempotent: self.annotations.idempotent == Some(true),
        }
    }
}

/// All that the operator says of tools, in the order of the configuration: what a later entry says wins.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolSettings {
    pub(super) entries: Vec<(TargetGlob, ToolSpec)>,
}

impl ToolSettings {
    /// What is said of the target whose kind and path are these.
    pub(super) fn pins(&self, kind: TargetKind, path: &str) -> ToolPins {
        let mut pins = ToolPins::default();
        for (_, spec) in self.entries.iter().filter(|(glob, _)| glob.matches_path(kind, path)) {
            pins.annotations = pins.annotations.overridden(spec.annotations);
            pins.requires_approval = spec.requires_approval.unwrap_or(pins.requires_approval);
            if let Some(cost) = &spec.cost {
                pins.cost = Some(cost.clone());
            }
        }
        pins
    }
}
