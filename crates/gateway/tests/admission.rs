//! Which tools are admitted: the rows of `cases/admission.jsonl`.

use callgate_gateway::ContractChange;
use callgate_gateway::catalog::{
    AdmissionSettings, AdmittedTool, Catalog, Lookup, OutputContract, QuarantinedTool, admit_tools,
};
use callgate_schema::Profile;
use callgate_wire::Code;
use serde_json::{Value, json};

fn publish(definitions: &[&str]) -> Catalog {
    let settings = AdmissionSettings::new(Profile::Standard);
    let admissions = admit_tools(definitions.iter().map(|raw| raw.as_bytes()), &settings);
    Catalog::publish(7, "upstream", admissions)
}

fn texts<'a>(value: &'a Value, member: &str) -> Vec<&'a str> {
    value[member].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn output(tool: &AdmittedTool) -> &'static str {
    match tool.output {
        OutputContract::Undeclared => "undeclared",
        OutputContract::Enforced(_) => "enforced",
        OutputContract::Unchecked(_) => "unchecked",
    }
}

#[test]
fn every_row_is_admitted_or_quarantined_as_it_says() {
    for line in include_str!("../../../cases/admission.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let name = row["name"].as_str().unwrap();
        let definitions = texts(&row, "definitions");
        let catalog = publish(&definitions);
        let admitted: Vec<&str> = catalog.admitted().iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(admitted, texts(&row, "admitted"), "{name}");
        let quarantined: Vec<Value> = catalog
            .quarantined()
            .iter()
            .map(|tool| {
                let finding = tool.findings.first().map(|finding| finding.code.as_str());
                json!({"label": tool.label(), "code": tool.code.as_str(), "finding": finding})
            })
            .collect();
        assert_eq!(Value::from(quarantined), row.get("quarantined").cloned().unwrap_or(json!([])), "{name}");
        if let Some(expected) = row["output"].as_str() {
            assert_eq!(output(&catalog.admitted()[0]), expected, "{name}");
        }
        for tool in catalog.admitted() {
            assert!(
                definitions.iter().any(|raw| raw.as_bytes() == &*tool.definition),
                "{name}: the bytes are kept"
            );
            assert!(matches!(catalog.tool(&tool.name), Lookup::Admitted(found) if found.name == tool.name));
        }
        for tool in catalog.quarantined() {
            if let Some(tool_name) = &tool.name {
                assert!(matches!(catalog.tool(tool_name), Lookup::Quarantined(_)), "{name}");
            }
        }
        assert!(matches!(catalog.tool("no such tool"), Lookup::Unknown));
    }
}

#[test]
fn the_contract_covers_the_whole_definition_and_not_its_spelling() {
    let digest = |definition| publish(&[definition]).admitted()[0].contract_digest;
    let plain = digest(r#"{"name":"a","description":"d","inputSchema":{}}"#);
    assert_eq!(plain, digest(r#" { "inputSchema" : {}, "description":"\u0064", "name":"a" } "#));
    assert_ne!(plain, digest(r#"{"name":"a","description":"e","inputSchema":{}}"#));
    assert_ne!(plain, digest(r#"{"name":"a","description":"d","inputSchema":{},"_meta":{}}"#));
}

#[test]
fn a_definition_over_a_limit_is_quarantined_in_bounded_time_and_named() {
    let deep =
        format!(r#"{{"name":"deep","x":{}{},"inputSchema":{{}}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let catalog = publish(&[&deep]);
    let tool = &catalog.quarantined()[0];
    assert_eq!((tool.name.as_deref(), tool.code.as_str()), (Some("deep"), "tool-definition-malformed"));
    assert_eq!(tool.findings[0].code.as_str(), "limit-exceeded");
}

#[test]
fn the_patterns_of_all_tools_have_a_maximum_together() {
    // A mebibyte of patterns each, and none that is small for itself.
    let tool = |number: usize| {
        let pattern = |i: usize| format!(r#""p{i}":{{"pattern":"^(a{{1,14000}}|{number}-{i})$"}}"#);
        let properties: Vec<String> = (0..6).map(pattern).collect();
        format!(
            r#"{{"name":"t{number}","inputSchema":{{"type":"object","properties":{{{}}}}}}}"#,
            properties.join(",")
        )
    };
    let mut definitions: Vec<String> = (0..80).map(tool).collect();
    definitions.push(r#"{"name":"small","inputSchema":{"type":"object"}}"#.to_owned());
    let catalog = publish(&definitions.iter().map(String::as_str).collect::<Vec<_>>());
    assert!((60..=67).contains(&catalog.admitted().len()), "{}", catalog.admitted().len());
    assert_eq!(catalog.admitted().last().unwrap().name, "small", "who has none is not beyond it");
    let beyond = &catalog.quarantined()[0];
    assert_eq!(beyond.findings[0].code.as_str(), "limit-exceeded");
    assert!(beyond.reason().contains("67108864"), "{}", beyond.reason());
}

#[test]
fn a_tool_that_is_held_is_released_in_its_place_and_by_its_digest_alone() {
    let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{}}}}"#);
    let (a, b, c, d) = (tool("a"), tool("b"), tool("c"), tool("d"));
    let mut catalog = publish(&[&a, "7", &b, &c, &d]);
    let names = |catalog: &Catalog| {
        let admitted = catalog.admitted().iter().map(|tool| tool.name.clone()).collect::<String>();
        let quarantined = catalog.quarantined().iter().map(QuarantinedTool::label).collect::<String>();
        (admitted, quarantined)
    };
    let digest = |catalog: &Catalog, name: &str| match catalog.tool(name) {
        Lookup::Admitted(tool) => tool.contract_digest,
        Lookup::Quarantined(_) | Lookup::Unknown => catalog.held(name).unwrap(),
    };
    let [was_a, was_c] = ["a", "c"].map(|name| digest(&catalog, name));
    let change =
        |name: &str| ContractChange { tool: name.to_owned(), before: was_a, now: digest(&catalog, name) };
    let changes = ["b", "c"].map(change);
    catalog.hold(&changes);
    assert_eq!(names(&catalog), ("ad".into(), "#1bc".into()));
    assert!(matches!(catalog.tool("c"), Lookup::Quarantined(tool) if tool.code == Code::ToolContractChanged));
    assert!(matches!(catalog.tool("d"), Lookup::Admitted(tool) if tool.name == "d"));
    for (name, digest) in [("c", was_a), ("a", was_a), ("#1", was_a), ("x", was_c)] {
        assert!(catalog.release(name, digest).is_none(), "{name}");
    }
    let released = catalog.release("c", was_c).unwrap();
    assert_eq!(names(&released), ("acd".into(), "#1b".into()));
    assert!(matches!(released.tool("c"), Lookup::Admitted(tool) if tool.contract_digest == was_c));
    assert_eq!(
        (names(&catalog).0.as_str(), released.held("c")),
        ("ad", None),
        "the snapshot before is as it was"
    );
    let all = released.release("b", digest(&catalog, "b")).unwrap();
    assert_eq!(names(&all), ("abcd".into(), "#1".into()));
    // Held again after that, as if nothing had been.
    let mut again = all;
    again.hold(&changes);
    assert_eq!(names(&again), ("ad".into(), "#1bc".into()));
}
