//! Visits to servers that answer by a script: what they are told, and what is made of what they say.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;

use super::*;

fn settings() -> VisitSettings {
    VisitSettings { timeout: Duration::from_secs(20), limits: FrameLimits::default(), version: "1" }
}

const WELCOME: &str = r#"{"jsonrpc":"2.0","id":"callgate-visit-0","result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s"}}}"#;

/// A server of one line a step, in the shell: it reads a line and writes what stands there.
fn script(steps: &[&str]) -> String {
    let step = |step: &&str| format!("read -r line; printf '%s\\n' '{step}'; ");
    steps.iter().map(step).collect()
}

async fn visit(script: String) -> Result<Visit, VisitError> {
    visit_command(OsStr::new("sh"), &["-c".into(), script.into()], &settings()).await
}

#[tokio::test]
async fn all_pages_are_read_and_every_definition_keeps_its_bytes() {
    let first = r#"{"id":"callgate-visit-1","result":{"tools":[{"name":"a", "x" : 1e2},{"name":"a","name":"b"}],"nextCursor":"2"}}"#;
    let second = r#"{"id":"callgate-visit-2","result":{"tools":[{"\u0061":1}]}}"#;
    // A notice before the answer, and a ping between: the line after it is its answer.
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let steps = format!(
        "read -r l; echo '{notice}'; echo '{WELCOME}'; read -r l; read -r l; echo '{ping}'; read -r pong; \
         [ \"$pong\" = '{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{{}}}}' ] && echo '{first}'; \
         read -r l; case \"$l\" in *'\"cursor\":\"2\"'*) echo '{second}';; esac; cat"
    );
    let visit = visit(steps).await.unwrap();
    let tools: Vec<&[u8]> = visit.tools.iter().map(AsRef::as_ref).collect();
    assert_eq!(
        tools,
        [&br#"{"name":"a", "x" : 1e2}"#[..], br#"{"name":"a","name":"b"}"#, br#"{"\u0061":1}"#]
    );
    assert_eq!((visit.revision, visit.server.as_deref()), ("2025-06-18", Some(r#"{"name":"s"}"#)));
}

#[tokio::test]
async fn a_server_that_does_not_answer_as_it_should_is_a_reason() {
    let refused = script(&[r#"{"id":"callgate-visit-0","error":{"code":-1,"message":"no"}}"#]);
    let old = script(&[r#"{"id":"callgate-visit-0","result":{"protocolVersion":"1999-01-01"}}"#]);
    let found = [refused, old, "exit 3".to_owned()];
    let mut said = Vec::new();
    for script in found {
        said.push(visit(script).await.map_err(|error| error.to_string()).unwrap_err());
    }
    assert_eq!(said[0], r#"the server refused `initialize`: {"code":-1,"message":"no"}"#);
    assert_eq!(
        said[1],
        "expected a revision of the protocol from 2024-11-05 to 2025-11-25, found `1999-01-01`"
    );
    assert_eq!(said[2], "expected a list of tools, found that the server ended");
    let short = VisitSettings { timeout: Duration::from_millis(300), ..settings() };
    let silent =
        visit_command(OsStr::new("sh"), &["-c".into(), "while read -r l; do :; done".into()], &short).await;
    assert_eq!(silent.unwrap_err().to_string(), "expected a list of tools within 300 ms, found none");
}

#[tokio::test]
async fn a_cursor_that_goes_in_a_circle_comes_to_an_end() {
    let page = r#"{"id":"callgate-visit-%d","result":{"tools":[{}],"nextCursor":"again"}}"#;
    let steps = format!(
        "read -r l; echo '{WELCOME}'; read -r l; i=1; while read -r l; do printf '{page}\\n' $i; i=$((i+1)); done"
    );
    let error = visit(steps).await.unwrap_err();
    assert_eq!(error.to_string(), "expected at most 256 pages in the list of tools, found more");
}

/// A server that takes one connection after the other and answers each with the next text; gives what it was told.
fn http_server(answers: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serve = move || {
        let mut told = Vec::new();
        for answer in answers {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                reader.read_line(&mut head).unwrap();
            }
            let head = head.to_ascii_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
            let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
            reader.read_exact(&mut body).unwrap();
            told.push(format!("{head}{}", String::from_utf8(body).unwrap()));
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
        }
        told
    };
    (url, std::thread::spawn(serve))
}

fn http(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
}

const JSON: &str = "content-type: application/json; charset=utf-8\r\n";
const EVENTS: &str = "content-type: text/event-stream\r\n";

#[test]
fn a_session_over_http_is_begun_kept_and_ended() {
    let first = r#"{"id":"callgate-visit-1","result":{"tools":[{"name":"a", "x" : 1e2}],"nextCursor":"2"}}"#;
    let second = r#"{"id":"callgate-visit-2","result":{"tools":[{"name":"b"}]}}"#;
    let stream = format!(": hi\n\nevent: message\ndata: {{\"method\":\"x\"}}\n\ndata: {second}\n\n");
    let (url, server) = http_server(vec![
        http("200 OK", &format!("{JSON}Mcp-Session-Id: s-1\r\n"), WELCOME),
        http("202 Accepted", "", ""),
        http("200 OK", JSON, first),
        http("200 OK", EVENTS, &stream),
        http("204 No Content", "", ""),
    ]);
    let headers = [("Authorization".to_owned(), "Bearer t".to_owned())];
    let visit = visit_url(&url, &headers, &settings()).unwrap();
    let tools: Vec<&[u8]> = visit.tools.iter().map(AsRef::as_ref).collect();
    assert_eq!(tools, [&br#"{"name":"a", "x" : 1e2}"#[..], br#"{"name":"b"}"#]);
    let told = server.join().unwrap();
    assert!(!told[0].contains("mcp-session-id") && !told[0].contains("mcp-protocol-version"), "{}", told[0]);
    for (told, method) in told.iter().zip(["post", "post", "post", "post", "delete"]) {
        assert!(told.starts_with(&format!("{method} /mcp http/1.1\r\n")), "{told}");
        assert!(told.contains("authorization: bearer t\r\n"), "{told}");
    }
    for told in &told[1..] {
        assert!(told.contains("mcp-session-id: s-1\r\n"), "{told}");
        assert!(told.contains("mcp-protocol-version: 2025-06-18\r\n"), "{told}");
    }
    assert!(told[0].contains("accept: application/json, text/event-stream\r\n"), "{}", told[0]);
}

#[test]
fn what_is_no_answer_over_http_is_a_reason() {
    let error = |answer: String| {
        let (url, server) = http_server(vec![answer]);
        let error = visit_url(&url, &[], &settings()).unwrap_err().to_string();
        server.join().unwrap();
        error
    };
    let said = [
        error(http("401 Unauthorized", "", "")),
        error(http("302 Found", "location: http://elsewhere.test/\r\n", "")),
        error(http("200 OK", "content-type: text/html\r\n", "<html>")),
        error(http("200 OK", EVENTS, "data: {}\n\n")),
        error(http("200 OK", JSON, "nonsense")),
    ];
    insta::assert_snapshot!(said.join("\n"), @r#"
    expected an answer to `initialize`, found HTTP status 401; give what authorizes you with `--header`
    expected an answer to `initialize`, found HTTP status 302; give the address that it redirects to
    expected JSON or a stream of events in the answer to `initialize`, found something else
    expected a list of tools, found that the server ended
    expected an answer that can be read in the answer to `initialize`, found something else
    "#);
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(visit_url(&format!("http://{nobody}/"), &[], &settings()).is_err());
    let short = VisitSettings { timeout: Duration::from_millis(300), ..settings() };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = visit_url(&format!("http://{}/", listener.local_addr().unwrap()), &[], &short);
    assert!(matches!(silent, Err(VisitError::Timeout(_))), "{silent:?}");
}
