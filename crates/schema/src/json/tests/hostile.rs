//! Inputs that were made to cost more than they should: each is answered, and none takes long enough to be noticed.

use std::collections::HashMap;

use super::{document, read};
use crate::Limits;
use crate::json::{Document, ReadFaultKind, Tape, canonical, skim_items};

fn duplicate(text: &str) -> Option<String> {
    match read(text).err()?.kind {
        ReadFaultKind::DuplicateName { name, .. } => Some(name),
        other => panic!("{other:?}"),
    }
}

fn object(names: &[String]) -> String {
    format!("{{{}}}", names.iter().map(|name| format!("\"{name}\":0")).collect::<Vec<_>>().join(","))
}

#[test]
fn deep_nesting_ends_at_the_limit() {
    for open in ["[", "{\"a\":"] {
        let text = open.repeat(100_000);
        let fault = read(&text).unwrap_err();
        assert_eq!(fault.kind, ReadFaultKind::Limit { name: "arguments_depth".into(), maximum: 128 });
        assert_eq!(fault.offset, 128 * open.len());
        assert_eq!(fault.pointer.split('/').count(), 129);
    }
}

#[test]
fn deep_nesting_that_is_allowed_needs_no_stack() {
    let mut limits = Limits::default();
    limits.set("arguments_depth", 1_000_000);
    let text = format!("{}1{}", "[{\"a\":".repeat(200_000), "}]".repeat(200_000));
    let deep = Document::read(text.as_bytes(), &limits.arguments_text()).unwrap();
    assert_eq!(canonical(deep.root()), text.as_bytes());
    assert!(deep.root().equals(deep.root()));
    assert_eq!(deep.root().value_hash(), deep.clone().root().value_hash());
    assert_eq!(skim_items(text.as_bytes()).unwrap().len(), 1);
}

#[test]
fn long_strings_are_read() {
    let mut limits = Limits::default();
    limits.set("arguments_bytes", 16 << 20);
    let mut tape = Tape::new();
    for (unit, chars) in [("x", 1), ("é", 1), ("\\n", 1), ("\\ud83d\\ude00", 1), ("abcdefg\\\"", 8)] {
        let count = (10 << 20) / unit.len();
        let text = format!("\"{}\"", unit.repeat(count));
        let node = tape.read(text.as_bytes(), &limits.arguments_text()).unwrap();
        assert_eq!(node.char_count(), count * chars);
        assert_eq!(node.raw().len(), text.len());
        let cut = &text.as_bytes()[..text.len() - 1];
        assert!(tape.read(cut, &limits.arguments_text()).is_err());
    }
}

#[test]
fn a_million_members_are_read() {
    let mut limits = Limits::default();
    limits.set("arguments_bytes", 64 << 20);
    limits.set("arguments_nodes", 2_000_000);
    let limits = limits.arguments_text();
    let mut names: Vec<String> = (0..1_000_000).map(|i| format!("n{i}")).collect();
    assert_eq!(Document::read(object(&names).as_bytes(), &limits).unwrap().root().len(), 1_000_000);
    names.push("n500000".into());
    let fault = Document::read(object(&names).as_bytes(), &limits).unwrap_err();
    assert!(matches!(fault.kind, ReadFaultKind::DuplicateName { name, .. } if name == "n500000"));
}

#[test]
fn many_members_are_compared_in_any_order() {
    let mut names: Vec<String> = (0..100_000).map(|i| format!("n{i}")).collect();
    let ascending = document(object(&names));
    names.reverse();
    let descending = document(object(&names));
    assert!(ascending.root().equals(descending.root()));
    assert_eq!(ascending.root().value_hash(), descending.root().value_hash());
    assert_eq!(canonical(ascending.root()), canonical(descending.root()));
}

#[test]
fn names_that_collide_are_still_told_apart() {
    let mut names = colliding_names(200_000);
    assert_eq!(duplicate(&object(&names)), None);
    names.push(names[100_000].clone());
    names.push(names[99_999].clone());
    assert_eq!(duplicate(&object(&names)).as_ref(), Some(&names[100_000]));
}

/// Names of sixteen letters and digits that all fall into one slot of the table of names.
fn colliding_names(count: usize) -> Vec<String> {
    // The upper bits of the hash are those of one half times one constant, xor those of the other times another. Halves
    // whose upper bits are the same cancel out.
    const HALVES: u32 = 1 << 20;
    let upper = |half: &str, factor: u64| {
        u64::from_le_bytes(half.as_bytes().try_into().unwrap()).wrapping_mul(factor) >> 44
    };
    let mut first: HashMap<u64, Vec<String>> = HashMap::new();
    for i in 0..HALVES {
        let half = format!("{i:08x}");
        first.entry(upper(&half, 0x9E37_79B9_7F4A_7C15)).or_default().push(half);
    }
    let mut names = Vec::new();
    for i in 0..HALVES {
        let half = format!("{i:08x}");
        for other in first.get(&upper(&half, 0xC2B2_AE3D_27D4_EB4F)).into_iter().flatten() {
            names.push(format!("{other}{half}"));
        }
        if names.len() >= count {
            break;
        }
    }
    assert!(names.len() >= count, "{}", names.len());
    names.truncate(count);
    names
}

#[test]
fn many_small_objects_of_colliding_names_are_read() {
    // Sixteen bytes alike, then names that differ: the filter of small objects always hits.
    let names: Vec<String> = (0..16).map(|i| format!("{}{i}", "x".repeat(16))).collect();
    let text = format!("[{}]", vec![object(&names); 2_000].join(","));
    assert_eq!(document(text).root().len(), 2_000);
}
