//! The JSON form of records.

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::clock::TimeText;
use crate::domain::{ListedPrompt, PromptImage, PromptRecord, VaultRecord};
use crate::http::json::{Object, WriteJson, write_number};

/// A timestamp in RFC 3339, UTC, with microseconds (EN-09).
pub(crate) struct Time(pub Timestamp);

/// A prompt (PR-01 to PR-12).
impl WriteJson for PromptRecord {
    fn write_json(&self, json: &mut Vec<u8>) {
        let mut object = Object::begin(json);
        write_prompt_fields(&mut object, self);
        object.end();
    }
}

/// A prompt in the listing of a vault (VC-04).
impl WriteJson for ListedPrompt {
    fn write_json(&self, json: &mut Vec<u8>) {
        let mut object = Object::begin(json);
        write_prompt_fields(&mut object, &self.prompt);
        object.number("vaultPromptId", self.membership.get());
        object.boolean("isPinned", self.pinned);
        object.end();
    }
}

fn write_prompt_fields(object: &mut Object<'_>, prompt: &PromptRecord) {
    object.number("id", prompt.id.get());
    object.text("title", &prompt.title);
    object.text("prompt", &prompt.text);
    object.plain_text("promptType", prompt.kind.as_str());
    object.optional_text("platform", prompt.platform.as_deref());
    object.plain_text("status", "active");
    object.array("images", &prompt.images, |json, image| image.write_json(json));
    object.array("vaultIds", &prompt.vault_ids, |json, id| write_number(json, id.get()));
    object.time("createdAt", prompt.created_at);
    object.time("updatedAt", prompt.updated_at);
}

impl WriteJson for PromptImage {
    fn write_json(&self, json: &mut Vec<u8>) {
        let mut object = Object::begin(json);
        object.text("url", &self.url);
        object.number("width", self.width);
        object.number("height", self.height);
        object.time("createdAt", self.created_at);
        object.end();
    }
}

/// A vault (VA-01 to VA-11).
impl WriteJson for VaultRecord {
    fn write_json(&self, json: &mut Vec<u8>) {
        let mut object = Object::begin(json);
        object.number("id", self.id.get());
        object.text("name", &self.name);
        object.optional_text("description", self.description.as_deref());
        object.text("slug", &self.slug);
        object.plain_text("visibility", self.visibility.as_str());
        object.optional_text("accessType", None);
        object.boolean("isLocked", false);
        object.optional_text("coverImageUrl", self.cover_image_url.as_deref());
        object.boolean("isSystem", self.system);
        object.number("promptCount", self.prompt_count);
        object.time("createdAt", self.created_at);
        object.time("updatedAt", self.updated_at);
        object.end();
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(TimeText::new(self.0).as_str())
    }
}
