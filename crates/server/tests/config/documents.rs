//! What is printed of configurations: the schema is one that our own engine admits, what is shown is a configuration again,
//! and the examples of the documentation are good.

use callgate_schema::{Options, Profile, Program};
use callgate_server::config::{Config, Secret, schema_text};
use libtest_mimic::Trial;

use super::trial;

const WHOLE: &str = r#"
[gate]
store = { env = "CALLGATE_TEST_STORE" }
profile = "portable"

[[principals]]
names = ["local:ada"]
claims = { sub = "ada", tenant = 7 }

[[tools]]
name = "notes/read_*"
read_only = true
cost = 1

[[rules]]
id = "small"
effect = "permit"
tools = ["bank/pay"]
when = { properties = { amount = { maximum = 0.10 } }, required = ["amount"] }
equal = [{ argument = "/owner", claim = "sub" }]
reason = 'say "please"'

[[budgets]]
name = "daily"
per = ["principal"]
limit = { cost = 1_000 }
cost = { argument = "/amount", ceiling = 10 }
window = "day at 06:00 in Europe/Berlin"

[[upstreams]]
name = "notes"
command = "uvx"
args = ["mcp-server-notes"]
env = { TOKEN = { file = "/run/secrets/token" }, MODE = "fast" }
pin = { ignore = ["/_meta/build"] }
"#;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("the schema is one that the engine admits whole".to_owned(), schema_is_admitted),
        trial("what is shown is a configuration that means the same".to_owned(), shown_means_the_same),
        trial("what is shown marks defaults and has no secret".to_owned(), shown_reads_well),
        trial("a digest is of what rules mean".to_owned(), digests),
        trial("a secret is in no debug text".to_owned(), secrets_stay_secret),
        trial("every configuration of the documentation is good".to_owned(), documented),
    ]
}

fn parse(text: &str) -> Result<Config, String> {
    Config::parse("gate.toml", text).map_err(|error| error.to_string())
}

fn schema_is_admitted() -> Result<(), String> {
    let program = Program::compile(schema_text().as_bytes(), &Options::tool(Profile::Standard))
        .map_err(|error| error.to_string())?;
    if program.warnings().is_empty() { Ok(()) } else { Err(format!("{:?}", program.warnings())) }
}

fn shown_means_the_same() -> Result<(), String> {
    let config = parse(WHOLE)?;
    let again = parse(&config.show(|_| true))?;
    // What was a default stands in the file now.
    super::same(&again.show(|_| true), &config.show(|_| true).replace("  # default", ""))?;
    super::same(&again.rules.digest(), &config.rules.digest())?;
    super::same(&again.gate, &config.gate)?;
    super::same(&again.upstreams, &config.upstreams)
}

fn shown_reads_well() -> Result<(), String> {
    let config = parse(WHOLE)?;
    insta::assert_snapshot!(config.show(|secret| matches!(secret, Secret::Env(_))));
    Ok(())
}

fn digests() -> Result<(), String> {
    let rules = |text: &str| parse(text).map(|config| config.rules.digest());
    let one = "[[rules]]\nid = \"a\"\neffect = \"permit\"\ntools = [\"x/y\", \"x/z\"]\nwhen = { maxProperties = 2, minProperties = 1 }\n";
    let two = "[[rules]]\nid = \"b\"\neffect = \"ask\"\ntools = [\"*\"]\n";
    let both = rules(&format!("{one}{two}"))?;
    super::same(&rules(&format!("{two}{one}"))?, &both)?;
    let respelt = one
        .replace("[\"x/y\", \"x/z\"]", "[\"x/z\", \"x/y\"]")
        .replace("{ maxProperties = 2, minProperties = 1 }", "'{\"minProperties\":1e0,\"maxProperties\":2}'");
    super::same(&rules(&format!("{respelt}{two}"))?, &both)?;
    for other in [
        one.to_owned(),
        format!("{one}{}", two.replace("ask", "permit")),
        format!("{}{two}", one.replace("maxProperties = 2", "maxProperties = 3")),
        format!("{one}{two}[[tools]]\nname = \"x/y\"\nread_only = true\n"),
        format!("{one}{two}principals = [\"local:*\"]\n"),
    ] {
        if rules(&other)? == both {
            return Err(format!("the digest is the same: {other}"));
        }
    }
    Ok(())
}

fn secrets_stay_secret() -> Result<(), String> {
    let file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    std::fs::write(file.path(), "hunter2\n").map_err(|error| error.to_string())?;
    let secret = Secret::File(file.path().to_owned());
    let value = secret.read().map_err(|error| error.to_string())?;
    super::same(&value.expose(), &"hunter2")?;
    super::same(&format!("{value:?}"), &"SecretValue".to_owned())?;
    let missing = Secret::Env("CALLGATE_TEST_NOT_SET".to_owned()).read();
    super::same(
        &missing.map_err(|error| error.to_string()).err(),
        &Some("failed to read the secret { env = \"CALLGATE_TEST_NOT_SET\" }: the variable is not set, or no text".to_owned()),
    )
}

/// Every block of TOML in the documentation is a configuration, or a part of one.
fn documented() -> Result<(), String> {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages = [
        "guide/policy.md",
        "reference/policy.md",
        "reference/configuration.md",
        "errors/approval-expired.md",
        "errors/approval-required.md",
        "errors/budget-cost-unknown.md",
        "errors/budget-exceeded.md",
        "errors/call-forbidden.md",
    ];
    let mut blocks = 0;
    for page in pages {
        let text = std::fs::read_to_string(docs.join(page)).map_err(|error| format!("{page}: {error}"))?;
        for block in text.split("```toml\n").skip(1) {
            let block = block.split("```").next().unwrap_or_default();
            // A table of calls is another kind of file.
            if !block.starts_with("[[calls]]") {
                parse(block).map_err(|error| format!("{page}: {error}\n{block}"))?;
                blocks += 1;
            }
        }
    }
    if blocks >= 20 { Ok(()) } else { Err(format!("only {blocks} blocks were found")) }
}
