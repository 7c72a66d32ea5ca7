//! One prompt: its page, and the forms to write, change, copy and delete it.

use futures::future::join_all;
use maud::{Markup, html};
use promptarium::PromptId;

use super::forms::{Entered, Field, Input, confirm_page, once};
use super::generate::{RATIOS, models};
use super::layout::{Page, done, done_address};
use super::parts::{ago, copy_button, shortened, titled, typed, vault_address};
use super::pictures::picture;
use super::prompts::{named_vault, vault_choices};
use crate::api::prompts::{FIELDS, KINDS, new_prompt};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{
    NewPrompt, PromptInputs, PromptPatch, PromptRecord, SessionRecord as Session, VaultRecord,
};
use crate::http::error::ApiError;
use crate::http::response::{self};
use crate::http::validate::form_fields;

/// Vaults that the page of a prompt names.
const VAULTS_MAX: usize = 10;

/// `GET /prompts/{promptId}`.
pub(crate) async fn show(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    let (caller, id) = (session.caller(), request.id::<PromptId>(0)?);
    let prompt = api.store.prompt(&caller, id).await?;
    let inputs = api.store.prompt_inputs(&caller, id).await?;
    let vaults = prompt.vault_ids.iter().take(VAULTS_MAX);
    // One may have been deleted since.
    let vaults = join_all(vaults.map(|id| api.store.vault(&caller, *id))).await;
    let vaults = vaults.into_iter().filter_map(Result::ok).collect::<Vec<_>>();
    let content = html! {
        @if !prompt.images.is_empty() {
            div .pictures {
                @for image in prompt.images.iter().rev() { (picture(api, &prompt.title, image)) }
            }
        }
        (facts(api, &prompt, &inputs, &vaults))
        div .heading {
            h2 { "Prompt" }
            div .actions { (copy_button("text", "Copy")) }
        }
        pre #text .text tabindex="0" dir="auto" role="region" aria-label="Text of the prompt" { (prompt.text) }
    };
    let title = if titled(&prompt.title, 1).into_string() == "Untitled" {
        "Untitled"
    } else {
        &prompt.title
    };
    let title = shortened(title, 120);
    let link = |page: &str, text: &str| {
        html! {
            a .button href=(api.site.page(&page.replace("{}", &id.to_string()))) { (text) }
        }
    };
    let mut page = Page::of(&api.site, session, "prompts", &title).after(request.parts);
    page.actions = Some(html! {
        (link("generate?prompt={}", "Generate a picture"))
        (link("prompts/{}/edit", "Edit"))
        (link("prompts/new?from={}", "Duplicate"))
        (link("prompts/{}/delete", "Delete"))
    });
    page.show(&content)
}

