//! Files in forms.
//!
//! A file goes through a temporary file to the store, so it takes little memory. Its bytes decide
//! what it is.

use std::time::Duration;

use data_encoding::HEXLOWER;
use http_body_util::BodyExt;
use multer::{Constraints, Multipart, SizeLimit};
use promptarium::limits;
use sha2::{Digest, Sha256};
use tokio::time::timeout;
use url::form_urlencoded;

use super::prelude::*;
use super::visit::boundary;
use crate::api::files::TYPES;
use crate::blobs::Upload;
use crate::generate::media::examine;
use crate::http::body::BodyReadError;
use crate::limits::{BODY_SECONDS_MAX, FORM_BYTES_MAX, UPLOAD_BUFFER_BYTES, UPLOAD_RATE_MIN};
use crate::quota::Permit;

/// The name of the control for a file.
pub(super) const FILE: &str = "file";
const NO_PICTURE: &str = "must be a PNG, JPEG, WebP or GIF picture";
/// More than the fields of any form.
const PARTS_MAX: usize = 100;
pub(super) const PICTURE_BYTES_MAX: usize = *limits::UPLOAD_SIZE_BYTES.end() as usize;

#[derive(Default)]
pub(super) struct Sent {
    pub(super) file: Option<Upload>,
    pub(super) size: usize,
    /// For the fields and the buffer of the file.
    pub(super) memory: Option<Permit>,
}

/// Reads a form with a file of at most `most` bytes, if the request has one. Its other fields become
/// those of the visit. A file counts as a request of `route`, before any of it is stored.
pub(super) async fn receive(
    visit: &mut Visit<'_>,
    most: usize,
    route: Option<&str>,
) -> Result<Sent, ApiError> {
    let (api, caller, request) = (visit.api, &visit.caller, &mut visit.request);
    let Some(boundary) = boundary(request.parts) else { return Ok(Sent::default()) };
    let mut memory = request.memory.reserve(FORM_BYTES_MAX)?;
    let sizes = SizeLimit::new().per_field(FORM_BYTES_MAX as u64).for_field(FILE, most as u64);
    let constraints = Constraints::new().size_limit(sizes);
    let stream = request.body.into_data_stream();
    let mut parts = Multipart::with_constraints(stream, boundary, constraints);
    let refused = |error| match error {
        multer::Error::FieldSizeExceeded { field_name: Some(name), .. } if name == FILE => {
            let text = format!("must have at most {} MiB", most >> 20);
            ApiError::from(FieldErrors::of(FILE, text))
        }
        multer::Error::FieldSizeExceeded { .. } => BodyReadError::TooLarge(FORM_BYTES_MAX).into(),
        error => FieldErrors::of("body", format!("is not a form: {error}")).into(),
    };
    let (mut fields, mut digest, mut count) = (String::new(), Sha256::new(), 0);
    let receiving = async {
        let mut sent = Sent::default();
        while let Some(mut part) = parts.next_field().await.map_err(refused)? {
            count += 1;
            if count > PARTS_MAX {
                let text = format!("must have at most {PARTS_MAX} fields");
                return Err(FieldErrors::of("body", text).into());
            }
            if part.name() == Some(FILE) {
                let mut upload = api.blobs.upload();
                while let Some(bytes) = part.chunk().await.map_err(refused)? {
                    if sent.size == 0 && !bytes.is_empty() {
                        memory.grow_to(FORM_BYTES_MAX + UPLOAD_BUFFER_BYTES)?;
                        route.map_or(Ok(()), |of| {
                            api.middleware.admit(caller, of, &mut Vec::new())
                        })?;
                    }
                    sent.size += bytes.len();
                    digest.update(&bytes);
                    upload.write(&bytes).await?;
                }
                // Browsers send an empty one if none was chosen.
                sent.file = (sent.size > 0).then_some(upload);
                continue;
            }
            let name = part.name().unwrap_or_default().to_owned();
            let text = part.text().await.map_err(refused)?;
            if fields.len() + name.len() + text.len() > FORM_BYTES_MAX {
                return Err(BodyReadError::TooLarge(FORM_BYTES_MAX).into());
            }
            let mut pair = form_urlencoded::Serializer::new(String::new());
            fields.push('&');
            fields.push_str(&pair.append_pair(&name, &text).finish());
        }
        Ok::<_, ApiError>(Sent { memory: Some(memory), ..sent })
    };
    let seconds = BODY_SECONDS_MAX + most as u64 / UPLOAD_RATE_MIN;
    let received = timeout(Duration::from_secs(seconds), receiving).await;
    // Also of a form that is refused.
    visit.entered = Entered::parse(fields.as_bytes());
    // The same fields with another file are another form.
    let digest = HEXLOWER.encode(&digest.finalize());
    visit.sent = format!("{fields}&{FILE}={digest}").into();
    received.map_err(|_| BodyReadError::TooSlow(seconds))?
}

impl Sent {
    /// Stores the file, if there is one, as a picture.
    pub(super) async fn picture(&mut self, api: &Api) -> Result<Option<PromptImage>, ApiError> {
        let Some(mut file) = self.file.take() else { return Ok(None) };
        let refused = || FieldErrors::of(FILE, NO_PICTURE);
        let examined = file.read(|file| examine(file, OutputKind::Image, None)).await?;
        let (media, width, height) = examined.map_err(|_| refused())?;
        if TYPES.iter().all(|(_, known)| *known != media) {
            return Err(refused().into());
        }
        let name = AssetName::random(media);
        if !file.finish(&name).await? {
            return Err(ApiError::SlotUsed);
        }
        let (source, created_at) = (ImageRef::Asset(name), api.clock.now());
        Ok(Some(PromptImage { source, width, height, created_at }))
    }
}

/// A field for a picture. The fields before it are read first.
pub(super) fn picture_field() -> Field {
    let types = TYPES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(",");
    let most = PICTURE_BYTES_MAX >> 20;
    let help =
        format!("PNG, JPEG, WebP or GIF, at most {most} MiB. You can drop or paste one here.");
    Field::new(FILE, "Add a picture", Input::File(types)).help(help)
}
