//! Prompts, their pictures, and the form for a new one.

use futures::future::join_all;
use maud::{Markup, html};
use promptarium::{PromptId, VaultId, limits};
use url::form_urlencoded;
use uuid::Uuid;

use super::layout::{
    Page, When, address, item, list as list_of, prompt_address, redirect, shortened, typed,
    vault_address,
};
use crate::api::generations::new_job;
use crate::api::prompts::{KINDS, next_cursor, page_query};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{
    Media, PromptImage, PromptInputs, PromptKind, PromptRecord, SessionRecord, VaultRecord,
};
use crate::http::validate::form_fields;

const QUERY: &[&str] = &["cursor", "vaultId", "type"];
const PICTURE_FIELDS: &[&str] = &["modelId", "aspectRatio", "clientJobId"];

/// Characters of a prompt's text in its page.
const TEXT_CHARS_MAX: usize = 4_000;
/// Vaults in the filter.
const VAULTS_MAX: usize = 50;
/// Vaults that the page of a prompt names.
const PROMPT_VAULTS_MAX: usize = 10;

/// `GET /prompts`.
pub(crate) async fn list(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    let caller = session.caller();
    let query = request.parts.uri.query().unwrap_or_default().as_bytes();
    let (search, listing) = page_query(api, &caller, form_fields(query, QUERY))?;
    let page = api.store.list_prompts(&caller, search).await?;
    let next = next_cursor(api, &listing, &page);
    let mut vaults = api.store.newest_vaults(&caller, VAULTS_MAX).await?;

    let given = |name: &str| {
        let mut fields = form_urlencoded::parse(query).filter(|(field, _)| field == name);
        fields.next().map(|(_, value)| value.into_owned()).filter(|value| !value.is_empty())
    };
    let (vault, kind) = (given("vaultId"), given("type"));
    // An older one that is chosen is in the filter too. One that does not exist is refused above.
    if let Some(id) = vault.as_ref().and_then(|id| id.parse().ok()).map(VaultId::new)
        && vaults.iter().all(|other| other.id != id)
    {
        vaults.push(api.store.vault(&caller, id).await?);
    }
    let filters = [("vaultId", vault.as_deref()), ("type", kind.as_deref())];
    let empty = html! {
        @if vault.is_some() || kind.is_some() {
            p { "No prompt matches. " a href=(api.site.page("prompts")) { "Show all prompts" } }
        } @else {
            p { "There is no prompt. Create a key, and with it a prompt through the API:" }
            p { code { "POST " (api.base_url) "/prompts" } }
            p { a href=(api.site.page("keys")) { "Show keys" } }
        }
    };
    let content = html! {
        (filter(api, &vaults, filters))
        (list_of(&page.prompts, &empty, |prompt| {
            item(&prompt_address(api, prompt.id), &prompt.title, &facts(prompt))
        }))
        @if given("cursor").is_some() {
            p { a href=(api.site.page(&address("prompts", &filters))) { "First page" } }
        }
        @if let Some(next) = &next {
            @let next = address("prompts", &[filters[0], filters[1], ("cursor", Some(next))]);
            p { a rel="next" href=(api.site.page(&next)) { "Next page" } }
        }
    };
    Page::of(&api.site, session, "prompts", "Prompts").show(&content)
}

fn filter(api: &Api, vaults: &[VaultRecord], chosen: [(&str, Option<&str>); 2]) -> Markup {
    let [(_, vault), (_, kind)] = chosen;
    html! {
        form .fields action=(api.site.page("prompts")) {
            div {
                label for="vault" { "Vault" }
                select #vault name="vaultId" {
                    option value="" { "All vaults" }
                    @for other in vaults {
                        @let is_chosen = vault.is_some_and(|id| id == other.id.to_string());
                        option value=(other.id) dir="auto" selected[is_chosen] {
                            (shortened(&other.name, 30))
                        }
                    }
                }
            }
            div {
                label for="type" { "Type" }
                select #type name="type" {
                    option value="" { "All types" }
                    @for (word, _) in KINDS {
                        option value=(word) selected[kind == Some(word)] { (word) }
                    }
                }
            }
            button { "Filter" }
        }
    }
}

