//! Generations. Nothing runs in the background: each request first ends the jobs
//! whose time has come.

use super::bugs_in_jobs;
use super::prelude::*;

const FIELDS: &str = "modelId prompt generationType clientJobId negativePrompt imageInput imageInputs \
    aspectRatio batchCount parameters vaultId referenceImageUrls imageEditEndpointId";
const KINDS: &[&str] = &["image", "video"];
const RATIOS: [&str; 5] = ["1:1", "9:16", "16:9", "4:5", "3:2"];
const TEXT_MAX: usize = 100_000;
const ID_BYTES_MAX: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Underway,
    Completed,
    Failed,
}

#[derive(Clone)]
pub(super) struct Job {
    pub(super) id: String,
    pub(super) owner: Account,
    pub(super) vault: Option<i64>,
    pub(super) kind: &'static str,
    pub(super) model: String,
    pub(super) ratio: String,
    pub(super) text: String,
    pub(super) outputs: i64,
    pub(super) request: String,
    pub(super) begun: Millis,
    pub(super) state: State,
}

impl Job {
    /// A job for one image, which begins now.
    pub(super) fn new(id: &str, owner: Account, model: &str) -> Self {
        Self {
            id: id.to_owned(),
            owner,
            vault: None,
            kind: "image",
            model: model.to_owned(),
            ratio: "1:1".to_owned(),
            text: String::new(),
            outputs: 1,
            request: String::new(),
            begun: now(),
            state: State::Underway,
        }
    }
}

pub(super) fn create(store: &mut Store, call: &Call) -> Outcome {
    let fields = call.fields(FIELDS, Call::may_write)?;
    let mut job = order(store, call, &fields)?;
    if let Some(vault) = job.vault {
        let mut public = store.vaults.iter().filter(|one| one.visibility == "public");
        let is_public = public.any(|one| one.id == vault);
        match call.bug {
            "generate.vault-not-asked" => {}
            "generate.foreign-public-vault" if is_public => {}
            "soft.vault-generates" if store.memory.had_vault(call.account, vault) => {}
            "generate.public-vault-404" if is_public => return Err(not_found()),
            _ => store.target("tenant.generate-foreign", call.account, vault)?,
        }
    }
    call.after_all(Call::may_write)?;
    let (jobs, made) = (&call.choices.jobs, job.id.is_empty());
    if made {
        job.id = uuid(&store.new_secret(), jobs.capital_ids);
    } else if jobs.strict_ids && store.jobs.iter().any(|old| old.id == job.id) {
        return refuse(call.choices.statuses.id_taken, "Used before");
    }
    match call.bug {
        "late.generate-long-id-500" if job.id.len() > 36 => {
            return refuse(500, "value too long for type character varying(36)");
        }
        "generate.id-ignored" => job.id = uuid(&store.new_secret(), false),
        "generate.id-small" => job.id = job.id.to_lowercase(),
        "generate.id-cut" => job.id.truncate(20),
        "generate.id-no-uuid" if made => job.id = format!("job-{}", store.jobs.len()),
        "generate.id-of-nobody" if made => {
            job.id = "00000000-0000-4000-a000-000000000000".to_owned();
        }
        "generate.vault-ignored" => job.vault = None,
        "generate.newest-vault" if job.vault.is_none() => {
            job.vault = own_vaults(store, call).next_back().map(|vault| vault.id);
        }
        "generate.oldest-own-vault" if job.vault.is_none() => {
            job.vault =
                own_vaults(store, call).find(|vault| !vault.is_system).map(|vault| vault.id);
        }
        "generate.video-by-default" if !fields.has("generationType") => job.kind = "video",
        "generate.batch-ignored" => job.outputs = 1,
        "generate.batch-four" if !fields.has("batchCount") => job.outputs = 4,
        "job.id-overwritten" => {
            store.jobs.retain(|old| old.id != job.id || old.owner == call.account);
        }
        "job.same-body-once" => {
            let mut body = call.body.clone();
            body["clientJobId"] = Value::Null;
            if !store.memory.seen.insert(body.to_string()) {
                job.outputs = 0;
            }
        }
        "job.general-by-name" if job.vault.is_none() => {
            let is_general =
                |one: &&Vault| !one.is_system && ["General", "Alles"].contains(&&*one.name);
            job.vault = own_vaults(store, call).rfind(is_general).map(|vault| vault.id);
        }
        "job.video-to-general" if job.kind == "video" => job.vault = None,
        "job.edit-to-general" if fields.has("imageInput") => job.vault = None,
        "job.batch-three" => job.outputs = job.outputs.min(3),
        "job.video-one" if job.kind == "video" => job.outputs = 1,
        "job.vault-of-first" => {
            let mut own = store.jobs.iter().filter(|old| old.owner == call.account);
            job.vault = own.find_map(|old| old.vault).or(job.vault);
        }
        _ => {}
    }
    job.request = match call.bug {
        "job.provider-id-same" => "req-1".to_owned(),
        _ if jobs.strict_ids => format!("queue/é {}", store.new_secret()),
        _ => store.new_secret(),
    };
    let mut answer = queued(store, &job, &job.id);
    if call.choices.wire.extras {
        answer.data["position"] = json!(store.jobs.len());
        answer.data["estimate"] = json!({ "seconds": null });
    }
    store.jobs.push(job);
    Ok(answer)
}

