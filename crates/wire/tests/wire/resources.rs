//! Envelopes, URIs of resources, templates and the input schemas of reading.

use crate::generate;

use callgate_wire::{
    Envelope, Object, ResourceEnvelope, Scheme, UriTemplate, resource_uri, template_input_schema,
};
use proptest::prelude::*;

#[test]
fn a_resource_envelope_has_all_its_members_in_order() {
    let scheme = Scheme::new("demoapp").unwrap();
    let snapshot = Object::parse(r#"{"count": 1.0}"#).unwrap();
    let result = ResourceEnvelope::new(&scheme, "app_state", snapshot).with_version(2).into_result();
    insta::assert_snapshot!(result.to_json(), @r#"{"ok":true,"message":"app_state snapshot.","data":{"schema_version":2,"kind":"app_state","resource_name":"app_state","resource_uri":"demoapp://resource/app/state","mimeType":"application/json","snapshot":{"count":1.0},"snapshot_json":"{\"count\":1.0}","resource":{"uri":"demoapp://resource/app/state","mimeType":"application/json","text":"{\"count\":1.0}"},"contents":[{"uri":"demoapp://resource/app/state","mimeType":"application/json","text":"{\"count\":1.0}"}]},"details":{},"artifacts":[]}"#);
}

#[test]
fn the_schema_of_a_template_is_written_in_order() {
    insta::assert_snapshot!(template_input_schema(["id", "uri", "count", "id"]).unwrap(), @r#"{"type":"object","additionalProperties":false,"required":["uri"],"properties":{"uri":{"type":"string","description":"The URI to read, which the template matches."},"id":{"type":"string"},"count":{"type":"integer"}}}"#);
}

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9]{0,5}"
}

/// A text in which every byte is percent-encoded.
fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "%{byte:02x}");
        out
    })
}

proptest! {
    #[test]
    fn a_template_captures_what_was_put_in(
        names in proptest::collection::btree_set(name(), 1..4),
        values in proptest::collection::vec(generate::text(), 4),
        literal in name(),
    ) {
        let (mut template, mut uri) = (format!("app://host/{literal}"), format!("APP://HOST/{literal}"));
        for (name, value) in names.iter().zip(&values) {
            template = format!("{template}/{{{name}}}");
            uri = format!("{uri}/{}", encoded(value));
        }
        let template = UriTemplate::new(template).unwrap();
        prop_assert_eq!(template.variables().collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
        let wanted: Vec<(String, String)> = names.into_iter().zip(values).collect();
        let dots = wanted.iter().any(|(_, value)| value == "." || value == "..");
        prop_assert_eq!(template.captures(&uri), (!dots).then_some(wanted));
        prop_assert_eq!(template.captures(&format!("{uri}/more")), None);
    }

    #[test]
    fn no_text_makes_a_template_panic(template in "(app:)?[a-z/{}%0-9:?#@\\[\\].é]{0,30}", uri in "(app:)?[a-z/%0-9:?#@\\[\\].é]{0,30}") {
        if let Ok(template) = UriTemplate::new(template) {
            let _ = template.captures(&uri);
            let good = template.variables().all(|name| !name.is_empty() && !name.contains(['{', '}']));
            prop_assert!(good);
        }
    }

    #[test]
    fn the_uri_of_a_resource_matches_itself_as_a_template(name in "[a-z][a-z0-9_]{0,20}") {
        let uri = resource_uri(&Scheme::new("app").unwrap(), &name);
        prop_assert_eq!(UriTemplate::new(uri.as_str()).unwrap().captures(&uri), Some(Vec::new()));
    }

    #[test]
    fn an_envelope_keeps_the_text_of_its_snapshot(snapshot in generate::object(), extra in generate::object()) {
        let result = Envelope::new("k", snapshot.clone()).try_extra(&extra).unwrap().into_result();
        let data = result.data().unwrap();
        let text = data.get_text("snapshot_json").unwrap();
        prop_assert_eq!(text.as_str(), snapshot.as_str());
        for (name, value) in extra.members() {
            prop_assert_eq!(data.get(&name), Some(value));
        }
    }
}
