//! The endpoints below `/prompts`. Which handler is of which is in `call`.

use super::prelude::*;
use super::query::{self, ListQuery};

pub(super) const KINDS: &[&str] = &["image", "text", "video"];
const FIELDS: &str = "title prompt promptType platform modelId aspectRatio vaultId imageUrl \
    referenceMediaUrls";

pub(super) fn list(store: &Store, call: &Call) -> Outcome {
    call.may_read()?;
    let mut query = ListQuery::read(call)?;
    if let Some(vault) = query.vault {
        query::filter(store, call, vault)?;
    }
    let owner = query.owner(call);
    let mut found: Vec<_> = store.prompts.iter().filter(|each| each.owner == owner).collect();
    let (vault, is_typed) = (query.vault, query.kind.is_some());
    let is_in = |vault: Option<i64>, each: &Prompt| {
        vault.is_none_or(|vault| store.held(vault, each.id).is_some())
    };
    let in_vault =
        || store.memberships.iter().filter(|held| vault.is_none_or(|it| it == held.vault));
    let mut after_limit = None;
    match call.bug {
        "list.other-accounts" | "page.account-after" => found = store.prompts.iter().collect(),
        "list.only-in-vaults" => found.retain(|each| !store.holders(each.id).is_empty()),
        "list.row-per-vault" => {
            let of = |id| found.iter().find(|each| each.id == id).copied();
            found = in_vault().filter_map(|held| of(held.prompt)).collect();
        }
        "list.vault-ignored" => query.vault = None,
        "list.vault-ignored-with-type" if is_typed => query.vault = None,
        "list.type-ignored" => query.kind = None,
        "list.type-ignored-with-vault" if vault.is_some() => query.kind = None,
        "list.vault-or-type" if vault.is_some() && is_typed => {
            let kind = query.kind.take();
            found.retain(|each| is_in(vault, each) || kind.as_deref() == Some(each.kind));
            query.vault = None;
        }
        "list.vault-of-first" if query.vault.take().is_some() => {
            found.retain(|each| store.holders(each.id).first() == vault.as_ref())
        }
        "list.pinned-only" if vault.is_some() => {
            let is_pinned = |id| in_vault().any(|held| held.prompt == id && held.pinned.is_some());
            found.retain(|each| !is_pinned(each.id));
        }
        "list.no-generated" if vault.is_none() => found.retain(|each| each.images.is_empty()),
        "job.output-not-in-type" if is_typed => found.retain(|each| each.images.is_empty()),
        "job.output-not-in-filter" if vault.is_some() => {
            found.retain(|each| each.images.is_empty())
        }
        "list.vault-not-forks" => {
            found.retain(|_| store.memory.copies.iter().all(|copy| Some(copy.1) != vault))
        }
        "list.no-copies" => {
            found.retain(|each| store.memory.copies.iter().all(|copy| copy.1 != each.id))
        }
        "list.vault-after-limit" => after_limit = query.vault.take(),
        _ => {}
    }
    found.retain(|each| is_in(query.vault, each));
    found.retain(|each| query.kind.as_ref().is_none_or(|kind| kind == each.kind));
    let (mut page, next) = query.page(store, found);
    page.retain(|each| is_in(after_limit, each));
    page.retain(|each| !call.bug("page.account-after") || each.owner == call.account);
    Ok(Answer::page(page.into_iter().map(|each| show::prompt(store, each)).collect(), next))
}

