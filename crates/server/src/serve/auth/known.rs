//! The API tokens as a gate that runs knows them: what is added or revoked counts from the next request on.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use callgate_wire::{Principal, Timestamp};
use tokio::time::Instant;

use super::tokens::{ApiTokens, TokenForm, digest};

/// What was read is read again after this, whatever the file's times say.
const AGAIN: Duration = Duration::from_secs(1);

/// The tokens of one file.
pub(super) struct KnownTokens {
    tokens: ApiTokens,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    tokens: Vec<TokenForm>,
    read: Option<(Instant, Option<Stamp>)>,
}

/// What shows that a file is another one.
#[derive(PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    number: u64,
}

impl KnownTokens {
    pub(super) fn new(tokens: ApiTokens) -> KnownTokens {
        KnownTokens { tokens, held: Mutex::default() }
    }

    /// Whose token it is. Looking at the file's entry takes some microseconds, and the file is read where that is another
    /// one, so both are done right here.
    pub(super) fn find(&self, token: &str, now: Timestamp) -> Option<Principal> {
        let digest = digest(token);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        self.follow(&mut held);
        // How long a comparison of digests takes says nothing of the token that it is the digest of.
        let found = held.tokens.iter().find(|token| token.sha256 == digest)?.known();
        found.is_good(now).then(|| Principal::token(&found.name))
    }

    fn follow(&self, held: &mut Held) {
        let stamp = std::fs::metadata(&self.tokens.file).ok().map(|about| Stamp::of(&about));
        if held.read.as_ref().is_some_and(|(at, known)| *known == stamp && at.elapsed() < AGAIN) {
            return;
        }
        // Nobody is let in by what cannot be read now.
        held.tokens = self.tokens.read().unwrap_or_else(|error| {
            tracing::error!(%error, "no API token is taken");
            Vec::new()
        });
        held.read = Some((Instant::now(), stamp));
    }
}

impl Stamp {
    fn of(about: &std::fs::Metadata) -> Stamp {
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(about);
        #[cfg(not(unix))]
        let number = 0;
        Stamp { modified: about.modified().ok(), bytes: about.len(), number }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests look at the file")]
mod tests {
    use super::super::tokens::FreshToken;
    use super::*;

    fn tokens() -> (tempfile::TempDir, ApiTokens) {
        let folder = tempfile::tempdir().unwrap();
        let tokens = ApiTokens::beside(&folder.path().join("store.sqlite"));
        (folder, tokens)
    }

    #[test]
    fn a_gate_follows_what_is_added_revoked_and_expires() {
        let (_folder, tokens) = tokens();
        let known = KnownTokens::new(tokens.clone());
        let whose =
            |token: &FreshToken, at| known.find(token.expose(), Timestamp(at)).map(|it| it.to_string());
        let build = tokens.add("build", Some(Timestamp(100)), Timestamp(1)).unwrap();
        assert_eq!(whose(&build, 99).as_deref(), Some("token:build"));
        assert_eq!(whose(&build, 100), None, "it has expired");
        let other = tokens.add("other", None, Timestamp(1)).unwrap();
        assert_eq!(whose(&other, 1).as_deref(), Some("token:other"));
        tokens.revoke("build").unwrap();
        assert_eq!((whose(&build, 1), whose(&other, 1).as_deref()), (None, Some("token:other")));
        assert_eq!(known.find("cg_", Timestamp(1)), None);
        std::fs::write(&tokens.file, "{}").unwrap();
        assert_eq!(whose(&other, 1), None, "nobody can say");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_lets_nobody_in() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_folder, tokens) = tokens();
        let fresh = tokens.add("build", None, Timestamp(1)).unwrap();
        let find = || KnownTokens::new(tokens.clone()).find(fresh.expose(), Timestamp(1));
        assert!(find().is_some());
        std::fs::set_permissions(&tokens.file, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(find().is_none());
    }
}
