//! What a call does not name stays as it was: each row is a call, and every prompt, vault and listing
//! around it is compared whole, before and after, but for what the row names. What no response
//! shows, such as the model of a prompt, is compared by its effect. Whatever shows a thing shows the
//! same of it each time, the lists too.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::prelude::*;
use super::shared::prompt::all_inputs;

pub static ALL: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let changes = CHANGES.iter().map(|(id, request, rule, changed)| {
        let title = format!("{request}: nothing else changes");
        let run = move |case| changes_only(case, request, changed);
        let made = Scenario::generated(format!("stays.{id}"), title, vec![*rule], run);
        let needs: &[_] = if id.starts_with("fork") { &[Need::OtherAccount] } else { &[] };
        Scenario { needs, ..made }
    });
    let refusals = REFUSALS.iter().map(|(id, call, good, bad, rule)| {
        let title = format!("{call}: where one field is refused, none takes effect");
        let run = move |case| refused_whole(case, call, good, bad);
        Scenario::generated(format!("stays.refused.{id}"), title, vec![*rule], run)
    });
    changes.chain(refusals).collect()
});

/// Id, request, rule, and what it changes: fields of things as [`World::state`] names them. `$P` is
/// the id of prompt P, `$A` of vault A, `$p` and `$q` are the memberships of P and Q in A.
#[rustfmt::skip]
static CHANGES: &[(&str, &str, &str, &str)] = &[
    ("update-prompt.title", r#"PATCH /prompts/$P {"title":"New"}"#, "PR-32", "P.title"),
    ("update-prompt.prompt", r#"PATCH /prompts/$P {"prompt":"New"}"#, "PR-32", "P.prompt"),
    ("update-prompt.type", r#"PATCH /prompts/$P {"promptType":"text"}"#, "PR-32", "P.promptType"),
    ("update-prompt.platform", r#"PATCH /prompts/$P {"platform":"new"}"#, "PR-32", "P.platform"),
    ("update-prompt.model", r#"PATCH /prompts/$P {"modelId":"$M"}"#, "PR-32", "P."),
    ("update-prompt.ratio", r#"PATCH /prompts/$P {"aspectRatio":"9:16"}"#, "PR-32", "P."),
    ("update-prompt.image", r#"PATCH /prompts/$P {"imageUrl":"https://example.com/n.png"}"#, "PR-32", "P.images"),
    ("update-prompt.references", r#"PATCH /prompts/$P {"referenceMediaUrls":[]}"#, "PR-32", "P."),
    ("update-prompt.vault", r#"PATCH /prompts/$P {"vaultId":$C}"#, "PR-38", "P.vaultIds C.promptCount C[] P@C"),
    ("update-prompt.nothing", r"PATCH /prompts/$P {}", "PR-32", "P."),
    ("save-prompt.into-another", r#"POST /prompts/$P/save {"vaultId":$C}"#, "PR-46", "P.vaultIds C.promptCount C[] P@C"),
    ("create-prompt.in-a-vault", r#"POST /prompts {"title":"New","prompt":"New","vaultId":$C}"#, "PR-27", "C.promptCount C[]"),
    ("delete-prompt.of-a-vault", "DELETE /prompts/$Q", "PR-42", "Q Q@A A.promptCount A[]"),
    ("delete-prompt.pinned", "DELETE /prompts/$P", "PR-42", "P P@A P@B A.promptCount B.promptCount A[] B[]"),
    ("create-vault.beside", r#"POST /vaults {"name":"$N"}"#, "VA-16", ""),
    ("update-vault.name", r#"PATCH /vaults/$A {"name":"$N"}"#, "VA-23", "A.name A.slug"),
    ("update-vault.description", r#"PATCH /vaults/$A {"description":"New"}"#, "VA-23", "A.description"),
    ("update-vault.no-description", r#"PATCH /vaults/$A {"description":null}"#, "VA-23", "A.description"),
    ("update-vault.visibility", r#"PATCH /vaults/$A {"visibility":"public"}"#, "VA-23", "A.visibility"),
    ("update-vault.nothing", r"PATCH /vaults/$A {}", "VA-23", "A."),
    ("delete-vault.with-prompts", "DELETE /vaults/$B", "VA-28", "B B[] P@B P.vaultIds"),
    ("fork-vault.of-another", "POST /vaults/$A/fork", "VA-34", ""),
    ("add-prompts.two", r#"POST /vaults/$C/prompts {"promptIds":[$P,$R]}"#, "VC-03", "P.vaultIds R.vaultIds C.promptCount C[] P@C R@C"),
    ("remove-prompt.from-one", "DELETE /vaults/$A/prompts/$p", "VC-15", "P.vaultIds A.promptCount A[] P@A"),
    ("move-prompt.to-another", r#"POST /vaults/$A/prompts/$p/move {"targetVaultId":$C}"#, "VC-20", "P.vaultIds A.promptCount C.promptCount A[] C[] P@A P@C"),
    ("pin.second", "POST /vaults/$A/prompts/$q/pin", "VC-27", "Q@A.isPinned A[] A. Q."),
    ("pin.again", "POST /vaults/$A/prompts/$p/pin", "VC-29", "A. P."),
    ("unpin.first", "DELETE /vaults/$A/prompts/$p/pin", "VC-28", "P@A.isPinned A[] A. P."),
    ("unpin.again", "DELETE /vaults/$A/prompts/$q/pin", "VC-30", "A. Q."),
];

/// Id, call, a good body, and values of its fields of which each alone makes it a bad one; the rule.
#[rustfmt::skip]
static REFUSALS: &[(&str, &str, &str, &str, &str)] = &[
    ("update-prompt", "PATCH /prompts/$P",
        r#"{"title":"New","prompt":"New","platform":"new","promptType":"video","modelId":"$V","aspectRatio":"9:16",
            "vaultId":$C,"imageUrl":"https://example.com/n.png","referenceMediaUrls":[]}"#,
        r#"{"title":"","prompt":7,"platform":7,"promptType":"audio","modelId":"nowhere","aspectRatio":7,"vaultId":"x",
            "imageUrl":"plainword","referenceMediaUrls":[7]}"#, "PR-35"),
    ("update-vault", "PATCH /vaults/$A",
        r#"{"name":"$N","description":"New","visibility":"public"}"#,
        r#"{"name":"","description":7,"visibility":"secret"}"#, "VA-20"),
    ("create-prompt", "POST /prompts",
        r#"{"title":"New","prompt":"New","vaultId":$C,"platform":"new","promptType":"text","modelId":"$M",
            "aspectRatio":"1:1","imageUrl":"https://example.com/n.png","referenceMediaUrls":[]}"#,
        r#"{"title":"","prompt":"","vaultId":"x","platform":7,"promptType":"audio","modelId":"nowhere",
            "aspectRatio":7,"imageUrl":"plainword","referenceMediaUrls":["plainword"]}"#, "PR-20"),
    ("save-prompt", "POST /prompts/$P/save", r#"{"vaultId":$C}"#, r#"{"vaultId":"x"}"#, "PR-47"),
    ("add-prompts", "POST /vaults/$C/prompts",
        r#"{"promptIds":[$R]}"#, r#"{"promptIds":[$R,"x"]}"#, "VC-13"),
    ("move-prompt", "POST /vaults/$A/prompts/$p/move",
        r#"{"targetVaultId":$C}"#, r#"{"targetVaultId":0}"#, "VC-21"),
];

/// P in the vaults A and B, pinned in A; Q in A; R in none; and C, which is empty. P is an image
/// prompt and A a vault with no field at its default.
struct World {
    case: Case,
    prompts: [Prompt; 3],
    vaults: [Vault; 3],
    members: [Member; 2],
}

type State = BTreeMap<String, Value>;

impl World {
    async fn make(case: Case) -> Result<Self> {
        let (p, _) = case.prompt_with(all_inputs(&case)).await?;
        let (q, _) = case.prompt_with(json!({ "platform": "screen" })).await?;
        let r = case.prompt().await?;
        let fields = json!({ "description": "Boats, cranes, gulls", "visibility": "unlisted" });
        let (a, _) = case.vault_with(fields).await?;
        let [b, c] = case.vaults().await?;
        b.add_in_turn([&p]).await?;
        a.add_in_turn([&q, &p]).await?;
        let members = a.members().await?;
        let member = |prompt: &Prompt| members.iter().find(|one| one.prompt.id == prompt.id);
        let missing = || Failure::error("two memberships in a vault", "fewer of them");
        let of = |prompt| member(prompt).cloned().ok_or_else(missing);
        let members = [of(&p)?, of(&q)?];
        members[0].pinned().await?;
        Ok(Self { case, prompts: [p, q, r], vaults: [a, b, c], members })
    }

    /// A text with the ids of this world.
    fn fill(&self, text: &str) -> String {
        let [p, q, r] = &self.prompts;
        let [a, b, c] = &self.vaults;
        let ids = [("$P", p.id), ("$Q", q.id), ("$R", r.id), ("$A", a.id), ("$B", b.id)];
        let members = [("$C", c.id), ("$p", self.members[0].id), ("$q", self.members[1].id)];
        let mut text = text.replace("$N", &self.case.name("new"));
        text = text.replace("$M", self.case.image_model()).replace("$V", self.case.video_model());
        for (name, id) in ids.into_iter().chain(members) {
            text = text.replace(name, &id.to_string());
        }
        text
    }

    /// Sends a request such as `PATCH /vaults/$A {}`.
    async fn send(&self, wire: &Wire, request: &str) -> Result<ApiResponse> {
        let request = self.fill(request);
        let mut parts = request.splitn(3, ' ');
        let method = parts.next().and_then(|method| method.parse().ok()).unwrap_or_default();
        let call = wire.call(method, parts.next().unwrap_or_default());
        match parts.next() {
            Some(body) => call.body("application/json", body).send().await,
            None => call.send().await,
        }
    }

    /// All of it: `P` is a prompt, `A` a vault, `A[]` the order of its listing and `P@A` the entry
    /// of P there. What is gone is not there.
    async fn state(&self) -> Result<State> {
        let mut state = State::new();
        let wire = self.case.wire();
        for (name, prompt) in ["P", "Q", "R"].iter().zip(&self.prompts) {
            read(&mut state, name, &prompt.get().await?)?;
        }
        for (name, vault) in ["A", "B", "C"].iter().zip(&self.vaults) {
            read(&mut state, name, &vault.get().await?)?;
            let shown = entry_of(&wire.get("/vaults").await?, vault.id)?;
            check::equal(&format!("{name} in the list"), &shown.as_ref(), &state.get(*name))?;
            let listing = wire.get(&format!("{}/prompts", vault.path())).await?;
            if listing.status_code() != 200 {
                continue;
            }
            state.insert(format!("{name}[]"), json!(listing.integers("/data", "id")?));
            let list = vault.list().limit(100).get().await?;
            for (prompt, Prompt { id, .. }) in ["P", "Q", "R"].iter().zip(&self.prompts) {
                let holds = |one: &&Value| vault_ids_of(one).any(|held| held == vault.id);
                let alone = state.get(*prompt).filter(holds).cloned();
                let entry = entry_of(&listing, *id)?;
                for (place, shown) in [("listing", entry.clone()), ("list", entry_of(&list, *id)?)]
                {
                    let shown =
                        shown.map(|entry| without_keys(entry, &["vaultPromptId", "isPinned"]));
                    check::equal(&format!("{prompt} in the {place} of {name}"), &shown, &alone)?;
                }
                state.extend(entry.map(|entry| (format!("{prompt}@{name}"), entry)));
            }
        }
        Ok(state)
    }

    /// Compares with an earlier state, but for what has changed.
    async fn expect(&self, before: &State, changed: &str) -> Result {
        let now = self.state().await?;
        for name in before.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
            let (before, now) = (before.get(name), now.get(name));
            if changed.split(' ').any(|one| one == *name) {
                continue;
            }
            let [before, now] = [before, now].map(|value| without(name, value, changed));
            check::with_context(name, check::equal("it", &now, &before))?;
        }
        Ok(())
    }

    /// The prompt P has the model that it was made with: it can become an image prompt again.
    async fn expect_model(&self) -> Result {
        for kind in ["text", "image", "image"] {
            let reply = self.prompts[0].update(json!({ "promptType": kind })).await?;
            check::with_context(format!("back to {kind}"), reply.success())?;
        }
        Ok(())
    }
}

/// The entry with this id in a list, as far as it is compared.
fn entry_of(list: &ApiResponse, id: i64) -> Result<Option<Value>> {
    let entries = list.status(200)?.array("/data")?;
    Ok(entries.iter().find(|entry| entry["id"] == id).map(check::stable_fields))
}

fn vault_ids_of(prompt: &Value) -> impl Iterator<Item = i64> {
    prompt["vaultIds"].as_array().into_iter().flatten().filter_map(Value::as_i64)
}

fn without_keys(mut value: Value, keys: &[&str]) -> Value {
    let object = value.as_object_mut();
    object.into_iter().for_each(|object| object.retain(|key, _| !keys.contains(&key.as_str())));
    value
}

fn read(state: &mut State, name: &str, reply: &ApiResponse) -> Result {
    if reply.status_code() != 404 {
        state.insert(name.to_owned(), check::stable_fields(reply.data(200)?));
    }
    Ok(())
}

/// A value without its fields that have changed. Whatever is named for a prompt or a vault may have
/// another `updatedAt`, and an entry of a listing shows the fields of its prompt.
fn without(name: &str, value: Option<&Value>, changed: &str) -> Value {
    let mut value = value.cloned().unwrap_or_default();
    let thing = name.split('@').next().unwrap_or(name);
    if let Some(object) = value.as_object_mut() {
        for (of, field) in changed.split(' ').filter_map(|one| one.split_once('.')) {
            if of == name || of == thing {
                object.remove(field);
            }
        }
        let is_named = |one: &str| one.split(['.', '[', '@']).any(|part| part == thing);
        if changed.split(' ').any(is_named) {
            object.remove("updatedAt");
        }
    }
    value
}

async fn changes_only(case: Case, request: &str, changed: &str) -> Result {
    let world = World::make(case.clone()).await?;
    let before = world.state().await?;
    let wire = if request.ends_with("/fork") { case.other() } else { case.wire() };
    // An update with what is there already is one too; only a second membership may be refused (S-26).
    let again = request.starts_with("PATCH") && !request.contains("vaultId");
    let filled = world.fill(request);
    for _ in 0..1 + usize::from(again) {
        world.send(&wire, &filled).await?.success()?;
        world.expect(&before, changed).await?;
    }
    if request.starts_with("PATCH /prompts") { world.expect_model().await } else { Ok(()) }
}

async fn refused_whole(case: Case, call: &str, good: &str, bad: &str) -> Result {
    let world = World::make(case).await?;
    let before = world.state().await?;
    let read = |text: &str| serde_json::from_str::<Value>(&world.fill(text)).unwrap_or_default();
    for (field, value) in read(bad).as_object().into_iter().flatten() {
        let body = merged(read(good), json!({ field: value }));
        let reply = world.send(&world.case.wire(), &format!("{call} {body}")).await?;
        reply.is_client_error(format!("the {field} {value}"))?;
        check::with_context(field, world.expect(&before, "").await)?;
    }
    Ok(())
}
