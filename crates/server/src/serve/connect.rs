//! How a tool server is reached, and in which era it speaks: it is asked in the newer way first, and whatever it answers
//! that is no discovery, or silence, means the older one.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use callgate_mcp::frame::UpstreamReader;
use callgate_mcp::relay::{Era, Hello, HelloFault, ModernClient, discover_request, initialize_request};
use callgate_mcp::visit;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::sync::mpsc;

use super::http_link::HttpLink;
use super::link::{Link, News, Outgoing, Reply};
use super::upstream::UpstreamSettings;
use crate::child::{Child, Launch};
use crate::config::{self, Place, Text};
use crate::lane::{Incoming, Outbox, read_frames};

/// How long a server may be silent when it is asked in the newer way.
const DISCOVER: Duration = Duration::from_secs(3);
/// How often a server is asked in the newer way, if it refuses as one that knows that way.
const DISCOVERIES: usize = 2;
/// How long a server may take to begin a session: it may have to be fetched first.
const INITIALIZE: Duration = Duration::from_mins(1);
/// Bytes of one line of a server's standard error that go to the log.
const STDERR_LINE_MAX: usize = 4_096;

/// A connection that has begun.
pub(super) struct Connection {
    pub(super) link: Arc<Link>,
    pub(super) news: mpsc::Receiver<News>,
    pub(super) child: Option<Child>,
}

/// Connects to a server and greets it.
pub(super) async fn connect(
    config: &config::Upstream,
    settings: &UpstreamSettings,
) -> Result<Connection, String> {
    let connection = match &config.place {
        Place::Command { command, args, env, cwd } => {
            let mut launch = Launch::new(command.as_ref());
            launch.args = args.iter().map(Into::into).collect();
            launch.env = texts(env)?.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
            launch.cwd.clone_from(cwd);
            start(&config.name, &launch, settings)?
        }
        Place::Url { url, headers } => {
            let http = HttpLink::new(url, &texts(headers)?, settings.frames.clone())
                .map_err(|error| error.to_string())?;
            let (link, news) = Link::over_http(http, settings.frames.clone());
            Connection { link: Arc::new(link), news, child: None }
        }
    };
    let greeted = greet(&connection.link, settings).await;
    match greeted {
        Ok(hello) => {
            tracing::info!(
                upstream = config.name,
                revision = hello.era.revision(),
                capabilities = %hello.capabilities,
                "the tool server is connected"
            );
            connection.link.greeted(hello);
            if let Some(Hello { era: Era::Legacy(_), .. }) = connection.link.hello() {
                connection.link.notify(visit::INITIALIZED.to_vec(), "notifications/initialized");
            }
            Ok(connection)
        }
        Err(reason) => {
            connection.link.end(&reason);
            let Connection { link, child, .. } = connection;
            drop(link);
            if let Some(child) = child {
                child.stop().await;
            }
            Err(reason)
        }
    }
}

fn start(name: &str, launch: &Launch, settings: &UpstreamSettings) -> Result<Connection, String> {
    let (child, streams) = launch.start(Stdio::piped()).map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("{error}{cause}")
    })?;
    let (outbox, writer) = Outbox::start(streams.stdin);
    let reader = UpstreamReader::new(&settings.frames);
    let mut incoming = read_frames(streams.stdout, reader, &settings.frames, settings.held_bytes_max);
    let (link, news) = Link::over_lines(outbox, settings.frames.clone());
    let link = Arc::new(link);
    // What reads does not keep the connection alive: its input is closed when nobody else uses it.
    let weak = Arc::downgrade(&link);
    tokio::spawn(async move {
        while let Some(frame) = incoming.recv().await {
            let Some(link) = weak.upgrade() else { return };
            let end = matches!(frame, Incoming::End(_));
            link.take(frame, None);
            if end {
                return;
            }
        }
    });
    let weak = Arc::downgrade(&link);
    tokio::spawn(async move {
        if let Ok(Err(error)) = writer.await
            && let Some(link) = weak.upgrade()
        {
            link.end(&format!("it reads no more: {error}"));
        }
    });
    if let Some(stderr) = streams.stderr {
        tokio::spawn(log_lines(name.to_owned(), stderr));
    }
    Ok(Connection { link, news, child: Some(child) })
}

/// Puts what a server writes to its standard error into the log.
async fn log_lines(upstream: String, stream: impl AsyncRead + Unpin) {
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A longer line is taken in pieces.
        let mut piece = tokio::io::AsyncReadExt::take(&mut lines, STDERR_LINE_MAX as u64);
        match piece.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line);
                tracing::info!(upstream, "stderr: {}", text.trim_end());
            }
        }
    }
}

/// What the gate says of itself to servers.
pub(super) fn own_client() -> ModernClient {
    let info = concat!(r#"{"name":"callgate","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);
    ModernClient::of_session(r#"{"elicitation":{}}"#, Some(info))
}

async fn greet(link: &Arc<Link>, settings: &UpstreamSettings) -> Result<Hello, String> {
    let client = own_client();
    let mut refused = None;
    for _ in 0..DISCOVERIES {
        let id = link.fresh_id();
        let frame = discover_request(&id.to_string(), &client);
        let answer = ask(link, id, frame, "server/discover", DISCOVER).await?;
        refused = match answer.map(|answer| Hello::discovered(&answer, &settings.frames)) {
            Some(Ok(hello)) => return Ok(hello),
            Some(Err(fault @ HelloFault::RefusedAsModern(_))) => Some(fault),
            Some(Err(_)) | None => None,
        };
        if refused.is_none() {
            break;
        }
    }
    // Only a server of the newer era refuses so; it has no sessions.
    if let Some(fault) = refused {
        return Err(fault.to_string());
    }
    let id = link.fresh_id();
    let frame = initialize_request(&id.to_string(), &client);
    let answer = ask(link, id, frame, "initialize", INITIALIZE).await?;
    let answer = answer.ok_or("it does not begin a session in time or readably")?;
    Hello::initialized(&answer, &settings.frames).map_err(|fault: HelloFault| fault.to_string())
}

/// Asks; `None` for silence, and for an answer that cannot be read.
async fn ask(
    link: &Arc<Link>,
    id: u64,
    frame: Vec<u8>,
    method: &str,
    within: Duration,
) -> Result<Option<Vec<u8>>, String> {
    let outgoing = Outgoing { frame, method: method.to_owned(), ..Outgoing::default() };
    let mut ticket = link.request(id, outgoing, None);
    match tokio::time::timeout(within, ticket.reply()).await {
        Err(_) | Ok(Reply::Unreadable(..) | Reply::Oversize(_)) => Ok(None),
        Ok(Reply::Answer(_, line)) => Ok(Some(line.bytes().to_vec())),
        Ok(Reply::Gone(reason) | Reply::NotSent(reason)) => Err(reason),
    }
}

/// The texts, those of secrets read now.
fn texts(entries: &[(String, Text)]) -> Result<Vec<(String, String)>, String> {
    let read = |(name, text): &(String, Text)| {
        let value = match text {
            Text::Plain(text) => text.clone(),
            Text::Secret(secret) => {
                secret.read().map_err(|error| format!("`{name}`: {error}"))?.expose().to_owned()
            }
        };
        Ok((name.clone(), value))
    };
    entries.iter().map(read).collect()
}
