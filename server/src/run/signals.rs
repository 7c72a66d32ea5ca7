//! The signals that the server takes.

use std::io;

#[cfg(not(unix))]
use futures::StreamExt;
use futures::stream::{self, Stream};

/// SIGINT and SIGTERM, which stop the server, and SIGUSR1, which asks for a sign-in link. From the call
/// on they do not end the process.
#[cfg(unix)]
pub(super) fn signals() -> io::Result<(impl Stream<Item = ()>, impl Stream<Item = ()>)> {
    use tokio::signal::unix::{SignalKind, signal};
    let stream = |kind| {
        let mut signal = signal(kind)?;
        io::Result::Ok(stream::poll_fn(move |context| signal.poll_recv(context)))
    };
    let stop = stream::select(stream(SignalKind::interrupt())?, stream(SignalKind::terminate())?);
    Ok((stop, stream(SignalKind::user_defined1())?))
}

/// Ctrl-C stops the server.
#[cfg(not(unix))]
pub(super) fn signals() -> io::Result<(impl Stream<Item = ()>, impl Stream<Item = ()>)> {
    let ctrl_c = |()| async { tokio::signal::ctrl_c().await.ok().map(|()| ((), ())) };
    Ok((stream::unfold((), ctrl_c).chain(stream::pending()), stream::pending()))
}