fn own_vaults<'a>(store: &'a Store, call: &Call) -> impl DoubleEndedIterator<Item = &'a Vault> {
    let account = call.account;
    store.vaults.iter().filter(move |vault| vault.owner == account)
}

/// What is told of a job under this id.
pub(super) fn queued(store: &Store, job: &Job, id: &str) -> Answer {
    Answer::queued(json!({
        "success": true,
        "clientJobId": id,
        "providerRequestId": job.request,
        "statusUrl": format!("{}/generations/{}/status", store.base_url, job.id),
    }))
}

fn order(store: &Store, call: &Call, fields: &Fields) -> Result<Job, Refusal> {
    let model = fields.text("modelId", usize::MAX)?.ok_or_else(|| bad("modelId", "missing"))?;
    let text = fields.any_text("prompt", TEXT_MAX)?.ok_or_else(|| bad("prompt", "missing"))?;
    let kinds = if call.bug("generate.type-text") { super::prompts::KINDS } else { KINDS };
    let kind = fields.choice("generationType", kinds)?.unwrap_or("image");
    fields.any_text("negativePrompt", TEXT_MAX)?;
    fields.address("imageInput")?;
    fields.addresses("imageInputs", 7)?;
    fields.addresses("referenceImageUrls", 7)?;
    fields.object("parameters")?;
    let editor = fields.text("imageEditEndpointId", usize::MAX)?;
    let ratio = fields.text("aspectRatio", usize::MAX)?.unwrap_or_else(|| "1:1".to_owned());
    // The provider has no key to read it (S-38, S-45).
    if call.choices.files.key_to_read && fields.has("imageInput") {
        return refuse(call.choices.statuses.no_model, "Not to be read");
    }
    let outputs = fields.integer("batchCount")?.unwrap_or(1);
    let most = if call.bug("generate.batch-five") { 5 } else { 4 };
    let least = if call.bug("generate.batch-none") { 0 } else { 1 };
    if !(least..=most).contains(&outputs) {
        return Err(bad("batchCount", "1 to 4"));
    }
    let model = editor.filter(|_| fields.has("imageInput")).unwrap_or(model);
    let vault = fields.integer("vaultId")?;
    let job = Job::new(&own_id(call, fields)?, call.account, &model);
    let job = Job { vault, kind, ratio, text, outputs, ..job };
    let videos = call.choices.jobs.strict_ids && kind == "video" && outputs > 1;
    if videos || call.choices.jobs.known_models_only && !is_possible(store, &job) {
        return refuse(call.choices.statuses.no_model, "No such model");
    }
    Ok(job)
}

/// The id that the caller gives; empty if there is none.
fn own_id(call: &Call, fields: &Fields) -> Result<String, Refusal> {
    let given = fields.text("clientJobId", usize::MAX)?;
    let strict = call.choices.jobs.strict_ids;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    match given {
        Some(id) if strict && (id.len() > ID_BYTES_MAX || !id.bytes().all(plain)) => {
            Err(bad("clientJobId", "plain signs only"))
        }
        given => Ok(given.unwrap_or_default()),
    }
}

fn uuid(secret: &str, capitals: bool) -> String {
    let [a, b, c, d, e] = [0..8, 8..12, 13..16, 17..20, 20..32].map(|part| &secret[part]);
    let id = format!("{a}-{b}-4{c}-a{d}-{e}");
    if capitals { id.to_uppercase() } else { id }
}

fn is_possible(store: &Store, job: &Job) -> bool {
    let model = store.choices.models[usize::from(job.kind == "video")];
    job.model == model && RATIOS.contains(&job.ratio.as_str())
}

