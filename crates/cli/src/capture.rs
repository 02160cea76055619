//! `callgate capture`: the catalog of a live server in a file, as received.

use std::ffi::OsString;
use std::path::PathBuf;

use callgate_gateway::catalog::{Admission, AdmissionSettings, admit_tool};
use callgate_schema::Profile;
use callgate_schema::json::{Digest, write_string};
use callgate_server::Visit;

use crate::exit_code::{ExitCode, Failure};
use crate::live::{LiveArgs, url_name};
use crate::render::escape::one_line;
use crate::render::output::{self, replace_file};
use crate::wrap::upstream_name;

/// Write the tools of a live server to a file, as received, each with its pin
///
/// The file is a catalog that `callgate check` reads: the bytes of each tool's definition are those that the server
/// sent. Beside them it has the pin of each tool, a digest over its whole definition, and one over all of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        callgate capture --output tools.json -- npx -y @modelcontextprotocol/server-everything\n  \
                        callgate capture --url https://example.com/mcp > tools.json\n\n\
                        Exit codes: 0 the catalog is written, 2 FILE cannot be written, 4 the server failed.")]
pub(crate) struct Args {
    /// Write to FILE instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    live: LiveArgs,
    /// The tool server's command and its arguments
    #[arg(last = true, required_unless_present = "url", conflicts_with = "url", value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (name, visit) = match (&args.live.url, args.command.split_first()) {
        (Some(url), _) => (url_name(url), args.live.visit_url(url)?),
        (None, Some((command, words))) => {
            (upstream_name(command, words), args.live.visit_command(command, words)?)
        }
        (None, None) => return Err(Failure::usage("expected the tool server's command after `--`")),
    };
    let catalog = catalog(&name, &visit);
    match &args.output {
        None => output::print_exact(&catalog.text)?,
        Some(file) => {
            replace_file(file, &catalog.text)?;
            let tools = visit.tools.len();
            let (file, name) = (one_line(&file.display().to_string()), one_line(&name));
            output::print(&format!("{file}: {tools} tools of {name}, pin {}\n", catalog.pin))?;
        }
    }
    Ok(ExitCode::Success)
}

struct Catalog {
    text: Vec<u8>,
    /// Over the pins of all tools, in the server's order.
    pin: Digest,
}

/// One line a tool, so that a difference between two catalogs can be read.
fn catalog(name: &str, visit: &Visit) -> Catalog {
    let settings = AdmissionSettings::new(Profile::Standard);
    let judge = |(index, definition)| match admit_tool(definition, index, &settings) {
        Admission::Admitted(tool) => (tool.name, Some(tool.contract_digest)),
        Admission::Quarantined(tool) => (tool.label(), tool.contract_digest),
    };
    let tools: Vec<(String, Option<Digest>)> =
        visit.tools.iter().map(AsRef::as_ref).enumerate().map(judge).collect();
    // A definition that cannot be read has no canonical form: its bytes are what is pinned.
    let pins: Vec<Digest> = tools
        .iter()
        .zip(&visit.tools)
        .map(|((_, digest), definition)| digest.unwrap_or_else(|| Digest::of("definition", &[definition])))
        .collect();
    let parts: Vec<&[u8]> = pins.iter().map(|pin| pin.as_bytes().as_slice()).collect();
    let pin = Digest::of("catalog", &parts);
    let mut text = b"{\"server\":".to_vec();
    write_string(&mut text, name);
    text.extend_from_slice(b",\"revision\":");
    write_string(&mut text, visit.revision);
    text.extend_from_slice(b",\"serverInfo\":");
    text.extend_from_slice(visit.server.as_deref().unwrap_or("null").as_bytes());
    text.extend_from_slice(format!(",\"pin\":\"{pin}\",\"pins\":[").as_bytes());
    for (at, ((name, _), pin)) in tools.iter().zip(&pins).enumerate() {
        text.extend_from_slice(if at == 0 { b"\n{\"tool\":" } else { b",\n{\"tool\":" });
        write_string(&mut text, name);
        text.extend_from_slice(format!(",\"pin\":\"{pin}\"}}").as_bytes());
    }
    text.extend_from_slice(b"\n],\"tools\":");
    write_tools(&mut text, &visit.tools);
    text.extend_from_slice(b"}\n");
    Catalog { text, pin }
}

/// The definitions as an array, one a line, their bytes unchanged.
pub(crate) fn write_tools(out: &mut Vec<u8>, tools: &[Box<[u8]>]) {
    out.push(b'[');
    for (at, tool) in tools.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"\n" } else { b",\n" });
        out.extend_from_slice(tool);
    }
    out.extend_from_slice(b"\n]");
}
