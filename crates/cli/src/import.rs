//! `callgate import`: the tool servers of a client's configuration, as the upstreams of a gate.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use callgate_server::config::Config;
use serde_json::{Map, Value};

use crate::exit_code::{ExitCode, Failure};
use crate::render::escape::one_line;
use crate::render::output::{print_exact, remark, write_new};

/// Write a gate's configuration from that of a client: its servers, as upstreams
///
/// FILE is what a client has: an object with `mcpServers` (or `servers`). Secrets are not copied: what looks like one becomes
/// a reference to a variable of the environment, and what is to be set is said.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  callgate import ~/.config/client/mcp.json\n  callgate import mcp.json --output \
                        callgate.toml\n\nThen:\n  callgate serve --config callgate.toml\n\n\
                        Exit codes: 0 it is written, 2 FILE cannot be read or holds no servers, or --output is there already."
)]
pub(crate) struct Args {
    /// The client's configuration
    file: PathBuf,
    /// Write to FILE, which must not be there yet, in place of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The largest file that is read.
const FILE_BYTES_MAX: usize = 8 << 20;
/// Members of an object that are not told as left out, since they say what the others do.
const KNOWN: &[&str] = &["command", "args", "env", "cwd", "url", "headers", "type", "transport", "disabled"];
/// Parts of names whose values are secrets, in lower case.
const SECRET_NAMES: &[&str] =
    &["token", "secret", "password", "passwd", "auth", "key", "cookie", "credential", "private"];

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let name = one_line(&args.file.display().to_string());
    let text = crate::check::read(&args.file)?;
    if text.len() > FILE_BYTES_MAX {
        return Err(Failure::usage(format!(
            "expected at most {FILE_BYTES_MAX} bytes in `{name}`, found more"
        )));
    }
    let root: Value = serde_json::from_slice(&text).map_err(|error| {
        Failure::usage(format!(
            "expected JSON in `{name}`, found none at line {}, column {}",
            error.line(),
            error.column()
        ))
    })?;
    let servers = servers(&root).ok_or_else(|| {
        Failure::usage(format!("expected an object `mcpServers` in `{name}`, as clients have it, found none"))
    })?;
    let imported = Imported::of(servers);
    if imported.count == 0 {
        return Err(Failure::usage(format!(
            "expected a server that a gate can call in `{name}`, found none{}",
            imported.told()
        )));
    }
    // What is written here has to be what the gate reads.
    Config::parse("gate.toml", &imported.text)
        .map_err(|error| anyhow::anyhow!("what was made of `{name}` is no configuration: {error}"))?;
    match &args.output {
        None => print_exact(imported.text.as_bytes())?,
        Some(file) => write_new(file, imported.text.as_bytes())?,
    }
    remark(&format!("{} of {} servers imported{}\n", imported.count, servers.len(), imported.told()));
    Ok(ExitCode::Success)
}

/// The servers, under whatever name clients have them.
fn servers(root: &Value) -> Option<&Map<String, Value>> {
    let holders = [Some(root), root.get("mcp")];
    let names = ["mcpServers", "servers"];
    holders
        .into_iter()
        .flatten()
        .find_map(|holder| names.iter().find_map(|name| holder.get(name)?.as_object()))
}

/// What was made of them.
#[derive(Default)]
struct Imported {
    text: String,
    count: usize,
    names: BTreeSet<String>,
    /// Variables that have to be set.
    variables: BTreeSet<String>,
    remarks: Vec<String>,
}

impl Imported {
    fn of(servers: &Map<String, Value>) -> Imported {
        let mut imported = Imported::default();
        for (name, server) in servers {
            imported.server(name, server);
        }
        imported
    }

