//! One prompt: its page, and the forms to write, change, copy and delete it.

use futures::future::join_all;
use maud::{Markup, html};
use promptarium::PromptId;

use super::forms::{Entered, Field, Form, Input};
use super::generate::{model, ratio};
use super::layout::{confirm_page, done_address};
use super::parts::{
    ago, copy_button, full_text, is_visible, shortened, titled, typed, vault_address, words,
};
use super::pictures::pictures;
use super::prompts::vault_field;
use super::visit::Visit;
use crate::api::HandlerResult;
use crate::api::prompts::{FIELDS, new_prompt};
use crate::domain::{NewPrompt, PromptInputs, PromptKind, PromptPatch, PromptRecord, VaultRecord};
use crate::http::error::ApiError;
use crate::http::validate::form_fields;

/// Vaults that the page of a prompt names.
const VAULTS_MAX: usize = 10;

pub(crate) async fn show(visit: Visit<'_>) -> HandlerResult {
    let id = visit.request.id::<PromptId>(0)?;
    let prompt = visit.store().prompt(&visit.caller, id).await?;
    let inputs = visit.store().prompt_inputs(&visit.caller, id).await?;
    let vaults = prompt.vault_ids.iter().take(VAULTS_MAX);
    // One may have been deleted since.
    let vaults = join_all(vaults.map(|id| visit.store().vault(&visit.caller, *id))).await;
    let vaults = vaults.into_iter().filter_map(Result::ok).collect::<Vec<_>>();
    let content = html! {
        (pictures(visit.api, &prompt))
        (facts(&visit, &prompt, &inputs, &vaults))
        div .heading {
            h2 { "Prompt" }
            div .actions { (copy_button("text", "Copy")) }
        }
        (full_text(&prompt.text))
    };
    let title = if is_visible(&prompt.title) { &*prompt.title } else { "Untitled" };
    let page = visit.page("prompts", shortened(title, 120));
    page.with_actions(html! {
        (visit.button(&format!("generate?prompt={id}"), "Generate a picture"))
        (visit.button(&format!("prompts/{id}/edit"), "Edit"))
        (visit.button(&format!("prompts/new?from={id}"), "Duplicate"))
        (visit.button(&format!("prompts/{id}/delete"), "Delete"))
    })
    .show(&content)
}

fn facts(
    Visit { api, .. }: &Visit<'_>,
    prompt: &PromptRecord,
    inputs: &PromptInputs,
    vaults: &[VaultRecord],
) -> Markup {
    let more = prompt.vault_ids.len().saturating_sub(VAULTS_MAX);
    html! {
        p .soft {
            (prompt.kind.as_str())
            @if let Some(platform) = &prompt.platform { " · " (typed(platform, 40)) }
            @if let Some(model) = &inputs.model_id { " · " code { (typed(model, 60)) } }
            @if let Some(ratio) = &inputs.aspect_ratio { " · " (typed(ratio, 20)) }
            @for vault in vaults {
                " · in " a href=(vault_address(api, vault.id)) { (titled(&vault.name, 60)) }
            }
            @if more > 0 { " and in " (more) " more" }
            " · " (ago(api, prompt.created_at))
            @if prompt.updated_at != prompt.created_at { " · changed " (ago(api, prompt.updated_at)) }
        }
    }
}

/// `GET /prompts/new`: an empty form, or with what the prompt `from` has.
pub(crate) async fn new(visit: Visit<'_>) -> HandlerResult {
    let query = visit.query();
    match query.value("from").parse().map(PromptId::new) {
        Ok(from) => form(&visit, None, &values_of(&visit, from, true).await?).await,
        Err(_) => form(&visit, None, &query).await,
    }
}

pub(crate) async fn create(mut visit: Visit<'_>) -> HandlerResult {
    let body = visit.form().await?;
    let created = visit.once(&body, async || {
        let new = form_fields(&body, FIELDS).read(|form| new_prompt(form, visit.api))?;
        let prompt = visit.store().create_prompt(&visit.caller, new).await?;
        Ok(done_address(&format!("prompts/{}", prompt.id), "prompt-created"))
    });
    match created.await {
        Ok(page) => visit.redirect(&page),
        Err(error) => form(&visit, None, &visit.refused(&body, error)?).await,
    }
}

