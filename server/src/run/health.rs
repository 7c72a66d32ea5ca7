//! Asks a running server whether it is ready, for health checks of containers without a shell.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::ExitCode;

use super::{EXIT_PRECONDITION, Failure};
use crate::config::Config;
use crate::limits::product::HEALTH_TIMEOUT;

/// Exits with 0 if the server that listens at `--listen` is ready.
pub(super) fn run(config: &Config) -> Result<ExitCode, Failure> {
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
