//! The signals that the server takes.

use std::future::pending;
use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

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
                pending::<()>().await;
            }
        }
    })
}

/// Asks for sign-in links: SIGUSR1; nothing on other systems. Without a receiver the signal would
/// end the process.
pub(super) struct LinkSignals(#[cfg(unix)] Signal);

impl LinkSignals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(
            #[cfg(unix)]
            signal(SignalKind::user_defined1())?,
        ))
    }

    pub(super) async fn recv(&mut self) {
        #[cfg(unix)]
        let received = self.0.recv().await;
        #[cfg(not(unix))]
        let received: Option<()> = None;
        if received.is_none() {
            pending::<()>().await;
        }
    }
}
