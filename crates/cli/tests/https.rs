//! A live server over HTTPS: its tools are listed where its certificate is one that the system is told to trust, and
//! nowhere else.
//!
//! The system's own verifier decides. That of Linux can be told by a variable of the environment; those of other systems
//! have stores that a test does not touch.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a server that does not start fails the test"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

const BINARY: &str = env!("CARGO_BIN_EXE_callgate");

/// Who signs certificates.
fn signer() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A server for the name `localhost` and no other; gives its port. It ends with the test.
fn serve(signer: &CertifiedIssuer<'static, KeyPair>) -> u16 {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, signer).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind(("localhost", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            // A client that does not like the certificate hangs up.
            let _ = answer(StreamOwned::new(connection, stream));
        }
    });
    port
}

/// Answers one request and closes.
fn answer(stream: StreamOwned<ServerConnection, TcpStream>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let body = String::from_utf8(body).unwrap();
    let result = if body.contains("\"initialize\"") {
        r#""id":"callgate-visit-0","result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s"}}"#
    } else if body.contains("tools/list") {
        r#""id":"callgate-visit-1","result":{"tools":[{"name":"a","inputSchema":{"type":"object","additionalProperties":false}}]}"#
    } else {
        ""
    };
    let (status, text) = match result {
        "" => ("202 Accepted", String::new()),
        result => ("200 OK", format!(r#"{{"jsonrpc":"2.0",{result}}}"#)),
    };
    let stream = stream.get_mut();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    )?;
    stream.conn.send_close_notify();
    stream.flush()
}

fn check(url: &str, trusted: &Path) -> Output {
    let mut command = Command::new(BINARY);
    command.args(["check", "--url", url]).env("SSL_CERT_FILE", trusted).env_remove("SSL_CERT_DIR");
    // A proxy of the machine's would come between.
    for name in ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "https_proxy", "http_proxy"] {
        command.env_remove(name);
    }
    command.output().unwrap()
}

#[test]
fn a_server_over_tls_is_asked_where_its_certificate_is_trusted_and_its_name_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, other) = (signer(), signer());
    let write = |name: &str, signer: &CertifiedIssuer<'static, KeyPair>| -> PathBuf {
        let file = folder.path().join(name);
        std::fs::write(&file, signer.pem()).unwrap();
        file
    };
    let (trusted, stranger) = (write("ours.pem", &ours), write("other.pem", &other));
    let port = serve(&ours);

    let good = check(&format!("https://localhost:{port}/mcp"), &trusted);
    let said = String::from_utf8(good.stdout).unwrap();
    assert!(said.contains("1 of 1 tool admitted"), "{said}{}", String::from_utf8_lossy(&good.stderr));
    assert_eq!(good.status.code(), Some(0));

    let unknown = check(&format!("https://localhost:{port}/mcp"), &stranger);
    let said = String::from_utf8(unknown.stderr).unwrap();
    assert!(said.contains("certificate"), "{said}");
    assert_eq!(unknown.status.code(), Some(4));

    let misnamed = check(&format!("https://127.0.0.1:{port}/mcp"), &trusted);
    let said = String::from_utf8(misnamed.stderr).unwrap();
    assert!(said.contains("certificate"), "{said}");
    assert_eq!(misnamed.status.code(), Some(4));
}