    fn server(&mut self, name: &str, server: &Value) {
        let text = |member: &str| server.get(member).and_then(Value::as_str);
        if server.get("disabled") == Some(&Value::Bool(true)) {
            return self.remark(name, "is disabled there, and left out");
        }
        let kind = text("type").or(text("transport")).unwrap_or_default();
        if kind.eq_ignore_ascii_case("sse") {
            return self.remark(
                name,
                "is reached by HTTP with SSE, which is out of use and not spoken here; left out",
            );
        }
        let own = self.own_name(name);
        let mut out = format!("[[upstreams]]\nname = {}\n", quoted(&own));
        match (text("command"), text("url")) {
            (Some(command), None) => {
                let _ = writeln!(out, "command = {}", quoted(command));
                let args = server
                    .get("args")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str);
                let args: Vec<String> = args.map(quoted).collect();
                if !args.is_empty() {
                    let _ = writeln!(out, "args = [{}]", args.join(", "));
                }
                if let Some(cwd) = text("cwd") {
                    let _ = writeln!(out, "cwd = {}", quoted(cwd));
                }
                self.entries(&mut out, &own, "env", server);
            }
            (None, Some(url)) if url.starts_with("http://") || url.starts_with("https://") => {
                let _ = writeln!(out, "url = {}", quoted(url));
                self.entries(&mut out, &own, "headers", server);
            }
            _ => return self.remark(name, "has neither a `command` nor a `url` over HTTP, and is left out"),
        }
        let other = server.as_object().into_iter().flatten().map(|(member, _)| member.as_str());
        let other: Vec<&str> = other.filter(|member| !KNOWN.contains(member)).collect();
        if !other.is_empty() {
            self.remark(name, &format!("has `{}`, which a gate does not know; left out", other.join("`, `")));
        }
        if self.count > 0 {
            self.text.push('\n');
        }
        self.text.push_str(&out);
        self.names.insert(own);
        self.count += 1;
    }

    /// Variables or headers, of which those that hold secrets become references.
    fn entries(&mut self, out: &mut String, upstream: &str, member: &str, server: &Value) {
        let entries = server.get(member).and_then(Value::as_object).into_iter().flatten();
        let mut written = Vec::new();
        for (name, value) in entries {
            let Some(value) = value.as_str() else { continue };
            let lower = name.to_lowercase();
            let is_secret = SECRET_NAMES.iter().any(|part| lower.contains(part));
            let text = match (variable(value), is_secret) {
                (Some(variable), _) => self.reference(variable.to_owned()),
                (None, true) if member == "env" => self.reference(name.clone()),
                (None, true) => self.reference(upper(&format!("{upstream}_{name}"))),
                (None, false) => quoted(value),
            };
            written.push(format!("{} = {text}", quoted(name)));
        }
        if !written.is_empty() {
            let _ = writeln!(out, "{member} = {{ {} }}", written.join(", "));
        }
    }

    fn reference(&mut self, variable: String) -> String {
        let text = format!("{{ env = {} }}", quoted(&variable));
        self.variables.insert(variable);
        text
    }

    /// A name that rules and records can have, which no other server has.
    fn own_name(&mut self, name: &str) -> String {
        let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let plain: String = name.chars().map(|c| if good(c) { c } else { '-' }).take(60).collect();
        let plain = if plain.is_empty() { "server".to_owned() } else { plain };
        let mut own = plain.clone();
        let mut number = 1;
        while self.names.contains(&own) {
            number += 1;
            own = format!("{plain}-{number}");
        }
        if own != name {
            self.remark(name, &format!("is called `{own}` here"));
        }
        own
    }

    fn remark(&mut self, server: &str, what: &str) {
        self.remarks.push(format!("`{}` {}", one_line(server), one_line(what)));
    }

    /// What is to be known and done besides.
    fn told(&self) -> String {
        let mut out = String::new();
        for remark in &self.remarks {
            let _ = write!(out, "\n  {remark}");
        }
        for variable in &self.variables {
            let _ = write!(
                out,
                "\n  set `{}` where the gate is started: secrets are not copied",
                one_line(variable)
            );
        }
        out
    }
}

/// The variable that a value stands for, as clients write it: `${NAME}` or `${env:NAME}`.
fn variable(value: &str) -> Option<&str> {
    let name = value.strip_prefix("${")?.strip_suffix('}')?;
    let name = name.strip_prefix("env:").unwrap_or(name);
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(good)).then_some(name)
}

fn upper(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

/// A text as TOML has it: JSON's escapes are good there, too, and so is DEL as one.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(text: &str) -> String {
        let root: Value = serde_json::from_str(text).unwrap();
        let imported = Imported::of(servers(&root).unwrap());
        Config::parse("gate.toml", &imported.text).unwrap();
        format!("{}---{}\n", imported.text, imported.told())
    }

    #[test]
    fn servers_become_upstreams_and_secrets_references() {
        let text = r#"{"mcpServers": {
            "files": {"command": "npx", "args": ["-y", "server \"x\""], "cwd": "/srv", "autoApprove": ["read"]},
            "git hub": {"command": "gh", "env": {"GITHUB_TOKEN": "s3cret", "LEVEL": "debug", "HOST": "${env:GH_HOST}"}},
            "git-hub": {"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "Bearer s3cret", "X-Team": "a"}},
            "old": {"type": "sse", "url": "https://x.example/sse"},
            "off": {"command": "x", "disabled": true},
            "none": {}
        }}"#;
        insta::assert_snapshot!(imported(text), @r#"
        [[upstreams]]
        name = "files"
        command = "npx"
        args = ["-y", "server \"x\""]
        cwd = "/srv"

        [[upstreams]]
        name = "git-hub"
        command = "gh"
        env = { "GITHUB_TOKEN" = { env = "GITHUB_TOKEN" }, "HOST" = { env = "GH_HOST" }, "LEVEL" = "debug" }

        [[upstreams]]
        name = "git-hub-2"
        url = "https://x.example/mcp"
        headers = { "Authorization" = { env = "GIT_HUB_2_AUTHORIZATION" }, "X-Team" = "a" }
        ---
          `files` has `autoApprove`, which a gate does not know; left out
          `git hub` is called `git-hub` here
          `git-hub` is called `git-hub-2` here
          `none` has neither a `command` nor a `url` over HTTP, and is left out
          `off` is disabled there, and left out
          `old` is reached by HTTP with SSE, which is out of use and not spoken here; left out
          set `GH_HOST` where the gate is started: secrets are not copied
          set `GITHUB_TOKEN` where the gate is started: secrets are not copied
          set `GIT_HUB_2_AUTHORIZATION` where the gate is started: secrets are not copied
        "#);
    }

    #[test]
    fn servers_are_found_where_clients_have_them() {
        for text in [
            r#"{"servers": {"a": {"command": "x"}}}"#,
            r#"{"mcp": {"servers": {"a": {"command": "x"}}}}"#,
            r#"{"servers": [], "mcpServers": {"a": {"command": "x"}}}"#,
        ] {
            assert!(servers(&serde_json::from_str(text).unwrap()).is_some(), "{text}");
        }
        for text in ["[]", "{}", r#"{"mcpServers": []}"#] {
            assert!(servers(&serde_json::from_str(text).unwrap()).is_none(), "{text}");
        }
    }

    #[test]
    fn what_stands_for_a_variable_is_one() {
        assert_eq!(variable("${TOKEN}"), Some("TOKEN"));
        assert_eq!(variable("${env:TOKEN}"), Some("TOKEN"));
        for other in ["TOKEN", "${}", "${input:token}", "Bearer ${TOKEN}", "${A}${B}"] {
            assert_eq!(variable(other), None, "{other}");
        }
    }
}
