//! The operations on texts: `coerce`, `argv` and `wire_args`.

use callgate_schema::json::{Node, Tape};
use callgate_schema::{Coerced, Coercion, Limits, Options, Profile, Program};
use callgate_wire::WireArgs;

use super::answer::Answer;
use super::operation::{checked, options};
use super::request::{Request, malformed};

pub(super) fn coerce(request: &Request<'_>, limits: &Limits) -> Result<Answer, Answer> {
    let schema = request.json("schema")?.ok_or_else(|| malformed("expected `schema`, found none"))?;
    let arguments = request.json("arguments")?.unwrap_or_else(|| b"{}".into());
    let coercion = Coercion::compile(&schema, &options(request, limits, Profile::Wire)?)?;
    let mut tape = Tape::new();
    let read = tape.read(&arguments, &limits.arguments_text());
    let arguments = read.map_err(|fault| Answer::refused(vec![fault.finding()]))?;
    let Coerced { bytes, edits: changes } = coercion.coerce(arguments)?;
    let mut edits = Vec::new();
    changes.write_json(&mut edits);
    drop(changes);
    if request.field("validate") == Some(b"true") {
        let options = Options { limits: limits.clone(), ..Options::tool(Profile::Standard) };
        check(&Program::compile(&schema, &options)?, &bytes, limits)?;
    }
    Ok(Answer::Fine {
        warnings: None,
        members: vec![("arguments", text(&bytes)), ("edits", String::from_utf8(edits).unwrap_or_default())],
    })
}

pub(super) fn argv(request: &Request<'_>, limits: &Limits) -> Result<Answer, Answer> {
    let schema = request.json("schema")?.ok_or_else(|| malformed("expected `schema`, found none"))?;
    let flags = request.field("argv").ok_or_else(|| malformed("expected `argv`, found none"))?;
    let mut tape = Tape::new();
    let read = tape.read(flags, &limits.arguments_text());
    let flags = read.map_err(|fault| Answer::refused(vec![fault.finding()]))?;
    let texts: Option<Vec<_>> = flags.items().map(Node::as_str).collect();
    let is_list = flags.kind() == callgate_schema::json::Kind::Array;
    let texts = texts
        .filter(|_| is_list)
        .ok_or_else(|| malformed("expected `argv` as a list of texts, found another value"))?;
    let program = Program::compile(&schema, &options(request, limits, Profile::Standard)?)?;
    let arguments = program.read_flags(&texts)?;
    check(&program, &arguments, limits)?;
    Ok(Answer::Fine { warnings: None, members: vec![("arguments", text(&arguments))] })
}

/// The refusal of arguments that do not keep their schema.
fn check(program: &Program, arguments: &[u8], limits: &Limits) -> Result<(), Answer> {
    let mut tape = Tape::new();
    let read = tape.read(arguments, &limits.arguments_text());
    let arguments = read.map_err(|fault| Answer::refused(vec![fault.finding()]))?;
    super::operation::is_object(arguments)?;
    checked(program, arguments).map(|_| ())
}

pub(super) fn wire_args(request: &Request<'_>, _: &Limits) -> Result<Answer, Answer> {
    let wire = request.field("wire").ok_or_else(|| malformed("expected `wire`, found none"))?;
    let args = WireArgs::try_from(wire)?;
    let accessor = request.text("accessor")?.unwrap_or_default();
    let key = match request.field("key") {
        Some(b"null") | None => String::new(),
        Some(_) => request.text("key")?.unwrap_or_default(),
    };
    let value = match accessor.as_str() {
        "string" => args.string(&key).map(quoted),
        "bool" => args.bool(&key).map(|value| value.to_string()),
        "int" => args.int(&key).map(|value| value.to_string()),
        // This form has a point or an exponent always, and as many digits as the double needs.
        "double" => args.double(&key).map(|value| format!("{value:?}")),
        "json_object" => args.json_object(&key)?.map(|object| object.root().raw_str().to_owned()),
        "arguments" => Some(text(&args.to_arguments())),
        other => {
            let names = "`string`, `bool`, `int`, `double`, `json_object` or `arguments`";
            return Err(malformed(format!("expected {names} as `accessor`, found `{other}`")).into());
        }
    };
    let value = value.unwrap_or_else(|| "null".into());
    Ok(Answer::Fine { warnings: None, members: vec![("value", value)] })
}

fn quoted(value: &str) -> String {
    let mut out = Vec::new();
    callgate_schema::json::write_string(&mut out, value);
    text(&out)
}

/// JSON that was read or written here is UTF-8.
fn text(json: &[u8]) -> String {
    String::from_utf8_lossy(json).into_owned()
}
