//! What a request asks for.

use callgate_schema::json::{Kind, Node, Tape, canonical, digest};
use callgate_schema::pattern::{Language, Pattern};
use callgate_schema::{
    Code, CompileError, Detail, Dialect, Finding, Limits, Options, Profile, Program, Resource, Verdict, Work,
};

use super::answer::Answer;
use super::coercion;
use super::request::{Request, malformed};

/// The operations by name.
const OPERATIONS: &[(&str, Operation)] = &[
    ("preflight", preflight),
    ("validate", validate),
    ("check_value", check_value),
    ("pattern", pattern),
    ("digest", digest_of),
    ("coerce", coercion::coerce),
    ("argv", coercion::argv),
    ("wire_args", coercion::wire_args),
    ("wire", super::wire::wire),
    ("entity", super::wire::entity),
    ("mcp", super::wire::mcp),
];

type Operation = fn(&Request<'_>, &Limits) -> Result<Answer, Answer>;

/// Carries out a request; whatever it is, there is an answer.
pub(super) fn carry_out(request: &Request<'_>) -> Answer {
    let outcome = named(request).and_then(|operation| {
        let limits = limits(request)?;
        operation(request, &limits)
    });
    match outcome {
        Ok(answer) | Err(answer) => answer,
    }
}

impl From<Box<Finding>> for Answer {
    fn from(finding: Box<Finding>) -> Self {
        Answer::refused(vec![*finding])
    }
}

impl From<CompileError> for Answer {
    fn from(error: CompileError) -> Self {
        Answer::Refused { findings: error.findings, truncated: error.truncated }
    }
}

fn named(request: &Request<'_>) -> Result<Operation, Answer> {
    let name = request.text("op")?.ok_or_else(|| malformed("expected the operation as `op`, found none"))?;
    let known = OPERATIONS.iter().find(|(known, _)| *known == name);
    Ok(known.map(|(_, operation)| *operation).ok_or_else(|| {
        let names: Vec<&str> = OPERATIONS.iter().map(|(name, _)| *name).collect();
        malformed(format!("expected one of {} as `op`, found `{name}`", names.join(", ")))
    })?)
}

fn limits(request: &Request<'_>) -> Result<Limits, Answer> {
    let mut limits = Limits::default();
    for (name, value) in request.members("limits")? {
        let number = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
        let number = number.ok_or_else(|| malformed(format!("expected a whole number as limit `{name}`")))?;
        if !limits.set(&name, number) {
            return Err(malformed(format!("expected the name of a limit, found `{name}`")).into());
        }
    }
    Ok(limits)
}

/// The options for a tool's schema; `absent` is the profile of a request that names none.
pub(super) fn options(request: &Request<'_>, limits: &Limits, absent: Profile) -> Result<Options, Answer> {
    let profile = match request.text("profile")? {
        None => absent,
        Some(name) => Profile::from_name(&name).ok_or_else(|| {
            malformed(format!("expected `standard`, `portable` or `wire` as `profile`, found `{name}`"))
        })?,
    };
    Ok(Options { limits: limits.clone(), ..Options::tool(profile) })
}

fn preflight(request: &Request<'_>, limits: &Limits) -> Result<Answer, Answer> {
    let schema = request.json("schema")?.ok_or_else(|| malformed("expected `schema`, found none"))?;
    let program = Program::compile(&schema, &options(request, limits, Profile::Standard)?)?;
    Ok(Answer::Fine { warnings: Some(program.warnings().to_vec()), members: Vec::new() })
}

/// The order is that of the contract: no schema at all, then arguments that are no object, then the schema, then what
/// the arguments hold.
fn validate(request: &Request<'_>, limits: &Limits) -> Result<Answer, Answer> {
    let schema = request.json("schema")?.ok_or_else(|| malformed("expected `schema`, found none"))?;
    if schema.trim_ascii() == b"null" {
        return Ok(Program::absent().map(|_| fine())?);
    }
    let arguments = request.json("arguments")?.unwrap_or_else(|| b"{}".into());
    let mut tape = Tape::new();
    let arguments = tape.read(&arguments, &limits.arguments_text());
    if let Ok(arguments) = arguments {
        is_object(arguments)?;
    }
    let program = Program::compile(&schema, &options(request, limits, Profile::Standard)?)?;
    let arguments = arguments.map_err(|fault| Answer::refused(vec![fault.finding()]))?;
    checked(&program, arguments)
}

/// The refusal of arguments that are no object.
pub(super) fn is_object(arguments: Node<'_>) -> Result<(), Answer> {
    if arguments.kind() == Kind::Object {
        return Ok(());
    }
    let message = format!("expected an object as the arguments, found {}", arguments.kind().name());
    let finding =
        Finding::new(Code::ArgumentsShape, message).at_instance(callgate_schema::Location::default());
    Err(Answer::refused(vec![finding.at_schema("type", "")]))
}

fn check_value(request: &Request<'_>, limits: &Limits) -> Result<Answer, Answer> {
    let schema = request.json("schema")?.ok_or_else(|| malformed("expected `schema`, found none"))?;
    let instance = request.json("instance")?.ok_or_else(|| malformed("expected `instance`, found none"))?;
    let mut options = Options { limits: limits.clone(), ..Options::value() };
    if let Some(name) = request.text("dialect")? {
        options.dialect = Dialect::from_name(&name).ok_or_else(|| {
            malformed(format!("expected `2020-12` or `draft-07` as `dialect`, found `{name}`"))
        })?;
    }
    options.resources = request
        .members("resources")?
        .into_iter()
        .map(|(uri, text)| Resource { uri, text: text.into() })
        .collect();
    options.format_assertion = request.field("format_assertion") == Some(b"true");
    let program = Program::compile(&schema, &options)?;
    let mut tape = Tape::new();
    let read = tape.read(&instance, &limits.arguments_text());
    let instance = read.map_err(|fault| Answer::refused(vec![fault.finding()]))?;
    checked(&program, instance)
}

pub(super) fn checked(program: &Program, value: Node<'_>) -> Result<Answer, Answer> {
    match program.check(value) {
        Verdict::Valid => Ok(Answer::Fine {
            warnings: (!program.warnings().is_empty()).then(|| program.warnings().to_vec()),
            members: Vec::new(),
        }),
        Verdict::Invalid(violations) => {
            Err(Answer::Refused { findings: violations.findings, truncated: violations.truncated })
        }
        Verdict::Failed(finding) => Err(finding.into()),
    }
}

const fn fine() -> Answer {
    Answer::Fine { warnings: None, members: Vec::new() }
}

fn pattern(request: &Request<'_>, limits: &Limits) -> Result<Answer, Answer> {
    let text = request.text("pattern")?.ok_or_else(|| malformed("expected `pattern`, found none"))?;
    let string = request.text("string")?.unwrap_or_default();
    let language = match options(request, limits, Profile::Standard)?.profile {
        Profile::Standard | Profile::Wire => Language::Standard,
        Profile::Portable => Language::Portable,
    };
    let pattern = Pattern::compile(&text, language, limits).map_err(|fault| {
        let finding = Finding::new(fault.code, fault.message)
            .with("pattern_offset", Detail::Count(fault.offset as u64))
            .at_schema("pattern", "");
        Answer::refused(vec![match fault.help {
            Some(help) => finding.with_help(help),
            None => finding,
        }])
    })?;
    let mut work = Work::new(limits.work_for(string.len()));
    let matched = pattern.is_match(&string, &mut work).map_err(|_| {
        let message = format!("expected an answer within {} units of work, found none", work.total());
        Answer::refused(vec![
            Finding::new(Code::WorkExhausted, message)
                .with("limit", Detail::Text("work".into()))
                .with("maximum", Detail::Count(work.total())),
        ])
    })?;
    Ok(Answer::Fine { warnings: None, members: vec![("match", matched.to_string())] })
}

fn digest_of(request: &Request<'_>, limits: &Limits) -> Result<Answer, Answer> {
    let value = request.json("value")?.ok_or_else(|| malformed("expected `value`, found none"))?;
    let mut tape = Tape::new();
    let read = tape.read(&value, &limits.arguments_text());
    let value = read.map_err(|fault| Answer::refused(vec![fault.finding()]))?;
    let sha256 = format!("\"{}\"", digest("value", value));
    let plain = canonical(value);
    // The tape of a large value is several times its text.
    drop(tape);
    let mut text = Vec::with_capacity(plain.len());
    callgate_schema::json::write_string(&mut text, &String::from_utf8_lossy(&plain));
    let canonical = String::from_utf8(text).unwrap_or_default();
    Ok(Answer::Fine { warnings: None, members: vec![("sha256", sha256), ("canonical", canonical)] })
}
