//! What most scenarios start from: prompts, vaults and memberships that know the calls on them.
//! All of it is created under the key of its case and deleted when the case ends.
//!
//! A call that may be refused returns its reply. A call that creates or reads fails unless it
//! succeeds. Where creating is set-up and not what a scenario looks at, its failure blocks the
//! scenario ([`Verdict::Blocked`]) and is no failure of the scenario's claim.

mod list;
mod prompt;
pub mod race;
mod vault;

use std::time::Duration;

use futures::future::try_join_all;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::{Value, json};

pub use self::list::{List, Page, Walk};
pub use self::prompt::{Entry, Member, Prompt, vault_ids};
pub use self::vault::{Vault, Way};
use crate::failure::{Failure, Result, set_up};
use crate::wire::ApiResponse;
use crate::{Case, Verdict, lock};

/// A resource of one collection, and the calls that prompts and vaults share.
macro_rules! resource {
    ($(#[$doc:meta])* $name:ident, $collection:literal) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name {
            pub(super) case: crate::Case,
            /// Its id.
            pub id: i64,
        }

        impl $name {
            /// Its path below the base URL.
            pub fn path(&self) -> String {
                format!(concat!("/", $collection, "/{}"), self.id)
            }

            /// `GET`, whatever the answer.
            pub async fn get(&self) -> Result<ApiResponse> {
                self.case.wire().get(&self.path()).await
            }

            /// The reply that shows it.
            pub async fn read(&self) -> Result<ApiResponse> {
                let reply = self.get().await?;
                reply.status(200)?;
                Ok(reply)
            }

            /// `PATCH` with these fields.
            pub async fn update(&self, fields: serde_json::Value) -> Result<ApiResponse> {
                self.case.wire().patch(&self.path(), fields).await
            }

            /// `DELETE`.
            pub async fn delete(&self) -> Result<ApiResponse> {
                self.case.wire().delete(&self.path()).await
            }
        }
    };
}
use resource;

/// What names a prompt: its id, or a fixture.
pub trait PromptId {
    /// The id of the prompt.
    fn prompt_id(&self) -> i64;
}

impl PromptId for i64 {
    fn prompt_id(&self) -> i64 {
        *self
    }
}

impl<T: PromptId> PromptId for &T {
    fn prompt_id(&self) -> i64 {
        (*self).prompt_id()
    }
}

/// Prompts, each by its id or as a fixture.
pub trait Prompts: IntoIterator<Item: PromptId> {}

impl<T: IntoIterator<Item: PromptId>> Prompts for T {}

/// The ids of these prompts, in this order.
pub fn ids(prompts: impl Prompts) -> Vec<i64> {
    prompts.into_iter().map(|prompt| prompt.prompt_id()).collect()
}

fn sorted(mut ids: Vec<i64>) -> Vec<i64> {
    ids.sort_unstable();
    ids
}

fn so_many<T, const N: usize>(made: Vec<T>) -> Result<[T; N]> {
    made.try_into().map_err(|_| Failure::error(format!("{N} of them"), "another number"))
}

/// How many resources of one scenario a quota has to leave room for.
const FEW: usize = 20;

impl Case {
    /// `POST /prompts` with these fields besides a title and a text.
    pub async fn create_prompt(&self, fields: Value) -> Result<ApiResponse> {
        // In both, as a scenario may need another text in one of them.
        let text = self.name("A lighthouse at dusk");
        let body = merged(json!({ "title": self.name("prompt"), "prompt": text }), fields);
        self.wire().post("/prompts", body).await
    }

    /// A new prompt with these fields, and the reply to its creation.
    pub async fn prompt_with(&self, fields: Value) -> Result<(Prompt, ApiResponse)> {
        let created = self.created(self.create_prompt(fields).await?)?;
        Ok((self.prompt_of(&created)?, created))
    }

    /// A new text prompt.
    pub async fn prompt(&self) -> Result<Prompt> {
        Ok(set_up(self.prompt_with(json!({}))).await?.0)
    }

    /// New text prompts, created side by side.
    pub async fn prompts(&self, count: usize) -> Result<Vec<Prompt>> {
        try_join_all((0..count).map(|_| self.prompt())).await
    }

    /// New text prompts, created one after the other.
    pub async fn prompts_in_turn(&self, count: usize) -> Result<Vec<Prompt>> {
        stream::iter(0..count).then(|_| self.prompt()).try_collect().await
    }

    /// The prompt in `data` of a reply.
    pub fn prompt_of(&self, reply: &ApiResponse) -> Result<Prompt> {
        Ok(self.prompt_at(reply.integer("/data/id")?))
    }

