//! Faults below HTTP: a good server behind something that looks at the bytes which clients send,
//! and hands on what it took them for, or answers itself.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// What becomes of the bytes of a connection. It is asked whenever more of them came.
pub(crate) type Reread = Arc<dyn Fn(&Came) -> Step + Send + Sync>;

/// Changes the lines of a head, without the empty line at their end. The first one has method
/// and path.
pub(crate) type ChangeLines = Arc<dyn Fn(&mut Vec<String>) + Send + Sync>;

/// What has come and is not handed on yet.
pub(crate) struct Came {
    pub(crate) bytes: Vec<u8>,
    /// Whether the client sends no more.
    pub(crate) ended: bool,
}

/// What becomes of it.
pub(crate) enum Step {
    /// It is kept until more comes; at the end it is handed on as it is.
    Wait,
    /// The server gets this in its place; what comes then is looked at too.
    Next(Vec<u8>),
    /// The server gets this in its place, and then all that comes. It is not told of an end
    /// that the fault makes up for.
    Last(Vec<u8>),
    /// The client gets this response, and the connection ends.
    Answer(&'static [u8]),
}

/// How much is read at once: a request that a scenario sends whole comes in one piece.
const READ: usize = 128 * 1024;
/// The lines of a head are changed up to here; what is longer passes.
const LINES_MAX: usize = 16 * 1024;
/// The longest head that a fault may wait for.
const HEAD_MAX: usize = 4 << 20;
const END: &[u8] = b"\r\n\r\n";

/// What is said to a client for which there is no room.
const NO_ROOM: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Why nothing more goes to and fro.
enum Over {
    Answered(&'static [u8]),
    Broken(io::Error),
}

impl From<io::Error> for Over {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

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
        let (reread, silent) = (Arc::clone(&reread), Arc::clone(&silent));
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
    let over = {
        let ((mut asks, mut hears), (mut answers, mut takes)) = (client.split(), server.split());
        let there = async {
            let mut came = Came { bytes: Vec::new(), ended: false };
            let mut silent = Some(silent);
            loop {
                came.bytes.reserve(READ);
                came.ended = asks.read_buf(&mut came.bytes).await? == 0;
                let step = reread(&came);
                let waits = matches!(step, Step::Wait);
                if waits && !came.ended {
                    continue;
                }
                let others = silent.take().map_or(0, |silent| Arc::strong_count(&silent) - 2);
                if others > silent_max {
                    return Err(Over::Answered(NO_ROOM));
                }
                let (bytes, is_last) = match step {
                    Step::Wait => (std::mem::take(&mut came.bytes), true),
                    Step::Next(bytes) => (bytes, came.ended),
                    Step::Last(bytes) => (bytes, true),
                    Step::Answer(response) => return Err(Over::Answered(response)),
                };
                came.bytes.clear();
                // A server may answer before it has read all, and read no more.
                let _ = takes.write_all(&bytes).await;
                if is_last {
                    if came.ended && !waits && !bytes.is_empty() {
                        return Ok(());
                    }
                    break;
                }
            }
            let _ = copy(&mut asks, &mut takes).await;
            let _ = takes.shutdown().await;
            copy(&mut asks, &mut sink()).await?;
            Ok(())
        };
        let back = async {
            let _ = copy(&mut answers, &mut hears).await;
            Ok(hears.shutdown().await?)
        };
        tokio::try_join!(there, back)
    };
    match over {
        Ok(_) => Ok(()),
        Err(Over::Broken(error)) => Err(error),
        Err(Over::Answered(response)) => {
            client.write_all(response).await?;
            client.shutdown().await?;
            // The answer would be lost to a client that still sends.
            copy(&mut client, &mut sink()).await.map(drop)
        }
    }
}

/// Looks at the first head of each connection; all that follows passes as it came.
pub(crate) fn first_head(change: ChangeLines) -> Reread {
    Arc::new(move |came: &Came| match came.head() {
        Some((mut lines, end)) if end < LINES_MAX => {
            change(&mut lines);
            let head = lines.join("\r\n").into_bytes();
            Step::Last([&head, &came.bytes[end..]].concat())
        }
        None if came.is_head_open() && came.bytes.len() < LINES_MAX => Step::Wait,
        _ => Step::Last(came.bytes.clone()),
    })
}

impl Came {
    /// The lines of the first head, and where the empty line at its end begins; none if it is
    /// no text or not there yet.
    pub(crate) fn head(&self) -> Option<(Vec<String>, usize)> {
        let end = end_of_head(&self.bytes)?;
        let text = std::str::from_utf8(&self.bytes[..end]).ok()?;
        Some((text.split("\r\n").map(str::to_owned).collect(), end))
    }

    /// Whether the end of the first head is still to come.
    pub(crate) fn is_head_open(&self) -> bool {
        self.bytes.len() < HEAD_MAX && end_of_head(&self.bytes).is_none()
    }

    /// Head and body of the first request.
    pub(crate) fn parts(&self) -> Option<(Vec<String>, &[u8])> {
        self.head().map(|(lines, end)| (lines, &self.bytes[end + END.len()..]))
    }
}

/// A request of these lines and this body.
pub(crate) fn request(lines: &[String], body: &[u8]) -> Vec<u8> {
    [lines.join("\r\n").as_bytes(), END, body].concat()
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(END.len()).position(|part| part == END)
}

/// The place of the first header of this name, and its value.
pub(crate) fn header<'a>(lines: &'a [String], name: &str) -> Option<(usize, &'a str)> {
    lines.iter().enumerate().skip(1).find_map(|(at, line)| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| (at, value.trim()))
    })
}
