//! Tokens of an issuer: each that is not good is refused, with what the client can do about it.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::gate::{Gate, Ground, notes};
use crate::issuer::{AUDIENCE, ISSUER, Issuer, LATER, claims, serve_keys};

/// A gate that takes tokens of this issuer, whose keys are in a file.
fn ground(issuer: &Issuer, more: &str, rules: &str) -> Ground {
    let config = Issuer::config("jwks_file = \"keys.json\"", more);
    let ground = Ground::new(&format!("{config}{rules}{}", notes()));
    std::fs::write(ground.path("keys.json"), issuer.keys()).expect("the keys");
    ground
}

fn asked(gate: &Gate, token: &str) -> (u16, String) {
    let response = gate.list(&[&format!("Bearer {token}")]);
    (response.status, response.challenge().to_owned())
}

#[test]
fn a_token_is_good_in_each_permitted_form() {
    let issuer = Issuer::new();
    let ground = ground(&issuer, "algorithms = [\"ES256\", \"ES384\", \"EdDSA\"]", "");
    let gate = ground.serve(&[]);
    let good = claims(&json!({})).to_string();
    for head in [
        json!({"alg": "ES256", "kid": "p256"}),
        json!({"alg": "ES384", "kid": "p384"}),
        json!({"alg": "EdDSA", "kid": "ed"}),
        json!({"alg": "ES256"}),
    ] {
        assert_eq!(asked(&gate, &issuer.sign(&head, &good)).0, 200, "{head}");
    }
    for more in
        [json!({"aud": [AUDIENCE, "https://other.example"]}), json!({"nbf": 1}), json!({"scope": "x"})]
    {
        assert_eq!(asked(&gate, &issuer.token(&claims(&more))).0, 200, "{more}");
    }
    gate.end();
}

#[test]
fn a_token_with_wrong_claims_is_refused() {
    let issuer = Issuer::new();
    let ground = ground(&issuer, "", "");
    let gate = ground.serve(&[]);
    let refused = |token: &str, reason: &str, why: &str| {
        let response = gate.list(&[&format!("Bearer {token}")]);
        assert_eq!((response.status, response.body.trim_end()), (401, reason), "{why}");
        let place = format!("http://{}/.well-known/oauth-protected-resource/mcp", gate.address);
        let expected = format!("Bearer error=\"invalid_token\", resource_metadata=\"{place}\"");
        assert_eq!(response.challenge(), expected, "{why}");
    };
    let missing = "the token has not each of `exp`, `iss`, `aud` and `sub`";
    let (expired, early) = ("the token has expired", "the token is not good yet");
    let (audience, other) = ("the token is meant for another audience", "the token is of another issuer");
    let nobody = "the subject of the token is no name";
    for (more, reason) in [
        (json!({"exp": 1}), expired),
        (json!({"exp": null}), missing),
        (json!({"exp": "never"}), missing),
        (json!({"nbf": LATER}), early),
        (json!({"aud": null}), missing),
        (json!({"aud": "https://other.example/mcp"}), audience),
        (json!({"aud": format!("{AUDIENCE}/")}), audience),
        (json!({"aud": []}), audience),
        (json!({"iss": null}), missing),
        (json!({"iss": "https://other.example"}), other),
        (json!({"iss": format!("{ISSUER}/")}), other),
        (json!({"iss": [ISSUER, "https://other.example"]}), other),
        (json!({"sub": null}), missing),
        (json!({"sub": ""}), nobody),
        (json!({"sub": 7}), missing),
        (json!({"sub": "a\nb"}), nobody),
        (json!({"sub": "a".repeat(256)}), nobody),
        (json!({"more": "a".repeat(17 << 10)}), "the token is too long"),
    ] {
        refused(
            &issuer.token(&claims(&more)),
            reason,
            &more.to_string().chars().take(80).collect::<String>(),
        );
    }
    let head = json!({"alg": "ES256", "kid": "p256"});
    let twice = claims(&json!({})).to_string().replacen('{', "{\"tenant\":1,\"tenant\":2,", 1);
    refused(
        &issuer.sign(&head, &twice),
        "the claims of the token cannot be read",
        "a claim that is there twice",
    );
    for (text, why) in [("[]", "claims that are no object"), ("{", "claims that are no JSON")] {
        refused(&issuer.sign(&head, text), "the token cannot be read", why);
    }
    gate.end();
}

