//! What every call has in common: its options, sending it, and reading the response.

use super::meta::{Meta, WithMeta};
use super::options::CallOptions;
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
    /// The context of a new call.
    pub(super) fn context(&self) -> Context {
        Context { client: self.clone(), options: CallOptions::default() }
    }
}

/// One endpoint of the API with its arguments; written by [`endpoint!`].
pub(super) trait Endpoint: Sized + Send + Sync + 'static {
    /// The value of a success.
    type Output: Send + 'static;

    fn context(&self) -> &Context;

    /// The request. Pure.
    fn request(&self) -> Result<Request, Error>;

    /// The value in the response. Pure.
    fn read(&self, reply: Reply) -> Result<Self::Output, Error>;

    /// Sends the request, and retries it where that is safe.
    fn exchange(&self) -> impl Future<Output = Result<Reply, Error>> + Send {
        async {
            let Context { client, options } = self.context();
            client.send(self.request()?, options).await
        }
    }

    /// Sends the request and reads the response.
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

/// Declares a call: its documentation, arguments, response, request, and how the response is
/// read if it is not the `data` of the envelope.
macro_rules! endpoint {
    (
        $(#[$doc:meta])*
        $name:ident { $($field:ident: $type:ty),* $(,)? } -> $output:ty,
        $request:expr
        $(, $read:expr)? $(,)?
    ) => {
        $(#[$doc])*
        ///
        /// Nothing is sent until the call is awaited.
        #[derive(Debug, Clone)]
        #[must_use = "a call is sent only when it is awaited, or by `send`"]
        pub struct $name {
            context: $crate::client::call::Context,
            $($field: $type,)*
        }

        impl $crate::client::call::Endpoint for $name {
            type Output = $output;

            fn context(&self) -> &$crate::client::call::Context {
                &self.context
            }

            fn request(&self) -> Result<$crate::client::request::Request, $crate::Error> {
                let request: fn(&Self) -> _ = $request;
                request(self)
            }

            fn read(&self, reply: $crate::client::reply::Reply) -> Result<$output, $crate::Error> {
                $crate::client::call::endpoint!(@read self, reply $(, $read)?)
            }
        }

        $crate::client::call::sendable!($name -> $output);
    };
    (@read $self:ident, $reply:ident) => { $reply.data() };
    (@read $self:ident, $reply:ident, $read:expr) => {{
        let read: fn(&Self, $crate::client::reply::Reply) -> _ = $read;
        read($self, $reply)
    }};
}

/// The methods that every call has.
macro_rules! sendable {
    ($name:ident -> $output:ty) => {
        /// Options of the call, and sending it.
        impl $name {
            /// How long the call may take, all attempts and the backoff between them included;
            /// the client's [`overall_timeout`](crate::ClientBuilder::overall_timeout) otherwise.
            pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
                self.context.options.timeout(timeout);
                self
            }

            /// How long one attempt may take, in place of the client's
            /// [`request_timeout`](crate::ClientBuilder::request_timeout).
            pub fn request_timeout(mut self, timeout: std::time::Duration) -> Self {
                self.context.options.request_timeout(timeout);
                self
            }

            /// How long an attempt may go without receiving or sending a byte, in place of the
            /// client's [`idle_timeout`](crate::ClientBuilder::idle_timeout).
            pub fn idle_timeout(mut self, timeout: std::time::Duration) -> Self {
                self.context.options.idle_timeout(timeout);
                self
            }

            /// How the call is retried, in place of the client's
            /// [`retry`](crate::ClientBuilder::retry).
            pub fn retry(mut self, policy: crate::RetryPolicy) -> Self {
                self.context.options.retry(policy);
                self
            }

            /// Adds a header, for example for tracing.
            ///
            /// Sending fails with [`Error::is_input`](crate::Error::is_input) for an invalid
            /// header and for those that the client sets itself: `Authorization`,
            /// `Content-Type`, `Host` and the headers of the connection.
            pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
                self.context.options.header(name.as_ref(), value.as_ref());
                self
            }

            /// Sends the call, as awaiting it does.
            ///
            /// # Errors
            ///
            /// An [`Error`](crate::Error) if the call cannot be sent, if the service answers
            /// with an error status, or if the response cannot be decoded.
            pub async fn send(self) -> Result<$output, crate::Error> {
                $crate::client::call::Endpoint::run(self).await
            }

            /// Sends the call; returns status, headers, request id and body of the response
            /// with the value.
            ///
            /// # Errors
            ///
            /// As [`send`](Self::send).
            pub async fn send_with_meta(self) -> Result<crate::WithMeta<$output>, crate::Error> {
                $crate::client::call::Endpoint::run_with_meta(self).await
            }

            /// Sends the call and blocks the thread until the response is there; see
            /// [`blocking`](crate::blocking).
            ///
            /// # Errors
            ///
            /// As [`send`](Self::send).
            #[cfg(feature = "blocking")]
            pub fn send_blocking(self) -> Result<$output, crate::Error> {
                $crate::client::blocking::wait($crate::client::call::Endpoint::run(self))?
            }

            /// [`send_with_meta`](Self::send_with_meta), and blocks the thread.
            ///
            /// # Errors
            ///
            /// As [`send`](Self::send).
            #[cfg(feature = "blocking")]
            pub fn send_with_meta_blocking(self) -> Result<crate::WithMeta<$output>, crate::Error> {
                $crate::client::blocking::wait($crate::client::call::Endpoint::run_with_meta(self))?
            }
        }

        impl IntoFuture for $name {
            type Output = Result<$output, crate::Error>;
            type IntoFuture = futures_core::future::BoxFuture<'static, Self::Output>;

            fn into_future(self) -> Self::IntoFuture {
                Box::pin($crate::client::call::Endpoint::run(self))
            }
        }
    };
}

/// Setters of optional fields of a call: one for a value, one for a value that may be absent.
macro_rules! optional {
    ($($(#[$doc:meta])* $name:ident, $set:ident => $($path:ident).+: $type:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self, value: impl Into<$type>) -> Self {
            self.$($path).+ = Some(value.into());
            self
        }

        #[doc = concat!("As [`", stringify!($name), "`](Self::", stringify!($name), "), if there ")]
        /// is a value. `None` changes nothing.
        pub fn $set(self, value: Option<impl Into<$type>>) -> Self {
            match value {
                Some(value) => self.$name(value),
                None => self,
            }
        }
    )*};
}

/// Setter of a list of URLs.
macro_rules! url_list {
    ($(#[$doc:meta])* $name:ident => $($path:ident).+) => {
        $(#[$doc])*
        pub fn $name<I>(mut self, urls: I) -> Self
        where
            I: IntoIterator<Item: Into<crate::AssetUrl>>,
        {
            self.$($path).+ = Some(urls.into_iter().map(Into::into).collect());
            self
        }
    };
}

pub(super) use {endpoint, optional, sendable, url_list};
