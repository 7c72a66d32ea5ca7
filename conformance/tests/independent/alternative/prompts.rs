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
    let mut query = ListQuery::read(call)?;
    if let Some(vault) = query.vault {
        query::filter(store, call, vault)?;
    }
    let mut found: Vec<_> =
        store.prompts.iter().filter(|each| each.owner == query.owner()).collect();
    let bug = |name| call.choices.bug(name);
    if bug("list.other-accounts") || bug("page.account-after") {
        found = store.prompts.iter().collect();
    }
    if bug("list.only-in-vaults") {
        found.retain(|each| !store.holders(each.id).is_empty());
    }
    let of_vault =
        |held: &&super::store::Membership| query.vault.is_none_or(|vault| vault == held.vault);
    if bug("list.row-per-vault") {
        let held = store.memberships.iter().filter(of_vault);
        found = held
            .filter_map(|held| found.iter().find(|each| each.id == held.prompt).copied())
            .collect();
    }
    if bug("list.vault-ignored") || bug("list.vault-ignored-with-type") && query.kind.is_some() {
        query.vault = None;
    }
    if bug("list.type-ignored") || bug("list.type-ignored-with-vault") && query.vault.is_some() {
        query.kind = None;
    }
    if bug("list.vault-or-type") && query.vault.is_some() && query.kind.is_some() {
        found.retain(|each| {
            store.held(query.vault.unwrap_or(0), each.id).is_some()
                || query.kind.as_deref() == Some(each.kind)
        });
        (query.vault, query.kind) = (None, None);
    }
    if bug("list.vault-of-first")
        && let Some(vault) = query.vault.take()
    {
        found.retain(|each| store.holders(each.id).first() == Some(&vault));
    }
    if bug("list.pinned-only")
        && let Some(vault) = query.vault
    {
        let held = store.memberships.iter().filter(|held| held.vault == vault);
        let pinned: Vec<_> = held.filter(|held| held.pinned.is_some()).collect();
        found.retain(|each| pinned.iter().all(|held| held.prompt != each.id));
    }
    if bug("list.no-generated") && query.vault.is_none() {
        found.retain(|each| each.images.is_empty());
    }
    if bug("list.vault-not-forks") {
        found.retain(|_| store.memory.copies.iter().all(|copy| Some(copy.1) != query.vault));
    }
    let after_limit = query.vault.take_if(|_| bug("list.vault-after-limit"));
    if bug("list.no-copies") {
        found.retain(|each| store.memory.copies.iter().all(|(_, copy)| *copy != each.id));
    }
    found.retain(|each| query.vault.is_none_or(|vault| store.held(vault, each.id).is_some()));
    found.retain(|each| query.kind.as_ref().is_none_or(|kind| kind == each.kind));
    super::mistakes_in_jobs::listed(store, query.vault, query.kind.is_some(), &mut found);
    let (mut page, next) = query.page(store, found);
    page.retain(|each| after_limit.is_none_or(|vault| store.held(vault, each.id).is_some()));
    page.retain(|each| !bug("page.account-after") || each.owner == call.account);
    Ok(Answer::page(page.into_iter().map(|each| show::prompt(store, each)).collect(), next))
}

