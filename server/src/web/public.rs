//! Vaults that anybody can read, at an address that their owner can give to others.
//!
//! The pages show what the API shows of such a vault to the account that forks it: title, text,
//! type and pictures of its prompts. A vault that is private, or that does not exist, is 404.

use http::HeaderValue;
use maud::{Markup, html};
use promptarium::PromptId;

use super::forms::{Entered, once};
use super::layout::{Page, done_address};
use super::parts::{address, shortened, titled, typed};
use super::pictures::{picture, thumbnail};
use super::vaults::{PAGE, entered_query, page_number, pages, public_address, size};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{ListedPrompt, SessionRecord, VaultRecord, VaultVisibility};
use crate::http::error::ApiError;

/// Characters of a prompt's text in the list.
const TEXT_CHARS: usize = 280;

/// `GET /v/{account}/{slug}`. The field `prompt` of the query names one of its prompts, and `page`
/// the page that it is on.
pub(crate) async fn show(api: &Api, request: Request<'_>) -> HandlerResult {
    let name = request.params.text(0).ok_or(ApiError::NotFound)?;
    let slug = request.params.text(1).ok_or(ApiError::NotFound)?;
    let (account, vault) = api.store.shared_vault(&name, &slug).await?;
    let query = entered_query(&request);
    let number = page_number(&query)?;
    let prompts = api.store.vault_page(account, vault.id, number * PAGE, PAGE).await?;
    // A visitor may be signed in to this or another account.
    let session = api.site.session(&request.parts.headers, &*api.store).await.ok();
    let home = public_address(&name, &vault.slug);
    let content = match query.value("prompt") {
        "" => whole(api, &vault, &prompts, number, &home),
        id => {
            let id = id.parse().map(PromptId::new).map_err(|_| ApiError::NotFound)?;
            let found = prompts.iter().find(|listed| listed.prompt.id == id);
            one(api, found.ok_or(ApiError::NotFound)?, &home, number)
        }
    };
    let title = shortened(&vault.name, 60);
    let mut page = Page::open(&api.site, &title);
    page.session = session.as_ref();
    page.actions = session.as_ref().map(|own| actions(api, account == own.account, &vault));
    let mut response = page.show(&html! {
        p .soft { "A vault of " (typed(&name, 60)) " · " (size(&vault)) }
        (content)
        @if session.is_none() {
            @let sign_in = api.site.page(&address("sign-in", &[("next", Some(&home))]));
            p .soft { a href=(sign_in) { "Sign in" } " to copy this vault to your account." }
        }
    })?;
    if vault.visibility != VaultVisibility::Public {
        response.headers_mut().insert("x-robots-tag", HeaderValue::from_static("noindex"));
    }
    Ok(response)
}

fn actions(api: &Api, is_own: bool, vault: &VaultRecord) -> Markup {
    let page = api.site.page(&format!("vaults/{}", vault.id));
    html! {
        @if is_own {
            a .button href=(page) { "Edit this vault" }
        } @else {
            form method="post" action={ (page) "/fork" } {
                (Entered::new(&[]).token())
                button .main { "Copy to my account" }
            }
        }
    }
}

fn whole(
    api: &Api,
    vault: &VaultRecord,
    prompts: &[ListedPrompt],
    number: usize,
    home: &str,
) -> Markup {
    html! {
            @if let Some(description) = &vault.description { p dir="auto" { (description) } }
            @if prompts.is_empty() { div .empty { p { "There is no prompt here." } } }
            ul .grid {
                @for listed in prompts {
                    @let prompt = &listed.prompt;
                    @let (id, number) = (prompt.id.to_string(), number.to_string());
                    @let link = address(home, &[("page", Some(&*number)), ("prompt", Some(&id))]);
                    li .tile {
                        @if let Some(picture) = thumbnail(api, prompt) { div .cover { (picture) } }
                        a .title href=(api.site.page(&link)) { (titled(&prompt.title, 100)) }
                        p .soft dir="auto" { (shortened(&prompt.text, TEXT_CHARS)) }
                    }
                }
            }
    (pages(api, home, number, vault.prompt_count, &size(vault)))
        }
}

fn one(api: &Api, listed: &ListedPrompt, home: &str, number: usize) -> Markup {
    let (prompt, number) = (&listed.prompt, number.to_string());
    let back = address(home, &[("page", Some(&*number))]);
    html! {
        p { a href=(api.site.page(&back)) { "All prompts of this vault" } }
        h2 dir="auto" { (titled(&prompt.title, 120)) }
        p .soft { (prompt.kind.as_str()) }
        div .pictures {
            @for image in prompt.images.iter().rev() { (picture(api, &prompt.title, image)) }
        }
        pre #text tabindex="0" dir="auto" role="region" aria-label="Text of the prompt" { (prompt.text) }
    }
}

/// `POST /vaults/{vaultId}/fork`.
pub(crate) async fn fork(
    api: &Api,
    session: &SessionRecord,
    mut request: Request<'_>,
) -> HandlerResult {
    let body = request.form().await?;
    let id = request.id(0)?;
    once(api, session, &body, async || {
        let vault = api.store.fork_vault(&session.caller(), id).await?;
        Ok(done_address(&format!("vaults/{}", vault.id), "vault-forked"))
    })
    .await
}
