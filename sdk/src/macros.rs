//! The methods that calls and streams share, as macros: methods of a trait would have to be
//! imported by every user.

/// Declares a call with setters: its documentation, arguments, response, request, and how the
/// response is read.
macro_rules! call {
    (
        $(#[$doc:meta])*
        $name:ident { $($field:ident: $type:ty),* $(,)? } -> $output:ty,
        $request:expr, $read:expr $(,)?
    ) => {
        $(#[$doc])*
        ///
        /// Nothing is sent until the call is awaited.
        #[derive(Debug, Clone)]
        #[must_use = "a call is sent only when it is awaited, or by `send`"]
        pub struct $name {
            pub(crate) context: $crate::call::Context,
            $(pub(crate) $field: $type,)*
        }

        impl $name {
            fn into_call(self) -> $crate::call::Call<$output> {
                let request: fn(&Self) -> $crate::send::request::Request = $request;
                let request = request(&self);
                $crate::call::Call::new(self.context, request, $read)
            }
        }

        $crate::macros::sendable!($name -> $output, $name::into_call);
    };
}

/// The methods of a type that becomes a [`Call`](crate::request::Call) by `$into`.
macro_rules! sendable {
    ($([$($generic:tt)*])? $name:ident $(<$parameter:ident>)? -> $output:ty, $into:expr) => {
        /// Options of the call, and its response.
        impl $(<$($generic)*>)? $name $(<$parameter>)? {
            /// How long the call may take, all attempts and the backoff between them included;
            /// the client's [`overall_timeout`](crate::ClientBuilder::overall_timeout) otherwise.
            pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
                self.context.options.set().timeout = Some(timeout);
                self
            }

            /// Says that the service carries out the request once although it is sent twice, for
            /// example by a header with a key, so that it is retried as a `GET` is.
            pub fn idempotent(mut self) -> Self {
                self.context.options.set().is_idempotent = true;
                self
            }

            /// Sends the call; returns status, headers, request id and body of the response
            /// with the value.
            pub async fn send_with_meta(self) -> Result<crate::WithMeta<$output>, crate::Error> {
                let into: fn(Self) -> $crate::call::Call<$output> = $into;
                $crate::call::in_runtime(into(self).run_with_meta()).await
            }

            /// [`send_with_meta`](Self::send_with_meta), and blocks the thread.
            #[cfg(feature = "blocking")]
            pub fn send_with_meta_blocking(self) -> Result<crate::WithMeta<$output>, crate::Error> {
                $crate::blocking::wait(self.send_with_meta())?
            }
        }

        $crate::macros::options!([$($($generic)*)?] $name $(<$parameter>)?, context);
        $crate::macros::awaitable!(
            [$($($generic)*)?] $name $(<$parameter>)?, 'static -> $output,
            |call: Self| {
                let into: fn(Self) -> $crate::call::Call<$output> = $into;
                into(call).run()
            }
        );
    };
}

/// The options that every awaitable has, in its `context`.
macro_rules! options {
    ([$($generic:tt)*] $name:ty, $($path:ident).+) => {
        /// Options of every request that this sends.
        impl<$($generic)*> $name {
            /// How long one attempt may take, in place of the client's
            /// [`request_timeout`](crate::ClientBuilder::request_timeout).
            pub fn request_timeout(mut self, timeout: std::time::Duration) -> Self {
                self.$($path).+.options.set().request_timeout = Some(timeout);
                self
            }

            /// How long an attempt may go without receiving or sending a byte, in place of the
            /// client's [`idle_timeout`](crate::ClientBuilder::idle_timeout).
            pub fn idle_timeout(mut self, timeout: std::time::Duration) -> Self {
                self.$($path).+.options.set().idle_timeout = Some(timeout);
                self
            }

            /// How requests are retried, in place of the client's
            /// [`retry`](crate::ClientBuilder::retry).
            pub fn retry(mut self, policy: crate::RetryPolicy) -> Self {
                self.$($path).+.options.set().retry = Some(policy);
                self
            }

            /// Adds a header, for example for tracing.
            ///
            /// Sending fails with [`Error::is_input`](crate::Error::is_input) for an invalid
            /// header and for those that the client sets itself: `Authorization`,
            /// `Content-Type`, `Host` and the headers of the connection.
            pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
                self.$($path).+.options.header(name.as_ref(), value.as_ref());
                self
            }
        }
    };
}

