//! Nothing of a token goes further than the gate: not to a tool server, not into the log, not into the store.

use std::fmt::Write as _;

use serde_json::json;

use crate::gate::{Ground, files_with};
use crate::issuer::{Issuer, claims};
use crate::upstream;

/// A claim that nothing else holds.
const PLANTED: &str = "planted-a7c1e93f";

#[test]
fn a_token_is_neither_passed_on_nor_logged_nor_stored() {
    let issuer = Issuer::new();
    let (url, reached) = upstream::serve();
    let config = Issuer::config("jwks_file = \"keys.json\"", "");
    let server = format!("[[upstreams]]\nname = \"far\"\nurl = \"{url}\"\n");
    let ground = Ground::new(&format!("[auth]\nrequired = true\n{config}{server}"));
    std::fs::write(ground.path("keys.json"), issuer.keys()).expect("the keys");
    let api = ground.token("build");
    let jwt = issuer.token(&claims(&json!({"note": PLANTED})));
    let expired = issuer.token(&claims(&json!({"exp": 1, "note": PLANTED})));
    let gate = ground.serve(&[]);
    let mut answers = String::new();
    for (token, status) in [(&api, 200), (&jwt, 200), (&expired, 401), (&format!("cg_{PLANTED}"), 401)] {
        let response = gate.call(token, "echo", &json!({"n": 1}));
        assert_eq!(response.status, status, "{response:?}");
        write!(answers, "{response:?}").expect("a text");
    }
    let basic = gate.list(&[&format!("Basic {PLANTED}")]);
    assert_eq!(basic.status, 401);
    write!(answers, "{basic:?}").expect("a text");
    let log = gate.end();
    let reached = reached.lock().expect("what was read").clone();
    // Were nothing logged or passed on at all, this test would say nothing.
    assert!(log.contains("TRACE") && log.contains("a request does not show who calls"), "{log}");
    assert_eq!(reached.matches("\"tools/call\"").count(), 2, "{reached}");
    assert!(!reached.to_ascii_lowercase().contains("authorization"), "{reached}");
    let listed = ground.run(&["tokens", "list", "--format", "json"]).stdout;
    let shown = [log, reached, answers, ground.intents(), String::from_utf8(listed).expect("a text")];
    let parts = |token: &str| token.split('.').skip(1).map(str::to_owned).collect::<Vec<_>>();
    let mut secrets = vec![PLANTED.to_owned(), api.trim_start_matches("cg_").to_owned()];
    secrets.extend(parts(&jwt).into_iter().chain(parts(&expired)));
    for secret in &secrets {
        for text in &shown {
            assert!(!text.contains(secret.as_str()), "`{secret}` is shown: {text}");
        }
        let folder = ground.path("");
        assert_eq!(
            files_with(&folder, secret),
            Vec::<std::path::PathBuf>::new(),
            "`{secret}` is on the disk"
        );
    }
}
