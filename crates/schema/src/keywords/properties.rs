//! `properties`, `patternProperties`, `additionalProperties` (2020-12 core, section 10.3.2).

use std::borrow::Cow;

use crate::check::{Run, Site, Stop};
use crate::compile::{Compiler, Draft, Entry};
use crate::dialect::Profile;
use crate::json::{Kind, Member, Node};
use crate::location::below;
use crate::program::{Additional, ObjectPlan, Order, Slot};
use crate::{Code, Detail, Finding};

pub(crate) fn compile<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    if let Some(slots) = compiler.named_subschemas(entry) {
        let mut places: Vec<_> = entry.value.members().map(Member::name).zip(0..).collect();
        places.sort_unstable();
        let slot = |((name, block), (_, place)): ((Cow<'a, str>, _), (_, _))| Slot {
            name: name.into(),
            block,
            place,
            required: false,
        };
        draft.members.slots = slots.into_iter().zip(places).map(slot).collect();
    }
}

pub(crate) fn patterns<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    let Some(schemas) = compiler.named_subschemas(entry) else { return };
    for (text, block) in schemas {
        let location = below(&entry.location(), &text);
        let member = entry.value.members().find(|member| member.name_is(&text));
        let offset = member.map_or(0, |member| member.name_span().start);
        if let Some(pattern) = compiler.pattern(entry, &text, location, offset) {
            draft.members.patterns.push((pattern, block));
        }
    }
}

/// `additionalProperties`, and `additional_properties` where the profile knows that spelling.
pub(crate) fn additional<'a>(compiler: &mut Compiler<'a>, draft: &mut Draft, entry: &Entry<'a, '_>) {
    if compiler.options.profile == Profile::Portable && entry.keyword == "additionalProperties" {
        refuse_both_spellings(compiler, entry);
    }
    let rule = match entry.value.as_bool() {
        Some(true) => Additional::Any,
        Some(false) => Additional::None(entry.keyword),
        None => match entry.value.kind() {
            Kind::Object => Additional::Schema(compiler.subschema(entry)),
            _ => return compiler.malformed(entry, "a boolean or a schema"),
        },
    };
    draft.members.additional = Some(rule);
}

/// Said before either is judged, and both are judged all the same.
fn refuse_both_spellings(compiler: &mut Compiler<'_>, entry: &Entry<'_, '_>) {
    let Some(alias) = entry.sibling("additional_properties") else { return };
    let message = "expected one of `additionalProperties` and `additional_properties`, found both";
    compiler.fault(
        Finding::new(Code::SchemaAliasConflict, message)
            .with_help("keep `additionalProperties`")
            .at_schema("additional_properties", format!("{}/additional_properties", entry.schema_location))
            .at_offset(alias.span().start),
    );
}

pub(crate) fn hold<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    value: Node<'i>,
    plan: &ObjectPlan,
) -> Result<bool, Stop> {
    if value.kind() != Kind::Object {
        return Ok(true);
    }
    if COLLECT {
        return report(run, at, value, plan);
    }
    let mut required = 0;
    let unsure = run.first_unsure(at, value);
    for member in value.members() {
        run.charge(1)?;
        let slot = plan.slot(member).and_then(|slot| plan.slots.get(slot));
        if let Some(slot) = slot {
            required += usize::from(slot.required);
            let index = member.value().index();
            if unsure.is_some_and(|first| index < first) {
                continue;
            }
            let good = if unsure == Some(index) {
                run.unsure_member::<false>(slot.block, member)?
            } else {
                run.member::<false>(slot.block, member)?
            };
            if !good {
                return Ok(false);
            }
            run.mark(member.value());
        }
        if !others_hold::<false>(run, at, plan, member, slot.is_some())? {
            return Ok(false);
        }
    }
    // No member stands twice, so the count tells whether all are there.
    Ok(required == plan.required)
}

/// Members up to which names are compared as they stand; of more, each is freed of its escapes once.
const NAMES_COMPARED_AS_THEY_STAND_MAX: usize = 64;

