//! Being told to stop. Listening begins when it is asked for, before anything is
//! sent to a target: a signal that nobody hears yet would end the process and
//! leave what was made.

use tokio::sync::oneshot;

/// Begins to listen; the future is done at the first signal to stop. At the
/// second one `at_once` is called, for whoever cannot wait.
pub(super) fn listen(
    at_first: impl FnOnce() + Send + 'static,
    at_once: impl FnOnce() + Send + 'static,
) -> impl Future<Output = ()> {
    let mut signals = Signals::new();
    let (told, heard) = oneshot::channel();
    tokio::spawn(async move {
        signals.next().await;
        at_first();
        let _ = told.send(());
        signals.next().await;
        at_once();
    });
    async {
        let _ = heard.await;
    }
}

#[cfg(unix)]
struct Signals(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    /// Takes effect at once. A kind that cannot be listened to keeps its effect.
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
        Self(kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect())
    }

    async fn next(&mut self) {
        if self.0.is_empty() {
            return std::future::pending().await;
        }
        let signals = self.0.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures::future::select_all(signals).await;
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Self {
        Self
    }

    async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
