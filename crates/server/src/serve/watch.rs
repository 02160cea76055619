//! The stream on which a server says what belongs to no request, such as that its lists or single resources have changed,
//! where it has to be asked for one: in the newer era always, in the older one over HTTP. A process of the older era says
//! so unasked, but for single resources, about which a server of that era is asked one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use callgate_mcp::frame::AnswerContent;
use callgate_mcp::relay::{Era, Hello, own_request};
use tokio::sync::watch;
use tokio::time::Instant;

use super::connect::own_client;
use super::followed::Wishes;
use super::link::{Link, Next, Outgoing, Reply, Ticket};
use crate::records::json::quoted;

const METHOD: &str = "subscriptions/listen";
/// The pause before a stream that ended is asked for again, at first.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// The longest such pause. Some servers let no stream live long.
const PAUSE_MAX: Duration = Duration::from_mins(5);
/// A stream that held so long was a good one: the next pause is the first again.
const GOOD: Duration = Duration::from_mins(1);
/// How long a server may take to answer that it tells of one resource.
const ANSWER: Duration = Duration::from_secs(10);

/// Why a stream is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// There is none to be had.
    Refused,
    /// It was there, and may be again.
    Over,
}

type Wanted = watch::Receiver<BTreeMap<String, usize>>;

/// Keeps the stream open as long as this is waited for. It never ends.
pub(super) async fn watch(link: &Arc<Link>, wishes: &Wishes) -> Infallible {
    let Some(hello) = link.hello() else { return std::future::pending().await };
    wishes.promised.send_modify(BTreeMap::clear);
    let mut wanted = wishes.wanted.subscribe();
    match hello.era {
        Era::Modern => {
            let mut pauses = Pauses::new();
            while subscribe(link, hello, &mut wanted, wishes, pauses.again).await == StreamEnd::Over {
                pauses.pause().await;
            }
            tracing::debug!("the server does not say when anything changes");
            std::future::pending().await
        }
        Era::Legacy(_) => {
            let single = follow(link, hello.era, &mut wanted, wishes);
            let (never, ()) = tokio::join!(single, listen(link));
            match never {}
        }
    }
}

/// Keeps the stream of a session of the older era open, until there is none to be had. A server also asks on it, whether
/// its lists change or not.
async fn listen(link: &Arc<Link>) {
    let mut pauses = Pauses::new();
    while link.listen(pauses.again).await == StreamEnd::Over {
        pauses.pause().await;
    }
    tracing::debug!("the server does not say when its lists change");
}

/// The pauses between streams.
struct Pauses {
    begin: Instant,
    next: Duration,
    /// Whether there was a stream before.
    again: bool,
}

impl Pauses {
    fn new() -> Pauses {
        Pauses { begin: Instant::now(), next: PAUSE_MIN, again: false }
    }

    async fn pause(&mut self) {
        if self.begin.elapsed() >= GOOD {
            self.next = PAUSE_MIN;
        }
        tokio::time::sleep(self.next).await;
        self.next = (self.next * 2).min(PAUSE_MAX);
        (self.begin, self.again) = (Instant::now(), true);
    }
}

/// A stream of the newer era, which is replaced when other resources are wanted. `again` says that there was such a stream
/// before: what has changed since then was not heard.
async fn subscribe(
    link: &Arc<Link>,
    hello: &Hello,
    wanted: &mut Wanted,
    wishes: &Wishes,
    mut again: bool,
) -> StreamEnd {
    let mut uris = keys(wanted);
    while lists(hello).is_empty() && uris.is_empty() {
        // Whoever wishes is there as long as the server is.
        let _ = wanted.changed().await;
        uris = keys(wanted);
    }
    let mut ticket = ask(link, hello, &uris);
    let mut former = None::<Ticket>;
    loop {
        tokio::select! {
            next = ticket.next() => match next {
                // The acknowledgement: from here on everything is heard.
                Next::Told(_) => {
                    if let Some(former) = former.take() {
                        former.cancel("another stream has taken its place");
                    }
                    wishes.promised.send_modify(|promised| {
                        *promised = uris.iter().map(|uri| (uri.clone(), true)).collect();
                    });
                    if std::mem::take(&mut again) {
                        link.note_tools_changed();
                    }
                }
                Next::Reply(Reply::Answer(answer, _)) if matches!(answer.content, AnswerContent::Error(_)) => {
                    return StreamEnd::Refused;
                }
                Next::Reply(_) => return StreamEnd::Over,
            },
            // The former one is heard until the new one is there.
            _ = wanted.changed(), if former.is_none() => {
                uris = keys(wanted);
                former = Some(std::mem::replace(&mut ticket, ask(link, hello, &uris)));
            }
        }
    }
}

fn keys(wanted: &mut Wanted) -> BTreeSet<String> {
    wanted.borrow_and_update().keys().cloned().collect()
}

fn ask(link: &Arc<Link>, hello: &Hello, uris: &BTreeSet<String>) -> Ticket {
    let id = link.fresh_id();
    let mut members = lists(hello);
    if !uris.is_empty() {
        let uris: Vec<String> = uris.iter().map(|uri| quoted(uri)).collect();
        members.push(format!("\"resourceSubscriptions\":[{}]", uris.join(",")));
    }
    let members = format!("\"notifications\":{{{}}}", members.join(","));
    let frame = own_request(&id.to_string(), METHOD, Era::Modern, &own_client(), &members);
    link.request(id, Outgoing { frame, method: METHOD.to_owned(), ..Outgoing::default() }, None)
}

/// The members of `notifications` for what the server has said that it tells.
fn lists(hello: &Hello) -> Vec<String> {
    let told = ["tools", "prompts", "resources"].into_iter().filter(|name| hello.tells_changes(name));
    told.map(|name| format!("\"{name}ListChanged\":true")).collect()
}

/// Has a server of the older era tell of the resources that are wanted, and of no others. It never ends.
async fn follow(link: &Arc<Link>, era: Era, wanted: &mut Wanted, wishes: &Wishes) -> Infallible {
    let mut told = BTreeSet::new();
    loop {
        let uris = keys(wanted);
        for uri in told.difference(&uris) {
            say(link, era, "resources/unsubscribe", uri).await;
            wishes.promised.send_modify(|promised| {
                promised.remove(uri);
            });
        }
        for uri in uris.difference(&told) {
            let promised = say(link, era, "resources/subscribe", uri).await;
            wishes.promised.send_modify(|all| {
                all.insert(uri.clone(), promised);
            });
        }
        told = uris;
        if wanted.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// Whether the server does it.
async fn say(link: &Arc<Link>, era: Era, method: &str, uri: &str) -> bool {
    let id = link.fresh_id();
    let members = format!("\"uri\":{}", quoted(uri));
    let frame = own_request(&id.to_string(), method, era, &own_client(), &members);
    let name = Some(uri.to_owned());
    let outgoing = Outgoing { frame, method: method.to_owned(), name, ..Outgoing::default() };
    let mut ticket = link.request(id, outgoing, None);
    let reply = tokio::time::timeout(ANSWER, ticket.reply()).await;
    matches!(reply, Ok(Reply::Answer(answer, _)) if matches!(answer.content, AnswerContent::Result(_)))
}
