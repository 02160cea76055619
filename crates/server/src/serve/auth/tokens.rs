//! API tokens: what an operator gives to a client, and what is kept of it.
//!
//! They lie in a file beside the store and not in it: a token says who may come to the address of this machine, while a
//! store can be that of several machines, and whoever can write the records of calls there is not meant to make callers
//! here. The file has digests alone, and is replaced whole or not at all.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use callgate_wire::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::operator;

/// The name of the file in the store's folder.
pub const TOKENS_FILE: &str = "api-tokens.json";
/// What every token begins with, so that programs that look for secrets find it.
pub(super) const PREFIX: &str = "cg_";

/// The file that whoever changes the tokens holds locked.
const LOCK_FILE: &str = "api-tokens.lock";
/// Bytes of randomness in a token.
const RANDOM_BYTES: usize = 32;
/// Tokens in one file.
const TOKENS_MAX: usize = 10_000;
/// Bytes of the file.
const FILE_BYTES_MAX: u64 = 8 << 20;
/// Bytes of a name.
const NAME_BYTES_MAX: usize = 64;
/// The form of the file.
const VERSION: u32 = 1;

/// Why nothing was done with the tokens.
#[derive(Debug, thiserror::Error)]
pub enum ApiTokenError {
    /// The name is none.
    #[error("expected a name of 1 to {NAME_BYTES_MAX} letters, digits, `-`, `_` and `.`, found another text")]
    Name,
    /// There is a token of this name.
    #[error("a token has the name `{0}`; revoke it to give out another one")]
    Taken(String),
    /// There is none of this name.
    #[error("no token has the name `{0}`")]
    Unknown(String),
    /// The token would have expired before it is made.
    #[error("expected a time to come at which the token expires, found one that has passed")]
    Expired,
    /// There is no room for more.
    #[error("expected at most {TOKENS_MAX} tokens, found as many; revoke those that nobody needs")]
    TooMany,
    /// The file cannot be used.
    #[error("expected the API tokens in `{file}`, found {found}")]
    File {
        /// Its path.
        file: String,
        /// What there is instead.
        found: String,
    },
}

/// What is known of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiToken {
    /// Its name, which is that of the principal `token:NAME`.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is not taken; `None` for never.
    pub expires_at: Option<Timestamp>,
}

impl ApiToken {
    /// Whether it is still taken.
    pub fn is_good(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|expires_at| now < expires_at)
    }
}

/// A token that was just made, the one time that it can be had.
pub struct FreshToken(String);

impl FreshToken {
    /// The token itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for FreshToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FreshToken(…)")
    }
}

/// The tokens beside one store.
///
/// ```
/// use callgate_server::ApiTokens;
/// use callgate_wire::Timestamp;
///
/// let folder = tempfile::tempdir()?;
/// let tokens = ApiTokens::beside(&folder.path().join("store.sqlite"));
/// let fresh = tokens.add("build", None, Timestamp(1))?;
/// assert!(fresh.expose().starts_with("cg_"));
/// assert_eq!(tokens.list()?[0].name, "build");
/// tokens.revoke("build")?;
/// assert!(tokens.list()?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ApiTokens {
    pub(super) file: PathBuf,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileForm {
    version: u32,
    tokens: Vec<TokenForm>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenForm {
    name: String,
    pub(super) sha256: String,
    created_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_ms: Option<i64>,
}

impl ApiTokens {
    /// The tokens beside this store.
    pub fn beside(store: &Path) -> ApiTokens {
        let folder = store.parent().filter(|folder| !folder.as_os_str().is_empty());
        ApiTokens { file: folder.unwrap_or(Path::new(".")).join(TOKENS_FILE) }
    }

    /// Makes a token.
    ///
    /// # Errors
    /// A name that is none or taken, a time that has passed, a file that cannot be used.
    pub fn add(
        &self,
        name: &str,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<FreshToken, ApiTokenError> {
        let is_name = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.');
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_name) {
            return Err(ApiTokenError::Name);
        }
        if expires_at.is_some_and(|expires_at| expires_at <= now) {
            return Err(ApiTokenError::Expired);
        }
        let mut random = [0; RANDOM_BYTES];
        getrandom::fill(&mut random).map_err(|error| self.fault(error))?;
        let token = format!("{PREFIX}{}", hex(&random));
        self.change(|tokens| {
            if tokens.iter().any(|token| token.name == name) {
                return Err(ApiTokenError::Taken(name.to_owned()));
            }
            if tokens.len() >= TOKENS_MAX {
                return Err(ApiTokenError::TooMany);
            }
            tokens.push(TokenForm {
                name: name.to_owned(),
                sha256: digest(&token),
                created_ms: now.0,
                expires_ms: expires_at.map(|at| at.0),
            });
            Ok(())
        })?;
        Ok(FreshToken(token))
    }

    /// Has the token of this name not taken any more.
    ///
    /// # Errors
    /// That there is none, or a file that cannot be used.
    pub fn revoke(&self, name: &str) -> Result<(), ApiTokenError> {
        self.change(|tokens| {
            let before = tokens.len();
            tokens.retain(|token| token.name != name);
            if tokens.len() < before { Ok(()) } else { Err(ApiTokenError::Unknown(name.to_owned())) }
        })
    }

    /// What is known of the tokens, in the order in which they were made.
    ///
    /// # Errors
    /// A file that cannot be used.
    pub fn list(&self) -> Result<Vec<ApiToken>, ApiTokenError> {
        Ok(self.read()?.iter().map(TokenForm::known).collect())
    }

    /// One process after the other, so that no change is lost.
    fn change(
        &self,
        change: impl FnOnce(&mut Vec<TokenForm>) -> Result<(), ApiTokenError>,
    ) -> Result<(), ApiTokenError> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        operator::make_folder(folder).map_err(|error| self.fault(error))?;
        let lock = open_lock(&folder.join(LOCK_FILE)).map_err(|error| self.fault(error))?;
        // Let go of when it is closed.
        lock.lock().map_err(|error| self.fault(error))?;
        let mut tokens = self.read()?;
        change(&mut tokens)?;
        self.write(folder, &FileForm { version: VERSION, tokens }).map_err(|error| self.fault(error))
    }

    /// No file is no tokens.
    pub(super) fn read(&self) -> Result<Vec<TokenForm>, ApiTokenError> {
        let opened = match std::fs::File::open(&self.file) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.fault(error)),
        };
        // Asked of the open file: the name can stand for another one a moment later.
        let about = opened.metadata().map_err(|error| self.fault(error))?;
        if let Some(fault) = operator::fault(&about) {
            return Err(self.fault(fault));
        }
        let mut text = Vec::new();
        opened.take(FILE_BYTES_MAX).read_to_end(&mut text).map_err(|error| self.fault(error))?;
        let form: FileForm = serde_json::from_slice(&text).map_err(|_| self.fault("another form"))?;
        if form.version != VERSION {
            return Err(self.fault("the form of another version of this program"));
        }
        Ok(form.tokens)
    }

    fn write(&self, folder: &Path, form: &FileForm) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(form).map_err(io::Error::other)?;
        text.push(b'\n');
        // Made for its owner alone, and given its name when it is whole.
        let mut beside = tempfile::NamedTempFile::new_in(folder)?;
        beside.write_all(&text)?;
        beside.as_file().sync_all()?;
        beside.persist(&self.file).map_err(|error| error.error)?;
        // The name, too: a token that was revoked does not come back after the power has failed.
        #[cfg(unix)]
        std::fs::File::open(folder)?.sync_all()?;
        Ok(())
    }

    fn fault(&self, found: impl fmt::Display) -> ApiTokenError {
        ApiTokenError::File { file: self.file.display().to_string(), found: found.to_string() }
    }
}