/// Makes a type awaitable, and sendable: `$run` takes it and returns the future.
macro_rules! awaitable {
    ([$($generic:tt)*] $name:ty, $life:lifetime -> $output:ty, $run:expr) => {
        /// Sending it.
        impl<$($generic)*> $name {
            /// Does what awaiting it does, as a future for `tokio::spawn` and `join_all`.
            ///
            /// # Errors
            ///
            /// An [`Error`](crate::Error) if a request cannot be sent, if the service answers
            /// with an error status, or if a response cannot be decoded.
            pub async fn send(self) -> Result<$output, crate::Error> {
                self.into_future().await
            }

            /// [`send`](Self::send), and blocks the thread; see [`blocking`](crate::blocking).
            #[cfg(feature = "blocking")]
            pub fn send_blocking(self) -> Result<$output, crate::Error> {
                $crate::blocking::wait(self.send())?
            }
        }

        impl<$($generic)*> IntoFuture for $name {
            type Output = Result<$output, crate::Error>;
            type IntoFuture = futures_core::future::BoxFuture<$life, Self::Output>;

            fn into_future(self) -> Self::IntoFuture {
                Box::pin($crate::call::in_runtime(($run)(self)))
            }
        }
    };
}

/// Declares the body of a request. Fields that are not set are not sent; one that `null` clears is
/// an `Option` of an `Option`.
macro_rules! body {
    ($name:ident { $($field:ident: $type:ty,)* }) => {
        #[derive(Debug, Clone, Default, serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        pub(crate) struct $name {
            $(
                #[serde(skip_serializing_if = "Option::is_none")]
                pub(crate) $field: Option<$type>,
            )*
        }
    };
}

/// Setters of optional fields of a call: one for a value, one for a value that may be absent.
macro_rules! optional {
    ($($(#[$doc:meta])* $name:ident, $set:ident => $($path:ident).+: $type:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self, value: impl Into<$type>) -> Self {
            let value: $type = value.into();
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

/// The methods of a stream whose `$poll` returns the next item, which is a `Result`.
macro_rules! stream {
    ($([$generic:ident])? $name:ident $(<$parameter:ident>)? -> $item:ty, $poll:ident) => {
        /// Reading the stream.
        impl $(<$generic>)? $name $(<$parameter>)? {
            /// The next item; `None` when the stream has ended.
            ///
            /// Cancel safe: if the future is dropped, the next call continues the same request.
            pub async fn next(&mut self) -> Option<Result<$item, crate::Error>> {
                std::future::poll_fn(|cx| self.$poll(cx)).await
            }

            /// The next item; `Ok(None)` when the stream has ended. Cancel safe.
            pub async fn try_next(&mut self) -> Result<Option<$item>, crate::Error> {
                self.next().await.transpose()
            }

            /// The stream as a blocking iterator; see [`blocking`](crate::blocking).
            #[cfg(feature = "blocking")]
            pub const fn blocking(self) -> crate::blocking::Blocking<Self> {
                crate::blocking::Blocking::new(self)
            }
        }

        // No field is ever pinned.
        impl $(<$generic>)? Unpin for $name $(<$parameter>)? {}

        impl $(<$generic>)? futures_core::Stream for $name $(<$parameter>)? {
            type Item = Result<$item, crate::Error>;

            fn poll_next(
                mut self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Option<Self::Item>> {
                self.$poll(cx)
            }
        }
    };
}

/// `Debug` with these fields; the others may be secret, or say nothing.
macro_rules! debug {
    (
        $([$generic:tt])? $name:ident $(<$parameter:tt>)?
        $(, |$it:ident| $($field:ident = $value:expr),+)?
    ) => {
        impl $(<$generic>)? std::fmt::Debug for $name $(<$parameter>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $(let $it = self;)?
                f.debug_struct(stringify!($name))
                    $($(.field(stringify!($field), &$value))+)?
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use {awaitable, body, call, debug, optional, options, sendable, stream, url_list};
