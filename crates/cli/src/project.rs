//! `callgate project`: the schemas of tools as one receiver takes them, and what that receiver will not enforce.

use std::fmt::Write as _;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use callgate_schema::Limits;
use callgate_schema::json::{Kind, Tape, write_string};
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;

use crate::check::source::{Slice, Source};
use crate::exit_code::{ExitCode, Failure};
use crate::receivers::{Change, Effect, Projection, Tree, named, names, project};
use crate::render::escape::one_line;
use crate::render::output;

const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const BOLD: Style = Style::new().bold();

/// Write the schemas of tools as one receiver takes them, and say what it will not enforce.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "FILE holds an array of tools, an object with `tools`, an answer to `tools/list`, or one schema; \
                  `-` is standard input. The same comes out, with other schemas: what the receiver refuses is left \
                  out or said in its words, and never made stricter unless the receiver demands it. What is lost and \
                  what is demanded goes to standard error. A gate goes on enforcing the original.\n\n\
                  Examples:\n  callgate project --for gemini tools.json > tools.gemini.json\n  \
                  callgate project --for openai-strict --tool search tools.json\n  \
                  callgate project --for gemini --format json tools.json\n\n\
                  Exit codes: 0 it is written, 2 a file cannot be read."
)]
pub(crate) struct Args {
    /// The file with the tools
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The receiver
    #[arg(long = "for", value_name = "RECEIVER", value_parser = PossibleValuesParser::new(names()))]
    receiver: String,
    /// This tool's schema alone
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The tools with other schemas; what is lost goes to standard error
    #[default]
    Tools,
    /// One object with the schemas and what is lost of each
    Json,
}

/// One tool with its schema for the receiver.
struct Projected {
    label: String,
    /// Its definition with the other schema, or that schema where there is no definition.
    tool: Tree,
    projection: Projection,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let receiver = named(&args.receiver)
        .ok_or_else(|| Failure::usage(format!("expected a receiver, found `{}`", args.receiver)))?;
    let text = crate::check::read(&args.file)?;
    let unreadable = |why: &str| {
        let file = one_line(&args.file.display().to_string());
        Failure::usage(format!("failed to project `{file}`: {}", one_line(why)))
    };
    let (tools, is_catalog) = match Source::of(&text) {
        Source::Schema => {
            let root = Slice::whole(&text);
            (vec![("(schema)".to_owned(), read(&root, &text).map_err(|why| unreadable(&why))?)], false)
        }
        Source::Catalog { fault: Some(fault), .. } => return Err(unreadable(&fault.finding().message)),
        Source::Catalog { tools, fault: None } => {
            let mut read_tools = Vec::new();
            for (index, slice) in tools.iter().enumerate() {
                let tool = read(slice, &text)
                    .map_err(|why| unreadable(&format!("tool {index} of the list: {why}")))?;
                let label = tool.get("name").and_then(Tree::as_text).map(str::to_owned);
                read_tools.push((label.unwrap_or_else(|| format!("#{index}")), tool));
            }
            (read_tools, true)
        }
    };
    let wanted = |label: &str| args.tool.as_deref().is_none_or(|name| name == label);
    let mut projected = Vec::new();
    for (label, mut tool) in tools.into_iter().filter(|(label, _)| wanted(label)) {
        let schema = if is_catalog { tool.get("inputSchema") } else { Some(&tool) };
        let Some(schema) = schema.filter(|schema| schema.is_object()) else {
            return Err(unreadable(&format!("expected an object as the input schema of `{label}`")));
        };
        let projection = project(schema, receiver);
        if is_catalog {
            tool.set("inputSchema", projection.schema.clone());
        } else {
            tool = projection.schema.clone();
        }
        projected.push(Projected { label, tool, projection });
    }
    if let (Some(name), true) = (&args.tool, projected.is_empty()) {
        return Err(unreadable(&format!("expected a tool `{name}`, found none of that name")));
    }
    match args.format {
        Format::Tools => {
            let one = args.tool.is_some() || !is_catalog;
            output::print_exact(written(&projected, one).as_bytes())?;
            output::remark(&told(&projected, &args.receiver));
        }
        Format::Json => output::print_exact(&json(&projected, &args.receiver))?,
    }
    Ok(ExitCode::Success)
}

fn read(slice: &Slice, text: &[u8]) -> Result<Tree, String> {
    let mut tape = Tape::new();
    match tape.read(slice.text(text), &Limits::default().schema_text()) {
        Ok(node) if node.kind() == Kind::Object => Ok(Tree::of(node)),
        Ok(node) => Err(format!("expected an object, found {}", node.kind().name())),
        Err(fault) => Err(fault.finding().message),
    }
}

/// The tools as they came, or the schema of the one that was asked for.
fn written(projected: &[Projected], one: bool) -> String {
    let mut text = match projected {
        [only] if one => only.projection.schema.spread(),
        all => Tree::Array(all.iter().map(|projected| projected.tool.clone()).collect()).spread(),
    };
    text.push('\n');
    text
}

/// What is lost, and what is demanded beyond the schema.
fn told(projected: &[Projected], receiver: &str) -> String {
    let mut out = String::new();
    let mut as_is = 0;
    for Projected { label, projection, .. } in projected {
        let counts: Vec<&Change> =
            projection.changes.iter().filter(|change| change.effect != Effect::Said).collect();
        if projection.changes.is_empty() {
            as_is += 1;
        }
        if counts.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{BOLD}{}{BOLD:#}", one_line(label));
        let titles = [
            (Effect::Unenforced, "will not enforce; a gate does"),
            (Effect::Demanded, "demands beyond the schema"),
        ];
        for (effect, title) in titles {
            let of_effect: Vec<&&Change> = counts.iter().filter(|change| change.effect == effect).collect();
            if of_effect.is_empty() {
                continue;
            }
            let _ = writeln!(out, "  {YELLOW}{receiver}{YELLOW:#} {title}:");
            for change in of_effect {
                let place =
                    if change.pointer.is_empty() { "the root".into() } else { one_line(&change.pointer) };
                let _ = writeln!(out, "    {place}: {}", one_line(&change.what));
            }
        }
        out.push('\n');
    }
    let tools =
        if projected.len() == 1 { "1 schema".to_owned() } else { format!("{} schemas", projected.len()) };
    let _ = writeln!(out, "{tools} written for {receiver}, {as_is} of them as they were");
    out
}

fn json(projected: &[Projected], receiver: &str) -> Vec<u8> {
    let mut out = b"{\"receiver\":".to_vec();
    write_string(&mut out, receiver);
    out.extend_from_slice(b",\"tools\":[");
    for (at, Projected { label, projection, .. }) in projected.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"{\"tool\":" } else { b",{\"tool\":" });
        write_string(&mut out, label);
        out.extend_from_slice(b",\"schema\":");
        out.extend_from_slice(projection.schema.written().as_bytes());
        out.extend_from_slice(b",\"changes\":[");
        for (at, change) in projection.changes.iter().enumerate() {
            let members = [
                ("effect", change.effect.as_str()),
                ("pointer", &change.pointer),
                ("keyword", &change.keyword),
                ("what", &change.what),
            ];
            for (i, (name, value)) in members.into_iter().enumerate() {
                out.extend_from_slice(match (at, i) {
                    (0, 0) => b"{",
                    (_, 0) => b",{",
                    _ => b",",
                });
                write_string(&mut out, name);
                out.push(b':');
                write_string(&mut out, value);
            }
            out.push(b'}');
        }
        out.extend_from_slice(b"]}");
    }
    out.extend_from_slice(b"]}\n");
    out
}
