//! `callgate call`: one call of a tool through a gate that runs, by hand or from a script.

use std::fmt::Write as _;

use callgate_gateway::catalog::{Admission, AdmissionSettings, AdmittedTool, admit_tools};
use callgate_schema::Profile;
use callgate_server::call_url;
use serde_json::Value;

use crate::check::Format;
use crate::exit_code::{ExitCode, Failure};
use crate::live::{failed, parse_header, parse_url, settings, url_name};
use crate::render::escape::one_line;
use crate::render::output::{complain, print, print_exact};

/// Call a tool through a gate that runs, with flags by its schema or with JSON.
///
/// The call passes the gate as any other: its rules, budgets, approvals and record.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  callgate call git__status --repo_path .\n  callgate call --args '{\"id\":7}' read_note\n  \
                        callgate call --key invoice-7 pay amount=5 to=ada\n  callgate call --header \"Authorization: \
                        Bearer $TOKEN\" --format json read_note --id 7\n\n\
                        Exit codes: 0 the tool has done it, 1 the tool says that it failed, 2 the flags are not its own, \
                        3 the gate refused the call or its outcome is not known, 4 nobody answers at the address."
)]
pub(crate) struct Args {
    /// Where the gate listens
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:7411/mcp", value_parser = parse_url)]
    url: String,
    /// Send this header with every request, such as `Authorization: Bearer …`
    #[arg(long, value_name = "NAME: VALUE", value_parser = parse_header)]
    header: Vec<(String, String)>,
    /// A key by which the call runs once, however often it is made
    #[arg(long)]
    key: Option<String>,
    /// The arguments as a JSON object, in place of flags
    #[arg(long = "args", value_name = "JSON", conflicts_with = "flags")]
    json: Option<String>,
    /// How long the call may take, in milliseconds
    #[arg(long, value_name = "N", default_value_t = 300_000, value_parser = clap::value_parser!(u64).range(1..))]
    timeout_ms: u64,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The tool, as the gate lists it
    tool: String,
    /// Its arguments: `--name value`, `--name=value` or `name=value`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let arguments = |tools: &[Box<[u8]>]| match &args.json {
        Some(json) => Ok(json.clone().into_bytes()),
        None => of_flags(args, tools),
    };
    let named = (args.tool.as_str(), args.key.as_deref());
    let answer = call_url(&args.url, &args.header, &settings(args.timeout_ms), named, arguments)
        .map_err(|error| failed("call", &url_name(&args.url), error))??;
    let answer: Value = serde_json::from_slice(&answer)
        .map_err(|_| Failure::upstream("expected an answer that can be read, found another"))?;
    if let Some(error) = answer.get("error") {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("the call is refused");
        return Err(Failure::with(ExitCode::Refused, one_line(message)));
    }
    let result = answer.get("result").unwrap_or(&Value::Null);
    let text = shown(result);
    if result.pointer("/_meta/dev.callgate~1refusal").is_some() {
        complain(&text.trim_end().lines().map(one_line).collect::<Vec<_>>().join("\n  "));
        return Ok(ExitCode::Refused);
    }
    match args.format {
        Format::Json => print_exact(format!("{result}\n").as_bytes())?,
        Format::Text => print(&text.lines().fold(String::new(), |out, line| out + &one_line(line) + "\n"))?,
    }
    let failed = result.get("isError") == Some(&Value::Bool(true));
    Ok(if failed { ExitCode::Findings } else { ExitCode::Success })
}

/// The arguments that the flags stand for, by the tool's own schema.
fn of_flags(args: &Args, tools: &[Box<[u8]>]) -> anyhow::Result<Vec<u8>> {
    let settings = AdmissionSettings::new(Profile::Standard);
    let admissions = admit_tools(tools.iter().map(AsRef::as_ref), &settings);
    let admitted = admissions.iter().filter_map(|admission| match admission {
        Admission::Admitted(tool) => Some(tool),
        Admission::Quarantined(_) => None,
    });
    let admitted: Vec<&AdmittedTool> = admitted.collect();
    let Some(tool) = admitted.iter().find(|tool| tool.name == args.tool) else {
        let nearest = admitted
            .iter()
            .map(|tool| (strsim::damerau_levenshtein(&args.tool, &tool.name), &tool.name))
            .min()
            .filter(|(distance, name)| *distance <= name.len() / 2);
        let advice =
            nearest.map(|(_, name)| format!("; did you mean `{}`?", one_line(name))).unwrap_or_default();
        let message =
            format!("expected a tool that the gate lists, found `{}`{advice}", one_line(&args.tool));
        return Err(Failure::usage(message));
    };
    tool.input.read_flags(&args.flags).map_err(|finding| {
        let help = finding.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        Failure::usage(one_line(&format!("{}{help} ({})", finding.message, finding.code)))
    })
}

/// The texts of a result; what is no text is named.
fn shown(result: &Value) -> String {
    let mut out = String::new();
    for block in result.get("content").and_then(Value::as_array).into_iter().flatten() {
        match (block.get("text").and_then(Value::as_str), block.get("type").and_then(Value::as_str)) {
            (Some(text), _) => out.push_str(text),
            (None, kind) => {
                let _ =
                    write!(out, "({}; --format json prints it)", kind.unwrap_or("something without a type"));
            }
        }
        out.push('\n');
    }
    if result.get("resultType").and_then(Value::as_str) == Some("input_required") {
        out.push_str("the tool asks for more, which cannot be answered here\n");
    }
    out
}