#[test]
fn a_token_that_the_issuer_has_not_signed_so_is_refused() {
    let (issuer, other) = (Issuer::new(), Issuer::new());
    let ground = ground(&issuer, "algorithms = [\"ES256\", \"EdDSA\"]", "");
    let gate = ground.serve(&[]);
    let good = claims(&json!({})).to_string();
    let head = json!({"alg": "ES256", "kid": "p256"});
    assert_eq!(asked(&gate, &issuer.sign(&head, &good)).0, 200);
    let refused = |token: &str, reason: &str, why: &str| {
        let response = gate.list(&[&format!("Bearer {token}")]);
        assert_eq!((response.status, response.body.trim_end()), (401, reason), "{why}");
        assert!(response.challenge().starts_with("Bearer error=\"invalid_token\""), "{why}: {response:?}");
    };
    let algorithm = "the token is signed with an algorithm that is not taken here";
    let key = "the token is signed with a key that is not the issuer's";
    let (signature, unread) = ("the signature of the token is not good", "the token cannot be read");
    for (head, reason) in [
        (json!({"alg": "none"}), unread),
        (json!({"alg": "None", "kid": "p256"}), unread),
        (json!({"alg": "HS256", "kid": "p256"}), algorithm),
        (json!({"alg": "ES384", "kid": "p384"}), algorithm),
        (json!({"alg": "EdDSA", "kid": "p256"}), key),
        (json!({"alg": "ES256", "kid": "p384"}), key),
        (json!({"alg": "ES256", "kid": "other"}), key),
        (json!({"alg": "ES256", "kid": "p256", "crit": ["exp"]}), unread),
        (json!({"alg": "ES256", "kid": "p256", "b64": false, "crit": ["b64"]}), unread),
        (json!({"kid": "p256"}), unread),
    ] {
        refused(&issuer.sign(&head, &good), reason, &head.to_string());
    }
    refused(&other.sign(&head, &good), signature, "the key of another issuer");
    // What a token brings along is not believed.
    let own: Value = serde_json::from_str(&other.keys()).expect("JSON");
    let head_with_key = json!({"alg": "ES256", "kid": "p256", "jwk": own["keys"][0]});
    refused(&other.sign(&head_with_key, &good), signature, "its own key in its head");
    let (one, two) = (issuer.sign(&head, &good), issuer.token(&claims(&json!({"sub": "bob"}))));
    let parts = |token: &str| token.split('.').map(str::to_owned).collect::<Vec<_>>();
    let (one, two) = (parts(&one), parts(&two));
    refused(&format!("{}.{}.{}", one[0], two[1], one[2]), signature, "the claims of another token");
    refused(&format!("{}.{}.", one[0], one[1]), signature, "no signature");
    refused(&format!("{}.{}", one[0], one[1]), unread, "two parts");
    refused(&format!("{}.{}.{}.{}", one[0], one[1], one[2], one[2]), unread, "four parts");
    gate.end();
}

#[test]
fn a_token_of_too_few_scopes_is_told_which_are_missing() {
    let issuer = Issuer::new();
    let ground = ground(&issuer, "scopes = [\"tools:list\", \"tools:call\"]", "");
    let gate = ground.serve(&[]);
    for more in [
        json!({"scope": "tools:call tools:list other"}),
        json!({"scp": ["tools:call", "tools:list"]}),
        json!({"scope": "tools:call", "scp": "tools:list"}),
    ] {
        assert_eq!(asked(&gate, &issuer.token(&claims(&more))).0, 200, "{more}");
    }
    let place = format!("http://{}/.well-known/oauth-protected-resource/mcp", gate.address);
    let wanted = format!("resource_metadata=\"{place}\", scope=\"tools:list tools:call\"");
    for more in [
        json!({}),
        json!({"scope": "tools:call"}),
        json!({"scope": "tools:call tools:listing"}),
        json!({"scope": ["tools:call tools:list"]}),
        json!({"scp": [["tools:call", "tools:list"]]}),
    ] {
        let expected = (403, format!("Bearer error=\"insufficient_scope\", {wanted}"));
        assert_eq!(asked(&gate, &issuer.token(&claims(&more))), expected, "{more}");
    }
    let expired = issuer.token(&claims(&json!({"exp": 1, "scope": "tools:call tools:list"})));
    assert_eq!(asked(&gate, &expired), (401, format!("Bearer error=\"invalid_token\", {wanted}")));
    gate.end();
}

