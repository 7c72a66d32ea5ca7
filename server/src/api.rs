//! The handlers, one file per resource: each decodes, validates, calls the store, and encodes.
//!
//! A handler knows neither sockets nor the statuses of errors. The order of checks is the same
//! everywhere: the form of body and query, then what the path names, then what the fields refer to.
//! A row of the route table is here too, and what a program adds around the handlers: pages and
//! middleware.

pub(crate) mod export;
pub(crate) mod files;
pub(crate) mod generations;
pub(crate) mod import;
pub(crate) mod keys;
pub(crate) mod openapi;
pub(crate) mod prompts;
pub(crate) mod vaults;
pub(crate) mod view;
#[cfg(feature = "webhooks")]
pub(crate) mod webhooks;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::Bytes;
use futures::future::{BoxFuture, join};
use http::request::Parts;
use http::{Extensions, HeaderName, HeaderValue, Method, StatusCode};
use hyper::body::Incoming;
use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::openapi::Document;
use self::view::View;
use crate::blobs::urls::{Assets, Slots};
use crate::blobs::{BlobError, Blobs};
use crate::clock::Clock;
use crate::domain::{AssetName, Caller, SessionRecord, Vendor};
use crate::generate::submit::Submitter;
use crate::http::auth::Access;
use crate::http::body::{self, BodyKind, BodyReadError, JSON};
use crate::http::browser::Site;
use crate::http::cursor::Cursors;
use crate::http::error::{ApiError, Problem};
use crate::http::path::PathParams;
use crate::http::response::{self, Response};
use crate::http::validate::{Form, json_fields};
use crate::limits::{MEMORY_BUDGET_MIB, MEMORY_SHARE_DIVISOR};
use crate::quota::{ClientQuota, Quota};
use crate::store::{Store, StoreError};

pub(crate) type HandlerResult = Result<Response, ApiError>;

/// The memory for bodies of requests and responses: of accounts, and without an account. One
/// account or address may have a part only.
pub(crate) fn request_quotas(budget: Option<usize>) -> [Quota; 2] {
    let budget = budget.unwrap_or(MEMORY_BUDGET_MIB << 20);
    let share = budget / MEMORY_SHARE_DIVISOR;
    let public = "the memory for requests without a key";
    [
        Quota::new("memory", "the memory for requests", budget, share),
        Quota::new("public_memory", public, share, share / MEMORY_SHARE_DIVISOR),
    ]
}

#[derive(Clone)]
pub struct Api {
    pub store: Arc<dyn Store>,
    /// The prefix of API keys.
    pub vendor: Vendor,
    /// The prefix of the provider's model ids.
    pub model_namespace: Box<str>,
    pub cursors: Cursors,
    pub submitter: Submitter,
    pub base_url: Arc<str>,
    pub blobs: Blobs,
    pub assets: Assets,
    pub slots: Slots,
    pub site: Site,
    pub clock: Clock,
    /// For the bodies of requests and responses of accounts, and for those without an account.
    pub memory: Quota,
    pub public_memory: Quota,
    pub middleware: Arc<dyn Middleware>,
    pub extensions: Extensions,
    /// Cancelled when the listener is asked to stop. The server still answers requests.
    pub draining: CancellationToken,
    pub openapi: Document,
}

impl Api {
    fn view<T>(&self, record: T) -> View<T> {
        View(record, self.assets.clone())
    }
}

#[derive(Debug)]
pub struct Request<'a> {
    pub params: PathParams<'a>,
    pub parts: &'a Parts,
    /// Address of the other end of the connection, which may be a proxy's.
    pub peer: IpAddr,
    pub body: &'a mut Incoming,
    /// Memory for its body.
    pub memory: ClientQuota<'a>,
}

impl Request<'_> {
    pub(crate) async fn body(&mut self, kind: BodyKind) -> Result<Bytes, BodyReadError> {
        body::read(self.body, &self.parts.headers, self.memory, kind).await
    }

    /// What `read` takes from these fields of the JSON body.
    async fn json<T>(
        &mut self,
        fields: &'static [&'static str],
        read: impl FnOnce(&mut Form<'_>) -> Option<T>,
    ) -> Result<T, ApiError> {
        let body = self.body(JSON).await?;
        Ok(json_fields(&body, fields)?.read(read)?)
    }

    /// The id at this index of the path.
    pub(crate) fn id<Id: From<i64>>(&self, index: usize) -> Result<Id, ApiError> {
        self.params.id(index).map(Id::from).ok_or(ApiError::NotFound)
    }

    pub(crate) fn asset(&self) -> Option<AssetName> {
        AssetName::parse(&self.params.text(0)?)
    }
}

