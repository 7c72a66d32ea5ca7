//! The sockets of the listeners.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tempfile::TempPath;
use tokio::net::{TcpSocket, lookup_host};
use tokio_util::either::Either;

use crate::config::Config;
use crate::limits::LISTEN_BACKLOG;
use crate::serve::listener::Listener;

/// A socket that accepts connections when `listen` is called.
pub(super) struct Bound {
    /// For URLs. For a Unix socket it is a placeholder.
    pub(super) address: SocketAddr,
    pub(super) listen: Box<dyn FnOnce() -> io::Result<Listener>>,
    /// Of a Unix socket. It is removed when this is dropped.
    pub(super) file: Option<TempPath>,
}

/// Binds a socket to the address `text` of a setting.
pub(super) async fn bind(config: &Config, id: &str, text: &str) -> Result<Bound, String> {
    let bound = match text.strip_prefix("unix:") {
        Some(path) => bind_file(path, config.settings.listen_mode),
        None => lookup_host(text).await.and_then(|addresses| {
            let none = Err(io::ErrorKind::AddrNotAvailable.into());
            addresses.fold(none, |bound, address| bound.or_else(|_| bind_tcp(address)))
        }),
    };
    let (source, text) = (config.source(id), text.to_owned());
    let problem = move |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => format!("{source}: {text} is already in use"),
        _ => format!("{source}: cannot listen on {text}: {error}"),
    };
    bound.map_err(problem)
}

fn bind_tcp(address: SocketAddr) -> io::Result<Bound> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Connections of the program before may still be closing. On Windows it means more.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let address = socket.local_addr()?;
    let listen = Box::new(move || socket.listen(LISTEN_BACKLOG).map(Either::Left));
    Ok(Bound { address, listen, file: None })
}

#[cfg(unix)]
fn bind_file(path: &str, mode: u32) -> io::Result<Bound> {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    use std::os::unix::net::UnixStream;
    let is_socket = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    let refused = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if is_socket && UnixStream::connect(path).as_ref().is_err_and(refused) {
        // A killed server has left it.
        fs::remove_file(path)?;
    }
    let socket = tokio::net::UnixSocket::new_stream()?;
    socket.bind(path)?;
    let file = Some(TempPath::try_from_path(path)?);
    fs::set_permissions(path, Permissions::from_mode(mode))?;
    let listen = Box::new(move || socket.listen(LISTEN_BACKLOG).map(Either::Right));
    Ok(Bound { address: (Ipv4Addr::LOCALHOST, 80).into(), listen, file })
}

#[cfg(not(unix))]
fn bind_file(_: &str, _: u32) -> io::Result<Bound> {
    Err(io::ErrorKind::Unsupported.into())
}
