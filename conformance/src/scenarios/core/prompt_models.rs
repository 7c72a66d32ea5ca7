//! The field `modelId`: its form, and when a prompt has to have one.

use super::prompt_create::created_with;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "prompts.models.required-to-create" ["PR-24"]
        |case| async move { refused_on_create(&case, MEDIA.map(of_type)).await },
        "An image or video prompt without modelId is refused with 400" },
    core! { "prompts.models.optional-for-text" ["PR-24"] optional_for_text,
        "A text prompt is made without modelId and with one" },
    core! { "prompts.models.accepted" ["PR-24", "PR-25"]
        |case| async move { created_with(case.clone(), with_models(&case)).await },
        "A modelId in the provider's namespace makes an image and a video prompt" },
    core! { "prompts.models.pattern-on-create" ["PR-25"] pattern_on_create,
        "A create with a modelId off the pattern is refused with 400, whatever the type" },
    core! { "prompts.models.pattern-on-update" ["PR-35"]
        |case| async move { refused_on_update(&case, off_the_pattern(&case)).await },
        "An update with a modelId off the pattern is refused with 400" },
    core! { "prompts.models.required-to-change" ["PR-36"]
        |case| async move { refused_on_update(&case, MEDIA.map(of_type)).await },
        "A change to image or video without any modelId is refused with 400" },
    core! { "prompts.models.set-before" ["PR-37", "PR-34"] set_before,
        "A change to image or video takes the modelId of itself, a create or an earlier update" },
    core! { "prompts.models.between-media" ["PR-37"]
        |case| image_becomes(case, ["video", "image"]),
        "An image prompt becomes a video prompt, and back, without a new modelId" },
];

pub(crate) const MEDIA: [&str; 2] = ["image", "video"];

pub(crate) fn of_type(kind: &str) -> Value {
    json!({ "promptType": kind })
}

pub(crate) fn with_models(case: &Case) -> [Value; 2] {
    [("image", case.image_model()), ("video", case.video_model())]
        .map(|(kind, model)| json!({ "promptType": kind, "modelId": model }))
}

/// The prefix of the provider's models, from a model the target is known to have.
pub(crate) fn namespace(case: &Case) -> &str {
    case.image_model().split('/').next().unwrap_or_default()
}

pub(crate) fn off_the_pattern(case: &Case) -> Vec<Value> {
    let space = namespace(case);
    // A namespace without letters has no other spelling.
    let capitals = Some(format!("{}/plasma", space.to_uppercase()));
    let capitals = capitals.filter(|model| !model.starts_with(space));
    let forms = "{} {}/ plasma / /plasma /{}/plasma x{}/plasma {}x/plasma other/{}/plasma \
        {}:plasma {}\\plasma";
    // `.` of the pattern is no line break.
    let forms = forms.split(' ').chain(["", "{}/\n", "{}/\nplasma"]);
    let spellings = forms.map(|form| form.replace("{}", space));
    spellings.chain(capitals).map(|model| json!({ "modelId": model })).collect()
}

async fn refused_on_create(case: &Case, faulty: impl IntoIterator<Item = Value>) -> Result {
    for fields in faulty {
        case.create_prompt(fields).await?.status(400)?;
    }
    Ok(())
}

async fn refused_on_update(case: &Case, faulty: impl IntoIterator<Item = Value>) -> Result {
    let prompt = case.prompt().await?;
    for fields in faulty {
        prompt.update(fields).await?.status(400)?;
    }
    Ok(())
}

async fn optional_for_text(case: Case) -> Result {
    let model = case.image_model().to_owned();
    let fields = [
        json!({ "promptType": "text" }),
        json!({ "promptType": "text", "modelId": model }),
        json!({ "modelId": model }),
    ];
    created_with(case, fields).await
}

async fn pattern_on_create(case: Case) -> Result {
    for kind in ["image", "text"] {
        let faulty = off_the_pattern(&case).into_iter().map(|fields| merged(of_type(kind), fields));
        refused_on_create(&case, faulty).await?;
    }
    Ok(())
}

/// The prompt becomes one of this type without a model in the request.
pub(crate) async fn becomes(prompt: &Prompt, kind: &str) -> Result {
    let changed = prompt.update(of_type(kind)).await?;
    changed.success()?.equals("/data/promptType", kind).map(drop)
}

async fn set_before(case: Case) -> Result {
    for fields in with_models(&case) {
        let changed = case.prompt().await?.update(fields.clone()).await?;
        changed.success()?.equals("/data/promptType", fields["promptType"].clone())?;
    }
    for (kind, model) in MEDIA.into_iter().zip([case.image_model(), case.video_model()]) {
        let fields = json!({ "modelId": model });
        becomes(&case.prompt_with(fields.clone()).await?.0, kind).await?;
        let prompt = case.prompt().await?;
        prompt.update(fields).await?.success()?;
        becomes(&prompt, kind).await?;
    }
    Ok(())
}

pub(crate) async fn image_becomes<const N: usize>(case: Case, kinds: [&str; N]) -> Result {
    let [image, _] = with_models(&case);
    let (prompt, _) = case.prompt_with(image).await?;
    for kind in kinds {
        becomes(&prompt, kind).await?;
    }
    Ok(())
}
