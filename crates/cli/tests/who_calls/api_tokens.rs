//! API tokens: who has one calls under its name, and who has none does not call.

use serde_json::json;

use crate::gate::{Gate, Ground, notes};

const REQUIRED: &str = "[auth]\nrequired = true\n";

#[test]
fn who_shows_nothing_or_something_else_is_refused_with_a_challenge() {
    let ground = Ground::new(&format!("{REQUIRED}{}", notes()));
    let token = ground.token("build");
    let (good, gate) = (format!("Bearer {token}"), ground.serve(&[]));
    let refusal = |authorization: &[&str]| {
        let response = gate.list(authorization);
        assert!(!response.body.contains("tools"), "{response:?}");
        (response.status, response.challenge().to_owned())
    };
    let invalid = (401, "Bearer error=\"invalid_token\"".to_owned());
    assert_eq!(refusal(&[]), (401, "Bearer".to_owned()));
    assert_eq!(refusal(&["Basic YTpi"]), invalid);
    assert_eq!(refusal(&[&token]), invalid, "no scheme");
    assert_eq!(refusal(&["Bearer cg_00"]), invalid);
    assert_eq!(refusal(&[good.get(..good.len() - 1).expect("a text")]), invalid);
    assert_eq!(refusal(&[&good.to_uppercase()]), invalid);
    assert_eq!(refusal(&["Bearer a.b.c"]), invalid, "no issuer is known");
    assert_eq!(refusal(&[&good, &good]), (400, "Bearer error=\"invalid_request\"".to_owned()));
    assert_eq!(gate.list(&[&good]).status, 200);
    assert_eq!(gate.list(&[&good.replace("Bearer", "bearer")]).status, 200);
    // Other methods are refused as well, and before anybody is told what there is.
    for method in ["GET", "DELETE", "PUT"] {
        assert_eq!(gate.send(method, "/mcp", &[], "").status, 401, "{method}");
    }
    let in_the_address = gate.send("POST", &format!("/mcp?access_token={token}"), &[], "{}");
    assert_eq!(in_the_address.status, 401, "a token in an address is in logs of proxies");
    gate.end();
}

#[test]
fn a_token_calls_under_its_name_until_it_is_revoked() {
    let rules =
        "[[rules]]\nid = \"build\"\neffect = \"permit\"\nprincipals = [\"token:build\"]\ntools = [\"*\"]\n";
    let ground = Ground::new(&format!("{REQUIRED}{rules}{}", notes()));
    let gate = ground.serve(&[]);
    // Made while the gate runs.
    let (build, other) = (ground.token("build"), ground.token("other"));
    let call = |token: &str| gate.call(token, "list_notes", &json!({}));
    let done = call(&build);
    assert_eq!(done.json()["result"]["_meta"]["dev.callgate/call"]["side_effect"], "done", "{done:?}");
    let forbidden = call(&other).json();
    let code = &forbidden["result"]["_meta"]["dev.callgate/refusal"]["code"];
    assert_eq!(code, "call-forbidden", "{forbidden}");
    assert!(ground.run(&["tokens", "revoke", "build"]).status.success());
    assert_eq!(call(&build).status, 401);
    assert_eq!(call(&other).status, 200);
    let intents = ground.intents();
    assert!(intents.contains("\"token:build\"") && !intents.contains("\"token:other\""), "{intents}");
    gate.end();
}

#[test]
fn a_local_client_may_show_nothing_but_nothing_false() {
    let ground = Ground::new(&notes());
    let token = ground.token("build");
    let gate = ground.serve(&[]);
    assert_eq!(gate.list(&[]).status, 200);
    assert_eq!(gate.list(&["Bearer cg_00"]).status, 401, "it is not taken for nobody");
    assert_eq!(gate.call(&token, "list_notes", &json!({})).status, 200);
    assert_eq!(gate.ask(&[], "tools/call", &json!({"name": "list_notes", "arguments": {}})).status, 200);
    let intents = ground.intents();
    assert!(intents.contains("\"token:build\"") && intents.contains("\"local:"), "{intents}");
    gate.end();
}

#[test]
fn a_session_is_that_of_whoever_began_it() {
    let ground = Ground::new(&format!("{REQUIRED}{}", notes()));
    let (ada, bob) = (ground.token("ada"), ground.token("bob"));
    let gate = ground.serve(&[]);
    let session = begin(&gate, &ada);
    let status = |method: &str, token: Option<&str>| {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let mut headers = vec![("Content-Type", "application/json"), ("Mcp-Session-Id", session.as_str())];
        headers.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        gate.send(method, "/mcp", &headers, if method == "POST" { body } else { "" }).status
    };
    assert_eq!(status("POST", Some(&ada)), 200);
    for method in ["POST", "GET", "DELETE"] {
        assert_eq!(status(method, Some(&bob)), 404, "{method}");
        assert_eq!(status(method, None), 401, "{method}");
    }
    assert_eq!(status("POST", Some(&ada)), 200, "nobody else has ended it");
    assert_eq!(status("DELETE", Some(&ada)), 204);
    assert_eq!(status("POST", Some(&ada)), 404);
    gate.end();
}

fn begin(gate: &Gate, token: &str) -> String {
    let bearer = format!("Bearer {token}");
    let headers = [("Content-Type", "application/json"), ("Authorization", bearer.as_str())];
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}});
    let response = gate.send("POST", "/mcp", &headers, &body.to_string());
    response.headers.get("mcp-session-id").unwrap_or_else(|| panic!("no session: {response:?}")).clone()
}
