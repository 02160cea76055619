//! The keys of an issuer: read when the gate starts, again when they are old, and when a token names one that is not among
//! them. However many tokens come, the issuer is asked once in a while.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use tokio::time::Instant;

use crate::config::KeysPlace;

/// How often keys are read.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// They are as good as new for so long.
    fresh: Duration,
    /// Those that could not be read again are used for so long.
    kept: Duration,
    /// At least this lies between two attempts.
    between: Duration,
}

const PACE: Pace =
    Pace { fresh: Duration::from_mins(10), kept: Duration::from_hours(1), between: Duration::from_secs(10) };
/// How long the issuer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of all keys.
const BYTES_MAX: usize = 1 << 20;
/// Keys of one issuer.
const KEYS_MAX: usize = 100;

/// Keys that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("failed to read the keys of the issuer from {place}: {reason}")]
pub struct KeysError {
    place: String,
    reason: String,
}

/// Why there is no key for a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyFault {
    /// The issuer has no such key.
    Unknown,
    /// Nobody knows which keys the issuer has now.
    Unavailable,
}

/// The keys.
pub(super) struct Keys {
    place: KeysPlace,
    pace: Pace,
    client: Option<reqwest::Client>,
    held: Mutex<Held>,
    /// One reads them, and whoever comes meanwhile waits for what is read.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Held {
    keys: Arc<[Key]>,
    read: Option<Instant>,
    tried: Option<Instant>,
}

struct Key {
    id: Option<String>,
    /// The only algorithm that it is for, if it says one.
    algorithm: Option<Algorithm>,
    kind: KeyKind,
    decoding: DecodingKey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyKind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

impl Keys {
    /// Reads the keys for the first time.
    ///
    /// # Errors
    /// A file that cannot be used. An issuer that does not answer may answer later, and no token is taken until then.
    pub(super) async fn start(place: &KeysPlace) -> Result<Keys, KeysError> {
        Keys::start_at(place, PACE).await
    }

    async fn start_at(place: &KeysPlace, pace: Pace) -> Result<Keys, KeysError> {
        let client = match place {
            KeysPlace::File(_) => None,
            KeysPlace::Url(_) => Some(client().map_err(|reason| KeysError::new(place, reason))?),
        };
        let keys = Keys {
            place: place.clone(),
            pace,
            client,
            held: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        };
        match (keys.refresh().await, place) {
            (Err(reason), KeysPlace::File(_)) => Err(KeysError::new(place, reason)),
            (Ok(()) | Err(_), _) => Ok(keys),
        }
    }

    /// The key of this id for this algorithm. A token that names none means the only one that fits.
    pub(super) async fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Result<DecodingKey, KeyFault> {
        if let (keys, true) = self.held(self.pace.fresh)
            && let Some(key) = pick(&keys, id, algorithm)
        {
            return Ok(key);
        }
        let _turn = self.turn.lock().await;
        let tried = self.lock().tried;
        if tried.is_none_or(|tried| tried.elapsed() >= self.pace.between) {
            // What came of it is in the log.
            let _ = self.refresh().await;
        }
        match self.held(self.pace.kept) {
            (keys, true) => pick(&keys, id, algorithm).ok_or(KeyFault::Unknown),
            (_, false) => Err(KeyFault::Unavailable),
        }
    }

    /// The keys, and whether they were read within this time.
    fn held(&self, within: Duration) -> (Arc<[Key]>, bool) {
        let held = self.lock();
        (Arc::clone(&held.keys), held.read.is_some_and(|read| read.elapsed() < within))
    }

    async fn refresh(&self) -> Result<(), String> {
        self.lock().tried = Some(Instant::now());
        let read = match &self.place {
            KeysPlace::File(path) => read_file(path).await,
            KeysPlace::Url(url) => match tokio::time::timeout(PATIENCE, self.fetch(url)).await {
                Ok(read) => read,
                Err(_) => Err(format!("expected an answer within {} s, found none", PATIENCE.as_secs())),
            },
        };
        match read.and_then(|bytes| read_keys(&bytes)) {
            Ok(keys) => {
                tracing::info!(keys = keys.len(), place = %self.place, "the keys of the issuer are read");
                let mut held = self.lock();
                (held.keys, held.read) = (keys, Some(Instant::now()));
                Ok(())
            }
            Err(reason) => {
                tracing::warn!(reason, place = %self.place, "the keys of the issuer cannot be read");
                Err(reason)
            }
        }
    }