/// `POST /prompts`.
pub(super) fn create(store: &mut Store, call: &Call) -> Outcome {
    let fields = call.fields(FIELDS, Call::may_write)?;
    let title = fields.text("title", 120)?.ok_or_else(|| bad("title", "missing"))?;
    let text = fields.text("prompt", 15_000)?.ok_or_else(|| bad("prompt", "missing"))?;
    let mut prompt = store.new_prompt(call.account, title, text);
    apply(&fields, &mut prompt)?;
    match call.choices.bug {
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
        "create.model-not-asked" => prompt.model = prompt.model.or(Some("studio/a".to_owned())),
        "create.model-asked-of-images-only" if prompt.kind == "video" => {
            prompt.model = Some("studio/b".to_owned())
        }
        "create.model-asked-always" if prompt.model.is_none() => {
            return Err(bad("modelId", "missing"));
        }
        "create.type-from-model" if prompt.model.is_some() && !fields.has("promptType") => {
            prompt.kind = "image"
        }
        "create.image-shown" if prompt.image.is_some() => prompt.platform = prompt.image.clone(),
        _ => {}
    }
    if prompt.kind != "text" && prompt.model.is_none() {
        return Err(bad("modelId", "missing"));
    }
    let mut vault = fields.integer("vaultId")?;
    if call.choices.bug("create.vault-ignored") {
        vault = None;
    }
    if call.choices.bug("create.unknown-vault-ignored")
        && vault.is_some_and(|vault| store.vault(call.account, vault).is_err())
    {
        vault = None;
    }
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
    let bug = |name| call.choices.bug(name);
    if bug("patch.in-place") {
        // As a record of an object mapper is changed field by field, and saved by the next query.
        set(&mut store.prompt(call.account, id)?.title, fields.text("title", 120)?);
        set(&mut store.prompt(call.account, id)?.platform, fields.platform(80)?.map(Some));
    }
    if bug("patch.vault-first")
        && let Some(vault) = fields.integer("vaultId")?
    {
        store.open_vault(call.account, vault)?;
        store.enter(vault, id);
    }
    apply(&fields, &mut after)?;
    let set_kind = fields.has("promptType");
    let no_model = set_kind && after.kind != "text" && !fields.has("modelId");
    match call.choices.bug {
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
        "late.patch-same-type-asks-model" if no_model && after.kind == before.kind => {
            return Err(bad("modelId", "missing"));
        }
        "late.patch-vault-drops-model" if fields.has("vaultId") => after.model = None,
        "late.patch-ratio-drops-model" if fields.has("aspectRatio") => after.model = None,
        "late.patch-empty-vaults" if set_kind => store.leave(|held| held.prompt == id),
        "late.patch-image-is-first" if fields.has("imageUrl") => after.title = "Image".to_owned(),
        "db.title-same-but-case" if before.title.to_lowercase() == after.title.to_lowercase() => {
            after.title.clone_from(&before.title);
        }
        "patch.references-append" if fields.has("referenceMediaUrls") => {
            after.references.splice(0..0, before.references.clone());
            if after.references.len() > 10 {
                return Err(bad("referenceMediaUrls", "too many"));
            }
        }
        "patch.drops-platform" if !fields.has("platform") => after.platform = None,
        "patch.type-drops-platform" if set_kind => after.platform = None,
        "patch.vault-drops-platform" if fields.has("vaultId") => after.platform = None,
        "patch.image-drops-platform" if fields.has("imageUrl") => after.platform = None,
        "patch.drops-type" if !set_kind => after.kind = "text",
        "patch.title-drops-type" if fields.has("title") && !set_kind => after.kind = "text",
        "patch.drops-text" if !fields.has("prompt") => after.text = String::new(),
        "patch.platform-drops-text" if fields.has("platform") => after.text = "(none)".to_owned(),
        "patch.title-in-text" if fields.has("title") => after.text = after.title.clone(),
        "patch.model-sets-type" if fields.has("modelId") && !set_kind => after.kind = "image",
        "patch.drops-model" if !fields.has("modelId") => after.model = None,
        "patch.text-drops-model" if set_kind && after.kind == "text" => after.model = None,
        "patch.title-drops-model" if fields.has("title") && !fields.has("modelId") => {
            after.model = None
        }
        "patch.references-drop-model" if fields.has("referenceMediaUrls") => after.model = None,
        "patch.drops-images" => after.images = Vec::new(),
        "patch.title-drops-images" if fields.has("title") => after.images = Vec::new(),
        "patch.text-kept" => after.text = before.text.clone(),
        "patch.platform-kept" => after.platform = before.platform.clone(),
        "patch.type-kept" => after.kind = before.kind,
        "patch.platform-only-once" if before.platform.is_some() => {
            after.platform = before.platform.clone()
        }
        "patch.created-moves" => after.created = store.now() + 1000,
        "patch.title-moves-created" if fields.has("title") => after.created = store.now() + 1000,
        "patch.model-asked-again" if no_model => return Err(bad("modelId", "missing")),
        "patch.model-not-asked" => after.model = after.model.or(Some("studio/a".to_owned())),
        "patch.model-not-asked-of-video" if after.kind == "video" => {
            after.model = after.model.or(Some("studio/b".to_owned()))
        }
        "patch.model-of-body-ignored"
            if set_kind && after.kind != "text" && before.model.is_none() =>
        {
            return Err(bad("modelId", "missing"));
        }
        "patch.unchanged-404" if same(&before, &after) && !fields.has("vaultId") => {
            return Err(super::answer::not_found());
        }
        "patch.title-asked" if !fields.has("title") => return Err(bad("title", "missing")),
        "patch.nothing-400" if FIELDS.split_whitespace().all(|field| !fields.has(field)) => {
            return Err(bad("body", "nothing"));
        }
        "patch.all-prompts" => store.change(
            |one| one.owner == call.account,
            |one| one.platform.clone_from(&after.platform),
        ),
        "patch.same-title" => {
            store.change(|one| one.title == before.title, |one| one.title.clone_from(&after.title));
        }
        _ => {}
    }
    if after.kind != before.kind && after.kind != "text" && after.model.is_none() {
        return Err(bad("modelId", "missing"));
    }
    let vault = fields.integer("vaultId")?;
    if let Some(vault) = vault {
        store.target("tenant.patch-foreign", call.account, vault)?;
    }
    call.after_all(Call::may_write)?;
    if bug("patch.vault-moves") && vault.is_some() {
        store.leave(|held| held.prompt == id);
    }
    let vault = vault.filter(|_| !bug("patch.vault-ignored"));
    let now = store.now();
    if call.choices.records.whole_seconds {
        after.updated = now;
    } else if !same(&before, &after) {
        after.updated = now.max(before.updated + 1);
    }
    match call.choices.bug {
        "patch.updated-stays" => after.updated = before.updated,
        "patch.updated-of-title-only" if before.title == after.title => {
            after.updated = before.updated
        }
        "patch.answers-before" => {
            let old = answer(store, call, id)?;
            *store.prompt(call.account, id)? = after;
            return Ok(Answer::ok(old));
        }
        "patch.not-stored" => return Ok(Answer::ok(show::prompt(store, &after))),
        "patch.new-record" => {
            after.id = store.new_id();
            let new = after.id;
            store.prompts.push(after);
            return answer(store, call, new).map(Answer::ok);
        }
        _ => {}
    }
    *store.prompt(call.account, id)? = after;
    let shown = answer(store, call, id)?;
    if let Some(vault) = vault.filter(|vault| store.held(*vault, id).is_none()) {
        store.enter(vault, id);
    }
    if bug("patch.answers-old-vaults") {
        return Ok(Answer::ok(shown));
    }
    answer(store, call, id).map(Answer::ok)
}

