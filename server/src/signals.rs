//! Requests of the system to stop.

use std::io;

/// Listens for Ctrl-C and, where there is such a thing, SIGTERM.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// From now on the signals no longer end the process by themselves.
    ///
    /// # Errors
    /// If the system does not let us listen.
    pub fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// The next signal.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    /// From now on the signal no longer ends the process by itself.
    ///
    /// # Errors
    /// None.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// The next signal.
    pub async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
