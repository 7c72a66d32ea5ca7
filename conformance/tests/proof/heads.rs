//! Faults below HTTP: a good server behind something that reads requests more
//! kindly than the grammar allows, and hands on what it took them for. It looks at
//! the first head of each connection; all that follows passes as it came.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Makes another head of the lines of a request, without the empty line at their
/// end. The first one has method and path.
pub(crate) type Reread = fn(&mut Vec<String>);

/// A head is looked at up to here; what is longer passes.
const HEAD_MAX: usize = 16 * 1024;
const END: &[u8] = b"\r\n\r\n";

/// What is said to a client for which there is no room.
const NO_ROOM: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Hands what comes to `listener` on to the server at `inner`, until it is dropped.
/// While more than `silent_max` connections have not sent a head, none is served that
/// sends its first one.
pub(crate) async fn pass_on(
    listener: TcpListener,
    inner: SocketAddr,
    reread: Reread,
    silent_max: usize,
) {
    let mut open = JoinSet::new();
    // As many owners, besides this one, as there are such connections.
    let silent = Arc::new(());
    while let Ok((client, _)) = listener.accept().await {
        let silent = Arc::clone(&silent);
        open.spawn(async move {
            // A client or a server that goes away is none of the fault's business.
            let _ = connection(client, inner, reread, silent, silent_max).await;
        });
        while open.try_join_next().is_some() {}
    }
}

async fn connection(
    mut client: TcpStream,
    inner: SocketAddr,
    reread: Reread,
    silent: Arc<()>,
    silent_max: usize,
) -> io::Result<()> {
    let mut server = TcpStream::connect(inner).await?;
    let mut came = Vec::new();
    while end_of_head(&came).is_none() && came.len() < HEAD_MAX {
        if client.read_buf(&mut came).await? == 0 {
            break;
        }
    }
    let others = Arc::strong_count(&silent).saturating_sub(2);
    drop(silent);
    if others > silent_max {
        return client.write_all(NO_ROOM).await;
    }
    if let Some(end) = end_of_head(&came) {
        server.write_all(&reread_head(&came[..end], reread)).await?;
        server.write_all(&came[end..]).await?;
    } else {
        server.write_all(&came).await?;
    }
    let ((mut asks, mut hears), (mut answers, mut takes)) = (client.split(), server.split());
    let there = async {
        // A server may answer before it has read all, and read no more.
        let _ = copy(&mut asks, &mut takes).await;
        let _ = takes.shutdown().await;
        copy(&mut asks, &mut sink()).await
    };
    let back = async {
        let _ = copy(&mut answers, &mut hears).await;
        hears.shutdown().await
    };
    let (there, back) = tokio::join!(there, back);
    there.and(back)
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(END.len()).position(|part| part == END)
}

/// The head as the fault takes it; one that is no text, or that the fault leaves
/// alone, as it was.
fn reread_head(head: &[u8], reread: Reread) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(head) else { return head.to_vec() };
    let mut lines: Vec<_> = text.split("\r\n").map(str::to_owned).collect();
    reread(&mut lines);
    lines.join("\r\n").into_bytes()
}

/// The place of the first header of this name, and its value.
pub(crate) fn header<'a>(lines: &'a [String], name: &str) -> Option<(usize, &'a str)> {
    headers(lines, name).next()
}

/// All headers of this name.
pub(crate) fn headers<'a>(
    lines: &'a [String],
    name: &str,
) -> impl Iterator<Item = (usize, &'a str)> {
    let of_name = move |(at, line): (usize, &'a String)| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| (at, value.trim()))
    };
    lines.iter().enumerate().skip(1).filter_map(of_name)
}
