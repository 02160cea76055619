//! One call of a table, as it is written.

use callgate_gateway::policy::{Claims, Effect, Target};
use callgate_schema::Limits;
use callgate_schema::json::{Document, Kind, Member, Node, write_string};
use callgate_server::config::toml_as_json;
use callgate_wire::Principal;

use crate::render::escape::one_line;

/// What a call may have.
const MEMBERS: &[&str] = &["name", "principal", "claims", "tool", "arguments", "expect", "rules"];

/// One call, and what is expected of it.
pub(super) struct Row {
    /// Where it stands: `line 3`, or `calls[2]`.
    pub(super) place: String,
    pub(super) name: Option<String>,
    pub(super) principal: Principal,
    pub(super) claims: Option<Claims>,
    /// The qualified name of what is asked for.
    pub(super) target: String,
    pub(super) arguments: Document,
    pub(super) expect: Effect,
    /// The rules that have to determine it, in any order.
    pub(super) rules: Option<Vec<String>>,
}

impl Row {
    /// The calls of a text that has one on each line; blank lines are none.
    pub(super) fn of_lines(text: &str) -> Result<Vec<Row>, String> {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(number, line)| {
                let place = format!("line {number}");
                let document = Document::read(line.as_bytes(), &Limits::default().arguments_text())
                    .map_err(|fault| format!("{place}: {}", fault.finding().message))?;
                Row::of(document.root(), place)
            })
            .collect()
    }

    /// The calls under `[[calls]]`.
    pub(super) fn of_toml(text: &str) -> Result<Vec<Row>, String> {
        let json = toml_as_json(text).map_err(|fault| format!("line {}: {}", fault.line, fault.message))?;
        let document = Document::read(json, &Limits::default().arguments_text())
            .map_err(|fault| fault.finding().message)?;
        members(document.root(), &["calls"], "the table")?;
        let calls = document.root().member("calls").map(Node::items);
        calls
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(at, call)| Row::of(call, format!("calls[{at}]")))
            .collect()
    }

    fn of(call: Node<'_>, place: String) -> Result<Row, String> {
        members(call, MEMBERS, &place)?;
        let text = |name: &str| text(call, name, &place);
        let expected = |what: &str| format!("{place}: expected {what}");
        let target = text("tool")?.ok_or_else(|| expected("`tool`, found none"))?;
        if Target::parse(&target).is_none() {
            return Err(expected(&format!("`tool` to be UPSTREAM/NAME, found `{}`", one_line(&target))));
        }
        let expect = text("expect")?.ok_or_else(|| expected("`expect`, found none"))?;
        let expect = Effect::parse(&expect).ok_or_else(|| {
            expected(&format!("`permit`, `ask` or `forbid`, found `{}`", one_line(&expect)))
        })?;
        let arguments = call.member("arguments").map_or(&b"{}"[..], Node::raw);
        let claims = call.member("claims").map(|claims| Claims::read(claims.raw())).transpose();
        let rules = match call.member("rules") {
            None => None,
            Some(rules) => {
                let ids: Option<Vec<String>> =
                    rules.items().map(|id| id.as_str().map(std::borrow::Cow::into_owned)).collect();
                let ids = ids.filter(|_| rules.kind() == Kind::Array);
                Some(ids.ok_or_else(|| expected("`rules` to be an array of ids"))?)
            }
        };
        Ok(Row {
            name: text("name")?,
            principal: Principal::from_stored(text("principal")?.unwrap_or_else(|| "local:user".to_owned())),
            claims: claims.map_err(|finding| expected(&format!("claims: {}", finding.message)))?,
            target,
            arguments: Document::read(arguments, &Limits::default().arguments_text())
                .map_err(|fault| fault.finding().message)?,
            expect,
            rules,
            place,
        })
    }
}

fn text(object: Node<'_>, name: &str, place: &str) -> Result<Option<String>, String> {
    match object.member(name) {
        None => Ok(None),
        Some(node) => match node.as_str() {
            Some(text) => Ok(Some(text.into_owned())),
            None => Err(format!("{place}: expected `{name}` to be a string, found {}", node.kind().name())),
        },
    }
}

/// Refuses what is no object, and a member that is not known.
pub(crate) fn members(object: Node<'_>, known: &[&str], place: &str) -> Result<(), String> {
    if object.kind() != Kind::Object {
        return Err(format!("{place}: expected an object, found {}", object.kind().name()));
    }
    let unknown = object.members().map(Member::name).find(|name| !known.contains(&&**name));
    let Some(unknown) = unknown else { return Ok(()) };
    let nearest = known
        .iter()
        .map(|name| (strsim::jaro_winkler(name, &unknown), name))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(likeness, _)| *likeness >= 0.8);
    let advice = match nearest {
        Some((_, name)) => format!("did you mean `{name}`?"),
        None => format!("the members are `{}`", known.join("`, `")),
    };
    Err(format!("{place}: expected a member that is known, found `{}`; {advice}", one_line(&unknown)))
}

/// A text as JSON has it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_string(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}
