//! What a server tells besides its answers: progress, which goes to whoever asked for it under the token that they chose,
//! and changes, which go to those who listen.

use callgate_schema::json::{Kind, Tape, write_string};

use crate::FrameLimits;
use crate::edit::Edits;

/// SPEC: 2026-07-28, basic/utilities/subscriptions: the member of `_meta` that names the stream of a notification.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The token in a `notifications/progress`, as JSON text.
pub fn progress_of(frame: &[u8], limits: &FrameLimits) -> Option<Box<str>> {
    let mut tape = Tape::new();
    let root = tape.read(frame, &limits.frame_text()).ok()?;
    Some(root.member("params")?.member("progressToken")?.raw_str().into())
}

/// The same notification with the token that the client chose, which is JSON text.
pub fn with_progress(frame: &[u8], limits: &FrameLimits, token: &str) -> Option<Vec<u8>> {
    let mut tape = Tape::new();
    let root = tape.read(frame, &limits.frame_text()).ok()?;
    let mut edits = Edits::default();
    edits.replace(root.member("params")?.member("progressToken")?.span(), token);
    Some(edits.apply(frame))
}

/// The resource that a `notifications/resources/updated` is about.
pub fn updated_resource(frame: &[u8], limits: &FrameLimits) -> Option<String> {
    let mut tape = Tape::new();
    let root = tape.read(frame, &limits.frame_text()).ok()?;
    root.member("params")?.member("uri")?.as_str().map(std::borrow::Cow::into_owned)
}

/// The request whose stream a notification of the newer era belongs to, as JSON text.
pub fn subscription_of(frame: &[u8], limits: &FrameLimits) -> Option<Box<str>> {
    let mut tape = Tape::new();
    let root = tape.read(frame, &limits.frame_text()).ok()?;
    Some(root.member("params")?.member("_meta")?.member(SUBSCRIPTION)?.raw_str().into())
}

/// A notification on a stream of the newer era: its `_meta` names the request that opened the stream.
pub fn with_subscription(frame: &[u8], limits: &FrameLimits, id: &str) -> Option<Vec<u8>> {
    let mut tape = Tape::new();
    let root = tape.read(frame, &limits.frame_text()).ok()?;
    let mut name = Vec::new();
    write_string(&mut name, SUBSCRIPTION);
    let member = [&name, b":".as_slice(), id.as_bytes()].concat();
    let whole = [b"\"_meta\":{".as_slice(), &member, b"}"].concat();
    let mut edits = Edits::default();
    let params = root.member("params").filter(|params| params.kind() == Kind::Object);
    let meta = params.and_then(|params| params.member("_meta")).filter(|meta| meta.kind() == Kind::Object);
    match (meta, params) {
        (Some(meta), _) => edits.insert_members(meta.span(), meta.len() == 0, &member),
        (None, Some(params)) => edits.insert_members(params.span(), params.len() == 0, &whole),
        (None, None) => {
            let whole = [b"\"params\":{".as_slice(), &whole, b"}"].concat();
            edits.insert_members(root.span(), root.len() == 0, &whole);
        }
    }
    Some(edits.apply(frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_comes_back_under_the_clients_own_token() {
        let limits = FrameLimits::default();
        let frame = br#"{"method":"notifications/progress","params":{"progressToken":7,"progress":0.50}}"#;
        assert_eq!(progress_of(frame, &limits).as_deref(), Some("7"));
        let renamed = with_progress(frame, &limits, "\"p\"").unwrap();
        assert_eq!(
            String::from_utf8(renamed).unwrap(),
            r#"{"method":"notifications/progress","params":{"progressToken":"p","progress":0.50}}"#
        );
    }

    #[test]
    fn a_change_names_the_stream_on_which_it_is_told() {
        let limits = FrameLimits::default();
        for (frame, expected) in [
            (r#"{"method":"m"}"#, r#"{"params":{"_meta":{"ID":3}},"method":"m"}"#),
            (r#"{"method":"m","params":{}}"#, r#"{"method":"m","params":{"_meta":{"ID":3}}}"#),
            (
                r#"{"method":"m","params":{"_meta":{"a":1}}}"#,
                r#"{"method":"m","params":{"_meta":{"ID":3,"a":1}}}"#,
            ),
        ] {
            let told = with_subscription(frame.as_bytes(), &limits, "3").unwrap();
            let expected = expected.replace("ID", "io.modelcontextprotocol/subscriptionId");
            assert_eq!(String::from_utf8(told).unwrap(), expected);
        }
    }
}