fn facts(
    api: &Api,
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

/// `GET /prompts/{promptId}/text`: the text alone, for the buttons that copy it.
pub(crate) async fn text(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    let prompt = api.store.prompt(&session.caller(), request.id(0)?).await?;
    let body = response::ResponseBody::Left(prompt.text.to_string().into());
    Ok(response::with_type(http::StatusCode::OK, "text/plain; charset=utf-8", body))
}

/// `GET /prompts/new`: an empty form, or with what the prompt `from` has.
pub(crate) async fn new(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    let query = Entered::parse(request.parts.uri.query().unwrap_or_default().as_bytes());
    let Ok(from) = query.value("from").parse() else {
        return form(api, session, None, &query).await;
    };
    let values = values_of(api, session, PromptId::new(from)).await?;
    form(api, session, None, &Entered::owned(values)).await
}

/// `POST /prompts/new`.
pub(crate) async fn create(
    api: &Api,
    session: &Session,
    mut request: Request<'_>,
) -> HandlerResult {
    let body = request.form().await?;
    let work = async || {
        let new = new_prompt(form_fields(&body, FIELDS), api)?;
        let prompt = api.store.create_prompt(&session.caller(), new).await?;
        Ok(done_address(&format!("prompts/{}", prompt.id), "prompt-created"))
    };
    match once(api, session, &body, work).await {
        Err(error) => {
            form(api, session, None, &Entered::refused(&body, error, request.parts)?).await
        }
        created => created,
    }
}

/// `GET /prompts/{promptId}/edit`.
pub(crate) async fn edit(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    let id = request.id(0)?;
    let mut values = values_of(api, session, id).await?;
    values.retain(|(name, _)| *name != "vaultId");
    form(api, session, Some(id), &Entered::owned(values)).await
}

/// `POST /prompts/{promptId}/edit`.
pub(crate) async fn change(
    api: &Api,
    session: &Session,
    mut request: Request<'_>,
) -> HandlerResult {
    let id: PromptId = request.id(0)?;
    let body = request.form().await?;
    let changed = async {
        let NewPrompt { title, text, kind, platform, inputs, vault } =
            new_prompt(form_fields(&body, FIELDS), api)?;
        let (title, text, kind) = (Some(title), Some(text), Some(kind));
        let patch = PromptPatch { title, text, kind, platform: Some(platform), inputs, vault };
        Ok(api.store.update_prompt(&session.caller(), id, patch).await?)
    };
    match changed.await {
        Ok(_) => done(&api.site, &format!("prompts/{id}"), "prompt-changed"),
        Err(error) => {
            form(api, session, Some(id), &Entered::refused(&body, error, request.parts)?).await
        }
    }
}

/// What a form shows of a prompt.
async fn values_of(
    api: &Api,
    session: &Session,
    id: PromptId,
) -> Result<Vec<(&'static str, String)>, ApiError> {
    let caller = session.caller();
    let prompt = api.store.prompt(&caller, id).await?;
    let inputs = api.store.prompt_inputs(&caller, id).await?;
    let vault = prompt.vault_ids.first().map(ToString::to_string);
    let url = |image| api.assets.write(image).into_owned();
    let references = inputs.reference_media_urls.iter().flat_map(|urls| urls.iter());
    let references = references.map(url).collect::<Vec<_>>();
    let optional =
        |text: &Option<std::sync::Arc<str>>| text.as_deref().unwrap_or_default().to_owned();
    let mut values = vec![
        ("title", prompt.title.to_string()),
        ("prompt", prompt.text.to_string()),
        ("promptType", prompt.kind.as_str().to_owned()),
        ("platform", optional(&prompt.platform)),
        ("modelId", optional(&inputs.model_id)),
        ("aspectRatio", optional(&inputs.aspect_ratio)),
        ("vaultId", vault.unwrap_or_default()),
    ];
    values.extend(inputs.image_url.as_ref().map(|image| ("imageUrl", url(image))));
    if !references.is_empty() {
        values.push(("referenceMediaUrls", serde_json::json!(references).to_string()));
    }
    Ok(values)
}

/// The form for a new prompt, or for the one with this id.
async fn form(
    api: &Api,
    session: &Session,
    id: Option<PromptId>,
    entered: &Entered<'_>,
) -> HandlerResult {
    let chosen = named_vault(api, session, entered.value("vaultId")).await.unwrap_or_default();
    let mut vaults = vec![(String::new(), "None".to_owned())];
    vaults.extend(vault_choices(api, session, chosen).await?);
    let kinds = ["text", "image", "video"].map(|word| (word.to_owned(), word.to_owned()));
    debug_assert_eq!(kinds.len(), KINDS.len(), "each type of prompt is a choice");
    let (models, ratios) = (models(api, session).await?, RATIOS.map(str::to_owned));
    let vault_label = if id.is_some() { "Also add to vault" } else { "Vault" };
    let fields = [
        Field::new("title", "Title", Input::Title).required(),
        Field::new("prompt", "Prompt", Input::Text { rows: 10 }).required(),
        Field::new("promptType", "Type", Input::Select(&kinds)),
        Field::new("platform", "Platform", Input::Line).help("Where you use it"),
        Field::new("modelId", "Model", Input::Suggested(&models))
            .help("Needed for image and video"),
        Field::new("aspectRatio", "Aspect ratio", Input::Suggested(&ratios)),
        Field::new("vaultId", vault_label, Input::Select(&vaults)),
    ];
    let (action, title, button) = match id {
        None => ("prompts/new".to_owned(), "New prompt", "Save prompt"),
        Some(id) => (format!("prompts/{id}/edit"), "Edit prompt", "Save changes"),
    };
    let back = id.map_or_else(|| "prompts".to_owned(), |id| format!("prompts/{id}"));
    let labels = fields.iter().map(Field::label).collect::<Vec<_>>();
    let content = html! {
        (entered.summary(&labels))
        form .fields method="post" action=(api.site.page(&action)) {
            (entered.token())
            @for name in ["imageUrl", "referenceMediaUrls"] {
                @if id.is_none() && !entered.value(name).is_empty() {
                    input type="hidden" name=(name) value=(entered.value(name));
                }
            }
            @for field in &fields { (entered.field(field)) }
            div .buttons {
                button .main { (button) }
                a .button href=(api.site.page(&back)) { "Cancel" }
            }
        }
    };
    Ok(Page::of(&api.site, session, "prompts", title).response(entered.status(), &content))
}

/// `GET /prompts/{promptId}/delete`.
pub(crate) async fn confirm(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    let prompt = api.store.prompt(&session.caller(), request.id(0)?).await?;
    let question = html! {
        "Delete " strong { (titled(&prompt.title, 100)) } "? It is removed from all vaults. This cannot "
        "be undone."
    };
    let page = Page::of(&api.site, session, "prompts", "Delete a prompt");
    let (action, back) =
        (format!("prompts/{}/delete", prompt.id), format!("prompts/{}", prompt.id));
    confirm_page(&page, &question, (&action, &html! {}, "Delete this prompt"), &back)
}

/// `POST /prompts/{promptId}/delete`.
pub(crate) async fn delete(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    api.store.delete_prompt(&session.caller(), request.id(0)?).await?;
    done(&api.site, "prompts", "prompt-deleted")
}
