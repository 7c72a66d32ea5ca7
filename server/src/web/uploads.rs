//! Files that a person sends from a page, and the page to upload pictures.
//!
//! A file goes through a temporary file to the store, so it takes little memory. Its bytes decide
//! what it is.

use std::time::Duration;

use http_body_util::BodyExt;
use maud::html;
use multer::{Multipart, parse_boundary};
use promptarium::{PromptId, limits};
use tokio::time::timeout;
use url::form_urlencoded;
use uuid::Uuid;

use super::forms::{Entered, Field, Input};
use super::layout::{Page, UPLOAD, done_address, redirect};
use super::parts::titled;
use super::prompts::{named_vault, vault_choices};
use super::vaults::entered_query;
use crate::api::files::TYPES;
use crate::api::prompts::{FIELDS, new_prompt};
use crate::api::{Api, HandlerResult, Request};
use crate::blobs::{PutError, Upload};
use crate::domain::{AssetName, ImageRef, OutputKind, PromptImage, SessionRecord};
use crate::generate::media::examine;
use crate::http::body::{BodyReadError, content_type};
use crate::http::error::ApiError;
use crate::http::validate::{FieldErrors, form_fields};
use crate::limits::{BODY_SECONDS_MAX, FORM_BYTES_MAX, UPLOAD_BUFFER_BYTES, UPLOAD_RATE_MIN};
use crate::quota::Permit;

/// The name of the control for a file.
const FILE: &str = "file";
const NO_PICTURE: &str = "must be a PNG, JPEG, WebP or GIF picture";

/// A form with a file, as it was sent.
pub(super) struct Sent {
    /// The other fields, encoded as in a form without a file.
    pub(super) fields: String,
    /// If one was chosen.
    pub(super) file: Option<Upload>,
    /// Its bytes.
    pub(super) size: usize,
    /// For the buffer of the file.
    pub(super) memory: Permit,
}

/// Reads a form with a file of at most `most` bytes.
pub(super) async fn receive(
    api: &Api,
    request: &mut Request<'_>,
    most: usize,
) -> Result<Sent, ApiError> {
    let given = content_type(&request.parts.headers).and_then(|of| std::str::from_utf8(of).ok());
    let boundary = given.and_then(|of| parse_boundary(of).ok());
    let boundary = boundary.ok_or(BodyReadError::OtherType("multipart/form-data"))?;
    let memory = request.memory.reserve(UPLOAD_BUFFER_BYTES)?;
    let mut parts = Multipart::new(request.body.into_data_stream(), boundary);
    let broken = |error| ApiError::from(FieldErrors::of("body", format!("is not a form: {error}")));
    let receiving = async {
        let mut sent = Sent { fields: String::new(), file: None, size: 0, memory };
        while let Some(mut part) = parts.next_field().await.map_err(broken)? {
            let name = part.name().unwrap_or_default().to_owned();
            if name == FILE {
                let mut upload = api.blobs.upload();
                while let Some(bytes) = part.chunk().await.map_err(broken)? {
                    sent.size += bytes.len();
                    if sent.size > most {
                        let text = format!("must have at most {} MiB", most >> 20);
                        return Err(FieldErrors::of(FILE, text).into());
                    }
                    upload.write(&bytes).await?;
                }
                // Browsers send an empty one if none was chosen.
                sent.file = (sent.size > 0).then_some(upload);
                continue;
            }
            let mut text = Vec::new();
            while let Some(bytes) = part.chunk().await.map_err(broken)? {
                if sent.fields.len() + text.len() + bytes.len() > FORM_BYTES_MAX {
                    return Err(BodyReadError::TooLarge(FORM_BYTES_MAX).into());
                }
                text.extend_from_slice(&bytes);
            }
            let text = String::from_utf8(text)
                .map_err(|_| FieldErrors::of("body", "is not UTF-8 text"))?;
            let pair =
                form_urlencoded::Serializer::new(String::new()).append_pair(&name, &text).finish();
            sent.fields = [&*sent.fields, &pair].join("&");
        }
        Ok(sent)
    };
    let seconds = BODY_SECONDS_MAX + most as u64 / UPLOAD_RATE_MIN;
    let received = timeout(Duration::from_secs(seconds), receiving).await;
    received.map_err(|_| BodyReadError::TooSlow(seconds))?
}

