//! Single resources whose changes clients want to hear of. What all clients together want of a server is what the gate asks
//! of it; a change then reaches whoever wanted it, and nobody else.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use callgate_gateway::policy::{Question, Target, TargetKind};
use callgate_schema::json::Tape;
use tokio::sync::watch;

use super::client::Client;
use super::gate::Gate;
use super::upstream::Upstream;

/// Resources that one client follows.
pub(super) const FOLLOWED_MAX: usize = 1_000;
/// Resources of one server that clients follow.
const OF_UPSTREAM_MAX: usize = 10_000;
/// How long a server may take to say that it will tell of a resource's changes.
const PROMISE: Duration = Duration::from_secs(10);

/// What is wanted of one server, and what it has said to that.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    /// How many clients want to hear of a resource.
    pub(super) wanted: watch::Sender<BTreeMap<String, usize>>,
    /// Whether the server that is connected now tells of it.
    pub(super) promised: watch::Sender<BTreeMap<String, bool>>,
}

/// A resource that one client follows; no more of them when dropped.
struct Following {
    upstream: Arc<Upstream>,
    uri: String,
}

impl Following {
    fn begin(upstream: Arc<Upstream>, uri: &str) -> Option<Following> {
        let taken = upstream.wishes.wanted.send_if_modified(|wanted| {
            let has_room = wanted.len() < OF_UPSTREAM_MAX || wanted.contains_key(uri);
            if has_room {
                *wanted.entry(uri.to_owned()).or_default() += 1;
            }
            has_room
        });
        taken.then(|| Following { upstream, uri: uri.to_owned() })
    }

    /// Waits until the server has said whether it tells of changes.
    async fn is_promised(&self) -> bool {
        let mut promised = self.upstream.wishes.promised.subscribe();
        let said = promised.wait_for(|promised| promised.contains_key(&self.uri));
        match tokio::time::timeout(PROMISE, said).await {
            Ok(Ok(promised)) => promised.get(&self.uri) == Some(&true),
            _ => false,
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.upstream.wishes.wanted.send_modify(|wanted| {
            if let Some(count) = wanted.get_mut(&self.uri) {
                *count -= 1;
                if *count == 0 {
                    wanted.remove(&self.uri);
                }
            }
        });
    }
}

/// The resources that one client follows.
#[derive(Default)]
pub(crate) struct Followed(Mutex<HashMap<String, Following>>);

impl std::fmt::Debug for Followed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Followed({})", self.lock().len())
    }
}

impl Followed {
    /// Whether a change of this resource of this server is wanted.
    pub(super) fn has(&self, upstream: &str, uri: &str) -> bool {
        self.lock().get(uri).is_some_and(|following| following.upstream.config.name == upstream)
    }

    /// Those that are followed, in order.
    pub(super) fn uris(&self) -> Vec<String> {
        let mut uris: Vec<String> = self.lock().keys().cloned().collect();
        uris.sort();
        uris
    }

    /// Follows it no more.
    pub(super) fn leave(&self, uri: &str) {
        self.lock().remove(uri);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Following>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a resource cannot be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotFollowed {
    /// No server is known to have it, or the client may not know that one does.
    Unknown,
    /// Its server does not tell of changes.
    NotTold,
    /// The client follows as many as it may.
    TooMany,
}

impl NotFollowed {
    pub(super) fn message(self) -> String {
        match self {
            NotFollowed::Unknown => "expected the URI of a resource that a server lists".to_owned(),
            NotFollowed::NotTold => "the server of this resource does not tell when it changes".to_owned(),
            NotFollowed::TooMany => format!(
                "expected at most {FOLLOWED_MAX} resources of one client and {OF_UPSTREAM_MAX} of one server, found one more"
            ),
        }
    }
}

impl Gate {
    /// Has a client hear of changes of a resource from now on.
    pub(super) async fn follow(
        &self,
        client: &Client,
        followed: &Followed,
        uri: &str,
    ) -> Result<(), NotFollowed> {
        self.first_servers().await;
        if !self.tells_of_resources() {
            return Err(NotFollowed::NotTold);
        }
        let upstream = self.by_uri(uri).ok_or(NotFollowed::Unknown)?;
        if !self.may_read(client, &upstream, uri) {
            return Err(NotFollowed::Unknown);
        }
        let link = upstream.view().link.ok_or(NotFollowed::NotTold)?;
        if !link.hello().is_some_and(|hello| hello.tells("resources", "subscribe")) {
            return Err(NotFollowed::NotTold);
        }
        let has_room = |followed: &HashMap<String, Following>| {
            followed.len() < FOLLOWED_MAX || followed.contains_key(uri)
        };
        if !has_room(&followed.lock()) {
            return Err(NotFollowed::TooMany);
        }
        let following = Following::begin(upstream, uri).ok_or(NotFollowed::TooMany)?;
        if !following.is_promised().await {
            return Err(NotFollowed::NotTold);
        }
        let mut followed = followed.lock();
        if !has_room(&followed) {
            return Err(NotFollowed::TooMany);
        }
        followed.insert(uri.to_owned(), following);
        Ok(())
    }

    /// Whether any server tells when single resources change.
    pub(super) fn tells_of_resources(&self) -> bool {
        let tells = |upstream: &Arc<Upstream>| {
            let link = upstream.view().link;
            link.is_some_and(|link| link.hello().is_some_and(|hello| hello.tells("resources", "subscribe")))
        };
        self.current().upstreams.iter().any(tells)
    }

    fn may_read(&self, client: &Client, upstream: &Upstream, uri: &str) -> bool {
        let current = self.current();
        if current.config.rules.is_empty() {
            return true;
        }
        let mut empty = Tape::new();
        let Ok(arguments) = empty.read(b"{}", &self.config.gate.frames.frame_text()) else { return false };
        let target = Target { kind: TargetKind::Resource, upstream: &upstream.config.name, name: uri };
        let (principal, claims) = (&client.principal, &*client.claims);
        current.config.rules.permit(&Question { principal, claims, target, arguments }).is_ok()
    }
}
