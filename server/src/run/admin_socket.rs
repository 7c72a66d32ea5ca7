//! Commands on a running server with a data folder: a socket in the folder, which only its user can
//! open. A line of JSON asks for one command; lines of JSON are its output and its end.

use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::TempPath;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::commands::{ImportInput, execute};
use super::{EXIT_FAILURE, Failure, Output};
use crate::config::{CliCommand, Config};
use crate::limits::RETRY_PAUSE_MAX;
use crate::store::Store;

const SOCKET: &str = "admin.sock";

#[derive(Serialize, Deserialize)]
struct Request {
    /// The command line, with the variables of the environment as flags.
    arguments: Vec<String>,
    input: ImportInput,
}

#[derive(Serialize, Deserialize)]
enum Reply {
    /// A part of an export.
    Part(String),
    Done(String, Value),
    Failed(u8, String),
}

/// Takes commands for a store until the program ends. Without them the server works too. The socket
/// is removed when the path is dropped, which must be before the runtime ends: until then a task has
/// the store, whose folder is locked, so the socket is not that of the next server.
pub(super) fn serve(folder: &Path, store: &Arc<dyn Store>) -> Option<TempPath> {
    let listening = listen(folder, store.clone());
    listening
        .inspect_err(|error| {
            let folder = &*folder.to_string_lossy();
            tracing::warn!(%error, folder, "commands cannot reach this server while it runs");
        })
        .ok()
}

fn listen(folder: &Path, store: Arc<dyn Store>) -> io::Result<TempPath> {
    let path = folder.join(SOCKET);
    // The folder is locked: nobody listens there any more.
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&path)?;
    let file = TempPath::try_from_path(&path)?;
    let only_user = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&path, only_user)?;
    tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                // There are too many open files for now.
                sleep(RETRY_PAUSE_MAX).await;
                continue;
            };
            let (store, runtime) = (store.clone(), Handle::current());
            spawn_blocking(move || runtime.block_on(answer(stream, store)));
        }
    });
    Ok(file)
}

async fn answer(stream: UnixStream, store: Arc<dyn Store>) {
    let (read, write) = stream.into_split();
    let (mut lines, write) = (BufReader::new(read).lines(), Mutex::new(write));
    let Ok(Some(request)) = lines.next_line().await else { return };
    let send = async |reply: Reply| {
        let line = serde_json::to_string(&reply)? + "\n";
        write.lock().await.write_all(line.as_bytes()).await
    };
    let emit = async |part| match send(Reply::Part(part)).await {
        Ok(()) => Ok(()),
        Err(_) => Err("nobody reads the output".to_owned().into()),
    };
    let outcome = async {
        let request = serde_json::from_str(&request).map_err(|error| error.to_string());
        let Request { arguments, input } = request?;
        let parsed = Config::parse(arguments.into_iter().map(Into::into), []);
        let Ok((config, CliCommand::Admin(command))) = parsed else {
            return Err("the server of this folder has another version".to_owned().into());
        };
        execute(&store, &config.settings, command, input, emit).await
    };
    let reply = match outcome.await {
        Ok((text, json)) => Reply::Done(text, json),
        Err(Failure(code, problem)) => Reply::Failed(code, problem),
    };
    // The command may have been interrupted.
    let _ = send(reply).await;
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
        input: ImportInput,
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