/// The same in the order of reports: declared members by name, then the others by name.
fn report<'i>(run: &mut Run<'_, 'i>, at: Site, value: Node<'i>, plan: &ObjectPlan) -> Result<bool, Stop> {
    run.charge(value.len())?;
    let unsure = run.first_unsure(at, value);
    let mut members = Vec::new();
    for member in value.members() {
        let index = member.value().index();
        // What is good has nothing to report, whatever its place in the order.
        if unsure.is_some_and(|first| index < first) {
            continue;
        }
        let slot = plan.slot(member);
        let known = slot.and_then(|slot| plan.slots.get(slot)).filter(|_| plan.patterns.is_empty());
        if let Some(slot) = known
            && unsure != Some(index)
            && run.glance_at_member(slot.block, member)?
        {
            run.mark(member.value());
            continue;
        }
        // Small, since there may be a million: the member is found again by its value.
        let slot = slot.and_then(|slot| u32::try_from(slot).ok()).unwrap_or(u32::MAX);
        members.push((slot, index));
    }
    if plan.order == Order::Name {
        let name = |index| Member::of_value(value.at_index(index)).name_bytes();
        // Of two with one slot, which then is that of undeclared members, the names tell.
        if members.len() <= NAMES_COMPARED_AS_THEY_STAND_MAX {
            members.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| name(a.1).cmp(&name(b.1))));
        } else {
            members.sort_by_cached_key(|&(slot, index)| (slot, name(index)));
        }
    }
    let mut good = true;
    for (slot, index) in members {
        let slot = plan.slots.get(slot as usize);
        let member = Member::of_value(value.at_index(index));
        if let Some(slot) = slot {
            good &= run.unsure_member::<true>(slot.block, member)?;
            run.mark(member.value());
        }
        good &= others_hold::<true>(run, at, plan, member, slot.is_some())?;
    }
    Ok(good)
}

/// The schemas of the patterns that match the name and, if there are none and it is not declared, the rule for others.
#[inline]
fn others_hold<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    plan: &ObjectPlan,
    member: Member<'i>,
    declared: bool,
) -> Result<bool, Stop> {
    if plan.patterns.is_empty() && (declared || plan.additional == Additional::Open) {
        return Ok(true);
    }
    let (mut covered, mut good) = (declared, true);
    for (pattern, block) in &plan.patterns {
        let Some(pattern) = run.parts.pattern(*pattern) else { continue };
        if pattern.is_match(&member.name(), run.work())? {
            covered = true;
            good &= run.member::<COLLECT>(*block, member)?;
            run.mark(member.value());
        }
    }
    if covered {
        return Ok(good);
    }
    match plan.additional {
        Additional::Open => Ok(good),
        Additional::Any => {
            run.mark(member.value());
            Ok(good)
        }
        Additional::Schema(block) => {
            good &= run.member::<COLLECT>(block, member)?;
            run.mark(member.value());
            Ok(good)
        }
        Additional::None(keyword) => unexpected::<COLLECT>(run, Site { keyword, ..at }, plan, member),
    }
}

/// The object, not the member, is at fault: its schema is closed.
#[cold]
fn unexpected<'i, const COLLECT: bool>(
    run: &mut Run<'_, 'i>,
    at: Site,
    plan: &ObjectPlan,
    member: Member<'i>,
) -> Result<bool, Stop> {
    run.refuse::<COLLECT>(at, member.value(), || {
        let name = member.name();
        let declared: Vec<&str> = plan.slots.iter().map(|slot| slot.name.as_ref()).collect();
        let finding =
            Finding::new(Code::PropertyUnexpected, ["expected no member `", &name, "`, found one"].concat())
                .with("property", Detail::Text(name.clone().into_owned()))
                .at_offset(member.name_span().start);
        match advice(&name, &declared) {
            Some(help) => finding.with_help(help),
            None => finding,
        }
    })
}

/// Names listed in an advice; more are counted.
const NAMES_LISTED_MAX: usize = 12;
/// Declared members that are compared with a misspelt one.
const NAMES_COMPARED_MAX: usize = 250;
/// Bytes of a name that is still taken for a misspelling.
const NAME_BYTES_MAX: usize = 64;

/// What to say of a name that is none of those declared.
pub(crate) fn advice(name: &str, declared: &[&str]) -> Option<String> {
    let compared = if name.len() <= NAME_BYTES_MAX { NAMES_COMPARED_MAX } else { 0 };
    let known = declared.iter().take(compared).filter(|known| known.len() <= NAME_BYTES_MAX);
    let scored = known.map(|known| (strsim::jaro_winkler(name, known), known));
    let nearest = scored.filter(|(score, _)| *score >= 0.85).max_by(|(a, _), (b, _)| a.total_cmp(b));
    if let Some((_, nearest)) = nearest {
        return Some(format!("did you mean `{nearest}`?"));
    }
    match declared {
        [] => None,
        few if few.len() <= NAMES_LISTED_MAX => {
            let quoted: Vec<_> = few.iter().map(|name| format!("`{name}`")).collect();
            Some(format!("the members are {}", quoted.join(", ")))
        }
        many => Some(format!("the schema declares {} members and no others", many.len())),
    }
}
