//! `POST /prompts`, and the values of its fields, on an update too: defaults, texts, addresses, and
//! `modelId` with the types that need it. The bounds of all fields are in `fields`.

use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "prompts.create.twice" ["PR-19", "PR-01"] twice,
        "Two creates with the same body make two prompts" },
    scenario! { "prompts.create.type-default" ["PR-21"]
        |case| shown(case, json!({}), "promptType", json!("text")),
        "A prompt that was made without promptType is a text prompt" },
    scenario! { "prompts.create.platform" ["PR-23"] platform,
        "A new prompt shows the platform it was made with" },
    scenario! { "prompts.urls.image" ["PR-28"]
        |case| creates(case, GOOD.map(|url| json!({ "imageUrl": url })), ACCEPTED),
        "A create takes an imageUrl that is a URL" },
    scenario! { "prompts.urls.references" ["PR-29"]
        |case| creates(case, SEVERAL.map(|urls| json!({ "referenceMediaUrls": urls })), ACCEPTED),
        "A create takes referenceMediaUrls, of several URIs or none" },
    scenario! { "prompts.urls.references-replaced" ["PR-39"] references_replaced,
        "An update replaces the referenceMediaUrls: ten new ones fit where ten were" },
    scenario! { "prompts.models.required-to-create" ["PR-24"]
        |case| creates(case, MEDIA.map(of_type), REFUSED),
        "An image or video prompt without modelId is refused with 400" },
    scenario! { "prompts.models.optional-for-text" ["PR-24"] optional_for_text,
        "A text prompt is made without modelId and with one" },
    scenario! { "prompts.models.accepted" ["PR-24", "PR-25"]
        |case| async move { creates(case.clone(), MEDIA.map(|kind| typed(&case, kind)), ACCEPTED).await },
        "A modelId in the provider's namespace makes an image and a video prompt" },
    scenario! { "prompts.models.pattern-on-create" ["PR-25"] pattern_on_create,
        "A create with a modelId off the pattern is refused with 400, whatever the type" },
    scenario! { "prompts.models.pattern-on-update" ["PR-35"]
        |case| async move { updates(case.clone(), off_the_pattern(&case), REFUSED).await },
        "An update with a modelId off the pattern is refused with 400" },
    scenario! { "prompts.models.required-to-change" ["PR-36"]
        |case| updates(case, MEDIA.map(of_type), REFUSED),
        "A change to image or video without any modelId is refused with 400" },
    scenario! { "prompts.models.set-before" ["PR-37", "PR-34"] set_before,
        "A change to image or video takes the modelId of itself, a create or an earlier update" },
    scenario! { "prompts.models.between-media" ["PR-37"]
        |case| image_becomes(case, ["video", "image"]),
        "An image prompt becomes a video prompt, and back, without a new modelId" },
];

pub const GOOD: [&str; 4] = [
    "https://example.com/a.png",
    "http://example.com",
    "https://user@example.com:8443/a%20b.png?size=1&x=%C3%A9#part",
    "https://192.0.2.1/a.webp",
];

const SEVERAL: [&[&str]; 3] = [&GOOD, &["https://example.com/a.png"], &[]];

async fn twice(case: Case) -> Result {
    let body = json!({ "title": case.name("twice"), "prompt": "The same words" });
    let first = case.wire().post("/prompts", body.clone()).await?;
    let second = case.wire().post("/prompts", body).await?;
    let (first, id) =
        (first.status(201)?.integer("/data/id")?, second.status(201)?.integer("/data/id")?);
    second.ensure(first != id, "another id", id).map(drop)
}

pub async fn shown(case: Case, fields: Value, field: &str, value: Value) -> Result {
    let (_, created) = case.prompt_with(fields).await?;
    created.equals(&format!("/data/{field}"), value).map(drop)
}

async fn platform(case: Case) -> Result {
    for platform in ["poster", "Midjourney v7", "социальные сети", "0"] {
        let fields = json!({ "platform": platform });
        let (prompt, created) = case.prompt_with(fields.clone()).await?;
        created.shows(&fields)?;
        prompt.get().await?.shows(&fields)?;
    }
    Ok(())
}

