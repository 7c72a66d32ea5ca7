//! The outputs of a result: files at other addresses, or in the result itself (`data:`).

use std::sync::Arc;

use bytes::Bytes;
use data_encoding::BASE64_NOPAD;
use futures::stream::{self, StreamExt, TryStreamExt};
use http::Method;
use http::header::LOCATION;
use percent_encoding::percent_decode;
use serde_json::Value;
use url::Url;

use super::QueueProvider;
use super::protocol::OutputFile;
use crate::error_chain::error_chain;
use crate::generate::OutputError::{self, Permanent};
use crate::generate::{Output, OutputStream, PollError, RemoteOutput};
use crate::limits::OUTPUT_REDIRECTS_MAX;
use crate::outbound::{OutboundError, OutboundRequest, ResponsePermit};

/// Characters of base64 that are decoded at once; a multiple of 4.
const PIECE: usize = 256 * 1024;

impl QueueProvider {
    /// The output in a file of a result. It is downloaded later.
    pub(super) fn output(
        &self,
        file: OutputFile,
        permit: &ResponsePermit,
    ) -> Result<Output, OutputError> {
        let side = |value: &Value| u32::try_from(value.as_u64()?).ok();
        let size = side(&file.width).zip(side(&file.height));
        if file.is_embedded() {
            let (url, permit) = (Bytes::from(file.url), permit.clone());
            let open = Arc::new(move || embedded(&url, permit.clone()));
            return Ok(Output::Remote(RemoteOutput { size, open }));
        }
        let url = Url::parse(&file.url).map_err(|_| no_address())?;
        let this = self.clone();
        let open = Arc::new(move || {
            let body = this.clone().download(url.clone());
            stream::once(body).try_flatten().boxed()
        });
        Ok(Output::Remote(RemoteOutput { size, open }))
    }

    /// The bytes of an output, without the key. Each address that it redirects to is checked as the
    /// first one is.
    async fn download(self, mut url: Url) -> Result<OutputStream, OutputError> {
        for _ in 0..=OUTPUT_REDIRECTS_MAX {
            let own = self.setting.is_same_origin(&url);
            let client = if own { &self.provider } else { &self.outputs };
            let response = client.open(OutboundRequest::new(Method::GET, url.clone())).await;
            let response = response.map_err(failure)?;
            let target = response.headers().get(LOCATION).and_then(|target| target.to_str().ok());
            match (response.status().as_u16(), target) {
                (200..300, _) => return Ok(response.into_body().map_err(failure).boxed()),
                (300..400, Some(target)) => url = url.join(target).map_err(|_| no_address())?,
                (status, _) => {
                    return Err(PollError::new(format!("an output: status {status}")).into());
                }
            }
        }
        Err(Permanent("the address of an output redirects too often".into()))
    }
}

fn failure(error: OutboundError) -> OutputError {
    match error {
        OutboundError::NotPublic(_) => {
            Permanent("an output is at an address that is not public".into())
        }
        OutboundError::Address => no_address(),
        error => PollError::new(format!("an output: {}", error_chain(&error))).into(),
    }
}

/// The content of a `data:` URL, decoded piece by piece. The URL keeps its permit of the memory.
fn embedded(url: &Bytes, permit: ResponsePermit) -> OutputStream {
    let unreadable = || Permanent("an output in a data: address cannot be read".into());
    let Some(comma) = url.iter().position(|byte| *byte == b',') else {
        return stream::iter([Err(unreadable())]).boxed();
    };
    let mut data = url.slice(comma + 1..);
    if data.contains(&b'%') {
        data = percent_decode(&data).collect();
    }
    if !url[..comma].to_ascii_lowercase().ends_with(b";base64") {
        return stream::iter([Ok(data)]).boxed();
    }
    if data.iter().any(u8::is_ascii_whitespace) {
        data = data.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    }
    let padding = data.iter().rev().take_while(|byte| **byte == b'=').count();
    data.truncate(data.len() - padding);
    let pieces = (0..data.len()).step_by(PIECE);
    let decoded = pieces.map(move |at| {
        let _held = &permit;
        let piece = &data[at..data.len().min(at + PIECE)];
        BASE64_NOPAD.decode(piece).map(Bytes::from).map_err(|_| unreadable())
    });
    stream::iter(decoded).boxed()
}

fn no_address() -> OutputError {
    Permanent("an output has no http or https address".into())
}
