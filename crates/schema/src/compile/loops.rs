//! References that lead back to themselves without consuming any of the value: a check of them would never end.

use crate::compile::Compiler;
use crate::program::BlockId;
use crate::{Code, Finding};

impl Compiler<'_> {
    /// Refuses each loop once, at its first reference.
    pub(crate) fn loops(&mut self) {
        if self.links.is_empty() || !self.findings.is_empty() {
            return;
        }
        let component = components(&self.in_place());
        let mut refused = Vec::new();
        for at in 0..self.links.len() {
            let Some(reference) = self.links.get(at) else { continue };
            let (from, to) =
                (component.get(reference.from.0 as usize), component.get(reference.to.0 as usize));
            let Some(&class) = from.filter(|from| Some(*from) == to) else { continue };
            if refused.contains(&class) {
                continue;
            }
            refused.push(class);
            let message = "expected the reference to lead to a part of the value in the end, \
                           found that it leads back to itself";
            let finding = Finding::new(Code::SchemaReferenceLoop, message)
                .with_help(
                    "let the recursion pass through `properties`, `items` or another keyword for parts",
                )
                .at_schema("$ref", reference.location.clone())
                .at_offset(reference.offset);
            self.fault(finding);
        }
    }

    /// For each block, the blocks that are applied to the same value.
    fn in_place(&self) -> Vec<Vec<BlockId>> {
        let run = |block: &crate::program::Block| {
            let code = self.code.get(block.first as usize..block.end as usize).unwrap_or_default();
            code.iter().flat_map(|instruction| instruction.op.in_place()).collect()
        };
        self.blocks.iter().map(run).collect()
    }
}

/// The strongly connected component of each node (Tarjan's algorithm without recursion, since chains of references can
/// be long). Two nodes of one component lead to each other; a node that leads to itself alone is told by its edge.
fn components(edges: &[Vec<BlockId>]) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let mut component = vec![NEW; edges.len()];
    let (mut order, mut low) = (vec![NEW; edges.len()], vec![NEW; edges.len()]);
    let (mut open, mut visits) = (Vec::new(), Vec::new());
    let mut next = 0u32;
    let mut found = 0u32;
    for start in 0..edges.len() {
        if order.get(start) != Some(&NEW) {
            continue;
        }
        visits.push((start, 0));
        while let Some((node, edge)) = visits.pop() {
            if edge == 0 {
                set(&mut order, node, next);
                set(&mut low, node, next);
                next += 1;
                open.push(node);
            }
            let target =
                edges.get(node).and_then(|targets| targets.get(edge)).map(|target| target.0 as usize);
            if let Some(target) = target {
                visits.push((node, edge + 1));
                if get(&order, target) == NEW {
                    visits.push((target, 0));
                } else if get(&component, target) == NEW {
                    let lower = get(&low, node).min(get(&order, target));
                    set(&mut low, node, lower);
                }
                continue;
            }
            if get(&low, node) == get(&order, node) {
                while let Some(member) = open.pop() {
                    set(&mut component, member, found);
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
            if let Some(&(parent, _)) = visits.last() {
                let lower = get(&low, parent).min(get(&low, node));
                set(&mut low, parent, lower);
            }
        }
    }
    component
}

fn get(list: &[u32], at: usize) -> u32 {
    list.get(at).copied().unwrap_or(u32::MAX)
}

fn set(list: &mut [u32], at: usize, value: u32) {
    if let Some(slot) = list.get_mut(at) {
        *slot = value;
    }
}

#[cfg(test)]
mod tests {
    use super::components;
    use crate::program::BlockId;

    fn of(edges: &[&[u32]]) -> Vec<u32> {
        components(&edges.iter().map(|to| to.iter().map(|&id| BlockId(id)).collect()).collect::<Vec<_>>())
    }

    #[test]
    fn nodes_of_a_loop_share_a_component_and_others_do_not() {
        let found = of(&[&[1], &[2], &[0, 3], &[4], &[]]);
        assert_eq!(found[0], found[1]);
        assert_eq!(found[1], found[2]);
        assert_ne!(found[2], found[3]);
        assert_ne!(found[3], found[4]);
    }

    #[test]
    fn a_diamond_is_no_loop() {
        let found = of(&[&[1, 2], &[3], &[3], &[]]);
        let distinct: std::collections::BTreeSet<u32> = found.iter().copied().collect();
        assert_eq!(distinct.len(), 4);
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_needs_no_stack() {
        let edges: Vec<Vec<BlockId>> = (1..=100_000u32)
            .map(|next| if next < 100_000 { vec![BlockId(next)] } else { vec![BlockId(0)] })
            .collect();
        let found = components(&edges);
        assert!(found.iter().all(|component| *component == found[0]));
    }
}