async fn references_replaced(case: Case) -> Result {
    let ten = |round: usize| {
        let urls = (0..10).map(|n| format!("https://example.com/{round}/{n}.png"));
        json!({ "referenceMediaUrls": Value::from_iter(urls) })
    };
    let (prompt, _) = case.prompt_with(ten(0)).await?;
    for round in 1..=3 {
        prompt.update(ten(round)).await?.success()?;
    }
    Ok(())
}

/// The replies to a create, and to an update of a new text prompt without a model, with the same
/// fields. Most rules about fields hold for both.
pub async fn create_and_update(case: &Case, fields: Value) -> Result<[ApiResponse; 2]> {
    let created = case.create_prompt(fields.clone()).await?;
    Ok([created, case.prompt().await?.update(fields).await?])
}

type Expected = fn(&ApiResponse) -> Result<&ApiResponse>;

pub const ACCEPTED: Expected = ApiResponse::success;
const REFUSED: Expected = |reply| reply.status(400);

async fn creates(case: Case, all: impl IntoIterator<Item = Value>, expected: Expected) -> Result {
    for fields in all {
        expected(&case.create_prompt(fields).await?)?;
    }
    Ok(())
}

pub async fn updates(
    case: Case,
    all: impl IntoIterator<Item = Value>,
    expected: Expected,
) -> Result {
    let prompt = case.prompt().await?;
    for fields in all {
        expected(&prompt.update(fields).await?)?;
    }
    Ok(())
}

pub const MEDIA: [&str; 2] = ["image", "video"];

pub fn of_type(kind: &str) -> Value {
    json!({ "promptType": kind })
}

fn model<'a>(case: &'a Case, kind: &str) -> &'a str {
    if kind == "video" { case.video_model() } else { case.image_model() }
}

/// A type, and a model that prompts of it may name.
pub fn typed(case: &Case, kind: &str) -> Value {
    json!({ "promptType": kind, "modelId": model(case, kind) })
}

/// The prefix of the provider's models, taken from a model of the target.
pub fn namespace(case: &Case) -> &str {
    case.image_model().split('/').next().unwrap_or_default()
}

pub fn off_the_pattern(case: &Case) -> Vec<Value> {
    let space = namespace(case);
    // A namespace without letters has no form in capitals.
    let capitals = Some(format!("{}/plasma", space.to_uppercase()));
    let capitals = capitals.filter(|model| !model.starts_with(space));
    let forms = "{} {}/ plasma / /plasma /{}/plasma x{}/plasma {}x/plasma other/{}/plasma \
        {}:plasma {}\\plasma";
    // `.` in the pattern does not match a line break.
    let forms = forms.split(' ').chain(["", "{}/\n", "{}/\nplasma"]);
    let spellings = forms.map(|form| form.replace("{}", space));
    spellings.chain(capitals).map(|model| json!({ "modelId": model })).collect()
}

async fn optional_for_text(case: Case) -> Result {
    let model = json!({ "modelId": case.image_model() });
    let is_text: Expected = |reply| reply.success()?.equals("/data/promptType", "text");
    creates(case.clone(), [of_type("text"), typed(&case, "text"), model], is_text).await
}

async fn pattern_on_create(case: Case) -> Result {
    for kind in ["image", "text"] {
        let faulty = off_the_pattern(&case).into_iter().map(|fields| merged(of_type(kind), fields));
        creates(case.clone(), faulty, REFUSED).await?;
    }
    Ok(())
}

/// The prompt becomes one of this type without a model in the request.
async fn becomes(prompt: &Prompt, kind: &str) -> Result {
    let changed = prompt.update(of_type(kind)).await?;
    changed.success()?.equals("/data/promptType", kind).map(drop)
}

async fn set_before(case: Case) -> Result {
    for kind in MEDIA {
        let changed = case.prompt().await?.update(typed(&case, kind)).await?;
        changed.success()?.equals("/data/promptType", kind)?;
        let fields = json!({ "modelId": model(&case, kind) });
        becomes(&case.prompt_with(fields.clone()).await?.0, kind).await?;
        let prompt = case.prompt().await?;
        prompt.update(fields).await?.success()?;
        becomes(&prompt, kind).await?;
    }
    Ok(())
}

pub async fn image_becomes<const N: usize>(case: Case, kinds: [&str; N]) -> Result {
    let (prompt, _) = case.prompt_with(typed(&case, "image")).await?;
    for kind in kinds {
        becomes(&prompt, kind).await?;
    }
    Ok(())
}
