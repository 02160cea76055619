//! Values compared and hashed: what equality means in `enum`, `const` and `uniqueItems`.

use super::node::{Kind, Member, Node};
use super::number::Number;
use super::text::stands_for;

/// Are the two values equal? Without recursion: pairs that are still to be compared are on a stack.
pub(super) fn equal(a: Node<'_>, b: Node<'_>) -> bool {
    let mut pairs = Vec::new();
    let mut pair = Some((a, b));
    while let Some((a, b)) = pair {
        if a.kind() != b.kind() || a.len() != b.len() {
            return false;
        }
        let same = match a.kind() {
            Kind::Null => true,
            Kind::Bool => a.as_bool() == b.as_bool(),
            Kind::Number => a.as_number() == b.as_number(),
            Kind::String => same_text(a, b),
            Kind::Array => {
                pairs.extend(a.items().zip(b.items()));
                true
            }
            Kind::Object => pair_members(a, b, &mut pairs),
        };
        if !same {
            return false;
        }
        pair = pairs.pop();
    }
    true
}

fn same_text(a: Node<'_>, b: Node<'_>) -> bool {
    match (a.token().escaped(), b.token().escaped()) {
        (escaped, false) => stands_for(a.body(), escaped, b.body()),
        (false, true) => stands_for(b.body(), true, a.body()),
        (true, true) => stands_for(a.body(), true, &b.unescaped()),
    }
}

/// Adds the pairs of values that have one name; false if the two objects, of as many members, differ in a name.
fn pair_members<'a, 'b>(a: Node<'a>, b: Node<'b>, pairs: &mut Vec<(Node<'a>, Node<'b>)>) -> bool {
    // Most often the order is the same.
    let before = pairs.len();
    for (x, y) in a.members().zip(b.members()) {
        if !same_name(x, y) {
            pairs.truncate(before);
            return pair_sorted(a, b, pairs);
        }
        pairs.push((x.value(), y.value()));
    }
    true
}

fn same_name(a: Member<'_>, b: Member<'_>) -> bool {
    a.name_hash() == b.name_hash() && a.name_head() == b.name_head() && a.name_bytes() == b.name_bytes()
}

/// The same for members in different orders. Sorted, not looked up, so that colliding names cost no more than others.
fn pair_sorted<'a, 'b>(a: Node<'a>, b: Node<'b>, pairs: &mut Vec<(Node<'a>, Node<'b>)>) -> bool {
    fn sorted(node: Node<'_>) -> Vec<(u32, Member<'_>)> {
        // The hash stands beside the view, so that most comparisons do not go back to the tape.
        let mut members: Vec<_> = node.members().map(|member| (member.name_hash(), member)).collect();
        members.sort_unstable_by(|(x_hash, x), (y_hash, y)| {
            x_hash.cmp(y_hash).then_with(|| x.name_bytes().cmp(&y.name_bytes()))
        });
        members
    }
    let before = pairs.len();
    for ((_, x), (_, y)) in sorted(a).into_iter().zip(sorted(b)) {
        if !same_name(x, y) {
            pairs.truncate(before);
            return false;
        }
        pairs.push((x.value(), y.value()));
    }
    true
}

/// The hash of a value, the same for equal ones.
pub(super) fn hash(node: Node<'_>) -> u64 {
    // An item's hash depends on the array's hash and its index, so that values can be taken in any order and their
    // hashes summed: members need no sorting and nothing recurses.
    let mut sum = 0u64;
    let mut rest = Vec::new();
    let mut next = Some((node, 0));
    while let Some((node, seed)) = next {
        let own = match node.kind() {
            Kind::Null => 1,
            Kind::Bool => 2 + u64::from(node.as_bool() == Some(true)),
            Kind::Number => node.as_number().map_or(0, number_hash),
            Kind::String => bytes_hash(5, &node.unescaped()),
            Kind::Array => mix(6, node.len() as u64),
            Kind::Object => mix(7, node.len() as u64),
        };
        sum = sum.wrapping_add(mix(seed, own));
        for (index, item) in node.items().enumerate() {
            rest.push((item, mix(seed ^ 8, index as u64)));
        }
        for member in node.members() {
            rest.push((member.value(), mix(seed ^ 9, bytes_hash(5, &member.name_bytes()))));
        }
        next = rest.pop();
    }
    sum
}

fn number_hash(number: Number<'_>) -> u64 {
    let decimal = number.decimal();
    let seed = mix(10 + u64::from(decimal.negative), decimal.exponent.cast_unsigned());
    decimal.digits().fold(seed, |hash, digit| mix(hash, u64::from(digit)))
}

fn bytes_hash(seed: u64, bytes: &[u8]) -> u64 {
    let words = bytes.chunks(8).map(|chunk| super::scan::word(chunk, 0));
    words.fold(mix(seed, bytes.len() as u64), mix)
}

#[inline]
const fn mix(hash: u64, word: u64) -> u64 {
    let product = (hash ^ word).wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    // Both orders of `hash` and `word` must not be one.
    (product ^ product >> 29).wrapping_add(hash.rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
