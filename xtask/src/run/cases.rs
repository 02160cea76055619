//! The large collections that are handed over beside the checkout: case files, public catalogs, recorded calls.
//!
//! They are run through `callgate worker` by the script that comes with them. What it prints is read here, since each
//! collection has its own measure of success.

use super::command::Command;
use super::step::{Outcome, Setting};
use anyhow::{Context, Result};

/// One collection.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) name: &'static str,
    /// Files or folders below the shared folder.
    paths: &'static [&'static str],
    measure: Measure,
}

#[derive(Debug)]
enum Measure {
    /// Every row passes.
    All,
    /// So many in a hundred pass.
    Percent(u64),
    /// No row has a wrong verdict; a schema refused as unsupported is counted, and is none.
    NoWrongVerdict,
}

/// Every collection, in the order in which they run.
pub(super) const COLLECTIONS: &[Collection] = &[
    Collection {
        name: "handed cases",
        paths: &[
            "cases/input-schema.jsonl",
            "cases/input-schema-more.jsonl",
            "cases/patterns.jsonl",
            "cases/open-questions.jsonl",
        ],
        measure: Measure::All,
    },
    Collection { name: "public catalogs", paths: &["corpus/mcp-catalogs"], measure: Measure::Percent(97) },
    Collection { name: "recorded calls", paths: &["corpus/tool-calls"], measure: Measure::NoWrongVerdict },
];

pub(super) fn run(at: &Setting, collection: &Collection) -> Result<Outcome> {
    let script = at.shared.join("tools/run_cases.py");
    if !at.has("python3") {
        return Ok(at.missing("python3 is not here"));
    }
    if !script.is_file() {
        return Ok(at.missing("the collections are not beside the checkout (--shared FOLDER)"));
    }
    let binary = at.binary("callgate");
    let paths = collection.paths.iter().map(|path| at.shared.join(path));
    let (output, _) = Command::new(at, "python3")
        .argument(script)
        .argument(binary)
        .arguments(paths)
        .arguments(["--max", "1000000"])
        // The faults themselves are shown below, chosen by what the measure makes of them.
        .output(|line| !line.starts_with("  "))?;
    let counts = Counts::read(&output).context("the script did not end with its counts")?;
    let (outcome, shown) = match collection.measure {
        Measure::All => all(&output, counts),
        Measure::Percent(least) => percent(&output, counts, least),
        Measure::NoWrongVerdict => no_wrong_verdict(&output, counts),
    };
    for line in shown.iter().take(SHOWN_MAX) {
        println!("{line}");
    }
    if shown.len() > SHOWN_MAX {
        println!("  … and {} more", shown.len() - SHOWN_MAX);
    }
    Ok(outcome)
}

/// Faults that are printed for one collection.
const SHOWN_MAX: usize = 40;

/// The closing line of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
}

impl Counts {
    fn read(output: &str) -> Option<Counts> {
        let last = output.lines().rfind(|line| line.starts_with("cases: "))?;
        let number =
            |what: &str| last.split(what).next()?.rsplit([' ', ',']).find(|w| !w.is_empty())?.parse().ok();
        Some(Counts { passed: number(" passed")?, failed: number(" failed")? })
    }
}

/// The rows of the script's output that failed.
fn faults(output: &str) -> Vec<&str> {
    output.lines().filter(|line| line.starts_with("  ") && !line.starts_with("  advisory ")).collect()
}

fn all(output: &str, counts: Counts) -> (Outcome, Vec<&str>) {
    let Counts { passed, failed } = counts;
    let outcome = if failed == 0 && passed > 0 {
        Outcome::passed(format!("{passed} rows"))
    } else {
        Outcome::failed(format!("{failed} of {} rows", passed + failed))
    };
    (outcome, faults(output))
}

fn percent(output: &str, counts: Counts, least: u64) -> (Outcome, Vec<&str>) {
    let Counts { passed, failed } = counts;
    let all = passed + failed;
    let share = (passed * 1000).checked_div(all).unwrap_or(0);
    let text = format!("{passed} of {all} admitted, {}.{} %", share / 10, share % 10);
    let good = all > 0 && passed * 100 >= all * least;
    (
        if good { Outcome::passed(text) } else { Outcome::failed(format!("{text}, at least {least} %")) },
        faults(output),
    )
}

fn no_wrong_verdict(output: &str, counts: Counts) -> (Outcome, Vec<&str>) {
    let (unsupported, wrong): (Vec<&str>, Vec<&str>) = faults(output).into_iter().partition(|line| {
        line.split_once(", got ").is_some_and(|(_, got)| got.contains("\"class\":\"unsupported_capability\""))
    });
    let text = format!(
        "{} wrong verdicts, {} refused as unsupported, of {}",
        wrong.len(),
        unsupported.len(),
        counts.passed + counts.failed
    );
    let whole = counts.failed == (wrong.len() + unsupported.len()) as u64 && counts.passed > 0;
    (if wrong.is_empty() && whole { Outcome::passed(text) } else { Outcome::failed(text) }, wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "run
  a-1: expected ok, got validation {}
  b-2: expected valid=True, got {\"id\":1,\"ok\":false,\"class\":\"unsupported_capability\",\"errors\":[]}
  advisory c-3: expected ok, got validation
folder/rows.jsonl: 7 of 9
cases: 7 passed, 2 failed, 1 advisory (0 agree), 0 not run
";

    fn counts() -> Counts {
        Counts::read(OUTPUT).unwrap()
    }

    #[test]
    fn the_closing_line_is_read() {
        assert_eq!(counts(), Counts { passed: 7, failed: 2 });
        assert_eq!(Counts::read("no counts\n"), None);
    }

    #[test]
    fn a_row_that_fails_or_no_row_at_all_is_a_failure() {
        let of = |passed, failed| all("", Counts { passed, failed }).0;
        assert_eq!(of(7, 0), Outcome::passed("7 rows"));
        assert!(matches!(of(7, 1), Outcome::Failed(_)));
        assert!(matches!(of(0, 0), Outcome::Failed(_)));
    }

    #[test]
    fn a_refusal_as_unsupported_is_no_wrong_verdict() {
        let (outcome, shown) = no_wrong_verdict(OUTPUT, counts());
        assert_eq!(outcome, Outcome::failed("1 wrong verdicts, 1 refused as unsupported, of 9"));
        assert_eq!(shown.len(), 1);
    }

    #[test]
    fn a_share_is_measured_exactly() {
        assert!(matches!(percent("", Counts { passed: 97, failed: 3 }, 97).0, Outcome::Passed(_)));
        assert!(matches!(percent("", Counts { passed: 969, failed: 31 }, 97).0, Outcome::Failed(_)));
        assert!(matches!(percent("", Counts { passed: 0, failed: 0 }, 97).0, Outcome::Failed(_)));
    }
}
