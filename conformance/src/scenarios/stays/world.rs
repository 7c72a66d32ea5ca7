//! Prompts and vaults, all that shows them, and how it is compared before and after a call.

use std::collections::BTreeMap;

use crate::scenarios::endpoints::absent;
use crate::scenarios::shared::prelude::*;

/// A holds Q, P and R, of which P and then R were pinned; B holds P and Q, neither pinned; S is in
/// none, and C is empty. P is an image prompt with a long text and A a vault with no field at its
/// default.
pub struct World {
    pub case: Case,
    prompts: [Prompt; 4],
    vaults: [Vault; 3],
    /// P and Q in A, and P in B.
    members: [Member; 3],
}

const PROMPTS: [&str; 4] = ["P", "Q", "R", "S"];

pub type State = BTreeMap<String, Value>;

impl World {
    pub async fn make(case: Case) -> Result<Self> {
        let long = json!({ "prompt": "A lighthouse at dusk. ".repeat(600) });
        let (p, _) = case.prompt_with(merged(all_inputs(&case), long)).await?;
        let (q, _) = case.prompt_with(json!({ "platform": "screen" })).await?;
        let (r, s) = (case.prompt().await?, case.prompt().await?);
        let fields = json!({ "description": "Boats, cranes, gulls", "visibility": "unlisted" });
        let (a, _) = case.vault_with(fields).await?;
        let [b, c] = case.vaults().await?;
        a.add_in_turn([&q, &p, &r]).await?;
        b.add_in_turn([&p, &q]).await?;
        let members = [a.member_of(&p).await?, a.member_of(&q).await?, b.member_of(&p).await?];
        members[0].pinned().await?;
        a.member_of(&r).await?.pinned().await?;
        Ok(Self { case, prompts: [p, q, r, s], vaults: [a, b, c], members })
    }

    pub fn fill(&self, text: &str) -> String {
        let [a, b, c] = self.vaults.each_ref().map(|vault| vault.id);
        let vaults = [a, b, c, absent(c)].into_iter();
        let members = self.members.iter().map(|member| member.id);
        let ids = ids(&self.prompts).into_iter().chain(vaults).chain(members);
        let names = ["$P", "$Q", "$R", "$S", "$A", "$B", "$C", "$X", "$p", "$q", "$b"];
        let put = |text: String, (name, id): (&str, i64)| text.replace(name, &id.to_string());
        let text =
            text.replace("$N", &self.case.name("new")).replace("$M", self.case.image_model());
        names.into_iter().zip(ids).fold(text.replace("$V", self.case.video_model()), put)
    }

    /// Sends a request such as `PATCH /vaults/$A {}`.
    pub async fn send(&self, wire: &Wire, request: &str) -> Result<ApiResponse> {
        let request = self.fill(request);
        let mut parts = request.splitn(3, ' ');
        let method = parts.next().and_then(|method| method.parse().ok()).unwrap_or_default();
        let call = wire.call(method, parts.next().unwrap_or_default());
        parts.fold(call, |call, body| call.body("application/json", body)).send().await
    }