    async fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        let client = self.client.as_ref().ok_or("there is no HTTP client")?;
        let plain = |error: reqwest::Error| crate::serve::http_link::plain(&error);
        let mut response =
            client.get(url).header("accept", "application/json").send().await.map_err(plain)?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(format!("expected the status 200, found {}", response.status().as_u16()));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(plain)? {
            if bytes.len() + chunk.len() > BYTES_MAX {
                return Err(format!("expected at most {BYTES_MAX} bytes, found more"));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeysError {
    fn new(place: &KeysPlace, reason: String) -> KeysError {
        KeysError { place: place.to_string(), reason }
    }
}

/// No redirect is followed: it could lead away from TLS.
fn client() -> Result<reqwest::Client, String> {
    // Another one may be there already; either serves.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|_| "the HTTP client does not start".to_owned())
}

async fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    use std::io::Read as _;
    let path = path.to_owned();
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        let limit = BYTES_MAX as u64 + 1;
        std::fs::File::open(path)?.take(limit).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    });
    let bytes = read.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    if bytes.len() > BYTES_MAX {
        Err(format!("expected at most {BYTES_MAX} bytes, found more"))
    } else {
        Ok(bytes)
    }
}

/// SPEC: RFC 7517, section 5. Keys of kinds that are not known are passed over.
fn read_keys(bytes: &[u8]) -> Result<Arc<[Key]>, String> {
    // The library's message could show what stands there.
    let set: JwkSet = serde_json::from_slice(bytes)
        .map_err(|_| "expected a JSON object with `keys`, found something else".to_owned())?;
    if set.keys.len() > KEYS_MAX {
        return Err(format!("expected at most {KEYS_MAX} keys, found {}", set.keys.len()));
    }
    let keys: Arc<[Key]> = set.keys.iter().filter_map(Key::of).collect();
    if keys.is_empty() {
        return Err("expected a public key that verifies signatures, found none".to_owned());
    }
    Ok(keys)
}

impl Key {
    /// A key that verifies signatures, if it is one.
    fn of(jwk: &Jwk) -> Option<Key> {
        let common = &jwk.common;
        let signs = matches!(&common.public_key_use, None | Some(PublicKeyUse::Signature));
        let verifies = common
            .key_operations
            .as_ref()
            .is_none_or(|operations| operations.contains(&KeyOperations::Verify));
        let kind = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => KeyKind::Rsa,
            AlgorithmParameters::EllipticCurve(key) => match key.curve {
                EllipticCurve::P256 => KeyKind::P256,
                EllipticCurve::P384 => KeyKind::P384,
                _ => return None,
            },
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => KeyKind::Ed25519,
            _ => return None,
        };
        // One that names an algorithm is for no other, also where that one is not known.
        let algorithm = match common.key_algorithm {
            None => None,
            Some(named) => Some(Algorithm::try_from(named).ok()?),
        };
        if !signs || !verifies {
            return None;
        }
        let decoding = DecodingKey::from_jwk(jwk).ok()?;
        Some(Key { id: common.key_id.clone(), algorithm, kind, decoding })
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        let kind = match algorithm {
            Algorithm::RS256
            | Algorithm::RS384
            | Algorithm::RS512
            | Algorithm::PS256
            | Algorithm::PS384
            | Algorithm::PS512 => KeyKind::Rsa,
            Algorithm::ES256 => KeyKind::P256,
            Algorithm::ES384 => KeyKind::P384,
            Algorithm::EdDSA => KeyKind::Ed25519,
            _ => return false,
        };
        self.kind == kind && self.algorithm.is_none_or(|only| only == algorithm)
    }
}

