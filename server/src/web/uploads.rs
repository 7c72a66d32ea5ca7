//! Files that a person sends from a page, and the page to upload pictures.
//!
//! A file goes through a temporary file to the store, so it takes little memory. Its bytes decide
//! what it is.

use std::time::Duration;

use http_body_util::BodyExt;
use maud::html;
use multer::{Constraints, Multipart, SizeLimit, parse_boundary};
use promptarium::{PromptId, limits};
use tokio::time::timeout;
use url::form_urlencoded;

use super::forms::{Entered, Field, Form, Input};
use super::layout::done_address;
use super::parts::titled;
use super::prompts::vault_field;
use super::visit::Visit;
use crate::api::files::TYPES;
use crate::api::prompts::{FIELDS, new_prompt};
use crate::api::{Api, HandlerResult};
use crate::blobs::Upload;
use crate::domain::{AssetName, ImageRef, OutputKind, PromptImage};
use crate::generate::media::examine;
use crate::http::body::{BodyReadError, content_type};
use crate::http::error::ApiError;
use crate::http::validate::{FieldErrors, form_fields};
use crate::limits::{BODY_SECONDS_MAX, FORM_BYTES_MAX, UPLOAD_BUFFER_BYTES, UPLOAD_RATE_MIN};
use crate::quota::Permit;

/// The name of the control for a file.
pub(super) const FILE: &str = "file";
const NO_PICTURE: &str = "must be a PNG, JPEG, WebP or GIF picture";

/// The file of a form.
pub(super) struct Sent {
    /// If one was chosen.
    pub(super) file: Option<Upload>,
    /// Its bytes.
    pub(super) size: usize,
    /// For the buffer of the file.
    pub(super) memory: Permit,
}

/// Reads a form with a file of at most `most` bytes. Its other fields become those of the visit.
pub(super) async fn receive(visit: &mut Visit<'_>, most: usize) -> Result<Sent, ApiError> {
    let request = &mut visit.request;
    let given = content_type(&request.parts.headers).and_then(|of| std::str::from_utf8(of).ok());
    let boundary = given.and_then(|of| parse_boundary(of).ok());
    let boundary = boundary.ok_or(BodyReadError::OtherType("multipart/form-data"))?;
    let memory = request.memory.reserve(UPLOAD_BUFFER_BYTES)?;
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
    let mut fields = String::new();
    let receiving = async {
        let mut sent = Sent { file: None, size: 0, memory };
        while let Some(mut part) = parts.next_field().await.map_err(refused)? {
            if part.name() == Some(FILE) {
                let mut upload = visit.api.blobs.upload();
                while let Some(bytes) = part.chunk().await.map_err(refused)? {
                    sent.size += bytes.len();
                    upload.write(&bytes).await?;
                }
                // Browsers send an empty one if none was chosen.
                sent.file = (sent.size > 0).then_some(upload);
                continue;
            }
            let name = part.name().unwrap_or_default().to_owned();
            let text = part.text().await.map_err(refused)?;
            if fields.len() + text.len() > FORM_BYTES_MAX {
                return Err(BodyReadError::TooLarge(FORM_BYTES_MAX).into());
            }
            let mut pair = form_urlencoded::Serializer::new(String::new());
            fields = [&*fields, &pair.append_pair(&name, &text).finish()].join("&");
        }
        Ok::<_, ApiError>(sent)
    };
    let seconds = BODY_SECONDS_MAX + most as u64 / UPLOAD_RATE_MIN;
    let received = timeout(Duration::from_secs(seconds), receiving).await;
    let sent = received.map_err(|_| BodyReadError::TooSlow(seconds))??;
    (visit.entered, visit.sent) = (Entered::parse(fields.as_bytes()), fields.into());
    Ok(sent)
}

/// Stores a picture under a new name.
async fn keep(api: &Api, file: Option<Upload>) -> Result<PromptImage, ApiError> {
    let refused = |text: &str| ApiError::from(FieldErrors::of(FILE, text));
    let mut file = file.ok_or_else(|| refused("is required"))?;
    let examined = file.read(|file| examine(file, OutputKind::Image, None)).await?;
    let (media, width, height) = examined.map_err(|_| refused(NO_PICTURE))?;
    if TYPES.iter().all(|(_, known)| *known != media) {
        return Err(refused(NO_PICTURE));
    }
    let name = AssetName::random(media);
    if !file.finish(&name).await? {
        return Err(ApiError::SlotUsed);
    }
    let (source, created_at) = (ImageRef::Asset(name), api.clock.now());
    Ok(PromptImage { source, width, height, created_at })
}

/// `GET /uploads`: the form for a picture of a new prompt, or of the one that `promptId` names.
pub(crate) async fn show(visit: Visit<'_>) -> HandlerResult {
    form(&visit, visit.entered.clone()).await
}

pub(crate) async fn create(mut visit: Visit<'_>) -> HandlerResult {
    let most = usize::try_from(*limits::UPLOAD_SIZE_BYTES.end()).unwrap_or(usize::MAX);
    let sent = receive(&mut visit, most).await;
    let (api, store, caller) = (visit.api, visit.store(), &visit.caller);
    let uploaded = visit.once(async || {
        let Sent { file, memory: _memory, .. } = sent?;
        let (id, image) = match visit.entered.id::<PromptId>("promptId") {
            Some(id) => {
                // Before the file is stored.
                store.prompt(caller, id).await?;
                (id, keep(api, file).await?)
            }
            None => {
                let mut values = form_fields(&visit.sent, FIELDS);
                if !visit.entered.value("modelId").is_empty() {
                    values.set("promptType", "image");
                }
                let new = values.read(|form| new_prompt(form, api))?;
                let image = keep(api, file).await?;
                (store.create_prompt(caller, new).await?.id, image)
            }
        };
        store.add_image(caller, id, image).await?;
        Ok(done_address(&format!("prompts/{id}"), "uploaded"))
    });
    visit.form(Entered::default(), uploaded, |entered| form(&visit, entered)).await
}

async fn form(visit: &Visit<'_>, entered: Entered) -> HandlerResult {
    let of = match entered.id::<PromptId>("promptId") {
        Some(id) => Some(visit.store().prompt(&visit.caller, id).await?),
        None => None,
    };
    // The fields before the file: they are read first.
    let mut fields = match of {
        Some(_) => vec![Field::hidden("promptId")],
        None => vec![
            Field::new("title", "Title", Input::Line).required(),
            Field::new("prompt", "Prompt", Input::Text(4)).required(),
            Field::new("modelId", "Model", Input::Line)
                .help("With a model the prompt has the type image, without one the type text"),
            vault_field(visit, "Vault", &entered, "None").await?,
        ],
    };
    let types = TYPES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(",");
    let most = *limits::UPLOAD_SIZE_BYTES.end() >> 20;
    let help = format!("PNG, JPEG, WebP or GIF, at most {most} MiB. You can drop one here.");
    fields.push(Field::new(FILE, "Picture", Input::File(types)).required().help(help));
    let content = html! {
        @if let Some(prompt) = &of {
            p { "The picture is added to " strong { (titled(&prompt.title, 100)) } "." }
        }
        (entered.form(&visit.api.site, &Form::new("Upload", fields)))
    };
    Ok(visit.page("prompts", "Upload a picture").response(entered.status(), &content))
}
