//! What the stages of a call take by themselves: from the catalog to the dispatch, with the journal in memory, so that
//! neither a disk nor a tool server takes part.

use std::time::Instant;

use anyhow::{anyhow, bail};
use callgate_gateway::Journal as _;
use callgate_gateway::budget::BudgetSet;
use callgate_gateway::call::{Call, Departure, Dispatch, Terms, resolve};
use callgate_gateway::catalog::{AdmissionSettings, Catalog, admit_tool};
use callgate_gateway::intent::Observation;
use callgate_gateway::journal::MemoryJournal;
use callgate_gateway::policy::{Claims, Effect, RuleSet, RuleSpec};
use callgate_schema::{Limits, Profile};
use callgate_wire::{Incarnation, IntentId, Principal, Timestamp};

/// Calls of each case.
const CALLS: u32 = 20_000;

/// The cases of `bench/cases`, by the size of their arguments: the middle one is like the median tool of public servers.
const CASES: &[(&str, &str, &str)] = &[
    ("flat3", include_str!("../cases/flat3/schema.json"), include_str!("../cases/flat3/valid.json")),
    ("tree", include_str!("../cases/tree/schema.json"), include_str!("../cases/tree/valid.json")),
    ("todo", include_str!("../cases/todo/schema.json"), include_str!("../cases/todo/valid.json")),
    ("write16k", include_str!("../cases/write16k/schema.json"), include_str!("../cases/write16k/valid.json")),
];

/// Measures and prints.
///
/// # Errors
/// A case that is not admitted or whose call does not pass.
pub fn run() -> anyhow::Result<()> {
    println!("nanoseconds from the catalog to the dispatch, {CALLS} calls each, journal in memory\n");
    println!("{:<12}{:>8}{:>10}{:>10}{:>16}{:>10}", "case", "bytes", "p50", "p99", "three rules p50", "p99");
    for (name, schema, arguments) in CASES {
        let none = times(schema, arguments, &RuleSet::none())?;
        let rules = times(schema, arguments, &three_rules()?)?;
        let of = |times: &[f64], percent| crate::percentile(times, percent);
        println!(
            "{name:<12}{:>8}{:>10.0}{:>10.0}{:>16.0}{:>10.0}",
            arguments.len(),
            of(&none, 50),
            of(&none, 99),
            of(&rules, 50),
            of(&rules, 99)
        );
    }
    Ok(())
}

fn three_rules() -> anyhow::Result<RuleSet> {
    let guarded = RuleSpec {
        when: Some(r#"{"required": ["no such member"]}"#.into()),
        ..RuleSpec::new("guarded", Effect::Forbid, "*")
    };
    let rules = vec![
        RuleSpec::new("others", Effect::Forbid, "other/*"),
        guarded,
        RuleSpec::new("all", Effect::Permit, "*"),
    ];
    Ok(RuleSet::compile(rules, Vec::new(), &Limits::default())?)
}

fn times(schema: &str, arguments: &str, rules: &RuleSet) -> anyhow::Result<Vec<f64>> {
    let settings = AdmissionSettings::new(Profile::Standard);
    let tool = format!("{{\"name\":\"t\",\"inputSchema\":{schema}}}");
    let catalog = Catalog::publish(1, "u", vec![admit_tool(tool.as_bytes(), 0, &settings)]);
    let ada = Principal::local("ada");
    let (claims, budgets) = (Claims::local(&ada), BudgetSet::none());
    let journal = MemoryJournal::new(Incarnation::from_bytes([1; 16]));
    let mut times = Vec::new();
    for number in 0..CALLS {
        let mut id = [0; 16];
        id[..4].copy_from_slice(&number.to_be_bytes());
        let begun = Instant::now();
        let call = Call { principal: &ada, run: Some("run"), tool: "t", arguments: arguments.as_bytes() };
        let dispatch = dispatched(&catalog, call, rules, &claims, &budgets, &journal, id, &settings)?;
        times.push(begun.elapsed().as_secs_f64() * 1e9);
        let result = Observation::Result { is_error: false, bytes: 2, breaks_output: false };
        journal.settle(&dispatch.intent().id, &dispatch.observe(result, Timestamp(2)), None)?;
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

#[expect(clippy::too_many_arguments, reason = "what a call meets on its way")]
fn dispatched(
    catalog: &Catalog,
    call: Call<'_>,
    rules: &RuleSet,
    claims: &Claims,
    budgets: &BudgetSet,
    journal: &MemoryJournal,
    id: [u8; 16],
    settings: &AdmissionSettings,
) -> anyhow::Result<Dispatch> {
    let refused = |refusal: callgate_gateway::Refusal| anyhow!("{}", refusal.message);
    let bound =
        resolve(catalog, call).and_then(|resolved| resolved.bind(&settings.limits)).map_err(refused)?;
    let authorized = bound.authorize(rules, claims).map_err(refused)?;
    let at = Timestamp(1);
    let terms = Terms {
        charges: authorized.charges(budgets, at).map_err(refused)?,
        ..Terms::new(IntentId::from_bytes(id), journal.incarnation().clone(), at)
    };
    match authorized.open(terms).commit(journal) {
        Ok(Departure::Go(dispatch)) => Ok(*dispatch),
        Ok(Departure::Known(..)) => bail!("no call has a key"),
        Err((refusal, _)) => Err(refused(*refusal)),
    }
}
