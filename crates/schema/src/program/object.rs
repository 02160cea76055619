//! What an object's members must be: by name, by pattern, and the rest.

use crate::json::{Member, name_hash};
use crate::program::{BlockId, PatternId};

/// `properties`, `patternProperties` and `additionalProperties` of one schema.
#[derive(Debug, Clone)]
pub(crate) struct ObjectPlan {
    /// In byte order of the names, which is the order of reports.
    pub(crate) slots: Box<[Slot]>,
    /// Open addressing over the names' hashes; at most half full; entries are slot indexes plus one. Empty where the names
    /// were chosen to meet.
    table: Box<[u32]>,
    pub(crate) patterns: Box<[(PatternId, BlockId)]>,
    pub(crate) additional: Additional,
    pub(crate) order: Order,
    /// How many slots are required.
    pub(crate) required: usize,
}

/// In which order violations by members are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Declared members by name, then the others by name.
    Name,
    /// As the members stand in the value.
    Value,
}

/// A declared member.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) name: Box<str>,
    pub(crate) block: BlockId,
    /// Where it stands among its siblings in the text of the schema.
    pub(crate) place: u32,
    /// Whether `required` beside it names it, too.
    pub(crate) required: bool,
}

/// What holds for members that no name and no pattern covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Additional {
    /// Nothing is said of them.
    Open,
    /// Each is good, and counts as evaluated.
    Any,
    /// Forbidden, by the keyword of that name.
    None(&'static str),
    Schema(BlockId),
}

impl ObjectPlan {
    pub(crate) fn new(
        mut slots: Vec<Slot>,
        patterns: Vec<(PatternId, BlockId)>,
        additional: Additional,
    ) -> Self {
        slots.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let table = table(&slots).unwrap_or_default();
        let required = slots.iter().filter(|slot| slot.required).count();
        ObjectPlan {
            required,
            slots: slots.into(),
            table,
            patterns: patterns.into(),
            additional,
            order: Order::Name,
        }
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let slots = self.slots.iter().map(|slot| size_of::<Slot>() + slot.name.len()).sum::<usize>();
        size_of::<ObjectPlan>() + slots + size_of_val(&*self.table) + size_of_val(&*self.patterns)
    }

    /// The slot of a member.
    #[inline]
    pub(crate) fn slot(&self, member: Member<'_>) -> Option<usize> {
        if self.table.is_empty() {
            return self.slots.binary_search_by(|slot| (*slot.name).cmp(&member.name())).ok();
        }
        let mut at = start(member.name_hash(), self.table.len());
        loop {
            let index = (*self.table.get(at)? as usize).checked_sub(1)?;
            if member.name_is(&self.slots.get(index)?.name) {
                return Some(index);
            }
            at = (at + 1) & (self.table.len() - 1);
        }
    }
}

/// Taken places that a name is moved past.
const PROBES_MAX: usize = 64;

fn table(slots: &[Slot]) -> Option<Box<[u32]>> {
    let mut table = vec![0u32; (slots.len() * 2).next_power_of_two()];
    for (entry, slot) in (1u32..).zip(slots) {
        let first = start(name_hash(&slot.name), table.len());
        let mut places = (first..=first + PROBES_MAX).map(|at| at & (table.len() - 1));
        let at = places.find(|&at| table.get(at) == Some(&0))?;
        *table.get_mut(at)? = entry;
    }
    Some(table.into())
}

/// Where the search in a table of that length begins. High bits are the better mixed ones.
#[inline]
fn start(hash: u32, length: usize) -> usize {
    (hash ^ (hash >> 16)) as usize & (length - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Document, Node};

    /// Names of one start in a table of 1024: more than a name is moved past.
    fn meeting() -> Vec<String> {
        let names = (0..200_000).map(|number| format!("n{number}"));
        let of_zero = names.filter(|name| start(name_hash(name), 1024) == 0);
        of_zero.take(PROBES_MAX + 100).collect()
    }

    #[test]
    fn names_that_were_chosen_to_meet_are_found_by_search() {
        let names = meeting();
        assert!(names.len() > PROBES_MAX + 1, "{}", names.len());
        let others = (0..300).map(|number| format!("other{number}"));
        let all: Vec<String> = names.into_iter().chain(others).collect();
        let slot =
            |name: &String| Slot { name: name.as_str().into(), block: BlockId(0), place: 0, required: false };
        let plan = ObjectPlan::new(all.iter().map(slot).collect(), Vec::new(), Additional::Open);
        assert!(plan.table.is_empty());
        for name in &all {
            let text = format!("{{\"{name}\":1,\"x{name}\":2}}");
            let document =
                Document::read(text.as_bytes(), &crate::Limits::default().arguments_text()).unwrap();
            let found: Vec<_> = document.root().members().map(|member| plan.slot(member).is_some()).collect();
            assert_eq!(found, [true, false]);
            assert_eq!(document.root().member(name).and_then(Node::as_number).map(|_| ()), Some(()));
        }
    }
}