fn open_lock(file: &Path) -> io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(file)
}

impl TokenForm {
    pub(super) fn known(&self) -> ApiToken {
        ApiToken {
            name: self.name.clone(),
            created_at: Timestamp(self.created_ms),
            expires_at: self.expires_ms.map(Timestamp),
        }
    }
}

/// SHA-256 alone: the token is 256 bits of randomness, which nobody tries out, so that a slow digest would gain nothing.
pub(super) fn digest(token: &str) -> String {
    hex(Sha256::digest(token.as_bytes()).as_slice())
}

fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests look at the file")]
mod tests {
    use super::*;

    fn tokens() -> (tempfile::TempDir, ApiTokens) {
        let folder = tempfile::tempdir().unwrap();
        let tokens = ApiTokens::beside(&folder.path().join("store.sqlite"));
        (folder, tokens)
    }

    #[test]
    fn a_token_is_kept_as_a_digest_for_its_owner_alone_and_never_printed() {
        let (folder, tokens) = tokens();
        let fresh = tokens.add("build", None, Timestamp(1)).unwrap();
        let other = tokens.add("other", None, Timestamp(1)).unwrap();
        assert_eq!(fresh.expose().len(), PREFIX.len() + 2 * RANDOM_BYTES);
        assert_ne!(fresh.expose(), other.expose());
        let text = std::fs::read_to_string(&tokens.file).unwrap();
        assert!(!text.contains(&fresh.expose()[PREFIX.len()..]));
        assert!(text.contains(&digest(fresh.expose())));
        assert_eq!(format!("{fresh:?}"), "FreshToken(…)");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            for entry in std::fs::read_dir(folder.path()).unwrap() {
                let entry = entry.unwrap();
                assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "the file and its lock");
    }

    #[test]
    fn names_are_names_and_each_is_given_once() {
        let (_folder, tokens) = tokens();
        for name in ["", "a b", "a:b", "é", &"a".repeat(65), "a\n"] {
            assert!(matches!(tokens.add(name, None, Timestamp(1)), Err(ApiTokenError::Name)), "{name}");
        }
        tokens.add("a.b-c_1", None, Timestamp(1)).unwrap();
        assert!(matches!(tokens.add("a.b-c_1", None, Timestamp(1)), Err(ApiTokenError::Taken(_))));
        assert!(matches!(tokens.add("b", Some(Timestamp(1)), Timestamp(1)), Err(ApiTokenError::Expired)));
        assert!(matches!(tokens.revoke("b"), Err(ApiTokenError::Unknown(_))));
    }

    #[test]
    fn changes_at_the_same_time_are_all_kept() {
        let (_folder, tokens) = tokens();
        std::thread::scope(|scope| {
            for number in 0..16 {
                let tokens = &tokens;
                scope.spawn(move || tokens.add(&format!("t{number}"), None, Timestamp(1)).unwrap());
            }
        });
        assert_eq!(tokens.list().unwrap().len(), 16);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_not_trusted() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_folder, tokens) = tokens();
        tokens.add("build", None, Timestamp(1)).unwrap();
        std::fs::set_permissions(&tokens.file, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(tokens.list(), Err(ApiTokenError::File { .. })));
    }
}
