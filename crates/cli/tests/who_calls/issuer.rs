//! An issuer of tokens: keys, signatures, and the address at which its keys are.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    Ed25519KeyPair, KeyPair as _,
};
use serde_json::{Value, json};

pub(crate) const ISSUER: &str = "https://issuer.example";
pub(crate) const AUDIENCE: &str = "https://gate.example/mcp";
/// The year 2100.
pub(crate) const LATER: i64 = 4_102_444_800;

pub(crate) struct Issuer {
    p256: EcdsaKeyPair,
    p384: EcdsaKeyPair,
    ed25519: Ed25519KeyPair,
}

fn text(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn ecdsa(algorithm: &'static EcdsaSigningAlgorithm) -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
    EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).expect("a key")
}

impl Issuer {
    pub(crate) fn new() -> Issuer {
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        Issuer {
            p256: ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING),
            p384: ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING),
            ed25519: Ed25519KeyPair::from_pkcs8(ed25519.as_ref()).expect("a key"),
        }
    }

    /// Its public keys.
    pub(crate) fn keys(&self) -> String {
        let point = |key: &EcdsaKeyPair, curve: &str, id: &str| {
            let (x, y) = key.public_key().as_ref()[1..].split_at(key.public_key().as_ref().len() / 2);
            json!({"kty": "EC", "crv": curve, "kid": id, "x": text(x), "y": text(y)})
        };
        let ed25519 =
            json!({"kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": text(self.ed25519.public_key())});
        let keys = [point(&self.p256, "P-256", "p256"), point(&self.p384, "P-384", "p384"), ed25519];
        json!({"keys": keys}).to_string()
    }

    /// What a gate has to know of it.
    pub(crate) fn config(keys: &str, more: &str) -> String {
        format!("[auth.jwt]\nissuer = \"{ISSUER}\"\naudience = \"{AUDIENCE}\"\n{keys}\n{more}\n")
    }

    /// A token with these claims.
    pub(crate) fn token(&self, claims: &Value) -> String {
        self.sign(&json!({"alg": "ES256", "kid": "p256", "typ": "at+jwt"}), &claims.to_string())
    }

    /// A token with this head and this text of claims, signed as the head says.
    pub(crate) fn sign(&self, head: &Value, claims: &str) -> String {
        let message = format!("{}.{}", text(head.to_string()), text(claims));
        let bytes = message.as_bytes();
        let signature = match head["alg"].as_str() {
            Some("ES256") => text(self.p256.sign(&SystemRandom::new(), bytes).expect("a signature")),
            Some("ES384") => text(self.p384.sign(&SystemRandom::new(), bytes).expect("a signature")),
            Some("EdDSA") => text(self.ed25519.sign(bytes)),
            // With the text of a public key as the secret, which is what a confused server would take.
            Some("HS256") => {
                let secret = self.p256.public_key().as_ref();
                text(ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret), bytes))
            }
            _ => String::new(),
        };
        format!("{message}.{signature}")
    }
}

/// Claims that the gate takes, with these in addition or in their place; `null` takes one out.
pub(crate) fn claims(more: &Value) -> Value {
    let mut claims = json!({"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": LATER});
    for (name, value) in more.as_object().expect("an object") {
        claims[name] = value.clone();
    }
    claims.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
    claims
}

/// Gives the keys at an address, and counts how often it is asked. It ends with the test.
pub(crate) fn serve_keys(keys: String) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/keys", listener.local_addr().expect("an address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            count.fetch_add(1, Ordering::SeqCst);
            let mut reader = BufReader::new(&stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
                line.clear();
            }
            let length = keys.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
            );
            let _ = (&stream).write_all(format!("{head}{keys}").as_bytes());
        }
    });
    (url, asked)
}
