//! The field `modelId`: its form, and when a prompt has to have one.

use serde_json::json;

use super::{both_accepted, both_name_field, created_with};
use crate::fixture::Prompt;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "prompts.models.required-to-create" ["PR-24"] required_to_create,
        "An image or video prompt without modelId is refused with 400" },
    core! { "prompts.models.optional-for-text" ["PR-24"] optional_for_text,
        "A text prompt is made without modelId and with one" },
    core! { "prompts.models.accepted" ["PR-24", "PR-25"] accepted,
        "A modelId in the provider's namespace makes an image and a video prompt" },
    core! { "prompts.models.pattern-on-create" ["PR-25"] pattern_on_create,
        "A create with a modelId off the pattern is refused with 400, whatever the type" },
    core! { "prompts.models.pattern-on-update" ["PR-35"] pattern_on_update,
        "An update with a modelId off the pattern is refused with 400" },
    core! { "prompts.models.required-to-change" ["PR-36"] required_to_change,
        "A change to image or video without any modelId is refused with 400" },
    core! { "prompts.models.brought-by-change" ["PR-37"] brought_by_change,
        "A change to image or video is accepted with a modelId in the request" },
    core! { "prompts.models.set-at-creation" ["PR-37"] set_at_creation,
        "A change to image or video is accepted if the prompt was made with a modelId" },
    core! { "prompts.models.set-by-update" ["PR-37", "PR-34"] set_by_update,
        "A change to image or video is accepted if an update before it brought a modelId" },
    core! { "prompts.models.between-media" ["PR-37"] between_media,
        "An image prompt becomes a video prompt, and back, without a new modelId" },
    reference! { "prompts.models.kept-as-text" ["PR-37"] kept_as_text,
        "A prompt that becomes a text prompt keeps its modelId (S-05)" },
    reference! { "prompts.models.any-name" ["PR-25"] any_name,
        "Any name in the namespace makes a modelId, of at most 256 characters; whether the model \
         exists is not checked (S-12)" },
    reference! { "prompts.models.line-break" ["PR-25", "PR-35"] line_break,
        "A name that starts with a line break is no modelId (S-12)" },
    reference! { "prompts.models.named" ["PR-24", "PR-25", "PR-36", "ER-03"] named,
        "A modelId that lacks or does not match is named in details" },
];

/// The prefix of the provider's models, from a model the target is known to have.
fn namespace(case: &Case) -> &str {
    case.image_model().split('/').next().unwrap_or_default()
}

fn off_the_pattern(case: &Case) -> Vec<String> {
    let space = namespace(case);
    // A namespace without letters has no other spelling.
    let capitals = Some(format!("{}/plasma", space.to_uppercase()));
    let capitals = capitals.filter(|model| !model.starts_with(space));
    let spellings = [
        space.to_owned(),
        format!("{space}/"),
        "plasma".to_owned(),
        String::new(),
        "/".to_owned(),
        "/plasma".to_owned(),
        format!("/{space}/plasma"),
        format!("x{space}/plasma"),
        format!("{space}x/plasma"),
        format!("other/{space}/plasma"),
        format!("{space}:plasma"),
        format!("{space}\\plasma"),
    ];
    spellings.into_iter().chain(capitals).collect()
}

