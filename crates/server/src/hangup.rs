//! The end of a client that is not read any more.
//!
//! While the client does not take its answers, nothing more of it is read, so that it cannot make the gate grow. The end of
//! its stream then stands behind what is not read. The operating system tells of it all the same.

use std::future::Future;
use std::pin::Pin;

use tokio::sync::oneshot;

/// Completes when the other side has closed the stream, whatever of it is still to be read. Where that cannot be told, as
/// of a file, it never does.
pub type HangUp = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Watches the standard input of this process, in a thread of its own.
///
/// # Errors
///
/// If the operating system gives no thread.
#[cfg(unix)]
pub fn stdin_hang_up() -> std::io::Result<HangUp> {
    let (sender, receiver) = oneshot::channel();
    let watch = std::thread::Builder::new().name("callgate-hang-up".to_owned()).spawn(move || {
        if wait(std::io::stdin()) {
            let _ = sender.send(());
        }
    })?;
    // Not detached: the thread may be ending just now, and older C libraries crash then (glibc bug 19951).
    std::mem::forget(watch);
    Ok(of(receiver))
}

/// There is no way to tell here.
#[cfg(not(unix))]
pub fn stdin_hang_up() -> std::io::Result<HangUp> {
    Ok(Box::pin(std::future::pending()))
}

/// Completes when something is sent, and never if the sender is dropped.
pub(crate) fn of(receiver: oneshot::Receiver<()>) -> HangUp {
    Box::pin(async move {
        if receiver.await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

/// Blocks until the other side has closed the stream; `false` if that cannot be told.
#[cfg(unix)]
fn wait(stream: impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    loop {
        // A hang-up is told without being asked for.
        let mut streams = [PollFd::new(&stream, PollFlags::empty())];
        match poll(&mut streams, None) {
            Ok(_) => return streams.iter().all(|stream| stream.revents().contains(PollFlags::HUP)),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_end_is_seen_behind_what_is_not_read() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"not read").unwrap();
        let watch = std::thread::spawn(move || wait(&reader));
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!watch.is_finished());
        drop(writer);
        assert!(watch.join().unwrap());
    }
}