pub(super) fn create(store: &mut Store, call: &Call) -> Outcome {
    let fields = call.fields(FIELDS, Call::may_write)?;
    let title = fields.text("title", 120)?.ok_or_else(|| bad("title", "missing"))?;
    let text = fields.text("prompt", 15_000)?.ok_or_else(|| bad("prompt", "missing"))?;
    let mut prompt = store.new_prompt(call.account, title, text);
    apply(&fields, &mut prompt)?;
    match call.bug {
        "create.type-image-by-default" if !fields.has("promptType") => prompt.kind = "image",
        "create.images-of-others" => {
            let old = store.prompts.iter().rev().filter(|old| old.owner == call.account);
            prompt.images = old.flat_map(|old| old.images.clone()).collect();
        }
        "create.type-ignored" => prompt.kind = "text",
        "create.platform-ignored" => prompt.platform = None,
        "create.title-from-text" => prompt.title = prompt.text.chars().take(120).collect(),
        "create.texts-exchanged" => std::mem::swap(&mut prompt.title, &mut prompt.text),
        "create.text-trimmed-lines" => prompt.text = prompt.text.replace("\n", " "),
        "create.title-capital" => prompt.title = prompt.title.to_uppercase(),
        "create.model-not-asked" => set_model(&mut prompt, "studio/a"),
        "create.model-asked-of-images-only" if prompt.kind == "video" => {
            set_model(&mut prompt, "studio/b")
        }
        "create.model-asked-always" if prompt.model.is_none() => return no_model(),
        "create.type-from-model" if prompt.model.is_some() && !fields.has("promptType") => {
            prompt.kind = "image"
        }
        "create.image-shown" if prompt.image.is_some() => prompt.platform = prompt.image.clone(),
        _ => {}
    }
    if prompt.kind != "text" && prompt.model.is_none() {
        return no_model();
    }
    let mut vault = fields.integer("vaultId")?.filter(|vault| match call.bug {
        "create.vault-ignored" => false,
        "create.unknown-vault-ignored" => store.vault(call.account, *vault).is_ok(),
        _ => true,
    });
    if let Some(vault) = vault {
        store.target("tenant.create-foreign", call.account, vault)?;
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

pub(super) fn read(store: &mut Store, call: &Call, id: i64) -> Outcome {
    let prompt = answer(store, call, id)?;
    call.may_read()?;
    Ok(Answer::ok(prompt))
}

pub(super) fn update(store: &mut Store, call: &Call, id: i64) -> Outcome {
    let before = store.prompt(call.account, id)?.clone();
    let fields = call.fields(FIELDS, Call::may_write)?;
    let bug = |name| call.bug(name);
    if bug("patch.in-place") {
        // As a record of an object mapper is changed field by field, and saved by the next query.
        let prompt = store.prompt(call.account, id)?;
        set(&mut prompt.title, fields.text("title", 120)?);
        set(&mut prompt.platform, fields.platform(80)?.map(Some));
    }
    if bug("patch.vault-first")
        && let Some(vault) = fields.integer("vaultId")?
    {
        store.open_vault(call.account, vault)?;
        store.enter(vault, id);
    }
    let mut after = before.clone();
    apply(&fields, &mut after)?;
    patch_bugs(store, call, &fields, (&before, &mut after))?;
    if after.kind != before.kind && after.kind != "text" && after.model.is_none() {
        return no_model();
    }
    let vault = fields.integer("vaultId")?;
    if let Some(vault) = vault {
        store.target("tenant.patch-foreign", call.account, vault)?;
    }
    call.after_all(Call::may_write)?;
    if bug("patch.vault-moves") && vault.is_some() {
        store.leave(|held| held.prompt == id);
    }
    let now = store.now();
    let stays = bug("patch.updated-stays")
        || bug("patch.updated-of-title-only") && before.title == after.title;
    if call.choices.records.whole_seconds {
        after.updated = now;
    } else if before != after && !stays {
        after.updated = now.max(before.updated + 1);
    }
    let old = answer(store, call, id)?;
    match call.bug {
        "patch.not-stored" => return Ok(Answer::ok(show::prompt(store, &after))),
        "patch.new-record" => {
            after.id = store.new_id();
            let new = after.id;
            store.prompts.push(after);
            return answer(store, call, new).map(Answer::ok);
        }
        _ => *store.prompt(call.account, id)? = after,
    }
    let shown = answer(store, call, id)?;
    let vault =
        vault.filter(|vault| !bug("patch.vault-ignored") && store.held(*vault, id).is_none());
    if let Some(vault) = vault {
        store.enter(vault, id);
    }
    let answer = match call.bug {
        "patch.answers-before" => old,
        "patch.answers-old-vaults" => shown,
        _ => answer(store, call, id)?,
    };
    Ok(Answer::ok(answer))
}

/// What an update does besides, or not at all.
fn patch_bugs(
    store: &mut Store,
    call: &Call,
    fields: &Fields,
    (before, after): (&Prompt, &mut Prompt),
) -> Result<(), Refusal> {
    let (id, has) = (before.id, |field| fields.has(field));
    let (new_type, has_title) = (has("promptType"), has("title"));
    let asks_model = new_type && after.kind != "text" && !has("modelId");
    match call.bug {
        "late.patch-unpins" => store.unpin(|held| held.prompt == id),
        "late.patch-readds" => {
            let stamp = store.stamp();
            let held = store.memberships.iter_mut().filter(|held| held.prompt == id);
            held.for_each(|held| held.added = stamp);
        }
        "late.patch-touches-neighbours" => {
            let vaults = store.holders(id).into_iter();
            let near: Vec<_> = vaults.flat_map(|vault| store.held_by(vault)).collect();
            store.change(|one| near.contains(&one.id), |one| one.updated += 5);
        }
        "late.patch-same-type-asks-model" if asks_model && after.kind == before.kind => {
            return no_model();
        }
        "late.patch-vault-drops-model" if has("vaultId") => after.model = None,
        "late.patch-ratio-drops-model" if has("aspectRatio") => after.model = None,
        "late.patch-empty-vaults" if new_type => store.leave(|held| held.prompt == id),
        "late.patch-image-is-first" if has("imageUrl") => after.title = "Image".to_owned(),
        "db.title-same-but-case" if before.title.to_lowercase() == after.title.to_lowercase() => {
            after.title.clone_from(&before.title)
        }
        "patch.references-append" if has("referenceMediaUrls") => {
            after.references.splice(0..0, before.references.clone());
            if after.references.len() > 10 {
                return Err(bad("referenceMediaUrls", "too many"));
            }
        }
        "patch.drops-platform" if !has("platform") => after.platform = None,
        "patch.type-drops-platform" if new_type => after.platform = None,
        "patch.vault-drops-platform" if has("vaultId") => after.platform = None,
        "patch.image-drops-platform" if has("imageUrl") => after.platform = None,
        "patch.drops-type" if !new_type => after.kind = "text",
        "patch.title-drops-type" if has_title && !new_type => after.kind = "text",
        "patch.drops-text" if !has("prompt") => after.text = String::new(),
        "patch.platform-drops-text" if has("platform") => after.text = "(none)".to_owned(),
        "patch.title-in-text" if has_title => after.text = after.title.clone(),
        "patch.model-sets-type" if has("modelId") && !new_type => after.kind = "image",
        "patch.drops-model" if !has("modelId") => after.model = None,
        "patch.text-drops-model" if new_type && after.kind == "text" => after.model = None,
        "patch.title-drops-model" if has_title && !has("modelId") => after.model = None,
        "patch.references-drop-model" if has("referenceMediaUrls") => after.model = None,
        "patch.drops-images" => after.images = Vec::new(),
        "patch.title-drops-images" if has_title => after.images = Vec::new(),
        "patch.text-kept" => after.text.clone_from(&before.text),
        "patch.platform-kept" => after.platform.clone_from(&before.platform),
        "patch.type-kept" => after.kind = before.kind,
        "patch.platform-only-once" => {
            after.platform = before.platform.clone().or(after.platform.take())
        }
        "patch.created-moves" => after.created = store.now() + 1000,
        "patch.title-moves-created" if has_title => after.created = store.now() + 1000,
        "patch.model-asked-again" if asks_model => return no_model(),
        "patch.model-not-asked" => set_model(after, "studio/a"),
        "patch.model-not-asked-of-video" if after.kind == "video" => set_model(after, "studio/b"),
        "patch.model-of-body-ignored"
            if new_type && after.kind != "text" && before.model.is_none() =>
        {
            return no_model();
        }
        "patch.unchanged-404" if before == after && !has("vaultId") => return Err(not_found()),
        "patch.title-asked" if !has_title => return Err(bad("title", "missing")),
        "patch.nothing-400" if FIELDS.split_whitespace().all(|field| !has(field)) => {
            return Err(bad("body", "nothing"));
        }
        "patch.all-prompts" => {
            let set = |one: &mut Prompt| one.platform.clone_from(&after.platform);
            store.change(|one| one.owner == call.account, set);
        }
        "patch.same-title" => {
            store.change(|one| one.title == before.title, |one| one.title.clone_from(&after.title))
        }
        _ => {}
    }
    Ok(())
}

fn set_model(prompt: &mut Prompt, model: &str) {
    prompt.model.get_or_insert_with(|| model.to_owned());
}

fn no_model<T>() -> Result<T, Refusal> {
    Err(bad("modelId", "missing"))
}

pub(super) fn delete(store: &mut Store, call: &Call, id: i64) -> Outcome {
    call.may_write()?;
    let deleted = Ok(Answer::deleted(call.choices, id));
    if call.bug("late.delete-again-200") && store.prompt(call.account, id).is_err() {
        return deleted;
    }
    if !store.went_meanwhile(call, id) {
        let images = store.prompt(call.account, id)?.images.clone();
        let vaults = store.holders(id);
        let mut held = store.memberships.iter().filter(|held| held.prompt == id);
        let pinned = held.any(|held| held.pinned.is_some());
        match call.bug {
            "delete-prompt.not-done" => return deleted,
            "delete-prompt.kept-with-images" if !images.is_empty() => return deleted,
            "asset.goes-with-prompt" => {
                let image = store.prompt(call.account, id)?.image.clone().unwrap_or_default();
                store.files.retain(|file| !image.contains(&file.name));
            }
            "delete-prompt.refused-pinned" if pinned => return refuse(409, "Pinned"),
            "delete-prompt.refused-in-vaults" if !vaults.is_empty() => {
                return refuse(409, "In use");
            }
            "delete-prompt.others-in-vault" => {
                let here: Vec<_> = vaults.iter().flat_map(|vault| store.held_by(*vault)).collect();
                store.prompts.retain(|prompt| !here.contains(&prompt.id) || prompt.id == id);
            }
            "delete-prompt.with-vault" => {
                store.vaults.retain(|vault| vault.is_system || !vaults.contains(&vault.id))
            }
            "delete-prompt.text-only" => {
                store.prompt(call.account, id)?.text = "(deleted)".to_owned();
                return deleted;
            }
            _ => {}
        }
        if call.bug("db.ids-again") {
            store.memory.prompt_ids.push(id);
        }
        if !call.bug("delete-prompt.still-read") {
            store.prompts.retain(|prompt| prompt.id != id);
        }
        if !call.bug("delete-prompt.keeps-memberships") {
            store.leave(|held| held.prompt == id);
        }
        store.goes(call, id);
        if call.choices.files.images_go {
            let is_gone = |name: &str| images.iter().any(|image| image.url.contains(name));
            store.files.retain(|file| !is_gone(&file.name));
        }
    }
    deleted
}

pub(super) fn save(store: &mut Store, call: &Call, id: i64) -> Outcome {
    let fields = call.fields("vaultId", Call::may_arrange)?;
    let vault = fields.integer("vaultId")?.ok_or_else(|| bad("vaultId", "missing"))?;
    store.target("tenant.save-foreign", call.account, vault)?;
    store.prompt(call.account, id)?;
    let before = answer(store, call, id)?;
    match call.bug {
        "save.moves" => store.leave(|held| held.prompt == id),
        "save.copies" => {
            let new = store.copy(call.account, id)?;
            store.enter(vault, new);
            return answer(store, call, new).map(Answer::ok);
        }
        "save.not-done" => return Ok(Answer::ok(before)),
        "save.drops-type" => store.prompt(call.account, id)?.kind = "text",
        _ => {}
    }
    call.after_all(Call::may_arrange)?;
    let is_there = store.held(vault, id).is_some();
    if is_there && call.bug("save.again-500") {
        return refuse(500, "duplicate key value violates unique constraint");
    }
    if is_there && call.choices.moves.adding_renews {
        return refuse(call.choices.statuses.there_already, "Already there");
    }
    if !is_there || call.choices.moves.repeats {
        store.enter(vault, id);
    }
    match call.bug {
        "save.answers-before" => Ok(Answer::ok(before)),
        "save.answers-vault" => super::vaults::answer(store, call.account, vault).map(Answer::ok),
        _ => answer(store, call, id).map(Answer::ok),
    }
}

fn apply(fields: &Fields, prompt: &mut Prompt) -> Result<(), Refusal> {
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

fn answer(store: &mut Store, call: &Call, id: i64) -> Result<serde_json::Value, Refusal> {
    let prompt = store.prompt(call.account, id)?.clone();
    Ok(show::prompt(store, &prompt))
}