/// `GET /prompts/{promptId}`.
pub(crate) async fn show(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    let prompt = api.store.prompt(&session.caller(), request.id(0)?).await?;
    let inputs = api.store.prompt_inputs(&session.caller(), prompt.id).await?;
    let caller = session.caller();
    let vaults = prompt.vault_ids.iter().take(PROMPT_VAULTS_MAX);
    // One may have been deleted since.
    let vaults = join_all(vaults.map(|id| api.store.vault(&caller, *id))).await;
    let vaults = vaults.into_iter().filter_map(Result::ok).collect::<Vec<_>>();
    let more = prompt.vault_ids.len().saturating_sub(PROMPT_VAULTS_MAX);
    let content = html! {
        p .soft {
            (facts(&prompt))
            @for vault in &vaults {
                " · in " a href=(vault_address(api, vault.id)) { (typed(&vault.name, 60)) }
            }
            @if more > 0 { " and in " (more) " more" }
        }
        pre tabindex="0" dir="auto" aria-label="Text of the prompt" {
            (shortened(&prompt.text, TEXT_CHARS_MAX))
        }
        @if prompt.text.chars().count() > TEXT_CHARS_MAX {
            p .soft { "The API returns the whole text." }
        }
        h2 { "Pictures" }
        @if prompt.images.is_empty() {
            div .empty { p { "This prompt has no picture. Queue one below." } }
        } @else {
            div .pictures { @for image in &*prompt.images { (picture(api, image)) } }
        }
        (picture_form(api, prompt.id, &inputs))
    };
    let title = shortened(&prompt.title, 120);
    Page::of(&api.site, session, "prompts", &title).show(&content)
}

/// An asset of this service is shown; anything else is only linked to, if browsers can follow it
/// without running something.
fn picture(api: &Api, image: &PromptImage) -> Markup {
    let (width, height) = (image.width, image.height);
    if let Some(name) = api.assets.name_of(&image.source) {
        let source = api.site.page(&format!("assets/{name}"));
        let alt = format!("Picture of {width} by {height} pixels");
        return match name.media() {
            Media::Mp4 | Media::Webm => html! {
                video controls preload="metadata" src=(source) width=(width) height=(height)
                    aria-label=(alt) {}
            },
            _ => html! {
                a href=(source) {
                    img loading="lazy" src=(source) width=(width) height=(height) alt=(alt);
                }
            },
        };
    }
    let url = &*api.assets.write(&image.source);
    let text = typed(url, 80);
    match url.starts_with("https://") || url.starts_with("http://") {
        true => html! { a href=(url) rel="noopener noreferrer nofollow" { (text) } },
        false => html! { span { (text) } },
    }
}

/// Sending the form twice queues one job, since its name is in the form.
fn picture_form(api: &Api, prompt: PromptId, inputs: &PromptInputs) -> Markup {
    let action = format!("prompts/{prompt}/pictures");
    html! {
        h2 { "New picture" }
        form .fields method="post" action=(api.site.page(&action)) {
            input type="hidden" name="clientJobId" value=(Uuid::new_v4());
            div {
                label for="model" { "Model" }
                input #model name="modelId" dir="auto" required autocomplete="off" spellcheck="false"
                    maxlength=(limits::GENERATION_MODEL_ID_CHARS.end())
                    value=[inputs.model_id.as_deref()] aria-describedby="picture-help";
            }
            div {
                label for="ratio" { "Aspect ratio" }
                input #ratio name="aspectRatio" dir="auto" size="6" autocomplete="off"
                    maxlength=(limits::GENERATION_ASPECT_RATIO_CHARS_MAX)
                    value=(inputs.aspect_ratio.as_deref()
                        .unwrap_or(limits::GENERATION_ASPECT_RATIO_DEFAULT));
            }
            button .main { "Queue picture" }
        }
        p #picture-help .soft {
            "A server without a provider of its own takes every model below " code { "local/" }
            ", such as " code { "local/plasma" } ". The result becomes a new prompt in the same vault."
        }
    }
}

/// `POST /prompts/{promptId}/pictures`.
pub(crate) async fn new_picture(
    api: &Api,
    session: &SessionRecord,
    mut request: Request<'_>,
) -> HandlerResult {
    let (caller, id) = (session.caller(), request.id(0)?);
    let body = request.form().await?;
    let prompt = api.store.prompt(&caller, id).await?;
    let mut form = form_fields(&body, PICTURE_FIELDS);
    form.set("prompt", &*prompt.text);
    if prompt.kind == PromptKind::Video {
        form.set("generationType", PromptKind::Video.as_str());
    }
    if let Some(vault) = prompt.vault_ids.first() {
        form.set("vaultId", vault.to_string());
    }
    api.submitter.submit(&caller, new_job(form, &api.assets)?.0, ()).await?;
    redirect(&api.site, "jobs", None)
}

fn facts(prompt: &PromptRecord) -> Markup {
    let pictures = prompt.images.len();
    html! {
        (prompt.kind.as_str())
        @if let Some(platform) = &prompt.platform { " · " (typed(platform, 40)) }
        @if pictures > 0 { " · " (pictures) (if pictures == 1 { " picture" } else { " pictures" }) }
        " · " (When(prompt.created_at))
    }
}