    /// The prompt with this id.
    pub fn prompt_at(&self, id: i64) -> Prompt {
        Prompt { case: self.clone(), id }
    }

    /// A new vault with these fields besides a name, and the reply to its creation.
    pub async fn vault_with(&self, fields: Value) -> Result<(Vault, ApiResponse)> {
        let mut body = json!({ "name": self.name("vault") });
        if fields.get("name").is_some() {
            // The name is the scenario's own, so the run id goes elsewhere.
            body["description"] = json!(self.name("made"));
        }
        let created = self.wire().post("/vaults", merged(body, fields)).await?;
        let created = self.created(created)?;
        Ok((self.vault_at(created.integer("/data/id")?), created))
    }

    /// A new private vault.
    pub async fn vault(&self) -> Result<Vault> {
        Ok(set_up(self.vault_with(json!({}))).await?.0)
    }

    /// New private vaults.
    pub async fn vaults<const N: usize>(&self) -> Result<[Vault; N]> {
        so_many(stream::iter(0..N).then(|_| self.vault()).try_collect().await?)
    }

    /// A new vault with `count` new prompts in it, see [`Vault::fill`].
    pub async fn vault_of(&self, count: usize) -> Result<(Vault, Vec<Prompt>)> {
        let vault = self.vault().await?;
        let members = vault.fill(count).await?;
        Ok((vault, members.into_iter().map(|member| member.prompt).collect()))
    }

    /// The same with `N` prompts.
    pub async fn filled_vault<const N: usize>(&self) -> Result<(Vault, [Member; N])> {
        let vault = self.vault().await?;
        let members = vault.filled().await?;
        Ok((vault, members))
    }

    /// Two new vaults, and new prompts in the first one, the first added first.
    pub async fn source_and_target<const N: usize>(&self) -> Result<(Vault, Vault, [Member; N])> {
        let [source, target] = self.vaults().await?;
        let members = source.filled().await?;
        Ok((source, target, members))
    }

    /// The ids of the caller's vaults that the service made.
    pub async fn system_vaults(&self) -> Result<Vec<i64>> {
        let vaults = self.wire().get("/vaults").await?.status(200)?.array("/data")?;
        let system = vaults.iter().filter(|vault| vault["isSystem"] == true);
        Ok(system.filter_map(|vault| vault["id"].as_i64()).collect())
    }

    /// The vault with this id, whoever owns it.
    pub fn vault_at(&self, id: i64) -> Vault {
        Vault { case: self.clone(), id }
    }

    /// A new fork of a vault, and the reply to its creation.
    pub async fn fork_of(&self, vault: &Vault) -> Result<(Vault, ApiResponse)> {
        let forked = self.vault_at(vault.id).fork().await?;
        Ok((self.vault_at(forked.status(201)?.integer("/data/id")?), forked))
    }

    /// The reply to a creation that has to succeed. A scenario that creates more resources than the
    /// quota of the account allows is skipped: quotas are open (S-62).
    fn created(&self, reply: ApiResponse) -> Result<ApiResponse> {
        let (status, count) = (reply.status_code(), lock(&self.ledger.created).len());
        if matches!(status, 402 | 403 | 409 | 422 | 507) && count >= FEW {
            return Err(Failure::skipped(format!(
                "the target refuses more after {count} resources of this scenario (status {status})"
            )));
        }
        reply.success()?;
        Ok(reply)
    }
}

/// Runs an attempt that depends on an order by date. It gets no pauses at first; if it fails, it is
/// repeated with pauses of over a second, as a server may keep dates by the second, and equal dates
/// have no order.
pub async fn by_date<F>(case: Case, attempt: impl Fn(Case, Duration) -> F) -> Result
where
    F: Future<Output = Result>,
{
    match attempt(case.clone(), Duration::ZERO).await {
        Err(failure) if failure.verdict == Verdict::Failed => {
            attempt(case, Duration::from_millis(1100)).await
        }
        other => other,
    }
}

/// These fields of the object in `data` are as in an earlier reply.
pub fn same_fields<'f>(
    now: &ApiResponse,
    before: &ApiResponse,
    fields: impl IntoIterator<Item = &'f str>,
) -> Result {
    for field in fields {
        let place = format!("/data/{field}");
        now.equals(&place, before.at(&place)?.clone())?;
    }
    Ok(())
}

/// The body with these fields, which replace its own.
pub fn merged(mut body: Value, fields: Value) -> Value {
    if let (Value::Object(body), Value::Object(fields)) = (&mut body, fields) {
        body.extend(fields);
    }
    body
}
