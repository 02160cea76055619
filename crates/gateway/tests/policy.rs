//! Laws of decisions, and the words that callers get. What each rule does is in `cases/policy.jsonl`.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its rules shall stop")]

use callgate_gateway::budget::{BudgetSet, BudgetSpec, Unit};
use callgate_gateway::call::{Authorized, Call, Departure, Terms, resolve};
use callgate_gateway::catalog::{AdmissionSettings, Catalog, admit_tool};
use callgate_gateway::journal::MemoryJournal;
use callgate_gateway::policy::{
    Claims, Effect, EqualSpec, Glob, PinnedAnnotations, Question, RuleSet, RuleSpec, Target, ToolSpec,
};
use callgate_gateway::{Code, Refusal};
use callgate_schema::json::Document;
use callgate_schema::{Limits, Profile};
use callgate_wire::{Incarnation, IntentId, Principal, Stage, Timestamp};
use proptest::prelude::*;

const TOOL: &str = r#"{"name":"pay","inputSchema":{"type":"object","properties":{"amount":{"type":"integer"},
"owner":{"type":"string"}},"required":["amount"]}}"#;
const REFUSED: &str = r#"{"name":"odd","inputSchema":{"type":"object","nmae":1}}"#;

fn rules(specs: Vec<RuleSpec>) -> RuleSet {
    RuleSet::compile(specs, Vec::new(), &Limits::default()).unwrap()
}

fn catalog() -> Catalog {
    let settings = AdmissionSettings::new(Profile::Standard);
    let admit = |(at, raw): (usize, &&str)| admit_tool(raw.as_bytes(), at, &settings);
    Catalog::publish(1, "bank", [TOOL, REFUSED].iter().enumerate().map(admit).collect())
}