    /// All of it: `P` is a prompt, `P+` its vaults beside ours, `A` a vault, `A[]` the order of its
    /// listing and `P@A` the entry of P there. What is gone is not there.
    pub async fn state(&self) -> Result<State> {
        let mut state = State::new();
        let wire = self.case.wire();
        for (name, prompt) in PROMPTS.iter().zip(&self.prompts) {
            read(&mut state, name, &prompt.get().await?)?;
            let is_other = |id: &i64| self.vaults.iter().all(|vault| vault.id != *id);
            let others = state.get(*name).map(|one| vault_ids_of(one).filter(is_other).collect());
            state.extend(others.map(|others: Value| (format!("{name}+"), others)));
        }
        let all = wire.get("/vaults").await?;
        for (name, vault) in ["A", "B", "C"].iter().zip(&self.vaults) {
            read(&mut state, name, &vault.get().await?)?;
            let shown = entry_of(&all, vault.id)?;
            check::equal(&format!("{name} in the list"), &shown.as_ref(), &state.get(*name))?;
            let listing = wire.get(&format!("{}/prompts", vault.path())).await?;
            if listing.status_code() != 200 {
                continue;
            }
            let order = listing.integers("/data", "id")?;
            let count = state.get(*name).map(|vault| vault["promptCount"].clone());
            check::equal(&format!("promptCount of {name}"), &count, &Some(json!(order.len())))?;
            state.insert(format!("{name}[]"), json!(order));
            let list = vault.list().limit(100).get().await?;
            for (prompt, Prompt { id, .. }) in PROMPTS.iter().zip(&self.prompts) {
                let holds = |one: &&Value| vault_ids_of(one).any(|held| held == vault.id);
                let alone = state.get(*prompt).filter(holds).cloned();
                let entry = entry_of(&listing, *id)?;
                let both = [("listing", entry.clone()), ("list", entry_of(&list, *id)?)];
                for (place, mut shown) in both {
                    if let Some(object) = shown.as_mut().and_then(Value::as_object_mut) {
                        object.retain(|key, _| key != "vaultPromptId" && key != "isPinned");
                    }
                    check::equal(&format!("{prompt} in the {place} of {name}"), &shown, &alone)?;
                }
                state.extend(entry.map(|entry| (format!("{prompt}@{name}"), entry)));
            }
        }
        Ok(state)
    }

    /// Compares with an earlier state, but for what has changed.
    pub async fn expect(&self, before: &State, changed: &str) -> Result<State> {
        let now = self.state().await?;
        for name in before.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
            let both = (before.get(name), now.get(name));
            let is_named = changed.split(' ').any(|one| one == *name);
            let both = match (both, name.strip_suffix("[]")) {
                // The others stand in the order they had.
                ((Some(before), Some(now)), Some(vault)) if is_named => {
                    [before, now].map(|order| self.others(order, vault, changed))
                }
                _ if is_named => continue,
                ((before, now), _) => [before, now].map(|value| without(name, value, changed)),
            };
            check::with_context(name, check::equal("it", &both[1], &both[0]))?;
        }
        Ok(now)
    }

    /// Of the ids that a vault lists, those of our prompts that did not change there.
    fn others(&self, order: &Value, vault: &str, changed: &str) -> Value {
        let of = |id: &Value| self.prompts.iter().position(|prompt| *id == prompt.id);
        let stays = |id: &&Value| {
            of(id).is_some_and(|at| !changed.contains(&format!("{}@{vault}", PROMPTS[at])))
        };
        order.as_array().into_iter().flatten().filter(stays).cloned().collect()
    }

    /// The prompt P has the model that it was made with: it can become an image prompt again.
    pub async fn expect_model(&self) -> Result {
        for kind in ["text", "image", "image"] {
            let reply = self.prompts[0].update(json!({ "promptType": kind })).await?;
            check::with_context(format!("back to {kind}"), reply.success())?;
        }
        Ok(())
    }
}

fn entry_of(list: &ApiResponse, id: i64) -> Result<Option<Value>> {
    let entries = list.status(200)?.array("/data")?;
    Ok(entries.iter().find(|entry| entry["id"] == id).map(check::stable_fields))
}

fn vault_ids_of(prompt: &Value) -> impl Iterator<Item = i64> {
    prompt["vaultIds"].as_array().into_iter().flatten().filter_map(Value::as_i64)
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
        let named = changed.split(' ').filter_map(|one| one.split_once('.'));
        let fields = named.filter(|(of, _)| *of == name || *of == thing);
        fields.for_each(|(_, field)| drop(object.remove(field)));
        let is_named = |one: &str| one.split(['.', '[', '@']).any(|part| part == thing);
        if changed.split(' ').any(is_named) {
            object.remove("updatedAt");
        }
    }
    value
}
