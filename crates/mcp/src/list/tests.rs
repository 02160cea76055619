//! Pages taken apart and put together.

use super::*;

fn page(result: &str) -> Result<Page, PageFault> {
    Page::read(
        format!(r#" {{"jsonrpc":"2.0","id":"x","result":{result}}}"#).as_bytes(),
        &FrameLimits::default(),
    )
}

#[test]
fn a_fault_in_one_tool_leaves_the_others_as_received() {
    let page = page(
        r#"{"x":1e2,"tools":[ {"name":"a"} , {"name":"b","name":"c"},{"d":"\ud800"}],"nextCursor":"n\u0065xt"}"#,
    );
    let page = page.unwrap();
    let tools: Vec<&str> = page.tools.iter().map(|tool| std::str::from_utf8(tool).unwrap()).collect();
    assert_eq!(tools, [r#"{"name":"a"}"#, r#"{"name":"b","name":"c"}"#, r#"{"d":"\ud800"}"#]);
    assert_eq!(page.next.as_deref(), Some(r#""n\u0065xt""#));
    let result = result(&page.others, page.tools.iter().take(1).map(|tool| &**tool));
    assert_eq!(String::from_utf8(result).unwrap(), r#"{"tools":[{"name":"a"}],"x":1e2}"#);
}

#[test]
fn what_is_the_gates_alone_is_left_out_of_the_lists_meta() {
    let page = page(r#"{"tools":[],"_meta":{"a":1.0, "dev.callgate/x":{}}}"#).unwrap();
    assert_eq!(result(&page.others, []), br#"{"tools":[],"_meta":{"a":1.0}}"#);
    assert!(page.forged);
}

#[test]
fn a_fault_outside_of_the_tools_spoils_the_page() {
    for result in [
        "5",
        "{}",
        r#"{"tools":{}}"#,
        r#"{"tools":[],"tools":[]}"#,
        r#"{"tools":[],"Tools":[]}"#,
        r#"{"tools":[],"nextCursor":7}"#,
        r#"{"tools":[],"_meta":{"a":1,"a":2}}"#,
        r#"{"tools":[]"#,
    ] {
        assert!(matches!(page(result), Err(PageFault::Malformed(_))), "{result}");
    }
}

#[test]
fn the_upstreams_own_error_is_kept_as_it_is() {
    let frame = br#"{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no","data":1e0}}"#;
    let error = r#"{"code":-32601,"message":"no","data":1e0}"#;
    assert_eq!(Page::read(frame, &FrameLimits::default()), Err(PageFault::Refused(error.into())));
}

#[test]
fn an_empty_cursor_asks_for_a_page_too() {
    assert_eq!(
        String::from_utf8(request("x-1", Some("\"\""))).unwrap(),
        r#"{"jsonrpc":"2.0","id":"x-1","method":"tools/list","params":{"cursor":""}}"#
    );
}
