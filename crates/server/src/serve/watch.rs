//! The stream on which a server says what belongs to no request, such as that its lists have changed, where it has to be
//! asked for one: in the newer era always, in the older one over HTTP. A process of the older era says so unasked.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use callgate_mcp::frame::AnswerContent;
use callgate_mcp::relay::{Era, Hello, own_request};
use tokio::time::Instant;

use super::connect::own_client;
use super::link::{Link, Next, Outgoing, Reply};

const METHOD: &str = "subscriptions/listen";
/// The pause before a stream that ended is asked for again, at first.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// The longest such pause. Some servers let no stream live long.
const PAUSE_MAX: Duration = Duration::from_mins(5);
/// A stream that held so long was a good one: the next pause is the first again.
const GOOD: Duration = Duration::from_mins(1);

/// Why a stream is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// There is none to be had.
    Refused,
    /// It was there, and may be again.
    Over,
}

/// Keeps the stream open as long as this is waited for. It never ends.
pub(super) async fn watch(link: &Arc<Link>) -> Infallible {
    let Some(hello) = link.hello() else { return std::future::pending().await };
    let wanted = wanted(hello);
    let (mut pause, mut again) = (PAUSE_MIN, false);
    // In the older era a server also asks on this stream, whether its lists change or not.
    while !wanted.is_empty() || hello.era != Era::Modern {
        let begin = Instant::now();
        let end = match hello.era {
            Era::Modern => subscribe(link, &wanted, again).await,
            Era::Legacy(_) => link.listen(again).await,
        };
        if end == StreamEnd::Refused {
            tracing::debug!("the server does not say when its lists change");
            break;
        }
        if begin.elapsed() >= GOOD {
            pause = PAUSE_MIN;
        }
        tokio::time::sleep(pause).await;
        (pause, again) = ((pause * 2).min(PAUSE_MAX), true);
    }
    std::future::pending().await
}

/// `again` says that there was such a stream before: what has changed since then was not heard.
async fn subscribe(link: &Arc<Link>, wanted: &[String], mut again: bool) -> StreamEnd {
    let id = link.fresh_id();
    let members = format!("\"notifications\":{{{}}}", wanted.join(","));
    let frame = own_request(&id.to_string(), METHOD, Era::Modern, &own_client(), &members);
    let outgoing = Outgoing { frame, method: METHOD.to_owned(), ..Outgoing::default() };
    let mut ticket = link.request(id, outgoing, None);
    loop {
        match ticket.next().await {
            // The acknowledgement: from here on everything is heard.
            Next::Told(_) if std::mem::take(&mut again) => link.note_tools_changed(),
            Next::Told(_) => {}
            Next::Reply(Reply::Answer(answer, _)) if matches!(answer.content, AnswerContent::Error(_)) => {
                return StreamEnd::Refused;
            }
            Next::Reply(_) => return StreamEnd::Over,
        }
    }
}

/// The members of `notifications` for what the server has said that it tells.
fn wanted(hello: &Hello) -> Vec<String> {
    let told = ["tools", "prompts", "resources"].into_iter().filter(|name| hello.tells_changes(name));
    told.map(|name| format!("\"{name}ListChanged\":true")).collect()
}
