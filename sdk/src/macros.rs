//! Declarations that repeat: bodies of requests, setters, streams, `Debug`.

/// Declares the body of a request. Fields that are not set are not sent; one that `null` clears is
/// an `Option` of an `Option`.
macro_rules! body {
    ($(#[$doc:meta])* $visibility:vis $name:ident { $($field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        $visibility struct $name {
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

/// Setters of fields that have a value from the beginning.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident($value:ident: $type:ty) => $($path:ident).+;)*) => {$(
        $(#[$doc])*
        pub const fn $name(mut self, $value: $type) -> Self {
            self.$($path).+ = $value;
            self
        }
    )*};
}

/// Setters of optional lists of URLs, in place of those set before.
macro_rules! urls {
    ($($(#[$doc:meta])* $name:ident => $($path:ident).+;)*) => {$(
        $(#[$doc])*
        pub fn $name<I>(mut self, urls: I) -> Self
        where
            I: IntoIterator<Item: Into<AssetUrl>>,
        {
            self.$($path).+ = Some(urls.into_iter().map(Into::into).collect());
            self
        }
    )*};
}

/// The methods of a stream whose `$poll` returns the next item, which is a `Result`.
macro_rules! stream {
    ([$($generic:ident)?] $name:ty => $item:ty, $error:ty, $poll:ident) => {
        /// Reading the stream.
        impl $(<$generic>)? $name {
            /// The next item; `None` when the stream has ended.
            ///
            /// Cancel safe: if the future is dropped, the next call continues the same request.
            pub async fn next(&mut self) -> Option<Result<$item, $error>> {
                std::future::poll_fn(|cx| self.$poll(cx)).await
            }

            /// The next item; `Ok(None)` when the stream has ended. Cancel safe.
            pub async fn try_next(&mut self) -> Result<Option<$item>, $error> {
                self.next().await.transpose()
            }
        }

        // No field is ever pinned.
        impl $(<$generic>)? Unpin for $name {}

        impl $(<$generic>)? futures_core::Stream for $name {
            type Item = Result<$item, $error>;

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

pub(crate) use {body, debug, optional, settings, stream, urls};
