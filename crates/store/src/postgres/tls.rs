//! How the connection is kept from others, by the `sslmode` of the address: the words and meanings of PostgreSQL.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate_gateway::JournalError;
use callgate_wire::Code;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// The certificates that a server's has to follow from.
#[derive(Debug, Clone)]
pub(super) enum Certificates {
    /// Those of the system.
    System,
    /// Those of a file.
    File(PathBuf),
}

/// What is asked of the connection.
#[derive(Debug, Clone)]
pub(super) struct Tls {
    mode: SslMode,
    verification: Verification,
    certificates: Certificates,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verification {
    /// Whoever answers is taken for the server.
    None,
    /// The certificate has to follow from the known ones.
    Chain,
    /// And it has to be for this host.
    Whole,
}

impl Tls {
    /// By the word of `sslmode`; nothing for a word that is none.
    pub(super) fn of(word: &str, certificates: Option<Certificates>) -> Option<Tls> {
        // SPEC: libpq, "Protection Provided in Different Modes": with certificates named, `require` verifies the chain.
        let named = if certificates.is_some() { Verification::Chain } else { Verification::None };
        let (mode, verification) = match word {
            "disable" => (SslMode::Disable, Verification::None),
            "prefer" => (SslMode::Prefer, Verification::None),
            "require" => (SslMode::Require, named),
            "verify-ca" => (SslMode::Require, Verification::Chain),
            "verify-full" => (SslMode::Require, Verification::Whole),
            _ => return None,
        };
        Some(Tls { mode, verification, certificates: certificates.unwrap_or(Certificates::System) })
    }

    pub(super) fn mode(&self) -> SslMode {
        self.mode
    }

    /// Whether somebody else cannot pass for the server.
    pub(super) fn verifies(&self) -> bool {
        self.verification == Verification::Whole
    }

    /// What makes connections so.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, JournalError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable("no version of TLS can be spoken").caused_by(error))?;
        let verifier: Arc<dyn ServerCertVerifier> = match self.verification {
            Verification::None => Arc::new(AnyServer(provider)),
            Verification::Chain => Arc::new(AnyName(self.verifier(provider)?)),
            Verification::Whole => self.verifier(provider)?,
        };
        let config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        Ok(MakeRustlsConnect::new(config))
    }

    fn verifier(&self, provider: Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, JournalError> {
        let mut roots = RootCertStore::empty();
        match &self.certificates {
            Certificates::System => {
                let found = rustls_native_certs::load_native_certs();
                roots.add_parsable_certificates(found.certs);
            }
            Certificates::File(path) => {
                roots.add_parsable_certificates(of_file(path)?);
            }
        }
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| unusable("there are no certificates to know the server by").caused_by(error))
    }
}

fn of_file(path: &Path) -> Result<Vec<CertificateDer<'static>>, JournalError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    read.map_err(|error| {
        unusable(&format!("the certificates in `{}` cannot be read", path.display())).caused_by(error)
    })
}

#[cold]
fn unusable(message: &str) -> JournalError {
    JournalError::new(Code::StoreUnavailable, message)
}

/// Takes whoever answers for the server: `prefer` and `require` keep off only those who listen.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Takes a certificate that follows from the known ones, whatever host it is for: `verify-ca`.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.0.verify_server_cert(certificate, between, name, ocsp, now) {
            // The chain is looked at before the name.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
