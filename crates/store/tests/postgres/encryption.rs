//! `sslmode` means what it says: before the server stands one that speaks TLS with a certificate of the tests' own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use callgate_gateway::journal::Journal as _;
use callgate_testing::postgres::Server;
use callgate_wire::Code;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, UnixStream};
use tokio_rustls::TlsAcceptor;

use crate::support::{go, request, try_gate};

/// SPEC: PostgreSQL's protocol, `SSLRequest`: eight bytes, the last four this number.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// Who signs the server's certificate.
fn signer() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Speaks for `localhost` and for no other name.
fn acceptor(signer: &CertifiedIssuer<'static, KeyPair>) -> TlsAcceptor {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let chain = vec![params.signed_by(&key, signer).unwrap().der().clone()];
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// Passes connections on to the server; notes whether the last one was encrypted.
async fn relay(listener: TcpListener, acceptor: TlsAcceptor, server: PathBuf, encrypted: Arc<AtomicBool>) {
    loop {
        let (mut gate, _) = listener.accept().await.unwrap();
        let (acceptor, server, encrypted) = (acceptor.clone(), server.clone(), Arc::clone(&encrypted));
        tokio::spawn(async move {
            let mut first = [0; 8];
            gate.read_exact(&mut first).await?;
            let mut server = UnixStream::connect(server).await?;
            encrypted.store(first == SSL_REQUEST, Ordering::SeqCst);
            if first == SSL_REQUEST {
                gate.write_all(b"S").await?;
                let mut gate = acceptor.accept(gate).await?;
                tokio::io::copy_bidirectional(&mut gate, &mut server).await?;
            } else {
                server.write_all(&first).await?;
                tokio::io::copy_bidirectional(&mut gate, &mut server).await?;
            }
            Ok::<(), std::io::Error>(())
        });
    }
}

#[test]
fn each_mode_of_encryption_asks_for_what_it_says() {
    let Some(server) = Server::shared() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (encrypted, signer) = (Arc::new(AtomicBool::new(false)), signer());
    let listener = runtime.block_on(TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))).unwrap();
    let port = listener.local_addr().unwrap().port();
    runtime.spawn(relay(listener, acceptor(&signer), server.socket(), Arc::clone(&encrypted)));

    let folder = tempfile::tempdir().unwrap();
    let known = folder.path().join("signer.pem");
    std::fs::write(&known, signer.pem()).unwrap();
    let known = known.display().to_string();
    for (mode, host, certificates, wanted) in [
        ("disable", "localhost", None, Some(false)),
        ("prefer", "localhost", None, Some(true)),
        ("require", "localhost", None, Some(true)),
        ("require", "127.0.0.1", Some(known.as_str()), Some(true)),
        ("require", "localhost", Some("system"), None),
        ("verify-ca", "127.0.0.1", Some(&known), Some(true)),
        ("verify-ca", "localhost", None, None),
        ("verify-full", "localhost", Some(&known), Some(true)),
        ("verify-full", "127.0.0.1", Some(&known), None),
        ("verify-full", "localhost", None, None),
    ] {
        let certificates = certificates.map(|path| format!("&sslrootcert={path}")).unwrap_or_default();
        let address = format!(
            "postgres://gate@{host}:{port}/postgres?hostaddr=127.0.0.1&schema=encryption&sslmode={mode}{certificates}"
        );
        match (try_gate(&address), wanted) {
            (Ok(journal), Some(wanted)) => {
                go(&journal, request(journal.incarnation(), &address));
                assert_eq!(encrypted.load(Ordering::SeqCst), wanted, "{address}");
            }
            (Err(error), None) => assert_eq!(error.code(), Code::StoreUnavailable, "{address}"),
            (opened, wanted) => panic!("{address}: expected {wanted:?}, found {opened:?}"),
        }
    }
}
