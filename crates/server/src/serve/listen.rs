//! Changes as clients hear of them: in the older era as notifications of the session, in the newer one on a stream that the
//! client has asked for, and only what it asked for.

use callgate_mcp::relay::with_subscription;
use callgate_mcp::{FrameLimits, RequestId};
use callgate_schema::json::{Kind, Node, Tape};

use super::change::Change;

/// Resources that one stream may ask about.
const RESOURCES_MAX: usize = 1_000;

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";

/// What a client wants to hear of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    tools: bool,
    prompts: bool,
    resources: bool,
    updated: Vec<String>,
}

impl Filter {
    /// What a session of the older era hears of: every list.
    pub(crate) fn of_session() -> Filter {
        Filter { tools: true, prompts: true, resources: true, updated: Vec::new() }
    }

    /// What a `subscriptions/listen` asks for.
    ///
    /// # Errors
    /// What was expected.
    pub(crate) fn read(frame: &[u8], limits: &FrameLimits) -> Result<Filter, &'static str> {
        let mut tape = Tape::new();
        let root = tape.read(frame, &limits.frame_text()).map_err(|_| "a request that can be read")?;
        let wanted = root
            .pointer("/params/notifications")
            .filter(|wanted| wanted.kind() == Kind::Object)
            .ok_or("`params.notifications` as an object")?;
        let is = |name: &str| match wanted.member(name) {
            None => Ok(false),
            Some(node) => node.as_bool().ok_or("`true` or `false` for each kind of list"),
        };
        let updated = match wanted.member("resourceSubscriptions") {
            None => Vec::new(),
            Some(list) if list.kind() == Kind::Array && list.len() <= RESOURCES_MAX => {
                let uris = list.items().map(|uri| uri.as_str().map(std::borrow::Cow::into_owned));
                uris.collect::<Option<Vec<String>>>().ok_or("URIs as strings in `resourceSubscriptions`")?
            }
            Some(_) => return Err("`resourceSubscriptions` as an array of at most 1,000 URIs"),
        };
        Ok(Filter {
            tools: is("toolsListChanged")?,
            prompts: is("promptsListChanged")?,
            resources: is("resourcesListChanged")?,
            updated,
        })
    }

    /// The first message on a stream: what is heard on it.
    pub(crate) fn acknowledge(&self, id: &RequestId) -> Vec<u8> {
        let mut honoured = Vec::new();
        for (name, wanted) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if wanted {
                honoured.push(format!("\"{name}\":true"));
            }
        }
        if !self.updated.is_empty() {
            let uris: Vec<String> = self.updated.iter().map(|uri| quoted(uri)).collect();
            honoured.push(format!("\"resourceSubscriptions\":[{}]", uris.join(",")));
        }
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{{\"_meta\":\
             {{\"io.modelcontextprotocol/subscriptionId\":{}}},\"notifications\":{{{}}}}}}}",
            id.raw(),
            honoured.join(",")
        )
        .into_bytes()
    }

    /// The notification of a change, if it is one that is wanted.
    pub(crate) fn notification(&self, change: &Change, limits: &FrameLimits) -> Option<Vec<u8>> {
        match change {
            Change::Tools => {
                self.tools.then(|| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{TOOLS}\"}}").into_bytes())
            }
            Change::Told { method, frame } => {
                let wanted = match &**method {
                    PROMPTS => self.prompts,
                    RESOURCES => self.resources,
                    UPDATED => uri(frame, limits).is_some_and(|uri| self.updated.contains(&uri)),
                    _ => false,
                };
                wanted.then(|| frame.to_vec())
            }
        }
    }

    /// The same on a stream of the newer era.
    pub(crate) fn event(&self, change: &Change, limits: &FrameLimits, id: &RequestId) -> Option<Vec<u8>> {
        with_subscription(&self.notification(change, limits)?, limits, id.raw())
    }
}

/// The last message on a stream that the gate closes.
pub(crate) fn closed(id: &RequestId) -> Vec<u8> {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{0},\"result\":{{\"resultType\":\"complete\",\"_meta\":\
         {{\"io.modelcontextprotocol/subscriptionId\":{0}}}}}}}",
        id.raw()
    )
    .into_bytes()
}

fn uri(frame: &[u8], limits: &FrameLimits) -> Option<String> {
    let mut tape = Tape::new();
    let root = tape.read(frame, &limits.frame_text()).ok()?;
    root.pointer("/params/uri").and_then(Node::as_str).map(std::borrow::Cow::into_owned)
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    callgate_schema::json::write_string(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_what_was_asked_for_and_nothing_else() {
        let limits = FrameLimits::default();
        let id = RequestId::parse(b"7", 10).unwrap();
        let frame =
            br#"{"params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}}}"#;
        let filter = Filter::read(frame, &limits).unwrap();
        let tools = filter.event(&Change::Tools, &limits, &id).unwrap();
        assert_eq!(
            String::from_utf8(tools).unwrap(),
            r#"{"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}},"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#
        );
        let told = |method: &str, uri: &str| Change::Told {
            method: method.into(),
            frame: format!(r#"{{"method":"{method}","params":{{"uri":"{uri}"}}}}"#).into_bytes().into(),
        };
        assert!(filter.event(&told(UPDATED, "a:b"), &limits, &id).is_some());
        assert!(filter.event(&told(UPDATED, "a:c"), &limits, &id).is_none());
        assert!(filter.event(&told(PROMPTS, ""), &limits, &id).is_none());
        assert!(Filter::read(br#"{"params":{"notifications":{"toolsListChanged":1}}}"#, &limits).is_err());
    }
}
