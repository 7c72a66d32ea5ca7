//! Vaults that anybody can read, at an address that their owner can give to others.
//!
//! The pages show what the API shows of such a vault to the account that forks it: title, text,
//! type and pictures of its prompts. A vault that is private, or that does not exist, is 404.

use http::HeaderValue;

use super::prelude::*;
use super::vaults::{public_address, size};
use super::visit::query_bytes;
use crate::api::Request;

const TEXT_CHARS: usize = 280;

/// `GET /v/{account}/{slug}`. The field `prompt` of the query names one of its prompts.
pub(crate) async fn show(api: &Api, request: Request<'_>) -> HandlerResult {
    let name = request.params.text(0).ok_or(ApiError::NotFound)?;
    let slug = request.params.text(1).ok_or(ApiError::NotFound)?;
    let (account, vault) = api.store.shared_vault(&name, &slug).await?;
    let query = Entered::parse(query_bytes(&request));
    // A visitor may be signed in to this or another account.
    let session = api.site.session(&request.parts.headers, &*api.store).await.ok();
    let session = session.as_ref();
    let home = public_address(&name, &vault.slug);
    let own = format!("vaults/{}", vault.id);
    let fork = format!("{own}/fork");
    let fork = Form { action: Some(&fork), ..Form::new("Copy to my account", Vec::new()) };
    let actions = session.map(|session| match session.account == account {
        true => html! { a .button href=(api.site.page(&own)) { "Edit this vault" } },
        false => Entered::default().form(&api.site, &fork),
    });
    let (title, text, images, content) = match query.value("prompt") {
        "" => {
            let number = page_number(&query)?;
            let prompts = api.store.vault_page(account, vault.id, number * PAGE, PAGE).await?;
            let text = vault.description.clone().unwrap_or_default();
            let images = prompts.iter().flat_map(|listed| listed.prompt.images.iter().rev());
            let images: Vec<_> = images.cloned().collect();
            let shown = prompts.iter().map(|listed| &*listed.prompt);
            (&vault.name, text, images, all(api, &vault, &home, number, shown))
        }
        _ => {
            let id = query.id("prompt").ok_or(ApiError::NotFound)?;
            let prompt = &api.store.shared_prompt(account, vault.id, id).await?;
            let images = prompt.images.iter().rev().cloned().collect();
            let content = one(api, prompt, &query, &home);
            (&prompt.title.clone(), prompt.text.clone(), images, content)
        }
    };
    let title = shortened(visible(title), 60);
    let preview = Some(preview(api, &title, &text, &images));
    let page = Page { session, actions, preview, ..Page::open(&api.site, title) };
    let mut response = page.show(&html! {
        p .soft { "A vault of " (typed(&name, 60)) " · " (size(&vault)) }
        (content)
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

fn all<'a>(
    api: &Api,
    vault: &VaultRecord,
    home: &str,
    number: usize,
    prompts: impl ExactSizeIterator<Item = &'a PromptRecord>,
) -> Markup {
    html! {
        @if let Some(description) = &vault.description { p dir="auto" { (description) } }
        @if prompts.len() == 0 { div .empty { p { "This vault is empty." } } }
        ul .grid {
            @for prompt in prompts {
                @let page = address(home, [("prompt", &*prompt.id.to_string())]);
                (tile(thumbnail(api, prompt).as_ref(), &html! {
                    a .title href=(api.site.page(&page)) { (titled(&prompt.title, 100)) }
                    p .soft dir="auto" { (shortened(&prompt.text, TEXT_CHARS)) }
                }))
            }
        }
        (pages(api, home, number, vault.prompt_count, &size(vault)))
    }
}

fn one(api: &Api, prompt: &PromptRecord, query: &Entered, home: &str) -> Markup {
    let id = prompt.id.to_string();
    let own = api.site.page(&address(home, [("prompt", &*id)]));
    html! {
        p { a href=(api.site.page(home)) { "All prompts of this vault" } }
        p .soft { (prompt.kind.as_str()) }
        (pictures(api, prompt))
        (with_variables(&prompt.text, query, &own, &[("prompt", &id)]))
    }
}

/// What other sites show of a link to the page.
fn preview(api: &Api, title: &str, text: &str, images: &[PromptImage]) -> Markup {
    let text = shortened(text, TEXT_CHARS);
    let image = images.iter().find(|image| api.assets.name_of(&image.source).is_some());
    html! {
        meta property="og:title" content=(title);
        meta property="og:description" content=(text);
        meta name="description" content=(text);
        @if let Some(image) = image {
            meta property="og:image" content=(api.assets.write(&image.source));
        }
    }
}

pub(crate) async fn fork(visit: Visit<'_>) -> HandlerResult {
    let id = visit.request.id(0)?;
    let forked = visit.once(async {
        let vault = visit.store().fork_vault(&visit.caller, id).await?;
        Ok(done_address(&format!("vaults/{}", vault.id), "vault-forked"))
    });
    redirect(&visit.api.site, &forked.await?, None)
}