pub(super) fn status(store: &mut Store, call: &Call, id: &str) -> Outcome {
    call.may_read()?;
    let statuses = &call.choices.statuses;
    // The last one of an id that was used again.
    let any = call.bug("tenant.status-foreign");
    let own = |job: &&Job| job.id == id && (job.owner == call.account || any);
    if call.bug("job.saved-by-polls") {
        let done = |job: &Job| job.id == id && job.state == State::Completed;
        store.jobs.iter().position(done).map(|place| save(store, place));
    }
    let Some(job) = store.jobs.iter().rev().find(own) else {
        let foreign = store.jobs.iter().any(|job| job.id == id);
        let status = if foreign { statuses.foreign_job } else { statuses.no_job };
        if status == 200 {
            return Ok(Answer::ok(json!({ call.choices.jobs.state_member: "unknown" })));
        }
        return refuse(status, "No such job");
    };
    let [waits, goes_on, failed] = call.choices.jobs.states;
    let is_young = now() - job.begun < call.choices.jobs.duration / 2;
    let word = match (call.bug, job.state) {
        ("status.404-once-done", State::Completed) => return refuse(404, "Done"),
        ("status.succeeded", State::Completed) => "succeeded",
        ("status.capitals", State::Completed) => "COMPLETED",
        ("status.never-done", State::Completed) => goes_on,
        ("status.done-at-once", State::Underway) => "completed",
        (_, State::Completed) => "completed",
        (_, State::Failed) => failed,
        _ if is_young => waits,
        _ => goes_on,
    };
    let mut data = json!({ call.choices.jobs.state_member: word });
    if call.choices.jobs.nested_state {
        data = json!({ "job": { "progress": data } });
    }
    if call.choices.wire.extras {
        data["job"] = json!({ "name": id, "outputs": job.outputs, "model": job.model });
        data["history"] = json!(["accepted", "completed"]);
        data["lastWord"] = Value::Null;
    }
    Ok(Answer::ok(data))
}

/// Ends the jobs whose time has come.
pub(super) fn go_on(store: &mut Store, path: &str) {
    let now = now();
    bugs_in_jobs::go_on(store);
    for place in 0..store.jobs.len() {
        let job = &store.jobs[place];
        let wait = store.choices.jobs.duration;
        let polled = !store.bug("job.only-when-polled") || path.contains(&job.id);
        if job.state == State::Underway && now - job.begun >= wait && polled {
            let ends = if is_possible(store, job) { save(store, place) } else { State::Failed };
            store.jobs[place].state = ends;
        }
    }
}

/// Puts what a job has made into its vault: a prompt for each output.
fn save(store: &mut Store, place: usize) -> State {
    let job = store.jobs[place].clone();
    let owner = job.owner;
    let vault = job.vault.unwrap_or_else(|| store.general(owner));
    let vault = bugs_in_jobs::place(store, owner, vault);
    let is_there = store.vaults.iter().any(|each| each.id == vault);
    if !is_there && store.choices.jobs.fails_without_vault {
        return State::Failed;
    }
    let outputs = bugs_in_jobs::outputs(store, place, vault);
    if outputs == 0 {
        return State::Completed;
    }
    let apart = !store.choices.jobs.in_one_prompt || store.bug("job.batch-elsewhere");
    let prompts = if apart { outputs } else { 1 };
    for number in 1..=prompts {
        let text: String = job.text.chars().take(7000).collect();
        let text = if text.is_empty() { "(nothing)".to_owned() } else { text };
        let mut prompt = store.new_prompt(owner, format!("Werk {number} von {outputs}"), text);
        (prompt.kind, prompt.model) = (job.kind, Some(job.model.clone()));
        match store.choices.bug {
            "db.job-whole-title" => prompt.title.clone_from(&prompt.text),
            "db.job-no-text" => prompt.text.clear(),
            _ => {}
        }
        for _ in 0..outputs / prompts {
            let url = uploads::keep(store, owner, job.kind);
            let same = format!("{}/o/images%2Fsame?alt=media", store.storage_url);
            let url = if store.bug("job.one-address") { same } else { url };
            prompt.images.push(Image { url, width: 1, height: 1 });
        }
        let id = prompt.id;
        store.prompts.push(prompt);
        if is_there && !store.bug("job.output-in-no-vault") {
            let later = number > 1 && store.bug("job.batch-elsewhere");
            let place = if later { store.general(owner) } else { vault };
            store.enter(place, id);
            if store.bug("job.general-too") {
                let general = store.general(owner);
                store.enter(general, id);
            }
            bugs_in_jobs::saved(store, place, id);
        }
    }
    State::Completed
}
