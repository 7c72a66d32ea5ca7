//! The fetching of outputs, from addresses that somebody else chose.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use serde_json::Value;
use url::Url;

use super::answer::MadeFile;
use super::{Limits, OutboundError, QueueProvider, media, uri};
use crate::domain::{Media, OutputKind};
use crate::error_chain::error_chain;
use crate::generate::Output;

/// Why there is no output.
pub(super) enum Fault {
    /// It may be there later; for the log.
    Passing(String),
    /// It will never be; for a person.
    Lasting(String),
}

impl QueueProvider {
    /// Fetches a file without the key, and looks at what it is.
    pub(super) async fn fetch(&self, file: &MadeFile, kind: OutputKind) -> Result<Output, Fault> {
        let lasting = |reason: &str| Fault::Lasting(reason.to_owned());
        let url = Url::parse(&file.url).map_err(|_| lasting("an output has no address"))?;
        let uri = uri(&url).map_err(|_| lasting("an output has no address"))?;
        let request = Request::get(uri)
            .body(Bytes::new())
            .map_err(|_| lasting("an output has no address"))?;
        // What the operator named may be called, though it be private.
        let own = self.setting.is_of_provider(&url);
        let client = if own { &self.provider } else { &self.outputs };
        let Limits { bytes: most, .. } = self.setting.output;
        let answer =
            client.fetch(request, self.setting.output).await.map_err(|error| match error {
                OutboundError::TooLarge(_) => {
                    Fault::Lasting(format!("an output is larger than {} MiB", most >> 20))
                }
                OutboundError::NotPublic(_) => {
                    lasting("an output is at an address that is not public")
                }
                OutboundError::Address => lasting("an output has no address of the web"),
                error => Fault::Passing(format!("an output: {}", error_chain(&error))),
            })?;
        let status = answer.status();
        if status.is_redirection() {
            return Err(lasting("the address of an output redirects"));
        }
        if !status.is_success() {
            return Err(Fault::Passing(format!("an output: status {}", status.as_u16())));
        }
        read(answer, file, kind)
    }
}

/// The output in an answer, whose bytes have the last word.
fn read(answer: Response<Bytes>, file: &MadeFile, kind: OutputKind) -> Result<Output, Fault> {
    let declared = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let fits = |media: Media| match kind {
        OutputKind::Image => !matches!(media, Media::Mp4 | Media::Webm),
        OutputKind::Video => matches!(media, Media::Mp4 | Media::Webm | Media::Gif | Media::Webp),
    };
    let bytes = answer.body();
    let media = media::of(bytes).filter(|media| fits(*media));
    let (true, Some(media)) = (declared.is_none_or(may_be_media), media) else {
        return Err(Fault::Lasting("an output is not of a type that is asked for".into()));
    };
    let told = || Some((side(&file.width)?, side(&file.height)?));
    let (width, height) = media::dimensions(bytes, media)
        .or_else(told)
        .ok_or_else(|| Fault::Lasting("an output cannot be read".into()))?;
    Ok(Output { bytes: answer.into_body(), media, width, height })
}

/// Whether a declared type is one of ours, or one that says nothing.
fn may_be_media(declared: &str) -> bool {
    let essence = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let vague = ["application/octet-stream", "binary/octet-stream", "image/jpg", ""];
    vague.contains(&&*essence) || Media::ALL.iter().any(|media| media.content_type() == essence)
}

fn side(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok().filter(|side| *side > 0)
}
