//! Asks a running server whether it is ready, for health checks of containers without a shell.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::{EXIT_PRECONDITION, Failure};
use crate::config::Config;
use crate::limits::HEALTH_TIMEOUT;

/// Exits with 0 if the server that listens at `--listen` is ready.
pub(super) async fn run(config: &Config) -> Result<ExitCode, Failure> {
    let (text, source) = (&config.settings.listen, config.source("listen"));
    let asked = timeout(HEALTH_TIMEOUT, status(text)).await;
    let problem = match asked.unwrap_or_else(|late| Err(late.into())) {
        Ok(200) => return Ok(ExitCode::SUCCESS),
        Ok(status) => format!("{source}: the server is not ready (status {status})"),
        Err(error) => format!("{source}: no server answers at {text}: {error}"),
    };
    Err(Failure(EXIT_PRECONDITION, problem))
}

/// The status of `/readyz`.
async fn status(address: &str) -> std::io::Result<u16> {
    let mut address = lookup_host(address).await?.next().ok_or(std::io::ErrorKind::NotFound)?;
    if address.ip().is_unspecified() {
        address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port());
    }
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /readyz HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).await?;
    let code = head.strip_prefix(b"HTTP/1.").and_then(|rest| std::str::from_utf8(&rest[2..]).ok());
    let code = code.and_then(|code| code.parse().ok());
    code.ok_or_else(|| std::io::ErrorKind::InvalidData.into())
}