/// Stores a picture under a new name.
async fn store(api: &Api, file: Option<Upload>) -> Result<PromptImage, ApiError> {
    let refused = |text: &str| ApiError::from(FieldErrors::of(FILE, text));
    let mut file = file.ok_or_else(|| refused("is required"))?;
    let examined = file.read(|file| examine(file, OutputKind::Image, None)).await?;
    let (media, width, height) = examined.map_err(|_| refused(NO_PICTURE))?;
    if TYPES.iter().all(|(_, known)| *known != media) {
        return Err(refused(NO_PICTURE));
    }
    let name = AssetName::random(media);
    file.finish(&name).await.map_err(|error| match error {
        PutError::Failed(error) => ApiError::from(error),
        PutError::Taken => ApiError::SlotUsed,
    })?;
    let (source, created_at) = (ImageRef::Asset(name), api.clock.now());
    Ok(PromptImage { source, width, height, created_at })
}

/// `GET /uploads`: the form for a picture of a new prompt, or of the one that `promptId` names.
pub(crate) async fn show(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    form(api, session, &entered_query(&request)).await
}

/// `POST /uploads`.
pub(crate) async fn create(
    api: &Api,
    session: &SessionRecord,
    mut request: Request<'_>,
) -> HandlerResult {
    let most = usize::try_from(*limits::UPLOAD_SIZE_BYTES.end()).unwrap_or(usize::MAX);
    let Sent { fields, file, memory: _memory, .. } = match receive(api, &mut request, most).await {
        Ok(sent) => sent,
        Err(error) => {
            // Nothing of the form is known that could be shown again.
            return form(api, session, &Entered::refused(b"", error, request.parts)?).await;
        }
    };
    let entered = Entered::parse(fields.as_bytes());
    let work = async || {
        let caller = session.caller();
        let id = match entered.value("promptId").parse().map(PromptId::new) {
            Ok(id) => {
                // Before the file is stored.
                api.store.prompt(&caller, id).await?;
                api.store.add_image(&caller, id, store(api, file).await?).await?;
                id
            }
            Err(_) => {
                let mut values = form_fields(fields.as_bytes(), FIELDS);
                if !entered.value("modelId").is_empty() {
                    values.set("promptType", "image");
                }
                let new = new_prompt(values, api)?;
                let image = store(api, file).await?;
                let id = api.store.create_prompt(&caller, new).await?.id;
                api.store.add_image(&caller, id, image).await?;
                id
            }
        };
        Ok(done_address(&format!("prompts/{id}"), "uploaded"))
    };
    let outcome = match Uuid::parse_str(entered.value("token")) {
        Ok(token) => api.replays.get_or_insert_async(&(session.account, token), work()).await,
        Err(_) => work().await,
    };
    match outcome {
        Ok(page) => redirect(&api.site, &page, None),
        Err(error) => {
            let entered = Entered::refused(fields.as_bytes(), error, request.parts)?;
            form(api, session, &entered).await
        }
    }
}

async fn form(api: &Api, session: &SessionRecord, entered: &Entered<'_>) -> HandlerResult {
    let caller = session.caller();
    let of = match entered.value("promptId").parse().map(PromptId::new) {
        Ok(id) => Some(api.store.prompt(&caller, id).await?),
        Err(_) => None,
    };
    let chosen = named_vault(api, session, entered.value("vaultId")).await.unwrap_or_default();
    let mut vaults = vec![(String::new(), "None".to_owned())];
    vaults.extend(vault_choices(api, session, chosen).await?);
    let fields = [
        Field::new("title", "Title", Input::Line).required(),
        Field::new("prompt", "Prompt", Input::Text { rows: 4 }).required(),
        Field::new("modelId", "Model", Input::Line)
            .help("With a model the prompt has the type image, without one the type text"),
        Field::new("vaultId", "Vault", Input::Select(&vaults)),
    ];
    let labels = fields.iter().map(Field::label).chain([(FILE, "Picture")]).collect::<Vec<_>>();
    let types = TYPES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(",");
    let content = html! {
        (entered.summary(&labels))
        form .fields method="post" enctype="multipart/form-data" data-upload
            action=(api.site.page("uploads")) {
            (entered.token())
            @if let Some(prompt) = &of {
                input type="hidden" name="promptId" value=(prompt.id);
                p .wide { "The picture is added to " strong { (titled(&prompt.title, 100)) } "." }
            }
            // The fields before the file: they are read first.
            @if of.is_none() { @for field in &fields { (entered.field(field)) } }
            div .field.wide {
                label for=(FILE) { "Picture" }
                input id=(FILE) name=(FILE) type="file" accept=(types) required
                    aria-describedby="file-help";
                p #file-help .soft {
                    "PNG, JPEG, WebP or GIF, at most "
                    (*limits::UPLOAD_SIZE_BYTES.end() >> 20) " MiB. You can drop one here."
                }
            }
            progress hidden max="100" aria-label="Progress of the upload" {}
            div .buttons { button .main { "Upload" } }
        }
    };
    let mut page = Page::of(&api.site, session, "prompts", "Upload a picture");
    page.script = Some(UPLOAD);
    Ok(page.response(entered.status(), &content))
}
