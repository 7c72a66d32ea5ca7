//! Generations. Nothing runs in the background: each request first ends the jobs
//! whose time has come.

use serde_json::{Value, json};

use super::answer::{Answer, Outcome, Refusal, bad, refused};
use super::call::Call;
use super::clock::{Millis, now};
use super::fields::Fields;
use super::store::{Account, Image, Store};
use super::uploads;

const FIELDS: &str = "modelId prompt generationType clientJobId negativePrompt imageInput imageInputs \
    aspectRatio batchCount parameters vaultId referenceImageUrls imageEditEndpointId";
const KINDS: &[&str] = &["image", "video"];
const RATIOS: [&str; 5] = ["1:1", "9:16", "16:9", "4:5", "3:2"];
const TEXT_MAX: usize = 100_000;
/// The longest id that a particular server takes, in bytes.
const ID_BYTES_MAX: usize = 64;

/// How far a job has come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Underway,
    Completed,
    Failed,
}

/// A job of an account.
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

/// `POST /generations`.
pub(super) fn create(store: &mut Store, call: &Call) -> Outcome {
    let fields = call.fields(FIELDS, Call::may_write)?;
    let mut job = order(store, call, &fields)?;
    let public = |id| store.vaults.iter().any(|one| one.id == id && one.visibility == "public");
    let not_asked = |vault| match call.choices.bug {
        "generate.vault-not-asked" => true,
        "generate.foreign-public-vault" => public(vault),
        "soft.vault-generates" => store.memory.had_vault(call.account, vault),
        _ => false,
    };
    if let Some(vault) = job.vault
        && !not_asked(vault)
    {
        store.target("tenant.generate-foreign", call.account, vault)?;
    }
    let public = |id| store.vaults.iter().any(|one| one.id == id && one.visibility == "public");
    if call.choices.bug("generate.public-vault-404") && job.vault.is_some_and(public) {
        return Err(super::answer::not_found());
    }
    call.after_all(Call::may_write)?;
    let jobs = &call.choices.jobs;
    if job.id.is_empty() {
        job.id = uuid(&store.new_secret(), jobs.capital_ids);
    } else if jobs.strict_ids && store.jobs.iter().any(|old| old.id == job.id) {
        return Err(refused(call.choices.statuses.id_taken, "Used before"));
    }
    match call.choices.bug {
        "late.generate-long-id-500" if job.id.len() > 36 => {
            return Err(refused(500, "value too long for type character varying(36)"));
        }
        "generate.id-ignored" => job.id = uuid(&store.new_secret(), false),
        "generate.id-small" => job.id = job.id.to_lowercase(),
        "generate.id-cut" => job.id.truncate(20),
        "generate.id-no-uuid" if !fields.has("clientJobId") => {
            job.id = format!("job-{}", store.jobs.len())
        }
        "generate.id-of-nobody" if !fields.has("clientJobId") => {
            job.id = "00000000-0000-4000-a000-000000000000".to_owned()
        }
        "generate.vault-ignored" => job.vault = None,
        "generate.newest-vault" if job.vault.is_none() => {
            let mut newest = store.vaults.iter().rev();
            job.vault = newest.find(|it| it.owner == call.account).map(|vault| vault.id);
        }
        "generate.oldest-own-vault" if job.vault.is_none() => {
            let mut own = store.vaults.iter().filter(|vault| !vault.is_system);
            job.vault = own.find(|it| it.owner == call.account).map(|vault| vault.id);
        }
        "generate.video-by-default" if !fields.has("generationType") => job.kind = "video",
        "generate.batch-ignored" => job.outputs = 1,
        "generate.batch-four" if !fields.has("batchCount") => job.outputs = 4,
        _ => {}
    }
    super::mistakes_in_jobs::order(store, call, &mut job)?;
    job.request = match call.choices.bug {
        "job.provider-id-same" => "req-1".to_owned(),
        _ if jobs.strict_ids => format!("queue/é {}", store.new_secret()),
        _ => store.new_secret(),
    };
    let mut data = json!({
        "success": true,
        "clientJobId": job.id,
        "providerRequestId": job.request,
        "statusUrl": format!("{}/generations/{}/status", store.base_url, job.id),
    });
    if call.choices.wire.extras {
        data["position"] = json!(store.jobs.len());
        data["estimate"] = json!({ "seconds": null });
    }
    store.jobs.push(job);
    Ok(Answer::queued(data))
}

/// What a body asks for.
fn order(store: &Store, call: &Call, fields: &Fields) -> Result<Job, Refusal> {
    let model = fields.text("modelId", usize::MAX)?.ok_or_else(|| bad("modelId", "missing"))?;
    let text = fields.any_text("prompt", TEXT_MAX)?.ok_or_else(|| bad("prompt", "missing"))?;
    let kinds = if call.choices.bug("generate.type-text") { super::prompts::KINDS } else { KINDS };
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
        return Err(refused(call.choices.statuses.no_model, "Not to be read"));
    }
    let outputs = fields.integer("batchCount")?.unwrap_or(1);
    let most = if call.choices.bug("generate.batch-five") { 5 } else { 4 };
    let least = if call.choices.bug("generate.batch-none") { 0 } else { 1 };
    if !(least..=most).contains(&outputs) {
        return Err(bad("batchCount", "1 to 4"));
    }
    let job = Job {
        id: own_id(call, fields)?,
        owner: call.account,
        vault: fields.integer("vaultId")?,
        kind,
        model: editor.filter(|_| fields.has("imageInput")).unwrap_or(model),
        ratio,
        text,
        outputs,
        request: String::new(),
        begun: now(),
        state: State::Underway,
    };
    let videos = call.choices.jobs.strict_ids && kind == "video" && outputs > 1;
    if videos || call.choices.jobs.known_models_only && !is_possible(store, &job) {
        return Err(refused(call.choices.statuses.no_model, "No such model"));
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
    let part = |from: usize, to: usize| &secret[from..to];
    let id = format!(
        "{}-{}-4{}-a{}-{}",
        part(0, 8),
        part(8, 12),
        part(13, 16),
        part(17, 20),
        part(20, 32)
    );
    if capitals { id.to_uppercase() } else { id }
}