/// `DELETE /prompts/{promptId}`.
pub(super) fn delete(store: &mut Store, call: &Call, id: i64) -> Outcome {
    call.may_write()?;
    if call.choices.bug("late.delete-again-200") && store.prompt(call.account, id).is_err() {
        return Ok(Answer::deleted(call.choices, id));
    }
    if !store.went_meanwhile(call, id) {
        let images = store.prompt(call.account, id)?.images.clone();
        let vaults = store.holders(id);
        let mut held = store.memberships.iter().filter(|held| held.prompt == id);
        let pinned = held.any(|held| held.pinned.is_some());
        match call.choices.bug {
            "delete-prompt.not-done" => return Ok(Answer::deleted(call.choices, id)),
            "delete-prompt.kept-with-images" if !images.is_empty() => {
                return Ok(Answer::deleted(call.choices, id));
            }
            "asset.goes-with-prompt" => {
                let image = store.prompt(call.account, id)?.image.clone().unwrap_or_default();
                store.files.retain(|file| !image.contains(&file.name));
            }
            "delete-prompt.refused-pinned" if pinned => return Err(refused(409, "Pinned")),
            "delete-prompt.refused-in-vaults" if !vaults.is_empty() => {
                return Err(refused(409, "In use"));
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
                return Ok(Answer::deleted(call.choices, id));
            }
            _ => {}
        }
        if call.choices.bug("db.ids-again") {
            store.memory.prompt_ids.push(id);
        }
        if !call.choices.bug("delete-prompt.still-read") {
            store.prompts.retain(|prompt| prompt.id != id);
        }
        if !call.choices.bug("delete-prompt.keeps-memberships") {
            store.leave(|held| held.prompt == id);
        }
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
    store.target("tenant.save-foreign", call.account, vault)?;
    store.prompt(call.account, id)?;
    match call.choices.bug {
        "save.moves" => store.leave(|held| held.prompt == id),
        "save.copies" => {
            let copy = Prompt { id: store.new_id(), ..store.prompt(call.account, id)?.clone() };
            let new = copy.id;
            store.prompts.push(copy);
            store.enter(vault, new);
            return answer(store, call, new).map(Answer::ok);
        }
        "save.answers-before" => {
            let before = answer(store, call, id)?;
            store.enter(vault, id);
            return Ok(Answer::ok(before));
        }
        "save.not-done" => return answer(store, call, id).map(Answer::ok),
        "save.drops-type" => store.prompt(call.account, id)?.kind = "text",
        "save.answers-vault" => {
            store.enter(vault, id);
            return super::vaults::answer(store, call.account, vault).map(Answer::ok);
        }
        _ => {}
    }
    call.after_all(Call::may_arrange)?;
    match store.held(vault, id) {
        Some(_) if call.choices.bug("save.again-500") => {
            return Err(refused(500, "duplicate key value violates unique constraint"));
        }
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
