//! Named bugs in how records and answers are written: what serializers of Go, Python and TypeScript
//! leave out, turn into text, or take from another field. Bugs in what is done are in the handlers.

use super::prelude::*;

pub(super) fn without(value: &mut Value, name: &str) {
    if let Some(object) = value.as_object_mut() {
        object.remove(name);
    }
}

pub(super) fn text(value: &mut Value, name: &str) {
    value[name] = json!(value[name].to_string().trim_matches('"'));
}

fn texts(value: &Value) -> Value {
    value.as_array().into_iter().flatten().map(Value::to_string).collect()
}

/// A field as Go leaves it out under `omitempty`.
fn omit_empty(value: &mut Value, name: &str) {
    let is_empty = match &value[name] {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        other => *other == json!(0),
    };
    if is_empty {
        without(value, name);
    }
}

#[rustfmt::skip]
pub(super) fn prompt(store: &Store, prompt: &Prompt, value: &mut Value) {
    let vaults = value["vaultIds"].as_array().cloned().unwrap_or_default().into_iter();
    match store.choices.bug {
        "prompt.vault-ids-ten" => value["vaultIds"] = vaults.take(10).collect(),
        "prompt.vault-ids-times-images" => value["vaultIds"] = vaults.flat_map(|id| vec![id; prompt.images.len().max(1)]).collect(),
        "db.vault-null" if store.memory.copies.contains(&(prompt.id, 0)) => value["vaultIds"] = json!([null]),
        "unset.vault-ids-object" if vaults.len() > 0 && store.memory.removed.iter().any(|old| old.prompt == prompt.id) => value["vaultIds"] = vaults.zip(1..).map(|(id, n)| (n.to_string(), id)).collect(),
        "prompt.id-text" => text(value, "id"),
        "prompt.platform-omitempty" => omit_empty(value, "platform"),
        "prompt.platform-empty" => value["platform"] = json!([]),
        "prompt.images-omitempty" => omit_empty(value, "images"),
        "prompt.images-null" => if prompt.images.is_empty() { value["images"] = Value::Null },
        "prompt.vault-ids-null" => if value["vaultIds"] == json!([]) { value["vaultIds"] = Value::Null },
        "prompt.vault-ids-texts" => value["vaultIds"] = texts(&value["vaultIds"]),
        "prompt.vault-ids-one" => value["vaultIds"] = vaults.take(1).collect(),
        "prompt.created-epoch" => value["createdAt"] = json!(prompt.created / 1000),
        "prompt.created-rfc-1123" => value["createdAt"] = json!("Sat, 01 Mar 2025 09:30:00 GMT"),
        "prompt.created-with-space" => value["createdAt"] = json!("2025-03-01 09:30:00"),
        "prompt.updated-missing" => without(value, "updatedAt"),
        "prompt.updated-null-at-first" => if prompt.updated <= prompt.created + 1 { value["updatedAt"] = Value::Null },
        "prompt.shows-model" => value["modelId"] = json!(prompt.model),
        "prompt.shows-references" => value["referenceMediaUrls"] = json!(prompt.references),
        "prompt.shows-image-url" => value["imageUrl"] = json!(prompt.image),
        "prompt.shows-ratio" => value["aspectRatio"] = json!(prompt.aspect_ratio),
        "prompt.shows-pin" => value["isPinned"] = json!(false),
        "prompt.shows-membership" => value["vaultPromptId"] = Value::Null,
        "prompt.status-null" => value["status"] = Value::Null,
        "prompt.status-missing" => without(value, "status"),
        "prompt.type-capitals" => value["promptType"] = json!(prompt.kind.to_uppercase()),
        "prompt.type-number" => value["promptType"] = json!(1),
        "prompt.snake-case" => { value["prompt_type"] = json!(prompt.kind); without(value, "promptType") }
        "prompt.text-missing" => without(value, "prompt"),
        "prompt.title-escaped" => value["title"] = json!(prompt.title.replace('<', "&lt;").replace('"', "&quot;")),
        "prompt.text-cut" => value["prompt"] = json!(prompt.text.chars().take(10_000).collect::<String>()),
        "prompt.text-cut-at-nul" => value["prompt"] = json!(prompt.text.split('\0').next()),
        "prompt.text-newlines" => value["prompt"] = json!(prompt.text.replace("\r\n", "\n")),
        "prompt.text-three-bytes" => value["title"] = json!(prompt.title.replace(|c: char| c.len_utf8() > 3, "?")),
        "prompt.text-latin" => value["prompt"] = json!(prompt.text.replace(|c: char| !c.is_ascii() && u32::from(c) > 255, "?")),
        "text.nfc" => value["title"] = json!(prompt.title.replace("e\u{301}", "\u{e9}").replace("a\u{308}", "\u{e4}").replace("o\u{308}", "\u{f6}").replace("n\u{303}", "\u{f1}")),
        "text.unescaped" => value["title"] = json!(prompt.title.replace("&lt;", "<").replace("&amp;", "&")),
        "text.numbers" => if let Ok(number) = prompt.title.parse::<f64>() { value["title"] = json!(number) },
        "text.dates" => if prompt.title.len() == 10 && prompt.title.starts_with("20") && prompt.title.matches('-').count() == 2 { value["title"] = json!(format!("{}T00:00:00.000Z", prompt.title)) },
        "late.title-tags" => value["title"] = json!(prompt.title.replace("<b>", "").replace("</b>", "")),
        "late.text-line-ends" => value["prompt"] = json!(prompt.text.replace(" \n", "\n")),
        "late.text-tabs" => value["prompt"] = json!(prompt.text.replace('\t', "    ")),
        "late.text-spaces" => value["prompt"] = json!(prompt.text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")),
        "late.text-backslashes" => value["prompt"] = json!(prompt.text.replace('\\', "\\\\")),
        "late.text-variables" => value["prompt"] = json!(prompt.text.split("{{").next()),
        "late.text-quotes" => value["title"] = json!(prompt.title.replace('"', "\u{201d}")),
        "late.text-percent" => value["title"] = json!(prompt.title.replace("%20", " ")),
        "late.text-bidi" => value["title"] = json!(prompt.title.replace('\u{202e}', "")),
        "late.text-joiners" => value["title"] = json!(prompt.title.replace('\u{200d}', "")),
        "late.platform-small" => value["platform"] = json!(prompt.platform.as_ref().map(|text| text.to_lowercase())),
        "late.platform-50" => value["platform"] = json!(prompt.platform.as_ref().map(|text| text.chars().take(12).collect::<String>())),
        "late.title-first-capital" => value["title"] = json!(prompt.title.chars().take(1).flat_map(char::to_uppercase).chain(prompt.title.chars().skip(1)).collect::<String>()),
        "late.updated-is-created" => value["updatedAt"] = value["createdAt"].clone(),
        "late.created-is-updated" => value["createdAt"] = value["updatedAt"].clone(),
        "late.vault-ids-twice" => value["vaultIds"] = vaults.flat_map(|id| [id.clone(), id]).collect(),
        "late.vault-ids-objects" => value["vaultIds"] = vaults.map(|id| json!({ "id": id })).collect(),
        "late.images-one" => value["images"] = value["images"].as_array().into_iter().flatten().take(1).cloned().collect(),
        "job.output-vault-ids-empty" => if !prompt.images.is_empty() { value["vaultIds"] = json!([]) },
        "job.output-no-updated" => if !prompt.images.is_empty() { value["updatedAt"] = Value::Null },
        "image.width-text" => for image in value["images"].as_array_mut().into_iter().flatten() { text(image, "width") },
        "image.created-missing" => for image in value["images"].as_array_mut().into_iter().flatten() { without(image, "createdAt") },
        "image.url-null" => for image in value["images"].as_array_mut().into_iter().flatten() { image["url"] = Value::Null },
        "image.size-zero" => for image in value["images"].as_array_mut().into_iter().flatten() { without(image, "height") },
        "image.texts" => value["images"] = value["images"].as_array().into_iter().flatten().map(|image| image["url"].clone()).collect(),
        _ => {}
    }
}

#[rustfmt::skip]
pub(super) fn member(choices: &Choices, value: &mut Value) {
    match choices.bug {
        "member.pinned-number" => value["isPinned"] = json!(i32::from(value["isPinned"] == true)),
        "member.pinned-omitempty" => omit_empty(value, "isPinned"),
        "job.output-pin-null" => if value["images"] != json!([]) { value["isPinned"] = Value::Null },
        "member.pinned-always-false" => value["isPinned"] = json!(false),
        "member.id-missing" => without(value, "vaultPromptId"),
        "member.id-of-prompt" => value["vaultPromptId"] = value["id"].clone(),
        "member.id-exchanged" => value["id"] = value["vaultPromptId"].clone(),
        "member.id-text" => text(value, "vaultPromptId"),
        "member.prompt-nested" => *value = json!({ "vaultPromptId": value["vaultPromptId"], "isPinned": value["isPinned"], "prompt": value }),
        "member.no-images" => without(value, "images"),
        "member.no-vault-ids" => without(value, "vaultIds"),
        _ => {}
    }
}

#[rustfmt::skip]
pub(super) fn vault(store: &Store, vault: &Vault, value: &mut Value) {
    match store.choices.bug {
        "vault.count-times-images" => {
            let held = store.held_by(vault.id);
            let prompts = store.prompts.iter().filter(|one| held.contains(&one.id));
            value["promptCount"] = json!(prompts.map(|one| one.images.len().max(1)).sum::<usize>());
        }
        "vault.id-text" => text(value, "id"),
        "late.vault-slug-random" => value["slug"] = json!("a/b"),
        "late.vault-unlisted-is-private" => if vault.visibility == "unlisted" { value["visibility"] = json!("private") },
        "late.vault-description-trimmed" => value["description"] = json!(vault.description.as_ref().map(|text| text.chars().take(10).collect::<String>())),
        "late.vault-name-escaped" => value["name"] = json!(vault.name.replace('&', "&amp;")),
        "late.vault-system-by-name" => value["isSystem"] = json!(vault.is_system || vault.name.contains("vault")),
        "late.vault-created-day" => value["createdAt"] = json!("2025-03-01"),
        "db.description-four-bytes" => value["description"] = json!(vault.description.as_ref().map(|text| text.split(|c: char| c.len_utf8() > 3).next().unwrap_or_default().to_owned())),
        "db.name-four-bytes" => value["name"] = json!(vault.name.replace(|c: char| c.len_utf8() > 3, "?")),
        "vault.count-text" => text(value, "promptCount"),
        "vault.count-omitempty" => omit_empty(value, "promptCount"),
        "vault.count-missing" => without(value, "promptCount"),
        "vault.count-zero" => value["promptCount"] = json!(0),
        "vault.slug-name" => value["slug"] = json!(vault.name),
        "vault.slug-missing" => without(value, "slug"),
        "vault.slug-empty" => value["slug"] = json!(""),
        "vault.description-omitempty" => omit_empty(value, "description"),
        "vault.description-null-text" => if vault.description.is_none() { value["description"] = json!("null") },
        "vault.visibility-capitals" => value["visibility"] = json!(vault.visibility.to_uppercase()),
        "vault.visibility-is-public" => value["visibility"] = json!(vault.visibility == "public"),
        "vault.access-missing" => without(value, "accessType"),
        "vault.access-number" => value["accessType"] = json!(0),
        "vault.locked-number" => value["isLocked"] = json!(0),
        "vault.locked-null" => value["isLocked"] = Value::Null,
        "vault.system-number" => value["isSystem"] = json!(i32::from(vault.is_system)),
        "vault.system-omitempty" => omit_empty(value, "isSystem"),
        "vault.system-always" => value["isSystem"] = json!(true),
        "vault.system-never" => value["isSystem"] = json!(false),
        "vault.cover-missing" => without(value, "coverImageUrl"),
        "vault.cover-false" => value["coverImageUrl"] = json!(false),
        "vault.created-epoch" => value["createdAt"] = json!(vault.created),
        "vault.updated-missing" => without(value, "updatedAt"),
        "vault.updated-zero" => value["updatedAt"] = json!("0001-01-01"),
        "vault.name-trimmed-to-30" => value["name"] = json!(vault.name.chars().take(30).collect::<String>()),
        "vault.name-title-case" => value["name"] = json!(vault.name.to_lowercase()),
        _ => {}
    }
}

#[rustfmt::skip]
pub(super) fn answer(call: &Call, answer: &mut Answer) {
    let path = &*call.request.path;
    let ends = |end: &str| path.ends_with(end);
    let data = &mut answer.data;
    match (call.choices.bug, call.request.method.as_str()) {
        ("status.create-prompt-200", "POST") if ends("/v1/prompts") => answer.status = 200,
        ("status.create-vault-200", "POST") if ends("/v1/vaults") => answer.status = 200,
        ("status.create-vault-id-only", "POST") if ends("/v1/vaults") => *data = json!({ "id": data["id"] }),
        ("status.create-prompt-no-dates", "POST") if ends("/v1/prompts") => without(data, "updatedAt"),
        ("status.fork-200", "POST") if ends("/fork") => answer.status = 200,
        ("status.fork-202", "POST") if ends("/fork") => answer.status = 202,
        ("status.add-200", "POST") if path.contains("/vaults/") && ends("/prompts") => answer.status = 200,
        ("status.save-201", "POST") if ends("/save") => answer.status = 201,
        ("status.move-201", "POST") if ends("/move") => answer.status = 201,
        ("status.pin-201", "POST") if ends("/pin") => answer.status = 201,
        ("status.unpin-204", "DELETE") if ends("/pin") => answer.status = 202,
        ("status.generate-200", "POST") if ends("/generations") => answer.status = 200,
        ("status.generate-201", "POST") if ends("/generations") => answer.status = 201,
        ("status.slot-200", "POST") if ends("/images") => answer.status = 200,
        ("status.delete-202", "DELETE") => answer.status = 202,
        ("status.update-202", "PATCH") => answer.status = 202,
        ("status.update-null", "PATCH") => *data = Value::Null,
        ("status.update-id-only", "PATCH") => *data = json!({ "id": data["id"] }),
        ("deleted.no-flag", "DELETE") => without(data, "deleted"),
        ("deleted.flag-text", "DELETE") if data["deleted"] == true => data["deleted"] = json!("true"),
        ("deleted.id-text", "DELETE") if data["id"].is_number() => text(data, "id"),
        ("deleted.whole-list", "DELETE") if data["deleted"] == true => *data = json!([data]),
        ("removed.no-flag", "DELETE") => without(data, "removed"),
        ("removed.id-name", "DELETE") if data["removed"] == true => *data = json!({ "id": data["vaultPromptId"], "removed": true }),
        ("added.ids", "POST") if data["added"].is_number() => data["added"] = json!([]),
        ("added.no-vault", "POST") if data["added"].is_number() => without(data, "vaultId"),
        ("added.no-count", "POST") if data["added"].is_number() => without(data, "promptCount"),
        ("added.count-old", "POST") if data["added"].is_number() => data["promptCount"] = json!(data["promptCount"].as_i64().unwrap_or(1) - 1),
        ("moved.no-prompt", "POST") if ends("/move") => without(data, "promptId"),
        ("moved.no-source", "POST") if ends("/move") => without(data, "sourceVaultId"),
        ("moved.exchanged", "POST") if ends("/move") => *data = json!({ "promptId": data["promptId"], "sourceVaultId": data["targetVaultId"], "targetVaultId": data["sourceVaultId"], "vaultPromptId": data["vaultPromptId"] }),
        ("moved.old-member", "POST") if ends("/move") => data["vaultPromptId"] = json!(path.rsplit('/').nth(1).and_then(|id| id.parse::<i64>().ok())),
        ("moved.prompt-is-member", "POST") if ends("/move") => data["promptId"] = data["vaultPromptId"].clone(),
        ("moved.texts", "POST") if ends("/move") => text(data, "promptId"),
        ("pinned.flag-missing", _) if ends("/pin") => without(data, "isPinned"),
        ("pinned.always-true", "DELETE") if ends("/pin") => data["isPinned"] = json!(true),
        ("pinned.no-id", _) if ends("/pin") => without(data, "vaultPromptId"),
        ("job.no-success", "POST") if ends("/generations") => without(data, "success"),
        ("job.success-text", "POST") if ends("/generations") => data["success"] = json!("queued"),
        ("job.no-provider-id", "POST") if ends("/generations") => without(data, "providerRequestId"),
        ("job.provider-id-number", "POST") if ends("/generations") => data["providerRequestId"] = json!(17),
        ("job.no-status-url", "POST") if ends("/generations") => without(data, "statusUrl"),
        ("job.status-url-relative", "POST") if ends("/generations") => data["statusUrl"] = json!(format!("/api/v1/generations/{}/status", data["clientJobId"].as_str().unwrap_or_default())),
        ("job.status-url-of-provider", "POST") if ends("/generations") => data["statusUrl"] = json!(data["statusUrl"].as_str().unwrap_or_default().replace(data["clientJobId"].as_str().unwrap_or("-"), data["providerRequestId"].as_str().unwrap_or_default())),
        ("job.id-of-provider", "POST") if ends("/generations") => data["clientJobId"] = data["providerRequestId"].clone(),
        ("job.media-in-answer", "POST") if ends("/generations") => data["images"] = json!([{ "url": "https://cdn.example/a.png" }]),
        ("slot.expires-3600", "POST") if ends("/images") => data["expiresIn"] = json!(3600),
        ("slot.expires-text", "POST") if ends("/images") => data["expiresIn"] = json!("7200"),
        ("slot.expires-date", "POST") if ends("/images") => data["expiresIn"] = json!("2026-01-01T00:00:00Z"),
        ("slot.size-text", "POST") if ends("/images") => text(data, "size"),
        ("slot.no-size", "POST") if ends("/images") => without(data, "size"),
        ("slot.no-type", "POST") if ends("/images") => without(data, "contentType"),
        ("slot.type-jpg", "POST") if ends("/images") => data["contentType"] = json!("image/png"),
        ("slot.no-path", "POST") if ends("/images") => without(data, "path"),
        ("slot.no-token", "POST") if ends("/images") => without(data, "token"),
        ("slot.url-is-upload-url", "POST") if ends("/images") => data["url"] = data["uploadUrl"].clone(),
        ("slot.url-relative", "POST") if ends("/images") => data["url"] = json!("/assets/a.png"),
        ("late.list-preview", "GET") if ends("/v1/prompts") => for one in data.as_array_mut().into_iter().flatten() { one["prompt"] = json!(one["prompt"].as_str().map(|text| text.chars().take(20).collect::<String>())) },
        ("late.list-no-images", "GET") if ends("/v1/prompts") => for one in data.as_array_mut().into_iter().flatten() { without(one, "images") },
        ("late.list-no-vault-ids", "GET") if ends("/v1/prompts") => for one in data.as_array_mut().into_iter().flatten() { one["vaultIds"] = json!([]) },
        ("late.contents-short", "GET") if path.contains("/vaults/") && ends("/prompts") => for one in data.as_array_mut().into_iter().flatten() { without(one, "platform") },
        ("late.create-null", "POST") if ends("/v1/prompts") => *data = Value::Null,
        ("late.create-no-vault-ids", "POST") if ends("/v1/prompts") => data["vaultIds"] = json!([]),
        ("late.save-null", "POST") if ends("/save") => *data = json!({ "saved": true }),
        ("late.fork-source", "POST") if ends("/fork") => data["id"] = json!(path.rsplit('/').nth(1).and_then(|id| id.parse::<i64>().ok())),
        ("late.pin-whole", "POST") if ends("/pin") => *data = json!({ "membership": data }),
        ("late.vault-count-in-read", "GET") if data["promptCount"].is_number() => data["promptCount"] = json!(data["promptCount"].as_i64().unwrap_or(0).min(2)),
        ("list.object", "GET") if data.is_array() => *data = json!({ "items": data }),
        ("list.null-when-empty", "GET") if *data == json!([]) => *data = Value::Null,
        ("read.in-a-list", "GET") if data.is_object() => *data = json!([data]),
        ("read.key-shown", _) if data.is_object() => data["apiKey"] = json!(call.request.authorization.as_deref().and_then(|key| key.rsplit('_').next())),
        _ => {}
    }
}

#[rustfmt::skip]
pub(super) fn success(choices: &Choices, body: &mut Value) {
    match choices.bug {
        "envelope.no-error" => without(body, "error"),
        "envelope.error-empty" => body["error"] = json!(""),
        "envelope.error-false" => body["error"] = json!(false),
        "envelope.error-success" => body["error"] = json!({ "code": 0 }),
        "envelope.bare" => *body = body["data"].take(),
        "envelope.result" => { body["result"] = body["data"].take(); without(body, "data") }
        "page.missing" => without(body, "pagination"),
        "page.omitempty" => if body["pagination"]["nextCursor"].is_null() && body["pagination"].is_object() { without(&mut body["pagination"], "nextCursor") },
        "page.empty-at-end" => if body["pagination"].is_object() && body["pagination"]["nextCursor"].is_null() { body["pagination"]["nextCursor"] = json!("") },
        "page.false-at-end" => if body["pagination"].is_object() && body["pagination"]["nextCursor"].is_null() { body["pagination"]["nextCursor"] = json!(false) },
        "page.null-at-end" => if body["pagination"].is_object() && body["pagination"]["nextCursor"].is_null() { body["pagination"] = Value::Null },
        "page.missing-if-empty" => if body["data"] == json!([]) { without(body, "pagination") },
        "envelope.queued-error-empty" => if body["data"]["statusUrl"].is_string() { body["error"] = json!("") },
        "envelope.slot-no-error" => if body["data"]["uploadUrl"].is_string() { without(body, "error") },
        "envelope.status-error-text" => if body["data"]["state"].is_string() { body["error"] = json!("none") },
        "page.snake-case" => if body["pagination"].is_object() { let next = body["pagination"]["nextCursor"].take(); body["pagination"] = json!({ "next_cursor": next }) },
        "page.beside" => { let next = body["pagination"]["nextCursor"].take(); body["nextCursor"] = next; without(body, "pagination") }
        _ => {}
    }
}

#[rustfmt::skip]
pub(super) fn refusal(choices: &Choices, status: &mut u16, body: &mut Value) {
    match (choices.bug, *status) {
        ("error.several-details-list" | "error.member-details-null" | "error.query-details-null" | "error.reference-details-null", _) if body["error"] == "!" => body["details"] = if choices.bug == "error.several-details-list" { json!([]) } else { Value::Null },
        ("error.fork-plain" | "error.job-plain" | "error.keys-plain" | "error.type-plain" | "error.path-id-plain", _) if body["error"] == "!" => *body = json!("Error"),
        ("error.scope-no-details", _) if body["error"] == "!" => without(body, "details"),
        ("error.revoked-no-details", 401) if body["error"] == "Revoked key" => without(body, "details"),
        ("error.generate-object", _) if body["error"] == "!" => body["error"] = json!({ "message": "Bad value" }),
        ("error.upload-details-null", _) if body["error"] == "!" => body["details"] = Value::Null,
        ("error.broken-details-list", 422) if body["error"] == "No JSON object" => body["details"] = json!([]),
        ("error.broken-no-details", 422) if body["error"] == "No JSON object" => without(body, "details"),
        ("error.broken-plain", 422) if body["error"] == "No JSON object" => *body = json!("Unexpected token"),
        ("error.nil-map", 401 | 404) => body["details"] = Value::Null,
        ("error.php-details", 401 | 404) => body["details"] = json!([]),
        ("error.null-404", 404) => body["error"] = Value::Null,
        ("error.null-401", 401) => body["error"] = Value::Null,
        ("error.list-on-404", 404) => body["data"] = json!([]),
        ("late.401-no-details", 401) => without(body, "details"),
        ("late.404-no-details", 404) => without(body, "details"),
        ("late.400-error-list", 400) => body["error"] = json!(["title is required"]),
        ("late.400-data-echo", 400) => body["data"] = json!({ "received": true }),
        ("late.404-message", 404) => *body = json!({ "data": null, "message": "Not found", "details": {} }),
        ("error.number", _) => body["error"] = json!(*status),
        ("error.plain-400", 400) => *body = json!("title is required"),
        ("error.no-data", _) => without(body, "data"),
        ("error.data-object", _) => body["data"] = json!({}),
        ("error.object", _) => body["error"] = json!({ "message": body["error"] }),
        ("error.empty", _) => body["error"] = json!(""),
        ("error.true", _) => body["error"] = json!(true),
        ("error.no-details", _) => without(body, "details"),
        ("error.details-null", _) => body["details"] = Value::Null,
        ("error.details-list", _) => body["details"] = json!([]),
        ("error.details-text", 400) => body["details"] = json!("title is required"),
        ("error.fastapi", 400) => { *status = 422; *body = json!({ "detail": [{ "loc": ["body", "title"], "msg": "field required" }] }) }
        ("error.fastapi-404", 404) => *body = json!({ "detail": "Not Found" }),
        ("error.problem", _) => *body = json!({ "type": "about:blank", "title": "Bad Request", "status": *status }),
        ("error.spring", 404) => *body = json!({ "timestamp": 1, "status": 404, "error": "Not Found", "path": "/" }),
        ("error.validation-302", 400) => *status = 302,
        ("error.validation-422", 400) => *status = 422,
        ("error.validation-500", 400) => *status = 500,
        ("error.validation-200", 400) => *status = 200,
        ("error.unauthorized-403", 401) => *status = 403,
        ("error.unauthorized-400", 401) => *status = 400,
        ("error.unauthorized-plain", 401) => *body = json!("Unauthorized"),
        ("error.not-found-400", 404) => *status = 400,
        ("error.not-found-200", 404) => { *status = 200; *body = json!({ "data": null, "error": null }) }
        ("error.not-found-204", 404) => *status = 410,
        ("error.not-found-500", 404) => *status = 500,
        _ => {}
    }
}
