//! Signals to stop. Listening begins before anything is sent to a target: a signal before that
//! would end the process and leave what was created.

use std::time::{Duration, Instant};

use futures::StreamExt as _;
use futures::stream::{self, Stream};
use tokio::sync::oneshot;

/// Signals within so short a time are one.
const TOGETHER: Duration = Duration::from_secs(1);

/// Listens from now on. The future is done at the first signal, after `at_first`; the second one
/// calls `at_once`, for users who cannot wait.
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
        // `timeout` of coreutils signals the process and its group: two signals, one wish.
        let first = Instant::now();
        while signals.next().await.is_some() && first.elapsed() < TOGETHER {}
        at_once();
    });
    async {
        let _ = stopped.await;
    }
}

/// A signal that cannot be listened to still ends the process.
#[cfg(unix)]
fn signals() -> impl Stream<Item = ()> + Send + Unpin {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    let signals = signals.into_iter().flatten();
    let each = signals.map(|mut one| stream::poll_fn(move |context| one.poll_recv(context)));
    stream::select_all(each).chain(stream::pending())
}

#[cfg(not(unix))]
fn signals() -> impl Stream<Item = ()> + Send + Unpin {
    let signal = |()| async { tokio::signal::ctrl_c().await.ok().map(|()| ((), ())) };
    Box::pin(stream::unfold((), signal))
}
