//! The pages of `docs/errors` are true of `check`: of each page that shows a schema the example has the code and the
//! remedy has not, and what is printed of the example is what stands in the snapshot.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot read its pages, or finds one that is not as the others, shall stop"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const BINARY: &str = env!("CARGO_BIN_EXE_callgate");
const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");

/// A schema of a page, and the profile that it is for.
struct Shown {
    profile: &'static str,
    schema: String,
}

/// The schema in a section of a page, if the section shows one and no arguments beside it.
fn shown(page: &str, section: &str) -> Option<Shown> {
    let section = page.split(&format!("\n## {section}\n")).nth(1)?.split("\n## ").next()?;
    let schema = section.split("\nSchema").nth(1)?;
    let (head, rest) = schema.split_once("```json\n")?;
    let (schema, rest) = rest.split_once("```")?;
    if rest.contains("```") {
        return None;
    }
    let profile = ["portable", "wire"].into_iter().find(|profile| head.contains(profile));
    Some(Shown { profile: profile.unwrap_or("standard"), schema: schema.to_owned() })
}

fn check(shown: &Shown, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("schema.json"), &shown.schema).unwrap();
    let mut command = Command::new(BINARY);
    command.current_dir(&folder).args(["check", "--profile", shown.profile]).args(flags).arg("schema.json");
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn every_example_has_its_code_and_every_remedy_has_not() {
    let mut pages: Vec<_> =
        std::fs::read_dir(Path::new(PAGES)).unwrap().map(|page| page.unwrap().path()).collect();
    pages.sort();
    let mut said = String::new();
    let mut codes = 0;
    for path in pages {
        let code = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let page = std::fs::read_to_string(&path).unwrap();
        if !(code.starts_with("schema-") || code.starts_with("pattern-")) {
            continue;
        }
        let Some(example) = shown(&page, "Example") else { continue };
        codes += 1;
        let has_code =
            |shown: &Shown| check(shown, &["--format", "json"]).contains(&format!("\"code\":\"{code}\""));
        assert!(has_code(&example), "{code}: {}", check(&example, &[]));
        if let Some(remedy) = shown(&page, "Instead") {
            assert!(!has_code(&remedy), "{code}: {}", check(&remedy, &[]));
        }
        let text = check(&example, &[]);
        let findings = text.split("\n code ").next().unwrap();
        writeln!(said, "## {code}\n\n{}\n", findings.trim_end()).unwrap();
    }
    assert!(codes > 20, "{codes} pages with a schema");
    insta::assert_snapshot!(said);
}
