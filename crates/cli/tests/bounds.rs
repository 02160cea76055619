//! What the worst inputs cost the process: memory, and instructions where no work allowance counts.
//!
//! No input makes it use more than 64 MiB plus ten times the input's size. Each row starts a worker of its own, whose peak
//! (`VmHWM`) the kernel keeps; a `check` is watched while it runs. Elsewhere than on Linux nobody keeps that number.
#![cfg(target_os = "linux")]
#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that cannot start the program or read its answer shall stop; what it measured can be seen"
)]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_callgate");

const MIB: usize = 1 << 20;
/// What is allowed whatever the input.
const MEMORY_BASE: usize = 64 * MIB;
/// What is allowed a byte of input.
const MEMORY_PER_BYTE: usize = 10;

/// The most memory that a process has had, in bytes, as long as it is there.
fn peak(pid: u32) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// The start of a worker's answer to one line, and the peak until then.
fn ask(line: &str) -> (String, usize) {
    let mut worker = spawn(Command::new(BINARY).arg("worker"));
    let mut input = worker.stdin.take().expect("a pipe");
    let mut output = BufReader::new(worker.stdout.take().expect("a pipe"));
    // The answer is read beside, since neither side may wait for the other with a full pipe.
    let answer = std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut answer = Vec::new();
            output.read_until(b'\n', &mut answer).expect("an answer");
            answer.truncate(200);
            String::from_utf8_lossy(&answer).into_owned()
        });
        input.write_all(line.as_bytes()).expect("the worker reads");
        input.write_all(b"\n").expect("the worker reads");
        reader.join().expect("it is read")
    });
    let peak = peak(worker.id()).expect("the worker waits for the next line");
    drop(input);
    assert!(worker.wait().expect("it ends").success());
    (answer, peak)
}

fn spawn(command: &mut Command) -> Child {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().expect("the program starts")
}

/// `unit` again and again, joined by commas, in all about so many bytes.
fn filled(bytes: usize, unit: &str) -> String {
    vec![unit; bytes / (unit.len() + 1)].join(",")
}

/// Members of short distinct names, in all about so many bytes.
fn members(bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 16);
    for number in 0u32.. {
        write!(out, "\"{number:x}\":0").expect("a text takes what is written");
        if out.len() >= bytes {
            break;
        }
        out.push(',');
    }
    out
}

fn of_value(schema: &str, value: &str) -> String {
    format!("{{\"op\":\"check_value\",\"schema\":{schema},\"instance\":{value}}}")
}

fn of_schema(properties: usize, schema: impl Fn(usize) -> String) -> String {
    let properties: Vec<_> = (0..properties).map(|at| format!("\"n{at}\":{}", schema(at))).collect();
    format!(
        "{{\"op\":\"preflight\",\"schema\":{{\"type\":\"object\",\"properties\":{{{}}}}}}}",
        properties.join(",")
    )
}

