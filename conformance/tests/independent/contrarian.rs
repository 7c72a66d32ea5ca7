//! A second server of the API, against which the scenarios of the profile
//! `core` are run. It keeps every rule of `docs/api.md` in the chapters it has
//! and, where the specification is silent, does something else than the
//! reference server. A scenario that fails here takes a choice of the reference
//! server for a rule.
//!
//! It shares no code with the server, the SDK or the suite, keeps everything in
//! plain lists, and is made to be read, not to be fast. Generations and uploads
//! are not in it: their paths answer 404.
//!
//! | Point | The reference server | This server |
//! |---|---|---|
//! | S-01 | newest first | by title |
//! | S-02 | cursors signed, bound to their list, else 400 | a number in disguise, good for any list; mangled ones start anew |
//! | S-03 | unknown parameters ignored, repeated ones 400 | unknown ones 400 at every endpoint, the last of repeated ones counts |
//! | S-04 | always `active` | `active` in two vaults or more, else `shelved` |
//! | S-05, S-06 | `imageUrl` not shown | an entry of `images` |
//! | S-07 | `vaultIds` ascend | descend |
//! | S-08 | `updatedAt` moves with any `PATCH`, not with vaults; at first `createdAt` | with vaults too, not when a `PATCH` changes nothing; at first later than `createdAt` |
//! | S-09 | any platform; `null` clears it, and is what it is at first | empty and `null` refused with 400; 80 bytes at most; `any` at first |
//! | S-10 | `null` refused | the same as left out |
//! | S-11 | any absolute URI | `http` and `https`, ASCII, 2000 bytes, no repeats |
//! | S-12 | `local/` | `contrary/` |
//! | S-13 | `accessType` is `null` | `owner` |
//! | S-14 | nothing is locked | one system vault is; putting in and taking out are 423 |
//! | S-15 | no cover | the `imageUrl` of one of its prompts |
//! | S-16 | slugs lower case, unique, follow the name | capitals and `_`, not unique, never change |
//! | S-17 | names may repeat | 409 |
//! | S-18 | General, not to be renamed or deleted (400) | `Alles` as General, renamed freely, not deleted (409), and `Merkzettel`, deleted freely |
//! | S-19 | a vault's `updatedAt` moves with `PATCH` only | with the contents only |
//! | S-20 | same moment: later one first | same second: earlier one first |
//! | S-22 | same name and order, images, no pins, new dates | ` / 1` added, order reversed, no images, pins, old dates; own vaults 409 |
//! | S-23 | own private vault 400 | 409 |
//! | S-24 | last pinned on top | first pinned on top |
//! | S-25 | last listed on top | first listed on top |
//! | S-26 | adding again changes nothing | add: a new membership on top, and counted; save: 409; an id twice: 400 |
//! | S-27 | 400, nothing added | 403 or 422, those before the bad one added |
//! | S-28 | replaces the membership there | 409 |
//! | S-29 | a new membership | 422 |
//! | S-30 | the pin is lost | the pin moves along |
//! | S-31 | 404 | 404, and 409 for a membership of another own vault |
//! | S-46 | `POST /api-keys` with a key is 401 | 403 |
//! | S-50 | any key reads | a key without a scope does not |
//! | S-51 | all writes need the scope | save, fork and everything in a vault's contents do not |
//! | S-52 | exactly one space; `WWW-Authenticate` | spaces around the key are passed over; no such header |
//! | S-53 | four texts, unknown and revoked share one; `details` `{}` | five, revoked apart; `details` say what is needed |
//! | S-54 | unknown path without a key 404 | 401 |
//! | S-56 | path, method, key, scope, body, addressed things | key, path, then addressed things, scope and body in either order |
//! | S-57 | 400, one text for absent and foreign | 403 and 422; an empty list for a query |
//! | S-58 | 404 | 400 |
//! | S-59, S-61 | 405 with `Allow` | 404; `HEAD`, `OPTIONS` and trailing slashes work |
//! | S-60 | all failing fields, one text each | the first one, with nested arrays |
//! | S-63 | six fractional digits, `Z` | three or none; `+05:30`, `+00:00`, `-03:00` side by side |
//! | S-64 | ascending | random, 2^53 to 2^62 |
//! | S-65 | `1.0` refused | an integer |
//! | S-66 | scalar values, no trimming, blank allowed | UTF-16 units, trimmed, blank refused |
//! | S-67 | 415 and 413; unknown fields ignored, bodies where none belongs too | any content type, 400 for size, unknown fields and bodies where none belongs, no body is `{}` |
//! | S-68 | no other keys | `details`, `pagination` and `meta` always, unknown keys in every object |
//! | S-69 | `x-request-id` | none |
//! | PG-03, PG-08 | pages are full; the last one has `null` | an even `limit` gives one entry less; an exact end gives a cursor to an empty page |
//! | PR-08 | a prompt made without `vaultId` is in no vault | it is in General |
//! | VA-18 | `description` is `null` at first | empty at first |
//! | ER-08, ER-10 | one text for absent and foreign | two |
//! | HTTP | known length, compact UTF-8, `application/json` | chunked, over many lines, ASCII with `\u` escapes, a `charset`; errors as `application/problem+json` |

mod answer;
mod call;
mod clock;
mod contents;
mod fields;
mod fork;
mod prompts;
mod query;
mod show;
mod store;
mod vaults;
mod wire;

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use self::answer::Outcome;
use self::call::Call;
use self::store::Store;

/// Model ids have to be in this namespace.
pub(crate) use self::fields::MODEL_NAMESPACE;

/// The keys the server knows.
#[derive(Clone)]
pub(crate) struct Keys {
    /// With the scope `prompts:write`.
    pub(crate) main: String,
    /// Of the same account, without it.
    pub(crate) read_only: String,
    /// With the scope, of another account.
    pub(crate) other: String,
    /// Revoked.
    pub(crate) revoked: String,
}

/// A running server. It stops when this is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Server {
    /// The API root, ending in `/api/v1`.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}{}", self.address, call::ROOT)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts a server on a free port of this machine, with nothing in it but the
/// system vaults of two accounts.
///
/// # Errors
/// If no port can be had.
pub(crate) async fn start(keys: Keys) -> io::Result<Server> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let shared = Arc::new((keys, Mutex::new(Store::new(call::ACCOUNTS))));
    let task = tokio::spawn(async move {
        // Connections end with the set, and the set with this task.
        let mut connections = JoinSet::new();
        loop {
            if let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&shared)));
            }
            while connections.try_join_next().is_some() {}
        }
    });
    Ok(Server { address, task })
}

type Shared = Arc<(Keys, Mutex<Store>)>;

async fn serve(stream: TcpStream, shared: Shared) {
    let service = service_fn(|request| respond(Arc::clone(&shared), request));
    let connection = hyper::server::conn::http1::Builder::new();
    // A connection that breaks is the client's affair.
    let _ = connection.serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(
    shared: Shared,
    request: Request<Incoming>,
) -> Result<Response<wire::Chunks>, Infallible> {
    Ok(wire::write(outcome(&shared, request).await))
}

async fn outcome(shared: &(Keys, Mutex<Store>), request: Request<Incoming>) -> Outcome {
    let (keys, store) = shared;
    let call = Call::new(keys, wire::read(request).await?)?;
    // One request at a time: whatever a handler does is one step to all others.
    let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
    call.answer(&mut store)
}
