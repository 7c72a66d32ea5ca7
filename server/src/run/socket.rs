//! The sockets of the listeners.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket, lookup_host};

use crate::config::Config;
use crate::limits::LISTEN_BACKLOG;

/// A socket that has an address, but does not accept connections yet.
pub(super) struct Socket {
    socket: TcpSocket,
    pub(super) address: SocketAddr,
    /// The flag or variable of the address, and its text.
    setting: (String, String),
}

impl Socket {
    pub(super) async fn bind(config: &Config, id: &str, text: &str) -> Result<Self, String> {
        let bind_to = |address: SocketAddr| {
            let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
            // Connections of the program before may still be closing. On Windows it means more.
            #[cfg(unix)]
            socket.set_reuseaddr(true)?;
            socket.bind(address)?;
            socket.local_addr().map(|address| (socket, address))
        };
        let bound = lookup_host(text).await.and_then(|addresses| {
            let none = Err(io::ErrorKind::AddrNotAvailable.into());
            addresses.fold(none, |bound, address| bound.or_else(|_| bind_to(address)))
        });
        let setting = (config.source(id), text.to_owned());
        match bound {
            Ok((socket, address)) => Ok(Self { socket, address, setting }),
            Err(error) => Err(cannot_listen(&setting, &error)),
        }
    }

    pub(super) fn accept(self) -> Result<TcpListener, String> {
        let listener = self.socket.listen(LISTEN_BACKLOG);
        listener.map_err(|error| cannot_listen(&self.setting, &error))
    }
}

fn cannot_listen((source, text): &(String, String), error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => format!("{source}: {text} is already in use"),
        _ => format!("{source}: cannot listen on {text}: {error}"),
    }
}
