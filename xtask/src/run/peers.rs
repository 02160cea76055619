//! The tests against public clients and servers, and the protocol's official conformance suite. Their packages are fetched once, into the folder of what is built.

use super::command::Command;
use super::step::{Outcome, Setting};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

pub(super) fn run(at: &Setting) -> Result<Outcome> {
    for program in ["python3", "node", "npm"] {
        if !at.has(program) {
            return Ok(at.missing(&format!("{program} is not here")));
        }
    }
    let peers = at.target.join("peers");
    let tests = at.root.join("tests/peers");
    let python = python(at, &peers, &tests)?;
    node(at, &peers, &tests)?;
    for script in ["run.py", "serve.py"] {
        let command = Command::new(at, &python).argument(tests.join(script));
        let outcome = command.argument(at.binary("callgate")).outcome()?;
        if !matches!(outcome, Outcome::Passed(_)) {
            return Ok(outcome);
        }
    }
    Ok(Outcome::passed(""))
}

/// Runs the conformance suite, whose own Node is among its packages, on both sides of the gate.
pub(super) fn conformance(at: &Setting) -> Result<Outcome> {
    for program in ["python3", "npm"] {
        if !at.has(program) {
            return Ok(at.missing(&format!("{program} is not here")));
        }
    }
    let peers = at.target.join("peers");
    if let Err(error) = node(at, &peers, &at.root.join("tests/peers")) {
        return Ok(at.missing(&format!("the suite cannot be fetched: {error:#}")));
    }
    let (output, status) = Command::new(at, "python3")
        .argument(at.root.join("tests/conformance/run.py"))
        .argument(at.binary("callgate"))
        .argument("--node-modules")
        .argument(peers.join("node/node_modules"))
        .output(|_| true)?;
    let counts = output.lines().last().unwrap_or_default();
    Ok(if status.success() {
        Outcome::passed(counts)
    } else {
        Outcome::failed(format!("{status}: {counts}"))
    })
}

/// Prepares the Python packages and says which Python has them.
fn python(at: &Setting, peers: &Path, tests: &Path) -> Result<std::path::PathBuf> {
    let venv = peers.join("venv");
    let python = venv.join("bin/python");
    let wanted = tests.join("requirements.txt");
    once(&venv.join("prepared.txt"), &wanted, "the Python packages of the peers", || {
        Command::new(at, "python3").arguments(["-m", "venv", "--clear"]).argument(&venv).succeed()?;
        Command::new(at, &python)
            .arguments(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"])
            .argument(&wanted)
            .succeed()
    })?;
    Ok(python)
}

/// Prepares the Node packages: a server, a client, the conformance suite, and a Node for these.
fn node(at: &Setting, peers: &Path, tests: &Path) -> Result<()> {
    let folder = peers.join("node");
    let wanted = tests.join("package-lock.json");
    once(&folder.join("prepared.txt"), &wanted, "the Node packages of the peers", || {
        fs::create_dir_all(&folder)?;
        for list in ["package.json", "package-lock.json"] {
            fs::copy(tests.join(list), folder.join(list)).with_context(|| format!("cannot copy {list}"))?;
        }
        Command::new(at, "npm")
            .arguments(["ci", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"])
            .argument(&folder)
            .succeed()
    })
}

/// Does `prepare` unless it was done for the same list before.
fn once(mark: &Path, wanted: &Path, what: &str, prepare: impl FnOnce() -> Result<()>) -> Result<()> {
    let list = fs::read(wanted).with_context(|| format!("cannot read {}", wanted.display()))?;
    if fs::read(mark).is_ok_and(|done| done == list) {
        return Ok(());
    }
    println!("preparing: {what} (once)");
    prepare()?;
    fs::write(mark, list).with_context(|| format!("cannot write {}", mark.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_prepared_once_for_each_list() {
        let folder = tempfile::tempdir().unwrap();
        let (mark, wanted) = (folder.path().join("mark"), folder.path().join("wanted"));
        let mut times = 0;
        for list in ["a", "a", "b"] {
            fs::write(&wanted, list).unwrap();
            once(&mark, &wanted, "test", || {
                times += 1;
                Ok(())
            })
            .unwrap();
        }
        assert_eq!(times, 2);
        assert!(once(&mark, &wanted.with_extension("gone"), "test", || Ok(())).is_err());
    }
}
