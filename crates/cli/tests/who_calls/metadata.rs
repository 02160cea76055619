//! Where a client that has no token learns who gives out some.

use serde_json::json;

use crate::gate::{Ground, notes};
use crate::issuer::{ISSUER, Issuer};

const PATH: &str = "/.well-known/oauth-protected-resource";

#[test]
fn a_client_is_led_from_the_refusal_to_the_issuer() {
    let issuer = Issuer::new();
    let config = Issuer::config("jwks_file = \"keys.json\"", "scopes = [\"tools:call\"]");
    let ground = Ground::new(&format!("[auth]\nrequired = true\n{config}{}", notes()));
    std::fs::write(ground.path("keys.json"), issuer.keys()).expect("the keys");
    let gate = ground.serve(&[]);
    let refused = gate.list(&[]);
    let origin = format!("http://{}", gate.address);
    let expected = format!("Bearer resource_metadata=\"{origin}{PATH}/mcp\", scope=\"tools:call\"");
    assert_eq!((refused.status, refused.challenge()), (401, expected.as_str()));
    for path in [PATH.to_owned(), format!("{PATH}/mcp")] {
        let response = gate.send("GET", &path, &[], "");
        assert_eq!(response.status, 200);
        assert_eq!(response.headers["content-type"], "application/json");
        let expected = json!({
            "resource": format!("{origin}/mcp"),
            "authorization_servers": [ISSUER],
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["tools:call"],
        });
        assert_eq!(response.json(), expected);
        let foreign = gate.send("GET", &path, &[("Host", "evil.example")], "");
        assert_eq!((foreign.status, foreign.challenge()), (403, ""));
    }
    gate.end();
}

#[test]
fn the_address_that_is_written_is_the_one_that_is_told() {
    let issuer = Issuer::new();
    let config = Issuer::config("jwks_file = \"keys.json\"", "");
    let auth = "[auth]\nrequired = true\nresource = \"https://gate.example/team/mcp\"\n";
    let ground = Ground::new(&format!("{auth}{config}{}", notes()));
    std::fs::write(ground.path("keys.json"), issuer.keys()).expect("the keys");
    let gate = ground.serve(&[]);
    let place = "https://gate.example/.well-known/oauth-protected-resource/team/mcp";
    assert_eq!(gate.list(&[]).challenge(), format!("Bearer resource_metadata=\"{place}\""));
    let document = gate.send("GET", PATH, &[], "").json();
    assert_eq!(document["resource"], "https://gate.example/team/mcp");
    gate.end();
}

#[test]
fn nothing_is_told_of_an_issuer_where_there_is_none() {
    let ground = Ground::new(&format!("[auth]\nrequired = true\n{}", notes()));
    let gate = ground.serve(&[]);
    assert_eq!(gate.send("GET", PATH, &[], "").status, 404);
    assert_eq!(gate.list(&[]).challenge(), "Bearer");
    gate.end();
}
