//! One prompt: its page, and the form to write, change and copy it.

use super::chosen::DELETE;
use super::forms::TOKEN;
use super::generate::{CHOICES, model, ratio};
use super::prelude::*;
use super::prompts::{values_of, vault_choices, vault_field};
use super::uploads::{PICTURE_BYTES_MAX, Sent, picture_field, receive};
use crate::api::prompts::{FIELDS, new_prompt};
use crate::http::rates::PICTURE;

const VAULTS_MAX: usize = 10;

pub(crate) async fn show(visit: Visit<'_>) -> HandlerResult {
    let id = visit.request.id::<PromptId>(0)?;
    let prompt = visit.store().prompt(&visit.caller, id).await?;
    let inputs = visit.store().prompt_inputs(&visit.caller, id).await?;
    let vaults = prompt.vault_ids.iter().take(VAULTS_MAX);
    // One may have been deleted since.
    let vaults = join_all(vaults.map(|id| visit.store().vault(&visit.caller, *id))).await;
    let vaults: Vec<_> = vaults.into_iter().filter_map(Result::ok).collect();
    let more = prompt.vault_ids.len().saturating_sub(VAULTS_MAX);
    let others = vault_choices(&visit, "").await?;
    let own = visit.at(&format!("prompts/{id}"));
    let content = html! {
        (pictures(visit.api, &prompt))
        @if !prompt.images.is_empty() { (generation_settings(&visit, id).await?) }
        p .soft {
            (prompt.kind.as_str())
            @if let Some(platform) = &prompt.platform { " · " (typed(platform, 40)) }
            @if let Some(model) = &inputs.model_id { " · " code { (typed(model, 60)) } }
            @if let Some(ratio) = inputs.aspect_ratio.as_ref().filter(|ratio| !ratio.is_empty()) { " · " (typed(ratio, 20)) }
            @for vault in &vaults {
                " · in " a href=(visit.at(&format!("vaults/{}", vault.id))) { (titled(&vault.name, 60)) }
            }
            @if more > 0 { " and in " (more) " more" }
            " · " (visit.ago(prompt.created_at))
            @if prompt.updated_at != prompt.created_at { " · changed " (visit.ago(prompt.updated_at)) }
        }
        h2 { "Prompt" }
        (with_variables(&prompt.text, &visit.entered, &own, &[]))
        h2 { "Vaults" }
        (in_vaults(&visit, id, &vaults, &others))
    };
    let page = visit.page("prompts", shortened(visible(&prompt.title), 120));
    page.with_actions(html! {
        (visit.button(&format!("generate?prompt={id}"), "Generate a picture"))
        (visit.button(&format!("prompts/{id}/edit"), "Edit"))
        (visit.button(&format!("prompts/new?from={id}"), "Duplicate"))
        (visit.ask("Delete", DELETE, "prompts/chosen", &html! {
            input type="hidden" name="id" value=(id);
            input type="hidden" name="back" value="prompts";
            button .danger name="action" value="delete" { "Delete this prompt" }
        }))
    })
    .show(&content)
}

/// The vaults of a prompt, each with what can be done with it there, and a form to add it to another.
fn in_vaults(
    visit: &Visit<'_>,
    id: PromptId,
    vaults: &[VaultRecord],
    choices: &[(String, String)],
) -> Markup {
    let is_other = |id: &str| vaults.iter().all(|vault| vault.id.to_string() != *id);
    let others: Vec<_> = choices.iter().filter(|(id, _)| is_other(id)).cloned().collect();
    let form = |from: &str, buttons: &[(&str, &str)]| {
        html! {
            form .toolbar method="post" action=(visit.at("prompts/chosen")) {
                input type="hidden" name="id" value=(id);
                input type="hidden" name="back" value={ "prompts/" (id) };
                input type="hidden" name="from" value=(from);
                select name="vaultId" aria-label="Vault to add or move to" {
                    option value="" { "Choose a vault" }
                    (options(&others, ""))
                }
                @for (action, text) in buttons { button name="action" value=(action) { (text) } }
            }
        }
    };
    html! {
        ul .list {
            @for vault in vaults {
                li {
                    a href=(visit.at(&format!("vaults/{}", vault.id))) { (titled(&vault.name, 60)) }
                    (form(&vault.id.to_string(), &[("move", "Move"), ("remove", "Remove")]))
                }
            }
        }
        (form("", &[("add", "Add to vault")]))
    }
}

