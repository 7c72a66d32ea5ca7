//! A call: what it sends and yields, its options, and sending it.

mod exchange;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::Error;
use crate::send::config::CallOptions;
use crate::send::policy::RetryPolicy;
use crate::send::reply::{RawResponse, WithMeta};
use crate::send::request::Request;

/// The client of a call, and its options.
#[derive(Debug, Clone)]
pub struct Context {
    pub(crate) client: Client,
    pub(crate) options: CallOptions,
}

impl Client {
    pub(crate) fn context(&self) -> Context {
        Context { client: self.clone(), options: CallOptions::default() }
    }

    /// A call that sends these fields and yields the `data` of the response.
    pub(crate) fn write<T, F, Id>(&self, request: Request, fields: F) -> Call<T, Write<F, Id>> {
        Call::of(self.context(), Write { request, fields, id: PhantomData })
    }

    /// A call that yields the `data` of the response.
    pub(crate) fn call<T: DeserializeOwned + 'static>(&self, request: Request) -> Call<T> {
        Call::new(self.context(), request, RawResponse::data)
    }

    /// A call that yields the `data` of the response, or this value if there is none.
    pub(crate) fn call_or<T>(&self, request: Request, empty: T) -> Call<T>
    where
        T: DeserializeOwned + Clone + Send + Sync + 'static,
    {
        Call::new(self.context(), request, move |reply| reply.data_or(empty.clone()))
    }
}

/// A call that yields a `T`; the methods of [`resources`](crate::resources) return it and say what
/// it does. `B` has what the methods of one endpoint set; [`request`](crate::request) names each.
///
/// Nothing is sent until it is awaited. `tokio::spawn`, `join!` and `join_all` take futures: give
/// them [`send`](Self::send) of the call.
#[must_use = "a call is sent only when it is awaited, or by `send`"]
pub struct Call<T, B = Prepared<T>> {
    pub(crate) context: Context,
    pub(crate) builder: B,
    output: PhantomData<fn() -> T>,
}

/// What sending a call does: it yields a `T`.
pub trait Run<T> {
    /// Sends it.
    type Future: Future<Output = Result<T, Error>> + Send;

    #[doc(hidden)]
    fn run(self, context: Context) -> Self::Future;
}

/// A call of one request.
pub trait Endpoint<T>: Send + 'static {
    #[doc(hidden)]
    fn prepare(self) -> Prepared<T>;
}

/// A request, and how its response is read.
pub struct Prepared<T> {
    request: Request,
    read: Arc<Read<T>>,
}

type Read<T> = dyn Fn(RawResponse) -> Result<T, Error> + Send + Sync;

impl<T> Prepared<T> {
    pub(crate) fn new(
        request: Request,
        read: impl Fn(RawResponse) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Self {
        Self { request, read: Arc::new(read) }
    }
}

impl<T: 'static> Endpoint<T> for Prepared<T> {
    fn prepare(self) -> Self {
        self
    }
}

/// A request whose JSON body has the fields `F`, of the thing with this id if it exists.
#[derive(Debug, Clone)]
pub struct Write<F, Id = ()> {
    request: Request,
    pub(crate) fields: F,
    id: PhantomData<Id>,
}

impl<T, F, Id> Endpoint<T> for Write<F, Id>
where
    T: DeserializeOwned + 'static,
    F: Serialize + Send + 'static,
    Id: Send + 'static,
{
    fn prepare(self) -> Prepared<T> {
        Prepared::new(self.request.json(&self.fields), RawResponse::data)
    }
}

impl<T: 'static, B: Endpoint<T>> Run<T> for B {
    type Future = BoxFuture<'static, Result<T, Error>>;

    fn run(self, context: Context) -> Self::Future {
        let Prepared { request, read } = self.prepare();
        Box::pin(async move {
            require_runtime()?;
            context.exchange(&request, &*read).await
        })
    }
}

/// Options of every request that a call sends.
impl<T, B> Call<T, B> {
    pub(crate) const fn of(context: Context, builder: B) -> Self {
        Self { context, builder, output: PhantomData }
    }