/// Whether the job's model makes what is asked for.
fn is_possible(store: &Store, job: &Job) -> bool {
    let model = store.choices.models[usize::from(job.kind == "video")];
    job.model == model && RATIOS.contains(&job.ratio.as_str())
}

/// `GET /generations/{clientJobId}/status`.
pub(super) fn status(store: &mut Store, call: &Call, id: &str) -> Outcome {
    call.may_read()?;
    let statuses = &call.choices.statuses;
    // The last one of an id that was used again.
    let any = call.choices.bug("tenant.status-foreign");
    let own = |job: &&Job| job.id == id && (job.owner == call.account || any);
    if call.choices.bug("job.saved-by-polls") {
        let done = |job: &Job| job.id == id && job.state == State::Completed;
        store.jobs.iter().position(done).map(|place| save(store, place));
    }
    let Some(job) = store.jobs.iter().rev().find(own) else {
        let foreign = store.jobs.iter().any(|job| job.id == id);
        let status = if foreign { statuses.foreign_job } else { statuses.no_job };
        if status == 200 {
            return Ok(Answer::ok(json!({ call.choices.jobs.state_member: "unknown" })));
        }
        return Err(refused(status, "No such job"));
    };
    let bug = |name| call.choices.bug(name);
    if bug("status.404-once-done") && job.state == State::Completed {
        return Err(refused(404, "Done"));
    }
    let words = &call.choices.jobs.states;
    let is_young = now() - job.begun < call.choices.jobs.duration / 2;
    let word = match job.state {
        State::Completed if bug("status.succeeded") => "succeeded",
        State::Completed if bug("status.capitals") => "COMPLETED",
        State::Completed if bug("status.never-done") => words[1],
        State::Underway if bug("status.done-at-once") => "completed",
        State::Completed => "completed",
        State::Failed => words[2],
        State::Underway if is_young => words[0],
        State::Underway => words[1],
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
    super::mistakes_in_jobs::go_on(store);
    for place in 0..store.jobs.len() {
        let job = &store.jobs[place];
        let wait = store.choices.jobs.duration;
        let polled = !store.choices.bug("job.only-when-polled") || path.contains(&job.id);
        if job.state == State::Underway && now - job.begun >= wait && polled {
            let ends = if is_possible(store, job) { save(store, place) } else { State::Failed };
            store.jobs[place].state = ends;
        }
    }
}

/// Puts what a job has made into its vault: a prompt for each output.
fn save(store: &mut Store, place: usize) -> State {
    let job = &store.jobs[place];
    let (owner, kind) = (job.owner, job.kind);
    let (text, model, named) = (job.text.clone(), job.model.clone(), job.vault);
    let vault = named.unwrap_or_else(|| store.general(owner));
    let vault = super::mistakes_in_jobs::place(store, owner, vault);
    let is_there = store.vaults.iter().any(|each| each.id == vault);
    if !is_there && store.choices.jobs.fails_without_vault {
        return State::Failed;
    }
    if store.choices.bug("job.output-lost") {
        return State::Completed;
    }
    let outputs = super::mistakes_in_jobs::outputs(store, place, vault);
    if outputs == 0 {
        return State::Completed;
    }
    let outputs = match store.choices.bug {
        "job.one-output" => 1,
        "job.output-twice" => outputs * 2,
        "job.one-more-output" if outputs > 1 => outputs + 1,
        _ => outputs,
    };
    let apart = !store.choices.jobs.in_one_prompt || store.choices.bug("job.batch-elsewhere");
    let prompts = if apart { outputs } else { 1 };
    for number in 1..=prompts {
        let text: String = text.chars().take(7000).collect();
        let text = if text.is_empty() { "(nothing)".to_owned() } else { text };
        let mut prompt = store.new_prompt(owner, format!("Werk {number} von {outputs}"), text);
        prompt.kind = kind;
        match store.choices.bug {
            "db.job-whole-title" => prompt.title.clone_from(&prompt.text),
            "db.job-no-text" => prompt.text.clear(),
            _ => {}
        }
        prompt.model = Some(model.clone());
        for _ in 0..outputs / prompts {
            let url = uploads::keep(store, owner, kind);
            let same = format!("{}/o/images%2Fsame?alt=media", store.storage_url);
            let url = if store.choices.bug("job.one-address") { same } else { url };
            prompt.images.push(Image { url, width: 1, height: 1 });
        }
        let id = prompt.id;
        store.prompts.push(prompt);
        if is_there && !store.choices.bug("job.output-in-no-vault") {
            let later = number > 1 && store.choices.bug("job.batch-elsewhere");
            let place = if later { store.general(owner) } else { vault };
            store.enter(place, id);
            if store.choices.bug("job.general-too") {
                let general = store.general(owner);
                store.enter(general, id);
            }
            super::mistakes_in_jobs::saved(store, place, id);
            if store.choices.bug("count.job") {
                *store.memory.counts.entry(vault).or_default() -= 1;
            }
        }
    }
    State::Completed
}
