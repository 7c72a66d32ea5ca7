//! The signals that the server takes.

use std::io;

use futures::stream::{self, Stream, StreamExt};

/// SIGINT, SIGTERM, SIGQUIT and SIGHUP, which stop the server. From the call on they do not end the
/// process, nor does SIGXFSZ: a write beyond `ulimit -f` fails. Of each signal the stream says whether
/// as a second one it ends the program at once.
/// SIGHUP does not: a closed terminal sends it twice, and systemd may send it after SIGTERM.
#[cfg(unix)]
pub(super) fn signals() -> io::Result<impl Stream<Item = bool>> {
    use tokio::signal::unix::{SignalKind, signal};
    let stream = |kind| {
        let mut signal = signal(kind)?;
        io::Result::Ok(stream::poll_fn(move |context| signal.poll_recv(context)))
    };
    // Another number only on MIPS and PA-RISC.
    const SIGXFSZ: i32 = 25;
    // The handler stays after the stream is dropped.
    drop(signal(SignalKind::from_raw(SIGXFSZ))?);
    let hangup = SignalKind::hangup();
    let stop = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::quit(), hangup];
    let stop = stop.map(|kind| Ok(stream(kind)?.map(move |()| kind != hangup)));
    let stop = stop.into_iter().collect::<io::Result<Vec<_>>>()?;
    Ok(stream::select_all(stop))
}

/// Ctrl-C stops the server.
#[cfg(not(unix))]
pub(super) fn signals() -> io::Result<impl Stream<Item = bool>> {
    let ctrl_c = |()| async { tokio::signal::ctrl_c().await.ok().map(|()| (true, ())) };
    Ok(stream::unfold((), ctrl_c).chain(stream::pending()))
}
