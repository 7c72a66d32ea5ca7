//! The outputs of a result: files at other addresses, or in the result itself (`data:`).

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use data_encoding::BASE64_NOPAD;
use futures::stream::{self, StreamExt, TryStreamExt};
use http::Method;
use http::header::LOCATION;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

use super::client::QueueProvider;
use super::protocol::OutputFile;
use crate::generate::{Output, OutputStream, PollError};
use crate::limits::OUTPUT_REDIRECTS_MAX;
use crate::outbound::{OutboundError, OutboundRequest};
use crate::quota::Permit;

impl QueueProvider {
    /// The output in a file of a result, whose memory the permit is for.
    pub(super) fn output(&self, file: OutputFile, permit: Arc<Option<Permit>>) -> Output {
        let side = |value: &Value| u32::try_from(value.as_u64()?).ok();
        let size = side(&file.width).zip(side(&file.height));
        let bytes = if file.is_embedded() {
            let decoding = async move {
                let _permit = permit;
                embedded(file.url)
            };
            stream::once(decoding).boxed()
        } else {
            stream::once(self.clone().download(file.url)).try_flatten().boxed()
        };
        Output { size, bytes }
    }

    /// The bytes of an output, without the key. Each address that it redirects to is checked as the
    /// first one is.
    async fn download(self, url: String) -> Result<OutputStream, PollError> {
        let mut url = Url::parse(&url).map_err(no_address)?;
        for _ in 0..=OUTPUT_REDIRECTS_MAX {
            let client = if self.is_same_origin(&url) { &self.provider } else { &self.outputs };
            let response = client.open(OutboundRequest::new(Method::GET, url.clone())).await;
            let response = response.map_err(failure)?;
            let target = response.headers().get(LOCATION).and_then(|target| target.to_str().ok());
            match (response.status().as_u16(), target) {
                (200..300, _) => return Ok(response.into_body().map_err(failure).boxed()),
                (300..400, Some(target)) => url = url.join(target).map_err(no_address)?,
                (status, _) => {
                    return Err(PollError::transient(format!("an output: status {status}")));
                }
            }
        }
        Err(PollError::permanent("the address of an output redirects too often"))
    }
}

fn failure(error: OutboundError) -> PollError {
    match error {
        OutboundError::Address(reason) => PollError::Permanent(format!("an output: {reason}")),
        error => PollError::transient(format!("an output: {error}")),
    }
}

fn no_address<T>(_: T) -> PollError {
    PollError::permanent("an output: no http or https address")
}

/// The content of a `data:` URL.
fn embedded(url: String) -> Result<Bytes, PollError> {
    let unreadable = || PollError::permanent("an output in a data: address cannot be read");
    let (head, data) = url.split_once(',').ok_or_else(unreadable)?;
    let is_base64 = head.to_ascii_lowercase().ends_with(";base64");
    let mut data = Cow::from(percent_decode_str(data)).into_owned();
    // It may have 64 MiB.
    drop(url);
    if !is_base64 {
        return Ok(data.into());
    }
    data.retain(|byte| !byte.is_ascii_whitespace() && *byte != b'=');
    BASE64_NOPAD.decode(&data).map(Bytes::from).map_err(|_| unreadable())
}
