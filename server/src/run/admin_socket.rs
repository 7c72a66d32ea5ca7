//! Commands on a running server with a data folder: a socket in the folder, which only its user can
//! open. A line of JSON asks for one command; lines of JSON are its output and its end.

use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::commands::execute;
use super::{EXIT_FAILURE, Failure, Output};
use crate::config::{CliCommand, Config};
use crate::store::Store;

const SOCKET: &str = "admin.sock";

#[derive(Serialize, Deserialize)]
struct Request {
    /// The command line, with the variables of the environment as flags.
    arguments: Vec<String>,
    /// The file of an import.
    input: String,
}

#[derive(Serialize, Deserialize)]
enum Reply {
    /// A part of an export.
    Part(String),
    Done(String, Value),
    Failed(u8, String),
}

/// Takes commands for a store until the program ends. Without them the server works too.
pub(super) fn serve(folder: &Path, store: &Arc<dyn Store>) {
    if let Err(error) = listen(folder, store.clone()) {
        let folder = &*folder.to_string_lossy();
        tracing::warn!(%error, folder, "commands cannot reach this server while it runs");
    }
}

fn listen(folder: &Path, store: Arc<dyn Store>) -> io::Result<()> {
    let path = folder.join(SOCKET);
    // The folder is locked: nobody listens there any more.
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&path)?;
    let only_user = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&path, only_user)?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (store, runtime) = (store.clone(), Handle::current());
            spawn_blocking(move || runtime.block_on(answer(stream, store)));
        }
    });
    Ok(())
}

async fn answer(stream: UnixStream, store: Arc<dyn Store>) {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let Ok(Some(request)) = lines.next_line().await else { return };
    let (parts, mut written) = mpsc::channel::<Reply>(4);
    let end = parts.clone();
    let running = async move {
        let reply = match run(&store, &request, parts).await {
            Ok((text, json)) => Reply::Done(text, json),
            Err(Failure(code, problem)) => Reply::Failed(code, problem),
        };
        let _ = end.send(reply).await;
    };
    let writing = async {
        while let Some(reply) = written.recv().await {
            let line = serde_json::to_string(&reply).unwrap_or_default() + "\n";
            // The command may have been interrupted.
            write.write_all(line.as_bytes()).await.ok()?;
        }
        Some(())
    };
    tokio::join!(running, writing);
}

async fn run(
    store: &Arc<dyn Store>,
    request: &str,
    parts: mpsc::Sender<Reply>,
) -> Result<Output, Failure> {
    let request: Request = serde_json::from_str(request).map_err(|error| error.to_string())?;
    let parsed = Config::parse(request.arguments.into_iter().map(Into::into), []);
    let Ok((config, CliCommand::Admin(command))) = parsed else {
        return Err("the server of this folder has another version".to_owned().into());
    };
    let emit = async |part: String| {
        let sent = parts.send(Reply::Part(part)).await;
        sent.map_err(|_| "nobody reads the output".to_owned().into())
    };
    execute(store, &config.settings, command, request.input, emit).await
}

/// A running server of a folder.
pub(super) struct Server {
    lines: Lines<BufReader<tokio::net::unix::OwnedReadHalf>>,
    write: tokio::net::unix::OwnedWriteHalf,
}

impl Server {
    /// `None` if none runs.
    pub(super) async fn of(folder: &Path) -> Option<Self> {
        let (read, write) = UnixStream::connect(folder.join(SOCKET)).await.ok()?.into_split();
        Some(Self { lines: BufReader::new(read).lines(), write })
    }

    /// Has it carry out a command.
    pub(super) async fn execute(
        mut self,
        arguments: Vec<String>,
        input: String,
        emit: impl AsyncFn(String) -> Result<(), Failure>,
    ) -> Result<Output, Failure> {
        let lost =
            |_: io::Error| Failure(EXIT_FAILURE, "the running server did not answer".to_owned());
        let request = serde_json::to_string(&Request { arguments, input }).map_err(io::Error::from);
        let request = request.map_err(lost)? + "\n";
        self.write.write_all(request.as_bytes()).await.map_err(lost)?;
        while let Some(line) = self.lines.next_line().await.map_err(lost)? {
            match serde_json::from_str(&line).map_err(io::Error::from).map_err(lost)? {
                Reply::Part(part) => emit(part).await?,
                Reply::Done(text, json) => return Ok((text, json)),
                Reply::Failed(code, problem) => return Err(Failure(code, problem)),
            }
        }
        Err(lost(io::ErrorKind::UnexpectedEof.into()))
    }
}
