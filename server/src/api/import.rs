//! Imports: the document of an export is checked as a whole before it is added to an account.

use std::collections::HashSet;
use std::sync::LazyLock;

use jiff::Timestamp;
use promptarium::{PromptId, limits};
use url::Url;

use super::export::{FORMAT, VERSION};
use super::{prompts, vaults};
use crate::domain::{AccountData, ImageRef, PromptImage, PromptInputs, PromptRecord, VaultRecord};
use crate::http::validate::{
    Field, FieldError, FieldErrors, Form, absolute_url, id, integer, json_fields, list as list_of,
    one_of, text,
};
use crate::limits::product::IMPORT_PROMPTS_MAX;
use crate::limits::{PROMPT_IMAGES_MAX, VAULTS_MAX};

const FIELDS: &[&str] = &["format", "version", "prompts", "vaults"];
/// With those of the API, of which an export has no `vaultId`.
static PROMPT_FIELDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| [prompts::FIELDS, &["id", "images", "createdAt", "updatedAt"]].concat());
static VAULT_FIELDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let more: &[&str] = &["coverImageUrl", "isSystem", "createdAt", "updatedAt", "prompts"];
    [vaults::FIELDS, more].concat()
});

/// A longer list of errors does not help anybody.
const ERROR_CHARS_MAX: usize = 1_000;

/// Checks a whole document.
///
/// # Errors
/// Where it is wrong.
pub(crate) fn parse(document: &[u8]) -> Result<AccountData, String> {
    let mut form = json_fields(document, FIELDS).map_err(|error| format!("the file {error}"))?;
    let format = form.required("format", one_of(FORMAT));
    let version = form.required("version", integer(VERSION..=VERSION));
    if format.and(version).is_none() {
        return form.finish().map(|()| AccountData::default()).map_err(|errors| lines(&errors));
    }
    let prompts = form.required("prompts", list_of(0..=IMPORT_PROMPTS_MAX, prompt));
    let mut prompts = prompts.unwrap_or_default();
    let mut ids = HashSet::with_capacity(prompts.len());
    for (at, (PromptRecord { id, .. }, _)) in prompts.iter().enumerate() {
        if !ids.insert(*id) {
            form.reject("prompts", format!("entry {} has the id {id} of another", at + 1));
        }
    }
    let vaults = form.required("vaults", list_of(0..=VAULTS_MAX, |field| vault(field, &ids)));
    if vaults.iter().flatten().filter(|(vault, _)| vault.system).count() > 1 {
        form.reject("vaults", "has two system vaults".to_owned());
    }
    let vaults = form.finish_with(vaults).map_err(|errors| lines(&errors))?;
    // The file has the newest first.
    prompts.reverse();
    Ok(AccountData { prompts, vaults })
}

fn lines(errors: &FieldErrors) -> String {
    let errors = errors.0.iter().map(|(name, error)| format!("{name}: {error}"));
    let mut text = errors.collect::<Vec<_>>().join("; ");
    if let Some((end, _)) = text.char_indices().nth(ERROR_CHARS_MAX) {
        text.replace_range(end.., "…");
    }
    text
}

/// An entry of a list that is an object with these fields. Exports have `null` for what is absent.
fn entry<T>(
    field: &Field<'_>,
    known: &'static [&'static str],
    read: impl FnOnce(&mut Form<'_>) -> Option<T>,
) -> Result<T, FieldError> {
    let form = json_fields(field.raw().as_bytes(), known)
        .map_err(|errors| errors.0.into_values().collect::<String>())?;
    form.without_nulls().read(read).map_err(|errors| format!("({})", lines(&errors)))
}

fn prompt(field: &Field<'_>) -> Result<(PromptRecord, PromptInputs), FieldError> {
    entry(field, &PROMPT_FIELDS, |form| {
        let id = form.required("id", id);
        form.require("promptType");
        let new = prompts::whole(form, image_ref, text(0..=limits::MODEL_ID_CHARS_MAX));
        let images = form.required("images", list_of(0..=PROMPT_IMAGES_MAX, image));
        let (created_at, updated_at) = times(form)?;
        let (new, images) = (new?, images?.into());
        let record = PromptRecord { images, updated_at, ..new.record(id?, created_at) };
        Some((record, new.inputs))
    })
}

fn image(field: &Field<'_>) -> Result<PromptImage, FieldError> {
    entry(field, &["url", "width", "height", "createdAt"], |form| {
        let source = form.required("url", image_ref);
        let width = form.required("width", integer(1..=u32::MAX));
        let height = form.required("height", integer(1..=u32::MAX));
        let created_at = form.required("createdAt", time)?;
        Some(PromptImage { source: source?, width: width?, height: height?, created_at })
    })
}

fn vault(
    field: &Field<'_>,
    ids: &HashSet<PromptId>,
) -> Result<(VaultRecord, Vec<(PromptId, bool)>), FieldError> {
    entry(field, &VAULT_FIELDS, |form| {
        form.require("visibility");
        let new = vaults::new_vault(form);
        let cover_image = form.optional("coverImageUrl", image_ref);
        let system = form.required("isSystem", boolean);
        let member = |field: &Field<'_>| member(field, ids);
        let members = form.required("prompts", list_of(0..=IMPORT_PROMPTS_MAX, member));
        let mut seen = HashSet::new();
        if members.iter().flatten().any(|(prompt, _)| !seen.insert(*prompt)) {
            form.reject("prompts", "has a prompt twice".to_owned());
        }
        let (created_at, updated_at) = times(form)?;
        let (new, system) = (new?, system?);
        let record = VaultRecord { cover_image, system, updated_at, ..new.record(created_at) };
        Some((record, members?))
    })
}

fn member(field: &Field<'_>, ids: &HashSet<PromptId>) -> Result<(PromptId, bool), FieldError> {
    entry(field, &["id", "isPinned"], |form| {
        let prompt = form.required("id", |field| {
            let id = id(field)?;
            let is_known = ids.contains(&id);
            is_known.then_some(id).ok_or_else(|| format!("names no prompt of the file: {id}"))
        });
        prompt.zip(form.required("isPinned", boolean))
    })
}

/// `createdAt` and `updatedAt`, which is not before.
fn times(form: &mut Form<'_>) -> Option<(Timestamp, Timestamp)> {
    let created = form.required("createdAt", time);
    let updated = form.required("updatedAt", time);
    let (created, updated) = (created?, updated?);
    Some((created, updated.max(created)))
}

fn time(field: &Field<'_>) -> Result<Timestamp, FieldError> {
    let wrong = || "must be a time such as 2026-01-02T03:04:05Z".to_owned();
    let time: Timestamp = text(1..=40)(field)?.parse().map_err(|_| wrong())?;
    // What a database can store.
    let is_stored = (0..=253_402_300_799).contains(&time.as_second());
    is_stored.then_some(time).ok_or_else(wrong)
}

pub(super) fn boolean(field: &Field<'_>) -> Result<bool, FieldError> {
    field.raw().parse().map_err(|_| "must be true or false".to_owned())
}

/// The name of a file of this service, or a URL.
fn image_ref(field: &Field<'_>) -> Result<ImageRef, FieldError> {
    let text = text(1..=limits::URL_CHARS_MAX)(field)?;
    match ImageRef::from(&*text) {
        ImageRef::External(url) if Url::parse(&url).is_err() => {
            Err("must be the name of a file of the service or an absolute URL".to_owned())
        }
        ImageRef::External(_) => absolute_url(field).map(|url| ImageRef::External((*url).into())),
        asset @ ImageRef::Asset(_) => Ok(asset),
    }
}
