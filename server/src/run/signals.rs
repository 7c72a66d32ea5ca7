//! The signals that the server takes.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for this many signals to stop: SIGINT or SIGTERM; on other systems Ctrl-C. From the
/// call on they do not end the process.
#[cfg(unix)]
pub(super) fn stop_signals(number: usize) -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        for _ in 0..number {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
    })
}

#[cfg(not(unix))]
pub(super) fn stop_signals(number: usize) -> io::Result<impl Future<Output = ()>> {
    Ok(async move {
        for _ in 0..number {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    })
}

/// Asks for sign-in links: SIGUSR1; nothing on other systems. Without a receiver the signal would
/// end the process.
#[cfg(unix)]
pub(super) struct LinkSignals(Signal);

#[cfg(unix)]
impl LinkSignals {
    pub(super) fn new() -> io::Result<Self> {
        signal(SignalKind::user_defined1()).map(Self)
    }

    pub(super) async fn recv(&mut self) {
        self.0.recv().await;
    }
}

#[cfg(not(unix))]
pub(super) struct LinkSignals;

#[cfg(not(unix))]
impl LinkSignals {
    #[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) async fn recv(&mut self) {
        std::future::pending::<()>().await;
    }
}
