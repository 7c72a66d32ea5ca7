//! The endpoints below `/prompts`.

use super::answer::{Answer, Outcome, Refusal, bad, refused};
use super::call::Call;
use super::fields::Fields;
use super::query::{self, ListQuery};
use super::show;
use super::store::{Prompt, Store};

pub(super) const KINDS: &[&str] = &["image", "text", "video"];
const FIELDS: &str = "title prompt promptType platform modelId aspectRatio vaultId imageUrl \
    referenceMediaUrls";

/// `GET /prompts`.
pub(super) fn list(store: &Store, call: &Call) -> Outcome {
    call.may_read()?;
    let query = ListQuery::read(call)?;
    if let Some(vault) = query.vault {
        query::filter(store, call, vault)?;
    }
    let mut found: Vec<_> =
        store.prompts.iter().filter(|each| each.owner == call.account).collect();
    found.retain(|each| query.vault.is_none_or(|vault| store.held(vault, each.id).is_some()));
    found.retain(|each| query.kind.as_ref().is_none_or(|kind| kind == each.kind));
    let (page, next) = query.page(store, found);
    Ok(Answer::page(page.into_iter().map(|each| show::prompt(store, each)).collect(), next))
}

/// `POST /prompts`.
pub(super) fn create(store: &mut Store, call: &Call) -> Outcome {
    let fields = call.fields(FIELDS, Call::may_write)?;
    let title = fields.text("title", 120)?.ok_or_else(|| bad("title", "missing"))?;
    let text = fields.text("prompt", 15_000)?.ok_or_else(|| bad("prompt", "missing"))?;
    let mut prompt = store.new_prompt(call.account, title, text);
    apply(&fields, &mut prompt)?;
    if prompt.kind != "text" && prompt.model.is_none() {
        return Err(bad("modelId", "missing"));
    }
    let mut vault = fields.integer("vaultId")?;
    if let Some(vault) = vault {
        store.open_vault(call.account, vault)?;
    } else if call.choices.records.general_by_default {
        vault = Some(store.general(call.account));
    }
    call.after_all(Call::may_write)?;
    let id = prompt.id;
    store.prompts.push(prompt);
    if let Some(vault) = vault {
        store.enter(vault, id);
    }
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
    let fields = call.fields(FIELDS, Call::may_write)?;
    let mut after = before.clone();
    apply(&fields, &mut after)?;
    if after.kind != before.kind && after.kind != "text" && after.model.is_none() {
        return Err(bad("modelId", "missing"));
    }
    let vault = fields.integer("vaultId")?;
    if let Some(vault) = vault {
        store.open_vault(call.account, vault)?;
    }
    call.after_all(Call::may_write)?;
    let now = store.now();
    if call.choices.records.whole_seconds {
        after.updated = now;
    } else if !same(&before, &after) {
        after.updated = now.max(before.updated + 1);
    }
    *store.prompt(call.account, id)? = after;
    if let Some(vault) = vault.filter(|vault| store.held(*vault, id).is_none()) {
        store.enter(vault, id);
    }
    answer(store, call, id).map(Answer::ok)
}

/// `DELETE /prompts/{promptId}`.
pub(super) fn delete(store: &mut Store, call: &Call, id: i64) -> Outcome {
    call.may_write()?;
    if !store.went_meanwhile(call, id) {
        let images = store.prompt(call.account, id)?.images.clone();
        store.prompts.retain(|prompt| prompt.id != id);
        store.memberships.retain(|held| held.prompt != id);
        store.goes(call, id);
        if call.choices.files.images_go {
            let is_gone = |name: &str| images.iter().any(|image| image.url.contains(name));
            store.files.retain(|file| !is_gone(&file.name));
        }
    }
    Ok(Answer::deleted(call.choices, id))
}

/// `POST /prompts/{promptId}/save`.
pub(super) fn save(store: &mut Store, call: &Call, id: i64) -> Outcome {
    let fields = call.fields("vaultId", Call::may_arrange)?;
    let vault = fields.integer("vaultId")?.ok_or_else(|| bad("vaultId", "missing"))?;
    store.open_vault(call.account, vault)?;
    store.prompt(call.account, id)?;
    call.after_all(Call::may_arrange)?;
    match store.held(vault, id) {
        Some(_) if call.choices.moves.adding_renews => {
            return Err(refused(call.choices.statuses.there_already, "Already there"));
        }
        Some(_) if !call.choices.moves.repeats => {}
        _ => {
            store.enter(vault, id);
        }
    }
    answer(store, call, id).map(Answer::ok)
}

/// Sets what the body brings.
fn apply(fields: &Fields, prompt: &mut Prompt) -> Result<(), Refusal> {
    fields.no_null_platform()?;
    set(&mut prompt.title, fields.text("title", 120)?);
    set(&mut prompt.text, fields.text("prompt", 15_000)?);
    set(&mut prompt.kind, fields.choice("promptType", KINDS)?);
    set(&mut prompt.platform, fields.platform(80)?.map(Some));
    set(&mut prompt.model, fields.model("modelId")?.map(Some));
    set(&mut prompt.aspect_ratio, fields.ratio("aspectRatio", 20)?.map(Some));
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
