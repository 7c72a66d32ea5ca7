//! The outputs of a result: files at other addresses, or in the result itself (`data:`).

use std::sync::Arc;

use bytes::Bytes;
use data_encoding::BASE64_NOPAD;
use futures::stream::{self, StreamExt, TryStreamExt};
use http::{Method, Response};
use percent_encoding::percent_decode;
use serde_json::Value;
use url::Url;

use super::protocol::OutputFile;
use super::{QueueProvider, protocol};
use crate::domain::GenerationRequest;
use crate::error_chain::error_chain;
use crate::generate::OutputError::{self, Permanent};
use crate::generate::{Output, OutputStream, PollError, RemoteOutput};
use crate::outbound::{Outbound, OutboundError, Request, Share};

/// Characters of base64 that are decoded at once; a multiple of 4.
const PIECE: usize = 256 * 1024;

impl QueueProvider {
    /// The outputs in a result. They are downloaded later.
    pub(super) fn outputs(
        &self,
        result: Response<Bytes>,
        request: &GenerationRequest,
    ) -> Result<Vec<Output>, OutputError> {
        let (head, body) = result.into_parts();
        let files = protocol::output_files(&body, request.kind)?;
        drop(body);
        let share = head.extensions.get::<Share>().cloned().unwrap_or_default();
        let files = files.into_iter().take(request.batch_count as usize);
        files.map(|file| self.output(file, &share).map(Output::Remote)).collect()
    }

    fn output(&self, file: OutputFile, share: &Share) -> Result<RemoteOutput, OutputError> {
        let side = |value: &Value| u32::try_from(value.as_u64()?).ok();
        let size = side(&file.width).zip(side(&file.height));
        if file.url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
            let (url, share) = (Bytes::from(file.url), share.clone());
            let open = Arc::new(move || embedded(&url, share.clone()));
            return Ok(RemoteOutput { size, open });
        }
        let url = Url::parse(&file.url).map_err(|_| no_address())?;
        let own = self.setting.is_same_origin(&url);
        let client = if own { &self.provider } else { &self.outputs }.clone();
        Ok(RemoteOutput { size, open: Arc::new(move || download(client.clone(), url.clone())) })
    }
}

/// Downloads an output, without the key.
fn download(client: Outbound, url: Url) -> OutputStream {
    let response = async move {
        let response = client.open(Request::new(Method::GET, url)).await.map_err(failure)?;
        match response.status().as_u16() {
            200..300 => Ok(response.into_body().map_err(failure)),
            300..400 => Err(Permanent("the address of an output redirects".into())),
            status => Err(PollError::new(format!("an output: status {status}")).into()),
        }
    };
    stream::once(response).try_flatten().boxed()
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

/// The content of a `data:` URL, decoded piece by piece. The URL keeps its share of the memory.
fn embedded(url: &Bytes, share: Share) -> OutputStream {
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
        let _held = &share;
        let piece = &data[at..data.len().min(at + PIECE)];
        BASE64_NOPAD.decode(piece).map(Bytes::from).map_err(|_| unreadable())
    });
    stream::iter(decoded).boxed()
}

fn no_address() -> OutputError {
    Permanent("an output has no address of the web".into())
}
