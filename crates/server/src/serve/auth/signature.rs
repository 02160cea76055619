//! Signatures of tokens, by ring, which TLS has brought in already.
//!
//! The library that reads the tokens offers two providers: one needs a C toolchain with CMake to be built, and the other an
//! implementation of RSA that an advisory stands against. This one only verifies: nothing is ever signed here.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind, Result};
use jsonwebtoken::signature::Verifier;
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::signature as ring_of;

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(unsupported()),
    verifier_factory: |algorithm, key| verifier(*algorithm, key),
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

fn verifier(algorithm: Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
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
    Ok(Box::new(ByRing { algorithm, scheme, key: key.clone() }))
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

#[cfg(test)]
mod tests {
    use jsonwebtoken::crypto::verify;

    use super::*;

    /// A modulus, the same with a zero before it, and what OpenSSL has signed with its key: the text `a.b`, by PKCS #1 and
    /// by PSS with a salt of 32 bytes.
    const MODULUS: &str = concat!(
        "xYqXuS-OnaupbewDMBeaqenXwQtLmKSdIG8rlLavfsdDylFIBqB3UPaejDz4GMfy0rpKd7TfPAjkP3W1-AslUsS692hqY1qS",
        "yIY4YxCUj9sHF4-Xrs2qQsTvyDI7T5xwPBAyig3QKxGfUlZrHK9wVzMXQMLqM346LMtRyVdsQLb9qkHqBV7X5joNgWlw_OYF",
        "FcX9TxaPWjoLM8Si73iNsuiRhNoNeWTcdspm6Y8SrwFVzgnLemRU36-WlBlZxeb93q3yF9OhJ_lDlC--0SOnNCkosHJFq_uQ",
        "sohrsOIKeE0NYrH96gUdFQ0jK1bkoT2uADvdGwPYCzv95lQqtrQm6w",
    );
    const MODULUS_WITH_ZERO: &str = concat!(
        "AMWKl7kvjp2rqW3sAzAXmqnp18ELS5iknSBvK5S2r37HQ8pRSAagd1D2now8-BjH8tK6Sne03zwI5D91tfgLJVLEuvdoamNa",
        "ksiGOGMQlI_bBxePl67NqkLE78gyO0-ccDwQMooN0CsRn1JWaxyvcFczF0DC6jN-OizLUclXbEC2_apB6gVe1-Y6DYFpcPzm",
        "BRXF_U8Wj1o6CzPEou94jbLokYTaDXlk3HbKZumPEq8BVc4Jy3pkVN-vlpQZWcXm_d6t8hfToSf5Q5QvvtEjpzQpKLByRav7",
        "kLKIa7DiCnhNDWKx_eoFHRUNIytW5KE9rgA73RsD2As7_eZUKra0Jus",
    );
    const BY_PKCS1: &str = concat!(
        "OFcoUGasG968dY5uQoYEhpREiUIvJNKLLb1JCnbNB5KjUoZ9y791hs5Liw1tdjyRMExDRLbfxRBBr9RTsOzmAeoDlC0Oi_OJ",
        "ym6RAj4ySdefUR5CovJXFKCM0jO6EodlDxz1dNnBFb8RMdVFjr8cQn73OjgUe2gzxm7ZuaUajqV0w74N3PNhUHHaLgTqpBo1",
        "GyZnYsBaKqVc8OsT9ZsamMCVR3oPAh-uJkWUpaSB65f0Ev_p5l6i1M7mOFFs78t6HX--7MpB1JLfUCUbt7Gx0UCI38e0fA0L",
        "7e0DIyluqdcaRlc0N8DON4YKAWvcWviE9-MaW5VXSCPlrFNIx7OQHw",
    );
    const BY_PSS: &str = concat!(
        "QLAoqTwS6tuYF9kogZg0TOLYbqUAZt5DVLbKCkOqyANlWTSEG0PMTDR_oKCf2qLmmYJkX3YU4RXrrN_cyDy0229PxUC_Fxj4",
        "_jQsim2S7EpkyvsliqMfywwS1Iow9NYerhS9troteFaXrHkSLuvwkFZIeFusi6U3CkTWpTsn1lw9wod9RW9hgm25Pfcv3Xwm",
        "NLb-ENZQLXSRNO500hs5MsUDSLMY0Q57xIi-_KnmOL99SxygaYPxcLx-_w2jeOHyIZKjLSr_RP-96Y_DOqiGE2MrpGz_OCes",
        "SM_XGzc3bd-xW_tFJRLg6eG4HKfgg4wsQMf5ittamOdLQ8Hx6IXpOQ",
    );

    #[test]
    fn signatures_of_rsa_hold_for_their_scheme_their_text_and_their_key_alone() {
        install();
        let key = |modulus: &str| DecodingKey::from_rsa_components(modulus, "AQAB").unwrap();
        let holds = |signature: &str, message: &str, modulus: &str, algorithm| {
            verify(signature, message.as_bytes(), &key(modulus), algorithm).unwrap()
        };
        for modulus in [MODULUS, MODULUS_WITH_ZERO] {
            assert!(holds(BY_PKCS1, "a.b", modulus, Algorithm::RS256));
            assert!(holds(BY_PSS, "a.b", modulus, Algorithm::PS256));
        }
        assert!(!holds(BY_PKCS1, "a.c", MODULUS, Algorithm::RS256));
        assert!(!holds(BY_PKCS1, "a.b", MODULUS, Algorithm::RS384));
        assert!(!holds(BY_PKCS1, "a.b", MODULUS, Algorithm::PS256));
        assert!(!holds(BY_PSS, "a.b", MODULUS, Algorithm::RS256));
        assert!(!holds("", "a.b", MODULUS, Algorithm::RS256));
        let other = MODULUS.replacen('x', "y", 1);
        assert!(!holds(BY_PKCS1, "a.b", &other, Algorithm::RS256));
    }

    #[test]
    fn a_public_key_is_no_secret_and_of_one_family() {
        install();
        let rsa = DecodingKey::from_rsa_components(MODULUS, "AQAB").unwrap();
        let secret = DecodingKey::from_secret(b"secret").unwrap();
        for (key, algorithm) in [
            (&rsa, Algorithm::HS256),
            (&rsa, Algorithm::ES256),
            (&rsa, Algorithm::EdDSA),
            (&secret, Algorithm::HS256),
            (&secret, Algorithm::RS256),
        ] {
            assert!(verify(BY_PKCS1, b"a.b", key, algorithm).is_err(), "{algorithm:?}");
        }
    }
}
