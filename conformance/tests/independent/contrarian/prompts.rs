//! The endpoints below `/prompts`.
//!
//! Differs in: the list goes by title (S-01), pages may be shorter than
//! `limit`, and a page that ends the list exactly still has a cursor (PG-03,
//! PG-08); a prompt made without `vaultId` goes into General, and without
//! `platform` is for `any`; `platform: null` and an empty platform are refused
//! (S-09); a `PATCH` that changes nothing leaves `updatedAt`, a change of vaults
//! moves it (S-08); saving to a vault that holds the prompt is 409, naming it in
//! a `PATCH` does nothing (S-26).

use serde_json::json;

use super::answer::{Answer, Outcome, Refusal, bad, refused};
use super::call::Call;
use super::clock::now;
use super::fields::Fields;
use super::query::{ListQuery, cursor};
use super::show;
use super::store::{Prompt, Store};

pub(super) const KINDS: &[&str] = &["image", "text", "video"];
const FIELDS: &[&str] = &[
    "title",
    "prompt",
    "promptType",
    "platform",
    "modelId",
    "aspectRatio",
    "vaultId",
    "imageUrl",
    "referenceMediaUrls",
];

/// `GET /prompts`.
pub(super) fn list(store: &Store, call: &Call) -> Outcome {
    call.may_read()?;
    let query = ListQuery::read(&call.ask.query)?;
    let mut found: Vec<_> =
        store.prompts.iter().filter(|each| each.owner == call.account).collect();
    found.retain(|each| query.vault.is_none_or(|vault| store.holds(vault, each.id)));
    found.retain(|each| query.kind.as_ref().is_none_or(|kind| kind == each.kind));
    found.sort_by(|one, other| (&one.title, one.id).cmp(&(&other.title, other.id)));
    // An odd number of entries, whatever the limit.
    let limit = (query.limit.unwrap_or(20) - 1) | 1;
    let page: Vec<_> = found.iter().skip(query.after).take(limit).collect();
    let next = (page.len() == limit).then(|| cursor(query.after + limit));
    Ok(Answer::page(page.into_iter().map(|each| show::prompt(store, each)).collect(), next))
}

/// `POST /prompts`.
pub(super) fn create(store: &mut Store, call: &Call) -> Outcome {
    call.may_write()?;
    let fields = Fields::read(&call.ask.body, FIELDS)?;
    let now = now();
    let mut prompt = Prompt {
        id: store.new_id(),
        owner: call.account,
        title: fields.text("title", 120)?.ok_or_else(|| bad("title", "missing"))?,
        text: fields.text("prompt", 15_000)?.ok_or_else(|| bad("prompt", "missing"))?,
        kind: "text",
        platform: Some("any".to_owned()),
        model: None,
        aspect_ratio: None,
        image: None,
        references: Vec::new(),
        created: now,
        updated: now + 1,
    };
    apply(&fields, &mut prompt)?;
    if prompt.kind != "text" && prompt.model.is_none() {
        return Err(bad("modelId", "missing"));
    }
    let vault = fields.integer("vaultId")?;
    let general = store.vaults.iter().find(|vault| vault.owner == call.account && vault.is_general);
    let vault = vault.or_else(|| general.map(|general| general.id));
    if let Some(vault) = vault {
        store.open_vault(call.account, vault)?;
        store.enter(vault, prompt.id);
    }
    let id = prompt.id;
    store.prompts.push(prompt);
    answer(store, call, id).map(Answer::created)
}

/// `GET /prompts/{promptId}`.
pub(super) fn read(store: &mut Store, call: &Call, id: i64) -> Outcome {
    let prompt = answer(store, call, id)?;
    call.may_read()?;
    Ok(Answer::ok(prompt))
}

/// `PATCH /prompts/{promptId}`.
pub(super) fn update(store: &mut Store, call: &Call, id: i64) -> Outcome {
    let before = store.prompt(call.account, id)?.clone();
    call.may_write()?;
    let fields = Fields::read(&call.ask.body, FIELDS)?;
    let mut after = before.clone();
    apply(&fields, &mut after)?;
    if after.kind != before.kind && after.kind != "text" && after.model.is_none() {
        return Err(bad("modelId", "missing"));
    }
    let vault = fields.integer("vaultId")?;
    if let Some(vault) = vault {
        store.open_vault(call.account, vault)?;
    }
    if !same(&before, &after) {
        after.updated = now().max(before.updated + 1);
        *store.prompt(call.account, id)? = after;
    }
    if let Some(vault) = vault.filter(|vault| !store.holds(*vault, id)) {
        store.enter(vault, id);
    }
    answer(store, call, id).map(Answer::ok)
}

/// `DELETE /prompts/{promptId}`.
pub(super) fn delete(store: &mut Store, call: &Call, id: i64) -> Outcome {
    store.prompt(call.account, id)?;
    call.may_write()?;
    store.prompts.retain(|prompt| prompt.id != id);
    store.memberships.retain(|held| held.prompt != id);
    Ok(Answer::ok(json!({ "id": id, "deleted": true, "undo": null })))
}

/// `POST /prompts/{promptId}/save`, with any key.
pub(super) fn save(store: &mut Store, call: &Call, id: i64) -> Outcome {
    let fields = Fields::read(&call.ask.body, &["vaultId"])?;
    let vault = fields.integer("vaultId")?.ok_or_else(|| bad("vaultId", "missing"))?;
    store.open_vault(call.account, vault)?;
    store.prompt(call.account, id)?;
    if store.holds(vault, id) {
        return Err(refused(409, "Already there"));
    }
    store.enter(vault, id);
    answer(store, call, id).map(Answer::ok)
}

/// Sets what the body brings.
fn apply(fields: &Fields, prompt: &mut Prompt) -> Result<(), Refusal> {
    if fields.is_null("platform") {
        return Err(bad("platform", "null"));
    }
    set(&mut prompt.title, fields.text("title", 120)?);
    set(&mut prompt.text, fields.text("prompt", 15_000)?);
    set(&mut prompt.kind, fields.choice("promptType", KINDS)?);
    set(&mut prompt.platform, fields.text("platform", 80)?.map(Some));
    set(&mut prompt.model, fields.model("modelId")?.map(Some));
    set(&mut prompt.aspect_ratio, fields.text("aspectRatio", 20)?.map(Some));
    set(&mut prompt.image, fields.address("imageUrl")?.map(Some));
    set(&mut prompt.references, fields.addresses("referenceMediaUrls", 10)?);
    Ok(())
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

fn same(one: &Prompt, other: &Prompt) -> bool {
    (&one.title, &one.text, one.kind, &one.platform, &one.model)
        == (&other.title, &other.text, other.kind, &other.platform, &other.model)
        && (&one.aspect_ratio, &one.image, &one.references)
            == (&other.aspect_ratio, &other.image, &other.references)
}

fn answer(store: &mut Store, call: &Call, id: i64) -> Result<serde_json::Value, Refusal> {
    let prompt = store.prompt(call.account, id)?.clone();
    Ok(show::prompt(store, &prompt))
}
