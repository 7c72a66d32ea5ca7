//! A server of the API that is not ours. It keeps every rule of `docs/reference/api.md` and
//! chooses for itself where the specification is silent. A scenario that fails here takes a choice
//! of the reference server for a rule.
//!
//! It shares no code with the server, the SDK or the suite, keeps everything in
//! plain lists, and is made to be read, not to be fast. It can be three servers:
//! what they choose is in [`choices`], and why in `README.md` beside this file.

#![allow(
    clippy::collapsible_match,
    clippy::semicolon_if_nothing_returned,
    clippy::too_many_lines,
    reason = "a named bug is a line where somebody would make it"
)]

mod answer;
mod bugs_after;
mod bugs_before;
mod bugs_in_jobs;
mod bugs_in_requests;
mod cache;
mod call;
pub(crate) mod choices;
mod clock;
mod contents;
mod fields;
mod foreign;
mod fork;
mod jobs;
mod prelude;
mod prompts;
mod query;
mod secrets;
mod show;
mod slips;
mod storage;
mod store;
mod uploads;
mod vaults;
mod wire;

use std::collections::HashSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use hyper::header::LOCATION;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use self::answer::Outcome;
use self::call::Call;
pub(crate) use self::choices::{Choices, MINIMAL, NESTED, PLAIN, TOLERANT, VERBOSE};
pub(crate) use self::secrets::Secrets;
use self::store::Store;
use self::wire::Raw;

/// How long a request to delete waits for company, on a server that tells all of
/// them of success.
const TOGETHER: Duration = Duration::from_millis(15);

pub(crate) struct Server {
    address: SocketAddr,
    root: &'static str,
    shared: Arc<Shared>,
    tasks: [JoinHandle<()>; 2],
}

impl Server {
    #[allow(dead_code, reason = "for tests of clients")]
    pub(crate) fn jobs(&self) -> usize {
        self.shared.lock().jobs.len()
    }

    /// The API root, ending in `/api/v1`.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}{}", self.address, self.root)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

struct Shared {
    keys: Secrets,
    choices: &'static Choices,
    store: Mutex<Store>,
    requests: AtomicU64,
    /// The prompts and vaults that some write is at work on, where writes conflict.
    writing: Mutex<HashSet<String>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts a server on free ports of this machine.
pub(crate) async fn start(keys: Secrets, choices: &'static Choices) -> io::Result<Server> {
    let api = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let storage = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = api.local_addr()?;
    let files = if choices.files.on_another_host { storage.local_addr()? } else { address };
    let urls = [format!("http://{address}{}", choices.records.root), format!("http://{files}")];
    let store = Mutex::new(Store::new(choices, urls));
    let shared = Arc::new(Shared {
        keys,
        choices,
        store,
        requests: AtomicU64::new(0),
        writing: Mutex::default(),
    });
    let tasks = [api, storage].map(|listener| tokio::spawn(accept(listener, Arc::clone(&shared))));
    Ok(Server { address, root: choices.records.root, shared, tasks })
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    // Connections end with the set, and the set with this task.
    let mut connections = JoinSet::new();
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            connections.spawn(serve(stream, Arc::clone(&shared)));
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let mut connection = hyper::server::conn::http1::Builder::new();
    connection.title_case_headers(shared.choices.wire.hangs_up);
    let service = service_fn(|request| respond(Arc::clone(&shared), request));
    // A connection that breaks is the client's affair.
    let _ = connection.serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> io::Result<Response<wire::Chunks>> {
    let choices = shared.choices;
    let count = shared.requests.fetch_add(1, Ordering::Relaxed) + 1;
    if choices.wire.busy_every.is_some_and(|every| count.is_multiple_of(every))
        && wire::may_come_again(&request)
    {
        // A client that is still sending might not hear it.
        let _ = request.into_body().collect().await;
        return Ok(wire::write_raw(choices, Raw::busy(count)));
    }
    let path = request.uri().path();
    if storage::is_storage(path) {
        return Ok(wire::write_raw(choices, storage::respond(&shared, request).await?));
    }
    if let (false, Some(path)) = (choices.keys.lenient_methods, path.strip_suffix('/')) {
        return Ok(wire::write_raw(choices, Raw::plain(308, "").with(LOCATION, path)));
    }
    if let Some(page) = page_of_a_framework(choices, request.method(), path) {
        return Ok(wire::write_raw(choices, page));
    }
    Ok(wire::write(choices, outcome(&shared, request).await))
}

fn page_of_a_framework(choices: &Choices, method: &Method, path: &str) -> Option<Raw> {
    let known = ["/prompts", "/vaults", "/generations", "/uploads/images", "/api-keys"];
    let path = path.strip_prefix(choices.records.root).unwrap_or_default();
    let is_known = known.iter().any(|known| path.starts_with(known));
    match choices.bug {
        "unknown.path-html" if !is_known => Some(Raw::page(404)),
        "unknown.method-html" if *method == Method::PUT => Some(Raw::page(405)),
        "unknown.method-empty" if *method == Method::PUT => {
            Some(Raw { body: Bytes::new(), ..Raw::page(405) })
        }
        _ => None,
    }
}

/// How long a write takes on a server where writes conflict.
const WRITE: Duration = Duration::from_millis(4);

/// The prompt or vault that a request changes, such as `/vaults/7`.
fn changed(choices: &Choices, call: &Call) -> Option<String> {
    let path = call.request.path.strip_prefix(choices.records.root)?;
    let parts: Vec<_> = path.split('/').take(3).collect();
    let names_one = matches!(parts[..], ["", "prompts" | "vaults", _]);
    let writes = !matches!(call.request.method, Method::GET | Method::HEAD | Method::OPTIONS);
    (choices.moves.conflicts && names_one && writes).then(|| parts.join("/"))
}

async fn outcome(shared: &Shared, request: Request<Incoming>) -> Outcome {
    let mut request = wire::read(request).await?;
    if let Some(early) = bugs_in_requests::request(shared, &mut request) {
        return early;
    }
    let call = Call::new(shared, request)?;
    if shared.choices.moves.deletes_together && call.request.method == Method::DELETE {
        tokio::time::sleep(TOGETHER).await;
    }
    let changed = changed(shared.choices, &call);
    if let Some(changed) = &changed {
        if !shared.writing.lock().is_ok_and(|mut all| all.insert(changed.clone())) {
            return answer::refuse(409, "Somebody else is at it");
        }
        tokio::time::sleep(WRITE).await;
    }
    let mut outcome = {
        // One request at a time: whatever a handler does is one step to all others.
        let mut store = shared.lock();
        jobs::go_on(&mut store, &call.request.path);
        bugs_before::answered(&mut store, &call)
    };
    if let Ok(answer) = &mut outcome {
        slips::answer(&call, answer);
    }
    if let Some(changed) = changed {
        let _ = shared.writing.lock().map(|mut all| all.remove(&changed));
    }
    outcome
}
