//! What every call has in common: its options, sending it, and reading the response.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::config::CallOptions;
use super::methods::sendable;
use super::raw::{Meta, WithMeta};
use super::reply::Reply;
use super::request::Request;
use super::{Client, Error};

/// The client that makes a call, and the options of the call.
#[derive(Debug, Clone)]
pub(super) struct Context {
    pub(super) client: Client,
    pub(super) options: CallOptions,
}

impl Client {
    pub(super) fn context(&self) -> Context {
        Context { client: self.clone(), options: CallOptions::default() }
    }
}

/// One endpoint of the API with its arguments; written by `endpoint!`.
pub(super) trait Endpoint: Sized + Send + Sync + 'static {
    type Output: Send + 'static;

    fn context(&self) -> &Context;

    /// The request. Pure.
    fn request(&self) -> Cow<'_, Request>;

    /// The value in the response. Pure.
    fn read(&self, reply: Reply) -> Result<Self::Output, Error>;

    /// Sends the request, and retries it where that is safe.
    fn exchange(&self) -> impl Future<Output = Result<Reply, Error>> + Send {
        async {
            let Context { client, options } = self.context();
            client.send(&self.request(), options).await
        }
    }

    fn run(self) -> impl Future<Output = Result<Self::Output, Error>> + Send {
        async move { self.read(self.exchange().await?) }
    }

    /// The same, with status, headers and body of the response.
    fn run_with_meta(self) -> impl Future<Output = Result<WithMeta<Self::Output>, Error>> + Send {
        async move {
            let reply = self.exchange().await?;
            let meta = Meta::of(&reply);
            Ok(WithMeta { value: self.read(reply)?, meta })
        }
    }
}

/// A call without arguments of its own that are optional; the methods of
/// [`resources`](crate::resources) return it and say what it does.
///
/// Nothing is sent until it is awaited.
#[must_use = "a call is sent only when it is awaited, or by `send`"]
pub struct Call<T> {
    pub(super) context: Context,
    request: Request,
    read: Arc<Read<T>>,
}

type Read<T> = dyn Fn(Reply) -> Result<T, Error> + Send + Sync;

impl Client {
    /// A call that returns the `data` of the response.
    pub(super) fn call<T: DeserializeOwned + 'static>(&self, request: Request) -> Call<T> {
        self.call_with(request, Reply::data)
    }

    pub(super) fn call_with<T>(
        &self,
        request: Request,
        read: impl Fn(Reply) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Call<T> {
        Call { context: self.context(), request, read: Arc::new(read) }
    }
}

impl<T: Send + 'static> Endpoint for Call<T> {
    type Output = T;

    fn context(&self) -> &Context {
        &self.context
    }

    fn request(&self) -> Cow<'_, Request> {
        Cow::Borrowed(&self.request)
    }

    fn read(&self, reply: Reply) -> Result<T, Error> {
        (self.read)(reply)
    }
}

sendable!([T: Send + 'static] Call<T> -> T);

impl<T> Clone for Call<T> {
    fn clone(&self) -> Self {
        let (context, request) = (self.context.clone(), self.request.clone());
        Self { context, request, read: self.read.clone() }
    }
}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("context", &self.context)
            .field("route", &self.request.route)
            .finish_non_exhaustive()
    }
}