fn pick(keys: &[Key], id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
    let mut fitting =
        keys.iter().filter(|key| key.fits(algorithm) && id.is_none_or(|id| key.id.as_deref() == Some(id)));
    match (fitting.next(), fitting.next()) {
        // Of several nobody can say which is meant.
        (Some(only), None) => Some(only.decoding.clone()),
        _ => None,
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests write the files")]
mod tests {
    use super::*;

    /// A key that no test signs with: any 32 bytes are the text of one.
    fn ed25519(id: &str, more: &str) -> String {
        let x = "A".repeat(43);
        format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"{id}","x":"{x}"{more}}}"#)
    }

    fn set(keys: &[String]) -> String {
        format!(r#"{{"keys":[{}]}}"#, keys.join(","))
    }

    fn found(keys: &str, id: Option<&str>, algorithm: Algorithm) -> bool {
        pick(&read_keys(keys.as_bytes()).unwrap(), id, algorithm).is_some()
    }

    #[test]
    fn a_key_is_for_its_algorithm_its_use_and_its_id() {
        let keys =
            set(&[ed25519("a", ""), ed25519("b", r#","alg":"EdDSA","use":"sig","key_ops":["verify"]"#)]);
        assert!(found(&keys, Some("a"), Algorithm::EdDSA) && found(&keys, Some("b"), Algorithm::EdDSA));
        assert!(!found(&keys, Some("c"), Algorithm::EdDSA), "no such key");
        assert!(!found(&keys, None, Algorithm::EdDSA), "nobody can say which of both");
        assert!(found(&set(&[ed25519("a", "")]), None, Algorithm::EdDSA), "it is the only one");
        assert!(!found(&keys, Some("a"), Algorithm::ES256) && !found(&keys, Some("a"), Algorithm::RS256));
        for other in [r#","use":"enc""#, r#","key_ops":["sign"]"#, r#","alg":"RS256""#, r#","alg":"HS256""#] {
            let keys = set(&[ed25519("a", other), ed25519("b", "")]);
            assert!(!found(&keys, Some("a"), Algorithm::EdDSA), "{other}");
        }
    }

    #[test]
    fn keys_that_are_not_known_are_passed_over_and_a_set_without_one_is_refused() {
        let secret = r#"{"kty":"oct","kid":"s","k":"c2VjcmV0"}"#.to_owned();
        let curve = r#"{"kty":"EC","crv":"secp256k1","kid":"k","x":"AA","y":"AA"}"#.to_owned();
        let keys = set(&[secret.clone(), curve.clone(), ed25519("a", "")]);
        assert!(found(&keys, None, Algorithm::EdDSA));
        assert!(!found(&keys, Some("s"), Algorithm::HS256));
        for bad in [set(&[secret, curve]), set(&[]), "{}".to_owned(), "[]".to_owned(), String::new()] {
            assert!(read_keys(bad.as_bytes()).is_err(), "{bad}");
        }
        let many = vec![ed25519("a", ""); KEYS_MAX + 1];
        assert!(read_keys(set(&many).as_bytes()).is_err());
    }

    async fn of_file(text: &str, pace: Pace) -> (tempfile::TempDir, std::path::PathBuf, Keys) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.json");
        std::fs::write(&file, text).unwrap();
        let keys = Keys::start_at(&KeysPlace::File(file.clone()), pace).await.unwrap();
        (folder, file, keys)
    }

    #[tokio::test]
    async fn a_key_that_is_not_there_is_looked_for_once_in_a_while() {
        let (one, both) = (set(&[ed25519("a", "")]), set(&[ed25519("a", ""), ed25519("b", "")]));
        let find = async |keys: &Keys| keys.find(Some("b"), Algorithm::EdDSA).await.map(drop);
        let (_folder, file, keys) = of_file(&one, PACE).await;
        std::fs::write(&file, &both).unwrap();
        assert_eq!(find(&keys).await, Err(KeyFault::Unknown), "it was read a moment ago");
        let often = Pace { between: Duration::ZERO, ..PACE };
        let (_folder, file, keys) = of_file(&one, often).await;
        assert_eq!(find(&keys).await, Err(KeyFault::Unknown));
        std::fs::write(&file, &both).unwrap();
        assert_eq!(find(&keys).await, Ok(()));
    }

    #[tokio::test]
    async fn keys_that_are_old_are_read_again_and_kept_for_a_while_if_they_cannot_be() {
        let one = set(&[ed25519("a", "")]);
        let find = async |keys: &Keys| keys.find(Some("a"), Algorithm::EdDSA).await.map(drop);
        let old = Pace { fresh: Duration::ZERO, between: Duration::ZERO, ..PACE };
        let (_folder, file, keys) = of_file(&one, old).await;
        std::fs::write(&file, set(&[ed25519("b", "")])).unwrap();
        assert_eq!(find(&keys).await, Err(KeyFault::Unknown), "the issuer has taken it back");
        let (_folder, file, keys) = of_file(&one, old).await;
        std::fs::remove_file(&file).unwrap();
        assert_eq!(find(&keys).await, Ok(()), "it is kept");
        let (_folder, file, keys) = of_file(&one, Pace { kept: Duration::ZERO, ..old }).await;
        std::fs::remove_file(&file).unwrap();
        assert_eq!(find(&keys).await, Err(KeyFault::Unavailable), "it was kept for long enough");
    }
}
