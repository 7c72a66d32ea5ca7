//! Signals to stop. Listening begins before anything is sent to a target: a signal before that
//! would end the process and leave what was created.

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use tokio::sync::oneshot;

/// Begins to listen. The future is done at the first signal, after `at_first`; at the second one
/// `at_once` is called, for whoever cannot wait.
pub(super) fn listen(
    at_first: impl FnOnce() + Send + 'static,
    at_once: impl FnOnce() + Send + 'static,
) -> impl Future<Output = ()> {
    let mut signals = signals();
    let (sender, stopped) = oneshot::channel();
    tokio::spawn(async move {
        signals.next().await;
        at_first();
        let _ = sender.send(());
        signals.next().await;
        at_once();
    });
    async {
        let _ = stopped.await;
    }
}

/// Takes effect at once. A kind that cannot be listened to keeps its effect.
#[cfg(unix)]
fn signals() -> BoxStream<'static, ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
    let signals = kinds.into_iter().filter_map(|kind| signal(kind).ok()).map(|signal| {
        stream::unfold(signal, async |mut signal| Some((signal.recv().await?, signal))).boxed()
    });
    stream::select_all(signals).chain(stream::pending()).boxed()
}

#[cfg(not(unix))]
fn signals() -> BoxStream<'static, ()> {
    let signal = || async { tokio::signal::ctrl_c().await.ok() };
    stream::unfold((), move |()| async move { Some((signal().await?, ())) }).boxed()
}