    /// With the options of another call, which this one is a part of.
    pub(crate) fn with(mut self, options: &CallOptions) -> Self {
        self.context.options = options.clone();
        self
    }

    /// How long all of it may take, with all attempts and the backoff between them. By default a call
    /// has the client's [`overall_timeout`](crate::ClientBuilder::overall_timeout), an upload or a
    /// download no limit, and waiting for a generation 10 minutes; the job continues after it.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.context.options.timeout = Some(timeout);
        self
    }

    /// How long one attempt may take, in place of the client's
    /// [`request_timeout`](crate::ClientBuilder::request_timeout).
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.context.options.request_timeout = Some(timeout);
        self
    }

    /// How long an attempt may go without receiving or sending a byte, in place of the client's
    /// [`idle_timeout`](crate::ClientBuilder::idle_timeout).
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.context.options.idle_timeout = Some(timeout);
        self
    }

    /// How requests are retried, in place of the client's [`retry`](crate::ClientBuilder::retry).
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.context.options.retry = Some(policy);
        self
    }

    /// Adds a header, for example for tracing.
    ///
    /// Sending fails with [`Error::is_input`](crate::Error::is_input) for an invalid header and for
    /// those that the client sets itself: `Authorization`, `Content-Type`, `Host` and the headers of
    /// the connection.
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        self.context.options.header(name.as_ref(), value.as_ref());
        self
    }
}

/// Sending it.
impl<T, B: Run<T>> Call<T, B> {
    /// Does what awaiting it does, as a future for `tokio::spawn` and `join_all`.
    ///
    /// # Errors
    ///
    /// An [`Error`](crate::Error) if a request cannot be sent, if the service answers with an error
    /// status, or if a response cannot be decoded.
    pub async fn send(self) -> Result<T, Error> {
        self.await
    }
}

impl<T, B: Run<T>> IntoFuture for Call<T, B> {
    type Output = Result<T, Error>;
    type IntoFuture = B::Future;

    fn into_future(self) -> Self::IntoFuture {
        self.builder.run(self.context)
    }
}

/// Calls of one request.
impl<T: 'static, B: Endpoint<T>> Call<T, B> {
    /// Says that the service carries out the request once although it is sent twice, for example by a
    /// header with a key, so that it is retried as a `GET` is.
    pub fn idempotent(mut self) -> Self {
        self.context.options.is_idempotent = true;
        self
    }

    /// Sends the call; returns status, headers, request id and body of the response with the value.
    pub async fn send_with_meta(self) -> Result<WithMeta<T>, Error> {
        let Prepared { request, read } = self.builder.prepare();
        let read = |reply: RawResponse| {
            let meta = reply.clone();
            read(reply).map(|value| WithMeta { value, meta })
        };
        require_runtime()?;
        self.context.exchange(&request, &read).await
    }
}

impl<T: 'static> Call<T> {
    pub(crate) fn new(
        context: Context,
        request: Request,
        read: impl Fn(RawResponse) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Self {
        Self::of(context, Prepared::new(request, read))
    }
}

/// Fails without a runtime, where Tokio's timers and files panic.
pub(crate) fn require_runtime() -> Result<(), Error> {
    #[cfg(not(target_arch = "wasm32"))]
    tokio::runtime::Handle::try_current().map_err(|_| {
        Error::config(
            "no Tokio runtime is running; await the call inside one, or use the feature `blocking`",
        )
    })?;
    Ok(())
}

impl<T, B: Clone> Clone for Call<T, B> {
    fn clone(&self) -> Self {
        Self::of(self.context.clone(), self.builder.clone())
    }
}

impl<T> Clone for Prepared<T> {
    fn clone(&self) -> Self {
        Self { request: self.request.clone(), read: self.read.clone() }
    }
}

impl<T, B: fmt::Debug> fmt::Debug for Call<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Context { client, options } = &self.context;
        let mut call = f.debug_struct("Call");
        call.field("client", client).field("options", options).field("builder", &self.builder);
        call.finish()
    }
}

impl<T> fmt::Debug for Prepared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.request.fmt(f)
    }
}
