//! At which addresses a gate listens: at those of others only where clients show who they are.

use crate::gate::{Ground, notes};

const OPEN: &str = "0.0.0.0:0";

fn refused(ground: &Ground) {
    let file = ground.path("gate.toml").display().to_string();
    let output = ground.run(&["serve", "--config", &file, "--listen", OPEN]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("expected an address of this machine alone, found 0.0.0.0:0"), "{told}");
    assert!(told.contains("callgate tokens add NAME") && !told.contains("listening at"), "{told}");
}

#[test]
fn an_address_of_others_is_refused_while_nobody_could_show_who_they_are() {
    refused(&Ground::new(&notes()));
}

#[test]
fn an_address_of_others_is_refused_while_nobody_has_to_show_who_they_are() {
    let ground = Ground::new(&format!("[auth]\nrequired = false\n{}", notes()));
    ground.token("build");
    refused(&ground);
}

#[test]
fn an_address_of_others_is_served_where_clients_show_who_they_are() {
    let ground = Ground::new(&format!("[serve]\nhosts = [\"gate.example\"]\n{}", notes()));
    let good = format!("Bearer {}", ground.token("build"));
    let gate = ground.serve(&["--listen", OPEN]);
    assert_eq!(gate.list(&[]).status, 401, "also for clients of this machine");
    assert_eq!(gate.list(&[&good]).status, 200);
    let at = |host: &str| gate.send("POST", "/mcp", &[("Host", host), ("Authorization", &good)], "").status;
    assert_eq!(at("evil.example"), 403);
    assert_eq!(at("gate.example"), 415, "it is looked at");
    let log = gate.end();
    assert!(log.contains("tokens are read without TLS"), "{log}");
}
