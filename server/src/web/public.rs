//! Vaults that anybody can read, at an address that their owner can give to others.
//!
//! The pages show what the API shows of such a vault to the account that forks it: title, text,
//! type and pictures of its prompts. A vault that is private, or that does not exist, is 404.

use http::HeaderValue;

use super::pictures::{pictures, thumbnail};
use super::prelude::*;
use super::vaults::{public_address, size};
use super::visit::query_bytes;
use crate::api::Request;
use crate::domain::VaultVisibility;

const TEXT_CHARS: usize = 280;

/// `GET /v/{account}/{slug}`. The field `prompt` of the query names one of its prompts, and `page`
/// the page that it is on.
pub(crate) async fn show(api: &Api, request: Request<'_>) -> HandlerResult {
    let name = request.params.text(0).ok_or(ApiError::NotFound)?;
    let slug = request.params.text(1).ok_or(ApiError::NotFound)?;
    let (account, vault) = api.store.shared_vault(&name, &slug).await?;
    let query = Entered::parse(query_bytes(&request));
    let number = page_number(&query)?;
    let prompts = api.store.vault_page(account, vault.id, number * PAGE, PAGE).await?;
    // A visitor may be signed in to this or another account.
    let session = api.site.session(&request.parts.headers, &*api.store).await.ok();
    let session = session.as_ref();
    let home = public_address(&name, &vault.slug);
    let at = |prompt: &str| {
        api.site.page(&address(&home, [("page", &*number.to_string()), ("prompt", prompt)]))
    };
    let own = format!("vaults/{}", vault.id);
    let fork = format!("{own}/fork");
    let fork = Form { action: Some(&fork), ..Form::new("Copy to my account", Vec::new()) };
    let actions = session.map(|session| match session.account == account {
        true => html! { a .button href=(api.site.page(&own)) { "Edit this vault" } },
        false => Entered::default().form(&api.site, &fork),
    });
    let one = match query.value("prompt") {
        "" => None,
        id => {
            let found = prompts.iter().find(|listed| listed.prompt.id.to_string() == id);
            Some(&found.ok_or(ApiError::NotFound)?.prompt)
        }
    };
    let page = Page { session, actions, ..Page::open(&api.site, shortened(&vault.name, 60)) };
    let mut response = page.show(&html! {
        p .soft { "A vault of " (typed(&name, 60)) " · " (size(&vault)) }
        @if let Some(prompt) = one {
            p { a href=(at("")) { "All prompts of this vault" } }
            h2 dir="auto" { (titled(&prompt.title, 120)) }
            p .soft { (prompt.kind.as_str()) }
            (pictures(api, prompt))
            (full_text(&prompt.text))
        } @else {
            @if let Some(description) = &vault.description { p dir="auto" { (description) } }
            @if prompts.is_empty() { div .empty { p { "There is no prompt here." } } }
            ul .grid {
                @for prompt in prompts.iter().map(|listed| &listed.prompt) {
                    (tile(thumbnail(api, prompt).as_ref(), &html! {
                        a .title href=(at(&prompt.id.to_string())) { (titled(&prompt.title, 100)) }
                        p .soft dir="auto" { (shortened(&prompt.text, TEXT_CHARS)) }
                    }))
                }
            }
            (pages(api, &home, number, vault.prompt_count, &size(&vault)))
        }
        @if session.is_none() {
            @let sign_in = api.site.page(&address("sign-in", [("next", &*home)]));
            p .soft { a href=(sign_in) { "Sign in" } " to copy this vault to your account." }
        }
    })?;
    if vault.visibility != VaultVisibility::Public {
        response.headers_mut().insert("x-robots-tag", HeaderValue::from_static("noindex"));
    }
    Ok(response)
}

pub(crate) async fn fork(visit: Visit<'_>) -> HandlerResult {
    let id = visit.request.id(0)?;
    let forked = visit.once(async {
        let vault = visit.store().fork_vault(&visit.caller, id).await?;
        Ok(done_address(&format!("vaults/{}", vault.id), "vault-forked"))
    });
    redirect(&visit.api.site, &forked.await?, None)
}
