//! Vaults, and the prompts in them.

use futures::{StreamExt, TryStreamExt};
use maud::{Markup, html};
use promptarium::VaultId;

use super::layout::Page;
use super::parts::{
    address, ago, item, list as list_of, prompt_address, shortened, typed, vault_address,
};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{ListedPrompt, SessionRecord, VaultRecord};

/// The most prompts of a vault in its page.
const PROMPTS_MAX: usize = 200;

/// `GET /vaults`.
pub(crate) async fn list(api: &Api, session: &SessionRecord, _: Request<'_>) -> HandlerResult {
    let vaults = api.store.vaults(&session.caller()).await?;
    // Every account has the vault General.
    let empty = html! { p { "There is no vault. Create one through the API." } };
    let content = list_of(&vaults, &empty, |vault| {
        item(&vault_address(api, vault.id), &vault.name, &facts(api, vault))
    });
    Page::of(&api.site, session, "vaults", "Vaults").show(&content)
}

/// `GET /vaults/{vaultId}`.
pub(crate) async fn show(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    let (caller, id) = (session.caller(), request.id::<VaultId>(0)?);
    let vault = api.store.vault(&caller, id).await?;
    let contents = api.store.contents(&caller, id).await?;
    let prompts: Vec<ListedPrompt> = contents.take(PROMPTS_MAX).try_collect().await?;

    let id = vault.id.to_string();
    let all = api.site.page(&address("prompts", &[("vaultId", Some(&id))]));
    let empty = html! {
        p { "This vault is empty. Add prompts to it through the API:" }
        p { code { "POST " (api.base_url) "/vaults/" (vault.id) "/prompts" } }
        p { a href=(api.site.page("prompts")) { "Show all prompts" } }
    };
    let content = html! {
        @if let Some(description) = &vault.description { p { (typed(description, 200)) } }
        p .soft { (facts(api, &vault)) }
        p { a href=(all) { "Show its prompts page by page" } }
        h2 { "Prompts" }
        (list_of(&prompts, &empty, |listed| {
            let prompt = &listed.prompt;
            item(&prompt_address(api, prompt.id), &prompt.title, &html! {
                @if listed.pinned { strong { "Pinned" } " · " }
                (prompt.kind.as_str()) " · " (ago(api, prompt.created_at))
            })
        }))
        @if vault.prompt_count > prompts.len() as u64 {
            p .soft { "The vault has " (vault.prompt_count) " prompts." }
        }
    };
    let title = shortened(&vault.name, 60);
    Page::of(&api.site, session, "vaults", &title).show(&content)
}

fn facts(api: &Api, vault: &VaultRecord) -> Markup {
    let count = vault.prompt_count;
    html! {
        (count) (if count == 1 { " prompt" } else { " prompts" })
        " · " (vault.visibility.as_str()) " · created " (ago(api, vault.created_at))
    }
}
