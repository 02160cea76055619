//! `callgate coerce`: what a tool's schema makes of texts, and what was changed.

use std::path::PathBuf;

use callgate_schema::json::{Kind, Tape};
use callgate_schema::{Code, Coerced, Coercion, Finding, Options, Profile, Program, Verdict};

use crate::check::{Format, ProfileArg, read};
use crate::exit_code::{ExitCode, Failure};
use crate::render::escape::one_line;
use crate::render::output;

/// Turn the texts in a tool's arguments into the values that its schema asks for.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "ARGUMENTS holds an object; `-` is standard input. The outcome goes to standard output, byte for byte \
                        what came in but for the edits.\n\n\
                        Examples:\n  \
                        echo '{\"count\":\"3\"}' | callgate coerce --schema tool.json -\n  \
                        callgate coerce --schema tool.json --edits arguments.json\n  \
                        callgate coerce --schema tool.json --profile standard --validate arguments.json\n\n\
                        Exit codes: 0 fine, 1 the schema, the arguments or (with --validate) the outcome are refused, \
                        2 a file cannot be read."
)]
pub(crate) struct Args {
    /// The file with the tool's input schema
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// Whose rules: those of text maps, or JSON's own with references and unions
    #[arg(long, value_enum, default_value_t = ProfileArg::Wire)]
    profile: ProfileArg,
    /// Check the outcome against the schema, all of it
    #[arg(long)]
    validate: bool,
    /// Print the edits, too
    #[arg(long)]
    edits: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The file with the arguments
    arguments: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.schema == args.arguments {
        return Err(Failure::usage("expected two files, found one of them twice"));
    }
    let schema = read(&args.schema)?;
    let arguments = read(&args.arguments)?;
    match outcome(args, &schema, &arguments) {
        Ok(text) => {
            output::print_exact(&text)?;
            Ok(ExitCode::Success)
        }
        Err(findings) => {
            match args.format {
                Format::Text => output::print(&findings.iter().map(line).collect::<String>())?,
                Format::Json => output::print_exact(&refused(&findings))?,
            }
            Ok(ExitCode::Findings)
        }
    }
}

/// What is printed when nothing is refused.
fn outcome(args: &Args, schema: &[u8], arguments: &[u8]) -> Result<Vec<u8>, Vec<Finding>> {
    let one = |finding: Box<Finding>| vec![*finding];
    let options = Options::tool(args.profile.into());
    let coercion = Coercion::compile(schema, &options).map_err(|error| error.findings)?;
    let mut tape = Tape::new();
    let limits = options.limits.arguments_text();
    let value = tape.read(arguments, &limits).map_err(|fault| vec![fault.finding()])?;
    if value.kind() != Kind::Object {
        let message = format!("expected an object as the arguments, found {}", value.kind().name());
        return Err(vec![Finding::new(Code::ArgumentsShape, message)]);
    }
    let coerced = coercion.coerce(value).map_err(one)?;
    if args.validate {
        let program =
            Program::compile(schema, &Options::tool(Profile::Standard)).map_err(|error| error.findings)?;
        let mut tape = Tape::new();
        let value = tape.read(&coerced.bytes, &limits).map_err(|fault| vec![fault.finding()])?;
        match program.check(value) {
            Verdict::Valid => {}
            Verdict::Invalid(violations) => return Err(violations.findings),
            Verdict::Failed(finding) => return Err(one(finding)),
        }
    }
    Ok(match args.format {
        Format::Text => text(args, &coerced),
        Format::Json => json(&coerced),
    })
}

fn text(args: &Args, coerced: &Coerced<'_>) -> Vec<u8> {
    let mut out = coerced.bytes.to_vec();
    out.push(b'\n');
    for edit in coerced.edits.iter().filter(|_| args.edits) {
        let to = edit.to.map_or_else(|| "removed".to_owned(), one_line);
        let at = one_line(edit.at);
        out.extend_from_slice(format!("  {at}: {} -> {to}\n", one_line(edit.from)).as_bytes());
    }
    out
}

/// With the edits, asked for or not: programs can leave them alone.
fn json(coerced: &Coerced<'_>) -> Vec<u8> {
    let mut out = b"{\"ok\":true,\"arguments\":".to_vec();
    out.extend_from_slice(&coerced.bytes);
    out.extend_from_slice(b",\"edits\":");
    coerced.edits.write_json(&mut out);
    out.extend_from_slice(b"}\n");
    out
}

fn line(finding: &Finding) -> String {
    let at = match (&finding.instance_location, &finding.schema_location) {
        (Some(place), _) if place.0.is_empty() => "the arguments".to_owned(),
        (Some(place), _) => one_line(&place.to_string()),
        (None, Some(place)) if !place.is_empty() => format!("the schema, {}", one_line(place)),
        (None, _) => String::new(),
    };
    let at = if at.is_empty() { at } else { format!(" at {at}") };
    let help = finding.help.as_deref().map(|help| format!("\n    help: {}", one_line(help)));
    format!("{}{at}: {}{}\n", finding.code, one_line(&finding.message), help.unwrap_or_default())
}

fn refused(findings: &[Finding]) -> Vec<u8> {
    let mut out = b"{\"ok\":false,\"errors\":[".to_vec();
    for (number, finding) in findings.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        finding.write_json(&mut out);
    }
    out.extend_from_slice(b"]}\n");
    out
}
