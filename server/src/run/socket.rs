//! The sockets of the listeners.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket, lookup_host};

use crate::config::Config;
use crate::limits::LISTEN_BACKLOG;

/// Binds a socket to the address `text` of a setting. It accepts connections from the call on that is
/// returned beside its address.
pub(super) async fn bind(
    config: &Config,
    id: &str,
    text: &str,
) -> Result<(SocketAddr, impl FnOnce() -> Result<TcpListener, String> + use<>), String> {
    let bind_to = |address: SocketAddr| {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // Connections of the program before may still be closing. On Windows it means more.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        Ok((socket.local_addr()?, socket))
    };
    let bound = lookup_host(text).await.and_then(|addresses| {
        let none = Err(io::ErrorKind::AddrNotAvailable.into());
        addresses.fold(none, |bound, address| bound.or_else(|_| bind_to(address)))
    });
    let (source, text) = (config.source(id), text.to_owned());
    let problem = move |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => format!("{source}: {text} is already in use"),
        _ => format!("{source}: cannot listen on {text}: {error}"),
    };
    let (address, socket) = bound.map_err(&problem)?;
    Ok((address, move || socket.listen(LISTEN_BACKLOG).map_err(problem)))
}
