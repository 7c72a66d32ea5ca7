//! The signals that the server takes.

use std::io;

use futures::stream::{self, Stream};
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};

/// Waits for this many signals to stop: SIGINT or SIGTERM; on other systems Ctrl-C. From the
/// call on they do not end the process.
pub(super) fn stop_signals(number: usize) -> io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        for _ in 0..number {
            #[cfg(unix)]
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            #[cfg(not(unix))]
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    })
}

/// Asks for sign-in links: SIGUSR1; nothing on other systems. Without a receiver the signal would
/// end the process.
pub(super) fn link_signals() -> io::Result<impl Stream<Item = ()>> {
    #[cfg(unix)]
    let mut signals = signal(SignalKind::user_defined1())?;
    #[cfg(unix)]
    return Ok(stream::poll_fn(move |context| signals.poll_recv(context)));
    #[cfg(not(unix))]
    Ok(stream::pending())
}