/// Rows of a name, a request and how its answer begins.
fn within_bounds(rows: Vec<(&str, String, &str)>) {
    let mut over = Vec::new();
    for (name, line, expected) in rows {
        let (answer, peak) = ask(&line);
        assert!(answer.contains(expected), "{name}: {answer}");
        let allowed = MEMORY_BASE + MEMORY_PER_BYTE * line.len();
        println!("{name}: {} KiB of {} KiB", peak / 1024, allowed / 1024);
        if peak > allowed {
            over.push(format!("{name}: {peak} bytes of {allowed}"));
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}

const FINE: &str = "\"ok\":true";
const LIMIT: &str = "\"code\":\"limit-exceeded\"";

#[test]
fn lists_to_the_limit_of_arguments_are_within_bounds() {
    let size = 8 * MIB - 64;
    let list = |unit| of_value("{}", &format!("[{}]", filled(size, unit)));
    within_bounds(vec![
        ("numbers", list("0"), LIMIT),
        ("empty lists", list("[]"), LIMIT),
        ("empty texts", list("\"\""), LIMIT),
        ("objects of a member", list("{\"a\":0}"), LIMIT),
        ("objects of a few members", list("{\"a\":0,\"b\":\"\",\"c\":[]}"), LIMIT),
        ("texts of eight letters", list("\"abcdefgh\""), FINE),
        ("one text", of_value("{}", &format!("\"{}\"", "a".repeat(size))), FINE),
        (
            "one text of escapes",
            of_value("{\"pattern\":\"é\"}", &format!("\"{}\"", "\\u0007".repeat(size / 6))),
            "pattern",
        ),
        ("members", of_value("{}", &format!("{{{}}}", members(size))), FINE),
        ("depth", of_value("{}", &format!("{}{}", "[".repeat(size / 2), "]".repeat(size / 2))), LIMIT),
        ("depth that does not close", of_value("{}", &"[".repeat(size)), "\"ok\":false"),
        (
            "as a text",
            format!(
                "{{\"op\":\"check_value\",\"schema\":{{}},\"instance_text\":\"[{}]\"}}",
                filled(size, "0")
            ),
            LIMIT,
        ),
    ]);
}

#[test]
fn values_that_are_looked_at_again_are_within_bounds() {
    let numbers: Vec<String> = (0..990_000).map(|at: u32| at.to_string()).collect();
    let numbers = format!("[{}]", numbers.join(","));
    let wide = format!("{{{}}}", members(8 * MIB - 64));
    let texts = format!("{{\"l\":[{}]}}", filled(4 * MIB, "\"1\""));
    let long = "n".repeat(5_000);
    let numbers_wanted = |name: &str| {
        format!(
            "{{\"type\":\"object\",\"properties\":{{\"{name}\":{{\"type\":\"array\",\"items\":{{\"type\":\"integer\"}}}}}}}}"
        )
    };
    let coerce = |profile: &str, name: &str, arguments: &str| {
        let schema = numbers_wanted(name);
        format!(
            "{{\"op\":\"coerce\",\"profile\":\"{profile}\",\"schema\":{schema},\"arguments\":{arguments}}}"
        )
    };
    let named = format!("{{\"{long}\":[{}]}}", filled(40_000, "\"1\""));
    within_bounds(vec![
        ("distinct numbers", of_value("{\"uniqueItems\":true}", &numbers), FINE),
        ("items left over", of_value("{\"items\":true,\"unevaluatedItems\":false}", &numbers), FINE),
        (
            "members left over",
            of_value("{\"additionalProperties\":true,\"unevaluatedProperties\":false}", &wide),
            FINE,
        ),
        ("members refused", of_value("{\"additionalProperties\":false}", &wide), "property-unexpected"),
        ("items refused", of_value("{\"items\":false}", &numbers), "never-valid"),
        ("a digest of members", format!("{{\"op\":\"digest\",\"value\":{wide}}}"), FINE),
        (
            "a digest of escapes",
            format!("{{\"op\":\"digest\",\"value\":\"{}\"}}", "\\u0007".repeat(MIB)),
            FINE,
        ),
        ("texts to coerce", coerce("standard", "l", &texts), ""),
        ("texts to coerce in profile wire", coerce("wire", "l", &texts), ""),
        ("edits with long names", coerce("standard", &long, &named), "work-exhausted"),
        ("edits with long names in profile wire", coerce("wire", &long, &named), "work-exhausted"),
    ]);
}

#[test]
fn requests_beyond_every_limit_are_within_bounds() {
    let size = 16 * MIB;
    within_bounds(vec![
        ("a frame of numbers", of_value("{}", &format!("[{}]", filled(size, "0"))), LIMIT),
        ("a frame of depth", of_value("{}", &"[".repeat(size)), "\"ok\":false"),
        ("a line that is a list", format!("[{}]", filled(size, "[]")), "request-malformed"),
        ("a line of fields", format!("{{\"op\":\"digest\",\"value\":1,{}}}", members(size)), "\"ok\":false"),
        ("a line of commas", format!("{{{}", ",".repeat(size)), "\"ok\":false"),
        ("a field of commas", format!("{{\"a\":{{\"b\":0,\"b\":0}},{}}}", ",".repeat(size)), "\"ok\":false"),
        (
            "an id of numbers",
            format!("{{\"id\":[{}],\"op\":\"digest\",\"value\":1}}", filled(size, "0")),
            FINE,
        ),
        ("an operation of letters", format!("{{\"op\":\"{}\"}}", "a".repeat(size)), "request-malformed"),
    ]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of rows")]
fn schemas_to_the_limit_are_within_bounds() {
    let doubled: Vec<_> = (1..=30)
        .map(|at| {
            format!("\"l{at}\":{{\"anyOf\":[{0},{0}]}}", format_args!("{{\"$ref\":\"#/$defs/l{}\"}}", at - 1))
        })
        .collect();
    let doubled = format!(
        "{{\"$defs\":{{\"l0\":{{\"type\":\"null\"}},{}}},\"$ref\":\"#/$defs/l30\"}}",
        doubled.join(",")
    );
    let one_line = format!("{{\"type\":\"object\",\"description\":\"{}\"}}", "a".repeat(MIB - 100));
    let word = |count: usize| filled(count, "\"abc\"");
    within_bounds(vec![
        ("properties", of_schema(24_000, |_| "{\"type\":\"string\"}".into()), FINE),
        ("booleans", of_schema(70_000, |_| "true".into()), FINE),
        ("patterns", of_schema(10_000, |at| format!("{{\"pattern\":\"^[a-z]{{1,{at}}}$\"}}")), ""),
        (
            "patterns of classes",
            of_schema(5_000, |at| format!("{{\"pattern\":\"^[\\\\p{{L}}\\\\p{{N}}]{{1,{at}}}x$\"}}")),
            "",
        ),
        (
            "one pattern of classes",
            of_schema(1, |_| format!("{{\"pattern\":\"{}\"}}", "[\\\\p{L}\\\\P{Lu}]".repeat(4_000))),
            "pattern-limit",
        ),
        (
            "references",
            of_schema(9_900, |_| "{\"$ref\":\"#/properties/n0\"}".into()).replacen(
                "{\"$ref\":\"#/properties/n0\"}",
                "{}",
                1,
            ),
            FINE,
        ),
        (
            "dynamic references",
            of_schema(9_900, |at| format!("{{\"$dynamicRef\":\"#a{at}\",\"$dynamicAnchor\":\"a{at}\"}}")),
            "",
        ),
        ("resources", of_schema(15_000, |at| format!("{{\"$id\":\"urn:some-name:{at}\"}}")), ""),
        (
            "an enum",
            of_schema(1, |_| {
                format!(
                    "{{\"enum\":[{}]}}",
                    (0..90_000).map(|at| at.to_string()).collect::<Vec<_>>().join(",")
                )
            }),
            FINE,
        ),
        ("an enum of one word", of_schema(1, |_| format!("{{\"enum\":[{}]}}", word(500_000))), ""),
        (
            "branches",
            of_schema(1, |_| format!("{{\"anyOf\":[{}]}}", filled(850_000, "{\"type\":\"string\"}"))),
            FINE,
        ),
        (
            "depth",
            of_schema(1, |_| format!("{}{}", "{\"not\":".repeat(120), "{}".to_owned() + &"}".repeat(120))),
            FINE,
        ),
        ("misspelt keywords", of_schema(20_000, |at| format!("{{\"minimun{at}\":0}}")), "unknown-keyword"),
        (
            "a keyword of a megabyte",
            format!("{{\"op\":\"preflight\",\"schema\":{{\"{}\":1}}}}", "n".repeat(MIB - 100)),
            "unknown-keyword",
        ),
        ("a text of a megabyte", format!("{{\"op\":\"preflight\",\"schema\":{one_line}}}"), FINE),
        (
            "a schema of ten megabytes",
            format!("{{\"op\":\"preflight\",\"schema\":[{}]}}", filled(10 * MIB, "0")),
            LIMIT,
        ),
        ("branches that double", of_value(&doubled, "7"), "any-of-none"),
    ]);
}

/// A check of a catalog ends by itself, so its peak is the last that is seen while it runs.
#[test]
fn checks_of_catalogs_are_within_bounds() {
    let folder = tempfile::tempdir().expect("a folder");
    let tool = |at: usize| {
        format!(
            "{{\"name\":\"t{at}\",\"inputSchema\":{{\"type\":\"object\",\"properties\":{{\"a\":{{\"type\":\"sting\"}}}}}}}}"
        )
    };
    let tools: Vec<_> = (0..20_000).map(tool).collect();
    let one =
        format!("{{\"type\":\"object\",\"properties\":{{{}}}}}", members(MIB - 100).replace(":0", ":true"));
    let catalogs = [
        ("many tools", format!("{{\"tools\":[{}]}}", tools.join(","))),
        ("a list of numbers", format!("[{}]", filled(8 * MIB, "0"))),
        ("a list of commas", format!("[{}]", ",".repeat(8 * MIB))),
        ("depth", "[".repeat(8 * MIB)),
        ("a schema of one line", one),
    ];
    for (name, content) in catalogs {
        std::fs::write(folder.path().join("tools.json"), &content).expect("the file is written");
        let mut check = spawn(Command::new(BINARY).current_dir(&folder).args(["check", "tools.json"]));
        let mut output = check.stdout.take().expect("a pipe");
        let reader = std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        let mut most = 0;
        while check.try_wait().expect("it is our child").is_none() {
            most = most.max(peak(check.id()).unwrap_or(0));
        }
        reader.join().expect("it is read").expect("it is read");
        let allowed = MEMORY_BASE + MEMORY_PER_BYTE * content.len();
        println!("{name}: {} KiB of {} KiB", most / 1024, allowed / 1024);
        assert!(most > MIB, "{name}: it was not seen");
        assert!(most <= allowed, "{name}: {most} bytes of {allowed}");
    }
}

/// Instructions of a worker that answers one line, as valgrind counts them; `None` where there is no valgrind.
fn instructions(line: &str) -> Option<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", BINARY, "worker"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut worker = command.spawn().ok()?;
    let mut input = worker.stdin.take()?;
    input.write_all(line.as_bytes()).expect("the worker reads");
    drop(input);
    let output = worker.wait_with_output().expect("it ends");
    let report = String::from_utf8_lossy(&output.stderr);
    let collected = report.lines().find_map(|line| line.split_once("Collected :"));
    Some(collected.expect("a count").1.trim().parse().expect("a number"))
}

/// What no work allowance counts: schemas, digests, and what reports say. Twice the parts take at most two and a half
/// times the instructions; where each part looks at every other it would be four.
#[test]
fn twice_the_schema_takes_twice_the_instructions() {
    type Make = fn(usize) -> String;
    let rows: [(&str, Make); 9] = [
        ("properties", |count| of_schema(count, |_| "{\"type\":\"string\"}".into())),
        ("references that lead nowhere", |count| {
            of_schema(count, |at| format!("{{\"$ref\":\"#/properties/n{}\"}}", at / 2 + count))
        }),
        ("a chain of references", |count| {
            of_schema(count, |at| {
                format!("{{\"items\":{{\"$ref\":\"#/properties/n{}\"}}}}", (at + 1) % count)
            })
        }),
        ("dynamic references", |count| {
            of_schema(count, |at| format!("{{\"$dynamicRef\":\"#a{at}\",\"$dynamicAnchor\":\"a{at}\"}}"))
        }),
        ("misspelt keywords", |count| of_schema(count, |at| format!("{{\"minimun{at}\":0}}"))),
        ("members without a place", |count| {
            let required: Vec<_> = (0..count).map(|at| format!("\"m{at}\"")).collect();
            of_schema(count, |_| "true".into()).replacen(
                "\"properties\"",
                &format!(
                    "\"additionalProperties\":false,\"required\":[{}],\"properties\"",
                    required.join(",")
                ),
                1,
            )
        }),
        ("misspelt members", |count| {
            let named = |name: &str, value: &str| {
                let members: Vec<_> = (0..count).map(|at| format!("\"{name}_{at}\":{value}")).collect();
                members.join(",")
            };
            let schema = format!(
                "{{\"properties\":{{{}}},\"additionalProperties\":false}}",
                named("some_name", "true")
            );
            of_value(&schema, &format!("{{{}}}", named("sume_nane", "0")))
        }),
        ("a digest of long names", |count| {
            let members: Vec<_> = (0..count).map(|at| format!("\"{}{at}\":0", "n".repeat(100))).collect();
            format!(
                "{{\"op\":\"digest\",\"value\":{{{}}}}}",
                members.into_iter().rev().collect::<Vec<_>>().join(",")
            )
        }),
        ("a digest of names with escapes", |count| {
            let members: Vec<_> = (0..count).map(|at| format!("\"\\u006e{at}\":0")).rev().collect();
            format!("{{\"op\":\"digest\",\"value\":{{{}}}}}", members.join(","))
        }),
    ];
    let Some(start) = instructions("{\"op\":\"preflight\",\"schema\":{}}") else {
        println!("skipped: there is no valgrind");
        return;
    };
    for (name, make) in rows {
        let [few, many] =
            [1_000, 2_000].map(|count| instructions(&make(count)).expect("valgrind is there") - start);
        println!("{name}: {few}, {many}");
        assert!(2 * many <= 5 * few, "{name}: {few} instructions for 1,000 parts, {many} for 2,000");
    }
}