type HandlerFuture<'a> = BoxFuture<'a, HandlerResult>;

#[derive(Clone, Copy, Debug)]
pub enum Handler {
    /// A handler that needs no key, or checks an upload token itself.
    Open(for<'a> fn(&'a Api, Request<'a>) -> HandlerFuture<'a>),
    Authed(for<'a> fn(&'a Api, &'a Caller, Request<'a>) -> HandlerFuture<'a>),
    /// As [`Handler::Open`], with failures as HTML. Pages are no part of the API document.
    Page(for<'a> fn(&'a Api, Request<'a>) -> HandlerFuture<'a>),
    /// A page that needs a session, and leads to the sign-in without one.
    Dashboard(for<'a> fn(&'a Api, &'a SessionRecord, Request<'a>) -> HandlerFuture<'a>),
}

#[derive(Clone, Debug)]
pub struct Route {
    /// In metrics and in the API document.
    pub name: &'static str,
    /// `GET` answers `HEAD` too. With [`Access::UploadToken`] the handler gets all but `OPTIONS`.
    pub method: Method,
    /// A template, below [`Route::base`].
    pub path: &'static str,
    /// [`BASE_PATH`](crate::domain::BASE_PATH), or nothing for a path at the root.
    pub base: &'static str,
    pub access: Access,
    pub handler: Handler,
}

impl Route {
    pub fn template(&self) -> String {
        format!("{}{}", self.base, self.path)
    }
}

/// How pages fail. Without it there are no pages, and every failure is JSON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages {
    /// The outcome of a page that needs a session: without one it leads to the sign-in.
    pub(crate) or_sign_in: fn(&Site, &Parts, HandlerResult) -> HandlerResult,
    /// Whether the failure of a request without a route is a page.
    pub(crate) asks_for_page: fn(&Parts) -> bool,
    /// The page of a failure, with the session of the reader and the id of the request.
    pub(crate) failure: fn(Problem, &Site, Option<&SessionRecord>, &str) -> Response,
}

/// A request whose response is known.
pub struct Answered<'a> {
    pub(crate) request: &'a Parts,
    pub(crate) request_id: &'a str,
    pub(crate) route: Option<&'a Route>,
    pub(crate) elapsed: Duration,
    pub(crate) error: Option<&'a ApiError>,
}

/// What happens around the handler of each request; by default nothing.
pub trait Middleware: Send + Sync {
    /// Counts a request of a caller, or refuses it. `headers` gets what the response says of that.
    fn admit(
        &self,
        _caller: &Caller,
        _route: &str,
        _headers: &mut Vec<(HeaderName, HeaderValue)>,
    ) -> Result<(), ApiError> {
        Ok(())
    }

    /// Notes a request, and returns its response as it is sent.
    fn finish(&self, _answered: &Answered<'_>, response: Response) -> Response {
        response
    }
}

impl Middleware for () {}

/// `GET /healthz`: the process answers.
pub(crate) async fn health(_: &Api, _: Request<'_>) -> HandlerResult {
    Ok(response::data(StatusCode::OK, &json!({ "status": "ok" })))
}

/// `GET /readyz`: the server wants requests, and its store works. The store of files is only named:
/// all servers share it, and do most of their work without it.
pub(crate) async fn readiness(api: &Api, _: Request<'_>) -> HandlerResult {
    if api.draining.is_cancelled() {
        return Err(ApiError::Stopping);
    }
    // Less than any probe waits.
    let (for_store, for_files) = (Duration::from_secs(2), Duration::from_millis(500));
    let store = timeout(for_store, api.store.check());
    let (store, files) = join(store, timeout(for_files, api.blobs.check())).await;
    let files = files.unwrap_or_else(|_| Err(BlobError::silent(for_files)));
    api.blobs.available.store(files.is_ok(), Relaxed);
    if let Err(error) = &files {
        tracing::warn!(%error, "the storage of files does not work");
    }
    store.map_err(|_| StoreError::Unavailable("it did not answer within 2 seconds".into()))??;
    let files = if files.is_ok() { "ready" } else { "unavailable" };
    Ok(response::data(StatusCode::OK, &json!({ "status": "ready", "files": files })))
}
