//! One prompt: its page, and the forms to write, change, copy and delete it.

use futures::future::join_all;
use maud::html;
use promptarium::PromptId;

use super::forms::{Entered, Field, Form, Input};
use super::generate::{model, ratio};
use super::layout::done_address;
use super::parts::{
    ago, copy_button, full_text, is_visible, shortened, titled, typed, vault_address, words,
};
use super::pictures::pictures;
use super::prompts::{values_of, vault_field};
use super::visit::Visit;
use crate::api::HandlerResult;
use crate::api::prompts::{FIELDS, new_prompt};
use crate::domain::{NewPrompt, PromptKind, PromptPatch};
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
    let (api, more) = (visit.api, prompt.vault_ids.len().saturating_sub(VAULTS_MAX));
    let content = html! {
        (pictures(api, &prompt))
        p .soft {
            (prompt.kind.as_str())
            @if let Some(platform) = &prompt.platform { " · " (typed(platform, 40)) }
            @if let Some(model) = &inputs.model_id { " · " code { (typed(model, 60)) } }
            @if let Some(ratio) = &inputs.aspect_ratio { " · " (typed(ratio, 20)) }
            @for vault in vaults.into_iter().filter_map(Result::ok) {
                " · in " a href=(vault_address(api, vault.id)) { (titled(&vault.name, 60)) }
            }
            @if more > 0 { " and in " (more) " more" }
            " · " (ago(api, prompt.created_at))
            @if prompt.updated_at != prompt.created_at { " · changed " (ago(api, prompt.updated_at)) }
        }
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

/// An empty form, or with what the prompt `from` has.
pub(crate) async fn new(visit: Visit<'_>) -> HandlerResult {
    let created = visit.once(async || {
        let new = form_fields(&visit.sent, FIELDS).read(|form| new_prompt(form, visit.api))?;
        let prompt = visit.store().create_prompt(&visit.caller, new).await?;
        Ok(done_address(&format!("prompts/{}", prompt.id), "prompt-created"))
    });
    let values = match visit.entered.id("from") {
        Some(from) => values_of(&visit, from).await?,
        None => visit.entered.clone(),
    };
    visit.form(values, created, |entered| form(&visit, None, entered)).await
}

pub(crate) async fn edit(visit: Visit<'_>) -> HandlerResult {
    let id = visit.request.id(0)?;
    let changed = async {
        let NewPrompt { title, text, kind, platform, inputs, vault } =
            form_fields(&visit.sent, FIELDS).read(|form| new_prompt(form, visit.api))?;
        let (title, text, kind) = (Some(title), Some(text), Some(kind));
        let patch = PromptPatch { title, text, kind, platform: Some(platform), inputs, vault };
        visit.store().update_prompt(&visit.caller, id, patch).await?;
        Ok(done_address(&format!("prompts/{id}"), "prompt-changed"))
    };
    let mut values = values_of(&visit, id).await?;
    values.set("vaultId", "");
    visit.form(values, changed, |entered| form(&visit, Some(id), entered)).await
}

/// The form for a new prompt, or for the one with this id.
async fn form(visit: &Visit<'_>, id: Option<PromptId>, entered: Entered) -> HandlerResult {
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
    fields.push(vault_field(visit, vault, &entered, "None").await?);
    let form = Form { back: Some(&back), ..Form::new(button, fields) };
    visit.page("prompts", title).show_form(&entered, &form)
}

pub(crate) async fn delete(visit: Visit<'_>) -> HandlerResult {
    let prompt = visit.store().prompt(&visit.caller, visit.request.id(0)?).await?;
    if visit.is_sent() {
        visit.store().delete_prompt(&visit.caller, prompt.id).await?;
        return visit.done("prompts", "prompt-deleted");
    }
    let question = html! {
        "Delete " strong { (titled(&prompt.title, 100)) } "? It is removed from all vaults. This cannot "
        "be undone."
    };
    let page = visit.page("prompts", "Delete a prompt");
    page.confirm(&question, ("Delete this prompt", Vec::new()), &format!("prompts/{}", prompt.id))
}
