//! The sockets of the listeners, and the request of `health` to one, for containers without shell.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::process::ExitCode;

use tempfile::TempPath;
use tokio::net::{TcpSocket, lookup_host};
use tokio_util::either::Either;

use super::{EXIT_PRECONDITION, Failure};
use crate::config::Config;
use crate::limits::LISTEN_BACKLOG;
use crate::limits::product::HEALTH_TIMEOUT;
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

/// Exits with 0 if the server that listens at `--listen` is ready.
pub(super) fn health(config: &Config) -> Result<ExitCode, Failure> {
    let (text, source) = (&config.settings.listen, config.source("listen"));
    let problem = match status(text) {
        Ok(200) => return Ok(ExitCode::SUCCESS),
        Ok(status) => format!("{source}: the server is not ready (status {status})"),
        Err(error) => format!("{source}: no server answers at {text}: {error}"),
    };
    Err(Failure(EXIT_PRECONDITION, problem))
}

/// The status of `/readyz`.
fn status(address: &str) -> io::Result<u16> {
    #[cfg(unix)]
    if let Some(path) = address.strip_prefix("unix:") {
        let stream = std::os::unix::net::UnixStream::connect(path)?;
        stream.set_read_timeout(Some(HEALTH_TIMEOUT))?;
        return ask(stream);
    }
    let address = address.to_socket_addrs()?.next().ok_or(io::ErrorKind::NotFound)?;
    let stream = TcpStream::connect_timeout(&address, HEALTH_TIMEOUT)?;
    stream.set_read_timeout(Some(HEALTH_TIMEOUT))?;
    ask(stream)
}

fn ask(mut stream: impl Read + Write) -> io::Result<u16> {
    write!(stream, "GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
    let mut head = *b"HTTP/1.1 000";
    stream.read_exact(&mut head)?;
    let status = std::str::from_utf8(&head[9..]).ok().and_then(|status| status.parse().ok());
    status.ok_or_else(|| io::ErrorKind::InvalidData.into())
}
