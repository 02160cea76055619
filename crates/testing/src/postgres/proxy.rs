//! Stands between a gate and its server of PostgreSQL: notes what went by and in which order, holds answers back, and breaks connections
//! off at a commit.
//!
//! SPEC: PostgreSQL's "Frontend/Backend Protocol", version 3. All messages but a connection's first have a letter, a
//! length that counts itself, and a body.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::SOCKET;

/// What becomes of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It goes through.
    Pass,
    /// The connection breaks before the server gets it.
    CutBefore,
    /// The server gets it, and the connection breaks before its answer is passed on.
    CutAfter,
}

/// Something that went by.
#[derive(Debug, Clone)]
pub enum Seen {
    /// The gate sent this.
    Sent {
        /// The connection, by number.
        connection: u64,
        /// The message's body.
        body: Vec<u8>,
    },
    /// The server's answer that a transaction is committed was passed on to the gate, right after this was noted.
    Committed {
        /// The connection, by number.
        connection: u64,
        /// The length of the watched file at that moment.
        watched: u64,
    },
}

/// A proxy that runs until the process ends.
#[derive(Debug, Clone)]
pub struct Proxy {
    folder: PathBuf,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    server: PathBuf,
    /// What becomes of the next commits; those beyond pass.
    fates: Vec<Fate>,
    /// How long the answers to commits are held back.
    delay: Duration,
    /// The file whose length is noted as a commit is passed on.
    watched: Option<PathBuf>,
    /// Whether connections are refused.
    closed: bool,
    seen: Vec<Seen>,
    connections: u64,
}

impl Proxy {
    /// Listens in a folder, on the socket of the server's name, and leads to the server's own socket.
    ///
    /// # Errors
    /// When it cannot listen there.
    pub fn start(folder: &Path, server: PathBuf) -> io::Result<Proxy> {
        let listener = UnixListener::bind(folder.join(SOCKET))?;
        let shared = Shared {
            server,
            fates: Vec::new(),
            delay: Duration::ZERO,
            watched: None,
            closed: false,
            seen: Vec::new(),
            connections: 0,
        };
        let proxy = Proxy { folder: folder.to_owned(), shared: Arc::new(Mutex::new(shared)) };
        let accepting = proxy.clone();
        std::thread::spawn(move || {
            for gate in listener.incoming().filter_map(Result::ok) {
                // A connection that fails is one that its gate sees fail.
                let _ = accepting.connect(gate);
            }
        });
        Ok(proxy)
    }

    /// The folder of the socket.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Says what becomes of the next commits.
    pub fn decide(&self, fates: &[Fate]) {
        self.shared().fates = fates.iter().rev().copied().collect();
    }

    /// Holds each answer to a commit back for so long.
    pub fn delay(&self, delay: Duration) {
        self.shared().delay = delay;
    }

    /// Notes how long this file is whenever the answer to a commit is passed on.
    pub fn watch(&self, file: &Path) {
        self.shared().watched = Some(file.to_owned());
    }

    /// Refuses connections from now on, or takes them again. Those that are there stay.
    pub fn close(&self, closed: bool) {
        self.shared().closed = closed;
    }

    /// How many of the fates have not come to pass yet.
    pub fn waiting(&self) -> usize {
        self.shared().fates.len()
    }

    /// What went by so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared().seen.clone()
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(&self, gate: UnixStream) -> io::Result<()> {
        let (path, connection) = {
            let mut shared = self.shared();
            if shared.closed {
                return Ok(());
            }
            shared.connections += 1;
            (shared.server.clone(), shared.connections)
        };
        let server = UnixStream::connect(path)?;
        let link = Arc::new(Link { proxy: self.clone(), connection, cut: Mutex::new(false) });
        let (up, down) = ((gate.try_clone()?, server.try_clone()?), (server, gate));
        let sending = Arc::clone(&link);
        std::thread::spawn(move || {
            let _ = sending.pass_up(&up.0, &up.1);
            let _ = up.1.shutdown(Shutdown::Both);
            let _ = up.0.shutdown(Shutdown::Both);
        });
        std::thread::spawn(move || {
            let _ = link.pass_down(&down.0, &down.1);
            let _ = down.0.shutdown(Shutdown::Both);
            let _ = down.1.shutdown(Shutdown::Both);
        });
        Ok(())
    }
}

struct Link {
    proxy: Proxy,
    connection: u64,
    /// Whether the connection breaks instead of the next answer to a commit.
    cut: Mutex<bool>,
}

impl Link {
    /// From the gate to the server.
    fn pass_up(&self, mut from: &UnixStream, mut to: &UnixStream) -> io::Result<()> {
        let first = message(&mut from, None)?;
        to.write_all(&first)?;
        loop {
            let mut letter = [0];
            from.read_exact(&mut letter)?;
            let message = message(&mut from, Some(letter[0]))?;
            let body = message.get(5..).unwrap_or_default();
            if letter[0] == b'Q' && body == b"COMMIT\0" {
                match self.proxy.shared().fates.pop().unwrap_or(Fate::Pass) {
                    Fate::Pass => {}
                    Fate::CutBefore => return Ok(()),
                    Fate::CutAfter => *self.cut.lock().unwrap_or_else(PoisonError::into_inner) = true,
                }
            }
            let sent = Seen::Sent { connection: self.connection, body: body.to_owned() };
            self.proxy.shared().seen.push(sent);
            to.write_all(&message)?;
        }
    }

    /// From the server to the gate.
    fn pass_down(&self, mut from: &UnixStream, mut to: &UnixStream) -> io::Result<()> {
        loop {
            let mut letter = [0];
            from.read_exact(&mut letter)?;
            let message = message(&mut from, Some(letter[0]))?;
            let committed = letter[0] == b'C' && message.get(5..) == Some(b"COMMIT\0");
            if committed {
                if *self.cut.lock().unwrap_or_else(PoisonError::into_inner) {
                    return Ok(());
                }
                let delay = self.proxy.shared().delay;
                std::thread::sleep(delay);
                let mut shared = self.proxy.shared();
                let watched = shared.watched.as_ref().and_then(|file| std::fs::metadata(file).ok());
                let watched = watched.map_or(0, |metadata| metadata.len());
                shared.seen.push(Seen::Committed { connection: self.connection, watched });
            }
            to.write_all(&message)?;
        }
    }
}

/// The rest of a message whose letter has been read, with the letter.
fn message(from: &mut impl Read, letter: Option<u8>) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let body = usize::try_from(u32::from_be_bytes(length)).unwrap_or_default().saturating_sub(4);
    let mut message: Vec<u8> = letter.into_iter().chain(length).collect();
    let head = message.len();
    message.resize(head + body, 0);
    from.read_exact(message.get_mut(head..).unwrap_or_default())?;
    Ok(message)
}
