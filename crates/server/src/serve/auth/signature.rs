//! Signatures of tokens, by ring, which TLS has brought in already.
//!
//! The library that reads the tokens offers two providers: one needs a C toolchain with CMake to be built, and the other an
//! implementation of RSA that an advisory stands against. This one only verifies: nothing is ever signed here.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind, Result};
use jsonwebtoken::signature::Verifier;
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature as ring_of;

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    // Only for what makes keys or names them by digests.
    key_utils: KeyUtils {
        rsa_pub_components_from_private_key: |_| Err(unsupported()),
        rsa_pub_components_from_public_key: |_| Err(unsupported()),
        ec_pub_components_from_private_key: |_, _| Err(unsupported()),
        ed_pub_components_from_private_key: |_, _| Err(unsupported()),
        compute_digest: |_, _| Err(unsupported()),
    },
};

/// Has tokens verified here from now on.
pub(super) fn install() {
    // A second gate of this process finds the first one's, which is the same.
    let _ = PROVIDER.install_default();
}

fn unsupported() -> Error {
    ErrorKind::UnsupportedAlgorithm.into()
}

fn signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    Err(unsupported())
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    // A public key must never be taken for the secret of another family.
    if key.family() != algorithm.family() {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    let scheme = match algorithm {
        Algorithm::RS256 => Scheme::Rsa(&ring_of::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Scheme::Rsa(&ring_of::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Scheme::Rsa(&ring_of::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Scheme::Rsa(&ring_of::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Scheme::Rsa(&ring_of::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Scheme::Rsa(&ring_of::RSA_PSS_2048_8192_SHA512),
        Algorithm::ES256 => Scheme::Point(&ring_of::ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Scheme::Point(&ring_of::ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDSA => Scheme::Point(&ring_of::ED25519),
        // Secrets that both sides have are no keys of an issuer.
        _ => return Err(unsupported()),
    };
    Ok(Box::new(ByRing { algorithm: *algorithm, scheme, key: key.clone() }))
}

enum Scheme {
    Rsa(&'static ring_of::RsaParameters),
    Point(&'static dyn ring_of::VerificationAlgorithm),
}

struct ByRing {
    algorithm: Algorithm,
    scheme: Scheme,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for ByRing {
    fn verify(
        &self,
        message: &[u8],
        signature: &Vec<u8>,
    ) -> std::result::Result<(), jsonwebtoken::signature::Error> {
        let verified = match (&self.scheme, self.key.kind()) {
            (Scheme::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                let (n, e) = (without_zeros(n), without_zeros(e));
                ring_of::RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (Scheme::Point(algorithm), DecodingKeyKind::SecretOrDer(point)) => {
                ring_of::UnparsedPublicKey::new(*algorithm, point).verify(message, signature)
            }
            _ => Err(ring::error::Unspecified),
        };
        verified.map_err(|_| jsonwebtoken::signature::Error::new())
    }
}

impl JwtVerifier for ByRing {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

/// Some issuers write numbers with zeros before them, which ring does not take.
fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.get(zeros..).unwrap_or_default()
}