pub(crate) async fn edit(visit: Visit<'_>) -> HandlerResult {
    let id = visit.request.id(0)?;
    form(&visit, Some(id), &values_of(&visit, id, false).await?).await
}

pub(crate) async fn change(mut visit: Visit<'_>) -> HandlerResult {
    let id: PromptId = visit.request.id(0)?;
    let body = visit.form().await?;
    let changed = async {
        let NewPrompt { title, text, kind, platform, inputs, vault } =
            form_fields(&body, FIELDS).read(|form| new_prompt(form, visit.api))?;
        let (title, text, kind) = (Some(title), Some(text), Some(kind));
        let patch = PromptPatch { title, text, kind, platform: Some(platform), inputs, vault };
        Ok(visit.store().update_prompt(&visit.caller, id, patch).await?)
    };
    match changed.await {
        Ok(_) => visit.done(&format!("prompts/{id}"), "prompt-changed"),
        Err(error) => form(&visit, Some(id), &visit.refused(&body, error)?).await,
    }
}

/// What a form shows of a prompt. A copy goes into its vault, too.
async fn values_of(visit: &Visit<'_>, id: PromptId, is_copy: bool) -> Result<Entered, ApiError> {
    let prompt = visit.store().prompt(&visit.caller, id).await?;
    let inputs = visit.store().prompt_inputs(&visit.caller, id).await?;
    let vault = prompt.vault_ids.first().filter(|_| is_copy).map(ToString::to_string);
    let url = |image| visit.api.assets.write(image).into_owned();
    let references = inputs.reference_media_urls.iter().flat_map(|urls| urls.iter());
    let references = references.map(url).collect::<Vec<_>>();
    let references = match references.is_empty() {
        true => String::new(),
        false => serde_json::json!(references).to_string(),
    };
    Ok(Entered::new([
        ("title", &*prompt.title),
        ("prompt", &prompt.text),
        ("promptType", prompt.kind.as_str()),
        ("platform", prompt.platform.as_deref().unwrap_or_default()),
        ("modelId", inputs.model_id.as_deref().unwrap_or_default()),
        ("aspectRatio", inputs.aspect_ratio.as_deref().unwrap_or_default()),
        ("vaultId", &vault.unwrap_or_default()),
        ("imageUrl", &inputs.image_url.as_ref().map(url).unwrap_or_default()),
        ("referenceMediaUrls", &references),
    ]))
}

/// The form for a new prompt, or for the one with this id.
async fn form(visit: &Visit<'_>, id: Option<PromptId>, entered: &Entered) -> HandlerResult {
    let mut fields = vec![
        Field::new("title", "Title", Input::WideLine).required(),
        Field::new("prompt", "Prompt", Input::Text(10)).required(),
        // Text first: it needs no model.
        Field::new("promptType", "Type", Input::Select(words(["text", "image", "video"]))),
        Field::new("platform", "Platform", Input::Line).help("Where you use it"),
        model(visit).await?.help("Needed for image and video"),
        ratio(),
    ];
    const { assert!(PromptKind::ALL.len() == 3, "each type of prompt is a choice") };
    let (back, title, button, vault) = match id {
        None => ("prompts".to_owned(), "New prompt", "Save prompt", "Vault"),
        Some(id) => (format!("prompts/{id}"), "Edit prompt", "Save changes", "Also add to vault"),
    };
    if id.is_none() {
        fields.extend(["imageUrl", "referenceMediaUrls"].map(Field::hidden));
    }
    fields.push(vault_field(visit, vault, entered, "None").await?);
    let form = Form { back: Some(&back), ..Form::new(button, fields) };
    visit.page("prompts", title).show_form(entered, &form)
}

pub(crate) async fn confirm(visit: Visit<'_>) -> HandlerResult {
    let prompt = visit.store().prompt(&visit.caller, visit.request.id(0)?).await?;
    let question = html! {
        "Delete " strong { (titled(&prompt.title, 100)) } "? It is removed from all vaults. This cannot "
        "be undone."
    };
    let (page, back) = (visit.page("prompts", "Delete a prompt"), format!("prompts/{}", prompt.id));
    confirm_page(&page, &question, ("Delete this prompt", Vec::new()), &back)
}

pub(crate) async fn delete(visit: Visit<'_>) -> HandlerResult {
    visit.store().delete_prompt(&visit.caller, visit.request.id(0)?).await?;
    visit.done("prompts", "prompt-deleted")
}