#[test]
fn what_the_issuer_says_counts_in_rules_and_what_the_operator_has_written_counts_before_it() {
    let issuer = Issuer::new();
    let rules = "[[principals]]\nnames = [\"jwt:eve\"]\nclaims = { tenant = \"none\" }\n\
                 [[rules]]\nid = \"own\"\neffect = \"permit\"\nprincipals = [\"jwt:*\"]\ntools = [\"notes/write_note\"]\n\
                 equal = [{ argument = \"/title\", claim = \"tenant\" }]\n";
    let ground = ground(&issuer, "", rules);
    let gate = ground.serve(&[]);
    let passes = |sub: &str, tenant: &str, title: &str| {
        let token = issuer.token(&claims(&json!({"sub": sub, "tenant": tenant})));
        let answer = gate.call(&token, "write_note", &json!({"title": title, "body": "x"})).json();
        answer["result"]["_meta"]["dev.callgate/call"]["side_effect"] == "done"
    };
    assert!(passes("ada", "acme", "acme"));
    assert!(!passes("ada", "acme", "other"));
    assert!(!passes("eve", "acme", "acme"), "the operator says otherwise");
    let intents = ground.intents();
    assert!(intents.contains("\"jwt:ada\"") && !intents.contains("\"jwt:eve\""), "{intents}");
    gate.end();
}

#[test]
fn the_issuer_is_asked_once_however_many_tokens_name_other_keys() {
    let issuer = Issuer::new();
    let (url, asked_for) = serve_keys(issuer.keys());
    let config = Issuer::config(&format!("jwks_url = \"{url}\""), "");
    let gate = Ground::new(&format!("{config}{}", notes())).serve_here();
    for number in 0..50 {
        let head = json!({"alg": "ES256", "kid": format!("unknown-{number}")});
        assert_eq!(asked(&gate.1, &issuer.sign(&head, &claims(&json!({})).to_string())).0, 401);
    }
    assert_eq!(asked(&gate.1, &issuer.token(&claims(&json!({})))).0, 200);
    // One when it starts, and one more where the machine is so slow that ten seconds have passed.
    assert!(asked_for.load(Ordering::SeqCst) <= 2, "{}", asked_for.load(Ordering::SeqCst));
    gate.1.end();
}

#[test]
fn without_the_issuers_keys_nobody_can_say_and_the_client_is_told_to_come_again() {
    let issuer = Issuer::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = closed.local_addr().expect("an address").port();
    drop(closed);
    let config = Issuer::config(&format!("jwks_url = \"http://127.0.0.1:{port}/keys?secret=planted\""), "");
    let (ground, gate) = Ground::new(&format!("{config}{}", notes())).serve_here();
    let response = gate.list(&[&format!("Bearer {}", issuer.token(&claims(&json!({}))))]);
    assert_eq!((response.status, response.headers.get("retry-after").map(String::as_str)), (503, Some("10")));
    assert_eq!(gate.list(&[&format!("Bearer {}", ground.token("build"))]).status, 200, "others are known");
    let log = gate.end();
    assert!(log.contains("the keys of the issuer cannot be read"), "{log}");
}

#[test]
fn a_file_of_keys_that_cannot_be_used_starts_no_gate() {
    let config = Issuer::config("jwks_file = \"keys.json\"", "");
    let ground = Ground::new(&format!("{config}{}", notes()));
    for text in [None, Some("{\"keys\":[]}"), Some("no JSON")] {
        if let Some(text) = text {
            std::fs::write(ground.path("keys.json"), text).expect("a file");
        }
        let file = ground.path("gate.toml").display().to_string();
        let output = ground.run(&["serve", "--config", &file, "--listen", "127.0.0.1:0"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text:?}: {told}");
        assert!(told.contains("failed to read the keys of the issuer from"), "{text:?}: {told}");
    }
}
