//! The JSON form of records.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::blobs::urls::Assets;
use crate::clock::TIME_PRINTER;
use crate::domain::{ImageRef, ListedPrompt, PromptRecord, SharedPrompt, VaultRecord};
use crate::http::json::{Object, WriteJson, write_array};

/// A timestamp in RFC 3339, UTC, with microseconds (EN-09).
pub(crate) struct Time(pub Timestamp);

/// A record in a response, with the present URLs of its images.
pub(crate) struct View<T>(pub T, pub Assets);

/// A prompt (PR-01 to PR-12).
impl WriteJson for View<SharedPrompt> {
    fn write_json(&self, json: &mut Vec<u8>) {
        let mut object = Object::begin(json);
        write_shown_prompt(&mut object, &self.0, &self.1);
        object.end();
    }
}

/// A prompt in the listing of a vault (VC-04).
impl WriteJson for View<ListedPrompt> {
    fn write_json(&self, json: &mut Vec<u8>) {
        let Self(listed, assets) = self;
        let mut object = Object::begin(json);
        write_shown_prompt(&mut object, &listed.prompt, assets);
        object.value("vaultPromptId", &listed.membership);
        object.value("isPinned", &listed.pinned);
        object.end();
    }
}

fn write_shown_prompt(object: &mut Object<'_>, prompt: &PromptRecord, assets: &Assets) {
    write_prompt_fields(object, prompt, Some(assets));
    object.text("status", "active");
    object.value("vaultIds", &prompt.vault_ids);
}

/// The fields of a prompt that exports have too. Without `assets` an image is as it is stored.
pub(super) fn write_prompt_fields(
    object: &mut Object<'_>,
    prompt: &PromptRecord,
    assets: Option<&Assets>,
) {
    object.value("id", &prompt.id);
    object.text("title", &prompt.title);
    object.text("prompt", &prompt.text);
    object.text("promptType", prompt.kind.as_str());
    object.optional_text("platform", prompt.platform.as_deref());
    write_array(object.field("images"), &prompt.images, |json, image| {
        let mut object = Object::begin(json);
        object.text("url", &text_of(&image.source, assets));
        object.value("width", &image.width);
        object.value("height", &image.height);
        object.time("createdAt", image.created_at);
        object.end();
    });
    object.time("createdAt", prompt.created_at);
    object.time("updatedAt", prompt.updated_at);
}

/// A vault (VA-01 to VA-11).
impl WriteJson for View<VaultRecord> {
    fn write_json(&self, json: &mut Vec<u8>) {
        let Self(vault, assets) = self;
        let mut object = Object::begin(json);
        object.value("id", &vault.id);
        write_vault_fields(&mut object, vault, Some(assets));
        object.text("slug", &vault.slug);
        object.optional_text("accessType", None);
        object.value("isLocked", &false);
        object.value("promptCount", &vault.prompt_count);
        object.end();
    }
}

/// As [`write_prompt_fields`].
pub(super) fn write_vault_fields(
    object: &mut Object<'_>,
    vault: &VaultRecord,
    assets: Option<&Assets>,
) {
    let cover = vault.cover_image.as_ref().map(|image| text_of(image, assets));
    object.text("name", &vault.name);
    object.optional_text("description", vault.description.as_deref());
    object.text("visibility", vault.visibility.as_str());
    object.optional_text("coverImageUrl", cover.as_deref());
    object.value("isSystem", &vault.system);
    object.time("createdAt", vault.created_at);
    object.time("updatedAt", vault.updated_at);
}

fn text_of<'a>(image: &'a ImageRef, assets: Option<&Assets>) -> Cow<'a, str> {
    assets.map_or_else(|| image.to_string().into(), |assets| assets.write(image))
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&TIME_PRINTER.timestamp_to_string(&self.0))
    }
}
