//! Changes as clients hear of them: in the older era as notifications of the session, in the newer one on a stream that the
//! client has asked for, and only what it asked for.

use std::sync::Arc;

use callgate_mcp::relay::with_subscription;
use callgate_mcp::{FrameLimits, RequestId};
use callgate_schema::json::{Kind, Node, Tape};

use super::change::Change;
use super::client::Client;
use super::followed::{FOLLOWED_MAX, Followed};
use super::gate::Gate;
use crate::records::json::quoted;

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const UPDATED: &str = "notifications/resources/updated";
const RESOURCES: &str = "notifications/resources/list_changed";

/// What a client wants to hear of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    tools: bool,
    prompts: bool,
    resources: bool,
    /// Single resources.
    followed: Arc<Followed>,
}

impl Filter {
    /// What a session of the older era hears of: every list, and the resources that it follows.
    pub(crate) fn of_session(followed: Arc<Followed>) -> Filter {
        Filter { tools: true, prompts: true, resources: true, followed }
    }

    /// What a `subscriptions/listen` asks for, and the single resources that it names: they are to be followed.
    ///
    /// # Errors
    /// What was expected.
    pub(crate) fn read(frame: &[u8], limits: &FrameLimits) -> Result<(Filter, Vec<String>), &'static str> {
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
        let filter = Filter {
            tools: is("toolsListChanged")?,
            prompts: is("promptsListChanged")?,
            resources: is("resourcesListChanged")?,
            followed: Arc::default(),
        };
        let uris = match wanted.member("resourceSubscriptions") {
            None => Vec::new(),
            Some(uris) if uris.kind() == Kind::Array => {
                let text = |uri: Node<'_>| uri.as_str().map(std::borrow::Cow::into_owned);
                let uris = uris.items().map(text).collect::<Option<_>>();
                uris.ok_or("a text for each of `resourceSubscriptions`")?
            }
            Some(_) => return Err("`resourceSubscriptions` as an array"),
        };
        Ok((filter, uris))
    }

    /// Follows these resources, as far as they can be. Which they are, the acknowledgement says.
    pub(crate) async fn follow(&self, gate: &Gate, client: &Client, uris: &[String]) {
        let follow = async |uri: &String| {
            if let Err(why) = gate.follow(client, &self.followed, uri).await {
                tracing::debug!(?why, "a resource is not followed");
            }
        };
        futures_util::future::join_all(uris.iter().take(FOLLOWED_MAX).map(follow)).await;
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
        let uris: Vec<String> = self.followed.uris().iter().map(|uri| quoted(uri)).collect();
        if !uris.is_empty() {
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
    pub(crate) fn notification(&self, change: &Change) -> Option<Vec<u8>> {
        match change {
            Change::Tools => self.tools.then(|| changed(TOOLS)),
            Change::Told { method } => {
                // What stands in a server's `_meta` is between it and the gate.
                let (wanted, method) = match &**method {
                    PROMPTS => (self.prompts, PROMPTS),
                    RESOURCES => (self.resources, RESOURCES),
                    _ => return None,
                };
                wanted.then(|| changed(method))
            }
            Change::Resource { upstream, uri } => self.followed.has(upstream, uri).then(|| updated(uri)),
        }
    }

    /// The same on a stream of the newer era.
    pub(crate) fn event(&self, change: &Change, limits: &FrameLimits, id: &RequestId) -> Option<Vec<u8>> {
        with_subscription(&self.notification(change)?, limits, id.raw())
    }
}

fn changed(method: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"}}").into_bytes()
}

fn updated(uri: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{UPDATED}\",\"params\":{{\"uri\":{}}}}}", quoted(uri))
        .into_bytes()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_what_was_asked_for_and_nothing_else() {
        let limits = FrameLimits::default();
        let id = RequestId::parse(b"7", 10).unwrap();
        let frame =
            br#"{"params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}}}"#;
        let (filter, uris) = Filter::read(frame, &limits).unwrap();
        assert_eq!(uris, ["a:b"]);
        let tools = filter.event(&Change::Tools, &limits, &id).unwrap();
        assert_eq!(
            String::from_utf8(tools).unwrap(),
            r#"{"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}},"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#
        );
        let acknowledged = String::from_utf8(filter.acknowledge(&id)).unwrap();
        assert!(acknowledged.ends_with(r#""notifications":{"toolsListChanged":true}}}"#), "{acknowledged}");
        let told = |method: &str| Change::Told { method: method.into() };
        assert!(filter.event(&told("notifications/resources/updated"), &limits, &id).is_none());
        assert!(filter.event(&told(PROMPTS), &limits, &id).is_none());
        assert!(Filter::read(br#"{"params":{"notifications":{"toolsListChanged":1}}}"#, &limits).is_err());
    }
}
