//! The rows of `cases/frames.jsonl`, and what is too long for a row.

use serde_json::Value;

use super::*;
use crate::{FrameLimits, RequestId};

/// One row of the file: `line` is read as a frame of `side` and must be what `is` says (see [`show_client`] and
/// [`show_upstream`]).
#[test]
fn every_row_of_frames_is_what_it_says() {
    let mut faults = Vec::new();
    for row in include_str!("../../../../cases/frames.jsonl").lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let [name, side, line, is] =
            ["name", "side", "line", "is"].map(|member| row[member].as_str().unwrap());
        let found = match side {
            "client" => show_client(line, &ClientReader::new(FrameLimits::default()).read(line.as_bytes())),
            "upstream" => {
                show_upstream(line, &UpstreamReader::new(&FrameLimits::default()).read(line.as_bytes()))
            }
            _ => panic!("{name}: no side `{side}`"),
        };
        if found != is {
            faults.push(format!("{name}: expected `{is}`, found `{found}`"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn show_client(line: &str, frame: &ClientFrame) -> String {
    match frame {
        ClientFrame::Blank => "blank".into(),
        ClientFrame::Call(Call { id, tool, arguments }) => {
            let arguments = arguments.clone().map_or("-", |span| &line[span]);
            format!("call {id} {tool} {arguments}")
        }
        ClientFrame::List { id, cursor: false } => format!("list {id}"),
        ClientFrame::List { id, cursor: true } => format!("list {id} cursor"),
        ClientFrame::Request { id, method } => format!("request {id} {method}"),
        ClientFrame::Cancelled { request } => format!("cancelled {request}"),
        ClientFrame::Notification { method } => format!("notification {method}"),
        ClientFrame::Response { .. } => "response".into(),
        ClientFrame::Faulty(faulty) => {
            let Faulty { recipient, code, rpc, findings, .. } = faulty;
            match recipient {
                Recipient::Client(None) => format!("client - {rpc} {code}"),
                Recipient::Client(Some(id)) => format!("client {id} {rpc} {code}"),
                Recipient::Caller(id) => format!("caller {id} {code} {}", findings[0].code),
                Recipient::Upstream(id) => format!("upstream {id} {rpc} {code}"),
                Recipient::Log => format!("log {rpc} {code}"),
            }
        }
    }
}

fn show_upstream(line: &str, frame: &UpstreamFrame) -> String {
    match frame {
        UpstreamFrame::Blank => "blank".into(),
        UpstreamFrame::Answer(Answer { id, id_span, content }) => {
            assert_eq!(&line[id_span.clone()], id.raw());
            match content {
                AnswerContent::Result(facts) if !facts.object => format!("result {id} no-object"),
                AnswerContent::Result(facts) => {
                    let ending = if facts.is_error { "error" } else { "good" };
                    format!(
                        "result {id} {ending} {}",
                        facts.structured.clone().map_or("-", |span| &line[span])
                    )
                }
                AnswerContent::Error(span) => format!("error {id} {}", &line[span.clone()]),
            }
        }
        UpstreamFrame::Request { id, method } => format!("request {id} {method}"),
        UpstreamFrame::Notification { method } => format!("notification {method}"),
        UpstreamFrame::Unreadable { scan, .. } => {
            let id = scan.id.as_ref().map_or("-", RequestId::raw);
            format!("unreadable {id} {}", scan.method.as_deref().unwrap_or("-"))
        }
    }
}

fn call(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
    )
}

#[test]
fn arguments_nested_100_000_deep_and_ten_megabytes_of_text_have_an_answer() {
    let mut reader = ClientReader::new(FrameLimits::default());
    let deep = call(&format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)));
    assert_eq!(
        show_client(&deep, &reader.read(deep.as_bytes())),
        "caller 1 call-arguments-undecided limit-exceeded"
    );
    let long = call(&format!("{{\"a\":\"{}\"}}", "x".repeat(10_000_000)));
    assert!(
        matches!(reader.read(long.as_bytes()), ClientFrame::Call(_)),
        "within the frame's bound: bind judges it"
    );
}

#[test]
fn bytes_that_are_no_utf8_are_told_by_the_id() {
    let frame =
        [b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"".as_slice(), b"\xff\"}"].concat();
    let found = ClientReader::new(FrameLimits::default()).read(&frame);
    assert_eq!(show_client("", &found), "client 1 -32700 frame-invalid");
}

#[test]
fn an_oversize_call_is_answered_as_a_result_where_its_arguments_are_to_blame() {
    let limits = FrameLimits { frame_bytes_max: 200, ..FrameLimits::default() };
    let reader = ClientReader::new(limits);
    for (line, is) in [
        (
            call(&format!("{{\"a\":\"{}\"}}", "x".repeat(200))),
            "caller 1 call-arguments-undecided limit-exceeded",
        ),
        (
            call("{}").replace("2.0\"", &format!("2.0\",\"x\":\"{}\"", "x".repeat(200))),
            "client 1 -32600 frame-too-large",
        ),
        (
            call("{}").replace("\"id\":1,", &format!("\"x\":\"{}\",", "x".repeat(200))),
            "log -32600 call-without-id",
        ),
    ] {
        assert_eq!(show_client(&line, &reader.oversize(&Scanner::scan(line.as_bytes(), 1_024))), is);
    }
}

#[test]
fn a_scan_finds_the_same_in_pieces_of_any_size() {
    for row in include_str!("../../../../cases/frames.jsonl").lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let line = row["line"].as_str().unwrap().as_bytes();
        let whole = Scanner::scan(line, 1_024);
        for size in [1, 2, 7] {
            let mut scanner = Scanner::new(1_024);
            line.chunks(size).for_each(|piece| scanner.feed(piece));
            assert_eq!(scanner.finish(), whole, "{row}");
        }
    }
}