/// The form for the prompt in the path, or for a new one, empty or with what the prompt `from` has.
pub(crate) async fn write(mut visit: Visit<'_>) -> HandlerResult {
    let id = visit.path_id::<PromptId>()?;
    let sent = receive(&mut visit, PICTURE_BYTES_MAX, Some(PICTURE)).await;
    if id.is_some() && sent.as_ref().is_ok_and(|sent| sent.file.is_none()) {
        // The same change again is no harm, and another one after going back must not be lost.
        visit.entered.set(TOKEN, "");
    }
    let values = match id.or(visit.entered.id("from")) {
        Some(of) => values_of(&visit, of).await?,
        None => visit.entered.clone(),
    };
    let before = values.clone();
    let saved = Box::pin(visit.once(async { save(&visit, id, &before, sent?).await }));
    visit.form(values, saved, |entered| form(&visit, id, entered)).await
}

/// Creates the prompt of the form, or changes one that had the values `before`, with the picture in
/// the same step. Returns the page of the prompt.
async fn save(
    visit: &Visit<'_>,
    id: Option<PromptId>,
    before: &Entered,
    mut sent: Sent,
) -> Result<String, ApiError> {
    // What the API takes as no change.
    let is_emptied =
        |name| !before.value(name).is_empty() && visit.entered.all(name).all(str::is_empty);
    let values = without_replaced(&visit.sent, &CHOICES);
    let new = form_fields(&values, FIELDS).read(|form| {
        if id.is_some() && is_emptied("modelId") {
            form.reject("modelId", "can be replaced, but not removed".to_owned());
        }
        if id.is_some() && is_emptied("aspectRatio") {
            form.set("aspectRatio", "");
        }
        new_prompt(form, visit.api)
    })?;
    let (store, caller) = (visit.store(), &visit.caller);
    let image = sent.picture(visit.api).await?;
    let (prompt, done) = match id {
        None => {
            let new = NewPrompt { images: image.into_iter().collect(), ..new };
            (store.create_prompt(caller, new).await?, "created")
        }
        Some(id) => {
            let NewPrompt { title, text, kind, platform, inputs, vault, images: _ } = new;
            let (title, text, kind) = (Some(title), Some(text), Some(kind));
            let platform = Some(platform);
            let patch = PromptPatch { title, text, kind, platform, inputs, vault, image };
            (store.update_prompt(caller, id, patch).await?, "changed")
        }
    };
    Ok(done_address(&format!("prompts/{}", prompt.id), done))
}

async fn form(visit: &Visit<'_>, id: Option<PromptId>, mut entered: Entered) -> HandlerResult {
    let (back, title, button, vault) = match id {
        None => ("prompts".to_owned(), "New prompt", "Save prompt", "Vault"),
        Some(id) => (format!("prompts/{id}"), "Edit prompt", "Save changes", "Also add to vault"),
    };
    if id.is_some() && entered.problem.is_none() {
        entered.set("vaultId", "");
    }
    let mut fields = vec![
        Field::new("title", "Title", Input::Line).required(),
        Field::new("prompt", "Prompt", Input::Text(10)).required(),
        // Text first: it needs no model.
        Field::new("promptType", "Type", Input::Select(words(["text", "image", "video"]))),
        Field::new("platform", "Platform", Input::Line).help("Where you use it"),
        model(visit).await?.help("Needed for image and video"),
        ratio(),
        vault_field(visit, vault, &entered, "None").await?,
    ];
    const { assert!(PromptKind::ALL.len() == 3, "each type of prompt is a choice") };
    if id.is_none() {
        fields.extend(["imageUrl", "referenceMediaUrls"].map(Field::hidden));
    }
    // After the others, which are read first.
    fields.push(picture_field());
    let form = Form { back: Some(&back), ..Form::new(button, fields) };
    visit.page("prompts", title).show_form(&entered, &form)
}