/// Passes the stages to the decision, and hands on what came of it.
fn check_call<T>(
    principal: &Principal,
    rules: &RuleSet,
    tool: &str,
    arguments: &str,
    then: impl FnOnce(Authorized<'_>) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let call = Call { principal, run: None, tool, arguments: arguments.as_bytes() };
    let bound = resolve(&catalog(), call)?.bind(&Limits::default())?;
    then(bound.authorize(rules, &Claims::local(principal))?)
}

/// Goes on to the journal, which keeps nothing from before.
fn leave(authorized: Authorized<'_>, terms: impl FnOnce(Terms) -> Terms) -> Result<Departure, Refusal> {
    let fence = Incarnation::from_bytes([2; 16]);
    let plain = Terms::new(IntentId::from_bytes([1; 16]), fence.clone(), Timestamp(3));
    authorized.open(terms(plain)).commit(&MemoryJournal::new(fence)).map_err(|(refusal, _)| *refusal)
}

fn told(rules: &RuleSet, arguments: &str) -> String {
    match check_call(&Principal::local("ada"), rules, "pay", arguments, |authorized| {
        let decision = authorized.decision().clone();
        leave(authorized, |terms| terms).map(|_| decision)
    }) {
        Ok(decision) => format!("{} by {:?}", decision.effect, decision.determining),
        Err(refusal) => {
            let determining = refusal.determining.join(" ");
            format!("[{} {} {determining}]\n{}", refusal.stage, refusal.class(), refusal.text_for_model(3))
        }
    }
}

fn conditional(id: &str, effect: Effect, when: &str) -> RuleSpec {
    RuleSpec { when: Some(when.to_owned()), ..RuleSpec::new(id, effect, "bank/*") }
}

#[test]
fn a_refusal_names_the_rules_and_says_what_may_pass() {
    let forbid = RuleSpec::new("no-payments", Effect::Forbid, "*/pay");
    let large = conditional("large", Effect::Forbid, r#"{"properties":{"amount":{"minimum":100}}}"#);
    let own = RuleSpec {
        equal: vec![EqualSpec { argument: "/owner".into(), claim: "sub".into() }],
        ..RuleSpec::new("own", Effect::Permit, "bank/*")
    };
    let both = vec![RuleSpec::new("all", Effect::Permit, "*"), large];
    let sets = [
        ("forbidden, whatever the arguments", vec![forbid.clone()], 5),
        ("forbidden for its arguments", both.clone(), 500),
        ("permitted with others", both, 5),
        (
            "not permitted with these",
            vec![conditional("small", Effect::Permit, r#"{"properties":{"amount":{"maximum":100}}}"#)],
            500,
        ),
        ("permitted by nobody", vec![RuleSpec::new("other", Effect::Permit, "notes/*")], 5),
        ("not decidable", vec![own], 5),
        (
            "in the operator's words",
            vec![RuleSpec { reason: Some("payments are made on Fridays".into()), ..forbid }],
            5,
        ),
        ("asked about", vec![RuleSpec::new("ask-first", Effect::Ask, "bank/pay")], 5),
        (
            "asked about, in the operator's words",
            vec![RuleSpec {
                reason: Some("payments are looked at on Fridays".into()),
                ..RuleSpec::new("ask-first", Effect::Ask, "bank/pay")
            }],
            5,
        ),
        (
            "forbidden by many",
            (0..9).map(|n| RuleSpec::new(format!("rule-{n}"), Effect::Forbid, "*")).collect(),
            5,
        ),
    ];
    let said = sets.map(|(what, specs, amount)| {
        format!("--- {what}\n{}", told(&rules(specs), &format!(r#"{{"amount":{amount}}}"#)))
    });
    insta::assert_snapshot!(said.join("\n\n"));
}

#[test]
fn no_message_holds_a_value_of_the_arguments() {
    let when = r#"{"properties":{"owner":{"pattern":"^(?=(a+)+$)b"}}}"#;
    let text = told(
        &rules(vec![conditional("r", Effect::Permit, when)]),
        &format!(r#"{{"amount":5,"owner":"{}c"}}"#, "a".repeat(60)),
    );
    assert!(text.contains("could not be evaluated") && text.contains("work"), "{text}");
    assert!(!text.contains("aaaa"), "{text}");
}

/// Scenario A1 and D6: nothing is granted.
#[test]
fn where_no_rule_grants_a_tool_its_call_is_forbidden() {
    let none = rules(vec![RuleSpec::new("r", Effect::Permit, "bank/other")]);
    let refusal =
        check_call(&Principal::local("ada"), &none, "pay", r#"{"amount":1}"#, |_| Ok(())).unwrap_err();
    assert_eq!((refusal.code, refusal.determining), (Code::CallForbidden, vec!["default-deny".to_owned()]));
}

/// Scenario D5.
#[test]
fn what_a_rule_grants_to_the_caller_is_authorized() {
    let granted = rules(vec![RuleSpec::new("r", Effect::Permit, "bank/pay")]);
    let decision = check_call(&Principal::local("ada"), &granted, "pay", r#"{"amount":1}"#, |it| {
        Ok(it.decision().clone())
    });
    assert_eq!(decision.unwrap().determining, ["r"]);
}

/// Scenarios A5, A6, A9 and A11: what a tool is comes before its arguments, and both come before the rules.
#[test]
fn the_schema_and_the_arguments_come_before_the_rules() {
    let nothing = rules(vec![RuleSpec::new("r", Effect::Forbid, "*")]);
    let ada = Principal::local("ada");
    for (tool, arguments, code, stage) in [
        ("odd", "nonsense", Code::CallToolQuarantined, Stage::Resolve),
        ("none", "nonsense", Code::CallUnknownTool, Stage::Resolve),
        ("pay", "nonsense", Code::CallArgumentsInvalid, Stage::Bind),
        ("pay", r#"{"amount":"1"}"#, Code::CallArgumentsInvalid, Stage::Bind),
        ("pay", r#"{"amount":1}"#, Code::CallForbidden, Stage::Authorize),
    ] {
        let refusal = check_call(&ada, &nothing, tool, arguments, |_| Ok(())).unwrap_err();
        assert_eq!((refusal.code, refusal.stage), (code, stage), "{tool} {arguments}");
    }
}

/// Scenario A13: a call on behalf of nobody, with rules and without.
#[test]
fn nobody_may_call_nothing() {
    for rules in [RuleSet::none(), rules(vec![RuleSpec::new("r", Effect::Permit, "*")])] {
        let refusal = check_call(&Principal::from_stored(""), &rules, "pay", r#"{"amount":1}"#, |_| Ok(()))
            .unwrap_err();
        assert_eq!(refusal.determining, ["no-principal"]);
    }
}

/// Scenario B3 and the order of B: what needs an approval says so before anything is taken from a budget, and scenario A7:
/// what is charged follows from arguments that were checked.
#[test]
fn an_approval_comes_before_the_budget() {
    let requires = ToolSpec { name: "*".into(), requires_approval: Some(true), ..ToolSpec::default() };
    let ask = RuleSet::compile(Vec::new(), vec![requires], &Limits::default()).unwrap();
    let none = BudgetSet::compile(vec![BudgetSpec::new("none", Unit::Calls, 0)]).unwrap();
    for (rules, code) in [(ask, Code::ApprovalRequired), (RuleSet::none(), Code::BudgetExceeded)] {
        let refusal = check_call(&Principal::local("ada"), &rules, "pay", r#"{"amount":1}"#, |authorized| {
            let charges = authorized.charges(&none, Timestamp(3))?;
            leave(authorized, |terms| Terms { charges, ..terms })
        })
        .unwrap_err();
        assert_eq!(refusal.code, code);
    }
}

/// What the operator vouches for is what the record says, and what the rules see.
#[test]
fn what_is_pinned_of_a_tool_is_in_the_record_of_its_call() {
    let annotations = PinnedAnnotations { read_only: Some(true), ..PinnedAnnotations::default() };
    let pinned = ToolSpec { name: "bank/pay".into(), annotations, ..ToolSpec::default() };
    let rules = RuleSet::compile(Vec::new(), vec![pinned], &Limits::default()).unwrap();
    let departure = check_call(&Principal::local("ada"), &rules, "pay", r#"{"amount":1}"#, |authorized| {
        leave(authorized, |terms| terms)
    });
    let Ok(Departure::Go(dispatch)) = departure else { panic!("it may leave") };
    assert!(dispatch.intent().pinned.read_only && !dispatch.intent().pinned.idempotent);
}

fn effect() -> impl Strategy<Value = Effect> {
    prop_oneof![Just(Effect::Permit), Just(Effect::Ask), Just(Effect::Forbid)]
}

fn spec(index: usize) -> impl Strategy<Value = RuleSpec> {
    let targets = prop_oneof![Just("*"), Just("bank/*"), Just("bank/pay"), Just("notes/*")];
    let when = prop_oneof![
        Just(None),
        Just(Some(r#"{"properties":{"amount":{"maximum":10}}}"#)),
        Just(Some(r#"{"required":["owner"]}"#))
    ];
    let equal =
        prop::option::weighted(0.2, Just(EqualSpec { argument: "/owner".into(), claim: "sub".into() }));
    (effect(), targets, when, equal).prop_map(move |(effect, target, when, equal)| RuleSpec {
        when: when.map(str::to_owned),
        equal: equal.into_iter().collect(),
        ..RuleSpec::new(format!("r{index}"), effect, target)
    })
}

fn specs() -> impl Strategy<Value = Vec<RuleSpec>> {
    (0..5_usize).prop_flat_map(|count| (0..count).map(spec).collect::<Vec<_>>())
}

fn decided(rules: &RuleSet, arguments: &str) -> (Effect, Vec<String>) {
    let ada = Principal::local("ada");
    let arguments = Document::read(arguments.as_bytes(), &Limits::default().arguments_text()).unwrap();
    let question = Question {
        principal: &ada,
        claims: &Claims::local(&ada),
        target: Target::tool("bank", "pay"),
        arguments: arguments.root(),
    };
    let decision = rules.judge(&question).decision;
    (decision.effect, decision.determining)
}

const ARGUMENTS: [&str; 4] = [
    r#"{"amount":5}"#,
    r#"{"amount":50}"#,
    r#"{"amount":5,"owner":"ada"}"#,
    r#"{"amount":50,"owner":"bob"}"#,
];

proptest! {
    #[test]
    fn a_further_rule_that_forbids_never_permits(specs in specs(), target in "(bank/pay|notes/x)", at in 0..4_usize) {
        prop_assume!(!specs.is_empty());
        let before = decided(&rules(specs.clone()), ARGUMENTS[at]).0;
        let mut more = specs;
        more.push(RuleSpec::new("more", Effect::Forbid, target));
        prop_assert!(decided(&rules(more), ARGUMENTS[at]).0 >= before);
    }

    #[test]
    fn the_order_of_rules_decides_nothing(specs in specs(), at in 0..4_usize) {
        let reversed: Vec<RuleSpec> = specs.iter().rev().cloned().collect();
        let (forth, back) = (rules(specs), rules(reversed));
        prop_assert_eq!(forth.digest(), back.digest());
        let (one, mut other) = (decided(&forth, ARGUMENTS[at]), decided(&back, ARGUMENTS[at]));
        other.1.reverse();
        prop_assert_eq!(one, other);
    }

    #[test]
    fn a_rule_that_determines_is_one_of_the_set_and_says_so(specs in specs(), at in 0..4_usize) {
        let (effect, determining) = decided(&rules(specs.clone()), ARGUMENTS[at]);
        for id in &determining {
            match specs.iter().find(|spec| spec.id == *id) {
                Some(spec) => prop_assert!(spec.effect == effect || !spec.equal.is_empty()),
                None => prop_assert!(id == "no-rules" || id == "default-deny"),
            }
        }
    }

    #[test]
    fn a_pattern_matches_as_a_plain_matcher_has_it(pattern in "[ab*]{1,8}", name in "[ab]{0,10}") {
        fn plain(pattern: &[u8], name: &[u8]) -> bool {
            match (pattern.first(), name.first()) {
                (None, None) => true,
                (Some(b'*'), _) => plain(&pattern[1..], name) || (!name.is_empty() && plain(pattern, &name[1..])),
                (Some(p), Some(n)) if p == n => plain(&pattern[1..], &name[1..]),
                _ => false,
            }
        }
        prop_assert_eq!(Glob::parse(&pattern).unwrap().matches(&name), plain(pattern.as_bytes(), name.as_bytes()));
    }
}