/// The type, the update of a text prompt to it, and a model for it.
fn media(case: &Case) -> [(&'static str, &str); 2] {
    [("image", case.image_model()), ("video", case.video_model())]
}

async fn required_to_create(case: Case) -> Result<(), Failure> {
    for (kind, _) in media(&case) {
        case.create_prompt(json!({ "promptType": kind })).await?.status(400)?;
    }
    Ok(())
}

async fn optional_for_text(case: Case) -> Result<(), Failure> {
    let model = case.image_model().to_owned();
    let fields = [
        json!({ "promptType": "text" }),
        json!({ "promptType": "text", "modelId": model }),
        json!({ "modelId": model }),
    ];
    created_with(case, fields).await
}

async fn accepted(case: Case) -> Result<(), Failure> {
    let fields = media(&case).map(|(kind, model)| json!({ "promptType": kind, "modelId": model }));
    created_with(case, fields).await
}

async fn pattern_on_create(case: Case) -> Result<(), Failure> {
    for model in off_the_pattern(&case) {
        for kind in ["image", "text"] {
            let fields = json!({ "modelId": model, "promptType": kind });
            case.create_prompt(fields).await?.status(400)?;
        }
    }
    Ok(())
}

async fn pattern_on_update(case: Case) -> Result<(), Failure> {
    let prompt = case.prompt().await?;
    for model in off_the_pattern(&case) {
        prompt.update(json!({ "modelId": model })).await?.status(400)?;
    }
    Ok(())
}

async fn required_to_change(case: Case) -> Result<(), Failure> {
    for (kind, _) in media(&case) {
        case.prompt().await?.update(json!({ "promptType": kind })).await?.status(400)?;
    }
    Ok(())
}

/// The prompt becomes one of this type without a model in the request.
async fn becomes(prompt: &Prompt, kind: &str) -> Result<(), Failure> {
    let changed = prompt.update(json!({ "promptType": kind })).await?;
    changed.success()?.equals("/data/promptType", kind).map(drop)
}

async fn brought_by_change(case: Case) -> Result<(), Failure> {
    for (kind, model) in media(&case) {
        let fields = json!({ "promptType": kind, "modelId": model });
        let changed = case.prompt().await?.update(fields).await?;
        changed.success()?.equals("/data/promptType", kind)?;
    }
    Ok(())
}

async fn set_at_creation(case: Case) -> Result<(), Failure> {
    for (kind, model) in media(&case) {
        let (prompt, _) = case.prompt_with(json!({ "modelId": model })).await?;
        becomes(&prompt, kind).await?;
    }
    Ok(())
}

async fn set_by_update(case: Case) -> Result<(), Failure> {
    for (kind, model) in media(&case) {
        let prompt = case.prompt().await?;
        prompt.update(json!({ "modelId": model })).await?.success()?;
        becomes(&prompt, kind).await?;
    }
    Ok(())
}

async fn between_media(case: Case) -> Result<(), Failure> {
    let prompt = image_prompt(&case).await?;
    becomes(&prompt, "video").await?;
    becomes(&prompt, "image").await
}

async fn kept_as_text(case: Case) -> Result<(), Failure> {
    let prompt = image_prompt(&case).await?;
    for kind in ["text", "image", "text", "video"] {
        becomes(&prompt, kind).await?;
    }
    Ok(())
}

async fn image_prompt(case: &Case) -> Result<Prompt, Failure> {
    let fields = json!({ "promptType": "image", "modelId": case.image_model() });
    Ok(case.prompt_with(fields).await?.0)
}

async fn any_name(case: Case) -> Result<(), Failure> {
    let space = namespace(&case);
    let longest = "é".repeat(256 - space.chars().count() - 1);
    for name in ["x", "a/b/c", "//", " ", "é漢😀", "no such model", &longest] {
        let fields = json!({ "modelId": format!("{space}/{name}") });
        both_accepted(&case, fields).await?;
    }
    let fields = json!({ "modelId": format!("{space}/{longest}n") });
    both_name_field(&case, "modelId", fields).await
}

async fn line_break(case: Case) -> Result<(), Failure> {
    for name in ["\n", "\nplasma", "\r\n"] {
        let fields = json!({ "modelId": format!("{}/{name}", namespace(&case)) });
        both_name_field(&case, "modelId", fields).await?;
    }
    Ok(())
}

async fn named(case: Case) -> Result<(), Failure> {
    for kind in ["image", "video"] {
        both_name_field(&case, "modelId", json!({ "promptType": kind })).await?;
    }
    for model in off_the_pattern(&case) {
        both_name_field(&case, "modelId", json!({ "modelId": model })).await?;
    }
    Ok(())
}
